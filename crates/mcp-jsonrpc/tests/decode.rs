//! What a frame is read as: each kind of message, and each way to be none.

use bytes::Bytes;
use expect_test::{Expect, expect};
use mcp_jsonrpc::{Fault, Frame, Limits, Message, Outgoing, decode};

/// One line for each frame: what it is read as.
fn check(frames: &[&str], expected: Expect) {
    let frames: Vec<_> = frames.iter().map(|frame| frame.as_bytes()).collect();
    check_with(&frames, &Limits::new(), expected);
}

fn check_with(frames: &[&[u8]], limits: &Limits, expected: Expect) {
    let log: String = frames
        .iter()
        .map(|frame| format!("{}\n", shown(decode(&Bytes::copy_from_slice(frame), limits))))
        .collect();
    expected.assert_eq(&log);
}

fn shown(read: Result<Frame, Fault>) -> String {
    match read {
        Ok(Frame::Single(message)) => message_shown(&message),
        Ok(Frame::Batch(members)) => {
            let members: Vec<_> = members
                .into_iter()
                .map(|member| {
                    member.map_or_else(|fault| fault_shown(&fault), |m| message_shown(&m))
                })
                .collect();
            format!("batch: {}", members.join(" | "))
        }
        Ok(_) => "something new".into(),
        Err(fault) => fault_shown(&fault),
    }
}

fn message_shown(message: &Message) -> String {
    match message {
        Message::Request(r) => format!("request {:?} {:?} {:?}", r.id, r.method, r.params),
        Message::Notification(n) => format!("notification {:?} {:?}", n.method, n.params),
        Message::Response(r) => match &r.outcome {
            Ok(result) => format!("result {:?} {result:?}", r.id),
            Err(e) => format!(
                "error {:?} {} {:?} {:?}",
                r.id,
                e.code,
                e.message,
                e.data.as_ref().map(|data| data.get())
            ),
        },
        _ => "something new".into(),
    }
}

/// The answer that the fault gets, or whom it concerns otherwise.
fn fault_shown(fault: &Fault) -> String {
    let error = fault.to_error();
    let about = if fault.response {
        format!("response {:?}: ", fault.id)
    } else if fault.notification {
        "notification: ".into()
    } else {
        fault.id.as_ref().map_or("answer: ".into(), |id| format!("answer {id}: "))
    };
    assert!(!error.message.contains('\n') && error.message.len() < 80);
    format!("{about}{} {}", error.code, error.message)
}

