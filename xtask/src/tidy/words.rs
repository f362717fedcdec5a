//! Words that must not be in the repository, and links that must lead somewhere.

use super::{
    File, Findings, lex,
    table::{REVISIONS, TOP},
};

/// Marks of unfinished work. Put together here, so that this file doesn't hold them itself.
const MARKS: [&str; 4] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];

/// Folders of somebody's machine.
const MACHINES: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/fa", "rm/"), concat!("../sha", "red")];

/// In two parts for the same reason.
const SPECIFICATION: &str = concat!("modelcontextprotocol.io/", "specification/");

/// Holds every text file against the lists.
pub(super) fn check(files: &[File], findings: &mut Findings) {
    for file in files {
        let top = file.path.split('/').next().unwrap_or_default();
        if !TOP.contains(&top) {
            findings.add("tree", &file.path, "has no place at the top of the repository");
        }
        // Lock files are full of hashes, license texts of other people's words.
        let is_foreign = file.path.ends_with("Cargo.lock")
            || file.path.ends_with("package-lock.json")
            || file.path.starts_with("LICENSE-");
        let Some(text) = file.text.as_deref().filter(|_| !is_foreign) else { continue };
        for (at, line) in text.lines().enumerate() {
            let place = || format!("{}:{}", file.path, at + 1);
            for mark in MARKS.into_iter().filter(|it| lex::find_words(line, it).next().is_some()) {
                findings.add("words", place(), format!("`{mark}`: finish it, or file it"));
            }
            for path in MACHINES.into_iter().filter(|path| has_path(line, path)) {
                findings.add("words", place(), format!("`{path}`: a folder of one machine"));
            }
            for revision in linked_revisions(line).filter(|name| !REVISIONS.contains(name)) {
                findings.add("links", place(), format!("`{revision}` is no revision we speak"));
            }
        }
    }
}

/// Whether a path starts with `path`: not in the middle of a longer one.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line.get(..at).and_then(|head| head.chars().next_back());
        !before.is_some_and(|c| lex::is_word(c) || matches!(c, '.' | '-' | '}' | '/'))
    })
}

/// What links to the specification name as the revision.
fn linked_revisions(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices(SPECIFICATION).map(|(at, found)| {
        let tail = line.get(at + found.len()..).unwrap_or_default();
        let end = tail.find(|c: char| !(c.is_alphanumeric() || c == '-')).unwrap_or(tail.len());
        tail.get(..end).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::file;

    fn check_line(line: &str) -> Findings {
        let mut findings = Findings::default();
        check(&[file("docs/a.md", &format!("first\n{line}\n"))], &mut findings);
        findings
    }

    #[test]
    fn marks_of_unfinished_work_are_found() {
        for mark in MARKS {
            check_line(&format!("// {mark}: later")).expect(&[("words", "docs/a.md:2")]);
            check_line(&format!("A_{mark}_B")).expect(&[]);
        }
    }

    #[test]
    fn folders_of_one_machine_are_found() {
        for folder in MACHINES {
            check_line(&format!("see {folder}x")).expect(&[("words", "docs/a.md:2")]);
            check_line(&format!("at \"{folder}x\"")).expect(&[("words", "docs/a.md:2")]);
        }
        let inner = concat!("target/wo", "rk/a");
        check_line(inner).expect(&[]);
    }

    #[test]
    fn a_link_to_an_unknown_revision_is_found() {
        check_line(&format!("https://{SPECIFICATION}2025-11-25/basic")).expect(&[]);
        check_line(&format!("https://{SPECIFICATION}draft/basic"))
            .expect(&[("links", "docs/a.md:2")]);
        check_line(&format!("<https://{SPECIFICATION}2025-11-24>"))
            .expect(&[("links", "docs/a.md:2")]);
    }

    #[test]
    fn a_stranger_at_the_top_is_found() {
        let mut findings = Findings::default();
        check(&[file("notes.md", "x"), file("docs/a.md", "x")], &mut findings);
        findings.expect(&[("tree", "notes.md")]);
    }
}
