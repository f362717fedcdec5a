//! Params of the hottest request, read without a copy.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::wire::{Seen, missing};

/// The params of `tools/call`, borrowed from the text they are read from.
///
/// Nothing is copied unless the tool's name holds escapes. Members that a server doesn't look
/// at are skipped.
///
/// ```
/// use mcp_types::CallToolParamsRef;
///
/// let params: CallToolParamsRef<'_> =
///     serde_json::from_str(r#"{"name":"add","arguments":{"a":1}}"#)?;
/// assert_eq!(params.name, "add");
/// assert_eq!(params.arguments.map(|raw| raw.get()), Some(r#"{"a":1}"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallToolParamsRef<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// The arguments, an object. Absent is the same as none.
    pub arguments: Option<&'a RawValue>,
    /// What the sender attached. See [`MetaPeek`](crate::MetaPeek).
    pub meta: Option<&'a RawValue>,
    /// Asks that the call run as a task.
    pub task: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for CallToolParamsRef<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ParamsVisitor;

        impl<'de> Visitor<'de> for ParamsVisitor {
            type Value = CallToolParamsRef<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object (CallToolRequestParams)")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<CallToolParamsRef<'de>, A::Error> {
                let (mut name, mut arguments, mut meta, mut task) = (None, None, None, None);
                let mut seen = Seen::default();
                while let Some(member) = map.next_key_seed(MemberSeed)? {
                    match member {
                        Member::Name => {
                            seen.note::<A::Error>(0, "name")?;
                            name = Some(map.next_value_seed(Text)?);
                        }
                        Member::Arguments => {
                            seen.note::<A::Error>(1, "arguments")?;
                            arguments = object(map.next_value()?, "arguments")?;
                        }
                        Member::Meta => {
                            seen.note::<A::Error>(2, "_meta")?;
                            meta = object(map.next_value()?, "_meta")?;
                        }
                        Member::Task => {
                            seen.note::<A::Error>(3, "task")?;
                            task = object(map.next_value()?, "task")?;
                        }
                        Member::Other => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(CallToolParamsRef { name: missing(name, "name")?, arguments, meta, task })
            }
        }

        deserializer.deserialize_map(ParamsVisitor)
    }
}

/// An object, or null for an absent one.
fn object<'a, E: de::Error>(
    raw: Option<&'a RawValue>,
    name: &'static str,
) -> Result<Option<&'a RawValue>, E> {
    match raw.map(|raw| raw.get().as_bytes().first()) {
        None | Some(Some(b'{')) => Ok(raw),
        Some(_) => Err(E::custom(format_args!("invalid type for `{name}`: expected an object"))),
    }
}

enum Member {
    Name,
    Arguments,
    Meta,
    Task,
    Other,
}

struct MemberSeed;

impl<'de> DeserializeSeed<'de> for MemberSeed {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Member, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for MemberSeed {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Member, E> {
        Ok(match name {
            "name" => Member::Name,
            "arguments" => Member::Arguments,
            "_meta" => Member::Meta,
            "task" => Member::Task,
            _ => Member::Other,
        })
    }
}

struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<CallToolParamsRef<'_>, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn a_name_is_copied_only_for_its_escapes() {
        assert!(matches!(read(r#"{"name":"a"}"#).unwrap().name, Cow::Borrowed("a")));
        assert_eq!(read(r#"{"name":"\u0061"}"#).unwrap().name, "a");
    }

    #[test]
    fn it_reads_what_the_owned_type_reads() {
        let json = r#"{"x":[1],"_meta":{"progressToken":1},"name":"a","arguments":{"b":1e400},"task":{"ttl":1}}"#;
        let params = read(json).unwrap();
        let owned: crate::CallToolRequestParams = serde_json::from_str(json).unwrap();
        assert_eq!(owned.name, *params.name);
        assert_eq!(params.arguments.unwrap().get(), r#"{"b":1e400}"#);
        assert_eq!(params.task.unwrap().get(), r#"{"ttl":1}"#);
        assert_eq!(params.meta.unwrap().get(), r#"{"progressToken":1}"#);
        for bad in [
            "{}",
            "[]",
            r#"{"name":1}"#,
            r#"{"name":"a","name":"a"}"#,
            r#"{"name":"a","arguments":[]}"#,
            r#"{"name":"a","_meta":7}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
            assert!(serde_json::from_str::<crate::CallToolRequestParams>(bad).is_err(), "{bad}");
        }
        assert!(read(r#"{"name":"a","arguments":null}"#).unwrap().arguments.is_none());
    }
}
