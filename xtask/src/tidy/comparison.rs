//! The programs that are compared with another SDK's: the page shows what is compiled, and
//! counts right.

use super::{File, Findings};

const PAGE: &str = "docs/comparison.md";
/// The programs; each has a twin.
const PROGRAMS: [&str; 3] = ["tool_server", "resource_server", "sampling_client"];
/// Where ours are, as the page links to them and as the repository has them, and their twins.
const FOLDERS: [(&str, &str); 2] = [
    ("examples/", "docs/examples/"),
    ("../conformance/interop/rmcp-peer/src/bin/", "conformance/interop/rmcp-peer/src/bin/"),
];

/// Holds the page against the programs.
pub(super) fn check(files: &[File], findings: &mut Findings) {
    let text = |path: &str| {
        files.iter().find(|file| file.path == path).and_then(|file| file.text.as_deref())
    };
    let Some(page) = text(PAGE) else {
        findings.add("comparison", PAGE, "there is no such page");
        return;
    };
    for program in PROGRAMS {
        for (link, folder) in FOLDERS {
            let path = format!("{folder}{program}.rs");
            let Some(source) = text(&path) else {
                findings.add("comparison", PAGE, format!("there is no {path}"));
                continue;
            };
            if !page.contains(&format!("```rs\n{source}```\n")) {
                findings.add("comparison", PAGE, format!("does not show {path} as it is"));
            }
            let lines = source.lines().filter(|line| !line.trim().is_empty()).count();
            if !page.contains(&format!("| [{lines}]({link}{program}.rs) |")) {
                findings.add("comparison", PAGE, format!("{path} has {lines} lines"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::file;

    const SOURCE: &str = "//! A.\n\nfn main() {}\n";

    fn check_page(change: impl Fn(String) -> String) -> Findings {
        let mut page = String::new();
        let mut files = Vec::new();
        for program in PROGRAMS {
            page.push_str(&format!("| {program} "));
            for (link, folder) in FOLDERS {
                page.push_str(&format!("| [2]({link}{program}.rs) "));
                files.push(file(&format!("{folder}{program}.rs"), SOURCE));
            }
            page.push_str("|\n");
        }
        page.push_str(&format!("\n```rs\n{SOURCE}```\n"));
        files.push(file(PAGE, &change(page)));
        let mut findings = Findings::default();
        check(&files, &mut findings);
        findings
    }

    #[test]
    fn a_page_that_is_right_passes() {
        check_page(|page| page).expect(&[]);
    }

    #[test]
    fn a_wrong_count_or_another_program_is_found() {
        let found = ("comparison", PAGE);
        check_page(|page| page.replacen("[2](examples", "[3](examples", 1)).expect(&[found]);
        check_page(|page| page.replace("//! A.", "//! B.")).expect(&[found; 6]);
        check(&[], &mut Findings::default());
    }
}
