//! `deny.toml`, as far as we evaluate it. An unknown key is an error: nothing is skipped silently.

use serde::Deserialize;

use super::version;

/// The whole file; the format is that of cargo-deny.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) graph: Graph,
    pub(crate) advisories: Advisories,
    pub(crate) licenses: Licenses,
    pub(crate) bans: Bans,
    pub(crate) sources: Sources,
}

/// Which graph is looked at.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Graph {
    pub(crate) all_features: bool,
    pub(crate) targets: Vec<String>,
}

/// Known faults of outside crates.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Advisories {
    /// `all`, `workspace` (what a manifest of ours names), `transitive` or `none`.
    pub(crate) unmaintained: Option<String>,
    /// Only cargo-deny asks the registry's index.
    #[serde(rename = "yanked")]
    pub(crate) _yanked: Option<String>,
    pub(crate) ignore: Vec<Ignored>,
}

/// An advisory that can't hurt us.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ignored {
    pub(crate) id: String,
    pub(crate) reason: String,
}

/// What outside crates may be licensed under.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Licenses {
    /// Only cargo-deny reads license files.
    #[serde(rename = "confidence-threshold")]
    pub(crate) _confidence_threshold: f32,
    pub(crate) allow: Vec<String>,
    pub(crate) exceptions: Vec<Exception>,
    pub(crate) private: Private,
}

/// More that one crate may have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exception {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) allow: Vec<String>,
}

/// Our own tools.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Private {
    pub(crate) ignore: bool,
}

/// Which crates, and how many of each.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Bans {
    pub(crate) multiple_versions: Level,
    pub(crate) multiple_versions_include_dev: bool,
    pub(crate) wildcards: Level,
    pub(crate) allow_wildcard_paths: bool,
    pub(crate) deny: Vec<Banned>,
    pub(crate) skip: Vec<Skipped>,
}

/// A crate that may not be there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Banned {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) use_instead: Option<String>,
    pub(crate) reason: Option<String>,
}

/// A version that may stand beside another one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Skipped {
    /// `name@version`, or `name:requirement`.
    #[serde(rename = "crate")]
    pub(crate) spec: String,
    pub(crate) reason: String,
}

impl Skipped {
    /// Whether this is about that version of that crate.
    pub(crate) fn is_about(&self, name: &str, version: &str) -> bool {
        if let Some((ours, exact)) = self.spec.split_once('@') {
            return ours == name && exact == version;
        }
        // A requirement that can't be read skips nothing, and is then reported as not needed.
        let parts = self.spec.split_once(':').filter(|(ours, _)| *ours == name);
        parts.is_some_and(|(_, wanted)| version::matches(version, wanted).unwrap_or(false))
    }
}

/// Where crates may come from.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Sources {
    pub(crate) unknown_registry: Level,
    pub(crate) unknown_git: Level,
    pub(crate) allow_registry: Vec<String>,
    pub(crate) allow_git: Vec<String>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Fine.
    Allow,
    /// Said, but no failure.
    #[default]
    Warn,
    /// A failure.
    Deny,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_file_is_understood() {
        let text = std::fs::read_to_string(crate::shell::root().join("deny.toml")).unwrap();
        let config: Config = toml::from_str(&text).unwrap();
        assert_eq!(config.bans.multiple_versions, Level::Deny);
        assert!(config.licenses.allow.iter().any(|name| name == "MIT"));
        assert_eq!(config.sources.unknown_git, Level::Deny);
    }

    #[test]
    fn a_key_that_nobody_evaluates_is_an_error() {
        let error = toml::from_str::<Config>("[bans]\nallow = []").unwrap_err().to_string();
        assert!(error.contains("unknown field `allow`"), "{error}");
    }

    #[test]
    fn a_skip_without_a_reason_is_an_error() {
        let error =
            toml::from_str::<Config>("[bans]\nskip = [{ crate = \"a@1.0.0\" }]").unwrap_err();
        assert!(error.to_string().contains("missing field `reason`"), "{error}");
    }
}
