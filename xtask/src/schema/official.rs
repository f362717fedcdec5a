//! Reads an official `schema.json`: draft-07 with `definitions`, or 2020-12 with `$defs`.
//!
//! Prose is skipped; a keyword that this reader doesn't know is an error, so that no fact is
//! lost unseen.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value};

use super::{
    file::Model,
    ty::{Field, Object, Range, Ty},
};

/// Words for people, and hints that constrain nothing.
const PROSE: [&str; 7] =
    ["$comment", "default", "deprecated", "description", "examples", "readOnly", "title"];

/// Reads the text of a `schema.json`.
pub(crate) fn read(revision: &str, text: &str) -> anyhow::Result<Model> {
    let schema: Value = serde_json::from_str(text)?;
    let (key, dialect) = if schema.get("$defs").is_some() {
        ("$defs", "2020-12")
    } else {
        ("definitions", "draft-07")
    };
    let defs = schema
        .get(key)
        .and_then(Value::as_object)
        .context("it has neither `$defs` nor `definitions`")?;
    let types = defs
        .iter()
        .map(|(name, def)| {
            let ty = ty(def).with_context(|| format!("definition `{name}`"))?;
            Ok((name.clone(), ty))
        })
        .collect::<anyhow::Result<BTreeMap<_, _>>>()?;
    Ok(Model { revision: revision.to_owned(), dialect: dialect.to_owned(), types })
}

