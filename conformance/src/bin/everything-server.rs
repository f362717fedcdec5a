//! `everything-server --stdio | --http ADDR | --sse ADDR`: the server that offers one of everything.
//! `--sse` is the HTTP+SSE of 2024-11-05.
//!
//! Over HTTP the first line on stderr says where it listens.
#![expect(clippy::print_stderr, reason = "a program says there what goes wrong")]

use std::process::ExitCode;

use mcp_transport_http::server::{Endpoint, LegacyConfig, Listener};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--stdio"] => stdio().await,
        ["--http", address] => http(address, "/mcp").await,
        ["--sse", address] => http(address, "/sse").await,
        _ => Err("usage: everything-server --stdio | --http ADDR | --sse ADDR".into()),
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

/// Serves both transports, and says where the wanted one is.
async fn http(address: &str, path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = Endpoint::builder(mcp_conformance::everything::server())
        .legacy(LegacyConfig::new())
        .build();
    let listener = Listener::bind(endpoint, address).await?;
    eprintln!("listening on http://{}{path}", listener.local_addr());
    listener.run(std::future::pending()).await;
    Ok(())
}
