//! Every page is compiled, because the crate `docs` takes each in, and its links lead somewhere.

use super::{File, Findings, lex};

const CRATE: &str = "docs/src/lib.rs";

/// Holds the pages against the crate that tests them.
pub(super) fn check(files: &[File], findings: &mut Findings) {
    let library = files.iter().find(|file| file.path == CRATE);
    let included = library.and_then(|file| file.text.as_deref()).map(lex::lex);
    let included = included.map(|parts| parts.text).unwrap_or_default();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        // Where the page is, as seen from the crate's source.
        let path = match file.path.strip_prefix("docs/") {
            Some(page) => format!("../{page}"),
            None if file.path == "README.md" => "../../README.md".to_owned(),
            None => continue,
        };
        if !included.split_whitespace().any(|name| name == path) {
            findings.add("docs", &file.path, format!("{CRATE} does not take it in as a test"));
        }
    }
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        links(file, files, findings);
    }
}

/// A link inside of the repository names a file or a folder that is there.
fn links(file: &File, files: &[File], findings: &mut Findings) {
    let text = file.text.as_deref().unwrap_or_default();
    for (at, _) in text.match_indices("](") {
        let target = text.get(at + 2..).and_then(|rest| rest.split(')').next()).unwrap_or_default();
        let target = target.split(['#', ' ']).next().unwrap_or_default();
        // Addresses, places on this page, and what rustdoc resolves in a crate's README.
        if target.is_empty() || target.contains("://") || target.contains("::") {
            continue;
        }
        let mut path: Vec<&str> = file.path.split('/').collect();
        path.pop();
        for part in target.trim_end_matches('/').split('/') {
            match part {
                "." => {}
                ".." => drop(path.pop()),
                name => path.push(name),
            }
        }
        let path = path.join("/");
        let folder = format!("{path}/");
        if !files.iter().any(|file| file.path == path || file.path.starts_with(&folder)) {
            let place = format!("{}:{}", file.path, lex::line_of(text, at));
            findings.add("links", place, format!("there is no {path}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::file;

    #[test]
    fn a_page_that_nothing_compiles_is_found() {
        let library = file(
            CRATE,
            "#[doc = include_str!(\"../a.md\")]\nmod a {}\n// include_str!(\"../guide/b.md\")\n",
        );
        let pages = ["docs/a.md", "docs/guide/b.md", "README.md", "crates/x/README.md"];
        let mut files = vec![library];
        files.extend(pages.map(|path| file(path, "text")));
        let mut findings = Findings::default();
        check(&files, &mut findings);
        findings.expect(&[("docs", "docs/guide/b.md"), ("docs", "README.md")]);
    }

    #[test]
    fn a_link_to_a_file_that_is_not_there_is_found() {
        let check_page = |text: &str| {
            let files = [file("crates/x/README.md", text), file("crates/y/src/lib.rs", "")];
            let mut findings = Findings::default();
            check(&files, &mut findings);
            findings
        };
        check_page("[a](../y) [b](../y/src/lib.rs#L1) [c](#here) [d](https://x.y/z)").expect(&[]);
        check_page("text\n[a](../z)").expect(&[("links", "crates/x/README.md:2")]);
        check_page("[a](lib.rs)").expect(&[("links", "crates/x/README.md:1")]);
    }
}
