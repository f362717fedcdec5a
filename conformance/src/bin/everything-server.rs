//! `everything-server --stdio | --http ADDR`: the server that offers one of everything.
//!
//! Over HTTP the first line on stderr says where it listens.
#![expect(clippy::print_stderr, reason = "a program says there what goes wrong")]

use std::process::ExitCode;

use mcp_transport_http::server::{Endpoint, Listener};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--stdio"] => stdio().await,
        ["--http", address] => http(address).await,
        _ => Err("usage: everything-server --stdio | --http ADDR".into()),
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

async fn http(address: &str) -> Result<(), Box<dyn std::error::Error>> {
    let listener =
        Listener::bind(Endpoint::new(mcp_conformance::everything::server()), address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr());
    listener.run(std::future::pending()).await;
    Ok(())
}
