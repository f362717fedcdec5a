//! Rules that no compiler knows: arrows, budgets, manifests, sizes, words.

mod arrows;
mod budget;
mod comparison;
mod docs;
mod features;
mod lex;
mod manifest;
mod source;
mod table;
mod words;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use crate::{flags, shell, workspace::Metadata};

/// A broken rule.
#[derive(Debug)]
pub(crate) struct Finding {
    rule: &'static str,
    /// The file, with its line where there is one, or the crate.
    at: String,
    what: String,
}

/// Everything that was found; rules add to it and go on.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    /// Notes that `rule` is broken at `at`.
    pub(crate) fn add(
        &mut self,
        rule: &'static str,
        at: impl Into<String>,
        what: impl Into<String>,
    ) {
        self.0.push(Finding { rule, at: at.into(), what: what.into() });
    }
}

/// A file of the repository.
pub(crate) struct File {
    /// From the top of the repository, with `/`.
    pub(crate) path: String,
    /// What it holds; `None` if that is not text.
    pub(crate) text: Option<String>,
}

/// `cargo xtask tidy`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    flags::only(args, &[])?;
    let root = shell::root();
    let metadata = Metadata::of_workspace()?;
    let files = files(&root)?;
    let mut findings = Findings::default();

    arrows::check(&metadata, &files, &mut findings);
    manifest::check(&metadata, &files, &mut findings)?;
    source::check(&metadata, &files, &mut findings);
    words::check(&files, &mut findings);
    docs::check(&files, &mut findings);
    features::check(&files, &mut findings);
    comparison::check(&files, &mut findings);
    for line in budget::check(&metadata, &mut findings)? {
        shell::say(line);
    }

    findings.0.sort_by(|a, b| (a.rule, &a.at).cmp(&(b.rule, &b.at)));
    for finding in &findings.0 {
        shell::say(format_args!("{}: {}: {}", finding.rule, finding.at, finding.what));
    }
    match findings.0.len() {
        0 => shell::say(format_args!("tidy: {} files, nothing to say", files.len())),
        count => bail!("tidy: {count} findings"),
    }
    Ok(())
}

/// The files of the repository, and new ones that git doesn't ignore.
fn files(root: &Path) -> anyhow::Result<Vec<File>> {
    let mut git = std::process::Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let names = shell::read(&mut git).context("tidy looks at the files that git knows")?;
    let mut files = Vec::new();
    for name in names.split_terminator('\0') {
        let path: PathBuf = root.join(name);
        // Deleted but not committed, or a link to a file that is listed itself.
        let Ok(kind) = fs::symlink_metadata(&path) else { continue };
        let text = match kind.is_file() {
            true => String::from_utf8(fs::read(&path)?).ok(),
            false => None,
        };
        files.push(File { path: name.to_owned(), text });
    }
    Ok(files)
}

#[cfg(test)]
pub(crate) mod testing {
    //! Samples for the tests of the rules.

    use super::{File, Findings};

    /// A text file.
    pub(crate) fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: Some(text.to_owned()) }
    }

    impl Findings {
        /// Fails unless exactly these rules are broken, at these places.
        pub(crate) fn expect(self, expected: &[(&str, &str)]) {
            let found: Vec<(&str, &str)> =
                self.0.iter().map(|finding| (finding.rule, finding.at.as_str())).collect();
            assert_eq!(found, expected, "{self:#?}");
        }
    }
}
