//! `mcp-bench stdio|http|sessions [OPTIONS] NAME=COMMAND…`: what an echo call, or an idle session,
//! costs each server, side by side. `mcp-bench calls URL N` makes N calls, and nothing else.
//!
//! Every answer is checked. What is reported is the server's own CPU time, as the operating
//! system counts it; runs are interleaved, and the median of the repetitions is shown together
//! with its spread and its ratio to the first server.

mod child;
mod http;
mod load;
mod sessions;

use anyhow::{Context, bail};

use crate::http::HttpLoad;
use crate::load::{Load, Sample};
use crate::sessions::{SessionSample, Sessions};

const USAGE: &str =
    "usage: mcp-bench stdio [--calls N] [--depth N] [--bytes N] [--repeat N] [--json] NAME=COMMAND…
       mcp-bench http [--calls N] [--connections N] [--bytes N] [--repeat N] [--json] NAME=COMMAND…
       mcp-bench sessions [--count N] [--streams] [--repeat N] [--json] NAME=COMMAND…
       mcp-bench calls URL N";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run())
}

/// What is measured.
#[derive(Clone, Copy)]
enum Kind {
    Stdio(Load),
    Http(HttpLoad),
    Sessions(Sessions),
}

struct Options {
    kind: Kind,
    repeat: usize,
    json: bool,
    servers: Vec<(String, String)>,
}

fn options(kind: &str, mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Options> {
    let mut options = Options {
        kind: match kind {
            "stdio" => Kind::Stdio(Load { calls: 100_000, depth: 16, bytes: 16 }),
            "http" => Kind::Http(HttpLoad { calls: 100_000, connections: 16, bytes: 16 }),
            "sessions" => Kind::Sessions(Sessions { count: 1000, streams: false }),
            _ => bail!("{USAGE}"),
        },
        repeat: 5,
        json: false,
        servers: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        let mut number = || -> anyhow::Result<usize> {
            arguments.next().context(USAGE)?.parse().context("a number is wanted")
        };
        match (argument.as_str(), &mut options.kind) {
            ("--calls", Kind::Stdio(load)) => load.calls = number()?,
            ("--depth", Kind::Stdio(load)) => load.depth = number()?,
            ("--bytes", Kind::Stdio(load)) => load.bytes = number()?,
            ("--calls", Kind::Http(load)) => load.calls = number()?,
            ("--connections", Kind::Http(load)) => load.connections = number()?,
            ("--bytes", Kind::Http(load)) => load.bytes = number()?,
            ("--count", Kind::Sessions(sessions)) => sessions.count = number()?,
            ("--streams", Kind::Sessions(sessions)) => sessions.streams = true,
            ("--repeat", _) => options.repeat = number()?,
            ("--json", _) => options.json = true,
            (server, _) => {
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
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().context(USAGE)?;
    if kind == "calls" {
        let url = arguments.next().context(USAGE)?;
        let calls = arguments.next().context(USAGE)?.parse()?;
        return http::calls(&url, calls).await;
    }
    let options = options(&kind, arguments)?;
    match options.kind {
        Kind::Stdio(load) => {
            report(&options, &measure(&options, async |command| load.run(command).await).await?);
        }
        Kind::Http(load) => {
            report(&options, &measure(&options, async |command| load.run(command).await).await?);
        }
        Kind::Sessions(sessions) => {
            let samples = measure(&options, async |command| sessions.run(command).await).await?;
            report_sessions(&options, sessions, &samples);
        }
    }
    Ok(())
}

/// One repetition of each server after the other, so that what disturbs one disturbs all.
async fn measure<S>(
    options: &Options,
    run: impl AsyncFn(&str) -> anyhow::Result<S>,
) -> anyhow::Result<Vec<Vec<S>>> {
    let mut samples: Vec<Vec<S>> = options.servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.repeat.max(1) {
        for ((name, command), samples) in options.servers.iter().zip(&mut samples) {
            samples.push(run(command).await.with_context(|| name.clone())?);
        }
    }
    Ok(samples)
}

/// The median, the least and the most.
fn median<S>(samples: &[S], of: fn(&S) -> f64) -> (f64, f64, f64) {
    let mut values: Vec<f64> = samples.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    let at = |part: usize| values.get(part * (values.len() - 1) / 2).copied().unwrap_or(f64::NAN);
    (at(1), at(0), at(2))
}

#[expect(clippy::print_stdout, reason = "that is what this program is for")]
fn report_sessions(options: &Options, sessions: Sessions, samples: &[Vec<SessionSample>]) {
    let rows = options.servers.iter().zip(samples).map(|((name, _), samples)| {
        let (bytes, cpu) = (median(samples, |s| s.bytes), median(samples, |s| s.cpu_ms));
        (name, bytes, cpu)
    });
    if options.json {
        let rows: Vec<_> = rows
            .map(|(name, bytes, cpu)| {
                serde_json::json!({
                    "server": name, "bytes_per_session": bytes.0, "bytes_min": bytes.1,
                    "bytes_max": bytes.2, "cpu_ms_per_session": cpu.0,
                })
            })
            .collect();
        println!("{}", serde_json::Value::from(rows));
        return;
    }
    let kind = if sessions.streams { "with an open stream each" } else { "idle" };
    println!("{} sessions, {kind}, {} repetitions", sessions.count, options.repeat);
    println!(
        "{:<20} {:>14} {:>20} {:>16}",
        "server", "KiB a session", "least to most", "CPU ms to open"
    );
    for (name, bytes, cpu) in rows {
        let spread = format!("{:.2} to {:.2}", bytes.1 / 1024.0, bytes.2 / 1024.0);
        println!("{name:<20} {:>14.2} {spread:>20} {:>16.3}", bytes.0 / 1024.0, cpu.0);
    }
}

#[expect(clippy::print_stdout, reason = "that is what this program is for")]
fn report(options: &Options, samples: &[Vec<Sample>]) {
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
    let what = match options.kind {
        Kind::Stdio(Load { calls, depth, bytes }) => {
            format!("{calls} echo calls of {bytes} bytes, {depth} outstanding")
        }
        Kind::Http(HttpLoad { calls, connections, bytes }) => {
            format!("{calls} echo calls of {bytes} bytes, {connections} connections")
        }
        Kind::Sessions(_) => return,
    };
    println!("{what}, {} repetitions", options.repeat);
    println!(
        "{:<20} {:>16} {:>15} {:>7} {:>12}",
        "server", "CPU s per 100k", "least to most", "ratio", "calls/s"
    );
    for (name, cpu, least, most, ratio, rate) in rows {
        let spread = format!("{least:.3} to {most:.3}");
        println!("{name:<20} {cpu:>16.3} {spread:>15} {ratio:>7.2} {rate:>12.0}");
    }
}
