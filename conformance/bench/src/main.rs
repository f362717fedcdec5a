//! `mcp-bench WHAT [OPTIONS] NAME=COMMAND…`: what servers cost, side by side.
//!
//! Every answer is checked. What is reported first is the server's own CPU time, as the operating
//! system counts it. Runs are interleaved; shown are medians, with their spread, and the ratio to
//! the first server: the median of the ratios within each round, so that what slows down a whole
//! round falls out.

mod args;
mod child;
mod report;
mod sessions;
mod start;
mod wire;
mod work;

use std::path::Path;

use anyhow::Context;

use crate::args::{Options, What};
use crate::report::{Column, Table};

fn main() -> anyhow::Result<()> {
    let options = Options::parse(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&options))
}

async fn run(options: &Options) -> anyhow::Result<()> {
    let mut table = Table::new(options);
    for _ in 0..options.repeat {
        for (name, command) in &options.servers {
            let cells = measure(options, command).await.with_context(|| name.clone())?;
            table.add(name, cells);
        }
    }
    table.print(options.json.as_deref())
}

/// One round for one server.
async fn measure(options: &Options, command: &str) -> anyhow::Result<Vec<(Column, f64)>> {
    match options.what {
        What::Calls => {
            let sample = options.load()?.run(command).await?;
            Ok(vec![
                (Column::Cpu, sample.cpu),
                (Column::Rate, sample.rate),
                (Column::Half, f64::from(sample.half)),
                (Column::Most, f64::from(sample.most)),
                (Column::Resident, kib(sample.resident)),
            ])
        }
        What::Instructions => {
            let load = options.load()?;
            // A long run minus a short one: what happens once falls out.
            let short = (load.calls / 5).max(1);
            let nowhere = Path::new("/dev/null");
            let once = load.count(command, short, nowhere).await?;
            let keep = options.keep.as_deref().unwrap_or(nowhere);
            let more = load.count(command, short + load.calls, keep).await?;
            Ok(vec![(
                Column::Instructions,
                kib(more.saturating_sub(once)) / kib(load.calls as u64),
            )])
        }
        What::Sessions => {
            let sample = sessions::run(command, options.calls, options.listen).await?;
            Ok(vec![
                (Column::SessionMemory, sample.memory),
                (Column::SessionCpu, sample.cpu),
                (Column::Resident, kib(sample.resident)),
            ])
        }
        What::Start => Ok(vec![(Column::Start, start::run(command).await?)]),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the counts here are far below that")]
fn kib(count: u64) -> f64 {
    count as f64
}
