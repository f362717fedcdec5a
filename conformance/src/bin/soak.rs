//! `soak [--minutes N | --seconds N] [--sessions N] [--children N] [--seed N]`: many sessions,
//! everything going wrong at once, and what came of it. Fails if anything did not hold.
#![expect(clippy::print_stderr, reason = "a program says there what goes wrong")]

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use mcp_conformance::soak::{self, Options};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<bool, Box<dyn Error + Send + Sync>> {
    let mut options =
        Options { time: Duration::from_secs(60), sessions: 2_000, children: 16, seed: 1 };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "serve" => return soak::serve().await.map(|()| true),
            "child" => return soak::serve_child().await.map(|()| true),
            "--minutes" => options.time = Duration::from_secs(60 * value()?.parse::<u64>()?),
            "--seconds" => options.time = Duration::from_secs(value()?.parse()?),
            "--sessions" => options.sessions = value()?.parse()?,
            "--children" => options.children = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    soak::run(options).await
}
