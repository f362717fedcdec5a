//! Running the tests.

use std::{fs, path::PathBuf, process::Command};

use anyhow::Context as _;

use crate::shell;

/// The command that runs every test of the workspace, or those whose name contains `filter`.
///
/// nextest where it is installed, else `cargo test`; both go on after a failure.
pub(crate) fn command(filter: Option<&str>) -> Command {
    if has_nextest() {
        let arguments = ["nextest", "run", "--locked", "--workspace", "--all-features"];
        let mut command = shell::cargo(arguments);
        // A workspace without a test is a fault that the counts show.
        command.args(["--no-fail-fast", "--no-tests", "pass"]).args(filter);
        return command;
    }
    let arguments = ["test", "--locked", "--workspace", "--all-features", "--no-fail-fast"];
    let mut command = shell::cargo(arguments);
    // What `--all-targets` means without the benches, and with the names that start with them.
    command.args(["--lib", "--bins", "--tests", "--examples", "--"]).args(filter);
    command
}

/// Where nextest leaves its report, wherever the target folder is.
pub(crate) fn nextest_report() -> PathBuf {
    shell::root().join("target/nextest/default/junit.xml")
}

/// What each test has said in a run that has just ended: nextest's report, or the output of the
/// usual harness.
pub(crate) fn report(output: &str) -> anyhow::Result<String> {
    if !has_nextest() {
        return Ok(output.to_owned());
    }
    let file = nextest_report();
    fs::read_to_string(&file).with_context(|| format!("nextest has left no {}", file.display()))
}

/// Whether nextest can be used.
pub(crate) fn has_nextest() -> bool {
    shell::works(&mut shell::cargo(["nextest", "--version"]))
}
