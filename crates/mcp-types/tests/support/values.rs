//! Random values of a type, from a seed.

use serde_json::{Map, Value, json};

use super::{
    file::Model,
    ty::{Object, Range, Ty},
};

/// Makes values of the types of one model.
pub(crate) struct Values<'a> {
    model: &'a Model,
    state: u64,
    /// Kinds of content that the schema doesn't have, too.
    pub(crate) foreign: bool,
}

impl<'a> Values<'a> {
    pub(crate) fn new(model: &'a Model, seed: &str) -> Self {
        let state = seed.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { model, state: state | 1, foreign: false }
    }

    /// A value of `ty`.
    pub(crate) fn value(&mut self, ty: &Ty) -> Value {
        self.at(ty, 0)
    }

    /// `value` as text, the members of each object in random order.
    pub(crate) fn text(&mut self, value: &Value) -> String {
        match value {
            Value::Object(object) => {
                let mut members: Vec<(&String, &Value)> = object.iter().collect();
                for i in (1..members.len()).rev() {
                    members.swap(i, self.below(i + 1));
                }
                let members: Vec<String> = members
                    .into_iter()
                    .map(|(name, value)| format!("{}:{}", json!(name), self.text(value)))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.text(item)).collect();
                format!("[{}]", items.join(","))
            }
            other => other.to_string(),
        }
    }

    fn at(&mut self, ty: &Ty, depth: usize) -> Value {
        match ty {
            Ty::Any => self.any(depth),
            Ty::Boolean => json!(self.below(2) == 0),
            Ty::String(format) => self.string(format.as_deref()),
            Ty::Integer(range) => self.integer(*range),
            Ty::Number(range) => self.number(*range),
            Ty::Const(text) => json!(text),
            Ty::ConstInt(value) => json!(value),
            Ty::Enum(texts) => json!(texts[self.below(texts.len())]),
            Ty::Scalars(types) => match types[self.below(types.len())].as_str() {
                "string" => self.string(None),
                "integer" => self.integer(Range::default()),
                "boolean" => json!(true),
                "null" => Value::Null,
                other => panic!("no value of type {other}"),
            },
            Ty::Ref(name) => {
                let ty = self.model.types.get(name).unwrap_or_else(|| panic!("no type {name}"));
                self.at(&ty.clone(), depth + 1)
            }
            Ty::Array(items, max) => {
                let most = max.map_or(3, |max| usize::try_from(max).unwrap().min(3));
                let count = if depth > 8 { 0 } else { self.below(most + 1) };
                (0..count).map(|_| self.at(items, depth + 1)).collect()
            }
            Ty::Object(object) => self.object(object, depth),
            Ty::AnyOf(types) => {
                let content = types.contains(&Ty::Ref("TextContent".to_owned()));
                if self.foreign && content && self.below(3) == 0 {
                    return self.hologram();
                }
                let choice = self.below(types.len());
                self.at(&types[choice], depth + 1)
            }
            Ty::AllOf(types) => {
                let mut all = Map::new();
                for ty in types {
                    if let Value::Object(object) = self.at(ty, depth) {
                        all.extend(object);
                    }
                }
                Value::Object(all)
            }
        }
    }

    fn object(&mut self, object: &Object, depth: usize) -> Value {
        let mut out = Map::new();
        for (name, field) in &object.fields {
            if field.required || (depth < 8 && self.below(2) == 0) {
                out.insert(name.clone(), self.at(&field.ty, depth + 1));
            }
        }
        match &object.rest {
            // A map: names of its own.
            Some(rest) if object.fields.is_empty() && **rest != Ty::Any => {
                for i in 0..self.below(3) {
                    out.insert(format!("key{i}"), self.at(rest, depth + 1));
                }
            }
            // Objects are open: a member of the future.
            _ if self.below(3) == 0 => {
                out.insert("x-future".to_owned(), self.any(depth));
            }
            _ => {}
        }
        Value::Object(out)
    }

    fn any(&mut self, depth: usize) -> Value {
        match self.below(if depth > 6 { 5 } else { 7 }) {
            0 => Value::Null,
            1 => json!(true),
            2 => json!(-7),
            3 => json!(0.25),
            4 => self.string(None),
            5 => json!([self.any(depth + 1)]),
            _ => json!({"a": self.any(depth + 1)}),
        }
    }

    fn hologram(&mut self) -> Value {
        json!({"type": "hologram", "frames": [1.5, self.any(0)], "annotations": 7})
    }

    fn string(&mut self, format: Option<&str>) -> Value {
        let texts: &[&str] = match format {
            Some("byte") => &["", "AA==", "TUNQ"],
            Some("uri") => &["file:///a%20b", "x:y", "https://example.com/%C3%A9?q"],
            Some("uri-template") => &["file:///{path}"],
            _ => &["", "a", "tab\t\"quoted\" \\ \u{1F600}\u{0}", "2025-11-25T10:30:00Z", "null"],
        };
        json!(texts[self.below(texts.len())])
    }

    fn integer(&mut self, range: Range) -> Value {
        let values = [0i64, 1, 42, 1 << 31, (1 << 53) - 1];
        let value = values[self.below(values.len())];
        json!(value.clamp(range.min.unwrap_or(0), range.max.unwrap_or(i64::MAX)))
    }

    fn number(&mut self, range: Range) -> Value {
        match range.max {
            Some(_) => [json!(0), json!(0.5), json!(1)][self.below(3)].clone(),
            None => [json!(0), json!(-1.5), json!(7), json!(1e300)][self.below(4)].clone(),
        }
    }

    /// xorshift64*.
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let bits = self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(bits).unwrap() % bound
    }
}
