//! The table of features names pages, programs, tests, scenarios and checks that are there.

use super::{File, Findings, lex};
use crate::conformance::scenarios;

const PAGE: &str = "docs/features.md";
/// Where the checks of our client against other servers are named.
const CHECKS: &str = "conformance/src/interop/checks.rs";
/// How many features the public list has.
const FEATURES: usize = 48;
/// A row: number, feature, page, example, tests, suite, interop.
const CELLS: usize = 7;

/// Holds the table against what it names.
pub(super) fn check(files: &[File], findings: &mut Findings) {
    let text = |path: &str| {
        files.iter().find(|file| file.path == path).and_then(|file| file.text.as_deref())
    };
    let Some(page) = text(PAGE) else {
        findings.add("features", PAGE, "there is no such page");
        return;
    };
    let checks = text(CHECKS).unwrap_or_default();
    let mut count = 0;
    for (at, line) in page.lines().enumerate() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Some(number) = cells.first().and_then(|cell| cell.parse::<usize>().ok()) else {
            continue;
        };
        let mut add = |what: String| findings.add("features", format!("{PAGE}:{}", at + 1), what);
        count += 1;
        if number != count {
            add(format!("row {number} should be {count}"));
        }
        let [_, _, page, example, tests, suite, interop] = cells.as_slice() else {
            add(format!("has {} cells, and not {CELLS}", cells.len()));
            continue;
        };
        for fault in [guide(page, example, &text), named_tests(tests, &text)].into_iter().flatten()
        {
            add(fault);
        }
        for name in names(suite).filter(|name| scenarios::names().all(|known| known != *name)) {
            add(format!("the suite has no scenario {name} that we run"));
        }
        for name in names(interop).filter(|name| !checks.contains(&format!("{name:?}"))) {
            add(format!("{CHECKS} has no check {name}"));
        }
    }
    if count != FEATURES {
        findings.add("features", PAGE, format!("has {count} features, and not {FEATURES}"));
    }
}

/// What is wrong with the page of a feature, and the example on it.
fn guide<'a>(page: &str, example: &str, text: &impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let (Some((_, page)), Some((_, example))) = (links(page).next(), links(example).next()) else {
        return Some("has no link to a page, or none to an example".to_owned());
    };
    let Some(slug) = example.strip_prefix(page).and_then(|rest| rest.strip_prefix('#')) else {
        return Some(format!("{example} is not on {page}"));
    };
    let path = format!("docs/{page}");
    let Some(markdown) = text(&path) else { return Some(format!("there is no {path}")) };
    let Some(section) = section(markdown, slug) else {
        return Some(format!("{path} has no section #{slug}"));
    };
    (!has_program(section)).then(|| format!("{path}#{slug} has no program that CI runs"))
}

/// What is wrong with the tests of a feature.
fn named_tests<'a>(cell: &str, text: &impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    if links(cell).next().is_none() {
        return Some("names no test".to_owned());
    }
    links(cell).find_map(|(name, target)| {
        let name = name.trim_matches('`');
        let path = target.strip_prefix("../").unwrap_or(target);
        let code = lex::lex(text(path).unwrap_or_default()).code;
        (!has_test(&code, name)).then(|| format!("{path} has no test {name}"))
    })
}

/// The links of a cell: text and target.
fn links(cell: &str) -> impl Iterator<Item = (&str, &str)> {
    cell.split('[').skip(1).filter_map(|rest| {
        let (text, rest) = rest.split_once("](")?;
        Some((text, rest.split_once(')')?.0))
    })
}

/// The names of a cell, each between backquotes.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether lexed code has a test function of this name.
fn has_test(code: &str, name: &str) -> bool {
    let declaration = format!("fn {name}(");
    code.match_indices(&declaration).any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        // The attributes come after the item before.
        let own = before.rsplit(['}', ';']).next().unwrap_or_default();
        ["#[test]", "::test]", "::test("].iter().any(|attribute| own.contains(attribute))
    })
}

/// The section of a page under the heading that links call `slug`.
fn section<'a>(markdown: &'a str, slug: &str) -> Option<&'a str> {
    let mut inside = false;
    let mut offset = 0;
    let mut found: Option<(usize, usize)> = None;
    for line in markdown.split_inclusive('\n') {
        inside ^= line.starts_with("```");
        let marks = line.len() - line.trim_start_matches('#').len();
        if !inside && marks > 0 {
            match found {
                Some((start, depth)) if marks <= depth => return markdown.get(start..offset),
                None if slug_of(line.trim_start_matches('#')) == slug => {
                    found = Some((offset, marks));
                }
                _ => {}
            }
        }
        offset += line.len();
    }
    found.and_then(|(start, _)| markdown.get(start..))
}

