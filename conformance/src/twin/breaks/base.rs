use serde_json::{Value, json};

use super::{Break, Deal, answers, deal, message, messages, refuses, said, takes_for, without};

/// Changes an id of which this holds.
fn id(message: &mut Value, to: Value, holds: impl FnOnce(&Value) -> bool) {
    if message.get("method").is_none() && message.get("id").is_some_and(holds) {
        message["id"] = to;
    }
}

fn is_unknown(asked: &Value) -> bool {
    asked["method"] == "no/such/method"
}

/// Changes the error of an unknown method.
fn error(asked: &Value, message: &mut Value, change: impl FnOnce(&mut Value)) {
    if is_unknown(asked) && message["error"].is_object() {
        change(message);
    }
}

pub(super) const BREAKS: &[Break] = &[
    message("jsonrpc-1.0", "base/jsonrpc-member", |_, m| m["jsonrpc"] = json!("1.0")),
    message("jsonrpc-left-out", "base/jsonrpc-member", |_, m| without(m, "jsonrpc")),
    message("jsonrpc-number", "base/jsonrpc-member", |_, m| m["jsonrpc"] = json!(2.0)),
    message("number-id-as-text", "base/number-id", |_, m| {
        let text = m["id"].to_string();
        id(m, json!(text), |id| id.as_i64() > Some(1_000_000));
    }),
    message("number-id-cut", "base/number-id", |_, m| {
        let cut = m["id"].as_i64().unwrap_or_default() & 0x7fff_ffff;
        id(m, json!(cut), |id| id.as_i64() > Some(i64::from(i32::MAX)));
    }),
    message("text-id-as-ascii", "base/string-id", |_, m| {
        id(m, json!("an id ? ?"), |id| id.as_str().is_some_and(|id| !id.is_ascii()));
    }),
    message("digits-id-as-number", "base/digits-id", |_, m| {
        id(m, json!(17), |id| id == "17");
    }),
    message("zero-id-as-null", "base/zero-id", |_, m| id(m, Value::Null, |id| *id == 0)),
    message("zero-id-as-false", "base/zero-id", |_, m| id(m, json!(false), |id| *id == 0)),
    message("empty-id-as-null", "base/empty-string-id", |_, m| id(m, Value::Null, |id| id == "")),
    message("result-left-out", "base/result-present", |asked, m| {
        if asked["method"] == "ping" {
            without(m, "result");
        }
    }),
    message("error-beside-result", "base/result-or-error", |asked, m| {
        if asked["method"] == "ping" {
            m["error"] = json!({"code": 0, "message": "none"});
        }
    }),
    message("result-beside-error", "base/result-or-error", |asked, m| {
        error(asked, m, |m| m["result"] = Value::Null);
    }),
    message("error-without-id", "base/error-id", |asked, m| error(asked, m, |m| without(m, "id"))),
    message("error-id-null", "base/error-id", |asked, m| {
        error(asked, m, |m| m["id"] = Value::Null)
    }),
    message("error-as-text", "base/error-object", |asked, m| {
        error(asked, m, |m| m["error"] = json!("Method not found"));
    }),
    message("error-without-message", "base/error-object", |asked, m| {
        error(asked, m, |m| without(&mut m["error"], "message"));
    }),
    message("error-without-code", "base/error-object", |asked, m| {
        error(asked, m, |m| without(&mut m["error"], "code"));
    }),
    message("error-code-as-text", "base/error-code-integer", |asked, m| {
        error(asked, m, |m| m["error"]["code"] = json!("-32601"));
    }),
    message("error-code-fraction", "base/error-code-integer", |asked, m| {
        error(asked, m, |m| m["error"]["code"] = json!(-32601.5));
    }),
    message("error-message-long", "base/error-message", |asked, m| {
        error(asked, m, |m| m["error"]["message"] = json!("a stack trace\n".repeat(50)));
    }),
    message("error-message-empty", "base/error-message", |asked, m| {
        error(asked, m, |m| m["error"]["message"] = json!(""));
    }),
    message("unknown-method-internal", "base/unknown-method", |asked, m| {
        error(asked, m, |m| m["error"]["code"] = json!(-32603));
    }),
    deal("unknown-method-works", "base/unknown-method", |text| {
        answers(text, json!({}), is_unknown)
    }),
    deal("unknown-method-kills", "base/unknown-method-survived", |text| {
        if said(text)["method"] == "tools/destroy" { Deal::Die } else { Deal::Pass }
    }),
    deal("methods-without-case", "base/methods-have-case", |text| {
        takes_for(text, |r| r["method"] == "Ping", |r| r["method"] = json!("ping"))
    }),
    message("no-json-as-internal", "base/not-json", |_, m| {
        if m["error"]["code"] == -32700 {
            m["error"]["code"] = json!(-32603);
        }
    }),
    deal("no-json-kills", "base/not-json", |text| {
        if text.ends_with("\"method\"") { Deal::Die } else { Deal::Pass }
    }),
    deal("noise-kills", "base/garbage", |text| {
        if text.starts_with("hello") { Deal::Die } else { Deal::Pass }
    }),
    deal("noise-is-ignored", "base/garbage", |text| {
        if text.starts_with("hello") { Deal::Swallow } else { Deal::Pass }
    }),
    deal("no-message-is-ignored", "base/not-a-request", |text| {
        if said(text).get("hello").is_some() { Deal::Swallow } else { Deal::Pass }
    }),
    message("no-message-as-params", "base/not-a-request", |_, m| {
        if m["error"]["code"] == -32600 {
            m["error"]["code"] = json!(-32000);
        }
    }),
    deal("scalar-kills", "base/scalar", |text| {
        if said(text).is_number() { Deal::Die } else { Deal::Pass }
    }),
    deal("scalar-is-answered", "base/scalar", |text| {
        if said(text).is_number() {
            Deal::Reply(json!({"jsonrpc": "2.0", "result": {}}))
        } else {
            Deal::Pass
        }
    }),
    deal("takes-no-version", "base/no-version", |text| {
        takes_for(
            text,
            |r| r["jsonrpc"].is_null() && r["id"] == 77,
            |r| r["jsonrpc"] = json!("2.0"),
        )
    }),
    deal("takes-jsonrpc-1.0", "base/wrong-version", |text| {
        takes_for(text, |r| r["jsonrpc"] == "1.0", |r| r["jsonrpc"] = json!("2.0"))
    }),
    deal("takes-null-id", "base/null-id", |text| {
        takes_for(text, |r| r.get("id").is_some_and(Value::is_null), |r| r["id"] = json!(5))
    }),
    deal("null-id-as-notification", "base/null-id", |text| {
        let null = said(text).get("id").is_some_and(Value::is_null);
        if null { Deal::Swallow } else { Deal::Pass }
    }),
    deal("takes-object-id", "base/object-id", |text| {
        takes_for(text, |r| r["id"].is_object(), |r| r["id"] = json!(5))
    }),
    deal("takes-method-number", "base/method-number", |text| {
        takes_for(text, |r| r["method"] == 5, |r| r["method"] = json!("ping"))
    }),
    deal("takes-params-text", "base/params-scalar", |text| {
        takes_for(text, |r| r["params"].is_string(), |r| without(r, "params"))
    }),
    message("wrong-params-as-internal", "base/params-wrong-type", |asked, m| {
        if asked["params"]["name"] == 5 {
            m["error"]["code"] = json!(-32603);
        }
    }),
    deal("wrong-params-as-result", "base/params-wrong-type", |text| {
        let result = json!({"content": [], "isError": true});
        answers(text, result, |r| r["method"] == "tools/call" && r["params"]["name"] == 5)
    }),
    message("no-params-as-internal", "base/params-missing", |asked, m| {
        if asked["method"] == "tools/call" && asked["params"]["name"].is_null() {
            m["error"]["code"] = json!(-32603);
        }
    }),
    deal("takes-batches", "base/no-batch", |text| {
        let request = said(text);
        if request.is_array() { Deal::Change(request[0].to_string()) } else { Deal::Pass }
    }),
    deal("batches-kill", "base/no-batch", |text| {
        if said(text).is_array() { Deal::Die } else { Deal::Pass }
    }),
    deal("takes-batches-http", "base/no-batch-http", |text| {
        let request = said(text);
        if request.is_array() { Deal::Change(request[0].to_string()) } else { Deal::Pass }
    }),
    deal("answers-unknown-notices", "base/notification-silence", |text| {
        refuses(text, -32601, |r| r["method"] == "notifications/no/such")
    }),
    deal("answers-known-notices", "base/known-notification-silence", |text| {
        answers(text, json!({}), |r| r["method"] == "notifications/roots/list_changed")
    }),
    deal("answers-odd-notices", "base/odd-notification", |text| {
        refuses(text, -32602, |r| r["params"]["progress"] == "x")
    }),
    deal("answers-answers", "base/stray-response", |text| {
        refuses(text, -32600, |r| r["id"] == 987_654)
    }),
    deal("answers-errors", "base/stray-response", |text| {
        refuses(text, -32600, |r| r["error"]["code"] == -1)
    }),
    message("text-loses-signs", "base/unicode", |_, m| {
        id(m, json!("?"), |id| id.as_str().is_some_and(|id| id.contains('漢')));
    }),
    deal("foreign-meta-is-refused", "base/meta-foreign", |text| {
        refuses(text, -32602, |r| r["params"]["_meta"].get("plain").is_some())
    }),
    deal("unknown-params-are-refused", "base/unknown-params", |text| {
        refuses(text, -32600, |r| r["params"]["more"] == 1)
    }),
    deal("params-are-compulsory", "base/no-params", |text| {
        refuses(text, -32602, |r| r["method"] == "ping" && r.get("params").is_none())
    }),
    message("ids-are-mixed-up", "base/answers-match", |_, m| {
        id(m, json!(100), |id| *id == 101);
    }),
    messages("an-answer-comes-twice", "base/pipelined", |asked, m| {
        if asked["id"] == 205 { vec![m.clone(), m] } else { vec![m] }
    }),
    messages("an-answer-is-lost", "base/pipelined", |asked, m| {
        if asked["id"] == 205 { Vec::new() } else { vec![m] }
    }),
];
