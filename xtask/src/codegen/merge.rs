//! Many revisions → one set of types.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};

use super::{
    choices::Choices,
    model::{Body, Enum, Field, Presence, Read, Span, Struct, Tag, Type, Types, Union},
};
use crate::schema::{
    file::Model,
    ty::{self, Object, Ty},
};

/// The definitions of one revision by our names, nothing written in place any more.
type Defs = BTreeMap<String, Ty>;

/// Makes the types of all models, given oldest first.
pub(crate) fn merge(models: &[Model], choices: &Choices) -> anyhow::Result<Types> {
    let mut official = BTreeMap::new();
    let defs = models
        .iter()
        .map(|model| {
            for name in model.types.keys() {
                official.insert(choices.name(&model.revision, name).to_owned(), name.clone());
            }
            definitions(model, choices).with_context(|| format!("revision {}", model.revision))
        })
        .collect::<anyhow::Result<Vec<Defs>>>()?;
    let mut types = Types {
        revisions: models.iter().map(|model| model.revision.clone()).collect(),
        types: BTreeMap::new(),
    };
    let named: BTreeSet<&String> =
        choices.area.values().flatten().chain(&choices.next.types).collect();
    for defs in &defs {
        for name in defs.keys() {
            let envelope = name.ends_with("Request")
                || name.ends_with("Notification")
                || name.ends_with("ResultResponse");
            if !envelope
                && !named.contains(name)
                && !choices.skip.contains_key(name)
                && !choices.hand.contains_key(name)
            {
                bail!("overrides.toml: {name} is in no area, and isn't skipped");
            }
        }
    }
    let merger = Merger { defs: &defs, choices };
    for name in named {
        let coming = choices.next.types.contains(name);
        let ty = merger.ty(name, coming).with_context(|| format!("type {name}"))?;
        types.types.insert(name.clone(), Type { official: official.get(name).cloned(), ..ty });
    }
    Ok(types)
}

/// The definitions of one revision, with params and inline types under names of their own.
fn definitions(model: &Model, choices: &Choices) -> anyhow::Result<Defs> {
    let mut hoister = Hoister { model, choices, defs: Defs::new() };
    for (official, ty) in &model.types {
        let name = choices.name(&model.revision, official);
        let ty = hoister.flat(ty)?;
        // What is said of an envelope is in the table; its params are a type.
        if let (Ty::Object(object), true) =
            (&ty, name.ends_with("Request") || name.ends_with("Notification"))
        {
            if let Some(params) = object.fields.get("params")
                && let Ty::Object(_) = params.ty
                && !choices.skip.contains_key(name)
            {
                let own = format!("{name}Params");
                let params_name = choices.params.get(name).unwrap_or(&own);
                let params_name = choices.name(&model.revision, params_name);
                let params = hoister.inner(params_name, &params.ty)?;
                hoister.define(params_name, params)?;
            }
            continue;
        }
        let ty = hoister.inner(name, &ty)?;
        hoister.define(name, ty)?;
    }
    Ok(hoister.defs)
}

struct Hoister<'a> {
    model: &'a Model,
    choices: &'a Choices,
    defs: Defs,
}

