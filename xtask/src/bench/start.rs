//! How long a server takes from its start to its first answer.

use super::programs::Programs;
use crate::shell;

pub(super) fn run(args: &[String]) -> anyhow::Result<()> {
    let programs = Programs::build()?;
    shell::run(programs.driver("start", args).args(programs.stdio()))
}
