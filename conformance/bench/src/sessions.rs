//! What sessions cost that do nothing.

use crate::child::Server;
use crate::wire::http::Origin;

pub(crate) struct Sample {
    /// KiB of resident memory for each session.
    pub(crate) memory: f64,
    /// Milliseconds of CPU for opening one, its stream included.
    pub(crate) cpu: f64,
    /// KiB with all of them.
    pub(crate) resident: u64,
}

/// Sessions that come and go before those that count, so that what is made once is there.
const WARM: usize = 200;

/// Opens `count` sessions, with a GET stream each if `listen`.
pub(crate) async fn run(command: &str, count: usize, listen: bool) -> anyhow::Result<Sample> {
    let (server, address) = Server::listening(command)?;
    let origin = Origin::parse(&address)?;
    for session in origin.open_idle(WARM).await? {
        if listen {
            drop(origin.listen(&session).await?);
        }
        origin.close(&session).await?;
    }
    let (before, cpu) = (server.resident()?, server.cpu()?);
    let sessions = origin.open_idle(count).await?;
    let mut streams = Vec::new();
    if listen {
        for session in &sessions {
            streams.push(origin.listen(session).await?);
        }
    }
    let (resident, spent) = (server.resident()?, server.cpu()? - cpu);
    #[expect(clippy::cast_precision_loss, reason = "sessions and KiB are few")]
    let (count, grown) = (count as f64, resident.saturating_sub(before) as f64);
    Ok(Sample { memory: grown / count, cpu: spent * 1000.0 / count, resident })
}
