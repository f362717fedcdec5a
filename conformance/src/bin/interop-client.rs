//! `interop-client stdio COMMAND ARG… | http URL | sse URL | oauth URL`: our client against a server
//! of another SDK; `oauth` is HTTP for who has a token. A JSON line for each check; fails if one
//! did not hold.
#![expect(clippy::print_stderr, reason = "a program says there what goes wrong")]

use std::error::Error;
use std::process::ExitCode;

use mcp_conformance::interop;
use mcp_transport_http::client::{Config, HttpConnector, Transport};
use mcp_transport_stdio::ChildCommand;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match visit(&arguments).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("interop-client: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprintln!("  {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn visit(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let http = |url: &str, transport| -> Result<_, Box<dyn Error>> {
        let mut config = Config::new();
        config.transport = transport;
        Ok(HttpConnector::new(url, config)?.link())
    };
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["stdio", program, arguments @ ..] => {
            let link = ChildCommand::new(*program).args(arguments.iter().copied()).spawn()?;
            Ok(interop::run(link).await?)
        }
        ["http", url] => Ok(interop::run(http(url, Transport::StreamableHttp)?).await?),
        // The fallback, and not the transport by name: that is what users rely on.
        ["sse", url] => Ok(interop::run(http(url, Transport::Auto)?).await?),
        ["oauth", url] => interop::run_authorized(url).await,
        _ => {
            Err("usage: interop-client stdio COMMAND ARG… | http URL | sse URL | oauth URL".into())
        }
    }
}
