//! A server in a child process, and what it has cost so far.

use std::process::Stdio;

use anyhow::Context;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl Server {
    pub(crate) fn spawn(command: &str) -> anyhow::Result<Self> {
        let mut words = command.split_whitespace();
        let mut child = Command::new(words.next().context("an empty command")?)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("can't start {command}"))?;
        let stdin = child.stdin.take().context("no pipe")?;
        let stdout = child.stdout.take().context("no pipe")?;
        Ok(Self { child, stdin, stdout })
    }

    /// Seconds of CPU, user and system, of all its threads, to the nanosecond.
    pub(crate) fn cpu(&self) -> anyhow::Result<f64> {
        cpu_of(self.child.id().context("the server has ended")?)
    }
}

/// Seconds of CPU of a process, user and system.
pub(crate) fn cpu_of(pid: u32) -> anyhow::Result<f64> {
    let mut total = 0.0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let statistics = std::fs::read_to_string(task?.path().join("schedstat"))?;
        let running = statistics.split(' ').next().context("an empty schedstat")?;
        total += running.parse::<f64>()? / 1e9;
    }
    Ok(total)
}
