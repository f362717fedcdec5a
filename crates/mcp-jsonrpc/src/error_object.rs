use std::borrow::Cow;
use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::RequestId;

/// The error that a peer sends in place of a result.
///
/// Specification: [Error responses](https://modelcontextprotocol.io/specification/2025-11-25/basic#error-responses).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ErrorObject {
    /// Which kind of error; see [`code`].
    pub code: i64,
    /// One short sentence for people.
    pub message: Cow<'static, str>,
    /// Anything more, as JSON.
    pub data: Option<Box<RawValue>>,
}

/// The codes that JSON-RPC 2.0 itself defines.
pub mod code {
    /// The frame isn't JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON isn't a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method here.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters don't fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Something went wrong on this side.
    pub const INTERNAL_ERROR: i64 = -32603;
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds data.
    #[must_use]
    pub fn with_data(mut self, data: Box<RawValue>) -> Self {
        self.data = Some(data);
        self
    }

    /// Adds the JSON of `data`; data that can't be written as JSON is left out.
    #[must_use]
    pub fn with_data_from<T: Serialize + ?Sized>(mut self, data: &T) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// `-32601`: there is no `method` here.
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        // A peer chose the name: keep its echo short, and on one line.
        let plain = |char: char| if char.is_control() { char::REPLACEMENT_CHARACTER } else { char };
        let shown: String = method.chars().take(80).map(plain).collect();
        Self::new(code::METHOD_NOT_FOUND, format!("method not found: {shown}"))
    }

    /// `-32602`, with what is wrong.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// `-32600`, with what is wrong.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// `-32603`, with as much as the peer should know.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }
}

impl PartialEq for ErrorObject {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
            && self.message == other.message
            && self.data.as_deref().map(RawValue::get) == other.data.as_deref().map(RawValue::get)
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

impl Serialize for ErrorObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &self.code)?;
        map.serialize_entry("message", &*self.message)?;
        if let Some(data) = &self.data {
            map.serialize_entry("data", data)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ErrorObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = ErrorObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an error object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ErrorObject, A::Error> {
                let (mut code, mut message, mut data) = (None, None, None);
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    match &*key {
                        "code" if code.is_none() => {
                            // Read as ids are, since `-32600.0` is an integer, too.
                            code = map.next_value::<RequestId>()?.as_i64();
                            if code.is_none() {
                                return Err(A::Error::custom("the code is no integer"));
                            }
                        }
                        "message" if message.is_none() => {
                            message = Some(map.next_value::<String>()?)
                        }
                        "data" if data.is_none() => data = Some(map.next_value::<Box<RawValue>>()?),
                        "code" | "message" | "data" => {
                            return Err(A::Error::custom("a member occurs twice"));
                        }
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(ErrorObject {
                    code: code.ok_or_else(|| A::Error::missing_field("code"))?,
                    message: message.ok_or_else(|| A::Error::missing_field("message"))?.into(),
                    data,
                })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: BASE-017
    #[test]
    fn the_echo_of_a_method_is_short_and_on_one_line() {
        let error =
            ErrorObject::method_not_found(&("a\nb\u{0}\u{85}".to_owned() + &"x".repeat(999)));
        assert!(error.message.starts_with("method not found: a\u{fffd}b\u{fffd}\u{fffd}xxx"));
        assert!(error.message.chars().count() < 100);
        assert!(!error.message.contains(char::is_control));
    }

    // Shows: BASE-015, BASE-016, BASE-018
    #[test]
    fn every_member_survives() {
        for data in ["null", "true", "1.50", "\"a\"", "[1, 2]", "{\"a\": {}}"] {
            let text = format!(r#"{{"code":-32042,"message":"é\n","data":{data}}}"#);
            let error: ErrorObject = serde_json::from_str(&text).unwrap();
            assert_eq!((error.code, &*error.message), (-32042, "é\n"));
            assert_eq!(serde_json::to_string(&error).unwrap(), text);
        }
    }
}
