//! The contract of `Link`, over every kind of pipe that this crate has.

#![cfg(test)]

use mcp_jsonrpc::Outgoing;
use mcp_jsonrpc::link::v1::{Link, LinkExt};
use mcp_jsonrpc::testing::link_suite;
use mcp_transport_stdio::{PipeConfig, PipeLink};

/// Runs the suite inside of a runtime whose own threads drive what has to be driven.
fn check<A: Link, B: Link>(make: impl Fn() -> (A, B) + Clone + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    let handle = runtime.handle().clone();
    let warm = move || {
        let (mut a, mut b) = make();
        handle.block_on(async {
            say_hello(&mut a, &mut b).await;
            say_hello(&mut b, &mut a).await;
        });
        (a, b)
    };
    for test in link_suite(warm) {
        println!("{}", test.name);
        test.run();
    }
}

/// Until the runtime has heard of it, a pipe that is empty seems to be full: then the suite, which
/// fills links, would be surprised by the room that comes up.
async fn say_hello(from: &mut impl Link, to: &mut impl Link) {
    from.send(Outgoing::notification_raw("hello".into(), None)).await.unwrap();
    to.recv().await.unwrap();
}

/// Small, so that a link is full soon.
fn config() -> PipeConfig {
    PipeConfig::new().with_high_water(10_000)
}

#[test]
fn a_link_over_streams_in_memory_keeps_it() {
    check(|| {
        let (left, right) = tokio::io::duplex(1000);
        let link = |stream| {
            let (reader, writer) = tokio::io::split(stream);
            PipeLink::with_config(reader, writer, config())
        };
        (link(left), link(right))
    });
}

#[cfg(unix)]
#[test]
fn a_link_over_sockets_keeps_it() {
    check(|| {
        let (left, right) = tokio::net::UnixStream::pair().unwrap();
        let link = |stream: tokio::net::UnixStream| {
            let (reader, writer) = stream.into_split();
            PipeLink::new(reader, writer)
        };
        (link(left), link(right))
    });
}

#[cfg(unix)]
#[cfg(feature = "server")]
mod stdio {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use mcp_transport_stdio::{Stdio, StdioLink};

    use super::*;

    fn pipes() -> (StdioLink, StdioLink) {
        let (left_in, right_out) = io::pipe().unwrap();
        let (right_in, left_out) = io::pipe().unwrap();
        let stdio = || Stdio::new().with_config(config());
        (
            stdio().open_on(left_in.into(), left_out.into()),
            stdio().open_on(right_in.into(), right_out.into()),
        )
    }

    fn sockets() -> (StdioLink, StdioLink) {
        let (left_in, right_out) = UnixStream::pair().unwrap();
        let (right_in, left_out) = UnixStream::pair().unwrap();
        let open = |input: UnixStream, output: UnixStream| {
            let stdio = Stdio::new().with_config(config());
            stdio.open_on(OwnedFd::from(input), OwnedFd::from(output))
        };
        (open(left_in, left_out), open(right_in, right_out))
    }

    #[test]
    fn stdin_and_stdout_that_are_pipes_keep_it() {
        check(pipes);
    }

    #[test]
    fn stdin_and_stdout_that_are_sockets_keep_it() {
        check(sockets);
    }

    /// These fill a link first, and rely on that it then stays full, while a thread goes on
    /// to make room for as long as the pipe has some.
    const STAYS_FULL: [&str; 2] = [
        "a sender that is dropped before there was room sends nothing",
        "who waits learns that the other end is gone",
    ];

    #[test]
    fn stdin_and_stdout_behind_threads_keep_it() {
        // Without a runtime there are threads.
        let tests = link_suite(pipes);
        assert!(STAYS_FULL.iter().all(|name| tests.iter().any(|test| test.name == *name)));
        for test in tests.into_iter().filter(|test| !STAYS_FULL.contains(&test.name)) {
            println!("{}", test.name);
            test.run();
        }
    }
}
