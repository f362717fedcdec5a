//! Which outside crates may be used: evaluates `deny.toml`.
//!
//! cargo-deny does it where it is installed. Where it isn't, we read the same file and judge
//! the graph that cargo itself reports, so that the rules hold on every machine.

mod advisories;
mod checks;
mod config;
mod graph;
mod spdx;
mod version;

use std::{env, fs, path::PathBuf};

use anyhow::{Context as _, bail};

use self::{
    config::{Config, Level},
    graph::Graph,
};
use crate::shell;

/// What the checks found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    level: Level,
    check: &'static str,
    text: String,
}

impl Report {
    fn add(&mut self, level: Level, check: &'static str, text: impl Into<String>) {
        if level != Level::Allow {
            self.lines.push(Line { level, check, text: text.into() });
        }
    }

    fn deny(&mut self, check: &'static str, text: impl Into<String>) {
        self.add(Level::Deny, check, text);
    }

    fn warn(&mut self, check: &'static str, text: impl Into<String>) {
        self.add(Level::Warn, check, text);
    }

    fn denied(&self) -> usize {
        self.lines.iter().filter(|line| line.level == Level::Deny).count()
    }
}

/// `cargo xtask deny [--advisory-db PATH] [--own]`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let mut database = env::var_os("ADVISORY_DB").map(PathBuf::from);
    let mut own = false;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--own" => own = true,
            "--advisory-db" => {
                database = Some(words.next().context("--advisory-db needs a path")?.into());
            }
            other => bail!("unknown argument `{other}`"),
        }
    }
    if !own && shell::works(&mut shell::cargo(["deny", "--version"])) {
        return with_cargo_deny();
    }
    evaluate(database)
}

fn with_cargo_deny() -> anyhow::Result<()> {
    // Advisories depend on the day and on the network: they are told, and don't fail.
    if shell::run(&mut shell::cargo(["deny", "check", "advisories"])).is_err() {
        shell::say("advisories: see above (not blocking)");
    }
    shell::run(&mut shell::cargo(["deny", "check", "bans", "licenses", "sources"]))
}

fn evaluate(database: Option<PathBuf>) -> anyhow::Result<()> {
    let path = shell::root().join("deny.toml");
    let config: Config = toml::from_str(&fs::read_to_string(&path)?)
        .with_context(|| format!("{}", path.display()))?;
    let graph = Graph::load(&config.graph)?;
    let mut report = Report::default();
    checks::licenses(&graph, &config.licenses, &mut report);
    checks::bans(&graph, &config.bans, &mut report);
    checks::sources(&graph, &config.sources, &mut report);

    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    match advisories::database(database, cargo_home) {
        Some(database) => {
            advisories::check(&graph, &config.advisories, &database, &mut report)?;
        }
        None => shell::say(
            "advisories: skipped, there is no copy of the advisory database here \
             (give one with --advisory-db PATH, or install cargo-deny)",
        ),
    }

    for line in &report.lines {
        let level = if line.level == Level::Deny { "error" } else { "warning" };
        shell::say(format_args!("{level}: {}: {}", line.check, line.text));
    }
    let total = graph.outside().count();
    match report.denied() {
        0 => shell::say(format_args!("deny: {total} outside crates, all fine")),
        count => bail!("deny: {count} errors in {total} outside crates"),
    }
    Ok(())
}
