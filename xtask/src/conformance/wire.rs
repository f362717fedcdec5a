//! What the observer between two programs has found on the wire.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context as _;
use serde::Deserialize;

use super::peer::Report;
use crate::shell;

/// The program that stands in between.
pub(super) const OBSERVER: &str = "wire";

/// The observer's notes; gone in the end.
pub(super) struct Notes {
    file: PathBuf,
}

/// One frame.
#[derive(Deserialize)]
struct Line {
    from: String,
    ok: bool,
    #[serde(default)]
    faults: Vec<String>,
    #[serde(default)]
    frame: String,
}

impl Notes {
    pub(super) fn new() -> Self {
        let unique = format!("mcp-wire-{}-{:?}", std::process::id(), Instant::now());
        let unique: String =
            unique.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        Self { file: env::temp_dir().join(unique) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// Adds to a report what `ours` has said: one check, and a failure for each frame that broke
    /// the schema. What the peer broke is said, and is its own business.
    pub(super) fn judge(&self, ours: &str, peer: &str, report: Report) -> anyhow::Result<Report> {
        let text = fs::read_to_string(&self.file).context("the observer has seen nothing")?;
        let (report, said) = judge(&text, ours, report)?;
        for line in said {
            shell::say(format_args!("  {peer} broke the schema: {line}"));
        }
        Ok(report)
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

fn judge(text: &str, ours: &str, mut report: Report) -> anyhow::Result<(Report, Vec<String>)> {
    let (mut frames, mut broken, mut of_peer) = (0, Vec::new(), Vec::new());
    for line in text.lines() {
        let line: Line = serde_json::from_str(line)?;
        let fault = || format!("{} in {}", line.faults.join("; "), line.frame);
        match (line.from == ours, line.ok) {
            (true, true) => frames += 1,
            (true, false) => broken.push(format!("wire: {}", fault())),
            (false, true) => {}
            (false, false) => of_peer.push(fault()),
        }
    }
    match (frames, broken.is_empty()) {
        (0, true) => report.failures.push(format!("wire: no frame of our {ours} was seen")),
        (_, true) => report.passed.push("wire".to_owned()),
        (_, false) => report.failures.extend(broken),
    }
    Ok((report, of_peer))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: &str = r#"{"from":"server","ok":true}"#;
    const BROKEN: &str = r#"{"from":"server","ok":false,"faults":["no id"],"frame":"{}"}"#;

    fn of(text: &str, ours: &str) -> (usize, usize, usize) {
        let (report, of_peer) = judge(text, ours, Report::default()).unwrap();
        (report.passed.len(), report.failures.len(), of_peer.len())
    }

    #[test]
    fn what_we_broke_is_a_failure_and_silence_is_one() {
        assert_eq!(of(FINE, "server"), (1, 0, 0));
        assert_eq!(of(&format!("{FINE}\n{BROKEN}\n{BROKEN}"), "server"), (0, 2, 0));
        assert_eq!(of(BROKEN, "server"), (0, 1, 0));
        assert_eq!(of(BROKEN, "client"), (0, 1, 1), "and our side has said nothing");
        assert_eq!(of("", "client"), (0, 1, 0));
        assert!(judge("x", "client", Report::default()).is_err());
    }
}
