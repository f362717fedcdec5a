use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use bytes::Bytes;

/// The name of a method.
///
/// Cheap to clone, and cheap to compare with a `str`. One that came in doesn't keep the memory
/// of its frame.
#[derive(Clone)]
pub struct Name(Repr);

#[derive(Clone)]
enum Repr {
    /// What the methods of MCP fit into.
    Short {
        len: u8,
        bytes: [u8; SHORT],
    },
    Long(Bytes),
}

/// As much as fits beside a `Bytes` without making it larger.
const SHORT: usize = 23;

impl Name {
    /// A name known when the program is built.
    #[must_use]
    pub const fn from_static(name: &'static str) -> Self {
        Self(Repr::Long(Bytes::from_static(name.as_bytes())))
    }

    /// A name that is UTF-8.
    #[inline]
    pub(crate) fn from_utf8(name: &[u8]) -> Self {
        let mut bytes = [0; SHORT];
        match (bytes.get_mut(..name.len()), u8::try_from(name.len())) {
            (Some(start), Ok(len)) => {
                start.copy_from_slice(name);
                Self(Repr::Short { len, bytes })
            }
            _ => Self(Repr::Long(Bytes::copy_from_slice(name))),
        }
    }

    /// The name as bytes, which costs less than [`as_str`](Self::as_str).
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Short { len, bytes } => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Repr::Long(bytes) => bytes,
        }
    }

    /// The name. Checks its encoding each time, so it isn't for the road of every message.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Every road into this type has checked it.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for Name {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self::from_utf8(name.as_bytes())
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self::from_utf8(name.as_bytes())
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_name_is_the_same_however_it_was_made() {
        for text in ["", "ping", "notifications/progress.", "notifications/initialized.."] {
            let names =
                [Name::from(text), Name::from(text.to_owned()), Name(Repr::Long(text.into()))];
            for name in &names {
                assert_eq!(name.as_str(), text);
                assert_eq!(*name, *text);
            }
            assert_eq!(HashSet::from(names).len(), 1);
        }
        assert_eq!(Name::from_static("ping"), Name::from("ping"));
        let (short, long) = (Name::from("a"), Name::from("a long name, longer than a short one"));
        assert!(short < long);
    }

    #[test]
    fn a_name_takes_no_more_than_its_longer_form() {
        assert_eq!(size_of::<Name>(), size_of::<Bytes>());
    }
}