fn ty(schema: &Value) -> anyhow::Result<Ty> {
    let object = match schema {
        Value::Bool(true) => return Ok(Ty::Any),
        Value::Object(object) => object,
        other => bail!("not a schema: {other}"),
    };
    let mut rest: Map<String, Value> = object
        .iter()
        .filter(|(key, _)| !PROSE.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let ty = match rest.remove("type") {
        Some(Value::String(name)) => typed(&name, &mut rest)?,
        Some(Value::Array(names)) => Ty::Scalars(strings(&names)?),
        Some(other) => bail!("`type` is {other}"),
        None => untyped(&mut rest)?,
    };
    match rest.keys().next() {
        Some(key) => bail!("keyword `{key}` is not understood here"),
        None => Ok(ty),
    }
}

fn typed(name: &str, rest: &mut Map<String, Value>) -> anyhow::Result<Ty> {
    Ok(match name {
        "boolean" => Ty::Boolean,
        "integer" => match rest.remove("const") {
            Some(value) => Ty::ConstInt(value.as_i64().context("`const` is no integer")?),
            None => Ty::Integer(range(rest)?),
        },
        "number" => Ty::Number(range(rest)?),
        "string" => match (rest.remove("const"), rest.remove("enum")) {
            (Some(Value::String(text)), None) => Ty::Const(text),
            (None, Some(Value::Array(values))) => {
                let mut values = strings(&values)?;
                values.sort();
                // One legal value is one legal value, however it is said.
                match values.as_slice() {
                    [only] => Ty::Const(only.clone()),
                    _ => Ty::Enum(values),
                }
            }
            (None, None) => Ty::String(match rest.remove("format") {
                Some(Value::String(format)) => Some(format),
                Some(other) => bail!("`format` is {other}"),
                None => None,
            }),
            _ => bail!("`const` or `enum` of a string holds something else"),
        },
        "array" => {
            let items = match rest.remove("items") {
                Some(items) => ty(&items).context("items")?,
                None => Ty::Any,
            };
            let max = rest.remove("maxItems").map(|max| max.as_u64().context("`maxItems`"));
            Ty::Array(Box::new(items), max.transpose()?)
        }
        "object" => Ty::Object(object(rest)?),
        other => bail!("type `{other}`"),
    })
}

fn untyped(rest: &mut Map<String, Value>) -> anyhow::Result<Ty> {
    if let Some(target) = rest.remove("$ref") {
        let target = target.as_str().context("`$ref` is no string")?;
        let name = target.rsplit('/').next().unwrap_or(target);
        return Ok(Ty::Ref(name.to_owned()));
    }
    for (key, make) in [("anyOf", Ty::AnyOf as fn(Vec<Ty>) -> Ty), ("allOf", Ty::AllOf)] {
        if let Some(Value::Array(types)) = rest.remove(key) {
            let types = types.iter().map(ty).collect::<anyhow::Result<Vec<_>>>()?;
            return Ok(make(types));
        }
    }
    match rest.remove("const") {
        Some(Value::String(text)) => return Ok(Ty::Const(text)),
        Some(value) => return Ok(Ty::ConstInt(value.as_i64().context("`const`")?)),
        None => {}
    }
    if rest.contains_key("properties") || rest.contains_key("required") {
        return Ok(Ty::Object(object(rest)?));
    }
    Ok(Ty::Any)
}

fn object(rest: &mut Map<String, Value>) -> anyhow::Result<Object> {
    let required = match rest.remove("required") {
        Some(Value::Array(names)) => strings(&names)?,
        Some(other) => bail!("`required` is {other}"),
        None => Vec::new(),
    };
    let mut fields = BTreeMap::new();
    if let Some(properties) = rest.remove("properties") {
        for (name, schema) in properties.as_object().context("`properties` is no object")? {
            let ty = ty(schema).with_context(|| format!("property `{name}`"))?;
            fields.insert(name.clone(), Field { ty, required: required.contains(name) });
        }
    }
    // A part of an `allOf` may require what another part declares.
    for name in required {
        fields.entry(name).or_insert(Field { ty: Ty::Any, required: true });
    }
    let rest = match rest.remove("additionalProperties") {
        Some(schema) => Some(Box::new(ty(&schema).context("additionalProperties")?)),
        None => None,
    };
    Ok(Object { fields, rest })
}

fn range(rest: &mut Map<String, Value>) -> anyhow::Result<Range> {
    let mut bound = |key: &str| {
        rest.remove(key)
            .map(|value| value.as_i64().with_context(|| format!("`{key}` is no integer")))
            .transpose()
    };
    Ok(Range { min: bound("minimum")?, max: bound("maximum")? })
}

fn strings(values: &[Value]) -> anyhow::Result<Vec<String>> {
    values
        .iter()
        .map(|value| Ok(value.as_str().context("a string was expected")?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r##"{"definitions": {
        "A": {"description": "prose", "type": "object", "required": ["description"],
              "properties": {"description": {"type": "string", "description": "prose"},
                             "b": {"$ref": "#/definitions/B"}}},
        "B": {"enum": ["z", "a"], "type": "string"}}}"##;
    const NEW: &str = r##"{"$defs": {
        "A": {"type": "object", "required": ["description"],
              "properties": {"description": {"type": "string"}, "b": {"$ref": "#/$defs/B"}}},
        "B": {"enum": ["a", "z"], "type": "string", "title": "B"}}}"##;

    #[test]
    fn both_dialects_give_the_same_facts_and_prose_is_skipped() {
        let (old, new) = (read("r", OLD).unwrap(), read("r", NEW).unwrap());
        assert_eq!(old.types, new.types);
        assert_eq!(old.types["A"].to_string(), "{b?: B, description: string}");
        assert_eq!(old.differences(&new), ["the dialect: draft-07 here, 2020-12 there"]);
    }

    #[test]
    fn an_unknown_keyword_is_an_error_that_says_where() {
        let text = r#"{"$defs": {"A": {"type": "object",
            "properties": {"b": {"type": "string", "pattern": "x"}}}}}"#;
        let error = format!("{:#}", read("r", text).unwrap_err());
        assert!(error.contains("`A`") && error.contains("`b`") && error.contains("`pattern`"));
    }

    #[test]
    fn every_kind_of_difference_is_named() {
        let ours = read("r", NEW).unwrap();
        let other = NEW.replace(r#""z""#, r#""y""#).replace(r#""A": {"type""#, r#""C": {"type""#);
        let found = ours.differences(&read("r", &other).unwrap());
        assert_eq!(
            found,
            [
                "A: not in the official schema",
                "B: 'a' | 'z' here, 'a' | 'y' there",
                "C: not in the model",
            ]
        );
    }
}
