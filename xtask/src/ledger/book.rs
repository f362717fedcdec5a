//! The file of requirements.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::shows::Shows;

/// All requirements of a revision.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Book {
    pub(super) revision: String,
    /// How many that are compulsory have neither a test nor a reason. May only become less.
    pub(super) open: usize,
    #[serde(rename = "requirement")]
    pub(super) rows: Vec<Row>,
}

/// One statement.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) level: String,
    pub(super) party: String,
    pub(super) page: String,
    #[serde(default)]
    pub(super) heading: String,
    /// Where it is kept.
    #[serde(rename = "crate")]
    pub(super) place: String,
    pub(super) text: String,
    /// How it can be seen.
    pub(super) check: String,
    /// Why nothing here can show it.
    pub(super) not_testable: Option<String>,
    /// The type that makes it impossible to break it.
    pub(super) by_type: Option<String>,
}

/// How a statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Shown,
    ByType,
    NotTestable,
    Open,
}

impl Row {
    /// Whether it has to be kept.
    pub(super) fn is_compulsory(&self) -> bool {
        matches!(self.level.as_str(), "MUST" | "MUST NOT")
    }

    pub(super) fn standing(&self, shows: &Shows) -> Standing {
        if !shows.of(&self.id).is_empty() {
            Standing::Shown
        } else if self.by_type.is_some() {
            Standing::ByType
        } else if self.not_testable.is_some() {
            Standing::NotTestable
        } else {
            Standing::Open
        }
    }
}

impl Book {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
        let book: Self = toml::from_str(&text)?;
        let mut ids = BTreeSet::new();
        for row in &book.rows {
            ensure!(ids.insert(&row.id), "{} is there twice", row.id);
            ensure!(!row.text.is_empty() && !row.check.is_empty(), "{} says nothing", row.id);
            let levels = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"];
            ensure!(levels.contains(&row.level.as_str()), "{}: {}", row.id, row.level);
        }
        Ok(book)
    }

    /// Ids in comments that look like ours, and are not in the book.
    pub(super) fn unknown(&self, shows: &Shows) -> Vec<String> {
        let stem = |id: &str| id.rsplit_once('-').map(|(stem, _)| stem.to_owned());
        let stems: BTreeSet<_> = self.rows.iter().filter_map(|row| stem(&row.id)).collect();
        let known: BTreeSet<_> = self.rows.iter().map(|row| row.id.as_str()).collect();
        let of_stem = |id: &&str| stem(id).is_some_and(|stem| stems.contains(&stem));
        let strange = shows.ids().filter(of_stem).filter(|id| !known.contains(id));
        strange.map(|id| format!("a test shows {id}, which is no requirement")).collect()
    }

    /// Rows that say two things about themselves, and a number of open ones that is not true.
    pub(super) fn contradictions(&self, shows: &Shows) -> Vec<String> {
        let mut faults = Vec::new();
        for row in &self.rows {
            let shown = !shows.of(&row.id).is_empty();
            if shown && row.not_testable.is_some() {
                faults.push(format!("{}: a test shows what is said to be not testable", row.id));
            }
        }
        let open = self.open(shows).count();
        if open != self.open {
            faults.push(format!(
                "{open} compulsory requirements are open, and the book says {}{}",
                self.open,
                if open < self.open { ": lower the number" } else { "" }
            ));
        }
        faults
    }

    /// Compulsory rows without a test and without a reason.
    pub(super) fn open<'b>(&'b self, shows: &'b Shows) -> impl Iterator<Item = &'b Row> {
        self.rows.iter().filter(|row| row.is_compulsory() && row.standing(shows) == Standing::Open)
    }
}
