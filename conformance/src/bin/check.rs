//! `check [--json] [--only PREFIX] [--wait SECONDS] --url URL | [--client] -- COMMAND…`: holds
//! any server, or any client that runs the scenarios of the public suite, against the specification,
//! and fails when it does not keep it.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program")]

use std::process::ExitCode;
use std::time::Duration;

use mcp_conformance::check::{Target, report};

const USAGE: &str =
    "usage: check [--json] [--only PREFIX] [--wait SECONDS] --url URL | [--client] -- COMMAND…";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("check: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Box<dyn std::error::Error>> {
    let (mut json, mut only, mut wait, mut target) = (false, String::new(), 10, None);
    let mut client = false;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--client" => client = true,
            "--json" => json = true,
            "--only" => only = words.next().ok_or(USAGE)?,
            "--wait" => wait = words.next().ok_or(USAGE)?.parse()?,
            "--url" => target = Some(Target::Url(words.next().ok_or(USAGE)?)),
            "--" => target = Some(Target::Command(words.by_ref().collect())),
            _ => return Err(USAGE.into()),
        }
    }
    let wait = Duration::from_secs(wait);
    let lines = match target.ok_or(USAGE)? {
        Target::Command(command) if client => report::run_client(&command, wait, &only),
        Target::Url(_) if client => return Err(USAGE.into()),
        target => report::run(&target, wait, &only),
    };
    if lines.is_empty() {
        return Err("there is no such check".into());
    }
    print!("{}", if json { report::json(&lines) } else { report::table(&lines) });
    Ok(lines.iter().all(|line| line.verdict != report::Verdict::Fail))
}
