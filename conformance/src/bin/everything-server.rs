//! `everything-server --stdio | --http ADDR | --sse ADDR | --oauth ADDR`: the server that offers
//! one of everything. `--sse` is the HTTP+SSE of 2024-11-05. `--oauth` is Streamable HTTP for who
//! has a token, and beside it, on another port, an authorization server that gives tokens.
//!
//! Over HTTP the first line on stderr says where it listens.
#![expect(clippy::print_stderr, reason = "a program says there what goes wrong")]

use std::error::Error;
use std::process::ExitCode;

use mcp_conformance::everything;
use mcp_transport_http::server::{Endpoint, LegacyConfig, Listener};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--stdio"] => stdio().await,
        ["--http", address] => http(address, "/mcp").await,
        ["--sse", address] => http(address, "/sse").await,
        ["--oauth", address] => oauth(address).await,
        _ => {
            Err("usage: everything-server --stdio | --http ADDR | --sse ADDR | --oauth ADDR".into())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("everything-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn stdio() -> Result<(), Box<dyn Error>> {
    let link = mcp_transport_stdio::stdio();
    everything::server().serve(link).await?;
    Ok(())
}

/// Serves both transports, and says where the wanted one is.
async fn http(address: &str, path: &str) -> Result<(), Box<dyn Error>> {
    let endpoint = Endpoint::builder(everything::server()).legacy(LegacyConfig::new()).build();
    let listener = Listener::bind(endpoint, address).await?;
    eprintln!("listening on http://{}{path}", listener.local_addr());
    listener.run(std::future::pending()).await;
    Ok(())
}

/// Serves who has a token of the authorization server that runs beside it.
async fn oauth(address: &str) -> Result<(), Box<dyn Error>> {
    // The guard has to know the port before there is an endpoint.
    let tcp = TcpListener::bind(address).await?;
    let url = format!("http://{}/mcp", tcp.local_addr()?);
    let (endpoint, issuing) = everything::protected(&url).await?;
    let listener = Listener::from_tcp(endpoint, tcp)?;
    eprintln!("listening on {url}");
    tokio::select! {
        result = issuing.run() => result?,
        () = listener.run(std::future::pending()) => {}
    }
    Ok(())
}
