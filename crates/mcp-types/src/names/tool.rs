use std::{borrow::Borrow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::{shown, text};

text! {
    /// The name of a tool, unique within its server.
    ///
    /// From 2025-11-25 a name SHOULD be 1 to 128 characters long, of ASCII letters, digits,
    /// `_`, `-` and `.`. Names that break this are read all the same; see
    /// [`is_conforming`](Self::is_conforming).
    ///
    /// Specification: [tool names](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names).
    ToolName
}

shown! { ToolName }

/// A tool's name breaks the rules for new names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidToolName {
    /// It is empty.
    #[error("a tool's name has at least one character")]
    Empty,
    /// It is longer than 128 characters.
    #[error("a tool's name has at most {} characters, not {length}", ToolName::MAX_LEN)]
    TooLong {
        /// How many characters it has.
        length: usize,
    },
    /// It holds a character that is not allowed.
    #[error("a tool's name holds letters, digits, `_`, `-` and `.`, not {character:?}")]
    Character {
        /// The first one.
        character: char,
    },
}

impl ToolName {
    /// How many characters a name has at most.
    pub const MAX_LEN: usize = 128;

    /// Makes a name that keeps the rules.
    ///
    /// # Errors
    ///
    /// [`InvalidToolName`] when `name` doesn't.
    pub fn try_new(name: impl Into<String>) -> Result<Self, InvalidToolName> {
        let name = Self(name.into());
        name.check().map(|()| name)
    }

    /// Whether the name keeps the rules of 2025-11-25.
    #[must_use]
    pub fn is_conforming(&self) -> bool {
        self.check().is_ok()
    }

    fn check(&self) -> Result<(), InvalidToolName> {
        if self.0.is_empty() {
            return Err(InvalidToolName::Empty);
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if let Some(character) = self.0.chars().find(|c| !allowed(*c)) {
            return Err(InvalidToolName::Character { character });
        }
        if self.0.len() > Self::MAX_LEN {
            return Err(InvalidToolName::TooLong { length: self.0.len() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_keep_the_rules_and_read_names_may_not() {
        for name in ["a", "getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b", &"x".repeat(128)]
        {
            assert!(ToolName::try_new(name).is_ok(), "{name}");
        }
        assert_eq!(ToolName::try_new(""), Err(InvalidToolName::Empty));
        assert_eq!(
            ToolName::try_new("x".repeat(129)),
            Err(InvalidToolName::TooLong { length: 129 })
        );
        assert_eq!(ToolName::try_new("a/b"), Err(InvalidToolName::Character { character: '/' }));
        for name in ["", "a b", "a/b", "ä"] {
            let json = serde_json::to_string(name).unwrap();
            let read: ToolName = serde_json::from_str(&json).unwrap();
            assert!(!read.is_conforming());
            assert_eq!(serde_json::to_string(&read).unwrap(), json);
        }
    }
}