/// The name by which links know a heading: letters, digits and hyphens.
fn slug_of(heading: &str) -> String {
    let lower = heading.trim().to_lowercase();
    let kept = lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Whether rustdoc runs something of `markdown` that is a whole program.
fn has_program(markdown: &str) -> bool {
    let mut blocks = markdown.split("```").skip(1).step_by(2);
    blocks.any(|block| {
        let (info, code) = block.split_once('\n').unwrap_or_default();
        matches!(info.trim(), "rust" | "rust,standalone_crate") && code.contains("fn main()")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::file;

    const GUIDE: &str = "# A\n\n## The list's pages\n\ntext\n\n```rust\n# a comment\nfn main() {}\n```\n\n\
                         ## Nothing\n\n```rust,no_run\nfn main() {}\n```\n";
    const TESTS: &str = "#[test]\nfn one() {}\n\nfn helper() {}\n\n/// Docs.\n#[tokio::test]\n\
                         async fn two() {}\n";

    fn row(page: &str, example: &str, tests: &str, suite: &str, interop: &str) -> String {
        format!("| 1 | x | [a]({page}) | [b]({example}) | {tests} | {suite} | {interop} |\n")
    }

    /// What is found about a single row, apart from that there should be more of them.
    fn check_row(row: &str) -> Vec<String> {
        let files = [
            file(PAGE, row),
            file("docs/guide/a.md", GUIDE),
            file("crates/c/tests/t.rs", TESTS),
            file(CHECKS, "checks! { \"ping at the end\": a(); }"),
        ];
        let mut findings = Findings::default();
        check(&files, &mut findings);
        let last = findings.0.pop().map(|finding| finding.what);
        assert_eq!(last.as_deref(), Some("has 1 features, and not 48"));
        findings.0.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn what_is_there_is_found() {
        let tests = "[`one`](../crates/c/tests/t.rs), [`two`](../crates/c/tests/t.rs)";
        let example = "guide/a.md#the-lists-pages";
        let suite = "`ping`, `tools_call`";
        let good = row("guide/a.md", example, tests, suite, "`ping at the end`");
        assert!(check_row(&good).is_empty(), "{:?}", check_row(&good));
        assert!(check_row(&row("guide/a.md", example, tests, "–", "–")).is_empty());
    }

    #[test]
    fn what_is_missing_is_told() {
        let test = "[`one`](../crates/c/tests/t.rs)";
        let example = "guide/a.md#the-lists-pages";
        for (row, told) in [
            (row("guide/b.md", "guide/b.md#x", test, "–", "–"), "there is no docs/guide/b.md"),
            (row("guide/a.md", "guide/b.md#x", test, "–", "–"), "is not on"),
            (row("guide/a.md", "guide/a.md#other", test, "–", "–"), "no section #other"),
            (row("guide/a.md", "guide/a.md#nothing", test, "–", "–"), "no program"),
            (row("guide/a.md", example, "–", "–", "–"), "names no test"),
            (
                row("guide/a.md", example, &test.replace("one", "helper"), "–", "–"),
                "no test helper",
            ),
            (row("guide/a.md", example, &test.replace("one", "on"), "–", "–"), "no test on"),
            (row("guide/a.md", example, &test.replace("t.rs", "u.rs"), "–", "–"), "no test one"),
            (row("guide/a.md", example, test, "`pong`", "–"), "no scenario pong"),
            (row("guide/a.md", example, test, "–", "`ping at`"), "no check ping at"),
            ("| 1 | x |\n".to_owned(), "has 2 cells"),
            (row("guide/a.md", example, test, "–", "–").replace("| 1", "| 2"), "row 2 should be 1"),
        ] {
            let found = check_row(&row);
            assert!(matches!(found.as_slice(), [what] if what.contains(told)), "{told}: {found:?}");
        }
    }

    #[test]
    fn headings_are_called_as_links_call_them() {
        for (heading, slug) in [
            ("## Listing", "listing"),
            ("## stdio, the client's side", "stdio-the-clients-side"),
            ("## HTTP+SSE, the server's side", "httpsse-the-servers-side"),
        ] {
            assert_eq!(slug_of(heading.trim_start_matches('#')), slug);
        }
    }
}
