//! What can be told of a message that was too long to be held.

use std::fmt;

use mcp_jsonrpc::{Fault, FaultKind, RequestId};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::LongLine;

/// The fault that `line` is, with the id where its first or last bytes show it, so that the
/// one request costs only itself.
pub(crate) fn fault(line: &LongLine, limit: usize) -> Fault {
    let mut seen = Seen::default();
    // The head ends in the middle of a value: that there is an error says nothing.
    let _ = serde_json::Deserializer::from_slice(&line.head).deserialize_map(Members(&mut seen));
    let mut fault = Fault::new(FaultKind::TooLong { limit });
    // Some peers write the id first, others last.
    fault.id = if seen.id.is_some() { seen.id } else { last_member_id(&line.tail) };
    fault.response = seen.response && !seen.method;
    fault
}

/// Which members of the envelope the head shows.
#[derive(Default)]
struct Seen {
    id: Option<RequestId>,
    method: bool,
    response: bool,
}

struct Members<'a>(&'a mut Seen);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "id" => {
                    self.0.id = map.next_value::<RequestId>().ok();
                    continue;
                }
                "method" => self.0.method = true,
                "result" | "error" => self.0.response = true,
                _ => {}
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The id, where it is the last member of the line.
///
/// In JSON the last brace closes the outermost object, so what stands right before it is a
/// member of the envelope, and no part of a string. (Of a line that isn't JSON anything may be
/// said: it gets an error one way or the other.)
fn last_member_id(tail: &[u8]) -> Option<RequestId> {
    let before_brace = tail.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let key = br#""id""#;
    let at = memchr::memmem::rfind(before_brace, key)?;
    let before = before_brace.get(..at)?;
    if !matches!(before.trim_ascii_end().last(), Some(b',' | b'{')) {
        return None;
    }
    let value = before_brace.get(at + key.len()..)?.trim_ascii_start().strip_prefix(b":")?;
    RequestId::from_json(value.trim_ascii()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &str, tail: &str, id: Option<RequestId>, response: bool) {
        let line = LongLine { bytes: 1 << 30, head: head.into(), tail: tail.into() };
        let fault = fault(&line, 1024);
        assert_eq!(fault.kind, FaultKind::TooLong { limit: 1024 });
        assert_eq!((fault.id, fault.response), (id, response), "{head} … {tail}");
    }

    // Shows: FC-004
    #[test]
    fn an_id_is_found_at_either_end() {
        let one = || Some(RequestId::from(1));
        check(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"#, r#"aaa"}}"#, one(), false);
        check(
            r#"{"method":"x","params":{"id":7,"a":"#,
            r#"a"},"jsonrpc":"2.0","id":1}"#,
            one(),
            false,
        );
        check(r#"{"result":{"a":"#, r#"a"},"jsonrpc":"2.0","id" : 1 } "#, one(), true);
        check(r#"{"id":"a,b","error":{"a":"#, r#"}}"#, Some("a,b".into()), true);
        check(r#"{"id":1,"result":{"a":"#, r#"},"id":2}"#, one(), true);
    }

    #[test]
    fn an_id_that_is_not_the_messages_own_is_none() {
        // Inside of the parameters, which the last brace does not close.
        check(r#"{"method":"x","params":{"a":"#, r#""id":7}}"#, None, false);
        // Inside of a text.
        check(r#"{"method":"x","params":{"a":"#, r#"\"id\":7}"}"#, None, false);
        check(r#"{"method":"x","a":"#, r#"\\,\"id":7}"#, None, false);
        check(r#"{"method":"x","params":{"a":"#, r#"a"},"id":null}"#, None, false);
        check("not json at all", "…", None, false);
        check("", "", None, false);
    }

    #[test]
    fn a_message_with_a_method_is_no_response() {
        check(r#"{"method":"x","result":1,"params":{"a":"#, "}}", None, false);
    }
}
