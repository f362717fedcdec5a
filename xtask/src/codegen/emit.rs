//! Types → Rust text. rustfmt does the layout.

use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
};

use anyhow::Context as _;

use super::{
    choices::{Choices, pascal_case},
    model::{Body, Enum, Field, Presence, Span, Struct, Type, Types, Union},
    wording::{ABOUT, User},
};

const SPECIFICATION: &str = "https://modelcontextprotocol.io/specification";

/// The types of one area.
pub(crate) fn area(
    area: &str,
    types: &Types,
    choices: &Choices,
    wording: &mut User<'_>,
) -> anyhow::Result<String> {
    let names = choices.area.get(area).context("no such area")?;
    let mut out = format!("//! {}\n\n", wording.get("area", area));
    out.push_str("use crate::prelude::*;\n");
    all(names, types, choices, wording, &mut out)?;
    Ok(out)
}

/// The types that only the coming revision has.
pub(crate) fn next(
    types: &Types,
    choices: &Choices,
    wording: &mut User<'_>,
) -> anyhow::Result<String> {
    let mut out = format!("//! {}\n\n", wording.get("area", "next"));
    out.push_str("use crate::prelude::*;\n");
    all(&choices.next.types, types, choices, wording, &mut out)?;
    Ok(out)
}

fn all(
    names: &[String],
    types: &Types,
    choices: &Choices,
    wording: &mut User<'_>,
    out: &mut String,
) -> anyhow::Result<()> {
    let mut emitter = Emitter { types, choices, wording, out, silent: silent(types, choices) };
    for name in names {
        let ty = types.types.get(name).with_context(|| format!("no type {name}"))?;
        match &ty.body {
            Body::Struct(body) => emitter.object(name, ty, body)?,
            Body::Union(body) => emitter.union(name, ty, body)?,
            Body::Enum(body) => emitter.texts(name, ty, body)?,
        }
    }
    Ok(())
}

/// Types on which `project` has nothing to do, not even inside of them.
fn silent(types: &Types, choices: &Choices) -> BTreeSet<String> {
    let mut silent: BTreeSet<String> = types.types.keys().cloned().collect();
    let speaks = |name: &str, silent: &BTreeSet<String>| match choices.hand.get(name) {
        Some(hand) => hand.projects,
        None => types.types.contains_key(name) && !silent.contains(name),
    };
    loop {
        let before = silent.len();
        for (name, ty) in &types.types {
            let work = choices.project.contains_key(name)
                || match &ty.body {
                    Body::Struct(body) => body
                        .fields
                        .iter()
                        .any(|field| dropped(field, ty).is_some() || speaks(field.base(), &silent)),
                    Body::Union(body) => {
                        body.variants.iter().any(|(variant, _)| speaks(variant, &silent))
                    }
                    Body::Enum(_) => false,
                };
            if work {
                silent.remove(name);
            }
        }
        if silent.len() == before {
            return silent;
        }
    }
}

/// When an optional member has to go: before its first revision, after its last.
fn dropped(field: &Field, ty: &Type) -> Option<Span> {
    if field.required() {
        return None;
    }
    let since = if field.span.since > ty.span.since { field.span.since } else { 0 };
    let until = if field.span.until == ty.span.until { None } else { field.span.until };
    (since > 0 || until.is_some()).then_some(Span { since, until })
}

struct Emitter<'a, 'w> {
    types: &'a Types,
    choices: &'a Choices,
    wording: &'a mut User<'w>,
    out: &'a mut String,
    silent: BTreeSet<String>,
}

impl Emitter<'_, '_> {
    fn object(&mut self, name: &str, ty: &Type, body: &Struct) -> fmt::Result {
        let about = self.about(name, ty);
        let default = if body.fields.iter().any(Field::required) { "" } else { "Default, " };
        write!(
            self.out,
            "\n{about}#[derive(Clone, Debug, {default}PartialEq)]\n\
             #[non_exhaustive]\npub struct {name} {{\n"
        )?;
        for field in &body.fields {
            let words = self.wording.get(name, &field.wire);
            let words = doc(&words, &self.when(field.span, ty.span));
            writeln!(self.out, "{words}pub {}: {},", field.rust, field.rust_type())?;
        }
        writeln!(
            self.out,
            "/// Members that this crate doesn't know, kept as they came.\npub extra: Extra,\n}}"
        )?;
        self.constructors(name, body)?;
        self.wire(name, body)?;
        self.project_object(name, ty, body)?;
        if let Some(other) = self.choices.repeats.get(name) {
            self.repeats(name, body, other)?;
        }
        Ok(())
    }

