//! What a message costs.

pub(crate) mod ceilings;
mod decode;
mod http;
mod instructions;
mod programs;
mod start;
mod stdio;

use anyhow::bail;

use crate::shell;

/// One measurement.
pub(crate) struct Bench {
    /// The word after `cargo xtask bench`.
    pub(crate) name: &'static str,
    /// What it measures, in a line.
    pub(crate) about: &'static str,
    /// Runs it with the arguments after its name.
    pub(crate) run: fn(&[String]) -> anyhow::Result<()>,
}

/// Every measurement. To add one: a module with a `run` function, and a line here.
const BENCHES: &[Bench] = &[
    Bench {
        name: "decode",
        about: "nanoseconds and instructions of reading and writing one envelope",
        run: decode::run,
    },
    Bench {
        name: "stdio",
        about: "CPU of calls over stdio, as a ratio to the least that a server can do",
        run: stdio::run,
    },
    Bench {
        name: "http",
        about: "CPU of calls over HTTP, as a ratio to the least that a server can do",
        run: http::run,
    },
    Bench {
        name: "sessions",
        about: "memory and CPU of sessions that do nothing",
        run: http::sessions,
    },
    Bench {
        name: "start",
        about: "from the start of a stdio server to its first answer",
        run: start::run,
    },
    Bench {
        name: "instructions",
        about: "instructions of a call, over stdio and over HTTP (--check: against ceilings); needs valgrind",
        run: instructions::run,
    },
];

/// `cargo xtask bench [NAME ...]`: without a name, says which there are.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let Some((name, rest)) = args.split_first() else {
        for bench in BENCHES {
            shell::say(format_args!("{:<12} {}", bench.name, bench.about));
        }
        return Ok(());
    };
    match BENCHES.iter().find(|bench| bench.name == name) {
        Some(bench) => (bench.run)(rest),
        None => bail!("there is no measurement `{name}`"),
    }
}

/// The depths to run at, as arguments: what `args` ask for, or `depths`.
fn depths<'a>(args: &[String], depths: &[&'a str]) -> Vec<Vec<&'a str>> {
    if args.iter().any(|arg| arg == "--depth") {
        return vec![Vec::new()];
    }
    depths.iter().map(|depth| vec!["--depth", depth]).collect()
}
