//! Running the tests.

use std::process::Command;

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

/// Whether nextest can be used.
pub(crate) fn has_nextest() -> bool {
    shell::works(&mut shell::cargo(["nextest", "--version"]))
}