impl Hoister<'_> {
    fn define(&mut self, name: &str, ty: Ty) -> anyhow::Result<()> {
        match (self.defs.get_mut(name), ty) {
            (None, ty) => {
                self.defs.insert(name.to_owned(), ty);
            }
            // Bases of other params are the same type with fewer members.
            (Some(Ty::Object(old)), Ty::Object(new)) => {
                for (name, field) in new.fields {
                    old.fields.entry(name).or_insert(field);
                }
            }
            (Some(old), new) if *old == new => {}
            (Some(old), new) => bail!("{name} is {old}, and also {new}"),
        }
        Ok(())
    }

    /// An `allOf` as one object.
    fn flat(&self, ty: &Ty) -> anyhow::Result<Ty> {
        let Ty::AllOf(parts) = ty else { return Ok(ty.clone()) };
        let mut all = Object::default();
        for part in parts {
            let part = match part {
                Ty::Ref(name) => self.model.types.get(name).with_context(|| name.clone())?,
                other => other,
            };
            let Ty::Object(object) = part else { bail!("{part} in an allOf") };
            for (name, field) in &object.fields {
                // The narrower one is the later one.
                all.fields.insert(name.clone(), field.clone());
            }
            if object.rest.is_some() {
                all.rest.clone_from(&object.rest);
            }
        }
        Ok(Ty::Object(all))
    }

    /// A definition whose members are only references, lists, maps and plain types.
    fn inner(&mut self, name: &str, ty: &Ty) -> anyhow::Result<Ty> {
        Ok(match self.flat(ty)? {
            Ty::Object(object) => {
                let mut fields = BTreeMap::new();
                for (wire, field) in &object.fields {
                    let path = format!("{name}.{wire}");
                    let ty = if self.choices.field(name, wire).is_some_and(|f| !f.ty.is_empty()) {
                        field.ty.clone()
                    } else {
                        self.hoist(&path, &field.ty)?
                    };
                    fields.insert(wire.clone(), ty::Field { ty, required: field.required });
                }
                Ty::Object(Object { fields, rest: object.rest })
            }
            other => self.hoist(name, &other)?,
        })
    }

    fn hoist(&mut self, path: &str, ty: &Ty) -> anyhow::Result<Ty> {
        let ty = self.flat(ty)?;
        let named = self.choices.inline.get(path);
        Ok(match &ty {
            Ty::Array(items, max) => Ty::Array(Box::new(self.hoist(path, items)?), *max),
            Ty::Ref(name) => Ty::Ref(self.choices.name(&self.model.revision, name).to_owned()),
            Ty::AnyOf(types) => {
                let types: Vec<Ty> =
                    types.iter().map(|ty| self.hoist(path, ty)).collect::<anyhow::Result<_>>()?;
                self.named(named, Ty::AnyOf(types))?
            }
            Ty::Enum(_) => self.named(named, ty)?,
            Ty::Object(_) if named.is_some() => {
                let name = named.cloned().unwrap_or_default();
                let ty = self.inner(&name, &ty)?;
                self.named(named, ty)?
            }
            Ty::Object(object) if object.fields.is_empty() => {
                let rest = match &object.rest {
                    Some(rest) => Some(Box::new(self.hoist(path, rest)?)),
                    None => None,
                };
                Ty::Object(Object { fields: BTreeMap::new(), rest })
            }
            Ty::Object(object) if path.contains('.') => {
                // A part of an envelope: only what is inside of it may be a type.
                for (wire, field) in &object.fields {
                    let inside = format!("{path}.{wire}");
                    if self.choices.inline.contains_key(&inside) {
                        self.hoist(&inside, &field.ty)?;
                    }
                }
                ty
            }
            _ => ty,
        })
    }

    fn named(&mut self, name: Option<&String>, ty: Ty) -> anyhow::Result<Ty> {
        let Some(name) = name else { return Ok(ty) };
        self.define(name, ty)?;
        Ok(Ty::Ref(name.clone()))
    }
}

struct Merger<'a> {
    defs: &'a [Defs],
    choices: &'a Choices,
}

