//! The rmcp peer of the interop tests: `rmcp-peer client …` and `rmcp-peer server stdio|http`.

// Logging, sampling, roots and subscriptions are deprecated in rmcp because the next revision of
// the protocol drops them; they are what this peer is for.
#![allow(deprecated, reason = "the revisions under test have them")]

mod client;
mod login;
mod server;

use std::process::ExitCode;

// rmcp starts a task for each notification; on one thread they keep their order.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("client") => client::run(arguments.collect()).await,
        Some("server") => {
            server::run(arguments.next().as_deref() == Some("http")).await?;
            Ok(ExitCode::SUCCESS)
        }
        _ => anyhow::bail!("usage: rmcp-peer client … | server stdio|http"),
    }
}
