use std::fmt;

use mcp_jsonrpc::RequestId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names the request that a progress notification belongs to: a text or an integer.
///
/// Compared by kind and value: `1` and `"1"` are different tokens, and `1.0` is `1`. It goes
/// back to its sender as it is.
///
/// Specification: [progress](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgressToken(RequestId);

impl ProgressToken {
    /// The integer, when this token is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    /// The text, when this token is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.0.as_str()
    }
}

impl<T: Into<RequestId>> From<T> for ProgressToken {
    fn from(token: T) -> Self {
        Self(token.into())
    }
}

/// Prints the token as JSON does, so that `1` and `"1"` differ.
impl fmt::Display for ProgressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ProgressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for ProgressToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ProgressToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RequestId::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_value_count() {
        let read = |json| serde_json::from_str::<ProgressToken>(json).unwrap();
        assert_eq!(read("1.0"), ProgressToken::from(1));
        assert_ne!(read("\"1\""), ProgressToken::from(1));
        let long = "123456789012345678901234567890";
        assert_eq!(serde_json::to_string(&read(long)).unwrap(), long);
        for json in ["null", "1.5", "true", "{}"] {
            assert!(serde_json::from_str::<ProgressToken>(json).is_err(), "{json}");
        }
    }
}
