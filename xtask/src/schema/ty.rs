//! One JSON Schema type as a value, and as a line of the model.
//!
//! The line form: `string`, `string:uri`, `integer`, `number(0..1)`, `boolean`, `any`,
//! `string/integer/null`, `'a' | 'b'` (an enum), `=-32042`, `Name`, `[T]`, `[T; ..100]`,
//! `{name: T, other?: T, ..any}`, `A | B`, `A & B`.

use std::{collections::BTreeMap, fmt};

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ty {
    /// Anything at all: `{}`.
    Any,
    Boolean,
    /// With its `format`, if any.
    String(Option<String>),
    /// With `minimum` and `maximum`.
    Integer(Range),
    /// With `minimum` and `maximum`.
    Number(Range),
    /// Exactly this string.
    Const(String),
    /// Exactly this number.
    ConstInt(i64),
    /// One of these strings, sorted.
    Enum(Vec<String>),
    /// One of these primitive types: `"type": [..]`.
    Scalars(Vec<String>),
    /// A definition.
    Ref(String),
    /// With `maxItems`.
    Array(Box<Self>, Option<u64>),
    Object(Object),
    AnyOf(Vec<Self>),
    AllOf(Vec<Self>),
}

/// Bounds of a number, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
}

/// An object type.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Object {
    pub(crate) fields: BTreeMap<String, Field>,
    /// The type of members that are not listed: none = the schema doesn't say.
    pub(crate) rest: Option<Box<Ty>>,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Field {
    pub(crate) ty: Ty,
    pub(crate) required: bool,
}

impl Ty {
    /// Reads the line form.
    pub(crate) fn parse(line: &str) -> Result<Self, SyntaxError> {
        let mut parser = Parser { line, at: 0 };
        let ty = parser.union()?;
        parser.skip();
        if parser.at < line.len() { Err(parser.error("the end")) } else { Ok(ty) }
    }

    /// The same type with alternatives in one order, so that order makes no difference.
    pub(crate) fn sorted(&self) -> Self {
        let sorted = |types: &[Self]| {
            let mut types: Vec<Self> = types.iter().map(Self::sorted).collect();
            types.sort();
            types
        };
        match self {
            Self::AnyOf(types) => Self::AnyOf(sorted(types)),
            Self::AllOf(types) => Self::AllOf(sorted(types)),
            Self::Scalars(types) => {
                let mut types = types.clone();
                types.sort();
                Self::Scalars(types)
            }
            Self::Array(items, max) => Self::Array(Box::new(items.sorted()), *max),
            Self::Object(object) => Self::Object(Object {
                fields: object
                    .fields
                    .iter()
                    .map(|(name, field)| {
                        let field = Field { ty: field.ty.sorted(), required: field.required };
                        (name.clone(), field)
                    })
                    .collect(),
                rest: object.rest.as_ref().map(|rest| Box::new(rest.sorted())),
            }),
            other => other.clone(),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return Ok(());
        }
        f.write_str("(")?;
        if let Some(min) = self.min {
            write!(f, "{min}")?;
        }
        f.write_str("..")?;
        if let Some(max) = self.max {
            write!(f, "{max}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Boolean => f.write_str("boolean"),
            Self::String(None) => f.write_str("string"),
            Self::String(Some(format)) => write!(f, "string:{format}"),
            Self::Integer(range) => write!(f, "integer{range}"),
            Self::Number(range) => write!(f, "number{range}"),
            Self::Const(text) => write!(f, "'{text}'"),
            Self::ConstInt(value) => write!(f, "={value}"),
            Self::Enum(values) => {
                let quoted: Vec<String> = values.iter().map(|v| format!("'{v}'")).collect();
                f.write_str(&quoted.join(" | "))
            }
            Self::Scalars(types) => f.write_str(&types.join("/")),
            Self::Ref(name) => f.write_str(name),
            Self::Array(items, None) => write!(f, "[{items}]"),
            Self::Array(items, Some(max)) => write!(f, "[{items}; ..{max}]"),
            Self::Object(object) => object.fmt(f),
            Self::AnyOf(types) => join(types, " | ", f),
            Self::AllOf(types) => join(types, " & ", f),
        }
    }
}

fn join(types: &[Ty], by: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, ty) in types.iter().enumerate() {
        if i > 0 {
            f.write_str(by)?;
        }
        match ty {
            Ty::AnyOf(_) | Ty::AllOf(_) | Ty::Enum(_) => write!(f, "({ty})")?,
            _ => write!(f, "{ty}")?,
        }
    }
    Ok(())
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self
            .fields
            .iter()
            .map(|(name, field)| {
                let mark = if field.required { "" } else { "?" };
                if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                    format!("{name}{mark}: {}", field.ty)
                } else {
                    format!("'{name}'{mark}: {}", field.ty)
                }
            })
            .collect();
        if let Some(rest) = &self.rest {
            parts.push(format!("..{rest}"));
        }
        write!(f, "{{{}}}", parts.join(", "))
    }
}

/// A line of the model that can't be read.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    line: String,
    at: usize,
    wanted: &'static str,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wanted {} at byte {} of `{}`", self.wanted, self.at, self.line)
    }
}

impl std::error::Error for SyntaxError {}

