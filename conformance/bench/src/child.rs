//! A server in a child process, and what it has cost so far.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A server on stdio.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl Server {
    pub(crate) fn spawn(command: &str) -> anyhow::Result<Self> {
        let mut child = start(command, Stdio::inherit())?;
        let stdin = child.stdin.take().context("no pipe")?;
        let stdout = child.stdout.take().context("no pipe")?;
        Ok(Self { child, stdin, stdout })
    }

    /// Seconds of CPU, user and system, of all its threads, to the nanosecond.
    pub(crate) fn cpu(&self) -> anyhow::Result<f64> {
        cpu_of(self.child.id().context("the server has ended")?)
    }
}

/// A server that listens.
pub(crate) struct Listening {
    child: Child,
    pub(crate) url: String,
}

impl Listening {
    /// Starts it, and waits until it says on stderr where it listens.
    pub(crate) async fn spawn(command: &str) -> anyhow::Result<Self> {
        let mut child = start(command, Stdio::piped())?;
        let mut lines = BufReader::new(child.stderr.take().context("no pipe")?).lines();
        let wait = async {
            while let Some(line) = lines.next_line().await? {
                if let Some(url) = line.strip_prefix("listening on ") {
                    return Ok(url.trim().to_owned());
                }
            }
            bail!("the server has ended before it listened")
        };
        let url = tokio::time::timeout(Duration::from_secs(60), wait).await??;
        // What it says later is read, so that it never waits for us.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { child, url })
    }

    fn id(&self) -> anyhow::Result<u32> {
        self.child.id().context("the server has ended")
    }

    pub(crate) fn cpu(&self) -> anyhow::Result<f64> {
        cpu_of(self.id()?)
    }

    /// Bytes of memory that are its own.
    pub(crate) fn memory(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().next());
        Ok(kibibytes.context("no VmRSS")?.parse::<f64>()? * 1024.0)
    }

    pub(crate) async fn end(mut self) -> anyhow::Result<()> {
        self.child.kill().await?;
        Ok(())
    }
}

fn start(command: &str, stderr: Stdio) -> anyhow::Result<Child> {
    let mut words = command.split_whitespace();
    Command::new(words.next().context("an empty command")?)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("can't start {command}"))
}

/// Seconds of CPU of a process, user and system.
fn cpu_of(pid: u32) -> anyhow::Result<f64> {
    let mut total = 0.0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let statistics = std::fs::read_to_string(task?.path().join("schedstat"))?;
        let running = statistics.split(' ').next().context("an empty schedstat")?;
        total += running.parse::<f64>()? / 1e9;
    }
    Ok(total)
}
