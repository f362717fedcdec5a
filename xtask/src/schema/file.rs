//! The facts of one revision, and the file that holds them.

use std::{collections::BTreeMap, fmt::Write as _};

use super::ty::{Field, Object, Ty};

/// Every definition of one revision.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// The revision's date.
    pub(crate) revision: String,
    /// The dialect of the official file: `draft-07` or `2020-12`.
    pub(crate) dialect: String,
    /// By name.
    pub(crate) types: BTreeMap<String, Ty>,
}

impl Model {
    /// Reads a file of the model.
    pub(crate) fn parse(text: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let table: toml::Table = text.parse()?;
        let word = |key: &str| {
            table.get(key).and_then(toml::Value::as_str).map(str::to_owned).ok_or(key.to_owned())
        };
        let (revision, dialect) = (word("revision")?, word("dialect")?);
        let mut types = BTreeMap::new();
        let part = |key: &str| table.get(key).and_then(toml::Value::as_table).into_iter().flatten();
        for (name, value) in part("alias") {
            let line = value.as_str().ok_or(name.clone())?;
            types.insert(name.clone(), Ty::parse(line)?);
        }
        for (name, value) in part("object") {
            let mut object = Object::default();
            for (key, value) in value.as_table().ok_or(name.clone())? {
                let ty = Ty::parse(value.as_str().ok_or(key.clone())?)?;
                match key.strip_suffix('?') {
                    _ if key == ".." => object.rest = Some(Box::new(ty)),
                    Some(key) => {
                        object.fields.insert(key.to_owned(), Field { ty, required: false });
                    }
                    None => {
                        object.fields.insert(key.clone(), Field { ty, required: true });
                    }
                }
            }
            types.insert(name.clone(), Ty::Object(object));
        }
        Ok(Self { revision, dialect, types })
    }

    /// The file's text.
    pub(crate) fn print(&self) -> String {
        let mut out = format!(
            "# The facts of revision {0}: names, types, required, enums. Wording is in docs.toml.\n\
             # Written by `cargo xtask schema import`, compared by `cargo xtask schema diff`.\n\
             # `name?` may be absent; `..` is the type of members that are not listed.\n\n\
             revision = \"{0}\"\ndialect = \"{1}\"\n\n[alias]\n",
            self.revision, self.dialect,
        );
        for (name, ty) in &self.types {
            if !matches!(ty, Ty::Object(_)) {
                // Writing to a string can't fail.
                let _ = writeln!(out, "{name} = \"{ty}\"");
            }
        }
        for (name, ty) in &self.types {
            let Ty::Object(object) = ty else { continue };
            let _ = writeln!(out, "\n[object.{name}]");
            for (key, field) in &object.fields {
                let mark = if field.required { "" } else { "?" };
                let bare = field.required
                    && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                let _ = match bare {
                    true => writeln!(out, "{key} = \"{}\"", field.ty),
                    false => writeln!(out, "\"{key}{mark}\" = \"{}\"", field.ty),
                };
            }
            if let Some(rest) = &object.rest {
                let _ = writeln!(out, "\"..\" = \"{rest}\"");
            }
        }
        out
    }

    /// Where `self` and `official` say different things; order of alternatives is none.
    pub(crate) fn differences(&self, official: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.dialect != official.dialect {
            found.push(format!("the dialect: {} here, {} there", self.dialect, official.dialect));
        }
        let mut names: Vec<&String> = self.types.keys().chain(official.types.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            match (self.types.get(name), official.types.get(name)) {
                (Some(_), None) => found.push(format!("{name}: not in the official schema")),
                (None, Some(_)) => found.push(format!("{name}: not in the model")),
                (Some(ours), Some(theirs)) if ours.sorted() != theirs.sorted() => {
                    found.push(format!("{name}: {ours} here, {theirs} there"));
                }
                _ => {}
            }
        }
        found
    }
}
