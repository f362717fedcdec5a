//! Servers in child processes, the rude ones too.
#![cfg(test)]
#![cfg(unix)]

use std::fmt::Debug;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_jsonrpc::link::v1::{Connector, Incoming, Link, LinkError, LinkExt};
use mcp_jsonrpc::peer::{
    Arrival, Driver, DriverConfig, NotificationVerdict, Protocol, RequestVerdict,
};
use mcp_jsonrpc::service::v1::{Ask, AskError, Inbound, Replies, Reply, Service};
use mcp_jsonrpc::testing::into_link_suite;
use mcp_jsonrpc::{ErrorObject, Message, Name, Notification, Outgoing, RawJson, Request};
use mcp_transport_stdio::{ChildCommand, ChildError, ChildLink, SpawnError, Stderr};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A server that is a shell script.
fn sh(script: &str) -> ChildCommand {
    ChildCommand::new("sh").args(["-c", script]).stderr(Stderr::Discard)
}

/// The same, and what it writes to stderr as it comes.
fn heard(script: &str) -> (ChildCommand, UnboundedReceiver<String>) {
    let (sender, receiver) = unbounded_channel();
    let stderr = Stderr::lines(move |line| drop(sender.send(line.to_owned())));
    (sh(script).stderr(stderr), receiver)
}

async fn line(heard: &mut UnboundedReceiver<String>) -> String {
    within(heard.recv()).await.expect("stderr has ended")
}

/// A server that only `SIGKILL` ends, once it has said so.
const STUBBORN: &str = "trap '' TERM; echo ready >&2; while :; do sleep 0.01; done";

/// Long for a machine that is busy, short for a test that hangs.
const LONG: Duration = Duration::from_secs(30);
/// A step of the shutdown that is not to be taken.
const NEVER: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_millis(50);

async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, what).await.expect("it takes too long")
}

#[test]
fn a_command_is_taken_in_place_of_a_link() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    for test in into_link_suite(|| (sh("cat"), ())) {
        test.run();
    }
    for test in into_link_suite(|| (&*Box::leak(Box::new(sh("cat"))), ())) {
        test.run();
    }
}

fn request(id: i64) -> Outgoing {
    Outgoing::request_raw(id.into(), Name::from_static("ping"), None)
}

async fn next(link: &mut ChildLink) -> Result<Message, LinkError> {
    match within(link.recv()).await? {
        Incoming::Message(message, _) => Ok(message),
        other => panic!("{other:?}"),
    }
}

/// The typed cause of how a link has ended.
fn cause(error: &LinkError) -> &ChildError {
    ChildError::of(error).unwrap_or_else(|| panic!("{error:?}"))
}

async fn failure(link: &mut ChildLink) -> LinkError {
    within(link.recv()).await.expect_err("the link should have ended")
}

