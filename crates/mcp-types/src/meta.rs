//! `_meta`: what a sender attaches to a message or an object.

use std::{fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    generated::tasks::RelatedTaskMetadata,
    json::{JsonObject, JsonValue},
    names::ProgressToken,
    revision::{ReservedKeys, Revision},
};

/// What a sender attached: a typed view over members that are kept as they came.
///
/// What a reader doesn't know stays untouched, byte for byte and in order.
///
/// ```
/// use mcp_types::Meta;
///
/// let mut meta = Meta::new().with_progress_token(7);
/// meta.insert("com.example/trace", "abc")?;
/// assert_eq!(serde_json::to_string(&meta)?, r#"{"progressToken":7,"com.example/trace":"abc"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Specification: [`_meta`](https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta).
#[derive(Clone, Default, PartialEq)]
pub struct Meta(JsonObject);

impl Meta {
    /// The key of the token for progress notifications.
    pub const PROGRESS_TOKEN: &'static str = "progressToken";
    /// The key that says which task a message belongs to.
    pub const RELATED_TASK: &'static str = "io.modelcontextprotocol/related-task";

    /// The key of a text that a model can be given while a task runs.
    pub const MODEL_IMMEDIATE_RESPONSE: &'static str =
        "io.modelcontextprotocol/model-immediate-response";

    /// One without members.
    #[must_use]
    pub const fn new() -> Self {
        Self(JsonObject::new())
    }

    /// Sets the token for progress notifications.
    #[must_use]
    pub fn with_progress_token(mut self, token: impl Into<ProgressToken>) -> Self {
        self.set_progress_token(token);
        self
    }

    /// Says which task the message belongs to.
    #[must_use]
    pub fn with_related_task(mut self, task: &RelatedTaskMetadata) -> Self {
        if let Ok(value) = JsonValue::from_serialize(task) {
            self.0.set(Self::RELATED_TASK, value);
        }
        self
    }

    /// Sets the token for progress notifications.
    pub fn set_progress_token(&mut self, token: impl Into<ProgressToken>) {
        if let Ok(value) = JsonValue::from_serialize(&token.into()) {
            self.0.set(Self::PROGRESS_TOKEN, value);
        }
    }

    /// Writes `value` as JSON under `key`. Gives back what was there.
    ///
    /// # Errors
    ///
    /// When `value` can't be written as JSON.
    pub fn insert<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<String>,
        value: &T,
    ) -> Result<Option<JsonValue>, serde_json::Error> {
        self.0.insert(key, value)
    }

    /// Takes out what is under `key`.
    pub fn remove(&mut self, key: &str) -> Option<JsonValue> {
        self.0.remove(key)
    }

    /// The token for progress notifications. One that is no token counts as none.
    #[must_use]
    pub fn progress_token(&self) -> Option<ProgressToken> {
        self.get(Self::PROGRESS_TOKEN)?.ok()
    }

    /// Which task the message belongs to. What names no task counts as none.
    #[must_use]
    pub fn related_task(&self) -> Option<RelatedTaskMetadata> {
        self.get(Self::RELATED_TASK)?.ok()
    }

    /// A text that a model can be given while a task runs. What is no text counts as none.
    #[must_use]
    pub fn model_immediate_response(&self) -> Option<String> {
        self.get(Self::MODEL_IMMEDIATE_RESPONSE)?.ok()
    }

    /// What is under `key`, read as a `T`; none if there is nothing.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<Result<T, serde_json::Error>> {
        self.0.get(key).map(JsonValue::to)
    }

    /// What is under `key`, as it came.
    #[must_use]
    pub fn get_raw(&self, key: &str) -> Option<&JsonValue> {
        self.0.get(key)
    }

    /// The members, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &JsonValue)> {
        self.0.iter()
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members, as they came.
    #[must_use]
    pub fn as_object(&self) -> &JsonObject {
        &self.0
    }

    /// The members, as they came.
    #[must_use]
    pub fn into_object(self) -> JsonObject {
        self.0
    }
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<JsonObject> for Meta {
    fn from(object: JsonObject) -> Self {
        Self(object)
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        JsonObject::deserialize(deserializer).map(Self)
    }
}

/// What has to be known of a request's `_meta` before its params are read: the token.
///
/// Reads the raw text once and keeps nothing else of it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MetaPeek {
    /// The token for progress notifications.
    pub progress_token: Option<ProgressToken>,
}

impl MetaPeek {
    /// Reads a raw `_meta`.
    ///
    /// # Errors
    ///
    /// When it is no object, or its token is neither a text nor an integer.
    pub fn from_raw(meta: &RawValue) -> Result<Self, serde_json::Error> {
        serde_json::from_str(meta.get())
    }
}