struct Parser<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn union(&mut self) -> Result<Ty, SyntaxError> {
        let first = self.item()?;
        for (mark, make) in [("|", Ty::AnyOf as fn(Vec<Ty>) -> Ty), ("&", Ty::AllOf)] {
            if !self.peek(mark) {
                continue;
            }
            let mut types = vec![first];
            while self.eat(mark) {
                types.push(self.item()?);
            }
            // A union of strings is an enum.
            let texts: Option<Vec<String>> = types
                .iter()
                .map(|ty| if let Ty::Const(text) = ty { Some(text.clone()) } else { None })
                .collect();
            return Ok(match texts {
                Some(texts) if mark == "|" => Ty::Enum(texts),
                _ => make(types),
            });
        }
        Ok(first)
    }

    fn item(&mut self) -> Result<Ty, SyntaxError> {
        self.skip();
        if self.eat("(") {
            let ty = self.union()?;
            self.need(")", "`)`")?;
            return Ok(ty);
        }
        if self.eat("[") {
            let items = Box::new(self.union()?);
            let max = if self.eat(";") {
                self.need("..", "`..`")?;
                let word = self.word();
                Some(word.parse().map_err(|_| self.error("a number"))?)
            } else {
                None
            };
            self.need("]", "`]`")?;
            return Ok(Ty::Array(items, max));
        }
        if self.eat("{") {
            return self.object();
        }
        if self.peek("'") {
            return Ok(Ty::Const(self.quoted()?));
        }
        if self.eat("=") {
            return Ok(Ty::ConstInt(self.int()?.ok_or_else(|| self.error("a number"))?));
        }
        let word = self.word();
        Ok(match word {
            "" => return Err(self.error("a type")),
            "any" => Ty::Any,
            name if name.starts_with(char::is_uppercase) => Ty::Ref(name.to_owned()),
            "string" if self.eat(":") => Ty::String(Some(self.word().to_owned())),
            first if self.line[self.at..].starts_with('/') => {
                let mut types = vec![first.to_owned()];
                while self.eat("/") {
                    types.push(self.word().to_owned());
                }
                Ty::Scalars(types)
            }
            "string" => Ty::String(None),
            "boolean" => Ty::Boolean,
            "integer" => Ty::Integer(self.range()?),
            "number" => Ty::Number(self.range()?),
            _ => return Err(self.error("a type")),
        })
    }

    fn object(&mut self) -> Result<Ty, SyntaxError> {
        let mut object = Object::default();
        loop {
            if self.eat("}") {
                return Ok(Ty::Object(object));
            }
            if self.eat("..") {
                object.rest = Some(Box::new(self.union()?));
            } else {
                self.skip();
                let name = if self.peek("'") { self.quoted()? } else { self.word().to_owned() };
                let required = !self.eat("?");
                self.need(":", "`:`")?;
                let ty = self.union()?;
                object.fields.insert(name, Field { ty, required });
            }
            if !self.eat(",") && !self.peek("}") {
                return Err(self.error("`,` or `}`"));
            }
        }
    }

    fn range(&mut self) -> Result<Range, SyntaxError> {
        if !self.eat("(") {
            return Ok(Range::default());
        }
        let min = self.int()?;
        self.need("..", "`..`")?;
        let max = self.int()?;
        self.need(")", "`)`")?;
        Ok(Range { min, max })
    }

    fn int(&mut self) -> Result<Option<i64>, SyntaxError> {
        self.skip();
        let rest = &self.line[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        if end == 0 {
            return Ok(None);
        }
        let value = rest[..end].parse().map_err(|_| self.error("a number"))?;
        self.at += end;
        Ok(Some(value))
    }

    fn quoted(&mut self) -> Result<String, SyntaxError> {
        self.need("'", "`'`")?;
        let end = self.line[self.at..].find('\'').ok_or_else(|| self.error("`'`"))?;
        let text = self.line[self.at..self.at + end].to_owned();
        self.at += end + 1;
        Ok(text)
    }

    fn word(&mut self) -> &'a str {
        self.skip();
        let rest = &self.line[self.at..];
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn skip(&mut self) {
        let rest = &self.line[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self, mark: &str) -> bool {
        self.skip();
        self.line[self.at..].starts_with(mark)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.peek(mark);
        if found {
            self.at += mark.len();
        }
        found
    }

    fn need(&mut self, mark: &str, wanted: &'static str) -> Result<(), SyntaxError> {
        if self.eat(mark) { Ok(()) } else { Err(self.error(wanted)) }
    }

    fn error(&self, wanted: &'static str) -> SyntaxError {
        SyntaxError { line: self.line.to_owned(), at: self.at, wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        for line in [
            "any",
            "string:uri-template",
            "integer(0..)",
            "number(0..1)",
            "string/integer/null",
            "'a' | 'b'",
            "=-32042",
            "[Role]",
            "[string; ..100]",
            "[A | [B]]",
            "A & B",
            "{'$schema'?: string, type: 'object', ..any}",
            "{a: {b?: ('x' | 'y') | Z}}",
            "{}",
        ] {
            assert_eq!(Ty::parse(line).unwrap().to_string(), line);
        }
    }

    #[test]
    fn a_bad_line_is_refused_with_its_place() {
        for line in ["", "[A", "{a}", "strin", "A |", "{a: string b: string}", "A B"] {
            let error = Ty::parse(line).unwrap_err().to_string();
            assert!(error.contains("at byte"), "{line}: {error}");
        }
    }
}
