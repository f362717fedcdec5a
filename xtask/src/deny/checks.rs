//! Licenses, bans and sources.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Report,
    config::{Bans, Licenses, Sources},
    graph::Graph,
    spdx,
};

/// Crates.io, under the two names that cargo has for it.
const CRATES_IO: [&str; 2] =
    ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

/// Everything that users compile is under a license that we accept.
pub(super) fn licenses(graph: &Graph, config: &Licenses, report: &mut Report) {
    let mut used = BTreeSet::new();
    for package in graph.packages.values().filter(|package| graph.is_built(package)) {
        if config.private.ignore && graph.members.contains(&package.id) && !package.is_published() {
            continue;
        }
        let name = format!("{} {}", package.name, package.version);
        let Some(expression) = &package.license else {
            report.deny("licenses", format!("{name} names no license"));
            continue;
        };
        let exceptions: Vec<&str> = config
            .exceptions
            .iter()
            .filter(|exception| exception.name == package.name)
            .flat_map(|exception| exception.allow.iter().map(String::as_str))
            .collect();
        let allowed = |license: &str| {
            exceptions.contains(&license) || config.allow.iter().any(|name| name == license)
        };
        match spdx::permits(expression, &allowed) {
            Ok(true) => {}
            Ok(false) => report.deny("licenses", format!("{name}: `{expression}`")),
            Err(error) => report.deny("licenses", format!("{name}: {error:#}")),
        }
        used.extend(config.allow.iter().filter(|license| expression.contains(*license)));
    }
    for license in config.allow.iter().filter(|license| !used.contains(license)) {
        report.warn("licenses", format!("`{license}` is allowed, and nothing has it"));
    }
}

/// No crate twice, none that is banned, no requirement that takes anything.
pub(super) fn bans(graph: &Graph, config: &Bans, report: &mut Report) {
    for package in graph.packages.values() {
        if let Some(banned) = config.deny.iter().find(|banned| banned.name == package.name) {
            let why = banned.reason.clone().unwrap_or_default();
            let instead = banned.use_instead.iter().map(|name| format!("use {name} instead"));
            let words: Vec<String> = [why].into_iter().chain(instead).collect();
            report.deny("bans", format!("{} {}", package.name, words.join(" ").trim()));
        }
    }

    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in graph.packages.values() {
        if config.multiple_versions_include_dev || graph.is_built(package) {
            versions.entry(&package.name).or_default().insert(&package.version);
        }
    }
    let several = || versions.iter().filter(|(_, versions)| versions.len() > 1);
    for (name, versions) in several() {
        let skipped = |version: &&&str| config.skip.iter().any(|it| it.is_about(name, version));
        let left: Vec<&str> = versions.iter().filter(|v| !skipped(v)).copied().collect();
        if left.len() > 1 {
            let text = format!("{name} is there {} times: {}", left.len(), left.join(", "));
            report.add(config.multiple_versions, "bans", text);
        }
    }
    for skip in &config.skip {
        let mut all =
            several().flat_map(|(name, versions)| versions.iter().map(move |v| (name, v)));
        if !all.any(|(name, version)| skip.is_about(name, version)) {
            let text = format!("{} is skipped ({}), and needs no skip", skip.spec, skip.reason);
            report.warn("bans", text);
        }
    }

    let members = graph.packages.values().filter(|package| graph.members.contains(&package.id));
    for package in members {
        for dependency in package.dependencies.iter().filter(|d| d.req == "*") {
            // A path is enough where nobody outside resolves the requirement.
            let unresolved = dependency.is_dev() || !package.is_published();
            if dependency.path.is_some() && config.allow_wildcard_paths && unresolved {
                continue;
            }
            let text = format!("{} takes any version of {}", package.name, dependency.name);
            report.add(config.wildcards, "bans", text);
        }
    }
}

