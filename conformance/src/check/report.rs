//! Runs the checks, and says what was found.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Check, Fault, Site, Target, all, client};

/// The check that every message passes.
const SCHEMA: &str = "schema/every-message";
/// Checks that run at the same time.
const AT_ONCE: usize = 4;

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is as the specification says.
    Pass,
    /// It is not.
    Fail,
    /// It could not be judged.
    Skip,
}

impl Verdict {
    const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

/// One line of the table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Line {
    /// Area and name of the check.
    pub id: &'static str,
    /// The statements that it is about.
    pub shows: &'static [&'static str],
    /// What is expected.
    pub title: &'static str,
    /// What came of it.
    pub verdict: Verdict,
    /// Why it did not pass.
    pub detail: String,
}

/// Runs one check; beside its line there is what broke the schema on the way.
pub(crate) fn one(check: &'static Check, site: &Site) -> (Line, Vec<String>) {
    let (verdict, detail) = match (check.run)(site) {
        Ok(()) => (Verdict::Pass, String::new()),
        Err(Fault::Fail(why)) => (Verdict::Fail, why),
        Err(Fault::Skip(why)) => (Verdict::Skip, why),
    };
    let line = Line { id: check.id, shows: check.shows, title: check.title, verdict, detail };
    (line, site.take_broken())
}

/// Runs every check whose name begins with `only` against a server. No answer is waited for
/// longer than `wait`.
#[must_use]
pub fn run(target: &Target, wait: Duration, only: &str) -> Vec<Line> {
    let site = Site::new(target.clone(), wait);
    let checks: Vec<_> =
        all().filter(|check| site.takes(check) && check.id.starts_with(only)).collect();
    each(&checks, |check| one(check, &Site::new(target.clone(), wait)))
}

/// The same for a client: a program that takes a URL as its last word, and the name of a scenario
/// of the public suite in `MCP_CONFORMANCE_SCENARIO`.
#[must_use]
pub fn run_client(command: &[String], wait: Duration, only: &str) -> Vec<Line> {
    let checks: Vec<_> = client::all().filter(|check| check.id.starts_with(only)).collect();
    each(&checks, |check| client::one(check, command, wait, None))
}

/// Runs several at the same time, and brings them into their order.
fn each<C: Sync>(checks: &[C], run: impl Fn(&C) -> (Line, Vec<String>) + Sync) -> Vec<Line> {
    let next = AtomicUsize::new(0);
    let lines = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(check) = checks.get(at) else { return };
                    let found = run(check);
                    lines.lock().unwrap_or_else(PoisonError::into_inner).push((at, found));
                }
            });
        }
    });
    let mut lines = lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    lines.sort_by_key(|(at, _)| *at);
    let broken: Vec<String> = lines.iter().flat_map(|(_, (_, broken))| broken.clone()).collect();
    let mut lines: Vec<_> = lines.into_iter().map(|(_, (line, _))| line).collect();
    if !lines.is_empty() {
        lines.push(schema(&broken));
    }
    lines
}

fn schema(broken: &[String]) -> Line {
    Line {
        id: SCHEMA,
        shows: &["BASE-003", "BASE-005"],
        title: "each message of all the checks is in the schema of its revision",
        verdict: if broken.is_empty() { Verdict::Pass } else { Verdict::Fail },
        detail: broken.first().cloned().unwrap_or_default(),
    }
}

/// The lines as JSON, one a line, in the form that `cargo xtask conformance` reads, too.
#[must_use]
pub fn json(lines: &[Line]) -> String {
    let line = |line: &Line| -> Value {
        let mut line_json = json!({
            "check": line.id, "verdict": line.verdict.name(), "requirements": line.shows,
            "title": line.title, "detail": line.detail,
        });
        // What was not judged is neither.
        match line.verdict {
            Verdict::Pass => line_json["ok"] = json!(true),
            Verdict::Fail => line_json["ok"] = json!(false),
            Verdict::Skip => {}
        }
        line_json
    };
    lines.iter().map(|l| line(l).to_string() + "\n").collect()
}

/// The lines as a table, and the sums.
#[must_use]
pub fn table(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        let shows = line.shows.join(" ");
        text.push_str(&format!("{:<4}  {:<36} {}", line.verdict.name(), line.id, line.title));
        text.push_str(&format!(" ({shows})\n"));
        if line.verdict != Verdict::Pass {
            text.push_str(&format!("      {}\n", line.detail));
        }
    }
    let count = |verdict| lines.iter().filter(|line| line.verdict == verdict).count();
    let (passed, failed) = (count(Verdict::Pass), count(Verdict::Fail));
    text.push_str(&format!("{passed} passed, {failed} failed, {} skipped\n", count(Verdict::Skip)));
    text
}
