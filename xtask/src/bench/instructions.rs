//! Instructions that an echo call over stdio takes, counted by callgrind. Unlike times they are
//! the same on every run, within a percent.

use std::{
    fmt::Write as _,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, bail};

use super::stdio::Programs;
use crate::shell;

/// A long run minus a short one: what happens once falls out.
const CALLS: [u64; 2] = [1000, 6000];

/// Counts for the least that a server can do, and for ours.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if let Some(arg) = args.first() {
        bail!("unknown argument `{arg}`");
    }
    let programs = Programs::build()?;
    let floor = count(&programs.path("floor-stdio"), &[])?;
    let ours = count(&programs.path("bench-server"), &["stdio"])?;
    shell::say(format_args!("{:<8} {floor:>8} instructions a call", "floor"));
    let tenths = ours.saturating_mul(10) / floor.max(1);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    shell::say(format_args!(
        "{:<8} {ours:>8} instructions a call, {whole}.{tenth} times the floor",
        "ours"
    ));
    Ok(())
}

fn count(program: &Path, args: &[&str]) -> anyhow::Result<u64> {
    let [short, long] = CALLS;
    let once = total(program, args, short)?;
    let more = total(program, args, long)?;
    Ok(more.saturating_sub(once) / (long - short))
}

fn total(program: &Path, args: &[&str], calls: u64) -> anyhow::Result<u64> {
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("can't start valgrind; it counts the instructions")?;
    let mut stdin = child.stdin.take().context("no pipe")?;
    // Its answers are read by `wait_with_output`; a thread keeps the pipes from filling up.
    let writer = std::thread::spawn(move || stdin.write_all(conversation(calls).as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().ok().context("the writer has panicked")??;
    let report = String::from_utf8_lossy(&output.stderr);
    let answers = output.stdout.iter().filter(|byte| **byte == b'\n').count();
    if u64::try_from(answers)? != calls + 1 {
        bail!("{answers} answers to {} requests\n{report}", calls + 1);
    }
    parse(&report)
}

/// Runs a command under callgrind, and answers with the instructions that it took.
pub(super) fn collected(command: &mut Command) -> anyhow::Result<u64> {
    let output = command.stdin(Stdio::null()).output().context("can't start valgrind")?;
    parse(&String::from_utf8_lossy(&output.stderr))
}

fn parse(report: &str) -> anyhow::Result<u64> {
    let collected = report.split("Collected : ").nth(1).context("callgrind has not counted")?;
    Ok(collected.split_whitespace().next().unwrap_or_default().parse()?)
}

fn conversation(calls: u64) -> String {
    let mut lines = String::from(concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
        r#""capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
    ));
    for id in 1_000_001..=1_000_000 + calls {
        // Writing to a `String` can't fail.
        let _ = writeln!(
            lines,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"xxxxxxxxxxxxxxxx"}}}}}}"#
        );
    }
    lines
}