/// Everything comes from where we know it comes from.
pub(super) fn sources(graph: &Graph, config: &Sources, report: &mut Report) {
    for package in graph.outside() {
        let name = format!("{} {}", package.name, package.version);
        let Some(source) = package.source.as_deref() else {
            report.deny("sources", format!("{name} comes from a path outside of the workspace"));
            continue;
        };
        if let Some(git) = source.strip_prefix("git+") {
            let base = git.split(['?', '#']).next().unwrap_or_default();
            if !config.allow_git.iter().any(|allowed| allowed == base) {
                report.add(config.unknown_git, "sources", format!("{name} comes from {base}"));
            }
        } else {
            let known = CRATES_IO.contains(&source)
                || config.allow_registry.iter().any(|allowed| source.ends_with(allowed.as_str()));
            if !known {
                let text = format!("{name} comes from {source}");
                report.add(config.unknown_registry, "sources", text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        deny::config::{Banned, Exception, Level, Private, Skipped},
        workspace::{Dependency, Package},
    };

    fn package(name: &str, version: &str, license: &str) -> Package {
        Package {
            id: format!("{name}@{version}"),
            name: name.into(),
            version: version.into(),
            license: Some(license.into()),
            source: Some(CRATES_IO[0].into()),
            ..Package::default()
        }
    }

    /// A graph of one member and what it uses.
    fn graph(member: Package, outside: Vec<Package>) -> Graph {
        let mut graph = Graph::default();
        graph.members.insert(member.id.clone());
        for package in std::iter::once(member).chain(outside) {
            graph.built.insert(package.id.clone());
            graph.packages.insert(package.id.clone(), package);
        }
        graph
    }

    fn ours() -> Package {
        package("ours", "0.1.0", "MIT")
    }

    fn expect(report: &Report, denied: &[&str], warned: &[&str]) {
        let of = |level| {
            let lines = report.lines.iter().filter(move |line| line.level == level);
            lines.map(|line| line.text.as_str()).collect::<Vec<_>>()
        };
        assert_eq!((of(Level::Deny), of(Level::Warn)), (denied.to_vec(), warned.to_vec()));
    }

    fn check_licenses(outside: Package, config: Licenses) -> Report {
        let mut report = Report::default();
        let allow = [vec!["MIT".to_owned()], config.allow].concat();
        licenses(&graph(ours(), vec![outside]), &Licenses { allow, ..config }, &mut report);
        report
    }

    #[test]
    fn a_license_that_is_not_on_the_list_is_denied() {
        let report = check_licenses(package("a", "1.0.0", "GPL-3.0-only"), Licenses::default());
        expect(&report, &["a 1.0.0: `GPL-3.0-only`"], &[]);
        let report = check_licenses(package("a", "1.0.0", "MIT OR GPL-3.0"), Licenses::default());
        expect(&report, &[], &[]);
    }

    #[test]
    fn no_license_and_an_unreadable_one_are_denied() {
        let nothing = Package { license: None, ..package("a", "1.0.0", "") };
        expect(&check_licenses(nothing, Licenses::default()), &["a 1.0.0 names no license"], &[]);
        let report = check_licenses(package("a", "1.0.0", "MIT OR"), Licenses::default());
        expect(&report, &["a 1.0.0: license `MIT OR`: a license is missing at the end"], &[]);
    }

    #[test]
    fn an_exception_is_for_one_crate() {
        let config = || Licenses {
            exceptions: vec![Exception { name: "a".into(), allow: vec!["Zlib".into()] }],
            ..Licenses::default()
        };
        expect(&check_licenses(package("a", "1.0.0", "Zlib"), config()), &[], &[]);
        expect(&check_licenses(package("b", "1.0.0", "Zlib"), config()), &["b 1.0.0: `Zlib`"], &[]);
    }

    #[test]
    fn an_allowed_license_that_nothing_has_is_mentioned() {
        let config = Licenses { allow: vec!["ISC".into()], ..Licenses::default() };
        let report = check_licenses(package("a", "1.0.0", "MIT"), config);
        expect(&report, &[], &["`ISC` is allowed, and nothing has it"]);
    }

    #[test]
    fn what_only_tests_use_and_private_members_may_have_any_license() {
        let mut graph = graph(
            Package { publish: Some(vec![]), ..package("tool", "0.0.0", "Secret") },
            vec![package("test-only", "1.0.0", "GPL-3.0-only")],
        );
        graph.built.remove("test-only@1.0.0");
        let mut report = Report::default();
        let config = Licenses { private: Private { ignore: true }, ..Licenses::default() };
        licenses(&graph, &config, &mut report);
        expect(&report, &[], &[]);
    }

    fn check_bans(member: Package, outside: Vec<Package>, config: Bans) -> Report {
        let mut report = Report::default();
        let config = Bans {
            multiple_versions: Level::Deny,
            wildcards: Level::Deny,
            allow_wildcard_paths: true,
            ..config
        };
        bans(&graph(member, outside), &config, &mut report);
        report
    }

    #[test]
    fn two_versions_are_denied_unless_one_is_skipped() {
        let twice = || vec![package("a", "1.0.0", "MIT"), package("a", "2.0.0", "MIT")];
        let skip = |spec: &str| Bans {
            skip: vec![Skipped { spec: spec.into(), reason: "b is late".into() }],
            ..Bans::default()
        };
        expect(
            &check_bans(ours(), twice(), Bans::default()),
            &["a is there 2 times: 1.0.0, 2.0.0"],
            &[],
        );
        expect(&check_bans(ours(), twice(), skip("a@1.0.0")), &[], &[]);
        expect(&check_bans(ours(), twice(), skip("a:1.0")), &[], &[]);
        expect(
            &check_bans(ours(), vec![], skip("a@1.0.0")),
            &[],
            &["a@1.0.0 is skipped (b is late), and needs no skip"],
        );
    }

    #[test]
    fn a_banned_crate_is_denied_with_what_to_use() {
        let banned =
            Banned { name: "openssl-sys".into(), use_instead: Some("rustls".into()), reason: None };
        let config = Bans { deny: vec![banned], ..Bans::default() };
        let report = check_bans(ours(), vec![package("openssl-sys", "0.9.0", "MIT")], config);
        expect(&report, &["openssl-sys use rustls instead"], &[]);
    }

    #[test]
    fn a_requirement_that_takes_anything_is_denied() {
        let member = |path: Option<&str>, kind: Option<&str>| Package {
            dependencies: vec![Dependency {
                name: "a".into(),
                req: "*".into(),
                kind: kind.map(Into::into),
                path: path.map(Into::into),
                ..Dependency::default()
            }],
            ..ours()
        };
        let denied = ["ours takes any version of a"];
        expect(&check_bans(member(None, None), vec![], Bans::default()), &denied, &[]);
        expect(&check_bans(member(Some("a"), None), vec![], Bans::default()), &denied, &[]);
        expect(&check_bans(member(Some("a"), Some("dev")), vec![], Bans::default()), &[], &[]);
    }

    #[test]
    fn an_unknown_source_is_denied() {
        let check = |source: Option<&str>| {
            let outside =
                Package { source: source.map(Into::into), ..package("a", "1.0.0", "MIT") };
            let mut report = Report::default();
            let config = Sources {
                unknown_registry: Level::Deny,
                unknown_git: Level::Deny,
                allow_git: vec!["https://example.org/known".into()],
                ..Sources::default()
            };
            sources(&graph(ours(), vec![outside]), &config, &mut report);
            report.lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>()
        };
        for known in [CRATES_IO[0], CRATES_IO[1], "git+https://example.org/known?rev=1#abc"] {
            assert!(check(Some(known)).is_empty(), "{known}");
        }
        assert_eq!(
            check(Some("git+https://example.org/other#abc")),
            ["a 1.0.0 comes from https://example.org/other"]
        );
        assert_eq!(
            check(Some("registry+https://example.org/index")),
            ["a 1.0.0 comes from registry+https://example.org/index"]
        );
        assert_eq!(check(None), ["a 1.0.0 comes from a path outside of the workspace"]);
    }
}
