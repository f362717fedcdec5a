//! `protected-server [--consent]`: the everything server behind a guard, and an authorization
//! server that issues tokens for it, both on loopback. Says on stderr where it listens. Asks
//! nobody before it issues a token, unless told to.
#![expect(clippy::print_stderr, reason = "a program says there what goes wrong")]

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use mcp_conformance::auth::protected::Protected;
use mcp_conformance::auth::server::Consent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let consent = match std::env::args().nth(1).as_deref() {
        None => Consent::Nobody,
        Some("--consent") => Consent::Page,
        Some(_) => {
            eprintln!("usage: protected-server [--consent]");
            return ExitCode::FAILURE;
        }
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    match Protected::start(address, consent).await {
        Ok(protected) => {
            eprintln!("listening on {}", protected.url());
            std::future::pending::<()>().await;
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("protected-server: {error}");
            ExitCode::FAILURE
        }
    }
}
