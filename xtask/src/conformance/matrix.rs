//! What worked with whom, as a page: `docs/interop.md`.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};

use super::interop::{PEERS, Peer, TRANSPORTS};

/// A feature, and the checks that show it; one that ends with `*` stands for all that begin so.
struct Feature {
    name: &'static str,
    checks: &'static [&'static str],
}

const fn feature(name: &'static str, checks: &'static [&'static str]) -> Feature {
    Feature { name, checks }
}

/// Every feature. The first that knows a check has it.
const FEATURES: &[Feature] = &[
    feature("handshake", &["initialize", "connect"]),
    feature("ping", &["ping*"]),
    feature(
        "list and call tools",
        &[
            "tools/list",
            "tools/call text",
            "tools/call large text",
            "echo*",
            "schema keywords are kept",
        ],
    ),
    feature(
        "several kinds of content",
        &[
            "tools/call contents",
            "tools/call image",
            "tools/call audio",
            "tools/call embedded resource",
            "tools/call mixed content",
        ],
    ),
    feature(
        "structured results",
        &["structured output", "tools/call structured", "tools/call with arguments"],
    ),
    feature(
        "tools that fail",
        &["tools/call error", "tools/call failing", "tool error", "missing argument is an error"],
    ),
    feature("calls side by side", &["tools/call side by side", "calls at the same time"]),
    feature("progress", &["progress", "tools/call progress"]),
    feature("cancellation and timeouts", &["cancellation", "cancel on drop", "timeout"]),
    feature("logging", &["logging*"]),
    feature("sampling", &["sampling"]),
    feature("elicitation", &["elicitation*"]),
    feature("roots", &["roots"]),
    feature("subscriptions", &["resources/subscribe", "resource updates"]),
    feature("resources and templates", &["resources*", "memos"]),
    feature("lists that change", &["list changes"]),
    feature("tasks", &["task*"]),
    feature("prompts", &["prompts*", "greeting"]),
    feature("completion", &["completion*"]),
    feature("errors of the protocol", &["unknown *"]),
    feature(
        "authorization: registration and login",
        &["authorization refused", "authorization login"],
    ),
    feature("authorization: renewal", &["authorization renewal*"]),
    feature("authorization: another scope", &["authorization step-up"]),
    feature("authorization: logout", &["authorization logout"]),
];

/// Checks of the drivers themselves.
const NO_FEATURES: &[&str] = &["start", "screenshot", "wire"];

/// Why something is not in the table.
struct Gap {
    peer: &'static str,
    role: &'static str,
    /// Features or transports, by the start of their names.
    what: &'static [&'static str],
    why: &'static str,
}

