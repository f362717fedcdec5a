//! `overrides.toml`: what the official schemas leave to us.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde::Deserialize;

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Choices {
    pub(crate) area: BTreeMap<String, Vec<String>>,
    pub(crate) next: Next,
    pub(crate) skip: BTreeMap<String, String>,
    pub(crate) rename: BTreeMap<String, String>,
    pub(crate) formerly: BTreeMap<String, BTreeMap<String, String>>,
    pub(crate) since: BTreeMap<String, String>,
    pub(crate) params: BTreeMap<String, String>,
    pub(crate) inline: BTreeMap<String, String>,
    pub(crate) member: BTreeMap<String, String>,
    pub(crate) order: Order,
    pub(crate) field: BTreeMap<String, FieldChoice>,
    pub(crate) add: BTreeMap<String, Addition>,
    pub(crate) hand: BTreeMap<String, Hand>,
    pub(crate) union: BTreeMap<String, Union>,
    pub(crate) variant: BTreeMap<String, String>,
    pub(crate) open: BTreeMap<String, String>,
    pub(crate) texts: BTreeMap<String, Vec<String>>,
    pub(crate) ordered: BTreeMap<String, Vec<String>>,
    pub(crate) project: BTreeMap<String, String>,
    pub(crate) repeats: BTreeMap<String, String>,
}

/// What the newest revision adds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Next {
    pub(crate) types: Vec<String>,
    pub(crate) envelope: Vec<String>,
}

/// Members that come first and last on the wire.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Order {
    pub(crate) first: Vec<String>,
    pub(crate) last: Vec<String>,
}

/// The Rust type of a member.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldChoice {
    #[serde(rename = "type")]
    pub(crate) ty: String,
    #[serde(default)]
    pub(crate) kind: Option<String>,
    #[expect(dead_code, reason = "for readers of the file; demanded all the same")]
    pub(crate) reason: String,
}

/// A member that a definition lacks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Addition {
    pub(crate) ty: String,
    #[expect(dead_code, reason = "for readers of the file; demanded all the same")]
    pub(crate) reason: String,
}

/// A type written by hand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hand {
    pub(crate) projects: bool,
    #[expect(dead_code, reason = "for readers of the file; demanded all the same")]
    pub(crate) reason: String,
}

/// A union of objects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Union {
    pub(crate) tag: String,
    #[serde(default)]
    pub(crate) rest: Option<String>,
    #[serde(default)]
    pub(crate) bare: Option<String>,
    #[expect(dead_code, reason = "for readers of the file; demanded all the same")]
    pub(crate) reason: String,
}

impl Choices {
    /// The choice for member `name` of type `ty`, if there is one.
    pub(crate) fn field(&self, ty: &str, name: &str) -> Option<&FieldChoice> {
        self.field.get(&format!("{ty}.{name}")).or_else(|| self.field.get(&format!("*.{name}")))
    }

    /// Our name of an official definition in one revision.
    pub(crate) fn name<'a>(&'a self, revision: &str, official: &'a str) -> &'a str {
        let formerly = self.formerly.get(revision).and_then(|names| names.get(official));
        formerly.or_else(|| self.rename.get(official)).map_or(official, String::as_str)
    }

    /// The Rust name of a member.
    pub(crate) fn member(&self, wire: &str) -> String {
        match self.member.get(wire) {
            Some(name) => name.clone(),
            None => snake_case(wire),
        }
    }

    /// Where a member stands on the wire: smaller is earlier.
    pub(crate) fn rank(&self, wire: &str, required: bool) -> (usize, usize) {
        let place = |list: &[String]| list.iter().position(|name| name == wire);
        if let Some(place) = place(&self.order.last) {
            return (3, place);
        }
        match place(&self.order.first) {
            Some(place) => (0, place),
            None => (if required { 1 } else { 2 }, 0),
        }
    }

    /// A variant's name.
    pub(crate) fn variant<'a>(&'a self, ty: &str) -> anyhow::Result<&'a str> {
        self.variant
            .get(ty)
            .map(String::as_str)
            .with_context(|| format!("overrides.toml: [variant] has no name for {ty}"))
    }
}

/// `camelCase` → `snake_case`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
            out.push(c.to_ascii_lowercase());
        } else if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    out
}

/// `camelCase`, `kebab-case`, `a/b` → `PascalCase`.
pub(crate) fn pascal_case(name: &str) -> String {
    let mut out = String::new();
    let mut upper = true;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            upper = true;
        } else if upper {
            out.push(c.to_ascii_uppercase());
            upper = false;
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_rust_habits() {
        for (wire, rust) in [("inputSchema", "input_schema"), ("_meta", "meta"), ("id", "id")] {
            assert_eq!(snake_case(wire), rust);
        }
        for (wire, rust) in [
            ("date-time", "DateTime"),
            ("notifications/tools/list_changed", "NotificationsToolsListChanged"),
            ("input_required", "InputRequired"),
            ("thisServer", "ThisServer"),
        ] {
            assert_eq!(pascal_case(wire), rust);
        }
    }
}
