//! Who may use whom.

use std::collections::BTreeSet;

use super::{
    File, Findings,
    table::{COMMON, ROWS, Row},
};
use crate::workspace::{Dependency, Metadata, Package};

/// Where each outside crate has its line.
const REASONS: &str = "docs/dependencies.md";

/// Holds the manifests against the table.
pub(super) fn check(metadata: &Metadata, files: &[File], findings: &mut Findings) {
    let reasons = files.iter().find(|file| file.path == REASONS);
    let reasons = reasons.and_then(|file| file.text.as_deref()).unwrap_or_default();
    let ours: BTreeSet<&str> = metadata.members().map(|p| p.name.as_str()).collect();
    for package in metadata.members() {
        dev_dependencies(package, &ours, findings);
        if package.name == "xtask" {
            nothing_of_ours(package, &ours, findings);
        }
        if !package.is_published() {
            continue;
        }
        match ROWS.iter().find(|row| row.name == package.name) {
            Some(row) => {
                arrows(package, row, &ours, findings);
                outside(package, row, &ours, reasons, findings);
            }
            None => findings.add("arrows", &package.name, "has no row in xtask/src/tidy/table.rs"),
        }
    }
}

/// A crate of ours uses only what its row lists.
fn arrows(package: &Package, row: &Row, ours: &BTreeSet<&str>, findings: &mut Findings) {
    for dependency in package.used().filter(|d| ours.contains(d.name.as_str())) {
        let name = dependency.name.as_str();
        if row.ours.contains(&name) {
            continue;
        }
        if !row.ours_optional.contains(&name) {
            findings.add("arrows", &package.name, format!("may not use {name}"));
        } else if !dependency.optional {
            findings.add("arrows", &package.name, format!("may use {name} behind a feature only"));
        }
    }
}

/// Outside crates are on the crate's list, and each has its reason.
fn outside(
    package: &Package,
    row: &Row,
    ours: &BTreeSet<&str>,
    reasons: &str,
    findings: &mut Findings,
) {
    for dependency in package.used().filter(|d| !ours.contains(d.name.as_str())) {
        let name = dependency.name.as_str();
        if !row.outside.contains(&name) && !COMMON.contains(&name) {
            findings.add("outside", &package.name, format!("may not use {name}"));
        }
        // The first cell of the table names the crate, or several.
        let has_line = reasons.lines().any(|line| {
            let cell = line.strip_prefix('|').and_then(|row| row.split('|').next());
            cell.is_some_and(|cell| cell.contains(&format!("`{name}`")))
        });
        if !has_line {
            findings.add("outside", &package.name, format!("{name} has no line in {REASONS}"));
        }
    }
}

/// A version here would make publishing circular: the test's crate must be out before ours.
fn dev_dependencies(package: &Package, ours: &BTreeSet<&str>, findings: &mut Findings) {
    let is_ours = |d: &&Dependency| ours.contains(d.name.as_str());
    for dependency in package.dependencies.iter().filter(|d| d.is_dev()).filter(is_ours) {
        if dependency.path.is_none() || dependency.req != "*" {
            findings.add(
                "dev-dependencies",
                &package.name,
                format!("{} must have a path and no version", dependency.name),
            );
        }
    }
}

/// The tools must build when nothing else does.
fn nothing_of_ours(package: &Package, ours: &BTreeSet<&str>, findings: &mut Findings) {
    for dependency in package.dependencies.iter().filter(|d| ours.contains(d.name.as_str())) {
        findings.add("arrows", &package.name, format!("may not use {}", dependency.name));
    }
}

/// No two rows of the table point at each other: each names only rows above its own.
#[cfg(test)]
fn is_acyclic(rows: &[Row]) -> bool {
    rows.iter().enumerate().all(|(at, row)| {
        let mut arrows = row.ours.iter().chain(row.ours_optional);
        arrows.all(|used| rows.iter().take(at).any(|above| above.name == *used))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::tidy::testing::file;

    const LINES: &str = "| crate | why |\n|---|---|\n| `bytes`, `tokio` | frames |\n";

    fn dependency(name: &str) -> Dependency {
        Dependency { name: name.into(), req: "^1".into(), ..Dependency::default() }
    }

    fn check_one(name: &str, dependencies: Vec<Dependency>) -> Findings {
        let others = ["mcp-jsonrpc", "mcp-types", "mcp-server", "mcp-macros", "xtask"];
        let mut packages: Vec<Package> = others
            .into_iter()
            .filter(|other| *other != name)
            .map(|name| Package { id: name.into(), name: name.into(), ..Package::default() })
            .collect();
        packages.push(Package {
            id: name.into(),
            name: name.into(),
            dependencies,
            publish: (name == "xtask").then(Vec::new),
            ..Package::default()
        });
        let metadata = Metadata {
            workspace_members: packages.iter().map(|p| p.id.clone()).collect(),
            packages,
            workspace_root: PathBuf::new(),
            target_directory: PathBuf::new(),
            resolve: None,
        };
        let mut findings = Findings::default();
        check(&metadata, &[file(REASONS, LINES)], &mut findings);
        // The bystanders are not under test.
        findings.0.retain(|finding| finding.at == name);
        findings
    }

    #[test]
    fn what_the_table_lists_may_be_used() {
        check_one("mcp-types", vec![dependency("mcp-jsonrpc"), dependency("bytes")]).expect(&[]);
        let macros = Dependency { optional: true, ..dependency("mcp-macros") };
        check_one("mcp-server", vec![dependency("mcp-types"), macros]).expect(&[]);
    }

    #[test]
    fn an_arrow_up_is_found() {
        check_one("mcp-jsonrpc", vec![dependency("mcp-types")])
            .expect(&[("arrows", "mcp-jsonrpc")]);
        check_one("xtask", vec![dependency("mcp-types")]).expect(&[("arrows", "xtask")]);
    }

    #[test]
    fn an_arrow_that_needs_a_feature_is_found_without_one() {
        check_one("mcp-server", vec![dependency("mcp-macros")]).expect(&[("arrows", "mcp-server")]);
    }

    #[test]
    fn a_build_dependency_is_an_arrow_too() {
        let build = Dependency { kind: Some("build".into()), ..dependency("mcp-types") };
        check_one("mcp-jsonrpc", vec![build]).expect(&[("arrows", "mcp-jsonrpc")]);
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        check_one("mcp-extra", vec![]).expect(&[("arrows", "mcp-extra")]);
    }

    #[test]
    fn an_outside_crate_needs_a_place_in_the_table_and_a_reason() {
        check_one("mcp-jsonrpc", vec![dependency("tokio")]).expect(&[("outside", "mcp-jsonrpc")]);
        check_one("mcp-jsonrpc", vec![dependency("memchr")]).expect(&[("outside", "mcp-jsonrpc")]);
    }

    #[test]
    fn a_dev_dependency_of_ours_has_a_path_and_no_version() {
        let path = Some(PathBuf::from("crates/mcp-types"));
        let dev = Dependency { kind: Some("dev".into()), path, ..dependency("mcp-types") };
        check_one("mcp-jsonrpc", vec![dev.clone()]).expect(&[("dev-dependencies", "mcp-jsonrpc")]);
        let bare = Dependency { req: "*".into(), ..dev };
        check_one("mcp-jsonrpc", vec![bare]).expect(&[]);
    }

    #[test]
    fn the_table_has_no_cycle() {
        assert!(is_acyclic(ROWS));
        let row = |name, ours| Row { name, ours, ours_optional: &[], outside: &[], pure: true };
        assert!(!is_acyclic(&[row("a", &["b"]), row("b", &["a"])]));
    }
}
