//! `everything-server --stdio`: the server that offers one of everything.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--stdio"] => stdio().await,
        _ => Err("usage: everything-server --stdio".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("everything-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn stdio() -> Result<(), Box<dyn std::error::Error>> {
    let link = mcp_transport_stdio::stdio();
    mcp_conformance::everything::server().serve(link).await?;
    Ok(())
}
