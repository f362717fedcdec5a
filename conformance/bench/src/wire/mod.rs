//! How requests get to a server and answers back.

pub(crate) mod http;
pub(crate) mod pipe;

use std::path::Path;
use std::time::Instant;

use anyhow::Context;

use crate::child::{Server, Stderr};
use crate::work::Work;

/// How servers are spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    Stdio,
    Http,
}

/// What a run consists of.
pub(crate) struct Load {
    pub(crate) medium: Medium,
    pub(crate) work: Work,
    pub(crate) calls: usize,
    /// Requests under way at once; over HTTP as many connections, each with a session.
    pub(crate) depth: usize,
    /// Sessions that are there and do nothing, over HTTP.
    pub(crate) idle: usize,
}

/// What a run has shown.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// CPU seconds of the server for 100,000 calls.
    pub(crate) cpu: f64,
    /// Calls a second.
    pub(crate) rate: f64,
    /// Half of the calls took at most so many microseconds, and 99 of 100.
    pub(crate) half: u32,
    pub(crate) most: u32,
    /// Resident memory of the server at the end, in KiB.
    pub(crate) resident: u64,
}

/// The ids of the calls that count begin here.
const FIRST: u64 = 1_000_000;
/// Calls before those that count, so that what happens only once is behind us.
const WARM: usize = 1000;

impl Load {
    fn warm(&self) -> usize {
        WARM.min(self.calls / 2).max(1)
    }

    /// Starts a server, runs the calls, and says what they have cost.
    pub(crate) async fn run(&self, command: &str) -> anyhow::Result<Sample> {
        match self.medium {
            Medium::Stdio => {
                let mut server = Server::piped(command, Stderr::Shown)?;
                let mut pipe = pipe::Pipe::open(&mut server).await?;
                pipe.calls(&self.work, 1, self.warm(), self.depth).await?;
                let before = Before::new(&server)?;
                let times = pipe.calls(&self.work, FIRST, self.calls, self.depth).await?;
                before.sample(&server, times)
            }
            Medium::Http => {
                let (server, address) = Server::listening(command)?;
                let origin = http::Origin::parse(&address)?;
                origin.open_idle(self.idle).await?;
                let mut clients = origin.open(self.depth).await?;
                clients.calls(&self.work, 1, self.warm().max(self.depth)).await?;
                let before = Before::new(&server)?;
                let times = clients.calls(&self.work, FIRST, self.calls).await?;
                before.sample(&server, times)
            }
        }
    }

    /// Runs so many calls against a server under callgrind, and answers with the instructions
    /// that it has counted; its profile goes to a file.
    pub(crate) async fn count(
        &self,
        command: &str,
        calls: usize,
        profile: &Path,
    ) -> anyhow::Result<u64> {
        let profile = profile.display();
        let command = format!("valgrind --tool=callgrind --callgrind-out-file={profile} {command}");
        let report = match self.medium {
            Medium::Stdio => {
                let mut server = Server::piped(&command, Stderr::Kept)?;
                let mut pipe = pipe::Pipe::open(&mut server).await?;
                pipe.calls(&self.work, 1, calls, self.depth).await?;
                drop(pipe);
                server.wait()?
            }
            Medium::Http => {
                let (server, address) = Server::listening(&command)?;
                let mut clients = http::Origin::parse(&address)?.open(self.depth).await?;
                clients.calls(&self.work, 1, calls).await?;
                server.end()?
            }
        };
        let collected = report.split("Collected : ").nth(1);
        let collected = collected.and_then(|rest| rest.split_whitespace().next());
        Ok(collected.context("callgrind has not counted")?.parse()?)
    }
}

/// Where the server was when the calls began.
struct Before {
    cpu: f64,
    start: Instant,
}

impl Before {
    fn new(server: &Server) -> anyhow::Result<Self> {
        Ok(Self { cpu: server.cpu()?, start: Instant::now() })
    }

    fn sample(self, server: &Server, mut times: Vec<u32>) -> anyhow::Result<Sample> {
        let (took, cpu) = (self.start.elapsed().as_secs_f64(), server.cpu()? - self.cpu);
        times.sort_unstable();
        let at = |percent: usize| {
            times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
        };
        #[expect(clippy::cast_precision_loss, reason = "counts of calls are small")]
        let calls = times.len() as f64;
        Ok(Sample {
            cpu: cpu * 100_000.0 / calls,
            rate: calls / took,
            half: at(50),
            most: at(99),
            resident: server.resident()?,
        })
    }
}
