//! What the process does when it is a server.

use std::process::{Command, exit};
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::Thread;

use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError, LinkExt};
use mcp_jsonrpc::{Limits, Message, Name, Outgoing, RawJson};
use mcp_transport_stdio::{PipeConfig, Stdio, StdioLink, stdio};

pub(crate) fn play(role: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let cause = match role {
        "echo" => runtime.block_on(echo(stdio())),
        "unguarded" => runtime.block_on(echo(Stdio::new().without_guard().open().unwrap())),
        "large" => {
            let config = PipeConfig::new()
                .with_limits(Limits::new().with_frame_bytes(64 << 20))
                .with_outgoing_bytes(64 << 20);
            runtime.block_on(echo(Stdio::new().with_config(config).open().unwrap()))
        }
        "loud" => {
            println!("printed before, and in std's buffer");
            print!("half a line, ");
            let link = stdio();
            println!("printed after");
            let said = Command::new("sh").args(["-c", "cat; echo printed by a child"]).status();
            assert!(said.unwrap().success());
            runtime.block_on(echo(link))
        }
        "twice" => {
            let first = stdio();
            let second = runtime.block_on(stdio().recv());
            eprintln!("{}", second.unwrap_err());
            eprintln!("{}", Stdio::new().open().unwrap_err());
            runtime.block_on(echo(first))
        }
        "talkative" => runtime.block_on(async {
            let mut link = stdio();
            let params = RawJson::new(format!(r#"{{"a":"{}"}}"#, "x".repeat(8 << 20))).unwrap();
            let note = Outgoing::notification_raw(Name::from_static("n"), Some(&params));
            std::future::poll_fn(|cx| link.poll_ready(cx)).await.unwrap();
            link.start_send(note).unwrap();
            echo(link).await
        }),
        "parent" => {
            let echo = std::env::current_exe().unwrap();
            let mut child = Command::new(echo)
                .env(crate::ROLE, "echo")
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            println!("ready");
            // Until it is killed.
            child.wait().unwrap();
            LinkError::Closed
        }
        "no-runtime" => block_on(echo(stdio())),
        other => panic!("{other}?"),
    };
    if !cause.is_closed() {
        eprintln!("{cause:?}");
        exit(1);
    }
}

/// Answers each request by its own parameters until the end, with what is ready together
/// written together.
async fn echo(mut link: StdioLink) -> LinkError {
    let cause = std::future::poll_fn(|cx| poll_echo(&mut link, cx)).await;
    link.close().await.err().unwrap_or(cause)
}

fn poll_echo(link: &mut StdioLink, cx: &mut Context<'_>) -> Poll<LinkError> {
    loop {
        // What could not be written yet must not keep anything from being read, up to a bound.
        let Poll::Ready(incoming) = link.poll_recv(cx) else { break };
        let answer = match incoming {
            Ok(Incoming::Message(Message::Request(request), _)) => {
                let params = request.params.unwrap_or_else(|| RawJson::new("{}").unwrap());
                Outgoing::result_raw(request.id, params.as_bytes())
            }
            Ok(Incoming::Malformed(fault)) => Outgoing::error(fault.id.clone(), &fault.to_error()),
            Ok(_) => continue,
            Err(cause) => return Poll::Ready(cause),
        };
        if let Err(cause) = link.start_send(answer) {
            return Poll::Ready(cause);
        }
    }
    match link.poll_flush(cx) {
        Poll::Ready(Err(cause)) => Poll::Ready(cause),
        _ => Poll::Pending,
    }
}

/// The least executor that there can be.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut cx = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
        std::thread::park();
    }
}
