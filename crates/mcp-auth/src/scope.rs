use std::fmt;

/// How many scopes a set holds at most; more are dropped.
const MAX_SCOPES: usize = 200;

/// Scopes in the order in which they were first seen, each once.
///
/// Only names that fit the grammar of
/// [RFC 6749, section 3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3) get in, and at
/// most 200 of them.
#[derive(Clone, Debug, Default, Eq)]
pub struct ScopeSet(Vec<Box<str>>);

impl ScopeSet {
    /// An empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Reads scopes that are separated by blanks. A comma is part of a name. What doesn't fit
    /// the grammar is left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        text.split([' ', '\t']).collect()
    }

    /// Adds a scope, if its name is one and it isn't there yet.
    pub fn insert(&mut self, scope: &str) {
        if is_scope(scope) && !self.contains(scope) && self.0.len() < MAX_SCOPES {
            self.0.push(scope.into());
        }
    }

    /// This set, then what `other` has beyond it.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).collect()
    }

    /// What this set has and `other` lacks.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.iter().filter(|scope| !other.contains(scope)).collect()
    }

    /// What both have, in this set's order.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.iter().filter(|scope| other.contains(scope)).collect()
    }

    /// Whether `scope` is in the set.
    #[must_use]
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|known| &**known == scope)
    }

    /// Whether all of `other` is in the set.
    #[must_use]
    pub fn contains_all(&self, other: &Self) -> bool {
        other.iter().all(|scope| self.contains(scope))
    }

    /// Whether there are no scopes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|scope| &**scope)
    }
}

/// Sets are equal when they hold the same scopes; order makes no difference.
impl PartialEq for ScopeSet {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.contains_all(other)
    }
}

impl<'s> FromIterator<&'s str> for ScopeSet {
    fn from_iter<I: IntoIterator<Item = &'s str>>(scopes: I) -> Self {
        let mut set = Self::new();
        for scope in scopes {
            set.insert(scope);
        }
        set
    }
}

/// Joined by single blanks, as they travel.
impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, scope) in self.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            f.write_str(scope)?;
        }
        Ok(())
    }
}

/// `1*( %x21 / %x23-5B / %x5D-7E )`
fn is_scope(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 1024
        && text.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: CL-SC-6, CL-TK-7
    #[test]
    fn scopes_keep_their_order_and_are_joined_by_single_blanks() {
        assert_eq!(ScopeSet::parse(" b  a,x b\ta ").to_string(), "b a,x a");
        assert_eq!(ScopeSet::parse("b a"), ScopeSet::parse("a b"));
    }

    // Shows: CL-CH-6
    #[test]
    fn what_is_no_scope_is_left_out() {
        assert_eq!(ScopeSet::parse("ok qu\"ote back\\slash ü").to_string(), "ok");
        assert!(ScopeSet::parse("  ").is_empty());
    }

    // Shows: CL-SU-1
    #[test]
    fn a_union_begins_with_what_was_there() {
        let union = ScopeSet::parse("a b").union(&ScopeSet::parse("c b"));
        assert_eq!(union.to_string(), "a b c");
        assert_eq!(union.without(&ScopeSet::parse("b")).to_string(), "a c");
        assert_eq!(union.intersection(&ScopeSet::parse("c a")).to_string(), "a c");
    }
}
