use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

/// Who has said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// A file with a line for each frame.
pub(super) struct Report(Mutex<File>);

impl Report {
    /// Adds to a file that may be there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(Mutex::new(OpenOptions::new().create(true).append(true).open(path)?)))
    }

    pub(super) fn frame(&self, from: Side, text: &str, faults: &[String]) {
        let mut line = json!({"from": from.name(), "ok": faults.is_empty()});
        if !faults.is_empty() {
            let start: String = text.chars().take(400).collect();
            line = json!({"from": from.name(), "ok": false, "faults": faults, "frame": start});
        }
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // In one write, since several may add to the same file.
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            complain(&error);
        }
    }
}

/// Whoever reads the report misses the line, and fails.
#[expect(clippy::print_stderr, reason = "there is nowhere else to say it")]
fn complain(error: &io::Error) {
    eprintln!("wire: the report can't be written: {error}");
}
