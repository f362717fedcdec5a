//! What calls over stdio cost our server, next to the least that a server can do.

use super::programs::{Profile, Programs};
use crate::shell;

/// Passes `args` on to the driver. Without a depth: one call at a time, then sixteen outstanding.
pub(super) fn run(args: &[String]) -> anyhow::Result<()> {
    let programs = Programs::build(Profile::Measured)?;
    for depth in super::depths(args, &["1", "16"]) {
        shell::run(programs.driver("stdio", args).args(depth).args(programs.stdio()))?;
    }
    Ok(())
}
