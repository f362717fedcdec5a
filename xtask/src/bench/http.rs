//! What calls over HTTP, and sessions, cost our server, next to the least that a server can do.

use super::programs::{Profile, Programs};
use crate::shell;

/// Passes `args` on to the driver. Without a depth: one connection, then sixteen.
pub(super) fn run(args: &[String]) -> anyhow::Result<()> {
    let programs = Programs::build(Profile::Measured)?;
    for depth in super::depths(args, &["1", "16"]) {
        let mut driver = programs.driver("http", args);
        driver.args(depth).args(programs.http());
        shell::run(driver.args([programs.events(), programs.stateless()]))?;
    }
    Ok(())
}

/// Sessions that do nothing, with and without an open stream.
pub(super) fn sessions(args: &[String]) -> anyhow::Result<()> {
    let programs = Programs::build(Profile::Measured)?;
    for (count, listen) in [("1000", false), ("1000", true), ("10000", false), ("10000", true)] {
        let mut driver = programs.driver("sessions", args);
        driver.args(["--calls", count, "--repeat", "3"]).args(listen.then_some("--listen"));
        shell::run(driver.args(programs.http()))?;
    }
    Ok(())
}