    fn constructors(&mut self, name: &str, body: &Struct) -> fmt::Result {
        let (mut args, mut inits) = (String::new(), String::new());
        for field in &body.fields {
            let rust = &field.rust;
            if field.required() {
                let whole = field.rust_type();
                if matches!(whole.as_str(), "bool" | "u64" | "f64")
                    || field.presence == Presence::Nullable
                    || self.is_enum(&whole)
                {
                    write!(args, "{rust}: {whole}, ")?;
                    write!(inits, "{rust}, ")?;
                } else {
                    write!(args, "{rust}: impl Into<{whole}>, ")?;
                    write!(inits, "{rust}: {rust}.into(), ")?;
                }
            } else {
                write!(inits, "{rust}: None, ")?;
            }
        }
        let what = match args.is_empty() {
            true => "Makes one that says nothing yet.",
            false => "Makes one of what it must have.",
        };
        write!(
            self.out,
            "\nimpl {name} {{\n/// {what}\n#[must_use]\n\
             pub fn new({args}) -> Self {{ Self {{ {inits} extra: Extra::default() }} }}\n"
        )?;
        for field in body.fields.iter().filter(|field| !field.required()) {
            let (rust, ty) = (&field.rust, &field.ty);
            let plain = matches!(ty.as_str(), "bool" | "u64" | "f64") || self.is_enum(ty);
            let (arg, value) = match plain {
                true => (ty.clone(), rust.clone()),
                false => (format!("impl Into<{ty}>"), format!("{rust}.into()")),
            };
            write!(
                self.out,
                "\n/// Sets [`{rust}`](Self::{rust}).\n#[must_use]\n\
                 pub fn with_{rust}(mut self, {rust}: {arg}) -> Self {{\n\
                 self.{rust} = Some({value});\nself\n}}\n"
            )?;
        }
        writeln!(self.out, "}}")
    }

    fn is_enum(&self, name: &str) -> bool {
        self.types.types.get(name).is_some_and(|ty| matches!(ty.body, Body::Enum(_)))
    }

    fn wire(&mut self, name: &str, body: &Struct) -> fmt::Result {
        let tag = match &body.tag {
            Some(tag) => {
                let absent = if tag.required { "" } else { " or absent" };
                format!("{:?} is {:?}{absent}", tag.wire, tag.value)
            }
            None => String::new(),
        };
        // rustfmt leaves macro calls alone, so this is laid out here.
        let open = if tag.is_empty() { "{}".to_owned() } else { format!("{{ {tag} }}") };
        write!(self.out, "\nobject! {{\n    {name} {open}\n")?;
        for (number, field) in body.fields.iter().enumerate() {
            writeln!(self.out, "    {number} {} {} {:?}", field.kind(), field.rust, field.wire)?;
        }
        writeln!(self.out, "}}")
    }

    fn project_object(&mut self, name: &str, ty: &Type, body: &Struct) -> fmt::Result {
        let by_hand = self.choices.project.contains_key(name);
        if self.silent.contains(name) {
            return writeln!(
                self.out,
                "\nimpl Project for {name} {{\nfn project(&mut self, _to: Revision) {{}}\n}}"
            );
        }
        let (mut steps, mut fits) = (String::new(), String::new());
        if by_hand {
            steps.push_str("self.project_by_hand(to);\n");
            fits.push_str("self.fits_by_hand(to)?;\n");
        }
        let mut bounds: Vec<(String, Vec<&str>)> = Vec::new();
        for field in &body.fields {
            let Some(span) = dropped(field, ty) else { continue };
            let mut conditions = Vec::new();
            if span.since > 0 {
                conditions.push(format!("to < {}", self.types.revision(span.since)));
            }
            if let Some(until) = span.until {
                conditions.push(format!("to > {}", self.types.revision(until)));
            }
            let condition = match span.until {
                Some(until) if until == span.since => {
                    format!("to != {}", self.types.revision(until))
                }
                _ => conditions.join(" || "),
            };
            match bounds.iter_mut().find(|(known, _)| *known == condition) {
                Some((_, fields)) => fields.push(&field.rust),
                None => bounds.push((condition, vec![&field.rust])),
            }
        }
        for (condition, fields) in &bounds {
            writeln!(steps, "if {condition} {{")?;
            for field in fields {
                writeln!(steps, "self.{field} = None;")?;
            }
            writeln!(steps, "}}")?;
        }
        for field in &body.fields {
            if self.speaks(field.base()) {
                writeln!(steps, "self.{}.project(to);", field.rust)?;
                writeln!(fits, "self.{}.fits(to)?;", field.rust)?;
            }
        }
        self.project(name, &steps, &fits)
    }

    fn speaks(&self, name: &str) -> bool {
        match self.choices.hand.get(name) {
            Some(hand) => hand.projects,
            None => self.types.types.contains_key(name) && !self.silent.contains(name),
        }
    }

