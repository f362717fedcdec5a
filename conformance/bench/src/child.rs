//! A server in a child process, and what it has cost so far.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};

/// How long a server may take to say where it listens.
const START: Duration = Duration::from_secs(60);

/// A child process; killed when dropped.
pub(crate) struct Server {
    child: Child,
    /// Ends with what the child has said on stderr since it listens.
    said: Option<JoinHandle<String>>,
}

/// Where a child is to keep its stderr.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stderr {
    Shown,
    Kept,
}

impl Server {
    /// Starts a server that is spoken to through its pipes.
    pub(crate) fn piped(command: &str, stderr: Stderr) -> anyhow::Result<Self> {
        let mut prepared = prepare(command)?;
        prepared.stdin(Stdio::piped()).stdout(Stdio::piped());
        if stderr == Stderr::Kept {
            prepared.stderr(Stdio::piped());
        }
        let mut child = spawn(&mut prepared, command)?;
        let said = child.stderr.take().map(|stderr| keep(BufReader::new(stderr)));
        Ok(Self { child, said })
    }

    /// Starts a server that says on stderr at which `http://` address it listens.
    pub(crate) fn listening(command: &str) -> anyhow::Result<(Self, String)> {
        let mut prepared = prepare(command)?;
        prepared.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = spawn(&mut prepared, command)?;
        let mut stderr = BufReader::new(child.stderr.take().context("no pipe")?);
        let (found, address) = mpsc::channel();
        // A thread, since nobody knows how much a server has to say.
        let said = thread::spawn(move || {
            let mut line = String::new();
            while stderr.read_line(&mut line).is_ok_and(|count| count > 0) {
                let address = line.split_whitespace().find(|word| word.starts_with("http://"));
                if let Some(address) = address {
                    let _ = found.send(address.to_owned());
                    break;
                }
                line.clear();
            }
            rest(stderr)
        });
        let server = Self { child, said: Some(said) };
        let address = address.recv_timeout(START).context("the server does not listen")?;
        Ok((server, address))
    }

    pub(crate) fn pipes(
        &mut self,
    ) -> anyhow::Result<(std::process::ChildStdin, std::process::ChildStdout)> {
        let stdin = self.child.stdin.take().context("no pipe")?;
        let stdout = self.child.stdout.take().context("no pipe")?;
        Ok((stdin, stdout))
    }

    /// Seconds of CPU, user and system, of all its threads, to the nanosecond.
    pub(crate) fn cpu(&self) -> anyhow::Result<f64> {
        let mut total = 0.0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            // One that has just ended is gone.
            let Ok(statistics) = std::fs::read_to_string(task?.path().join("schedstat")) else {
                continue;
            };
            let running = statistics.split(' ').next().context("an empty schedstat")?;
            total += running.parse::<f64>()? / 1e9;
        }
        Ok(total)
    }

    /// Resident memory now, in KiB.
    pub(crate) fn resident(&self) -> anyhow::Result<u64> {
        self.status("VmRSS:")
    }

    fn status(&self, field: &str) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let value = line.and_then(|line| line.split_whitespace().next());
        value.context("no such field")?.parse().context("not a number")
    }

    /// Asks it to end, and waits; answers with what it said on stderr.
    pub(crate) fn end(mut self) -> anyhow::Result<String> {
        drop(self.child.stdin.take());
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("no process")?, Signal::TERM)?;
        self.child.wait()?;
        self.said()
    }

    /// Waits for its end; answers with what it said on stderr.
    pub(crate) fn wait(mut self) -> anyhow::Result<String> {
        self.child.wait()?;
        self.said()
    }

    fn said(&mut self) -> anyhow::Result<String> {
        let Some(said) = self.said.take() else { return Ok(String::new()) };
        said.join().ok().context("the reader has panicked")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn prepare(command: &str) -> anyhow::Result<Command> {
    let mut words = command.split_whitespace();
    let mut prepared = Command::new(words.next().context("an empty command")?);
    prepared.args(words);
    Ok(prepared)
}

fn spawn(prepared: &mut Command, command: &str) -> anyhow::Result<Child> {
    prepared.spawn().with_context(|| format!("can't start {command}"))
}

fn keep(stderr: BufReader<ChildStderr>) -> JoinHandle<String> {
    thread::spawn(move || rest(stderr))
}

fn rest(mut stderr: BufReader<ChildStderr>) -> String {
    let mut said = Vec::new();
    let _ = stderr.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}
