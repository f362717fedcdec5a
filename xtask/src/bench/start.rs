//! How long a server takes from its start to its first answer.

use super::programs::{Profile, Programs};
use crate::shell;

pub(super) fn run(args: &[String]) -> anyhow::Result<()> {
    let programs = Programs::build(Profile::Measured)?;
    shell::run(programs.driver("start", args).args(programs.stdio()))
}
