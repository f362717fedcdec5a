//! Other SDKs against ours, in both directions.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context as _, bail};

use super::{
    PACKAGE, Row, Selection,
    matrix::{self, Talk},
    peer::{self, Server},
    wire::{Notes, OBSERVER},
};
use crate::{
    ci::counts::Counts,
    fresh::Fresh,
    shell,
    workspace::{Metadata, Package},
};

/// Another SDK, and how its programs can be connected.
pub(super) struct Peer {
    /// As the scripts call it.
    pub(super) name: &'static str,
    pub(super) client: &'static [&'static str],
    pub(super) server: &'static [&'static str],
}

/// Every peer. `oauth` is HTTP for who has a token.
pub(super) const PEERS: [Peer; 6] = [
    Peer {
        name: "ts1",
        client: &["stdio", "http", "sse", "oauth"],
        server: &["stdio", "http", "sse", "oauth"],
    },
    Peer { name: "ts2", client: &["stdio", "http", "sse", "oauth"], server: &["stdio", "http"] },
    Peer {
        name: "python",
        client: &["stdio", "http", "sse", "oauth"],
        server: &["stdio", "http", "sse", "oauth"],
    },
    Peer { name: "rmcp", client: &["stdio", "http", "oauth"], server: &["stdio", "http"] },
    Peer { name: "inspector", client: &["stdio", "http", "sse"], server: &[] },
    // The Inspector's page, in a browser.
    Peer { name: "browser", client: &["http", "sse", "oauth"], server: &[] },
];

/// All there is.
pub(super) const TRANSPORTS: [&str; 4] = ["stdio", "http", "sse", "oauth"];

/// The peers' names.
pub(super) fn peers() -> Vec<&'static str> {
    PEERS.iter().map(|peer| peer.name).collect()
}

/// How our own server and our own client can be connected.
const OUR_SERVER: &[&str] = &TRANSPORTS;
const OUR_CLIENT: &[&str] = &TRANSPORTS;

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
    let interop = metadata.workspace_root.join("conformance/interop");
    shell::run(&mut Command::new(interop.join("install.sh")))?;
    build()?;

    let script = interop.join("run.sh");
    let (mut rows, mut talks) = (Vec::new(), Vec::new());
    for (peer, role, transport) in pairs(selection) {
        let name = if role == "client" { SERVER } else { CLIENT };
        let exists = programs.targets.iter().any(|target| target.name == name);
        let ours = metadata.target_directory.join("debug").join(name);
        let artifacts = metadata.target_directory.join("interop");
        let observer = metadata.target_directory.join("debug").join(OBSERVER);
        let pair = Pair { peer, role, transport, script: &script, ours, artifacts, observer };
        let (row, checks) = pair.talk(exists);
        rows.push(row);
        talks.push(Talk { peer, role, transport, checks });
        if (peer, transport) == ("browser", "http") {
            rows.push(pair.notices());
        }
    }
    // The page is about all of them, when all is well.
    let all = selection.is_of_no_peer() && selection.role.is_none();
    if all && rows.iter().all(|row| row.counts.failed == 0) {
        let start = Instant::now();
        let page = metadata.workspace_root.join("docs/interop.md");
        let report = publish(&page, &talks, selection.write)
            .map(|()| peer::Report { passed: vec!["page".to_owned()], failures: Vec::new() });
        rows.push(row("docs/interop.md says so".to_owned(), start, report).0);
    }
    Ok(rows)
}

/// Writes the page, or compares it.
fn publish(page: &Path, talks: &[Talk], write: bool) -> anyhow::Result<()> {
    let mut pages = Fresh::new(!write, "cargo xtask conformance interop --write");
    pages.put(page, &matrix::page(talks)?)?;
    pages.finish()
}

/// Peer, what the peer is, and how the two are connected.
fn pairs(selection: &Selection) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut pairs = Vec::new();
    for peer in PEERS {
        let roles = [("client", peer.client, OUR_SERVER), ("server", peer.server, OUR_CLIENT)];
        for (role, theirs, ours) in roles {
            for transport in theirs.iter().filter(|transport| ours.contains(transport)) {
                let wanted = Selection::takes(selection.peer.as_deref(), peer.name)
                    && Selection::takes(selection.role.as_deref(), role)
                    && Selection::takes(selection.transport.as_deref(), transport);
                if wanted {
                    pairs.push((peer.name, role, *transport));
                }
            }
        }
    }
    pairs
}

/// Builds what `cargo test` builds, so that little is built twice.
pub(super) fn build() -> anyhow::Result<()> {
    let arguments = ["build", "--locked", "--quiet", "--workspace", "--all-features", "--bins"];
    shell::run(&mut shell::cargo(arguments))
}

/// The line of the table, and the checks that held.
fn row(what: String, start: Instant, talk: anyhow::Result<peer::Report>) -> (Row, Vec<String>) {
    let (counts, checks) = match talk {
        Ok(report) => {
            for line in &report.failures {
                shell::say(format_args!("FAILED {what}: {line}"));
            }
            let counts = Counts { passed: report.passed.len(), failed: report.failures.len() };
            (counts, report.passed)
        }
        Err(error) => {
            shell::say(format_args!("FAILED {what}: {error:#}"));
            (Counts { passed: 0, failed: 1 }, Vec::new())
        }
    };
    (Row { leg: "interop", what, counts, time: start.elapsed() }, checks)
}

