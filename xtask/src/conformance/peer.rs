//! Programs of the other side: clients that report their checks, servers that say where they are.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::shell;

/// How long a client may take for all of its checks.
const CHECKS: Duration = Duration::from_secs(180);

/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(60);

/// What a client found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Report {
    /// Each check that held.
    pub(super) passed: Vec<String>,
    /// Each failed check, with what it says.
    pub(super) failures: Vec<String>,
}

/// A line that a client prints.
#[derive(Deserialize)]
struct Line {
    check: String,
    ok: bool,
    #[serde(default)]
    detail: String,
}

impl Report {
    fn parse(output: &str) -> Self {
        let mut report = Self::default();
        for line in output.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            match line.ok {
                true => report.passed.push(line.check),
                false => report.failures.push(format!("{}: {}", line.check, line.detail)),
            }
        }
        report
    }
}

/// Runs a client, which prints a JSON line for each of its checks.
///
/// # Errors
///
/// Returns an error if it can't be started, takes too long, reports nothing, or fails although
/// all checks that it reports held.
pub(super) fn check(command: &mut Command) -> anyhow::Result<Report> {
    let mut program = Program::start(command.stdout(Stdio::piped()))?;
    let stdout = program.child.stdout.take().context("stdout is piped")?;
    let (send, receive) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        let result = BufReader::new(stdout).read_to_string(&mut text);
        let _ = send.send(result.map(|_| text));
    });
    let Ok(text) = receive.recv_timeout(CHECKS) else {
        bail!("`{}` did not end within {CHECKS:?}", shell::show(command));
    };
    let _ = reader.join();
    let status = program.child.wait()?;
    let report = Report::parse(&text?);
    if report == Report::default() {
        bail!("`{}` reported nothing ({status})", shell::show(command));
    }
    if !status.success() && report.failures.is_empty() {
        bail!("`{}` failed ({status}) after {} checks", shell::show(command), report.passed.len());
    }
    Ok(report)
}

/// A server on HTTP that runs until this is dropped.
pub(super) struct Server {
    _program: Program,
    pub(super) url: String,
}

impl Server {
    /// Starts it and waits until it says `listening on URL` on stderr.
    pub(super) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut program = Program::start(command.stdout(Stdio::null()).stderr(Stdio::piped()))?;
        let stderr = program.child.stderr.take().context("stderr is piped")?;
        let (send, receive) = mpsc::channel();
        // Reads until the end, or a server that logs a lot would stand still.
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                match line.strip_prefix("listening on ") {
                    Some(url) => drop(send.send(url.trim().to_owned())),
                    None => shell::say(format_args!("  | {line}")),
                }
            }
        });
        let Ok(url) = receive.recv_timeout(START) else {
            bail!("`{}` did not say where it listens", shell::show(command));
        };
        Ok(Self { _program: program, url })
    }
}

/// A program in a process group of its own, so that its children end with it.
struct Program {
    child: Child,
}

impl Program {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .with_context(|| format!("can't start `{}`", shell::show(command)))?;
        Ok(Self { child })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        let group = format!("-{}", self.child.id());
        let _ = shell::works(Command::new("kill").args(["-KILL", "--", &group]));
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_report_counts_checks_and_keeps_what_failed() {
        let report = Report::parse(
            "starting\n{\"check\":\"ping\",\"ok\":true}\n\
             {\"check\":\"echo\",\"ok\":false,\"detail\":\"wrong text\"}\n",
        );
        let expected =
            Report { passed: vec!["ping".into()], failures: vec!["echo: wrong text".into()] };
        assert_eq!(report, expected);
    }

    #[test]
    fn a_client_that_says_nothing_or_fails_quietly_is_an_error() {
        assert!(check(&mut sh("exit 0")).is_err());
        let line = "echo '{\"check\":\"ping\",\"ok\":true}'";
        assert_eq!(check(&mut sh(line)).unwrap().passed, ["ping"]);
        assert!(check(&mut sh(&format!("{line}; exit 3"))).is_err());
        assert!(check(&mut Command::new("no-such-program-of-ours")).is_err());
    }

    #[test]
    fn a_server_runs_until_it_is_dropped_with_its_children() {
        let script = "sleep 600 & echo noise >&2; echo \"listening on http://x:$!\" >&2; wait";
        let server = Server::start(&mut sh(script)).unwrap();
        let child = server.url.trim_start_matches("http://x:").to_owned();
        let lives = || shell::works(Command::new("kill").args(["-0", &child]));
        assert!(lives());
        drop(server);
        // The system takes a moment to collect it; a zombie still counts as alive.
        let gone = || {
            let path = format!("/proc/{child}/stat");
            std::fs::read_to_string(path).map_or(true, |stat| stat.contains(") Z"))
        };
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while !gone() && std::time::Instant::now() < deadline {
            thread::yield_now();
        }
        assert!(gone(), "the child of a server outlived it");
    }
}
