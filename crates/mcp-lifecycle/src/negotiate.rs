//! Which revision two peers speak: pure functions over sets.

use std::fmt;

use mcp_types::{Era, Revision};

/// A set of revisions that one side speaks.
///
/// ```
/// use mcp_lifecycle::RevisionSet;
/// use mcp_types::Revision;
///
/// let set = RevisionSet::STATEFUL.without(Revision::V2024_11_05);
/// assert!(!set.contains(Revision::V2024_11_05));
/// assert_eq!(set.latest_stateful(), Some(Revision::V2025_11_25));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RevisionSet(u8);

impl RevisionSet {
    /// No revision at all.
    pub const EMPTY: Self = Self(0);

    /// Every revision with a handshake: what both sides speak by default.
    pub const STATEFUL: Self = {
        let mut set = Self::EMPTY;
        let mut rest: &[Revision] = &Revision::STATEFUL;
        while let [first, others @ ..] = rest {
            set = set.with(*first);
            rest = others;
        }
        set
    };

    /// A set of one.
    #[must_use]
    pub const fn only(revision: Revision) -> Self {
        Self::EMPTY.with(revision)
    }

    /// The set with `revision`.
    #[must_use]
    pub const fn with(self, revision: Revision) -> Self {
        Self(self.0 | 1 << revision as u8)
    }

    /// The set without `revision`.
    #[must_use]
    pub const fn without(self, revision: Revision) -> Self {
        Self(self.0 & !(1 << revision as u8))
    }

    /// Whether `revision` is a member.
    #[must_use]
    pub const fn contains(self, revision: Revision) -> bool {
        self.0 & 1 << revision as u8 != 0
    }

    /// Whether there is no member.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, newest first.
    pub fn iter(self) -> impl Iterator<Item = Revision> {
        Revision::ALL.into_iter().rev().filter(move |revision| self.contains(*revision))
    }

    /// The newest member with a handshake.
    #[must_use]
    pub fn latest_stateful(self) -> Option<Revision> {
        self.iter().find(|revision| revision.era() == Era::Stateful)
    }

    /// The members as they stand on the wire, newest first.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(Revision::as_str).collect()
    }
}

impl Default for RevisionSet {
    fn default() -> Self {
        Self::STATEFUL
    }
}

impl FromIterator<Revision> for RevisionSet {
    fn from_iter<I: IntoIterator<Item = Revision>>(revisions: I) -> Self {
        revisions.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl From<Revision> for RevisionSet {
    fn from(revision: Revision) -> Self {
        Self::only(revision)
    }
}

impl fmt::Debug for RevisionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// The server's answer to a client that asks for `requested` in `initialize`: that revision if
/// it is served and has a handshake, else the newest that does. `None` when none of `served`
/// has a handshake.
///
/// A text is looked up in the set and never compared: `2099-01-01` is no later than anything.
///
/// Specification: [version negotiation](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation).
#[must_use]
pub fn negotiate(requested: &str, served: RevisionSet) -> Option<Revision> {
    requested
        .parse()
        .ok()
        .filter(|revision: &Revision| revision.era() == Era::Stateful && served.contains(*revision))
        .or_else(|| served.latest_stateful())
}

/// The revision that a client which speaks `spoken` asks for in `initialize`: its newest with a
/// handshake. `None` when it has none.
///
/// Specification: [version negotiation](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation).
#[must_use]
pub fn offer(spoken: RevisionSet) -> Option<Revision> {
    spoken.latest_stateful()
}

/// The revision that the server's answer settles, for a client that speaks `spoken`. `None`
/// when it doesn't speak it: then it has to disconnect.
///
/// Specification: [version negotiation](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation).
#[must_use]
pub fn settle(answered: &str, spoken: RevisionSet) -> Option<Revision> {
    answered
        .parse()
        .ok()
        .filter(|revision: &Revision| revision.era() == Era::Stateful && spoken.contains(*revision))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: LIFE-014
    #[test]
    fn a_served_revision_is_echoed() {
        for revision in Revision::STATEFUL {
            assert_eq!(negotiate(revision.as_str(), RevisionSet::STATEFUL), Some(revision));
        }
    }

    // Shows: LIFE-015, LIFE-016, FC-021
    #[test]
    fn what_is_not_served_is_answered_with_the_newest() {
        for requested in ["1999-01-01", "2026-01-01", "2099-01-01", "draft", "", "2026-07-28"] {
            assert_eq!(
                negotiate(requested, RevisionSet::STATEFUL),
                Some(Revision::V2025_11_25),
                "{requested}"
            );
        }
        let old = RevisionSet::from_iter([Revision::V2024_11_05, Revision::V2025_03_26]);
        assert_eq!(negotiate("2025-11-25", old), Some(Revision::V2025_03_26));
    }

    #[test]
    fn without_a_handshake_there_is_nothing_to_agree_on() {
        let stateless = RevisionSet::only(Revision::V2026_07_28);
        assert_eq!(negotiate("2026-07-28", stateless), None);
        assert_eq!(offer(stateless), None);
        assert_eq!(settle("2026-07-28", stateless), None);
    }

    // Shows: LIFE-012, LIFE-013
    #[test]
    fn a_client_asks_for_its_newest() {
        assert_eq!(offer(RevisionSet::default()), Some(Revision::V2025_11_25));
        let mixed = RevisionSet::from_iter([Revision::V2026_07_28, Revision::V2025_06_18]);
        assert_eq!(offer(mixed), Some(Revision::V2025_06_18));
        for bits in 0..32u8 {
            let set = RevisionSet(bits);
            assert!(offer(set).is_none_or(|revision| set.contains(revision)));
        }
    }

    // Shows: LIFE-018
    #[test]
    fn a_client_settles_only_on_what_it_speaks() {
        let set = RevisionSet::STATEFUL.without(Revision::V2024_11_05);
        assert_eq!(settle("2025-03-26", set), Some(Revision::V2025_03_26));
        for answered in ["2024-11-05", "2020-01-01", "2026-07-28", ""] {
            assert_eq!(settle(answered, set), None, "{answered}");
        }
    }

    #[test]
    fn a_set_prints_newest_first() {
        let set = RevisionSet::from_iter([Revision::V2024_11_05, Revision::V2025_11_25]);
        assert_eq!(format!("{set:?}"), r#"{"2025-11-25", "2024-11-05"}"#);
        assert_eq!(RevisionSet::EMPTY.iter().count(), 0);
        assert!(RevisionSet::EMPTY.is_empty());
    }
}