impl<'de> Deserialize<'de> for MetaPeek {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PeekVisitor;

        impl<'de> Visitor<'de> for PeekVisitor {
            type Value = MetaPeek;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object (_meta)")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MetaPeek, A::Error> {
                let mut peek = MetaPeek::default();
                while let Some(key) = map.next_key_seed(crate::wire::KeySeed(|key| {
                    (key == Meta::PROGRESS_TOKEN).then_some(0)
                }))? {
                    match key {
                        crate::wire::Key::Known(_) if peek.progress_token.is_some() => {
                            return Err(serde::de::Error::duplicate_field(Meta::PROGRESS_TOKEN));
                        }
                        crate::wire::Key::Known(_) => peek.progress_token = map.next_value()?,
                        crate::wire::Key::Unknown(_) => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(peek)
            }
        }

        deserializer.deserialize_map(PeekVisitor)
    }
}

/// The key of a member of `_meta`, checked against the grammar of 2025-06-18 and later: an
/// optional prefix of labels with points between and a slash at its end, and a name.
///
/// Keys that break it are read all the same; this type is for those that we make.
///
/// Specification: [key names](https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetaKey(String);

/// A text that is no key of a member of `_meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMetaKey {
    /// A label of the prefix breaks the grammar.
    #[error(
        "each label before the slash starts with a letter, ends with a letter or digit, and holds \
         letters, digits and hyphens"
    )]
    Prefix,
    /// The name breaks the grammar.
    #[error(
        "the name starts and ends with a letter or digit, and holds letters, digits, `-`, `_` and \
         `.`"
    )]
    Name,
    /// There is nothing at all.
    #[error("a key has a prefix or a name")]
    Empty,
}

impl MetaKey {
    /// Makes a key that keeps the grammar.
    ///
    /// # Errors
    ///
    /// [`InvalidMetaKey`] when `key` doesn't.
    pub fn try_new(key: impl Into<String>) -> Result<Self, InvalidMetaKey> {
        let key = key.into();
        let (prefix, name) = split(&key);
        if key.is_empty() {
            return Err(InvalidMetaKey::Empty);
        }
        if prefix.is_some_and(|prefix| !prefix.split('.').all(is_label)) {
            return Err(InvalidMetaKey::Prefix);
        }
        // A name may be empty, after a prefix.
        if !is_name(name) {
            return Err(InvalidMetaKey::Name);
        }
        Ok(Self(key))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before the slash, if there is one.
    #[must_use]
    pub fn prefix(&self) -> Option<&str> {
        split(&self.0).0
    }

    /// What stands after the slash, or the whole key.
    #[must_use]
    pub fn name(&self) -> &str {
        split(&self.0).1
    }

    /// Whether the specification keeps the prefix for itself in `revision`.
    #[must_use]
    pub fn is_reserved(&self, revision: Revision) -> bool {
        let Some(prefix) = self.prefix() else { return false };
        let own = |label: Option<&str>| matches!(label, Some("mcp" | "modelcontextprotocol"));
        match revision.reserved_meta_keys() {
            ReservedKeys::Free => false,
            ReservedKeys::BeforeLastLabel => own(prefix.rsplit('.').nth(1)),
            ReservedKeys::SecondLabel => own(prefix.split('.').nth(1)),
        }
    }
}

impl fmt::Display for MetaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for MetaKey {
    type Err = InvalidMetaKey;

    fn from_str(key: &str) -> Result<Self, InvalidMetaKey> {
        Self::try_new(key)
    }
}

impl From<MetaKey> for String {
    fn from(key: MetaKey) -> Self {
        key.0
    }
}

fn split(key: &str) -> (Option<&str>, &str) {
    match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    }
}