/// Two programs that are to talk.
struct Pair<'a> {
    peer: &'a str,
    /// What the peer is.
    role: &'a str,
    transport: &'a str,
    script: &'a Path,
    ours: PathBuf,
    /// Where screenshots go.
    artifacts: PathBuf,
    /// The program that looks at what goes over the wire.
    observer: PathBuf,
}

impl Pair<'_> {
    fn talk(&self, exists: bool) -> (Row, Vec<String>) {
        let start = Instant::now();
        let what = match self.role {
            "client" => format!("{} client, our server, {}", self.peer, self.transport),
            _ => format!("our client, {} server, {}", self.peer, self.transport),
        };
        let talk = match self.transport {
            _ if !exists => Err(anyhow::anyhow!("{PACKAGE} has no {}", self.ours.display())),
            "stdio" => self.over_stdio(),
            "http" | "sse" => self.over_http(),
            // Tokens are for the server's own address.
            _ => self.unobserved(),
        };
        row(what, start, talk)
    }

    /// The page in the browser has to show when a server is not the one that is expected, or
    /// its checks would say nothing.
    fn notices(&self) -> Row {
        let start = Instant::now();
        let mut other = Command::new(self.script);
        other.args(["server", "ts1", self.transport]);
        let talk = self.visit(&mut other).and_then(|report| match report.failures.as_slice() {
            [one] if one.starts_with("tools/list: ") && one.contains("test_simple_text") => {
                Ok(peer::Report { passed: vec![one.clone()], failures: Vec::new() })
            }
            others => bail!("it should have missed a tool, and nothing else: {others:?}"),
        });
        row(format!("{} notices another server", self.peer), start, talk).0
    }

    fn over_stdio(&self) -> anyhow::Result<peer::Report> {
        let notes = Notes::new();
        let mut client = self.client();
        client.arg("stdio").arg(&self.observer).arg("stdio").arg(notes.path());
        let report = peer::check(client.args(self.server_words()))?;
        notes.judge(self.our_side(), self.peer, report)
    }

    fn over_http(&self) -> anyhow::Result<peer::Report> {
        let words = self.server_words();
        let (program, arguments) = words.split_first().context("no server")?;
        let server = Server::start(Command::new(program).args(arguments))?;
        let notes = Notes::new();
        let mut observer = Command::new(&self.observer);
        let observer = observer.arg("http").arg(notes.path()).arg(&server.url);
        let report = self.visit(observer)?;
        notes.judge(self.our_side(), self.peer, report)
    }

    /// What we are: the side that the observer judges.
    fn our_side(&self) -> &'static str {
        if self.role == "client" { "server" } else { "client" }
    }

    fn unobserved(&self) -> anyhow::Result<peer::Report> {
        let words = self.server_words();
        let (program, arguments) = words.split_first().context("no server")?;
        self.visit(Command::new(program).args(arguments))
    }

    fn visit(&self, server: &mut Command) -> anyhow::Result<peer::Report> {
        let server = Server::start(server)?;
        peer::check(self.client().args([self.transport, &server.url]))
    }

    /// The client, up to the words that say where the server is.
    fn client(&self) -> Command {
        if self.role == "server" {
            return Command::new(&self.ours);
        }
        let mut command = Command::new(self.script);
        // Of our server we know that it has everything, and what it answers exactly.
        command.args(["client", self.peer, "--strict", "--require", "everything,interop"]);
        command.env("MCP_INTEROP_ARTIFACTS", &self.artifacts);
        command
    }

    /// The command that starts the server.
    fn server_words(&self) -> Vec<PathBuf> {
        if self.role == "server" {
            return vec![
                self.script.into(),
                "server".into(),
                self.peer.into(),
                self.transport.into(),
            ];
        }
        let mut words = vec![self.ours.clone()];
        words.push(format!("--{}", self.transport).into());
        if self.transport != "stdio" {
            words.push("127.0.0.1:0".into());
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_talks_in_each_role_that_it_has() {
        let all = pairs(&Selection::default());
        for peer in ["ts1", "ts2", "python", "rmcp"] {
            assert!(all.contains(&(peer, "client", "stdio")), "{peer}");
            assert!(all.contains(&(peer, "server", "stdio")), "{peer}");
        }
        assert!(all.contains(&("inspector", "client", "stdio")));
        assert!(all.contains(&("browser", "client", "http")));
        for peer in ["ts1", "python"] {
            assert!(all.contains(&(peer, "client", "oauth")), "{peer}");
            assert!(all.contains(&(peer, "server", "oauth")), "{peer}");
        }
        assert!(!all.iter().any(|pair| (pair.0, pair.1) == ("inspector", "server")));
    }

    #[test]
    fn a_selection_leaves_only_what_it_names() {
        let selection = Selection {
            peer: Some("rmcp".into()),
            role: Some("server".into()),
            ..Selection::default()
        };
        let expected = [("rmcp", "server", "stdio"), ("rmcp", "server", "http")];
        assert_eq!(pairs(&selection), expected);
    }
}