    fn project(&mut self, name: &str, steps: &str, fits: &str) -> fmt::Result {
        write!(
            self.out,
            "\nimpl Project for {name} {{\nfn project(&mut self, to: Revision) {{\n{steps}}}\n"
        )?;
        if !fits.is_empty() {
            write!(
                self.out,
                "\nfn fits(&self, to: Revision) -> Result<(), DoesNotFit> {{\n{fits}Ok(())\n}}\n"
            )?;
        }
        writeln!(self.out, "}}")
    }

    fn repeats(&mut self, name: &str, body: &Struct, other: &str) -> fmt::Result {
        let Some(Body::Struct(inner)) = self.types.types.get(other).map(|ty| &ty.body) else {
            return Ok(());
        };
        let (mut from, mut into) = (String::new(), String::new());
        for field in &body.fields {
            if inner.fields.iter().any(|known| known.rust == field.rust) {
                write!(from, "{0}: value.{0}, ", field.rust)?;
                write!(into, "{0}: value.{0}, ", field.rust)?;
            } else {
                write!(from, "{}: None, ", field.rust)?;
            }
        }
        write!(
            self.out,
            "\nimpl From<{other}> for {name} {{\nfn from(value: {other}) -> Self {{\n\
             Self {{ {from} extra: value.extra }}\n}}\n}}\n\
             \n/// What isn't part of the [`{other}`] is left behind.\n\
             impl From<{name}> for {other} {{\nfn from(value: {name}) -> Self {{\n\
             Self {{ {into} extra: value.extra }}\n}}\n}}\n"
        )
    }

    fn union(&mut self, name: &str, ty: &Type, body: &Union) -> anyhow::Result<()> {
        let choice = self.choices.union.get(name).context("overrides.toml: not in [union]")?;
        let about = self.about(name, ty);
        write!(
            self.out,
            "\n{about}#[derive(Clone, Debug, PartialEq)]\n#[non_exhaustive]\npub enum {name} {{\n"
        )?;
        let mut arms = String::new();
        let mut steps = String::new();
        let mut fits = String::new();
        for (inner, span) in &body.variants {
            let variant = self.choices.variant(inner)?;
            let Some(Body::Struct(inside)) = self.types.types.get(inner).map(|ty| &ty.body) else {
                anyhow::bail!("{inner} is no object");
            };
            let tag = inside.tag.as_ref().with_context(|| format!("{inner} has no tag"))?;
            let words = self.wording.get(name, &tag.value);
            let words = doc(&words, &self.when(*span, ty.span));
            writeln!(self.out, "{words}{variant}({inner}),")?;
            writeln!(arms, "        {:?} {variant}({inner})", tag.value)?;
            if self.speaks(inner) {
                writeln!(steps, "Self::{variant}(value) => value.project(to),")?;
                writeln!(fits, "Self::{variant}(value) => value.fits(to),")?;
            } else {
                writeln!(steps, "Self::{variant}(_) => {{}}")?;
                writeln!(fits, "Self::{variant}(_) => Ok(()),")?;
            }
        }
        let mut otherwise = String::new();
        if let Some(rest) = &choice.rest {
            let words = doc(&self.wording.get(name, rest), "");
            writeln!(self.out, "{words}{rest}(UnknownContent),")?;
            writeln!(steps, "Self::{rest}(_) => {{}}")?;
            writeln!(fits, "Self::{rest}(_) => Ok(()),")?;
            write!(otherwise, ", rest {rest}")?;
        }
        if let Some(bare) = &choice.bare {
            write!(otherwise, ", bare {bare}")?;
        }
        write!(
            self.out,
            "}}\n\nunion! {{\n    {name} by {:?}{otherwise} {{\n{arms}    }}\n}}\n",
            choice.tag
        )?;
        if self.silent.contains(name) {
            write!(
                self.out,
                "\nimpl Project for {name} {{\nfn project(&mut self, _to: Revision) {{}}\n}}\n"
            )?;
            return Ok(());
        }
        let by_hand = self.choices.project.contains_key(name);
        let (first, second) = match by_hand {
            true => ("self.project_by_hand(to);\n", "self.fits_by_hand(to)?;\n"),
            false => ("", ""),
        };
        write!(
            self.out,
            "\nimpl Project for {name} {{\nfn project(&mut self, to: Revision) {{\n{first}\
             match self {{\n{steps}}}\n}}\n\
             \nfn fits(&self, to: Revision) -> Result<(), DoesNotFit> {{\n{second}\
             match self {{\n{fits}}}\n}}\n}}\n"
        )?;
        Ok(())
    }

