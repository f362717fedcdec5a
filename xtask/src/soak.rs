//! The soak test: many sessions over hours, and everything going wrong at once.

use crate::shell;

/// `cargo xtask soak [--minutes N] [--sessions N] [--children N] [--seed N]`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let mut soak = shell::cargo(["run", "--quiet", "--release", "--package", "mcp-conformance"]);
    soak.args(["--bin", "soak", "--"]).args(args);
    shell::run(&mut soak)
}
