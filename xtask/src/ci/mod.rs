//! Every gate, in order; the whole of what a CI machine runs.
//!
//! A failure stops nothing, so that one run shows everything. The table comes last, and under it
//! the number of tests that passed and failed.

pub(crate) mod counts;
mod gates;
mod readme;
mod summary;
pub(crate) mod tests;

use std::{path::PathBuf, time::Instant};

use anyhow::{Context as _, bail};

use self::{counts::Counts, gates::GATES, summary::Row};
use crate::shell;

/// What a gate found.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// All is well.
    Passed(Counts),
    /// Something is not, as the gate has said already.
    Failed(Counts),
    /// It could not be looked at here, and why.
    Skipped(String),
}

/// One thing that must hold.
pub(crate) struct Gate {
    /// A word for the table and for `--only`.
    pub(crate) name: &'static str,
    /// Whether it belongs to the inner loop.
    pub(crate) fast: bool,
    /// Looks; an error counts as a failure, and is printed.
    pub(crate) run: fn(&Options) -> anyhow::Result<Outcome>,
}

/// What was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    fast: bool,
    /// Gates by name; all if empty.
    only: Vec<String>,
    /// Where official schemas are.
    pub(crate) schemas: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--fast" => options.fast = true,
                "--only" => {
                    let names = words.next().context("--only needs the names of gates")?;
                    options.only.extend(names.split(',').map(str::to_owned));
                }
                "--schemas" => {
                    let path = words.next().context("--schemas needs a folder")?;
                    options.schemas = Some(path.into());
                }
                other => bail!("unknown argument `{other}`"),
            }
        }
        for name in &options.only {
            if !GATES.iter().any(|gate| gate.name == name) {
                let known: Vec<&str> = GATES.iter().map(|gate| gate.name).collect();
                bail!("there is no gate `{name}`, only {}", known.join(", "));
            }
        }
        Ok(options)
    }

    fn wants(&self, gate: &Gate) -> bool {
        match self.only.is_empty() {
            true => gate.fast || !self.fast,
            false => self.only.iter().any(|name| name == gate.name),
        }
    }
}

/// `cargo xtask ci [--fast] [--only GATE,..] [--schemas DIR]`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let options = Options::parse(args)?;
    let rows = run_gates(GATES, &options);
    shell::say("");
    shell::say(summary::table(&rows));
    let failed: Vec<&str> = rows.iter().filter(|row| row.failed()).map(|row| row.name).collect();
    // The number of tests must be the last line of stdout, so what failed comes before it.
    if !failed.is_empty() {
        shell::say(format_args!("failed: {}", failed.join(", ")));
    }
    shell::say(summary::closing_line(&rows));
    if !failed.is_empty() {
        std::process::exit(1);
    }
    Ok(())
}

fn run_gates(gates: &'static [Gate], options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for gate in gates.iter().filter(|gate| options.wants(gate)) {
        shell::say(format_args!("\n== {} ==", gate.name));
        let start = Instant::now();
        let outcome = (gate.run)(options).unwrap_or_else(|error| {
            shell::say(format_args!("error: {error:#}"));
            Outcome::Failed(Counts::default())
        });
        let row = Row { name: gate.name, outcome, time: start.elapsed() };
        shell::say(summary::line(&row));
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod unit {
    use super::*;

    fn options(words: &[&str]) -> anyhow::Result<Options> {
        Options::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_failure_does_not_stop_the_gates_after_it() {
        const SAMPLE: &[Gate] = &[
            Gate { name: "broken", fast: true, run: |_| bail!("no") },
            Gate { name: "slow", fast: false, run: |_| Ok(Outcome::Passed(Counts::default())) },
            Gate { name: "absent", fast: true, run: |_| Ok(Outcome::Skipped("none".into())) },
        ];
        let names = |options: &Options| {
            let rows = run_gates(SAMPLE, options);
            rows.iter().map(|row| (row.name, row.failed())).collect::<Vec<_>>()
        };
        let all = [("broken", true), ("slow", false), ("absent", false)];
        assert_eq!(names(&Options::default()), all);
        assert_eq!(
            names(&Options { fast: true, ..Options::default() }),
            [("broken", true), ("absent", false)]
        );
        assert_eq!(
            names(&Options { only: vec!["slow".into()], fast: true, ..Options::default() }),
            [("slow", false)]
        );
    }

    #[test]
    fn a_gate_that_does_not_exist_is_refused() {
        assert!(options(&["--only", "tidy,format"]).is_ok());
        let error = options(&["--only", "tidy,typo"]).unwrap_err().to_string();
        assert!(error.contains("`typo`") && error.contains("tidy"), "{error}");
        assert!(options(&["--quick"]).is_err());
    }
}
