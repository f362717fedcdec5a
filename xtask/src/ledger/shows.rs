//! Which test shows which requirement: by the comments above them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::shell;

/// A test, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Test {
    pub(super) name: String,
    /// The package, where the path says it.
    pub(super) package: String,
    pub(super) file: PathBuf,
}

/// All that tests say about themselves.
#[derive(Debug, Default)]
pub(super) struct Shows(BTreeMap<String, Vec<Test>>);

impl Shows {
    /// Reads every source that git knows.
    pub(super) fn collect(root: &Path) -> anyhow::Result<Self> {
        let mut git = Command::new("git");
        git.args(["ls-files", "--", "crates/*.rs", "conformance/*.rs", "xtask/*.rs"]);
        let mut shows = Self::default();
        for file in shell::read(git.current_dir(root))?.lines() {
            // What another SDK's tests would show is theirs.
            if let Ok(text) = fs::read_to_string(root.join(file)) {
                shows.add(Path::new(file), &text);
            }
        }
        Ok(shows)
    }

    fn add(&mut self, file: &Path, text: &str) {
        let package = package_of(file);
        let mut ids: Vec<&str> = Vec::new();
        let mut inside = false;
        for line in text.lines() {
            let line = line.trim();
            if let Some(comment) = line.strip_prefix("//") {
                let comment = comment.trim();
                if let Some(list) = comment.strip_prefix("Shows:") {
                    ids.extend(list.split(',').map(str::trim).filter(|id| !id.is_empty()));
                    inside = true;
                } else if inside && comment.split(',').all(|id| is_id(id.trim())) {
                    // The list goes on.
                    ids.extend(comment.split(',').map(str::trim).filter(|id| !id.is_empty()));
                } else {
                    inside = false;
                }
                continue;
            }
            inside = false;
            let Some(name) = function(line) else {
                // Attributes stand between a comment and its test; anything else is no test.
                if !line.starts_with('#') && !line.is_empty() && !line.starts_with(')') {
                    ids.retain(|_| line.ends_with(',') || line.starts_with(']'));
                }
                continue;
            };
            for id in ids.drain(..) {
                let test =
                    Test { name: name.to_owned(), package: package.clone(), file: file.into() };
                self.0.entry(id.to_owned()).or_default().push(test);
            }
        }
    }

    pub(super) fn of(&self, id: &str) -> &[Test] {
        self.0.get(id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// `TOOLS-012`, and nothing else.
fn is_id(text: &str) -> bool {
    text.is_empty()
        || text.rsplit_once('-').is_some_and(|(stem, number)| {
            number.bytes().all(|b| b.is_ascii_digit())
                && !number.is_empty()
                && stem.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-')
        })
}

/// The name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    let line = ["pub(crate) ", "pub ", "const ", "async "]
        .iter()
        .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
    let rest = line.strip_prefix("fn ")?;
    Some(&rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_')?])
}

fn package_of(file: &Path) -> String {
    let mut parts = file.iter().map(|part| part.to_string_lossy());
    match (parts.next().as_deref(), parts.next().as_deref()) {
        (Some("crates"), Some(name)) => name.to_owned(),
        (Some("conformance"), Some("bench")) => "mcp-bench".to_owned(),
        (Some("conformance"), _) => "mcp-conformance".to_owned(),
        _ => "xtask".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_about_the_next_function() {
        let mut shows = Shows::default();
        let text = "// Shows: A-001, B-002,\n// C-003\n#[tokio::test(flavor = \"x\")]\nasync fn one() {}\n\
                    // Why this is so.\nfn two() {}\n    // Shows: A-001\n    fn three() {\n";
        shows.add(Path::new("crates/mcp-x/tests/a.rs"), text);
        let names = |id: &str| shows.of(id).iter().map(|t| t.name.clone()).collect::<Vec<_>>();
        assert_eq!(names("A-001"), ["one", "three"]);
        assert_eq!((names("B-002"), names("C-003")), (vec!["one".into()], vec!["one".into()]));
        assert_eq!(shows.of("A-001")[0].package, "mcp-x");
        assert!(shows.of("A-002").is_empty());
    }
}