/// Everything that is missing, and whose matter that is.
const GAPS: &[Gap] = &[
    Gap {
        peer: "ts2",
        role: "server",
        what: &["sse"],
        why: "Version 2 of the TypeScript SDK has no server for HTTP+SSE.",
    },
    Gap {
        peer: "ts2",
        role: "server",
        what: &["oauth"],
        why: "Version 2 of the TypeScript SDK brings no authorization server.",
    },
    Gap {
        peer: "rmcp",
        role: "client",
        what: &["sse"],
        why: "rmcp no longer has a client for HTTP+SSE.",
    },
    Gap {
        peer: "rmcp",
        role: "server",
        what: &["sse"],
        why: "rmcp no longer has a server for HTTP+SSE.",
    },
    Gap {
        peer: "rmcp",
        role: "client",
        what: &["authorization: logout"],
        why: "rmcp's client revokes nothing.",
    },
    Gap {
        peer: "rmcp",
        role: "server",
        what: &["oauth"],
        why: "rmcp brings no authorization server.",
    },
    Gap {
        peer: "ts1",
        role: "client",
        what: &["authorization: logout"],
        why: "The TypeScript SDK's client revokes nothing.",
    },
    Gap {
        peer: "ts2",
        role: "client",
        what: &["authorization: logout"],
        why: "The TypeScript SDK's client revokes nothing.",
    },
    Gap {
        peer: "python",
        role: "client",
        what: &["authorization: logout"],
        why: "The Python SDK's client revokes nothing.",
    },
    Gap {
        peer: "python",
        role: "server",
        what: &["authorization: another scope"],
        why: "The Python SDK's refusal doesn't name the scope that is missing.",
    },
    Gap {
        peer: "ts2",
        role: "client",
        what: &["tasks"],
        why: "Version 2 of the TypeScript SDK no longer has the tasks of 2025-11-25.",
    },
    Gap {
        peer: "ts2",
        role: "server",
        what: &["tasks"],
        why: "Version 2 of the TypeScript SDK no longer has the tasks of 2025-11-25.",
    },
    Gap {
        peer: "python",
        role: "client",
        what: &["tasks"],
        why: "Version 2 of the Python SDK no longer has the tasks of 2025-11-25.",
    },
    Gap {
        peer: "python",
        role: "server",
        what: &["tasks"],
        why: "Version 2 of the Python SDK no longer has the tasks of 2025-11-25.",
    },
    Gap {
        peer: "rmcp",
        role: "client",
        what: &["tasks"],
        why: "rmcp no longer has the tasks of 2025-11-25.",
    },
    Gap {
        peer: "rmcp",
        role: "server",
        what: &["tasks"],
        why: "rmcp no longer has the tasks of 2025-11-25.",
    },
    Gap {
        peer: "inspector",
        role: "client",
        what: &["oauth"],
        why: "The Inspector's command line shows a person where to log in; its page does it here.",
    },
    Gap {
        peer: "inspector",
        role: "client",
        what: &[
            "ping",
            "calls side by side",
            "progress",
            "cancellation",
            "sampling",
            "elicitation",
            "roots",
            "subscriptions",
            "lists that change",
            "tasks",
            "completion",
            "errors of the protocol",
        ],
        why: "A run of the Inspector's command line asks one thing, and ends.",
    },
    Gap {
        peer: "browser",
        role: "client",
        what: &["stdio"],
        why: "A page is shown servers on HTTP.",
    },
    Gap {
        peer: "browser",
        role: "client",
        what: &[
            "ping",
            "several kinds",
            "tools that fail",
            "calls side by side",
            "progress",
            "cancellation",
            "logging",
            "sampling",
            "elicitation",
            "roots",
            "subscriptions",
            "lists that change",
            "tasks",
            "completion",
            "errors of the protocol",
            "authorization: renewal",
            "authorization: logout",
        ],
        why: "The page is driven as far as tools, prompts, resources and a login.",
    },
];

/// What two programs have shown.
pub(super) struct Talk {
    pub(super) peer: &'static str,
    /// What the peer is.
    pub(super) role: &'static str,
    pub(super) transport: &'static str,
    /// The checks that held.
    pub(super) checks: Vec<String>,
}

/// The page.
///
/// # Errors
///
/// Fails if a check belongs to no feature, or if something is missing without a reason.
pub(super) fn page(talks: &[Talk]) -> anyhow::Result<String> {
    for talk in talks {
        for check in &talk.checks {
            if !NO_FEATURES.contains(&check.as_str()) {
                feature_of(check).with_context(|| format!("`{check}` belongs to no feature"))?;
            }
        }
    }
    let mut page = Page { talks, text: HEAD.to_owned(), notes: Vec::new() };
    page.table("Their clients, our server", "client")?;
    page.table("Our client, their servers", "server")?;
    page.text.push_str("\n## What is missing\n\n");
    for (number, note) in (1..).zip(&page.notes) {
        let _ = writeln!(page.text, "{number}. {note}");
    }
    Ok(page.text)
}

const HEAD: &str = "\
# Interoperability

<!-- Written by `cargo xtask conformance interop --write`, and compared with every run. -->

Programs of ours against those of other projects, pinned, in every run of CI.
A cell lists the transports on which the checks of a feature were made and held: `http` is Streamable HTTP, `sse` the HTTP+SSE of 2024-11-05, and `oauth` Streamable HTTP for who has a token.
A number says why something is missing, below; a dash, that the transport it would need is.

Versions, what is checked and how to run one pair: [conformance/interop](../conformance/interop/README.md).
";

fn feature_of(check: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|feature| {
        feature.checks.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => check.starts_with(start),
            None => check == *known,
        })
    })
}

struct Page<'a> {
    talks: &'a [Talk],
    text: String,
    notes: Vec<&'static str>,
}

