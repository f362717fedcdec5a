//! The proof that we speak MCP with others: runs its legs and prints one table.

mod check;
mod interop;
mod matrix;
mod official;
mod peer;
mod peers;
pub(crate) mod scenarios;
mod wire;

use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::{
    ci::{Outcome, counts::Counts},
    shell,
    workspace::Metadata,
};

/// The package that holds the programs under test.
const PACKAGE: &str = "mcp-conformance";

/// Which part of the proof to run; everything if nothing is said.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    leg: Option<String>,
    peer: Option<String>,
    role: Option<String>,
    transport: Option<String>,
    /// Whether pages are written, and not compared.
    write: bool,
}

/// One line of the table: a pair that talked.
#[derive(Debug)]
pub(crate) struct Row {
    leg: &'static str,
    what: String,
    counts: Counts,
    time: Duration,
}

impl Selection {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut selection = Self::default();
        let peers = interop::peers();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "inspector" => {
                    selection.leg = Some("interop".to_owned());
                    selection.peer = Some("browser".to_owned());
                    continue;
                }
                "--write" => {
                    selection.write = true;
                    continue;
                }
                leg if LEGS.contains(&leg) => {
                    selection.leg = Some(leg.to_owned());
                    continue;
                }
                _ => {}
            }
            let (slot, known): (_, &[&str]) = match word.as_str() {
                "--only" => (&mut selection.leg, LEGS),
                "--peer" => (&mut selection.peer, &peers),
                "--role" => (&mut selection.role, &["client", "server"]),
                "--transport" => (&mut selection.transport, &interop::TRANSPORTS),
                other => bail!("unknown argument `{other}`"),
            };
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            if !known.contains(&value.as_str()) {
                bail!("{word} is one of {}, not `{value}`", known.join(", "));
            }
            *slot = Some(value.clone());
        }
        Ok(selection)
    }

    /// Whether no peer and no transport was chosen, which not all parts have.
    fn is_of_no_peer(&self) -> bool {
        self.peer.is_none() && self.transport.is_none()
    }

    /// Whether a choice leaves `value` in.
    fn takes(choice: Option<&str>, value: &str) -> bool {
        choice.is_none_or(|choice| choice == value)
    }
}

/// The parts of the proof.
const LEGS: &[&str] = &["check", "twins", "interop", "official"];

/// `cargo xtask conformance check …` with words after it holds any server against the
/// specification; without, ours. `cargo xtask conformance peers [--write]` does it with those of
/// other SDKs. The other parts are
/// `cargo xtask conformance [check|twins|interop|official|inspector] [--peer P] [--role client|server]
/// [--transport stdio|http|sse|oauth] [--write]`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if let Some((word, rest @ [_, ..])) = args.split_first()
        && word == "check"
    {
        return check::any(rest);
    }
    if let Some((word, rest)) = args.split_first()
        && word == "peers"
    {
        return peers::run(rest);
    }
    match prove(&Selection::parse(args)?)? {
        Outcome::Passed(_) => Ok(()),
        Outcome::Failed(counts) => bail!("{} checks failed", counts.failed),
        Outcome::Skipped(why) => bail!("nothing was proved: {why}"),
    }
}

/// The whole proof, for `ci`.
pub(crate) fn gate() -> anyhow::Result<Outcome> {
    prove(&Selection::default())
}

fn prove(selection: &Selection) -> anyhow::Result<Outcome> {
    let metadata = Metadata::of_workspace()?;
    let Some(programs) = metadata.members().find(|package| package.name == PACKAGE) else {
        return Ok(Outcome::Skipped(format!("there is no package {PACKAGE} yet")));
    };
    let mut rows = Vec::new();
    if Selection::takes(selection.leg.as_deref(), "check") && selection.is_of_no_peer() {
        rows.extend(check::run(&metadata)?);
    }
    if Selection::takes(selection.leg.as_deref(), "twins") && selection.is_of_no_peer() {
        rows.push(check::twins(&metadata)?);
    }
    if Selection::takes(selection.leg.as_deref(), "interop") {
        rows.extend(interop::run(selection, &metadata, programs)?);
    }
    if Selection::takes(selection.leg.as_deref(), "official") && selection.is_of_no_peer() {
        rows.extend(official::run(selection, &metadata, programs)?);
    }
    shell::say(table(&rows));
    let mut sum = Counts::default();
    for row in &rows {
        sum += row.counts;
    }
    if sum == Counts::default() {
        bail!("nothing that was selected can run");
    }
    Ok(if sum.failed == 0 { Outcome::Passed(sum) } else { Outcome::Failed(sum) })
}

/// A line for each pair.
fn table(rows: &[Row]) -> String {
    let mut lines = vec![format!(
        "{:<8}  {:<40} {:>6} {:>6} {:>7}",
        "leg", "pair", "passed", "failed", "seconds"
    )];
    for Row { leg, what, counts: Counts { passed, failed }, time } in rows {
        let seconds = time.as_secs_f64();
        lines.push(format!("{leg:<8}  {what:<40} {passed:>6} {failed:>6} {seconds:>7.1}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> anyhow::Result<Selection> {
        Selection::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_choice_that_does_not_exist_is_refused() {
        assert!(parse(&["--only", "interop", "--peer", "ts1", "--role", "server"]).is_ok());
        assert_eq!(parse(&["inspector"]).unwrap().peer.as_deref(), Some("browser"));
        assert_eq!(parse(&["official"]).unwrap().leg.as_deref(), Some("official"));
        let error = parse(&["--peer", "ts9"]).unwrap_err().to_string();
        assert!(error.contains("ts1") && error.contains("`ts9`"), "{error}");
        assert!(parse(&["--transport"]).is_err());
        assert!(parse(&["--fast"]).is_err());
    }

    #[test]
    fn the_table_lines_up() {
        let row = Row {
            leg: "interop",
            what: "ts1 client, our server, stdio".into(),
            counts: Counts { passed: 40, failed: 1 },
            time: Duration::from_millis(2250),
        };
        assert_eq!(
            table(&[row]),
            "leg       pair                                     passed failed seconds\n\
             interop   ts1 client, our server, stdio                40      1     2.2"
        );
    }
}
