//! What is asked of it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use rustix::fs::{OFlags, fcntl_getfl};
use serde_json::{Value, json};

use crate::ROLE;

macro_rules! cases {
    ($($(#[$doc:meta])* fn $name:ident() $body:block)*) => {
        pub(crate) const ALL: &[(&str, fn())] = &[$((stringify!($name), $name)),*];
        $($(#[$doc])* fn $name() $body)*
    };
}

/// This program as a server.
fn server(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(ROLE, role).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A server on pipes, and its ends of them.
fn piped(role: &str) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut child = server(role).spawn().unwrap();
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, stdin, BufReader::new(stdout))
}

/// What it wrote to stderr, once it has ended well.
fn stderr_of(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{:?}: {stderr}", output.status);
    stderr
}

fn request(id: usize, params: &Value) -> String {
    let request = json!({"jsonrpc": "2.0", "id": id, "method": "x", "params": params});
    format!("{request}\n")
}

fn response(line: &str) -> Value {
    let response: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}"));
    assert_eq!(response["jsonrpc"], "2.0");
    response
}

fn read_response(mut stdout: impl BufRead) -> Value {
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    response(&line)
}

cases! {
    // Shows: TRANSPORT-STDIO-003, FC-001
    fn requests_are_answered_until_stdin_ends() {
        let (child, mut stdin, mut stdout) = piped("echo");
        stdin.write_all(request(1, &json!({"a": "b\nc"})).as_bytes()).unwrap();
        assert_eq!(read_response(&mut stdout)["result"], json!({"a": "b\nc"}));
        stdin.write_all(b"nonsense\n").unwrap();
        let answer = read_response(&mut stdout);
        assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(-32700), None));
        // The last line lacks its end.
        stdin.write_all(request(2, &json!({})).trim_end().as_bytes()).unwrap();
        drop(stdin);
        assert_eq!(read_response(&mut stdout)["id"], 2);
        assert_eq!(stdout.read(&mut [0]).unwrap(), 0, "stdout has ended, too");
        assert_eq!(stderr_of(child), "");
    }

    // Shows: TRANSPORT-STDIO-010, TRANSPORT-STDIO-007
    fn nothing_but_messages_comes_out_of_stdout() {
        let (child, mut stdin, mut stdout) = piped("loud");
        stdin.write_all(request(1, &json!({})).as_bytes()).unwrap();
        drop(stdin);
        let mut out = String::new();
        stdout.read_to_string(&mut out).unwrap();
        // What was printed in full before the link was there can't be taken back.
        let (before, out) = out.split_once('\n').unwrap();
        assert_eq!(before, "printed before, and in std's buffer");
        assert_eq!(out.lines().map(|line| response(line)["id"].clone()).collect::<Vec<_>>(), [1]);
        // The child that the server has started got nothing of its stdin either.
        assert_eq!(stderr_of(child), "half a line, printed after\nprinted by a child\n");
    }

    fn with_stderr_on_the_same_pipe_prints_go_nowhere() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut child = server("loud")
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(request(1, &json!({})).as_bytes()).unwrap();
        drop(stdin);
        let mut out = String::new();
        reader.read_to_string(&mut out).unwrap();
        assert_eq!(out.lines().skip(1).map(|line| response(line)["id"].clone()).collect::<Vec<_>>(), [1]);
        assert!(child.wait().unwrap().success());
    }

    fn without_the_guard_a_server_works_all_the_same() {
        let (child, mut stdin, mut stdout) = piped("unguarded");
        stdin.write_all(request(1, &json!({})).as_bytes()).unwrap();
        assert_eq!(read_response(&mut stdout)["id"], 1);
        drop(stdin);
        stderr_of(child);
    }

    fn sockets_serve_as_well_and_get_their_mode_back() {
        let (ours_in, theirs_in) = UnixStream::pair().unwrap();
        let (ours_out, theirs_out) = UnixStream::pair().unwrap();
        // What a wrapper holds that has started the server: they share the mode.
        let shared = [theirs_in.try_clone().unwrap(), theirs_out.try_clone().unwrap()];
        let child = server("echo")
            .stdin(OwnedFd::from(theirs_in))
            .stdout(OwnedFd::from(theirs_out))
            .spawn()
            .unwrap();
        (&ours_in).write_all(request(1, &json!({})).as_bytes()).unwrap();
        let mut stdout = BufReader::new(ours_out);
        assert_eq!(read_response(&mut stdout)["id"], 1);
        ours_in.shutdown(Shutdown::Write).unwrap();
        // It ends although the wrapper holds the socket, too.
        assert_eq!(stdout.read(&mut [0]).unwrap(), 0);
        stderr_of(child);
        for socket in shared {
            assert!(!fcntl_getfl(&socket).unwrap().contains(OFlags::NONBLOCK));
        }
    }

    fn one_socket_for_everything_keeps_its_mode_so_that_stderr_does_not_fail() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let shared = theirs.try_clone().unwrap();
        let fd = || OwnedFd::from(theirs.try_clone().unwrap());
        let mut child = server("echo").stdin(fd()).stdout(fd()).stderr(fd()).spawn().unwrap();
        drop(theirs);
        let mut stdout = BufReader::new(ours.try_clone().unwrap());
        for id in 0..3 {
            ours.write_all(request(id, &json!({})).as_bytes()).unwrap();
            assert_eq!(read_response(&mut stdout)["id"], id);
        }
        assert!(!fcntl_getfl(&shared).unwrap().contains(OFlags::NONBLOCK), "while it is served");
        ours.shutdown(Shutdown::Write).unwrap();
        assert!(child.wait().unwrap().success());
    }

    fn pipes_that_are_shared_stay_in_their_mode() {
        let (theirs_in, mut ours_in) = io::pipe().unwrap();
        let (ours_out, theirs_out) = io::pipe().unwrap();
        let shared = [
            OwnedFd::from(theirs_in.try_clone().unwrap()),
            OwnedFd::from(theirs_out.try_clone().unwrap()),
        ];
        let blocking = |fd| !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK);
        let child = server("echo").stdin(theirs_in).stdout(theirs_out).spawn().unwrap();
        ours_in.write_all(request(1, &json!({})).as_bytes()).unwrap();
        assert_eq!(read_response(&mut BufReader::new(ours_out))["id"], 1);
        if cfg!(target_os = "linux") {
            assert!(shared.iter().all(blocking), "while it is served");
        }
        drop(ours_in);
        stderr_of(child);
        assert!(shared.iter().all(blocking));
    }

    fn a_named_pipe_is_given_its_mode_back() {
        let folder = Folder::new("fifo");
        let path = folder.0.join("fifo");
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        // Opened for both, so that opening doesn't wait for the other side.
        let fifo = File::options().read(true).write(true).open(&path).unwrap();
        let shared = File::open(&path).unwrap();
        let mut child =
            server("echo").stdin(shared.try_clone().unwrap()).spawn().unwrap();
        (&fifo).write_all(request(1, &json!({})).as_bytes()).unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        assert_eq!(read_response(&mut stdout)["id"], 1);
        drop(fifo);
        stderr_of(child);
        assert!(!fcntl_getfl(&shared).unwrap().contains(OFlags::NONBLOCK));
    }

    fn files_serve_as_well() {
        let folder = Folder::new("files");
        let open = |name| {
            let path = folder.0.join(name);
            File::options().read(true).write(true).create(true).truncate(true).open(path).unwrap()
        };
        let (mut input, mut output) = (open("in"), open("out"));
        for id in 0..1000 {
            input.write_all(request(id, &json!({"a": "x".repeat(500)})).as_bytes()).unwrap();
        }
        input.rewind().unwrap();
        let child = server("echo")
            .stdin(input)
            .stdout(output.try_clone().unwrap())
            .spawn()
            .unwrap();
        stderr_of(child);
        output.rewind().unwrap();
        let ids: Vec<_> = BufReader::new(output)
            .lines()
            .map(|line| response(&line.unwrap())["id"].as_u64().unwrap())
            .collect();
        assert_eq!(ids, (0..1000).collect::<Vec<_>>());
    }

    fn without_a_runtime_threads_do_it() {
        let (child, mut stdin, mut stdout) = piped("no-runtime");
        for id in 0..100 {
            stdin.write_all(request(id, &json!({})).as_bytes()).unwrap();
            assert_eq!(read_response(&mut stdout)["id"], id);
        }
        drop(stdin);
        assert_eq!(stderr_of(child), "");
    }

    // Shows: FC-008
    fn a_server_ends_when_stdin_was_never_there() {
        let child = server("echo").stdin(Stdio::null()).spawn().unwrap();
        assert_eq!(stderr_of(child), "");
    }

    // Shows: FC-008
    fn a_server_ends_when_its_parent_is_killed() {
        let (mut parent, _stdin, mut stdout) = piped("parent");
        stdout.read_line(&mut String::new()).unwrap();
        let mut stderr = parent.stderr.take().unwrap();
        parent.kill().unwrap();
        parent.wait().unwrap();
        // The server shares its parent's stderr, which ends with the last one.
        let mut said = String::new();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
    }

    // Shows: FC-008
    fn a_server_ends_without_a_fuss_when_nobody_reads() {
        let (child, mut stdin, stdout) = piped("echo");
        drop(stdout);
        stdin.write_all(request(1, &json!({})).as_bytes()).unwrap();
        // Stdin stays open meanwhile.
        assert_eq!(stderr_of(child), "");
        drop(stdin);
    }

    fn a_process_has_one_stdin_and_one_stdout() {
        let (child, mut stdin, mut stdout) = piped("twice");
        stdin.write_all(request(1, &json!({})).as_bytes()).unwrap();
        assert_eq!(read_response(&mut stdout)["id"], 1);
        drop(stdin);
        assert_eq!(
            stderr_of(child),
            "the link failed\nstdin and stdout are in use by another link\n"
        );
    }

    fn both_sides_may_send_megabytes_before_either_reads() {
        let (child, mut stdin, mut stdout) = piped("talkative");
        let text = "y".repeat(8 << 20);
        // Nothing is read until all is written; the server's own 8 MiB stand in its way out.
        stdin.write_all(request(1, &json!({"a": text})).as_bytes()).unwrap();
        let mut note = String::new();
        stdout.read_line(&mut note).unwrap();
        assert_eq!(response(&note)["params"]["a"].as_str().unwrap().len(), 8 << 20);
        assert_eq!(read_response(&mut stdout)["result"]["a"], text);
        drop(stdin);
        stderr_of(child);
    }

    fn sixteen_outstanding_requests_cost_half_a_system_call_each_at_most() {
        if !cfg!(target_os = "linux") {
            return;
        }
        const ROUNDS: usize = 200;
        let (child, mut stdin, mut stdout) = piped("echo");
        let batch: String = (0..16).map(|id| request(id, &json!({"message": "hello"}))).collect();
        let mut round = || {
            stdin.write_all(batch.as_bytes()).unwrap();
            for id in 0..16 {
                assert_eq!(read_response(&mut stdout)["id"], id);
            }
        };
        round();
        let before = calls(&child);
        (0..ROUNDS).for_each(|_| round());
        let calls = calls(&child) - before;
        // Reads and writes; with the one wait for each round.
        let each = (calls + ROUNDS) as f64 / (16 * ROUNDS) as f64;
        assert!(each <= 0.5, "{each} system calls a request");
        drop(stdin);
        stderr_of(child);
    }

    fn memory_for_large_messages_is_given_back() {
        if !cfg!(target_os = "linux") {
            return;
        }
        const SIZE: usize = 16 << 20;
        let (child, mut stdin, mut stdout) = piped("large");
        for id in 0..4 {
            let request = request(id, &json!({"a": "z".repeat(SIZE)}));
            let writing = thread::spawn(move || {
                stdin.write_all(request.as_bytes()).unwrap();
                stdin
            });
            let mut line = Vec::new();
            stdout.read_until(b'\n', &mut line).unwrap();
            assert!(line.len() > SIZE);
            stdin = writing.join().unwrap();
        }
        let peak = status_kib(&child, "VmHWM:");
        assert!(peak * 1024 <= 5 * SIZE, "{peak} KiB at most");
        // A small one afterwards makes room for what comes next.
        stdin.write_all(request(9, &json!({})).as_bytes()).unwrap();
        assert_eq!(read_response(&mut stdout)["id"], 9);
        let now = status_kib(&child, "VmRSS:");
        assert!(now * 1024 <= 2 * SIZE, "{now} KiB now");
        drop(stdin);
        stderr_of(child);
    }
}

/// A folder that goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mcp-stdio-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Calls of a process that read or write.
fn calls(child: &Child) -> usize {
    field(child, "io", "syscr:") + field(child, "io", "syscw:")
}

fn status_kib(child: &Child, name: &str) -> usize {
    field(child, "status", name)
}

fn field(child: &Child, file: &str, name: &str) -> usize {
    let text = std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
