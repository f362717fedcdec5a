//! A child process on Unix: the leader of a group of its own.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
};
use tokio::net::unix::pipe;

pub(super) type Reader = pipe::Receiver;
pub(super) type Writer = pipe::Sender;

/// A process, and the group that it leads.
#[derive(Debug)]
pub(super) struct Process {
    pid: Pid,
    /// `None` once it was waited for: then its pid may belong to somebody else, unless the
    /// group still has members.
    child: Mutex<Option<Child>>,
}

/// What a new process comes with.
pub(super) struct Started {
    pub(super) process: Process,
    pub(super) stdin: Writer,
    pub(super) stdout: Reader,
    pub(super) stderr: Option<(StderrPipe, StopStderr)>,
}

/// Reads what is there, whether or not the runtime has heard of it yet.
pub(super) fn read_now(reader: &Reader, buf: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(reader, buf)?)
}

/// Starts `command`, whose stdin and stdout are pipes.
pub(super) fn start(mut command: Command) -> io::Result<Started> {
    let mut child = command.process_group(0).spawn()?;
    let pipes = pipes(&mut child);
    let pid = Pid::from_child(&child);
    let process = Process { pid, child: Mutex::new(Some(child)) };
    match pipes {
        Ok((stdin, stdout, stderr)) => Ok(Started { process, stdin, stdout, stderr }),
        Err(error) => {
            process.kill();
            process.wait();
            Err(error)
        }
    }
}

type Pipes = (Writer, Reader, Option<(StderrPipe, StopStderr)>);

fn pipes(child: &mut Child) -> io::Result<Pipes> {
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let stderr = match child.stderr.take() {
        Some(stderr) => {
            let (told, stop) = io::pipe()?;
            Some((StderrPipe { stderr, told, phase: Phase::Running }, StopStderr(stop)))
        }
        None => None,
    };
    let stdin = pipe::Sender::from_owned_fd(stdin.into())?;
    let stdout = pipe::Receiver::from_owned_fd(stdout.into())?;
    Ok((stdin, stdout, stderr))
}

impl Process {
    pub(super) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Blocks until the process has ended, asks what is left of its group to end, too, and
    /// frees its pid. `None` when somebody else has waited for it.
    pub(super) fn wait(&self) -> Option<ExitStatus> {
        // It stays a zombie, so that its pid, which is the group's name, stays its own.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.pid), options), Err(Errno::INTR)) {}
        let mut child = self.lock();
        let _ = kill_process_group(self.pid, Signal::TERM);
        child.take()?.wait().ok()
    }

    /// Asks the group to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends the group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Whether members of the group are alive.
    pub(super) fn group_lives(&self) -> bool {
        self.group_exists() && only_zombies(self.pid) != Some(true)
    }

    /// Whether the group has members, be they ended but not waited for.
    fn group_exists(&self) -> bool {
        // It has some, too, when we may not signal them.
        test_kill_process_group(self.pid) != Err(Errno::SRCH)
    }

    fn signal(&self, signal: Signal) {
        let child = self.lock();
        // A group that has members keeps its name, even if its leader is gone. It could only
        // be somebody else's if it had died out and the system had gone through all pids
        // since it was last looked at, a moment ago.
        if (child.is_some() || self.group_exists())
            && let Err(error) = kill_process_group(self.pid, signal)
            && error != Errno::SRCH
        {
            tracing::warn!(pid = self.id(), %error, "a server process can't be signaled");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether all that is left of a group has ended: in a container there often is nobody who
/// waits for orphans, so that they stay. `None` where that can't be told.
fn only_zombies(group: Pid) -> Option<bool> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        if !entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        // It is gone, or has nothing to do with us.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name comes before, and may be anything.
        let Some((_, rest)) = stat.rsplit_once(") ") else { continue };
        let mut fields = rest.split(' ');
        let (state, member) = (fields.next()?, fields.nth(1)?.parse().ok());
        if member == Some(group.as_raw_nonzero().get()) && !matches!(state, "Z" | "X") {
            return Some(false);
        }
    }
    Some(true)
}

/// A child's stderr, which can be given up: a process that the child has left behind may keep
/// it open for good.
#[derive(Debug)]
pub(super) struct StderrPipe {
    stderr: ChildStderr,
    told: PipeReader,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// The child has ended, and may have written what wasn't read yet.
    Ended,
    CaughtUp,
}

/// Tells the [`StderrPipe`]; dropping it ends the reading.
#[derive(Debug)]
pub(super) struct StopStderr(PipeWriter);

impl StopStderr {
    /// The child has ended. When all that it wrote was read, a read answers
    /// [`WouldBlock`](io::ErrorKind::WouldBlock), once.
    pub(super) fn child_ended(&mut self) {
        // An error means that nobody reads any more.
        let _ = self.0.write_all(&[0]);
    }
}

impl Read for StderrPipe {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut fds = [
                PollFd::from_borrowed_fd(self.stderr.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.told.as_fd(), PollFlags::IN),
            ];
            let now = Timespec::default();
            poll(&mut fds, (self.phase == Phase::Ended).then_some(&now))?;
            let [stderr, told] = fds.map(|fd| !fd.revents().is_empty());
            if told {
                if self.told.read(&mut [0])? == 0 {
                    return Ok(0);
                }
                self.phase = Phase::Ended;
            } else if stderr {
                return self.stderr.read(buf);
            } else if self.phase == Phase::Ended {
                self.phase = Phase::CaughtUp;
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_group_of_which_only_zombies_are_left_is_dead() {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        let mut child = command.spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert_eq!(only_zombies(pid), Some(false));
        drop(child.stdin.take());
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        assert_eq!(test_kill_process_group(pid), Ok(()), "it is still there");
        assert_eq!(only_zombies(pid), Some(true));
        child.wait().unwrap();
    }

    // Shows: FC-009
    #[test]
    fn the_last_words_of_a_process_are_known_although_others_hold_its_stderr() {
        let mut command = Command::new("sh");
        // The other one lives until its stdin ends.
        command.args(["-c", "exec 3<&0; cat <&3 & echo last words >&2; exit 0"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let (told, stop) = io::pipe().unwrap();
        let stderr = child.stderr.take().unwrap();
        let mut stderr = StderrPipe { stderr, told, phase: Phase::Running };
        let mut stop = StopStderr(stop);
        child.wait().unwrap();
        stop.child_ended();
        let mut buf = [0; 100];
        assert_eq!(stderr.read(&mut buf).unwrap(), "last words\n".len());
        assert_eq!(stderr.read(&mut buf).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(stop);
        assert_eq!(stderr.read(&mut buf).unwrap(), 0);
        drop(stdin);
    }
}
