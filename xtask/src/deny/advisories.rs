//! Known faults, read from a copy of the RustSec advisory database.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::{Report, config::Advisories, graph::Graph, version};
use crate::workspace::Package;

/// One advisory, as far as we read it.
#[derive(Debug, Deserialize)]
struct Advisory {
    advisory: About,
    #[serde(default)]
    versions: Versions,
}

#[derive(Debug, Deserialize)]
struct About {
    id: String,
    informational: Option<String>,
    withdrawn: Option<toml::Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Versions {
    patched: Vec<String>,
    unaffected: Vec<String>,
}

/// Where a copy of the database may be: as told, or where the other tools keep it.
pub(super) fn database(given: Option<PathBuf>, cargo_home: Option<PathBuf>) -> Option<PathBuf> {
    let home = cargo_home.into_iter().flat_map(|home| {
        let one = home.join("advisory-db");
        let several = fs::read_dir(home.join("advisory-dbs")).into_iter().flatten();
        let several = several.flatten().map(|entry| entry.path());
        std::iter::once(one).chain(several.collect::<Vec<_>>())
    });
    given.into_iter().chain(home).find(|path| path.join("crates").is_dir())
}

/// Looks up every outside crate.
pub(super) fn check(
    graph: &Graph,
    config: &Advisories,
    database: &Path,
    report: &mut Report,
) -> anyhow::Result<()> {
    let named: Vec<&str> = graph
        .packages
        .values()
        .filter(|package| graph.members.contains(&package.id))
        .flat_map(|package| package.dependencies.iter().map(|d| d.name.as_str()))
        .collect();
    for package in graph.outside() {
        let Ok(entries) = fs::read_dir(database.join("crates").join(&package.name)) else {
            continue;
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != "md") {
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let advisory =
                parse(&text).with_context(|| format!("{} is damaged", path.display()))?;
            judge(package, &advisory, config, named.contains(&package.name.as_str()), report)?;
        }
    }
    Ok(())
}

/// The facts are in a block of TOML at the top of the page.
fn parse(page: &str) -> anyhow::Result<Advisory> {
    let facts = page.trim_start().strip_prefix("```toml").and_then(|rest| rest.split_once("```"));
    let Some((facts, _)) = facts else { bail!("there is no block of TOML at the top") };
    Ok(toml::from_str(facts)?)
}

fn judge(
    package: &Package,
    Advisory { advisory, versions }: &Advisory,
    config: &Advisories,
    named_by_us: bool,
    report: &mut Report,
) -> anyhow::Result<()> {
    if advisory.withdrawn.is_some() {
        return Ok(());
    }
    for safe in versions.patched.iter().chain(&versions.unaffected) {
        if version::matches(&package.version, safe)? {
            return Ok(());
        }
    }
    let text = format!("{} {}: {}", package.name, package.version, advisory.id);
    if let Some(ignored) = config.ignore.iter().find(|it| it.id == advisory.id) {
        report.warn("advisories", format!("{text}, ignored: {}", ignored.reason));
        return Ok(());
    }
    match advisory.informational.as_deref() {
        None | Some("unsound") => report.deny("advisories", text),
        Some("unmaintained") => match config.unmaintained.as_deref() {
            Some("none") => {}
            Some("workspace") if !named_by_us => {}
            Some("transitive") if named_by_us => {}
            _ => report.deny("advisories", format!("{text}, unmaintained")),
        },
        Some(other) => report.warn("advisories", format!("{text}, {other}")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deny::config::{Ignored, Level};

    const PAGE: &str = "```toml\n[advisory]\nid = \"RUSTSEC-2020-0001\"\npackage = \"a\"\n\
                        date = \"2020-01-01\"\n[versions]\npatched = [\">= 1.2.3\"]\n\
                        unaffected = [\"< 1.0.0\"]\n```\n\n# It crashes\n";

    fn check_page(page: &str, version: &str, config: &Advisories) -> Vec<(Level, String)> {
        let package = Package { name: "a".into(), version: version.into(), ..Package::default() };
        let mut report = Report::default();
        judge(&package, &parse(page).unwrap(), config, false, &mut report).unwrap();
        report.lines.into_iter().map(|line| (line.level, line.text)).collect()
    }

    #[test]
    fn only_an_affected_version_is_denied() {
        let config = Advisories::default();
        let denied = (Level::Deny, "a 1.1.0: RUSTSEC-2020-0001".to_owned());
        assert_eq!(check_page(PAGE, "1.1.0", &config), [denied]);
        assert_eq!(check_page(PAGE, "1.2.3", &config), []);
        assert_eq!(check_page(PAGE, "0.9.0", &config), []);
    }

    #[test]
    fn what_is_ignored_is_mentioned_and_what_is_withdrawn_is_not() {
        let ignored = Ignored { id: "RUSTSEC-2020-0001".into(), reason: "not reached".into() };
        let config = Advisories { ignore: vec![ignored], ..Advisories::default() };
        let said = (Level::Warn, "a 1.1.0: RUSTSEC-2020-0001, ignored: not reached".to_owned());
        assert_eq!(check_page(PAGE, "1.1.0", &config), [said]);
        let page = PAGE.replace("date", "withdrawn");
        assert_eq!(check_page(&page, "1.1.0", &Advisories::default()), []);
    }

    #[test]
    fn an_unmaintained_crate_counts_where_we_name_it() {
        let page = PAGE.replace("date = \"2020-01-01\"", "informational = \"unmaintained\"");
        let workspace =
            Advisories { unmaintained: Some("workspace".into()), ..Advisories::default() };
        assert_eq!(check_page(&page, "1.1.0", &workspace), []);
        assert_eq!(check_page(&page, "1.1.0", &Advisories::default()).len(), 1);
    }

    #[test]
    fn a_notice_is_mentioned() {
        let page = PAGE.replace("date = \"2020-01-01\"", "informational = \"notice\"");
        let said = (Level::Warn, "a 1.1.0: RUSTSEC-2020-0001, notice".to_owned());
        assert_eq!(check_page(&page, "1.1.0", &Advisories::default()), [said]);
    }

    #[test]
    fn the_database_is_found_and_read() {
        let folder = std::env::temp_dir().join(format!("xtask-advisories-{}", std::process::id()));
        let entry = folder.join("advisory-dbs/some-hash/crates/a");
        fs::create_dir_all(&entry).unwrap();
        fs::write(entry.join("RUSTSEC-2020-0001.md"), PAGE).unwrap();
        let mut graph = Graph::default();
        let package = Package { name: "a".into(), version: "1.0.0".into(), ..Package::default() };
        graph.packages.insert("a".into(), package);
        let mut report = Report::default();

        let found = database(None, Some(folder.clone()));
        let result =
            found.as_deref().map(|path| check(&graph, &Advisories::default(), path, &mut report));
        fs::remove_dir_all(&folder).unwrap();
        result.unwrap().unwrap();
        assert_eq!(report.denied(), 1);
        assert!(database(Some(folder), None).is_none());
    }
}
