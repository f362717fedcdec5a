//! Values made from the schema model, and the schemas to hold them against.

#![allow(dead_code, reason = "each test uses a part")]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test's own tools fail as tests do"
)]

pub(crate) mod registry;
mod schema;
mod values;

// The model's reader is the generator's own; two readers could disagree.
#[path = "../../../../xtask/src/schema/file.rs"]
pub(crate) mod file;
#[path = "../../../../xtask/src/schema/ty.rs"]
pub(crate) mod ty;

use std::{collections::BTreeMap, fs, path::Path};

use jsonschema::Validator;
use mcp_types::Revision;
use serde_json::{Value, json};

use self::{file::Model, schema::ToSchema as _, ty::Ty};
pub(crate) use self::{registry::Subject, values::Values};

/// One revision: its definitions, and which Rust type each one has.
pub(crate) struct Edition {
    pub(crate) revision: Revision,
    pub(crate) model: Model,
    choices: toml::Table,
    /// From the official file, when `MCP_SCHEMA_DIR` says where it is.
    official: Option<Value>,
}

/// One definition, and what reads it.
pub(crate) struct Definition {
    /// As the schema calls it, with `.params` for the params of an envelope.
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) subject: &'static Subject,
}

impl Edition {
    pub(crate) fn load(revision: Revision) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
        let read = |name: &str| fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let model = Model::parse(&read(revision.as_str())).unwrap();
        let choices = read("overrides").parse().unwrap();
        Self { revision, model, choices, official: official(revision) }
    }

    pub(crate) fn all() -> Vec<Self> {
        Revision::STATEFUL.into_iter().map(Self::load).collect()
    }

    /// Every definition that has a Rust type. Panics if one has neither that nor a reason.
    pub(crate) fn definitions(&self) -> Vec<Definition> {
        let mut found = Vec::new();
        for (name, ty) in &self.model.types {
            if name.ends_with("ResultResponse") {
                continue;
            }
            let envelope = self.rust_name(name);
            let envelope = envelope.ends_with("Request") || envelope.ends_with("Notification");
            let alone = self.choice("skip", name).is_some();
            let (name, rust, ty) = match ty {
                // Bases of all envelopes have params without a shape.
                Ty::Object(_) if envelope && alone => continue,
                Ty::Object(object) if envelope => {
                    let Some(params) = object.fields.get("params") else { continue };
                    let own = format!("{name}Params");
                    let rust = self.choice("params", name).unwrap_or(own);
                    let rust = self.rust_name(&rust);
                    (format!("{name}.params"), rust, params.ty.clone())
                }
                _ => (name.clone(), self.rust_name(name), ty.clone()),
            };
            match registry::find(&rust) {
                Some(subject) => found.push(Definition { name, ty, subject }),
                None => assert!(
                    self.choice("skip", &rust).is_some() || rust == "ResourceContents",
                    "{}: {name} has no type {rust} in the registry",
                    self.revision
                ),
            }
        }
        found
    }

    /// The definition that `subject` is in this revision, if it has one of its own.
    pub(crate) fn definition(&self, subject: &str) -> Option<Definition> {
        self.definitions().into_iter().find(|definition| definition.subject.name == subject)
    }

    fn choice(&self, table: &str, name: &str) -> Option<String> {
        Some(self.choices.get(table)?.get(name)?.as_str()?.to_owned())
    }

    fn rust_name(&self, official: &str) -> String {
        let formerly = self.choices.get("formerly").and_then(|t| t.get(self.revision.as_str()));
        let formerly = formerly.and_then(|t| t.get(official)?.as_str().map(str::to_owned));
        formerly.or_else(|| self.choice("rename", official)).unwrap_or_else(|| official.to_owned())
    }

    /// Validators of one type: by our model, and by the official file where there is one.
    pub(crate) fn validators(&self, ty: &Ty) -> Vec<Validator> {
        let dialect = match self.model.dialect.as_str() {
            "draft-07" => "http://json-schema.org/draft-07/schema#",
            _ => "https://json-schema.org/draft/2020-12/schema",
        };
        let defs = if self.model.dialect == "draft-07" { "definitions" } else { "$defs" };
        let ours: BTreeMap<_, _> =
            self.model.types.iter().map(|(name, ty)| (name, ty.to_schema(defs))).collect();
        let mut definitions = vec![json!(ours)];
        definitions.extend(self.official.as_ref().map(|schema| schema[defs].clone()));
        definitions
            .into_iter()
            .map(|definitions| {
                // Siblings of a reference don't count in draft-07, so it goes into an allOf.
                let schema = json!({
                    "$schema": dialect, defs: definitions, "allOf": [ty.to_schema(defs)],
                });
                jsonschema::validator_for(&schema).unwrap()
            })
            .collect()
    }
}

fn official(revision: Revision) -> Option<Value> {
    let folder = std::env::var_os("MCP_SCHEMA_DIR")?;
    let folder = Path::new(&folder);
    let names = [format!("schema-{revision}.json"), format!("{revision}/schema.json")];
    let text = names
        .iter()
        .find_map(|name| fs::read_to_string(folder.join(name)).ok())
        .unwrap_or_else(|| panic!("MCP_SCHEMA_DIR has no schema of {revision}"));
    Some(serde_json::from_str(&text).unwrap())
}

/// Panics unless `json` is valid.
pub(crate) fn assert_valid(validators: &[Validator], json: &Value, what: &str) {
    for validator in validators {
        if let Err(error) = validator.validate(json) {
            panic!("{what}: {error} at {}\n{json}", error.instance_path());
        }
    }
}
