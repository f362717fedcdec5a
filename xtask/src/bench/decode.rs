//! What reading and writing one envelope costs: nanoseconds, and instructions where valgrind is.

use std::{path::PathBuf, process::Command};

use anyhow::{Context as _, bail};

use super::{instructions::collected, programs::has_valgrind};
use crate::shell;

/// The cases whose instructions are counted.
const COUNTED: [&str; 3] = ["decode-call", "decode-response", "echo"];

/// Nanoseconds for every case, then instructions for a few.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if let Some(arg) = args.first() {
        bail!("unknown argument `{arg}`");
    }
    let bench = ["bench", "--quiet", "--package", "mcp-jsonrpc", "--bench", "messages"];
    shell::run(&mut shell::cargo(bench))?;
    if !has_valgrind() {
        shell::say("instructions: skipped, there is no valgrind");
        return Ok(());
    }
    let program = executable()?;
    for case in COUNTED {
        let count = |rounds: u64| {
            let mut command = Command::new("valgrind");
            command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
            collected(command.arg(&program).args([case, &rounds.to_string()]))
        };
        let (short, long) = (count(1000)?, count(6000)?);
        let each = long.saturating_sub(short) / 5000;
        shell::say(format_args!("{case:24} {each:>12} instructions"));
    }
    Ok(())
}

/// Where cargo has put the benchmark.
fn executable() -> anyhow::Result<PathBuf> {
    let mut command = shell::cargo(["bench", "--quiet", "--package", "mcp-jsonrpc"]);
    command.args(["--bench", "messages", "--no-run", "--message-format", "json"]);
    let messages = shell::read(&mut command)?;
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .context("cargo has named no benchmark")
}
