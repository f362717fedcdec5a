//! `authorization-server [--port N] [--path /P] [--no-consent] [--client ID[:SECRET]=REDIRECT]…`:
//! an authorization server for development, on loopback, with everything in memory. Says on
//! its first line where it listens.

use std::error::Error;
use std::process::ExitCode;

use mcp_auth::Secret;
use mcp_conformance::auth::server::{AuthorizationServer, Consent};

#[expect(clippy::print_stderr, reason = "a program tells its errors there")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("authorization-server: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "whoever starts it waits for this line")]
async fn run() -> Result<(), Box<dyn Error>> {
    let (mut port, mut path, mut consent) = (0, String::new(), Consent::Page);
    let mut clients = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--port" => port = value()?.parse()?,
            "--path" => path = value()?,
            "--no-consent" => consent = Consent::Nobody,
            "--client" => clients.push(value()?),
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let server = AuthorizationServer::bind(port, &path, consent).await?;
    for client in clients {
        let (name, redirect) = client.split_once('=').ok_or("a client is ID[:SECRET]=REDIRECT")?;
        let (id, secret) = match name.split_once(':') {
            Some((id, secret)) => (id, Some(Secret::new(secret))),
            None => (name, None),
        };
        server.authority().register(id, secret.as_ref(), &[redirect]);
    }
    println!("listening as {}", server.issuer());
    tokio::select! {
        result = server.run() => result?,
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    Ok(())
}
