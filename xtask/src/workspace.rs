//! What cargo knows about the workspace and its dependencies.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde::Deserialize;

use crate::shell;

/// The answer of `cargo metadata`, as far as we read it.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: BTreeSet<String>,
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) resolve: Option<Resolve>,
}

/// One package, of ours or from outside.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    /// Where it comes from; `None` for a path.
    pub(crate) source: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) targets: Vec<Target>,
    pub(crate) manifest_path: PathBuf,
    /// The registries it may go to; an empty list means none.
    pub(crate) publish: Option<Vec<String>>,
    pub(crate) categories: Vec<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) readme: Option<PathBuf>,
    pub(crate) edition: String,
    pub(crate) rust_version: Option<String>,
}

/// A line of a manifest's dependency tables.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) req: String,
    pub(crate) kind: Option<String>,
    pub(crate) optional: bool,
    pub(crate) path: Option<PathBuf>,
}

/// Something that a package builds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

/// The dependency graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

/// One package of the graph and what it uses.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<Edge>,
}

/// An arrow of the graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Edge {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<EdgeKind>,
}

/// Why an arrow is there.
#[derive(Debug, Deserialize)]
pub(crate) struct EdgeKind {
    pub(crate) kind: Option<String>,
}

impl Metadata {
    /// The workspace's own packages, without the graph.
    pub(crate) fn of_workspace() -> anyhow::Result<Self> {
        Self::read(&["--no-deps"])
    }

    /// The packages and the graph that cargo finds with `arguments`.
    pub(crate) fn read(arguments: &[&str]) -> anyhow::Result<Self> {
        let mut command = shell::cargo(["metadata", "--format-version", "1"]);
        let json = shell::read(command.args(arguments))?;
        serde_json::from_str(&json).context("`cargo metadata` said something unexpected")
    }

    /// The packages of the workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// The members that may go to a registry, each after everything that it uses.
    pub(crate) fn published(&self) -> Vec<&Package> {
        let mut waiting: Vec<&Package> = self.members().filter(|p| p.is_published()).collect();
        let mut sorted = Vec::new();
        while !waiting.is_empty() {
            let names: BTreeSet<&str> = waiting.iter().map(|p| p.name.as_str()).collect();
            let (ready, later): (Vec<&Package>, Vec<&Package>) = waiting
                .iter()
                .partition(|p| !p.used().any(|used| names.contains(used.name.as_str())));
            if ready.is_empty() {
                // A cycle: cargo itself reports it, and better.
                sorted.extend(later);
                break;
            }
            sorted.extend(ready);
            waiting = later;
        }
        sorted
    }
}

impl Package {
    /// Whether it may go to a registry.
    pub(crate) fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }

    /// The folder of its manifest.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    /// What it is compiled with: everything but what only its tests use.
    pub(crate) fn used(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|dependency| !dependency.is_dev())
    }

    /// Its library, if it has one.
    pub(crate) fn library(&self) -> Option<&Target> {
        self.targets.iter().find(|target| {
            target.kind.iter().any(|kind| matches!(kind.as_str(), "lib" | "rlib" | "proc-macro"))
        })
    }
}

impl Dependency {
    /// Whether only tests, examples and benches use it.
    pub(crate) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, uses: &[(&str, Option<&str>)]) -> Package {
        Package {
            id: name.into(),
            name: name.into(),
            dependencies: uses
                .iter()
                .map(|(name, kind)| Dependency {
                    name: (*name).into(),
                    kind: kind.map(Into::into),
                    ..Dependency::default()
                })
                .collect(),
            ..Package::default()
        }
    }

    #[test]
    fn a_crate_is_published_after_what_it_uses_whatever_its_tests_use() {
        let packages = vec![
            member("a", &[("b", None), ("serde", None)]),
            member("b", &[("c", Some("build")), ("a", Some("dev"))]),
            member("c", &[]),
            Package { publish: Some(vec![]), ..member("tool", &[]) },
        ];
        let metadata = Metadata {
            workspace_members: packages.iter().map(|p| p.id.clone()).collect(),
            packages,
            workspace_root: PathBuf::new(),
            target_directory: PathBuf::new(),
            resolve: None,
        };
        let order: Vec<&str> = metadata.published().iter().map(|p| p.name.as_str()).collect();
        assert_eq!(order, ["c", "b", "a"]);
    }

    #[test]
    fn our_own_workspace_can_be_read() {
        let metadata = Metadata::of_workspace().unwrap();
        assert!(metadata.members().any(|p| p.name == "xtask" && !p.is_published()));
        assert!(metadata.published().iter().any(|p| p.name == "mcp-jsonrpc"));
    }
}
