//! `docs.toml`: the words for every type and member, and the proof that none is missing.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};

/// The file: `[Type]` with `about` and one line a member; `[shared]` for members of many types.
#[derive(Debug)]
pub(crate) struct Wording {
    types: BTreeMap<String, BTreeMap<String, String>>,
}

/// Looks words up and notes what was used and what was missing.
pub(crate) struct User<'a> {
    wording: &'a Wording,
    used: BTreeSet<(String, String)>,
    missing: BTreeSet<String>,
}

/// The key of a type's own words.
pub(crate) const ABOUT: &str = "about";

const SHARED: &str = "shared";

impl Wording {
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let table: toml::Table = text.parse()?;
        let mut types = BTreeMap::new();
        for (name, value) in table {
            let lines = value.as_table().with_context(|| name.clone())?;
            let lines = lines
                .iter()
                .map(|(key, value)| {
                    let text = value.as_str().with_context(|| format!("{name}.{key}"))?;
                    Ok((key.clone(), text.trim().to_owned()))
                })
                .collect::<anyhow::Result<BTreeMap<_, _>>>()?;
            types.insert(name, lines);
        }
        Ok(Self { types })
    }

    pub(crate) fn user(&self) -> User<'_> {
        User { wording: self, used: BTreeSet::new(), missing: BTreeSet::new() }
    }
}

impl User<'_> {
    /// The words for member `key` of `ty`, or [`ABOUT`] the type itself.
    pub(crate) fn get(&mut self, ty: &str, key: &str) -> String {
        for name in [ty, SHARED] {
            if key == ABOUT && name == SHARED {
                continue;
            }
            if let Some(text) = self.wording.types.get(name).and_then(|lines| lines.get(key)) {
                self.used.insert((name.to_owned(), key.to_owned()));
                return text.clone();
            }
        }
        self.missing.insert(format!("{ty}.{key}"));
        String::new()
    }

    /// Fails when words are missing, or stand for nothing.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let mut faults: Vec<String> =
            self.missing.iter().map(|path| format!("no words for {path}")).collect();
        for (ty, lines) in &self.wording.types {
            for key in lines.keys() {
                if !self.used.contains(&(ty.clone(), key.clone())) {
                    faults.push(format!("words for {ty}.{key}, which there isn't"));
                }
            }
        }
        if faults.is_empty() {
            return Ok(());
        }
        bail!("docs.toml:\n  {}", faults.join("\n  "))
    }
}
