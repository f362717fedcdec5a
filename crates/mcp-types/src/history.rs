//! Since and until when each type and member is there.

use crate::{generated::history::TYPES, revision::Revision};

/// When something is part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Span {
    /// The first revision that has it.
    pub since: Revision,
    /// The last one; none if the newest revision has it.
    pub until: Option<Revision>,
}

/// A type and its members.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeHistory {
    name: &'static str,
    span: Span,
    members: &'static [MemberHistory],
}

/// A member of an object, a value of an enum, a tag of a union.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberHistory {
    name: &'static str,
    span: Span,
}

impl Span {
    /// Whether `revision` has it.
    #[must_use]
    pub fn contains(self, revision: Revision) -> bool {
        self.since <= revision && self.until.is_none_or(|until| revision <= until)
    }
}

impl TypeHistory {
    pub(crate) const fn new(
        name: &'static str,
        since: Revision,
        until: Option<Revision>,
        members: &'static [MemberHistory],
    ) -> Self {
        Self { name, span: Span { since, until }, members }
    }
}

impl MemberHistory {
    pub(crate) const fn new(name: &'static str, since: Revision, until: Option<Revision>) -> Self {
        Self { name, span: Span { since, until } }
    }
}

/// When the type `name` (as it is called in Rust) is part of the protocol.
#[must_use]
pub fn type_span(name: &str) -> Option<Span> {
    find(name).map(|ty| ty.span)
}

/// When the type `name` has the member, the enum value or the tag `member` (as on the wire).
///
/// ```
/// use mcp_types::{Revision, history::member_span};
///
/// let icons = member_span("Tool", "icons").unwrap();
/// assert_eq!(icons.since, Revision::V2025_11_25);
/// ```
#[must_use]
pub fn member_span(name: &str, member: &str) -> Option<Span> {
    find(name)?.members.iter().find(|known| known.name == member).map(|known| known.span)
}

fn find(name: &str) -> Option<&'static TypeHistory> {
    let at = TYPES.binary_search_by(|ty| ty.name.cmp(name)).ok()?;
    TYPES.get(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, member: &str, since: Revision, until: Option<Revision>) {
        assert_eq!(member_span(name, member), Some(Span { since, until }), "{name}.{member}");
    }

    #[test]
    fn spans_are_those_of_the_revisions() {
        let (a, b, c, d) = (
            Revision::V2024_11_05,
            Revision::V2025_03_26,
            Revision::V2025_06_18,
            Revision::V2025_11_25,
        );
        check("Tool", "name", a, None);
        check("Tool", "annotations", b, None);
        check("Tool", "title", c, None);
        check("Tool", "_meta", c, None);
        check("Tool", "execution", d, Some(d));
        check("CallToolResult", "structuredContent", c, None);
        check("CallToolRequestParams", "_meta", a, None);
        check("Annotations", "lastModified", c, None);
        check("ContentBlock", "audio", b, None);
        check("ContentBlock", "resource_link", c, None);
        check("ClientCapabilities", "extensions", a, None);
        check("ClientCapabilities", "tasks", d, Some(d));
        check("StopReason", "toolUse", a, None);
        assert_eq!(type_span("Task"), Some(Span { since: d, until: Some(d) }));
        assert!(TYPES.is_sorted_by_key(|ty| ty.name));
        assert_eq!(type_span("Nothing"), None);
    }
}
