//! Other SDKs against ours, in both directions.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use super::{
    PACKAGE, Row, Selection,
    peer::{self, Server},
};
use crate::{
    ci::counts::Counts,
    shell,
    workspace::{Metadata, Package},
};

/// Every peer, as the scripts call it.
pub(super) const PEERS: [&str; 5] = ["ts1", "ts2", "python", "rmcp", "inspector"];

/// Peers that are clients only.
const CLIENTS_ONLY: [&str; 1] = ["inspector"];

/// Our server for every peer's client.
const SERVER: &str = "everything-server";

/// Our client for every peer's server; it takes the arguments of the peers' clients.
const CLIENT: &str = "interop-client";

/// Installs the peers, builds our programs, and lets each pair talk.
pub(super) fn run(
    selection: &Selection,
    metadata: &Metadata,
    programs: &Package,
) -> anyhow::Result<Vec<Row>> {
    let has = |name: &str| programs.targets.iter().any(|target| target.name == name);
    let interop = metadata.workspace_root.join("conformance/interop");
    shell::run(&mut Command::new(interop.join("install.sh")))?;
    build()?;

    let ours = |name: &str| metadata.target_directory.join("debug").join(name);
    let script = interop.join("run.sh");
    let mut rows = Vec::new();
    for peer in PEERS.into_iter().filter(|it| Selection::takes(selection.peer.as_deref(), it)) {
        for role in ["client", "server"] {
            let program = if role == "client" { SERVER } else { CLIENT };
            let exists = role == "client" || !CLIENTS_ONLY.contains(&peer);
            if !exists || !Selection::takes(selection.role.as_deref(), role) {
                continue;
            }
            if !has(program) {
                shell::say(format_args!("{PACKAGE} has no {program} yet: {peer} waits"));
                continue;
            }
            for transport in TRANSPORTS {
                if Selection::takes(selection.transport.as_deref(), transport) {
                    let pair = Pair { peer, role, transport, script: &script, ours: ours(program) };
                    rows.push(pair.talk()?);
                }
            }
        }
    }
    Ok(rows)
}

/// How a pair can be connected.
const TRANSPORTS: [&str; 1] = ["stdio"];

/// Builds what `cargo test` builds, so that little is built twice.
fn build() -> anyhow::Result<()> {
    let arguments = ["build", "--locked", "--quiet", "--workspace", "--all-features", "--bins"];
    shell::run(&mut shell::cargo(arguments))
}

/// Two programs that are to talk.
struct Pair<'a> {
    peer: &'a str,
    /// What the peer is.
    role: &'a str,
    transport: &'a str,
    script: &'a Path,
    ours: PathBuf,
}

impl Pair<'_> {
    fn talk(&self) -> anyhow::Result<Row> {
        let start = Instant::now();
        let what = match self.role {
            "client" => format!("{} client, our server, {}", self.peer, self.transport),
            _ => format!("our client, {} server, {}", self.peer, self.transport),
        };
        let talk = match self.transport {
            "http" => self.over_http(),
            _ => peer::check(self.client().arg("stdio").args(self.server_words())),
        };
        let counts = match talk {
            Ok(report) => {
                for line in &report.failures {
                    shell::say(format_args!("FAILED {what}: {line}"));
                }
                Counts { passed: report.passed, failed: report.failures.len() }
            }
            Err(error) => {
                shell::say(format_args!("FAILED {what}: {error:#}"));
                Counts { passed: 0, failed: 1 }
            }
        };
        Ok(Row { leg: "interop", what, counts, time: start.elapsed() })
    }

    fn over_http(&self) -> anyhow::Result<peer::Report> {
        let words = self.server_words();
        let (program, arguments) =
            words.split_first().ok_or_else(|| anyhow::anyhow!("no server"))?;
        let server = Server::start(Command::new(program).args(arguments))?;
        peer::check(self.client().args(["http", &server.url]))
    }

    /// The client, up to the words that say where the server is.
    fn client(&self) -> Command {
        if self.role == "server" {
            return Command::new(&self.ours);
        }
        let mut command = Command::new(self.script);
        // Of our server we know that it has everything, and what it answers exactly.
        command.args(["client", self.peer, "--strict", "--require", "everything,interop"]);
        command
    }

    /// The command that starts the server.
    fn server_words(&self) -> Vec<PathBuf> {
        let is_http = self.transport == "http";
        if self.role == "server" {
            return vec![
                self.script.into(),
                "server".into(),
                self.peer.into(),
                self.transport.into(),
            ];
        }
        let mut words = vec![self.ours.clone()];
        if is_http {
            words.extend(["--http".into(), "127.0.0.1:0".into()]);
        } else {
            words.push("--stdio".into());
        }
        words
    }
}
