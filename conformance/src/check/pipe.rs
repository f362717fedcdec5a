//! A child that is spoken to by lines.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Lines that wait to be looked at.
const LINES: usize = 10_000;
/// How long a child may take to end once its stdin is closed.
const END: Duration = Duration::from_secs(3);

/// Ends with this value: by its stdin first, by force if that does not help.
pub(crate) struct Pipe {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
}

impl Pipe {
    /// Starts a program; what it says on stderr is nobody's business.
    pub(crate) fn start(command: &[String]) -> io::Result<Self> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| io::Error::other("no command"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
        let (send, lines) = sync_channel(LINES);
        std::thread::spawn(move || {
            let mut from = BufReader::new(stdout);
            let mut line = Vec::new();
            while matches!(from.read_until(b'\n', &mut line), Ok(1..)) {
                if send.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, stdin, lines })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(bytes)?;
        stdin.flush()
    }

    /// The next line with its end, none when it took too long.
    pub(crate) fn line(&self, wait: Duration) -> io::Result<Option<Vec<u8>>> {
        match self.lines.recv_timeout(wait) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Closes the child's stdin.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// How it ended, if it did within `wait`.
    pub(crate) fn ended(&mut self, wait: Duration) -> io::Result<Option<ExitStatus>> {
        let until = Instant::now() + wait;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.close();
        if !matches!(self.ended(END), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