impl Merger<'_> {
    /// `coming`: a type that only the newest revision has.
    fn ty(&self, name: &str, coming: bool) -> anyhow::Result<Type> {
        let last = self.defs.len() - 1;
        let there: Vec<(usize, &Ty)> = self
            .defs
            .iter()
            .enumerate()
            .filter_map(|(i, defs)| defs.get(name).map(|ty| (i, ty)))
            .collect();
        let span = self.span(name, &there.iter().map(|(i, _)| *i).collect::<Vec<_>>(), last)?;
        // Shapes come from the revisions with a handshake, or from the coming one alone.
        let shaping: Vec<(usize, &Ty)> =
            there.iter().filter(|(i, _)| (*i == last) == coming).copied().collect();
        if let Some(values) = self.choices.texts.get(name) {
            let values = values.iter().map(|value| (value.clone(), span)).collect();
            let open = self.choices.open.contains_key(name);
            let values = Enum { values, open, ordered: false };
            return Ok(Type { span, body: Body::Enum(values), official: None });
        }
        let (_, newest) = *shaping.last().context("no revision has it")?;
        let body = match newest {
            // A definition that is another one has its shape.
            Ty::Ref(other) if other == "Result" => {
                Body::Struct(Struct { tag: None, fields: vec![self.meta(span)] })
            }
            Ty::Object(_) => Body::Struct(self.object(name, span, &there, &shaping)?),
            Ty::Enum(_) => Body::Enum(self.texts(name, span, &shaping)),
            Ty::AnyOf(_) => Body::Union(self.union(span, &shaping)?),
            other => bail!("{other} is no type of its own"),
        };
        Ok(Type { span, body, official: None })
    }

    fn span(&self, name: &str, there: &[usize], last: usize) -> anyhow::Result<Span> {
        let since = match self.choices.since.get(name) {
            Some(revision) => crate::schema::REVISIONS
                .iter()
                .position(|r| r == revision)
                .context("overrides.toml: [since] names no revision")?,
            None if self.choices.texts.contains_key(name) => 0,
            None => *there.first().context("no revision has it")?,
        };
        let end = there.last().copied().unwrap_or(last);
        Ok(Span { since, until: (end < last).then_some(end) })
    }

    fn meta(&self, span: Span) -> Field {
        Field {
            wire: "_meta".to_owned(),
            rust: self.choices.member("_meta"),
            ty: "Meta".to_owned(),
            presence: Presence::Optional,
            read: Read::Plain,
            span,
        }
    }

    fn object(
        &self,
        name: &str,
        span: Span,
        there: &[(usize, &Ty)],
        shaping: &[(usize, &Ty)],
    ) -> anyhow::Result<Struct> {
        let mut fields = BTreeMap::<String, (usize, Ty)>::new();
        for (revision, ty) in shaping {
            let Ty::Object(object) = ty else { continue };
            for (wire, field) in &object.fields {
                let entry = fields.entry(wire.clone()).or_insert((*revision, field.ty.clone()));
                entry.1 = field.ty.clone();
            }
        }
        // Params and results carry `_meta` in every revision, said or not.
        let always_meta = name.ends_with("Params") || name.ends_with("Result");
        if always_meta {
            fields.remove("_meta");
        }
        for (path, addition) in &self.choices.add {
            if let Some((ty, wire)) = path.split_once('.')
                && ty == name
            {
                let ty = Ty::parse(&addition.ty)?;
                fields.entry(wire.to_owned()).or_insert((span.since, ty));
            }
        }
        let mut tag = None;
        let mut out = Vec::new();
        for (wire, (since, ty)) in fields {
            if self.choices.next.envelope.contains(&wire) {
                continue;
            }
            let field_of = |ty: &&Ty| match ty {
                Ty::Object(object) => object.fields.get(&wire).cloned(),
                _ => None,
            };
            let required = there.iter().all(|(_, ty)| field_of(ty).is_some_and(|f| f.required));
            if let Ty::Const(value) = &ty {
                tag = Some(Tag { wire, value: value.clone(), required });
                continue;
            }
            let added = self.choices.add.contains_key(&format!("{name}.{wire}"));
            let end = there.iter().rev().find(|(_, ty)| field_of(ty).is_some()).map(|(i, _)| *i);
            let until = match (end, there.last()) {
                (Some(end), Some((last, _))) if end < *last && !added => Some(end),
                _ => span.until,
            };
            let choice = self.choices.field(name, &wire);
            let (rust, read, nullable) = self.rust(&ty).with_context(|| wire.clone())?;
            let (rust, read) = match choice {
                Some(choice) if choice.ty.starts_with("Vec<") => (choice.ty.clone(), Read::List),
                Some(choice) => (choice.ty.clone(), Read::Plain),
                None => (rust, read),
            };
            let presence = match (choice.and_then(|c| c.kind.as_deref()), required) {
                (Some("any"), _) => Presence::Any,
                (Some("lax"), true) => Presence::Lax,
                _ if nullable => Presence::Nullable,
                (_, true) => Presence::Required,
                (_, false) => Presence::Optional,
            };
            out.push(Field {
                rust: self.choices.member(&wire),
                ty: rust,
                presence,
                read,
                span: Span { since, until },
                wire,
            });
        }
        if always_meta {
            out.push(self.meta(span));
        }
        out.sort_by_key(|field| self.choices.rank(&field.wire, field.required()));
        Ok(Struct { tag, fields: out })
    }

    /// The Rust type, how it is read, and whether it may be `null`.
    fn rust(&self, ty: &Ty) -> anyhow::Result<(String, Read, bool)> {
        let plain = |name: &str| (name.to_owned(), Read::Plain, false);
        Ok(match ty {
            Ty::Any => plain("JsonValue"),
            Ty::Boolean => plain("bool"),
            Ty::Integer(_) => ("u64".to_owned(), Read::Int, false),
            Ty::Number(_) => ("f64".to_owned(), Read::Num, false),
            Ty::String(format) => plain(match format.as_deref() {
                Some("byte") => "Base64",
                Some("uri") => "ResourceUri",
                Some("uri-template") => "UriTemplate",
                Some(other) => bail!("format `{other}`"),
                None => "String",
            }),
            Ty::Scalars(types) if types == &["integer", "null"] => {
                ("u64".to_owned(), Read::Int, true)
            }
            Ty::Ref(name) if name.starts_with("JSON") => plain("JsonObject"),
            Ty::Ref(name) => plain(name),
            Ty::Array(items, _) => {
                let (items, read, _) = self.rust(items)?;
                if matches!(read, Read::Int | Read::Num) {
                    bail!("a list of numbers");
                }
                (format!("Vec<{items}>"), Read::List, false)
            }
            Ty::Object(object) if object.fields.is_empty() => match object.rest.as_deref() {
                None | Some(Ty::Any) => plain("JsonObject"),
                Some(Ty::Object(_) | Ty::Ref(_)) => plain("JsonObject"),
                Some(rest) => {
                    let (rest, _, _) = self.rust(rest)?;
                    plain(&format!("OrderedMap<{rest}>"))
                }
            },
            // Unused where a choice names the type; an error of the compiler where none does.
            other => plain(&format!("/* {other} */")),
        })
    }

    fn texts(&self, name: &str, span: Span, shaping: &[(usize, &Ty)]) -> Enum {
        let mut values = BTreeMap::<&String, usize>::new();
        for (revision, ty) in shaping {
            let texts = match ty {
                Ty::Enum(texts) => texts.as_slice(),
                Ty::Const(text) => std::slice::from_ref(text),
                _ => &[],
            };
            for text in texts {
                values.entry(text).or_insert(*revision);
            }
        }
        let mut values: Vec<(String, Span)> = values
            .into_iter()
            .map(|(value, since)| (value.clone(), Span { since, until: span.until }))
            .collect();
        let order = self.choices.ordered.get(name);
        if let Some(order) = order {
            values.sort_by_key(|(value, _)| order.iter().position(|known| known == value));
        }
        let open = self.choices.open.contains_key(name);
        Enum { values, open, ordered: order.is_some() }
    }

    fn union(&self, span: Span, shaping: &[(usize, &Ty)]) -> anyhow::Result<Union> {
        let mut variants: Vec<(String, Span)> = Vec::new();
        for (revision, ty) in shaping {
            let single = [(*ty).clone()];
            let types = if let Ty::AnyOf(types) = ty { types } else { &single[..] };
            for ty in types {
                let Ty::Ref(name) = ty else { bail!("{ty} in a union") };
                if !variants.iter().any(|(known, _)| known == name) {
                    let since = (*revision).max(span.since);
                    variants.push((name.clone(), Span { since, until: span.until }));
                }
            }
        }
        Ok(Union { variants })
    }
}
