use std::collections::{BTreeMap, HashMap};
use std::error::Error;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::file::Model;
use super::render::ToSchema as _;
use super::ty::Ty;

/// The revisions, and their models.
const REVISIONS: [(&str, &str); 4] = [
    ("2024-11-05", include_str!("../../../crates/mcp-types/schema/2024-11-05.toml")),
    ("2025-03-26", include_str!("../../../crates/mcp-types/schema/2025-03-26.toml")),
    ("2025-06-18", include_str!("../../../crates/mcp-types/schema/2025-06-18.toml")),
    ("2025-11-25", include_str!("../../../crates/mcp-types/schema/2025-11-25.toml")),
];

/// The schema of one revision, by definition.
pub(super) struct Schema {
    model: Model,
    definitions: Value,
    validators: HashMap<String, Validator>,
}

impl Schema {
    /// The schema of a revision; none of one that is not known.
    pub(super) fn of(revision: &str) -> Result<Option<Self>, Box<dyn Error + Send + Sync>> {
        let Some((_, text)) = REVISIONS.iter().find(|(name, _)| *name == revision) else {
            return Ok(None);
        };
        let model = Model::parse(text)?;
        let definitions: BTreeMap<_, _> =
            model.types.iter().map(|(name, ty)| (name, ty.to_schema("$defs"))).collect();
        let definitions = json!(definitions);
        Ok(Some(Self { model, definitions, validators: HashMap::new() }))
    }

    /// The definition of the request or notification with this method.
    pub(super) fn of_method(&self, method: &str, suffix: &str) -> Option<String> {
        let is_it = |ty: &Ty| match ty {
            Ty::Object(object) => object
                .fields
                .get("method")
                .is_some_and(|field| matches!(&field.ty, Ty::Const(text) if text == method)),
            _ => false,
        };
        let named = self.model.types.iter().find(|(name, ty)| name.ends_with(suffix) && is_it(ty));
        named.map(|(name, _)| name.clone())
    }

    /// The first of these names that is a definition.
    pub(super) fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().find(|name| self.model.types.contains_key(**name)).copied()
    }

    /// What is wrong with a value that is to be one of these definitions.
    pub(super) fn faults(
        &mut self,
        names: &[&str],
        value: &Value,
    ) -> Result<Vec<String>, Box<dyn Error + Send + Sync>> {
        let key = names.join("|");
        if !self.validators.contains_key(&key) {
            let any: Vec<_> =
                names.iter().map(|name| json!({"$ref": format!("#/$defs/{name}")})).collect();
            let any = match any.as_slice() {
                [one] => json!([one]),
                _ => json!([{"anyOf": any}]),
            };
            let schema = json!({"$defs": self.definitions, "allOf": any});
            let validator =
                jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
            self.validators.insert(key.clone(), validator);
        }
        let Some(validator) = self.validators.get(&key) else { return Ok(Vec::new()) };
        let faults = validator.iter_errors(value);
        Ok(faults.map(|fault| format!("{key}: {fault} at {}", fault.instance_path())).collect())
    }
}
