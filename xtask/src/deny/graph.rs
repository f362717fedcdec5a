//! The crates that `deny.toml` judges: everything that is in a build on a promised platform.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;

use super::config;
use crate::workspace::{Metadata, Package};

/// The union of the graphs of all platforms.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// By id.
    pub(crate) packages: BTreeMap<String, Package>,
    /// The packages of the workspace, by id.
    pub(crate) members: BTreeSet<String>,
    /// What is reached without the dependencies of tests, by id.
    pub(crate) built: BTreeSet<String>,
}

impl Graph {
    /// Asks cargo for the graph of each platform.
    pub(crate) fn load(config: &config::Graph) -> anyhow::Result<Self> {
        let mut graph = Self::default();
        let mut arguments = vec!["--locked"];
        if config.all_features {
            arguments.push("--all-features");
        }
        if config.targets.is_empty() {
            graph.add(Metadata::read(&arguments)?)?;
        }
        for target in &config.targets {
            let filter = ["--filter-platform", target];
            graph.add(Metadata::read(&[arguments.as_slice(), &filter].concat())?)?;
        }
        Ok(graph)
    }

    /// Adds the graph of one platform.
    pub(crate) fn add(&mut self, metadata: Metadata) -> anyhow::Result<()> {
        let resolve = metadata.resolve.context("cargo gave no graph")?;
        let nodes: BTreeMap<&str, _> =
            resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let mut waiting: Vec<&str> =
            metadata.workspace_members.iter().map(String::as_str).collect();
        let mut built: BTreeSet<&str> = waiting.iter().copied().collect();
        while let Some(id) = waiting.pop() {
            let Some(node) = nodes.get(id) else { continue };
            for edge in &node.deps {
                let is_built =
                    edge.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"));
                if is_built && built.insert(&edge.pkg) {
                    waiting.push(&edge.pkg);
                }
            }
        }
        self.built.extend(built.into_iter().map(str::to_owned));
        // Cargo also lists packages that no node of this platform reaches.
        let in_graph = metadata.packages.iter().filter(|p| nodes.contains_key(p.id.as_str()));
        self.packages.extend(in_graph.map(|package| (package.id.clone(), package.clone())));
        self.members.extend(metadata.workspace_members);
        Ok(())
    }

    /// Every package from outside.
    pub(crate) fn outside(&self) -> impl Iterator<Item = &Package> {
        self.packages.values().filter(|package| !self.members.contains(&package.id))
    }

    /// Whether the package is compiled for users, not only for tests.
    pub(crate) fn is_built(&self, package: &Package) -> bool {
        self.built.contains(&package.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_tests_use_is_in_the_graph_but_not_built() {
        let package = |name: &str| serde_json::json!({ "id": name, "name": name });
        let packages = ["ours", "used", "below", "test-only", "elsewhere"].map(package);
        let edge = |to: &str, kind: Option<&str>| serde_json::json!({ "pkg": to, "dep_kinds": [{ "kind": kind }] });
        let metadata = serde_json::json!({
            "packages": packages,
            "workspace_members": ["ours"],
            "workspace_root": "", "target_directory": "",
            "resolve": { "nodes": [
                { "id": "ours", "deps": [
                    edge("used", None), edge("test-only", Some("dev")),
                ] },
                { "id": "used", "deps": [edge("below", Some("build"))] },
                { "id": "below", "deps": [] },
                { "id": "test-only", "deps": [] },
            ] },
        });
        let mut graph = Graph::default();
        graph.add(serde_json::from_value(metadata).unwrap()).unwrap();
        let names: Vec<&str> = graph.outside().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["below", "test-only", "used"]);
        let built: Vec<&str> = graph.built.iter().map(String::as_str).collect();
        assert_eq!(built, ["below", "ours", "used"]);
    }
}
