//! What was asked for on the command line.

use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::wire::{Load, Medium};
use crate::work::{Kind, Work};

const USAGE: &str = "\
usage: mcp-bench WHAT [OPTION …] NAME=COMMAND …

  stdio          calls through pipes            http           calls over HTTP
  stdio-count    their instructions             http-count     their instructions
  sessions       sessions that do nothing       start          from spawn to the first answer

  --work KIND    echo, add, progress, sample, list, read or ping (echo)
  --bytes N      text of an echo (16)           --count N      notifications of progress (100)
  --calls N      calls, or sessions             --depth N      under way at once (16)
  --idle N       idle sessions beside           --listen       each session with its GET stream
  --repeat N     rounds (5)                     --json PATH    appends what was measured
  --keep PATH    where callgrind writes what took the instructions of the last run

A server over HTTP says on stderr at which http:// address it listens.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Calls,
    Instructions,
    Sessions,
    Start,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) what: What,
    pub(crate) medium: Medium,
    pub(crate) kind: Kind,
    pub(crate) size: usize,
    pub(crate) calls: usize,
    pub(crate) depth: usize,
    pub(crate) idle: usize,
    pub(crate) listen: bool,
    pub(crate) repeat: usize,
    pub(crate) json: Option<PathBuf>,
    pub(crate) keep: Option<PathBuf>,
    pub(crate) servers: Vec<(String, String)>,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let (what, medium, calls) = match arguments.next().as_deref() {
            Some("stdio") => (What::Calls, Medium::Stdio, 100_000),
            Some("http") => (What::Calls, Medium::Http, 50_000),
            Some("stdio-count") => (What::Instructions, Medium::Stdio, 5000),
            Some("http-count") => (What::Instructions, Medium::Http, 2500),
            Some("sessions") => (What::Sessions, Medium::Http, 1000),
            Some("start") => (What::Start, Medium::Stdio, 1),
            _ => bail!("{USAGE}"),
        };
        let mut options = Self {
            what,
            medium,
            kind: Kind::Echo,
            size: 0,
            calls,
            depth: 16,
            idle: 0,
            listen: false,
            repeat: if what == What::Instructions { 1 } else { 5 },
            json: None,
            keep: None,
            servers: Vec::new(),
        };
        let (mut bytes, mut count) = (16, 100);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().context(USAGE);
            let mut number =
                || -> anyhow::Result<usize> { value()?.parse().context("a number is wanted") };
            match argument.as_str() {
                "--work" => {
                    let name = value()?;
                    let kind = Kind::ALL.into_iter().find(|(known, _)| *known == name);
                    options.kind = kind.context(USAGE)?.1;
                }
                "--bytes" => bytes = number()?,
                "--count" => count = number()?,
                "--calls" => options.calls = number()?.max(1),
                "--depth" => options.depth = number()?.max(1),
                "--idle" => options.idle = number()?,
                "--listen" => options.listen = true,
                "--repeat" => options.repeat = number()?.max(1),
                "--json" => options.json = Some(value()?.into()),
                "--keep" => options.keep = Some(value()?.into()),
                server => {
                    let (name, command) = server.split_once('=').context(USAGE)?;
                    options.servers.push((name.to_owned(), command.to_owned()));
                }
            }
        }
        options.size = if options.kind == Kind::Progress { count } else { bytes };
        if options.servers.is_empty() {
            bail!("{USAGE}");
        }
        Ok(options)
    }

    pub(crate) fn load(&self) -> anyhow::Result<Load> {
        Ok(Load {
            medium: self.medium,
            work: Work::new(self.kind, self.size)?,
            calls: self.calls,
            depth: self.depth,
            idle: self.idle,
        })
    }

    /// In a few words.
    pub(crate) fn title(&self) -> String {
        let Self { medium, calls, depth, size, idle, .. } = self;
        match self.what {
            What::Calls | What::Instructions => {
                let name = Kind::ALL.iter().find(|(_, kind)| *kind == self.kind);
                let name = name.map_or("", |(name, _)| name);
                let size = match self.kind {
                    Kind::Echo => format!(" of {size} bytes"),
                    Kind::Progress => format!(" of {size}"),
                    _ => String::new(),
                };
                let beside = if *idle > 0 { format!(", {idle} idle") } else { String::new() };
                let medium = if *medium == Medium::Stdio { "stdio" } else { "http" };
                let counted = if self.what == What::Instructions { "instructions, " } else { "" };
                format!("{counted}{medium}, {name}{size}, depth {depth}{beside}, {calls} calls")
            }
            What::Sessions if self.listen => format!("{calls} sessions, each with a stream"),
            What::Sessions => format!("{calls} sessions"),
            What::Start => "from spawn to the answer to initialize".to_owned(),
        }
    }
}
