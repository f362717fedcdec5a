//! `mcp-bench stdio NAME=COMMAND…`: what an echo call costs each server, side by side.
//!
//! Every answer is checked. What is reported is the server's own CPU time, as the operating
//! system counts it; runs are interleaved, and the median of the repetitions is shown together
//! with its spread and its ratio to the first server.

mod child;
mod load;

use anyhow::{Context, bail};

use crate::load::{Load, Sample};

const USAGE: &str = "usage: mcp-bench stdio [--calls N] [--depth N] [--bytes N] [--repeat N] [--json] NAME=COMMAND …";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run())
}

struct Options {
    load: Load,
    repeat: usize,
    json: bool,
    servers: Vec<(String, String)>,
}

fn options() -> anyhow::Result<Options> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some("stdio") {
        bail!("{USAGE}");
    }
    let mut options = Options {
        load: Load { calls: 100_000, depth: 16, bytes: 16 },
        repeat: 5,
        json: false,
        servers: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        let mut number = || -> anyhow::Result<usize> {
            arguments.next().context(USAGE)?.parse().context("a number is wanted")
        };
        match argument.as_str() {
            "--calls" => options.load.calls = number()?,
            "--depth" => options.load.depth = number()?,
            "--bytes" => options.load.bytes = number()?,
            "--repeat" => options.repeat = number()?,
            "--json" => options.json = true,
            server => {
                let (name, command) = server.split_once('=').context(USAGE)?;
                options.servers.push((name.to_owned(), command.to_owned()));
            }
        }
    }
    if options.servers.is_empty() {
        bail!("{USAGE}");
    }
    Ok(options)
}

async fn run() -> anyhow::Result<()> {
    let options = options()?;
    let mut samples: Vec<Vec<Sample>> = options.servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.repeat.max(1) {
        for ((name, command), samples) in options.servers.iter().zip(&mut samples) {
            samples.push(options.load.run(command).await.with_context(|| name.clone())?);
        }
    }
    report(&options, &samples);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "that is what this program is for")]
fn report(options: &Options, samples: &[Vec<Sample>]) {
    let median = |samples: &[Sample], of: fn(&Sample) -> f64| {
        let mut values: Vec<f64> = samples.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        let at =
            |part: usize| values.get(part * (values.len() - 1) / 2).copied().unwrap_or(f64::NAN);
        (at(1), at(0), at(2))
    };
    let base = samples.first().map_or(f64::NAN, |first| median(first, |sample| sample.cpu).0);
    let rows: Vec<_> = options
        .servers
        .iter()
        .zip(samples)
        .map(|((name, _), samples)| {
            let (cpu, least, most) = median(samples, |sample| sample.cpu);
            let (rate, ..) = median(samples, |sample| sample.rate);
            (name, cpu, least, most, cpu / base, rate)
        })
        .collect();
    if options.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, cpu, least, most, ratio, rate)| {
                serde_json::json!({
                    "server": name, "cpu_s_per_100k": cpu, "cpu_min": least, "cpu_max": most,
                    "ratio": ratio, "calls_per_s": rate,
                })
            })
            .collect();
        println!("{}", serde_json::Value::from(rows));
        return;
    }
    let Load { calls, depth, bytes } = options.load;
    println!(
        "{calls} echo calls of {bytes} bytes, {depth} outstanding, {} repetitions",
        options.repeat
    );
    println!(
        "{:<20} {:>16} {:>15} {:>7} {:>12}",
        "server", "CPU s per 100k", "least to most", "ratio", "calls/s"
    );
    for (name, cpu, least, most, ratio, rate) in rows {
        let spread = format!("{least:.3} to {most:.3}");
        println!("{name:<20} {cpu:>16.3} {spread:>15} {ratio:>7.2} {rate:>12.0}");
    }
}
