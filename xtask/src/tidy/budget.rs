//! How many crates a user compiles.

use std::collections::BTreeSet;

use super::{
    Findings,
    table::{BUDGETS, Budget, NEVER},
};
use crate::{
    shell,
    workspace::{Metadata, Package},
};

/// What the budgets are counted for; other targets add crates of their own.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Counts each way to use us, and returns a line for each.
pub(super) fn check(metadata: &Metadata, findings: &mut Findings) -> anyhow::Result<Vec<String>> {
    let members: Vec<&Package> = metadata.members().collect();
    let find = |name: &str| members.iter().find(|package| package.name == name);
    let mut lines = Vec::new();
    for budget in BUDGETS {
        if let Some(missing) = budget.crates.iter().find(|name| find(name).is_none()) {
            lines.push(format!("{}: there is no {missing} yet", budget.name));
            continue;
        }
        if !features_exist(budget, &members, findings) {
            continue;
        }
        let tree = shell::read(&mut tree(budget))?;
        let ours: BTreeSet<&str> = members.iter().map(|package| package.name.as_str()).collect();
        let count = judge(budget, &tree, &ours, findings);
        lines.push(format!("{}: {count} of {} crates", budget.name, budget.most));
    }
    Ok(lines)
}

/// A feature that was renamed must not turn its budget off.
fn features_exist(budget: &Budget, members: &[&Package], findings: &mut Findings) -> bool {
    let exists = |feature: &str| {
        let (name, feature) = feature.split_once('/').unwrap_or_default();
        members.iter().any(|p| p.name == name && p.features.contains_key(feature))
    };
    let missing = budget.features.iter().find(|feature| !exists(feature));
    if let Some(missing) = missing {
        findings.add("budget", budget.name, format!("there is no feature {missing}"));
    }
    missing.is_none()
}

/// The command that lists what is compiled.
fn tree(budget: &Budget) -> std::process::Command {
    let mut command = shell::cargo(["tree", "--locked", "--target", TARGET]);
    command.args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
    command.args(budget.crates.iter().flat_map(|name| ["--package", name]));
    if !budget.defaults {
        command.arg("--no-default-features");
    }
    if !budget.features.is_empty() {
        command.args(["--features", &budget.features.join(",")]);
    }
    command
}

/// Counts the crates of `tree`.
fn judge(budget: &Budget, tree: &str, ours: &BTreeSet<&str>, findings: &mut Findings) -> usize {
    // Name and version; what follows says where it comes from, or that it was listed before.
    let crates: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?))
        })
        .collect();
    for (name, _) in crates.iter().filter(|(name, _)| NEVER.contains(name)) {
        findings.add("budget", budget.name, format!("contains {name}"));
    }
    let counted = crates.iter().filter(|(name, _)| budget.count_ours || !ours.contains(name));
    let names: Vec<&str> = counted.map(|(name, _)| *name).collect();
    if names.len() > budget.most {
        findings.add(
            "budget",
            budget.name,
            format!("{} crates, {} allowed: {}", names.len(), budget.most, names.join(" ")),
        );
    }
    names.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_tree(most: usize, count_ours: bool, tree: &str) -> (usize, Findings) {
        let budget = Budget {
            name: "sample",
            crates: &["mcp-types"],
            defaults: true,
            features: &[],
            count_ours,
            most,
        };
        let mut findings = Findings::default();
        let count = judge(&budget, tree, &BTreeSet::from(["mcp-types"]), &mut findings);
        (count, findings)
    }

    const TREE: &str = "mcp-types v0.1.0 (crates/mcp-types)\nserde v1.0.1\nsyn v2.0.1 (proc-macro)\n\
                        serde v1.0.1 (*)\nsyn v1.0.9\n\n";

    #[test]
    fn each_version_counts_once() {
        let (count, findings) = check_tree(3, false, TREE);
        assert_eq!(count, 3);
        findings.expect(&[]);
        assert_eq!(check_tree(4, true, TREE).0, 4);
    }

    #[test]
    fn one_crate_too_many_is_found() {
        check_tree(2, false, TREE).1.expect(&[("budget", "sample")]);
    }

    #[test]
    fn a_crate_that_must_never_be_there_is_found() {
        check_tree(9, false, "openssl-sys v0.9.1").1.expect(&[("budget", "sample")]);
    }

    #[test]
    fn a_feature_that_is_gone_is_found() {
        let package = Package {
            name: "mcp-server".into(),
            features: [("tokio".into(), vec![])].into(),
            ..Package::default()
        };
        let check = |features| {
            let budget = Budget {
                name: "sample",
                crates: &["mcp-server"],
                defaults: false,
                features,
                count_ours: true,
                most: 1,
            };
            let mut findings = Findings::default();
            let exist = features_exist(&budget, &[&package], &mut findings);
            (exist, findings)
        };
        assert!(check(&["mcp-server/tokio"]).0);
        let (exist, findings) = check(&["mcp-server/tokio", "mcp-server/runtime"]);
        assert!(!exist);
        findings.expect(&[("budget", "sample")]);
    }

    #[test]
    fn the_tree_that_cargo_prints_is_understood() {
        let [budget, ..] = BUDGETS else { panic!("no budget") };
        let tree = shell::read(&mut tree(budget)).unwrap();
        let mut findings = Findings::default();
        let count = judge(budget, &tree, &BTreeSet::from(["mcp-jsonrpc"]), &mut findings);
        assert!(count > 3, "serde_json alone brings more: {tree}");
    }
}
