//! Laws of reading and writing.

use bytes::Bytes;
use mcp_jsonrpc::{
    ErrorObject, Frame, Limits, Message, Name, Outgoing, RawJson, RequestId, decode,
};
use proptest::prelude::*;
use serde_json::Value;

fn id() -> impl Strategy<Value = RequestId> {
    prop_oneof![
        any::<i64>().prop_map(RequestId::from),
        any::<i128>().prop_map(RequestId::from),
        any::<String>().prop_map(RequestId::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..4)
                .prop_map(|members| members.into_iter().collect::<Value>()),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::hash_map(any::<String>(), value(), 0..4)
        .prop_map(|members| members.into_iter().collect())
}

fn read(out: &Outgoing) -> Option<Message> {
    match decode(out.frame(), &Limits::new()) {
        Ok(Frame::Single(message)) => Some(message),
        _ => None,
    }
}

// Shows: BASE-003, BASE-004, BASE-010, BASE-026, FC-006
proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_what_is_read(
        id in id(),
        method in any::<String>(),
        params in prop::option::of(object()),
        result in value(),
        code in any::<i64>(),
        text in any::<String>(),
    ) {
        let raw = params.as_ref().map(|params| RawJson::from_serialize(params).unwrap());
        let name = || Name::from(method.as_str());
        let error = ErrorObject::new(code, text).with_data_from(&result);

        let request = Outgoing::request(id.clone(), name(), params.as_ref()).unwrap();
        let as_raw = Outgoing::request_raw(id.clone(), name(), raw.as_ref());
        prop_assert_eq!(request.frame(), as_raw.frame());
        let notification = Outgoing::notification(name(), params.as_ref()).unwrap();
        let as_raw = Outgoing::notification_raw(name(), raw.as_ref());
        prop_assert_eq!(notification.frame(), as_raw.frame());
        let response = Outgoing::result(id.clone(), &result).unwrap();
        let refusal = Outgoing::error(Some(id.clone()), &error);
        for out in [&request, &notification, &response, &refusal] {
            // One line, whatever is in it.
            prop_assert!(!out.frame().contains(&b'\n') && !out.frame().contains(&b'\r'));
            prop_assert!(std::str::from_utf8(out.frame()).is_ok());
        }

        match read(&request) {
            Some(Message::Request(read)) => {
                prop_assert_eq!((&read.id, &read.method, &read.params), (&id, &name(), &raw));
                prop_assert_eq!(request.body(), raw.as_ref().map_or(&b""[..], RawJson::as_bytes));
            }
            other => prop_assert!(false, "{:?}", other),
        }
        match read(&notification) {
            Some(Message::Notification(read)) => {
                prop_assert_eq!((&read.method, &read.params), (&name(), &raw));
            }
            other => prop_assert!(false, "{:?}", other),
        }
        match read(&response) {
            Some(Message::Response(read)) => {
                prop_assert_eq!(&read.id, &Some(id.clone()));
                let outcome = read.outcome.unwrap();
                prop_assert_eq!(outcome.as_bytes(), serde_json::to_vec(&result).unwrap());
                prop_assert_eq!(response.body(), outcome.as_bytes());
            }
            other => prop_assert!(false, "{:?}", other),
        }
        match read(&refusal) {
            Some(Message::Response(read)) => {
                prop_assert_eq!((read.id, read.outcome), (Some(id), Err(error)));
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn a_batch_is_its_members(count in 1..20i64) {
        let members: Vec<_> = (0..count).map(|id| Outgoing::result_raw(id.into(), b"{}")).collect();
        let batch = Outgoing::batch(&members);
        let read: Vec<_> = members.iter().map(|member| Ok(read(member).unwrap())).collect();
        prop_assert_eq!(decode(batch.frame(), &Limits::new()), Ok(Frame::Batch(read)));
    }
}

/// Each of these would take hours if anything in it were looked at again and again.
// Shows: FC-004
#[test]
fn hostile_frames_take_no_more_than_their_length() {
    const LEN: usize = 1 << 20;
    let fill = |piece: &str| piece.repeat(LEN / piece.len());
    let request =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
    let frames = [
        fill("["),
        fill("]"),
        fill("{\"a\":"),
        fill("\""),
        fill("\\"),
        fill(" "),
        fill("\u{feff}"),
        format!("[{}]", fill("1,").trim_end_matches(',')),
        format!("[{}1]", fill("[],")),
        format!("[{}{{}}]", fill(r#"{"jsonrpc":"2.0","id":1,"method":"m"},"#)),
        format!("{{{}\"a\":1}}", fill("\"a\":1,")),
        format!("{{{}\"a\":1}}", fill("\"id\":1,")),
        format!("{{{}\"a\":1}}", fill("\"\\u0069d\":1,")),
        format!("{{\"\\u0061{}\":1}}", fill("a")),
        format!(r#"{{"jsonrpc":"2.0","id":{},"method":"m"}}"#, fill("9")),
        format!(r#"{{"jsonrpc":"2.0","id":1.{},"method":"m"}}"#, fill("0")),
        format!(r#"{{"jsonrpc":"2.0","id":1e{},"method":"m"}}"#, fill("0")),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"\u0061{}"}}"#, fill("\\n")),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":"{}"}}}}"#,
            fill("\\u00e9")
        ),
        request(&format!("{{\"a\":\"{}\"}}", fill("\\\""))),
        request(&format!("{{\"a\":\"{}\"}}", fill("\\ud83d"))),
        request(&format!("{{\"a\":\"{}\"}}", fill("\\ud83d\\ude00"))),
        request(&format!("{{\"a\":\"{}\"}}", fill("é"))),
        request(&format!("{{\"a\":\"{}\"}}", fill("aaaaaaé"))),
        request(&format!("{{\"a\":\"{}\"}}", fill("aaaaaaa\\n"))),
        request(&format!("{{\"a\":\"{}", fill("a"))),
        request(&format!("{}{}", "[".repeat(LEN / 2), "]".repeat(LEN / 2))),
    ];
    for frame in frames {
        let frame = Bytes::from(frame);
        let whole = decode(&frame, &Limits::new());
        let cut = decode(&frame, &Limits::new().with_frame_bytes(LEN / 2));
        assert!(cut.is_err());
        drop(whole);
    }
}