// Shows: BASE-003, BASE-009, FC-011, FC-016
#[test]
fn requests_and_notifications() {
    check(
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#" { "method" : "tools/list" , "params" : { "cursor" : "a" } , "id" : "1" , "jsonrpc" : "2.0" } "#,
            "{\"jsonrpc\":\"2.0\",\r\n\t\"id\":-7.0,\"method\":\"\",\"params\":{ }}\r\n",
            r#"{"jsonrpc":"2.0","id":"","method":"a\u0062\n","params":{"a":"\u0000\"\\"}}"#,
            r#"{"\u006asonrpc":"\u0032.0","i\u0064":2,"method":"escaped keys"}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"more","unknown":[{"id":4}],"unknown":null}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#,
            r#"{"method":"notifications/initialized","jsonrpc":"2.0","params":{"_meta":{}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":null}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","method":"$/vendor"}"#,
            r#"{"jsonrpc":"2.0","id":6,"method":"é","params":{"é":"é 😀"}}"#,
        ],
        expect![[r#"
            request 1 "ping" None
            request "1" "tools/list" Some({ "cursor" : "a" })
            request -7 "" Some({ })
            request "" "ab\n" Some({"a":"\u0000\"\\"})
            request 2 "escaped keys" None
            request 3 "more" None
            notification "notifications/initialized" None
            notification "notifications/initialized" Some({})
            notification "notifications/initialized" Some({"_meta":{}})
            notification "notifications/initialized" None
            request 5 "ping" None
            notification "$/vendor" None
            request 6 "é" Some({"é":"é 😀"})
        "#]],
    );
}

// Shows: BASE-010, BASE-014, BASE-018, FC-013, FC-014
#[test]
fn responses() {
    check(
        &[
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":{ "a" : [ 1.50 , 1e999 ] }}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"data":[{"a":null}],"message":"\u006eo","code":-32601.0,"more":1}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found","data":null}}"#,
        ],
        expect![[r#"
            result Some(1) {}
            result Some("1") { "a" : [ 1.50 , 1e999 ] }
            result Some(1) null
            error Some(1) -32601 "no" None
            error Some(1) -32601 "no" Some("[{\"a\":null}]")
            error None -32700 "Parse error" None
            error None -32600 "Invalid Request" None
            error None -32601 "Method not found" Some("null")
        "#]],
    );
}

// Shows: BASE-019, FC-001, FC-002
#[test]
fn what_is_no_json() {
    check(
        &[
            "",
            " \n",
            "{",
            "not json",
            "Starting server v1.2.0",
            r#"{"jsonrpc":"2.0","id":1,"method":"ping""#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#,
            r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{'a':1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{1:1}}"#,
            r#"{"jsonrpc":"2.0" "id":1}"#,
            r#"{"jsonrpc":"2.0","id" 1}"#,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}",
            "\0{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
            "\u{a0}{}",
            "[",
            "[1,]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method"]"#,
        ],
        expect![[r#"
            answer: -32700 the frame ends inside of a JSON value
            answer: -32700 the frame ends inside of a JSON value
            answer: -32700 the frame ends inside of a JSON value
            answer: -32700 the frame is not JSON at byte 1
            answer: -32700 the frame is not JSON at byte 0
            answer: -32700 the frame ends inside of a JSON value
            answer: -32700 the frame is not JSON at byte 40
            answer: -32700 the frame is not JSON at byte 40
            answer: -32700 the frame is not JSON at byte 40
            answer: -32700 the frame is not JSON at byte 23
            answer: -32700 the frame is not JSON at byte 54
            answer: -32700 the frame is not JSON at byte 55
            answer: -32700 the frame is not JSON at byte 50
            answer: -32700 the frame is not JSON at byte 50
            answer: -32700 the frame is not JSON at byte 17
            answer: -32700 the frame is not JSON at byte 22
            answer: -32700 the frame is not JSON at byte 35
            answer: -32700 the frame is not JSON at byte 35
            answer: -32700 the frame is not JSON at byte 0
            answer: -32700 the frame is not JSON at byte 0
            answer: -32700 the frame is not JSON at byte 0
            answer: -32700 the frame ends inside of a JSON value
            answer: -32700 the frame is not JSON at byte 3
            answer: -32700 the frame is not JSON at byte 67
        "#]],
    );
}

// Shows: BASE-027, FC-003
#[test]
fn what_is_no_utf_8() {
    check_with(
        &[
            b"\xff",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"a\":\"\x97\"}}",
            b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"\x97\"}}",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\xc3\"}}",
            b"{\"jsonrpc\":\"2.0\",\"result\":{\"a\":\"\xe2\x82\"},\"id\":\"last\"}",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"\xff\":1}",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\xff",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"é\"}".as_bytes(),
        ],
        &Limits::new(),
        expect![[r#"
            answer: -32700 the frame is not UTF-8 at byte 0
            answer: -32700 the frame is not UTF-8 at byte 52
            answer: -32700 the frame is not UTF-8 at byte 45
            response Some(1): -32700 the frame is not UTF-8 at byte 39
            response Some("last"): -32700 the frame is not UTF-8 at byte 32
            response Some(1): -32700 the frame is not UTF-8 at byte 37
            answer: -32700 the frame is not UTF-8 at byte 34
            answer: -32700 the frame is not UTF-8 at byte 37
            request 1 "é" None
        "#]],
    );
}

// Shows: BASE-004, BASE-006, BASE-007, BASE-012, BASE-013, BASE-015, BASE-016, BASE-020, FC-012
#[test]
fn json_that_is_no_message() {
    check(
        &[
            "1",
            "\"x\"",
            "null",
            "{}",
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"id":7,"method":"ping"}"#,
            r#"{"jsonrpc":2.0,"id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0 ","id":7,"method":"ping"}"#,
            r#"{"method":"notifications/x"}"#,
            r#"{"id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/list","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1e40,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":1}"#,
            r#"{"jsonrpc":"2.0","method":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":"a"}"#,
            r#"{"jsonrpc":"2.0","id":"7","method":"ping","params":0}"#,
            r#"{"jsonrpc":"2.0","id":7,"id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7,"\u0069d":8,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{},"params":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":"text"}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1.5,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":"x","message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":null}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":10000000000000000000,"message":"m"}}"#,
        ],
        expect![[r#"
            answer: -32600 a message is an object
            answer: -32600 a message is an object
            answer: -32600 a message is an object
            answer: -32600 `jsonrpc` is not "2.0"
            answer: -32600 a message has a `method`, a `result` or an `error`
            answer 7: -32600 a message has a `method`, a `result` or an `error`
            answer 7: -32600 `jsonrpc` is not "2.0"
            answer 7: -32600 `jsonrpc` is not "2.0"
            answer 7: -32600 `jsonrpc` is not "2.0"
            answer 7: -32600 `jsonrpc` is not "2.0"
            answer: -32600 `jsonrpc` is not "2.0"
            response Some(7): -32600 `jsonrpc` is not "2.0"
            answer: -32600 `id` is neither a text nor an integer
            answer: -32600 `id` is neither a text nor an integer
            answer: -32600 `id` is neither a text nor an integer
            answer: -32600 `id` is neither a text nor an integer
            answer: -32600 `id` is neither a text nor an integer
            answer: -32600 `id` is neither a text nor an integer
            answer 7: -32600 `method` is not a text
            answer: -32600 `method` is not a text
            answer 7: -32600 `params` is not an object
            answer 7: -32600 `params` is not an object
            answer "7": -32600 `params` is not an object
            answer: -32600 `id` occurs twice
            answer: -32600 `id` occurs twice
            answer 7: -32600 `method` occurs twice
            answer 7: -32600 `jsonrpc` occurs twice
            answer 7: -32600 `params` occurs twice
            answer 7: -32600 a message is a request or a response, not both
            answer 7: -32600 a message is a request or a response, not both
            response Some(7): -32600 a response has a `result` or an `error`, not both
            response Some(7): -32600 a response has a `result` or an `error`, not both
            response Some(7): -32600 `result` occurs twice
            response None: -32600 a result names its request by an `id`
            response None: -32600 `id` is neither a text nor an integer
            response None: -32600 `id` is neither a text nor an integer
            response Some(7): -32600 `error` has an integer `code` and a text `message`
            response Some(7): -32600 `error` has an integer `code` and a text `message`
            response Some(7): -32600 `error` has an integer `code` and a text `message`
            response Some(7): -32600 `error` has an integer `code` and a text `message`
            response Some(7): -32600 `error` has an integer `code` and a text `message`
            response Some(7): -32600 `error` has an integer `code` and a text `message`
            response Some(7): -32600 `error` has an integer `code` and a text `message`
            response Some(7): -32600 `error` has an integer `code` and a text `message`
            response Some(7): -32600 `error` has an integer `code` and a text `message`
        "#]],
    );
}

// Shows: BASE-025
#[test]
fn what_would_have_been_a_notification_gets_no_answer() {
    check(
        &[
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":[1]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":"a"}"#,
            // What it is called can't be said, so neither that it is one.
            r#"{"jsonrpc":"2.0","method":1,"params":"a"}"#,
        ],
        expect![[r#"
            notification: -32600 `params` is not an object
            notification: -32600 `params` is not an object
            answer: -32600 `method` is not a text
        "#]],
    );
}

/// A call that waits must not wait for a response that came and can't be read.
// Shows: FC-002, FC-006
#[test]
fn a_response_that_is_cut_or_broken_names_its_request_if_that_is_certain() {
    check(
        &[
            r#"{"jsonrpc":"2.0","id":3,"result":{"x":NaN}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{"text":"a"#,
            r#"{"jsonrpc":"2.0","id":"3","error":{"code""#,
            r#"{"jsonrpc":"2.0","id":3,"result":"#,
            // There may be more digits, another id, or no id at all.
            r#"{"jsonrpc":"2.0","result":{},"id":3"#,
            r#"{"jsonrpc":"2.0","result":{},"id":"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"id":"#,
            r#"{"jsonrpc":"2.0","result":{"x":NaN},"id":3}"#,
            r#"{"jsonrpc":"2.0","id":3,"res"#,
        ],
        expect![[r#"
            response Some(3): -32700 the frame is not JSON at byte 38
            response Some(3): -32700 the frame ends inside of a JSON value
            response Some("3"): -32700 the frame ends inside of a JSON value
            response Some(3): -32700 the frame ends inside of a JSON value
            response None: -32700 the frame ends inside of a JSON value
            response None: -32700 the frame ends inside of a JSON value
            response None: -32700 the frame ends inside of a JSON value
            response None: -32700 the frame is not JSON at byte 31
            answer: -32700 the frame ends inside of a JSON value
        "#]],
    );
}

// Shows: FC-004
#[test]
fn limits() {
    let limits = Limits::new().with_frame_bytes(60).with_depth(3).with_batch(2);
    check_with(
        &[
            // 60 bytes, and one more.
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"aa"}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"aaa"}}"#,
            br#"{"jsonrpc":"2.0","method":"ping","params":{"a":"aaaaaaaaa"},"id":1}"#,
            // The limit cuts the id in two.
            br#"{"jsonrpc":"2.0","method":"ping","params":{"a":"aaa"},"id":12}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":{"a":"aaaaaaaaaaaaaaaaaaaaaaaa"}}"#,
            // 60 bytes of which the last is half a character.
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"aaaaé\"}}"
                .as_bytes(),
            br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[[]]}}"#,
            br#"{"jsonrpc":"2.0","params":[[[{"]":"}\""}]]],"id":1}"#,
            br#"{"jsonrpc":"2.0","method":"m","params":{"a":[[1]]}}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":[[[0]]]}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":[[[0}"#,
            br#"[{},{}]"#,
            br#"[{},{},{}]"#,
            br#"[{},{},x]"#,
            br#"[{"a":{}}]"#,
            br#"[{"a":{"a":[]}}]"#,
        ],
        &limits,
        expect![[r#"
            request 1 "ping" Some({"a":"aa"})
            answer 1: -32600 the frame is longer than 60 bytes
            answer: -32600 the frame is longer than 60 bytes
            answer: -32600 the frame is longer than 60 bytes
            response Some(1): -32600 the frame is longer than 60 bytes
            answer 1: -32600 the frame is longer than 60 bytes
            request 1 "m" Some({"a":[1]})
            answer 1: -32600 the frame is nested deeper than 3 levels
            answer 1: -32600 the frame is nested deeper than 3 levels
            notification: -32600 the frame is nested deeper than 3 levels
            response Some(1): -32600 the frame is nested deeper than 3 levels
            response Some(1): -32700 the frame ends inside of a JSON value
            batch: answer: -32600 `jsonrpc` is not "2.0" | answer: -32600 `jsonrpc` is not "2.0"
            answer: -32600 the batch has more than 2 messages
            answer: -32700 the frame is not JSON at byte 7
            batch: answer: -32600 `jsonrpc` is not "2.0"
            answer: -32600 the frame is nested deeper than 3 levels
        "#]],
    );
    let flat = Limits::new().with_depth(0);
    check_with(
        &[br#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, br#"{"a":{}}"#, b"[1]", b"[{}]"],
        &flat,
        expect![[r#"
            request 1 "m" None
            answer: -32600 the frame is nested deeper than 1 levels
            batch: answer: -32600 a message is an object
            answer: -32600 the frame is nested deeper than 1 levels
        "#]],
    );
    let deep = Limits::new().with_depth(1000);
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{open}{close}}}"#).into_bytes()
    };
    check_with(
        &[&nested(200)],
        &deep,
        expect![[r#"
        response Some(1): -32600 the frame is nested deeper than 127 levels
    "#]],
    );
    assert!(decode(&nested(126).into(), &deep).is_ok());
    // A frame of nothing but brackets neither takes the stack nor square time.
    assert!(decode(&Bytes::from("[".repeat(4 << 20)), &Limits::new()).is_err());
    assert!(decode(&nested(2 << 20).into(), &Limits::new()).is_err());
}

// Shows: FC-017
#[test]
fn batches() {
    check(
        &[
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]"#,
            r#" [ {"jsonrpc":"2.0","id":1,"result":{}} , 1 , {"id":2} , [] , {"jsonrpc":"2.0","id":3,"method":"m","params":[]} ] "#,
            "[]",
            "[1]",
            "[[]]",
        ],
        expect![[r#"
            batch: request 1 "ping" None | notification "notifications/x" None | request 2 "tools/list" None
            batch: result Some(1) {} | answer: -32600 a message is an object | answer 2: -32600 `jsonrpc` is not "2.0" | answer: -32600 a message is an object | answer 3: -32600 `params` is not an object
            answer: -32600 a batch is not empty
            batch: answer: -32600 a message is an object
            batch: answer: -32600 a message is an object
        "#]],
    );
}

/// A JavaScript program that cuts a text anywhere may write half of an emoji.
#[test]
fn half_of_a_surrogate_pair_is_read_as_no_character() {
    check(
        &[
            r#"{"jsonrpc":"2.0","id":1,"result":{"text":"cut \ud83d"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"text":"\ud83d\ude00 \ude00 \ud83d\u0041"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"\ud83d"}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"cut \uD83D","data":"\udead"}}"#,
            // Under another id than its own nobody would know the answer.
            r#"{"jsonrpc":"2.0","id":"\ud83d","method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":"\ud83d","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"\ud83d","method":"x","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":"\ud83d","error":{"code":1,"message":"\ud83d"}}"#,
            r#"[{"jsonrpc":"2.0","id":"\ud83d","method":"x"},{"jsonrpc":"2.0","id":1,"method":"\ud83d"}]"#,
            r#"{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"x"}"#,
        ],
        expect![[r#"
            result Some(1) {"text":"cut \ufffd"}
            result Some(1) {"text":"\ud83d\ude00 \ufffd \ufffd\u0041"}
            request 1 "�" None
            error Some(1) 1 "cut �" Some("\"\\ufffd\"")
            answer: -32600 `id` is neither a text nor an integer
            response None: -32600 `id` is neither a text nor an integer
            answer: -32600 `params` is not an object
            response None: -32600 `id` is neither a text nor an integer
            batch: answer: -32600 `id` is neither a text nor an integer | request 1 "�" None
            request "😀" "x" None
        "#]],
    );
}

#[test]
fn parts_share_the_memory_of_the_frame() {
    let frame = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"b"}}"#);
    let Ok(Frame::Single(Message::Request(request))) = decode(&frame, &Limits::new()) else {
        panic!("no request")
    };
    let params = request.params.unwrap();
    assert!(frame.as_ptr_range().contains(&params.as_bytes().as_ptr()));
}

// Shows: BASE-003, BASE-026
#[test]
fn what_was_read_is_written_back_unchanged() {
    for frame in [
        r#"{"jsonrpc":"2.0","id":"a b","method":"tools/call","params":{"z":1,"a":[1.0,1e2]}}"#,
        r#"{"jsonrpc":"2.0","method":"x/\u00e9","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":12345678901234567890,"result":{"z":"\/"}}"#,
        r#"{"jsonrpc":"2.0","id":-1,"error":{"code":-1,"message":"m","data":{"b":1,"a":[ ]}}}"#,
    ] {
        let Ok(Frame::Single(message)) =
            decode(&Bytes::from_static(frame.as_bytes()), &Limits::new())
        else {
            panic!("no message: {frame}")
        };
        let written = match message {
            Message::Request(r) => Outgoing::request_raw(r.id, r.method, r.params.as_ref()),
            Message::Notification(n) => Outgoing::notification_raw(n.method, n.params.as_ref()),
            Message::Response(r) => match r.outcome {
                Ok(result) => Outgoing::result_raw(r.id.unwrap(), result.as_bytes()),
                Err(error) => Outgoing::error(r.id, &error),
            },
            _ => panic!("something new"),
        };
        // A method is a name, and written in its plainest form.
        assert_eq!(written.frame(), &frame.replace(r"\u00e9", "é"));
    }
}
