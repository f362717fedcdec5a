//! The checks that hold any server against the specification from outside.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use super::{Row, interop, peer};
use crate::{ci::counts::Counts, shell, workspace::Metadata};

/// The program that checks.
pub(super) const CHECK: &str = "check";
/// The program that breaks rules.
const TWIN: &str = "twin";
/// Our server.
const SERVER: &str = "everything-server";
/// Our client.
const CLIENT: &str = "everything-client";

/// Looks at whatever the words name: `--url URL`, or `-- COMMAND`.
pub(super) fn any(words: &[String]) -> anyhow::Result<()> {
    build()?;
    let program = Metadata::of_workspace()?.target_directory.join("debug").join(CHECK);
    // The reader's own folder, since the command may be relative to it.
    shell::run(Command::new(program).args(words))
}

/// Builds the program alone.
pub(super) fn build() -> anyhow::Result<()> {
    let arguments = ["build", "--locked", "--quiet", "-p", super::PACKAGE, "--bin", CHECK];
    shell::run(&mut shell::cargo(arguments))
}

/// Looks at our own server, over each transport.
pub(super) fn run(metadata: &Metadata) -> anyhow::Result<Vec<Row>> {
    interop::build()?;
    let programs = metadata.target_directory.join("debug");
    Ok(vec![
        row("check", "our server, stdio, from outside", over_stdio(&programs)),
        row("check", "our server, http, from outside", over_http(&programs)),
        row("check", "our client, from outside", client(&programs)),
    ])
}

/// Breaks one rule after the other, and sees whether the checks see it.
pub(super) fn twins(metadata: &Metadata) -> anyhow::Result<Row> {
    interop::build()?;
    let programs = metadata.target_directory.join("debug");
    let run = || {
        let mut twin = Command::new(programs.join(TWIN));
        peer::check(twin.arg("run").arg(programs.join(SERVER)).arg(programs.join(CLIENT)))
    };
    Ok(row("twins", "broken ones, seen by the checks", Box::new(run)))
}

type Talk<'a> = Box<dyn FnOnce() -> anyhow::Result<peer::Report> + 'a>;

fn over_stdio(programs: &Path) -> Talk<'_> {
    Box::new(|| {
        let mut check = Command::new(programs.join(CHECK));
        check.args(["--json", "--"]).arg(programs.join(SERVER)).arg("--stdio");
        peer::check(&mut check)
    })
}

fn client(programs: &Path) -> Talk<'_> {
    Box::new(|| {
        let mut check = Command::new(programs.join(CHECK));
        check.args(["--json", "--client", "--"]).arg(programs.join(CLIENT));
        peer::check(&mut check)
    })
}

fn over_http(programs: &Path) -> Talk<'_> {
    Box::new(|| {
        let mut server = Command::new(programs.join(SERVER));
        let server = peer::Server::start(server.args(["--http", "127.0.0.1:0"]))?;
        let mut check = Command::new(programs.join(CHECK));
        check.args(["--json", "--url", &server.url]).stdin(Stdio::null());
        peer::check(&mut check)
    })
}

/// The line of the table, after what failed was said.
fn row(leg: &'static str, what: &str, talk: Talk<'_>) -> Row {
    let start = Instant::now();
    let report = talk().unwrap_or_else(|error| peer::Report {
        passed: Vec::new(),
        failures: vec![format!("{error:#}")],
    });
    for line in &report.failures {
        shell::say(format_args!("FAILED {what}: {line}"));
    }
    let counts = Counts { passed: report.passed.len(), failed: report.failures.len() };
    Row { leg, what: what.to_owned(), counts, time: start.elapsed() }
}
