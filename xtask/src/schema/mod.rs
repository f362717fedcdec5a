//! The schema model: the facts of the official schemas, one file a revision.
//!
//! `import` takes names, types, required and enums out of an official `schema.json`, no prose;
//! `diff` proves that a file of the model and an official schema say the same.

pub(crate) mod file;
pub(crate) mod official;
pub(crate) mod ty;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use self::file::Model;
use crate::fresh::Fresh;

/// Every revision that has a model, oldest first.
pub(crate) const REVISIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// `cargo xtask schema import|diff PATH [--revision R]`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let mut words = args.iter().map(String::as_str);
    let (Some(verb), Some(path)) = (words.next(), words.next()) else {
        bail!("usage: cargo xtask schema import|diff PATH [--revision R]");
    };
    let mut revision = None;
    while let Some(word) = words.next() {
        match word {
            "--revision" => revision = Some(words.next().context("--revision needs a value")?),
            other => bail!("unknown argument `{other}`"),
        }
    }
    let path = Path::new(path);
    let text =
        fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
    let revision = match revision {
        Some(revision) => revision,
        None => revision_in(path)
            .with_context(|| format!("{} names no revision: give --revision", path.display()))?,
    };
    if !REVISIONS.contains(&revision) {
        bail!("unknown revision `{revision}`");
    }
    let official = official::read(revision, &text)
        .with_context(|| format!("{} is no schema we understand", path.display()))?;
    match verb {
        "import" => {
            let mut fresh = Fresh::new(false, "cargo xtask schema import");
            fresh.put(&model_path(revision), &official.print())?;
            fresh.finish()
        }
        "diff" => diff(revision, &official),
        other => bail!("unknown verb `{other}`"),
    }
}

/// The model's folder.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/mcp-types/schema")
}

/// Where the facts of one revision are.
pub(crate) fn model_path(revision: &str) -> PathBuf {
    folder().join(format!("{revision}.toml"))
}

/// Reads the facts of one revision.
pub(crate) fn load(revision: &str) -> anyhow::Result<Model> {
    let path = model_path(revision);
    let text =
        fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
    Model::parse(&text)
        .map_err(anyhow::Error::from_boxed)
        .with_context(|| format!("{} is damaged", path.display()))
}

/// The revision that a path names, in its last part (`schema-R.json`) or a folder (`R/schema.json`).
fn revision_in(path: &Path) -> Option<&'static str> {
    path.iter().rev().find_map(|part| {
        let part = part.to_str()?;
        REVISIONS.into_iter().find(|revision| part.contains(revision))
    })
}

#[expect(clippy::print_stdout, reason = "a command's own output")]
fn diff(revision: &str, official: &Model) -> anyhow::Result<()> {
    let ours = load(revision)?;
    let differences = ours.differences(official);
    if differences.is_empty() {
        println!("{revision}: {} definitions agree", ours.types.len());
        return Ok(());
    }
    for difference in &differences {
        println!("{difference}");
    }
    bail!("{revision}: {} differences", differences.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_revision_is_read_from_a_name_or_a_folder() {
        for (path, expected) in [
            ("spec/schema-2025-11-25.json", Some("2025-11-25")),
            ("schema/2024-11-05/schema.json", Some("2024-11-05")),
            ("schema/draft/schema.json", None),
        ] {
            assert_eq!(revision_in(Path::new(path)), expected, "{path}");
        }
    }
}
