//! How long a server takes from its start to its first answer.

use std::time::Instant;

use crate::child::{Server, Stderr};
use crate::wire::pipe::Pipe;

/// Starts in one round, since a single one is short.
const STARTS: usize = 20;

/// The median of some starts, in milliseconds.
pub(crate) async fn run(command: &str) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        let mut server = Server::piped(command, Stderr::Shown)?;
        let pipe = Pipe::open(&mut server).await?;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        drop(pipe);
        server.wait()?;
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(STARTS / 2).copied().unwrap_or(f64::NAN))
}