    fn texts(&mut self, name: &str, ty: &Type, body: &Enum) -> fmt::Result {
        let about = self.about(name, ty);
        let (derive, open) = match (body.open, body.ordered) {
            (true, _) => ("Clone, Debug, PartialEq, Eq, Hash", " or Other"),
            (false, false) => ("Clone, Copy, Debug, PartialEq, Eq, Hash", ""),
            (false, true) => ("Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash", ""),
        };
        write!(self.out, "\n{about}#[derive({derive})]\n#[non_exhaustive]\npub enum {name} {{\n")?;
        let mut arms = String::new();
        for (value, span) in &body.values {
            let words = self.wording.get(name, value);
            let words = doc(&words, &self.when(*span, ty.span));
            let variant = pascal_case(value);
            writeln!(self.out, "{words}{variant},")?;
            writeln!(arms, "    {variant} {value:?}")?;
        }
        if body.open {
            writeln!(self.out, "/// A text that this crate doesn't know.\nOther(String),")?;
        }
        writeln!(self.out, "}}\n\ntexts! {{\n    {name}{open},\n{arms}}}")
    }

    fn about(&mut self, name: &str, ty: &Type) -> String {
        let mut words = self.wording.get(name, ABOUT);
        if let Some(official) = &ty.official {
            let revision = match ty.span.until {
                None if ty.span.since <= self.types.last_stateful() => self.types.last_stateful(),
                None => ty.span.since,
                Some(until) => until,
            };
            let revision = self.types.revisions.get(revision).map_or("", String::as_str);
            let anchor = official.to_ascii_lowercase();
            let _ = write!(
                words,
                "\n\nSpecification: [{official}]({SPECIFICATION}/{revision}/schema#{anchor})."
            );
        }
        let whole = Span { since: 0, until: None };
        doc(&words, &self.when(ty.span, whole))
    }

    /// Since and until when, as far as they are narrower than `outer`.
    fn when(&self, span: Span, outer: Span) -> String {
        let name = |index: usize| self.types.revisions.get(index).map_or("", String::as_str);
        let since = (span.since > outer.since).then(|| name(span.since));
        let until = span.until.filter(|_| span.until != outer.until).map(name);
        match (since, until) {
            (Some(since), Some(until)) if since == until => format!("Only in {since}."),
            (Some(since), Some(until)) => format!("From {since} to {until}."),
            (Some(since), None) => format!("Since {since}."),
            (None, Some(until)) => format!("Until {until}."),
            (None, None) => String::new(),
        }
    }
}

/// Since and until when each type and member is there, as a table.
pub(crate) fn history(types: &Types) -> String {
    let mut out = "//! Since and until when each type and member is there.\n\n\
        use crate::{history::{MemberHistory, TypeHistory}, revision::Revision};\n\n\
        /// Sorted by name.\npub(crate) static TYPES: &[TypeHistory] = &[\n"
        .to_owned();
    for (name, ty) in &types.types {
        let members: Vec<(&str, Span)> = match &ty.body {
            Body::Struct(body) => {
                body.fields.iter().map(|field| (field.wire.as_str(), field.span)).collect()
            }
            Body::Enum(body) => {
                body.values.iter().map(|(value, span)| (value.as_str(), *span)).collect()
            }
            Body::Union(body) => body
                .variants
                .iter()
                .filter_map(|(inner, span)| match types.types.get(inner).map(|ty| &ty.body) {
                    Some(Body::Struct(Struct { tag: Some(tag), .. })) => {
                        Some((tag.value.as_str(), *span))
                    }
                    _ => None,
                })
                .collect(),
        };
        let span = |span: Span| {
            let until = match span.until {
                Some(until) => format!("Some({})", types.revision(until)),
                None => "None".to_owned(),
            };
            format!("{}, {until}", types.revision(span.since))
        };
        let members: String = members
            .iter()
            .map(|(name, when)| format!("MemberHistory::new({name:?}, {}), ", span(*when)))
            .collect();
        let _ = writeln!(out, "TypeHistory::new({name:?}, {}, &[{members}]),", span(ty.span));
    }
    out.push_str("];\n");
    out
}

/// Words as a doc comment.
pub(crate) fn doc(words: &str, when: &str) -> String {
    let words = match when {
        "" => words.to_owned(),
        when => format!("{words}\n\n{when}"),
    };
    words
        .lines()
        .flat_map(|line| wrap(line, 96))
        .map(|line| if line.is_empty() { "///\n".to_owned() } else { format!("/// {line}\n") })
        .collect()
}

/// Breaks a line at spaces.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in line.split(' ') {
        let last = lines.last_mut().map_or(0, |line| line.len());
        if last > 0 && last + 1 + word.len() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
