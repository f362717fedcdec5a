use std::borrow::Borrow;
use std::fmt;

/// What a host calls a server: letters and digits of ASCII, `-`, `.` and single `_`, 64 at most,
/// with a letter or digit at the end.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(Box<str>);

/// A text that can't be the name of a server in a set: it would not be told from what follows it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a server is called by letters, digits, `-`, `.` and single `_`, and not {name:?}")]
#[non_exhaustive]
pub struct InvalidServerName {
    /// The text, as much of it as fits into a line.
    pub name: String,
}

/// Between the server and what is its own.
const BETWEEN: &str = "__";

impl ServerName {
    /// How long a name is at most.
    pub const MAX_LEN: usize = 64;

    /// Makes a name.
    ///
    /// # Errors
    ///
    /// [`InvalidServerName`] when it can't be one.
    pub fn try_new(name: impl Into<String>) -> Result<Self, InvalidServerName> {
        let name = name.into();
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
        let ends = name.bytes().next_back().is_some_and(|last| last.is_ascii_alphanumeric());
        let plain = name.bytes().all(allowed) && !name.contains(BETWEEN);
        if ends && plain && name.len() <= Self::MAX_LEN {
            return Ok(Self(name.into()));
        }
        Err(InvalidServerName { name: name.chars().take(80).collect() })
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn prefix(&self, name: &str) -> String {
        format!("{}{BETWEEN}{name}", self.0)
    }

    /// The server and what is its own.
    pub(super) fn split(name: &str) -> Option<(&str, &str)> {
        name.split_once(BETWEEN)
    }
}

impl Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ServerName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_what_follows_it_are_told_apart() {
        for server in ["a", "my_files", "a.b-c", "9", "_a"] {
            let server = ServerName::try_new(server).unwrap();
            for tool in ["t", "_t", "__t", "a__b", "x_", ""] {
                let name = server.prefix(tool);
                assert_eq!(ServerName::split(&name), Some((server.as_str(), tool)), "{name}");
            }
        }
        for bad in ["", "a_", "a__b", "__", "a b", "é", "a/b", "a-", "a\n"] {
            assert!(ServerName::try_new(bad).is_err(), "{bad}");
        }
        assert!(ServerName::try_new("a".repeat(64)).is_ok());
        assert!(ServerName::try_new("a".repeat(65)).is_err());
    }
}
