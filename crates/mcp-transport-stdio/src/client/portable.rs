//! A child process where only the standard library is at hand: no groups, and a thread for
//! each pipe.

use std::io;
use std::process::{Child, ChildStderr, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::blocking::{ThreadReader, ThreadWriter};

pub(super) type Reader = ThreadReader;
pub(super) type Writer = ThreadWriter;

/// A process.
#[derive(Debug)]
pub(super) struct Process {
    id: u32,
    child: Mutex<Child>,
}

/// What a new process comes with.
pub(super) struct Started {
    pub(super) process: Process,
    pub(super) stdin: Writer,
    pub(super) stdout: Reader,
    pub(super) stderr: Option<(ChildStderr, StopStderr)>,
}

/// There is no way to interrupt a read.
#[derive(Debug)]
pub(super) struct StopStderr;

impl StopStderr {
    /// The reader sees by itself when it has come to the end.
    pub(super) fn child_ended(&mut self) {}
}

/// The thread reads on by itself, and tells at once.
pub(super) fn read_now(_: &Reader, _: &mut [u8]) -> io::Result<usize> {
    Err(io::ErrorKind::WouldBlock.into())
}

/// Starts `command`, whose stdin and stdout are pipes.
pub(super) fn start(mut command: Command) -> io::Result<Started> {
    let mut child = command.spawn()?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let stderr = child.stderr.take().map(|stderr| (stderr, StopStderr));
    let process = Process { id: child.id(), child: Mutex::new(child) };
    let threads = ThreadWriter::spawn(stdin)
        .and_then(|stdin| ThreadReader::spawn(stdout).map(|stdout| (stdin, stdout)));
    match threads {
        Ok((stdin, stdout)) => Ok(Started { process, stdin, stdout, stderr }),
        Err(error) => {
            process.kill();
            process.wait();
            Err(error)
        }
    }
}

impl Process {
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Blocks until the process has ended.
    pub(super) fn wait(&self) -> Option<ExitStatus> {
        loop {
            // Not `wait`, since that would keep the lock from `kill`.
            match self.lock().try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => {}
                Err(_) => return None,
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// There is no way to ask, and so nothing more to wait for.
    pub(super) fn terminate(&self) {
        self.kill();
    }

    /// Ends the process.
    pub(super) fn kill(&self) {
        if let Err(error) = self.lock().kill() {
            tracing::warn!(pid = self.id, %error, "a server process can't be ended");
        }
    }

    /// Nothing is known of what it has left behind.
    pub(super) fn group_lives(&self) -> bool {
        false
    }

    fn lock(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn sh(script: &str) -> Started {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        start(command).unwrap()
    }

    #[tokio::test]
    async fn a_process_is_spoken_to_through_threads() {
        let mut started = sh("cat; echo bye >&2; exit 3");
        let sent = "x".repeat(1 << 20);
        let (mut stdin, mut stdout) = (started.stdin, started.stdout);
        let (text, expected) = (sent.clone(), sent);
        let writing = tokio::spawn(async move {
            stdin.write_all(text.as_bytes()).await.unwrap();
            stdin.shutdown().await.unwrap();
        });
        let mut received = String::new();
        stdout.read_to_string(&mut received).await.unwrap();
        assert!(received == expected, "{} bytes", received.len());
        writing.await.unwrap();
        assert_eq!(started.process.wait().unwrap().code(), Some(3));
        let (mut stderr, mut stop) = started.stderr.take().unwrap();
        stop.child_ended();
        let mut said = String::new();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(said, "bye\n");
    }

    #[tokio::test]
    async fn a_process_that_stays_is_killed() {
        let started = sh("exec sleep 3600");
        started.process.terminate();
        assert!(!started.process.wait().unwrap().success());
        assert!(started.process.id() > 0 && !started.process.group_lives());
        assert!(read_now(&started.stdout, &mut [0]).is_err());
    }
}