impl Page<'_> {
    fn table(&mut self, title: &str, role: &'static str) -> anyhow::Result<()> {
        let plays = |peer: &&Peer| match role {
            "client" => !peer.client.is_empty(),
            _ => !peer.server.is_empty(),
        };
        let peers: Vec<&Peer> = PEERS.iter().filter(plays).collect();
        let names: Vec<_> = peers.iter().map(|peer| format!("`{}`", peer.name)).collect();
        let _ = writeln!(self.text, "\n## {title}\n\n| | {} |", names.join(" | "));
        let _ = writeln!(self.text, "|---|{}", "---|".repeat(peers.len()));
        let mut cells = Vec::new();
        for peer in &peers {
            let wanted = TRANSPORTS.to_vec();
            let found = self.talks_of(peer, role).map(|talk| talk.transport).collect();
            cells.push(self.cell(peer, role, None, &wanted, found)?);
        }
        let _ = writeln!(self.text, "| transports | {} |", cells.join(" | "));
        for feature in FEATURES {
            let mut cells = Vec::new();
            for peer in &peers {
                let only = feature.name.starts_with("authorization").then_some("oauth");
                let talks: Vec<_> = self
                    .talks_of(peer, role)
                    .filter(|talk| only.is_none_or(|only| talk.transport == only))
                    .collect();
                let shows = |talk: &&&Talk| {
                    let mut checks = talk.checks.iter();
                    checks.any(|check| feature_of(check).is_some_and(|of| of.name == feature.name))
                };
                let wanted: Vec<_> = talks.iter().map(|talk| talk.transport).collect();
                let found = talks.iter().filter(shows).map(|talk| talk.transport).collect();
                cells.push(self.cell(peer, role, Some(feature.name), &wanted, found)?);
            }
            let _ = writeln!(self.text, "| {} | {} |", feature.name, cells.join(" | "));
        }
        Ok(())
    }

    fn talks_of(&self, peer: &Peer, role: &str) -> impl Iterator<Item = &Talk> {
        self.talks.iter().filter(move |talk| talk.peer == peer.name && talk.role == role)
    }

    /// What was found, with a number for each reason why that is not all.
    fn cell(
        &mut self,
        peer: &Peer,
        role: &str,
        feature: Option<&str>,
        wanted: &[&str],
        found: Vec<&str>,
    ) -> anyhow::Result<String> {
        let mut numbers = Vec::new();
        for missing in wanted.iter().filter(|wanted| !found.contains(wanted)) {
            let name = feature.unwrap_or(missing);
            let gap = GAPS.iter().find(|gap| {
                (gap.peer, gap.role) == (peer.name, role)
                    && gap.what.iter().any(|what| name.starts_with(what))
            });
            let Some(gap) = gap else {
                bail!("{} as a {role}: `{name}` is missing on {missing}, for no reason", peer.name);
            };
            let number = match self.notes.iter().position(|note| *note == gap.why) {
                Some(index) => index + 1,
                None => {
                    self.notes.push(gap.why);
                    self.notes.len()
                }
            };
            let number = number.to_string();
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        let mut cell = found.join(" ");
        if !numbers.is_empty() {
            let _ =
                write!(cell, "{}({})", if cell.is_empty() { "" } else { " " }, numbers.join(", "));
        }
        Ok(if cell.is_empty() { "–".to_owned() } else { cell })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that every peer could show.
    fn everything() -> Vec<Talk> {
        let mut talks = Vec::new();
        for peer in &PEERS {
            for (role, transports) in [("client", peer.client), ("server", peer.server)] {
                for transport in transports {
                    let checks = FEATURES.iter().map(|f| f.checks[0].trim_end_matches('*').into());
                    let checks = checks.collect();
                    talks.push(Talk { peer: peer.name, role, transport, checks });
                }
            }
        }
        talks
    }

    #[test]
    fn a_page_lists_transports_and_numbers_what_is_missing() {
        let page = page(&everything()).unwrap();
        let row = |start: &str| page.lines().find(|line| line.starts_with(start)).unwrap();
        assert!(row("| transports |").starts_with("| transports | stdio http sse oauth |"));
        assert!(row("| authorization: renewal |").contains("| oauth |"));
        assert!(page.contains("\n1. "), "{page}");
    }

    #[test]
    fn what_is_missing_without_a_reason_is_an_error() {
        let mut talks = everything();
        talks.retain(|talk| (talk.peer, talk.transport) != ("ts1", "sse"));
        let error = page(&talks).unwrap_err().to_string();
        assert!(error.contains("ts1") && error.contains("sse"), "{error}");

        let mut talks = everything();
        talks[0].checks.retain(|check| check != "roots");
        let error = page(&talks).unwrap_err().to_string();
        assert!(error.contains("`roots` is missing on stdio"), "{error}");
    }

    #[test]
    fn a_check_of_no_feature_is_an_error() {
        let mut talks = everything();
        talks[0].checks.push("dancing".into());
        let error = page(&talks).unwrap_err().to_string();
        assert!(error.contains("`dancing` belongs to no feature"), "{error}");
    }
}
