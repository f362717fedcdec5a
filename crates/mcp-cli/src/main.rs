//! The command `mcp`: talk to servers of the Model Context Protocol.

mod args;
mod command;
mod failure;
mod help;
mod listed;
mod logins;
mod output;
mod target;

use std::process::ExitCode;

use crate::args::Invocation;
use crate::failure::Failure;
use crate::output::Screen;
use crate::target::Servers;

fn main() -> ExitCode {
    let invocation = args::parse(std::env::args_os().skip(1));
    let json = match &invocation {
        Ok(Invocation::Run(run)) => run.options.json,
        Ok(Invocation::Login(login)) => login.json,
        Ok(Invocation::Logout(logout)) => logout.json,
        _ => false,
    };
    let screen = Screen::new(json);
    let servers = Servers::default();
    let outcome = match invocation {
        Ok(Invocation::Help(topic)) => screen.line(help::text(topic).trim_end()),
        Ok(Invocation::Version) => screen.line(concat!("mcp ", env!("CARGO_PKG_VERSION"))),
        Ok(invocation) => in_runtime(invocation, screen, &servers),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            let last_words =
                if failure.is_of_the_server() { servers.last_words() } else { Vec::new() };
            if !matches!(failure, Failure::Tool | Failure::Interrupted) {
                screen.failure(&failure, &last_words);
            }
            ExitCode::from(failure.code())
        }
    }
}

fn in_runtime(invocation: Invocation, screen: Screen, servers: &Servers) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let outcome = tokio::select! {
            // First, so that it is listened for before any server is started.
            biased;
            Ok(()) = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
            outcome = command::run(invocation, screen, servers) => outcome,
        };
        // However it went, no server is left behind.
        servers.end().await;
        outcome
    })
}
