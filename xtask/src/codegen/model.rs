//! One model of all revisions: what the text is made from.

use std::collections::BTreeMap;

/// Every type that gets Rust, by its Rust name.
#[derive(Debug, Default)]
pub(crate) struct Types {
    /// The revisions, oldest first; the last one is the coming one.
    pub(crate) revisions: Vec<String>,
    pub(crate) types: BTreeMap<String, Type>,
}

/// One type.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) span: Span,
    pub(crate) body: Body,
    /// The official name of the definition it is documented under, if it has one.
    pub(crate) official: Option<String>,
}

/// The first revision that has it; the last one, if a later one lacks it. As indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) since: usize,
    pub(crate) until: Option<usize>,
}

/// What a type is.
#[derive(Debug)]
pub(crate) enum Body {
    Struct(Struct),
    Union(Union),
    Enum(Enum),
}

/// An object.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) tag: Option<Tag>,
    /// In the order of the wire.
    pub(crate) fields: Vec<Field>,
}

/// A member with one legal value.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) wire: String,
    pub(crate) value: String,
    pub(crate) required: bool,
}

/// A member.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) wire: String,
    pub(crate) rust: String,
    /// Without the `Option` of a member that may be absent.
    pub(crate) ty: String,
    pub(crate) presence: Presence,
    pub(crate) read: Read,
    pub(crate) span: Span,
}

/// Whether a member has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    /// Always written; when a peer leaves it out, the list is empty.
    Lax,
    Optional,
    /// May be absent, and `null` is a value.
    Any,
    /// Has to be there, and may be `null`.
    Nullable,
}

/// How a member is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Plain,
    Int,
    Num,
    List,
}

/// Objects told apart by a tag.
#[derive(Debug)]
pub(crate) struct Union {
    /// Types, with when they joined.
    pub(crate) variants: Vec<(String, Span)>,
}

/// Texts.
#[derive(Debug)]
pub(crate) struct Enum {
    pub(crate) values: Vec<(String, Span)>,
    pub(crate) open: bool,
    pub(crate) ordered: bool,
}

impl Types {
    /// The Rust path of a revision.
    pub(crate) fn revision(&self, index: usize) -> String {
        let name = self.revisions.get(index).map_or("", String::as_str);
        format!("Revision::V{}", name.replace('-', "_"))
    }

    /// The last revision with a handshake.
    pub(crate) fn last_stateful(&self) -> usize {
        self.revisions.len().saturating_sub(2)
    }
}

impl Field {
    /// The kind in the `object!` macro.
    pub(crate) fn kind(&self) -> String {
        let presence = match self.presence {
            Presence::Required => "req",
            Presence::Lax => "lax",
            Presence::Optional => "opt",
            Presence::Any => "any",
            Presence::Nullable => "nul",
        };
        let read = match self.read {
            Read::Plain => "",
            Read::Int => "_int",
            Read::Num => "_num",
            Read::List => "_list",
        };
        format!("{presence}{read}")
    }

    /// The type of the Rust field.
    pub(crate) fn rust_type(&self) -> String {
        match self.presence {
            Presence::Required | Presence::Lax => self.ty.clone(),
            _ => format!("Option<{}>", self.ty),
        }
    }

    /// The named type inside of lists and maps.
    pub(crate) fn base(&self) -> &str {
        let inner = self.ty.rsplit('<').next().unwrap_or(&self.ty);
        inner.trim_end_matches('>')
    }

    pub(crate) fn required(&self) -> bool {
        matches!(self.presence, Presence::Required | Presence::Lax | Presence::Nullable)
    }
}
