//! Two thousand sessions and a few dozen child processes, with everything going wrong at once,
//! for as long as is wanted: nothing may get lost, nothing may happen twice, memory stays flat,
//! and no task is left.
//!
//! The server is a process of its own, so that its memory is its own. Between it and its
//! visitors stands a proxy that cuts connections.

mod child;
mod proxy;
mod report;
mod server;
mod visitor;

pub use server::{serve, serve_child};

use std::error::Error;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinSet;

use self::report::{Counts, Sample};

/// What a run is made of.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is made by the program beside it")]
pub struct Options {
    /// How long.
    pub time: Duration,
    /// Sessions over HTTP at once.
    pub sessions: u32,
    /// Child processes over stdio at once.
    pub children: u32,
    /// Where the chances begin.
    pub seed: u64,
}

/// How long after the end everything has to be over.
const WIND_DOWN: Duration = Duration::from_secs(200);

/// A source of chances that a run can be repeated with.
#[derive(Clone, Debug)]
struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }

    fn between(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from))
    }
}

/// Runs it, prints what came of it, and says whether it held.
///
/// # Errors
///
/// When the server can't be started, or ends by itself.
pub async fn run(options: Options) -> Result<bool, Box<dyn Error + Send + Sync>> {
    let program = std::env::current_exe()?;
    let (mut server, address, mut lines) = start(&program).await?;
    let proxy = proxy::start(address, options.seed).await?;
    let counts = Arc::new(Counts::default());
    let over = Arc::new(AtomicBool::new(false));
    let tasks_before = tokio::runtime::Handle::current().metrics().num_alive_tasks();

    let mut visitors = JoinSet::new();
    for number in 0..options.sessions {
        let visitor = visitor::Visitor::new(
            number,
            format!("http://{}/mcp", proxy.address()),
            Chance::new(options.seed ^ (u64::from(number) << 20)),
            Arc::clone(&counts),
            Arc::clone(&over),
        );
        visitors.spawn(visitor.run());
    }
    for number in 0..options.children {
        let chance = Chance::new(options.seed ^ (u64::from(number) << 40) ^ 7);
        let (program, counts) = (program.clone(), Arc::clone(&counts));
        visitors.spawn(child::run(program, number, chance, counts, Arc::clone(&over)));
    }

    let begun = Instant::now();
    let mut samples = Vec::new();
    let mut shown = Instant::now();
    while begun.elapsed() < options.time {
        let wait = tokio::time::timeout(Duration::from_secs(30), lines.next_line());
        let line = wait.await.map_err(|_| "the server says nothing")??;
        let sample = Sample::read(&line.ok_or("the server has ended")?)?;
        if shown.elapsed() >= Duration::from_secs(30) {
            shown = Instant::now();
            report::progress(begun.elapsed(), &sample, &counts);
        }
        samples.push((begun.elapsed(), sample));
    }
    over.store(true, Ordering::Relaxed);

    // Everybody goes home, sessions expire, tasks end.
    let going = async { while visitors.join_next().await.is_some() {} };
    let stuck = tokio::time::timeout(WIND_DOWN, going).await.is_err();
    let mut last = samples.last().map(|(_, sample)| sample.clone()).unwrap_or_default();
    let deadline = Instant::now() + WIND_DOWN;
    while Instant::now() < deadline && !last.is_quiet() {
        let Some(line) = lines.next_line().await? else { break };
        last = Sample::read(&line)?;
    }
    drop(proxy);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let tasks_after = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    // The server ends with its stdin.
    drop(server.stdin.take());
    let ended = tokio::time::timeout(Duration::from_secs(30), server.wait()).await;
    let verdict = report::Verdict {
        stuck,
        tasks: (tasks_before, tasks_after),
        ended: ended.is_ok_and(|status| status.is_ok_and(|status| status.success())),
        last,
    };
    Ok(report::judge(options, &samples, &counts, &verdict))
}

type Lines = tokio::io::Lines<BufReader<ChildStdout>>;

async fn start(
    program: &std::path::Path,
) -> Result<(Child, SocketAddr, Lines), Box<dyn Error + Send + Sync>> {
    let mut server = Command::new(program)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdout = server.stdout.take().ok_or("the server has no stdout")?;
    let mut lines = BufReader::new(stdout).lines();
    let first = lines.next_line().await?.ok_or("the server did not start")?;
    let address = first.strip_prefix("listening on ").ok_or("the server does not listen")?;
    Ok((server, address.parse()?, lines))
}
