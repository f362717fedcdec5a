//! Instructions that a call takes, counted by callgrind. Unlike times they are the same on every
//! run, within a percent.

use std::process::{Command, Stdio};

use anyhow::Context as _;

use super::programs::{Profile, Programs, needs_valgrind};
use crate::shell;

/// Counts for the least that a server can do, and for ours, over both transports.
pub(super) fn run(args: &[String]) -> anyhow::Result<()> {
    if args == ["--check"] {
        return super::ceilings::check();
    }
    needs_valgrind()?;
    let programs = Programs::build(Profile::Measured)?;
    shell::run(programs.driver("stdio-count", args).args(programs.stdio()))?;
    let mut driver = programs.driver("http-count", args);
    driver.args(programs.http()).args([programs.events(), programs.stateless()]);
    shell::run(&mut driver)
}

/// Runs a command under callgrind, and answers with the instructions that it took.
pub(super) fn collected(command: &mut Command) -> anyhow::Result<u64> {
    let output = command.stdin(Stdio::null()).output().context("can't start valgrind")?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = report.split("Collected : ").nth(1).context("callgrind has not counted")?;
    Ok(collected.split_whitespace().next().unwrap_or_default().parse()?)
}