fn is_label(label: &str) -> bool {
    label.starts_with(|c: char| c.is_ascii_alphabetic())
        && label.ends_with(|c: char| c.is_ascii_alphanumeric())
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn is_name(name: &str) -> bool {
    let edge = |c: char| c.is_ascii_alphanumeric();
    name.is_empty()
        || (name.starts_with(edge)
            && name.ends_with(edge)
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: FC-018, META-008, META-009
    #[test]
    fn the_second_label_reserves_a_key_from_2025_11_25_on() {
        let reserved = |key: &str| {
            let key = MetaKey::try_new(key).unwrap();
            Revision::ALL.map(|revision| key.is_reserved(revision))
        };
        assert_eq!(reserved("io.modelcontextprotocol/x"), [false, false, false, true, true]);
        assert_eq!(reserved("dev.mcp/x"), [false, false, false, true, true]);
        assert_eq!(reserved("com.mcp.tools/x"), [false, false, true, true, true]);
        assert_eq!(reserved("com.example.mcp/x"), [false; 5]);
        assert_eq!(reserved("mcp/x"), [false; 5]);
        assert_eq!(reserved("x"), [false; 5]);
        assert_eq!(reserved("com.example/"), [false; 5]);
        assert_eq!(reserved("mcp.dev/x"), [false, false, true, false, false]);
    }

    // Shows: FC-018, META-001, META-004, META-005, META-006, META-010, META-011
    #[test]
    fn a_key_that_breaks_the_grammar_is_not_made_but_read() {
        for (key, error) in [
            ("-bad/x", InvalidMetaKey::Prefix),
            ("a..b/x", InvalidMetaKey::Prefix),
            ("1a/x", InvalidMetaKey::Prefix),
            ("a-/x", InvalidMetaKey::Prefix),
            ("a_b/x", InvalidMetaKey::Prefix),
            ("a/x y", InvalidMetaKey::Name),
            ("a/x_", InvalidMetaKey::Name),
            ("/x", InvalidMetaKey::Prefix),
            ("com.example/_x", InvalidMetaKey::Name),
            ("x-", InvalidMetaKey::Name),
            ("a/b/c", InvalidMetaKey::Name),
            ("", InvalidMetaKey::Empty),
        ] {
            assert_eq!(MetaKey::try_new(key), Err(error), "{key}");
            let json = format!("{{{}:1e400}}", serde_json::to_string(key).unwrap());
            let meta: Meta = serde_json::from_str(&json).unwrap();
            assert_eq!(serde_json::to_string(&meta).unwrap(), json);
        }
        for key in
            ["x", "a_b.c-d", "a/x-y_z.1", "a1/x", "a-b/x", "com.example/x", "com.exa-mple1/", "A/b"]
        {
            assert!(MetaKey::try_new(key).is_ok(), "{key}");
        }
    }

    // Shows: META-002, META-003
    #[test]
    fn reserved_keys_have_accessors_and_odd_values_break_nothing() {
        let json = concat!(
            r#"{"progressToken":[],"io.modelcontextprotocol/related-task":7,"#,
            r#""io.modelcontextprotocol/model-immediate-response":{}}"#,
        );
        let meta: Meta = serde_json::from_str(json).unwrap();
        assert_eq!(meta.progress_token(), None);
        assert_eq!(meta.related_task(), None);
        assert_eq!(meta.model_immediate_response(), None);
        assert_eq!(serde_json::to_string(&meta).unwrap(), json);

        let task = RelatedTaskMetadata::new("t1");
        let mut meta = Meta::new().with_progress_token("p").with_related_task(&task);
        meta.insert(Meta::MODEL_IMMEDIATE_RESPONSE, "soon").unwrap();
        assert_eq!(meta.related_task(), Some(task));
        assert_eq!(meta.model_immediate_response().as_deref(), Some("soon"));
        assert_eq!(
            serde_json::to_string(&meta).unwrap(),
            concat!(
                r#"{"progressToken":"p","io.modelcontextprotocol/related-task":{"taskId":"t1"},"#,
                r#""io.modelcontextprotocol/model-immediate-response":"soon"}"#,
            )
        );
    }

    // Shows: PROGRESS-001, PROGRESS-019
    #[test]
    fn a_token_keeps_its_kind_and_what_is_none_is_ignored() {
        let meta = |json: &str| serde_json::from_str::<Meta>(json).unwrap().progress_token();
        assert_eq!(meta(r#"{"progressToken":"7"}"#), Some("7".into()));
        assert_eq!(meta(r#"{"progressToken":7.0}"#), Some(7.into()));
        assert_eq!(meta(r#"{"progressToken":[7]}"#), None);
        assert_eq!(meta("{}"), None);
    }

    #[test]
    fn a_peek_finds_the_token_and_skips_the_rest() {
        let peek =
            |json: &str| MetaPeek::from_raw(&RawValue::from_string(json.to_owned()).unwrap());
        let found = peek(r#"{"a":{"progressToken":1},"progressToken":"t"}"#).unwrap();
        assert_eq!(found.progress_token, Some("t".into()));
        assert_eq!(peek("{}").unwrap().progress_token, None);
        assert!(peek("[]").is_err());
        assert!(peek(r#"{"progressToken":1,"progressToken":2}"#).is_err());
        assert!(peek(r#"{"progressToken":{}}"#).is_err());
    }
}