/// Whether a process is there, be it as a zombie.
fn lives(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

// Shows: TRANSPORT-STDIO-001, TRANSPORT-STDIO-002, TRANSPORT-STDIO-011
#[tokio::test]
async fn a_server_is_started_spoken_to_and_ended() {
    // `cat` answers a request by the same request.
    let mut link = sh("exec cat").exit_time(NEVER).spawn().unwrap();
    let handle = link.handle();
    assert!(lives(handle.id()));
    within(link.send(request(1))).await.unwrap();
    let Message::Request(request) = next(&mut link).await.unwrap() else { panic!() };
    assert_eq!((request.id, request.method.as_str()), (1.into(), "ping"));
    within(link.close()).await.unwrap();
    assert_eq!(handle.status(), Some(ExitStatus::from_raw(0)));
    assert!(!lives(handle.id()), "nobody has waited for it");
    assert_eq!(failure(&mut link).await, LinkError::Closed);
}

#[tokio::test]
async fn a_connector_opens_one_process_after_the_other() {
    let command = sh("exec cat");
    let mut first = command.open().await.unwrap();
    let second = command.open().await.unwrap();
    assert_ne!(first.handle().id(), second.handle().id());
    within(first.close()).await.unwrap();
    let handle = second.handle();
    assert!(lives(handle.id()));
    drop(second);
    assert!(within(handle.gone()).await.unwrap().success());
}

// Shows: FC-009
#[tokio::test]
async fn a_server_that_exits_at_once_says_why() {
    let mut link = sh("echo first >&2; echo Missing API key >&2; exit 3").spawn().unwrap();
    let error = failure(&mut link).await;
    let ChildError::Exited { status: Some(status), stderr, .. } = cause(&error) else {
        panic!("{error:?}")
    };
    assert_eq!(status.code(), Some(3));
    assert_eq!(stderr, &["first", "Missing API key"]);
    assert_eq!(
        cause(&error).to_string(),
        "the server process ended, exit status: 3: Missing API key"
    );
    // And so from then on.
    assert_eq!(failure(&mut link).await, error);
}

// Shows: FC-009
#[tokio::test]
async fn a_sender_learns_how_the_server_died() {
    let mut link = sh("echo No >&2; exit 4").spawn().unwrap();
    within(link.handle().gone()).await;
    // The pipe may still take what nobody will read.
    let error = within(async {
        loop {
            if let Err(error) = link.send(request(1)).await {
                break error;
            }
        }
    })
    .await;
    assert_eq!(cause(&error).status().and_then(|status| status.code()), Some(4));
    assert_eq!(cause(&error).stderr(), ["No"]);
}

// Shows: TRANSPORT-STDIO-015
#[tokio::test]
async fn what_was_sent_before_the_end_comes_first() {
    let script = r#"read -r line
        echo '{"jsonrpc":"2.0","id":1,"result":{}}'
        echo '{"jsonrpc":"2.0","method":"notifications/bye"}'
        exit 0"#;
    let mut link = sh(script).spawn().unwrap();
    within(link.send(request(1))).await.unwrap();
    assert!(matches!(next(&mut link).await.unwrap(), Message::Response(_)));
    assert!(matches!(next(&mut link).await.unwrap(), Message::Notification(_)));
    let error = failure(&mut link).await;
    assert!(cause(&error).status().unwrap().success());
}

/// The least protocol and service that a driver can have.
struct Nothing;

impl Protocol for Nothing {
    fn request(&mut self, _: &Request, _: Arrival) -> RequestVerdict {
        RequestVerdict::Refuse(ErrorObject::internal("no"))
    }

    fn notification(&mut self, _: &Notification, _: Arrival) -> NotificationVerdict {
        NotificationVerdict::Drop
    }
}

impl Service for Nothing {
    async fn call(&self, _: Inbound, _: Replies) -> Reply {
        Reply::Silent
    }
}

#[tokio::test]
async fn a_server_that_dies_fails_every_call_at_once_with_its_last_words() {
    let script = r#"read -r a; read -r b; read -r c
        echo '{"jsonrpc":"2.0","id":2,"result":{}}'
        echo out of memory >&2; exit 7"#;
    let link = sh(script).exit_time(NEVER).spawn().unwrap();
    let (driver, peer) = Driver::new(link, Nothing, DriverConfig::new(), |_| Nothing);
    let running = tokio::spawn(driver.run());
    let calls: Vec<_> = (0..3).map(|_| tokio::spawn(peer.call(Ask::new("x", None)))).collect();
    let (mut answered, mut failed) = (0, 0);
    for call in calls {
        match within(call).await.unwrap() {
            Ok(_) => answered += 1,
            Err(AskError::Link(error)) => {
                failed += 1;
                assert_eq!(cause(&error).status().and_then(|status| status.code()), Some(7));
                assert_eq!(cause(&error).stderr(), ["out of memory"]);
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((answered, failed), (1, 2));
    let error = within(running).await.unwrap();
    assert_eq!(cause(&error).stderr(), ["out of memory"]);
    // Nor does a call wait that comes later.
    assert!(matches!(within(peer.call(Ask::new("x", None))).await, Err(AskError::Link(_))));
}

#[tokio::test]
async fn a_task_that_comes_late_still_gets_what_was_sent_before_the_end() {
    let script = r#"echo '{"jsonrpc":"2.0","id":1,"result":{}}'; exit 6"#;
    let mut link = sh(script).spawn().unwrap();
    // The runtime does not get to look at its pipes in between.
    let mut cx = Context::from_waker(Waker::noop());
    let mut next = || loop {
        match link.poll_recv(&mut cx) {
            Poll::Ready(incoming) => break incoming,
            Poll::Pending => std::thread::yield_now(),
        }
    };
    assert!(matches!(next(), Ok(Incoming::Message(Message::Response(_), _))));
    assert_eq!(cause(&next().unwrap_err()).status().unwrap().code(), Some(6));
}

#[tokio::test]
async fn a_server_that_has_failed_has_not_just_been_closed() {
    let mut link = sh("exit 3").spawn().unwrap();
    within(link.handle().gone()).await;
    let _ = within(link.close()).await;
    assert_eq!(cause(&failure(&mut link).await).status().unwrap().code(), Some(3));
}

#[tokio::test]
async fn a_server_that_is_killed_in_the_middle_of_a_line_fails_the_link() {
    let mut link = sh(r#"printf '{"jsonrpc":"2.0","id":1,"res'; kill -9 $$"#).spawn().unwrap();
    let error = failure(&mut link).await;
    assert_eq!(cause(&error).status().unwrap().signal(), Some(9));
    assert_eq!(link.handle().skipped(), 1);
}

// Shows: FC-005
#[tokio::test]
async fn noise_is_skipped_counted_and_told() {
    let noise = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&noise);
    let script = r#"echo 'Starting server v1.2.0'
        echo '[dotenv] loaded 3 vars'
        echo
        echo '{"level":30,"msg":"hello"}'
        printf '{"jsonrpc":"2.0","id":0,"result":{}}\r\n'
        echo 42
        exec cat"#;
    let mut link = sh(script)
        .on_noise(move |line| sink.lock().unwrap().push(line.to_owned()))
        .spawn()
        .unwrap();
    assert_eq!(next(&mut link).await.unwrap().id(), Some(&0.into()));
    within(link.send(request(1))).await.unwrap();
    // The echo is the first thing that `cat` was sent: the noise was not answered.
    assert_eq!(next(&mut link).await.unwrap().id(), Some(&1.into()));
    assert_eq!(link.handle().skipped(), 4);
    assert_eq!(
        *noise.lock().unwrap(),
        ["Starting server v1.2.0", "[dotenv] loaded 3 vars", r#"{"level":30,"msg":"hello"}"#, "42"]
    );
}

// Shows: FC-003
#[tokio::test]
async fn a_line_that_is_not_utf8_costs_only_itself() {
    let script = r#"printf '{"jsonrpc":"2.0","method":"x","params":{"a":"\227"}}\n'
        echo '{"jsonrpc":"2.0","id":1,"result":{}}'
        exec cat"#;
    let mut link = sh(script).spawn().unwrap();
    assert_eq!(next(&mut link).await.unwrap().id(), Some(&1.into()));
    assert_eq!(link.handle().skipped(), 1);
}

// Shows: TRANSPORT-STDIO-008, TRANSPORT-STDIO-009, FC-007
#[tokio::test]
async fn a_flood_on_stderr_neither_blocks_nor_fails_anything() {
    let lines = Arc::new(Mutex::new(0));
    let sink = Arc::clone(&lines);
    for stderr in
        [Stderr::Discard, Stderr::Trace, Stderr::lines(move |_| *sink.lock().unwrap() += 1)]
    {
        // 1 MiB, far more than a pipe holds, before the first message.
        let script = "yes 'warning: something' | head -c 1048576 >&2; exec cat";
        let mut link = sh(script).stderr(stderr).stderr_lines(3).spawn().unwrap();
        within(link.send(request(1))).await.unwrap();
        assert!(next(&mut link).await.is_ok());
        within(link.close()).await.unwrap();
        assert_eq!(link.handle().stderr()[..2], ["warning: something"; 2]);
    }
    assert_eq!(*lines.lock().unwrap(), 1_048_576_usize.div_ceil("warning: something\n".len()));
}

// Shows: TRANSPORT-STDIO-012, TRANSPORT-STDIO-013
#[tokio::test]
async fn a_server_sees_the_end_of_stdin_before_any_signal() {
    let script = "trap 'echo term >&2; exit 1' TERM; cat >/dev/null; echo eof >&2; exit 0";
    let mut link = sh(script).exit_time(NEVER).spawn().unwrap();
    within(link.close()).await.unwrap();
    assert_eq!(link.handle().stderr(), ["eof"]);
    assert!(link.handle().status().unwrap().success());
}

// Shows: TRANSPORT-STDIO-013
#[tokio::test]
async fn a_server_that_ignores_the_end_of_stdin_is_asked_to_end() {
    // The trap runs between the naps.
    let script = "trap 'exit 7' TERM; echo ready >&2; while :; do sleep 0.01; done";
    let (command, mut stderr) = heard(script);
    let mut link = command.exit_time(SOON).terminate_time(NEVER).spawn().unwrap();
    line(&mut stderr).await;
    within(link.close()).await.unwrap();
    assert_eq!(link.handle().status().unwrap().code(), Some(7));
}

// Shows: TRANSPORT-STDIO-014
#[tokio::test]
async fn a_server_that_ignores_everything_is_killed_and_leaves_no_zombie() {
    let (command, mut stderr) = heard(STUBBORN);
    let mut link = command.exit_time(SOON).terminate_time(SOON).spawn().unwrap();
    let handle = link.handle();
    line(&mut stderr).await;
    within(link.close()).await.unwrap();
    assert_eq!(handle.status().unwrap().signal(), Some(9));
    assert!(!lives(handle.id()));
}

// Shows: FC-093
#[tokio::test]
async fn a_close_that_is_repeated_or_dropped_half_way_is_still_one_close() {
    let answers = r#"echo '{"jsonrpc":"2.0","id":1,"result":{}}'; "#;
    let (command, mut stderr) = heard(&format!("{answers}{STUBBORN}"));
    let mut link = command.exit_time(SOON).terminate_time(SOON).spawn().unwrap();
    let handle = link.handle();
    line(&mut stderr).await;
    // What the server has said before comes first.
    assert_eq!(next(&mut link).await.unwrap().id(), Some(&1.into()));
    let waker = &mut Context::from_waker(Waker::noop());
    assert!(link.poll_close(waker).is_pending(), "it can't have ended yet");
    drop(std::pin::pin!(link.close()).poll(waker));
    let (other, another) = (handle.clone(), handle.clone());
    let (first, second, third) = within(async {
        tokio::join!(other.shutdown(), another.shutdown(), async { link.close().await })
    })
    .await;
    assert_eq!(first.unwrap().signal(), Some(9));
    assert_eq!(second, first);
    assert!(third.is_ok(), "{third:?}");
    assert!(within(link.close()).await.is_ok());
    assert!(!lives(handle.id()));
}

// Shows: TRANSPORT-STDIO-014
#[tokio::test]
async fn dropping_the_link_does_the_same() {
    let (command, mut stderr) = heard(STUBBORN);
    let link = command.exit_time(SOON).terminate_time(SOON).spawn().unwrap();
    let handle = link.handle();
    line(&mut stderr).await;
    drop(link);
    assert_eq!(within(handle.gone()).await.unwrap().signal(), Some(9));
    assert!(!lives(handle.id()));
}

#[test]
fn a_link_that_is_dropped_with_its_runtime_ends_its_process() {
    let runtime = |threads| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_all()
            .build()
            .unwrap()
    };
    let first = runtime(1);
    let handle = first.block_on(async {
        let (command, mut stderr) = heard(STUBBORN);
        let mut link = command.exit_time(SOON).terminate_time(SOON).spawn().unwrap();
        let handle = link.handle();
        line(&mut stderr).await;
        tokio::spawn(async move { link.recv().await });
        handle
    });
    first.shutdown_background();
    let status = runtime(1).block_on(within(handle.gone()));
    assert_eq!(status.unwrap().signal(), Some(9));
    assert!(!lives(handle.id()));
}

// Shows: FC-093
#[tokio::test]
async fn what_a_wrapper_has_started_ends_with_it() {
    // The wrapper goes at the end of stdin, the server that it has started doesn't.
    let (command, mut stderr) = heard("sleep 3600 & echo $! >&2; cat >/dev/null");
    let mut link = command.exit_time(NEVER).terminate_time(NEVER).spawn().unwrap();
    let pid = line(&mut stderr).await.parse().unwrap();
    assert!(lives(pid));
    within(link.close()).await.unwrap();
    assert!(!lives(pid) || is_zombie(pid), "the grandchild is still there");
}

#[tokio::test]
async fn what_ignores_being_asked_to_end_is_killed_after_its_wrapper() {
    // A signal that a shell ignores is ignored by what it starts.
    let (command, mut stderr) = heard("trap '' TERM; sleep 3600 & echo $! >&2; exit 5");
    let mut link = command.terminate_time(SOON).spawn().unwrap();
    let pid = line(&mut stderr).await.parse().unwrap();
    // It holds stdout open, so that the link can't wait for its end.
    let error = failure(&mut link).await;
    assert_eq!(cause(&error).status().unwrap().code(), Some(5));
    within(link.handle().gone()).await;
    assert!(!lives(pid) || is_zombie(pid), "the grandchild is still there");
}

/// Where nobody waits for orphans they stay as zombies.
fn is_zombie(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[tokio::test]
async fn a_server_that_closes_its_stdout_and_lives_on_is_ended() {
    let script = "echo closing >&2; exec >&-; while :; do sleep 0.01; done";
    let mut link = sh(script).exit_time(SOON).spawn().unwrap();
    let error = failure(&mut link).await;
    match cause(&error) {
        ChildError::Exited { status, .. } => assert_eq!(status.unwrap().signal(), Some(15)),
        ChildError::ClosedPipes { .. } => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(cause(&error).stderr()[0], "closing");
    assert_eq!(within(link.handle().gone()).await.unwrap().signal(), Some(15));
}

#[tokio::test]
async fn a_server_that_closes_its_stdin_fails_the_link_after_what_it_sent() {
    let script = r#"exec <&-
        echo '{"jsonrpc":"2.0","method":"notifications/x"}'
        while :; do sleep 0.01; done"#;
    let mut link = sh(script).exit_time(NEVER).spawn().unwrap();
    assert!(matches!(next(&mut link).await.unwrap(), Message::Notification(_)));
    let error = within(async {
        loop {
            if let Err(error) = link.send(request(1)).await {
                break error;
            }
        }
    })
    .await;
    assert!(matches!(cause(&error), ChildError::ClosedPipes { .. }), "{error:?}");
    assert!(matches!(cause(&failure(&mut link).await), ChildError::ClosedPipes { .. }));
    link.handle().kill();
    within(link.handle().gone()).await;
}

#[tokio::test]
async fn a_server_that_does_not_read_is_ended_all_the_same() {
    let (command, mut stderr) = heard(STUBBORN);
    let mut link = command.exit_time(SOON).terminate_time(SOON).spawn().unwrap();
    line(&mut stderr).await;
    let params = format!(r#"{{"a":"{}"}}"#, "x".repeat(1 << 20));
    let params = RawJson::new(params).unwrap();
    let big = Outgoing::request_raw(1.into(), Name::from_static("x"), Some(&params));
    std::future::poll_fn(|cx| link.poll_ready(cx)).await.unwrap();
    link.start_send(big).unwrap();
    assert!(within(link.close()).await.is_err(), "not everything was sent");
    assert_eq!(link.handle().status().unwrap().signal(), Some(9));
}

#[tokio::test]
async fn the_longest_times_are_no_trouble() {
    let forever = Duration::MAX;
    let mut link = sh("exec cat").exit_time(forever).terminate_time(forever).spawn().unwrap();
    within(link.close()).await.unwrap();
    let link = sh("exit 0").exit_time(forever).terminate_time(forever).spawn().unwrap();
    within(link.handle().gone()).await;
}

#[tokio::test]
async fn a_handle_can_end_what_the_link_is_waiting_for() {
    let mut link = sh("exec cat").exit_time(NEVER).spawn().unwrap();
    let handle = link.handle();
    let receiving = tokio::spawn(async move { link.recv().await });
    let status = within(handle.shutdown()).await;
    assert!(status.unwrap().success());
    assert_eq!(within(receiving).await.unwrap(), Err(LinkError::Closed));
}

// Shows: FC-010, AUTH-CLIENT-003
#[tokio::test]
async fn a_child_sees_the_environment_it_is_given_and_nothing_else() {
    let mut link = sh("env >&2; exec cat").env("API_KEY", "k").stderr_lines(1000).spawn().unwrap();
    within(link.close()).await.unwrap();
    let env = link.handle().stderr();
    assert!(env.contains(&"API_KEY=k".to_owned()), "{env:?}");
    assert!(env.iter().any(|line| line.starts_with("PATH=")));
    // Cargo sets this one for tests.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!env.iter().any(|line| line.starts_with("CARGO")), "{env:?}");

    let mut link = sh("env >&2; exec cat").env_inherit_all().stderr_lines(1000).spawn().unwrap();
    within(link.close()).await.unwrap();
    assert!(link.handle().stderr().iter().any(|line| line.starts_with("CARGO_MANIFEST_DIR=")));
}

// Shows: FC-010
#[tokio::test]
async fn a_child_works_in_the_directory_it_is_given() {
    let directory = std::env::temp_dir().canonicalize().unwrap();
    let mut link = sh("pwd >&2; exec cat").current_dir(&directory).spawn().unwrap();
    within(link.close()).await.unwrap();
    assert_eq!(link.handle().stderr(), [directory.to_str().unwrap()]);

    let missing = directory.join("there-is-no-such-directory");
    let error = sh("true").current_dir(&missing).spawn().unwrap_err();
    assert!(error.to_string().contains("there-is-no-such-directory"), "{error}");
    assert!(matches!(error, SpawnError::WorkingDirectory { path, .. } if path == missing));
}

// Shows: FC-010
#[tokio::test]
async fn a_relative_program_in_a_relative_directory_is_found_once() {
    // From `tests` up to the root.
    let depth = std::env::current_dir().unwrap().canonicalize().unwrap().components().count();
    let sh = format!("{}bin/sh", "../".repeat(depth));
    let command = ChildCommand::new(sh).args(["-c", "exec cat"]).current_dir("tests");
    within(command.spawn().unwrap().close()).await.unwrap();
}

// Shows: FC-010
#[tokio::test]
async fn a_program_that_is_missing_or_may_not_be_run_is_told_apart() {
    let error = ChildCommand::new("there-is-no-such-program").spawn().unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error:?}");
    let error = ChildCommand::new("/etc/passwd").spawn().unwrap_err();
    assert!(matches!(error, SpawnError::PermissionDenied { .. }), "{error:?}");
    // The child's search path counts, not ours.
    let error = ChildCommand::new("sh").env("PATH", "/nowhere").spawn().unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error:?}");
    let error = ChildCommand::new("sh").open().await.map(drop);
    assert_eq!(error, Ok(()));
}

#[test]
fn without_a_runtime_nothing_is_started() {
    assert!(matches!(sh("true").spawn().unwrap_err(), SpawnError::NoRuntime));
}

/// Keeps the messages and the fields of what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::INFO
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        struct Text(String);
        impl tracing::field::Visit for Text {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
                self.0 += &format!("{}={value:?} ", field.name());
            }
        }
        let mut text = Text(format!("{} ", event.metadata().target()));
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

// Shows: SEC-088, TRANSPORT-STDIO-008
#[test]
fn start_end_and_stderr_are_logged_where_the_caller_logs() {
    let log = Log::default();
    // With only one in the process, `tracing` asks the thread that comes to an event first
    // whether it is wanted, and takes the answer for everybody's.
    let _another = tracing::Dispatch::new(Log::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(log.clone(), || {
        runtime.block_on(async {
            let command =
                sh("echo hello >&2; exec cat").env("API_KEY", "hush").stderr(Stderr::Trace);
            let mut link = command.spawn().unwrap();
            within(link.close()).await.unwrap();
        });
    });
    let log = log.0.lock().unwrap();
    assert!(log.iter().all(|line| line.contains("pid=")), "{log:?}");
    for expected in [
        "message=a server process started ",
        "mcp_transport_stdio::stderr message=hello ",
        "message=a server process ended ",
    ] {
        assert!(log.iter().any(|line| line.contains(expected)), "{expected}: {log:?}");
    }
    assert!(!log.iter().any(|line| line.contains("hush")), "{log:?}");
}

#[test]
fn secrets_are_not_printed() {
    let command = ChildCommand::new("x").arg("--token=hush").env("API_KEY", "hush");
    let debug = format!("{command:?}");
    assert!(debug.contains("API_KEY") && !debug.contains("hush"), "{debug}");
}
