#![expect(clippy::print_stdout, reason = "this is what the program is for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::Options;

/// What visitors have seen.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) connected: AtomicU64,
    pub(super) not_connected: AtomicU64,
    pub(super) answered: AtomicU64,
    pub(super) given_up: AtomicU64,
    pub(super) updates: AtomicU64,
    pub(super) children: AtomicU64,
    pub(super) killed: AtomicU64,
    /// Calls that got neither an answer nor an error.
    pub(super) lost: AtomicU64,
    pub(super) wrong: AtomicU64,
    /// Calls that succeeded without all of their progress.
    pub(super) gaps: AtomicU64,
    /// Calls whose progress came twice or not in order.
    pub(super) disorder: AtomicU64,
    pub(super) left_behind: AtomicU64,
    errors: Mutex<BTreeMap<String, u64>>,
}

impl Counts {
    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// An explicit error: the caller knows that it does not know.
    pub(super) fn failed(&self, error: &dyn Error) {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        // Addresses and numbers differ, the kinds are few.
        let kind: String = text.chars().filter(|c| !c.is_ascii_digit()).take(160).collect();
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.len() < 64 || errors.contains_key(&kind) {
            *errors.entry(kind).or_default() += 1;
        }
    }

    fn errors(&self) -> BTreeMap<String, u64> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How the server is.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Sample {
    memory: u64,
    tasks: usize,
    sessions: usize,
    exchanges: usize,
    streams: usize,
    calls: u64,
    twice: u64,
    waits: u64,
}

impl Sample {
    pub(super) fn read(line: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line)
    }

    /// Whether nobody is there any more.
    pub(super) fn is_quiet(&self) -> bool {
        self.sessions == 0 && self.exchanges == 0 && self.streams == 0 && self.waits == 0
    }
}

pub(super) fn progress(elapsed: Duration, sample: &Sample, counts: &Counts) {
    println!(
        "{:>5} s: {} sessions, {} streams, {} tasks, {} MiB, {} calls, {} answered, {} lost",
        elapsed.as_secs(),
        sample.sessions,
        sample.streams,
        sample.tasks,
        sample.memory >> 20,
        sample.calls,
        counts.answered.load(Ordering::Relaxed),
        counts.lost.load(Ordering::Relaxed),
    );
}

/// What was seen at the end.
pub(super) struct Verdict {
    /// Visitors that did not go home.
    pub(super) stuck: bool,
    /// Tasks of this process before and after.
    pub(super) tasks: (usize, usize),
    /// Whether the server has ended in good order.
    pub(super) ended: bool,
    pub(super) last: Sample,
}

/// How much more memory the last quarter may take than the second one.
const FLAT: f64 = 1.10;
/// Tasks of the server that belong to nobody: the listener, the sweeper, stdin.
const OWN_TASKS: usize = 8;

pub(super) fn judge(
    options: Options,
    samples: &[(Duration, Sample)],
    counts: &Counts,
    verdict: &Verdict,
) -> bool {
    let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let quarter = |from: u32, to: u32| {
        let within = |at: Duration| options.time * from / 4 <= at && at < options.time * to / 4;
        let of: Vec<u64> =
            samples.iter().filter(|(at, _)| within(*at)).map(|(_, s)| s.memory).collect();
        of.iter().sum::<u64>() / (of.len().max(1) as u64)
    };
    let (early, late) = (quarter(1, 2), quarter(3, 4));
    #[expect(clippy::cast_precision_loss, reason = "a ratio of sizes of memory")]
    let grown = late as f64 / early.max(1) as f64;
    let most = |of: fn(&Sample) -> usize| samples.iter().map(|(_, s)| of(s)).max().unwrap_or(0);

    println!(
        "\n{} s, {} sessions, {} children, seed {}",
        options.time.as_secs(),
        options.sessions,
        options.children,
        options.seed
    );
    for (what, count) in [
        ("sessions opened", get(&counts.connected)),
        ("handshakes cut", get(&counts.not_connected)),
        ("calls answered", get(&counts.answered)),
        ("calls given up", get(&counts.given_up)),
        ("updates heard", get(&counts.updates)),
        ("child processes", get(&counts.children)),
        ("child processes killed in a call", get(&counts.killed)),
        ("calls the server ran", verdict.last.calls),
    ] {
        println!("{what:<36}{count:>12}");
    }
    println!("calls that ended in an explicit error:");
    for (kind, count) in counts.errors() {
        println!("{count:>12}  {kind}");
    }
    println!(
        "sessions at most {}, streams at most {}, tasks at most {}",
        most(|s| s.sessions),
        most(|s| s.streams),
        most(|s| s.tasks)
    );

    if !verdict.last.is_quiet() {
        println!("the server in the end: {:?}", verdict.last);
    }
    let checks = [
        ("no call got neither an answer nor an error", get(&counts.lost) == 0, get(&counts.lost)),
        ("no call ran twice", verdict.last.twice == 0, verdict.last.twice),
        ("no answer was wrong", get(&counts.wrong) == 0, get(&counts.wrong)),
        ("no progress got lost", get(&counts.gaps) == 0, get(&counts.gaps)),
        ("no progress came twice or late", get(&counts.disorder) == 0, get(&counts.disorder)),
        ("no child was left", get(&counts.left_behind) == 0, get(&counts.left_behind)),
        ("everybody went home", !verdict.stuck, 0),
        ("the server was quiet then", verdict.last.is_quiet(), verdict.last.sessions as u64),
        (
            "no task was left on the server",
            verdict.last.tasks <= OWN_TASKS,
            verdict.last.tasks as u64,
        ),
        ("no task was left here", verdict.tasks.1 <= verdict.tasks.0 + 1, verdict.tasks.1 as u64),
        ("the server ended in good order", verdict.ended, 0),
        ("memory stayed flat", grown <= FLAT, late >> 10),
        ("there was something to see", get(&counts.answered) > 0 && get(&counts.killed) > 0, 0),
    ];
    println!(
        "memory: {} MiB in the second quarter, {} MiB in the last ({grown:.2})",
        early >> 20,
        late >> 20
    );
    for (what, held, count) in &checks {
        println!("{}  {what} ({count})", if *held { "ok    " } else { "FAILED" });
    }
    checks.iter().all(|(_, held, _)| *held)
}
