//! What a test runner has said.

use std::collections::BTreeSet;

use super::shows::Test;

/// The tests that ran, and passed.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Package and name, as nextest has them; the package is empty with the usual harness.
    passed: BTreeSet<(String, String)>,
    failed: BTreeSet<(String, String)>,
}

impl Results {
    /// Reads nextest's report in the form of `JUnit`, or the output of the usual harness.
    pub(super) fn read(output: &str) -> Self {
        let mut results = Self::default();
        // `<testcase name="a::b" classname="mcp-auth::attacks" …>`, and what went wrong inside.
        for case in output.split("<testcase ").skip(1) {
            let (Some(name), Some(binary)) =
                (attribute(case, "name"), attribute(case, "classname"))
            else {
                continue;
            };
            let package = binary.split("::").next().unwrap_or_default();
            let inside = case.split("<testcase ").next().unwrap_or_default();
            let wrong = ["<failure", "<error", "<skipped"].iter().any(|tag| inside.contains(tag));
            results.note(package, name, !wrong);
        }
        for line in output.lines() {
            if let Some(rest) = line.trim().strip_prefix("test ")
                && let Some((name, outcome)) = rest.split_once(" ... ")
            {
                results.note("", name, outcome == "ok");
            }
        }
        results
    }

    fn note(&mut self, package: &str, name: &str, passed: bool) {
        let set = if passed { &mut self.passed } else { &mut self.failed };
        set.insert((package.to_owned(), last(name).to_owned()));
    }

    /// Whether a test ran and passed, and none of its name in its package failed.
    pub(super) fn passed(&self, test: &Test) -> bool {
        let is_in = |set: &BTreeSet<(String, String)>| {
            set.contains(&(test.package.clone(), test.name.clone()))
                || set.contains(&(String::new(), test.name.clone()))
        };
        is_in(&self.passed) && !is_in(&self.failed)
    }
}

/// The value of an attribute at the start of an element.
fn attribute<'t>(element: &'t str, name: &str) -> Option<&'t str> {
    let start = element.split('>').next()?;
    let (before, rest) = start.split_once(&format!("{name}=\""))?;
    // `classname` ends with `name`.
    match before.chars().next_back() {
        None | Some(' ') => rest.split('"').next(),
        Some(_) => attribute(rest, name),
    }
}

/// The function's own name.
fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(package: &str, name: &str) -> Test {
        Test { name: name.to_owned(), package: package.to_owned(), file: "x".into() }
    }

    #[test]
    fn only_what_ran_and_passed_counts() {
        let nextest = "<testsuite name=\"mcp-auth::attacks\">\n\
             <testcase name=\"mix_up\" classname=\"mcp-auth::attacks\" time=\"0.005\"/>\n\
             <testcase name=\"other\" classname=\"mcp-auth::attacks\" time=\"1\">\n\
             <failure type=\"test failure\">no</failure>\n</testcase>\n\
             <testcase classname=\"mcp-jsonrpc\" name=\"parse::tests::one\"/>\n";
        let results = Results::read(nextest);
        assert!(results.passed(&test("mcp-auth", "mix_up")));
        assert!(results.passed(&test("mcp-jsonrpc", "one")));
        assert!(!results.passed(&test("mcp-types", "one")), "of another package");
        assert!(!results.passed(&test("mcp-auth", "other")));
        assert!(!results.passed(&test("mcp-auth", "never_ran")));
        let harness =
            Results::read("test a::one ... ok\ntest two ... FAILED\ntest three ... ignored\n");
        assert!(harness.passed(&test("mcp-x", "one")));
        assert!(!harness.passed(&test("mcp-x", "two")) && !harness.passed(&test("mcp-x", "three")));
    }
}
