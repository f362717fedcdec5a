//! JSON-RPC: ids, answers, errors.

use serde_json::{Value, json};

use super::super::talk::{Talk, is_error};
use super::super::{Check, Fault, Outcome, both, ensure, fail, over_http, stdio};

const PARSE: i64 = -32700;
const INVALID: i64 = -32600;
const METHOD: i64 = -32601;
const PARAMS: i64 = -32602;

/// Pings with this id, and returns the answer.
fn ping(talk: &mut Talk<'_>, id: &Value) -> Result<Value, Fault> {
    talk.exchange(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
}

/// Sends a request that can't be served; it is refused in either of the ways there are over HTTP.
fn refuses(talk: &mut Talk<'_>, text: &str, codes: &[i64]) -> Outcome {
    let answer = talk.raw(text.as_bytes())?;
    match answer {
        Some(answer) => is_error(&answer, codes),
        None if talk.status >= 400 => Ok(()),
        None => fail(format!("`{text}` was answered by nothing (status {})", talk.status)),
    }
}

/// The same, and the server goes on.
fn survives(talk: &mut Talk<'_>, text: &str, codes: &[i64]) -> Outcome {
    refuses(talk, text, codes)?;
    talk.lives()
}

pub(super) const CHECKS: &[Check] = &[
    both("base/jsonrpc-member", &["BASE-004"], "answers have jsonrpc \"2.0\"", |site| {
        let mut talk = site.ready()?;
        for (method, params) in [("ping", json!({})), ("no/such/method", json!({}))] {
            let answer = talk.ask(method, params)?;
            ensure(answer["jsonrpc"] == "2.0", || answer.to_string())?;
        }
        Ok(())
    }),
    both(
        "base/number-id",
        &["BASE-009", "BASE-006"],
        "a number as an id comes back as one",
        |site| {
            let answer = ping(&mut site.ready()?, &json!(4_242_424_242_i64))?;
            ensure(answer["id"].is_i64(), || answer.to_string())
        },
    ),
    both(
        "base/string-id",
        &["BASE-009", "BASE-006"],
        "a string as an id comes back as one",
        |site| {
            ping(&mut site.ready()?, &json!("an id — ü"))?;
            Ok(())
        },
    ),
    both("base/digits-id", &["BASE-009"], "a string of digits stays a string", |site| {
        let answer = ping(&mut site.ready()?, &json!("17"))?;
        ensure(answer["id"] == "17", || answer.to_string())
    }),
    both("base/zero-id", &["BASE-009"], "0 is an id", |site| {
        let answer = ping(&mut site.ready()?, &json!(0))?;
        ensure(answer["id"] == 0, || answer.to_string())
    }),
    both("base/empty-string-id", &["BASE-009"], "the empty string is an id", |site| {
        let answer = ping(&mut site.ready()?, &json!(""))?;
        ensure(answer["id"] == "", || answer.to_string())
    }),
    both("base/result-present", &["BASE-010"], "an answer without data has a result", |site| {
        let answer = site.ready()?.ask("ping", json!({}))?;
        ensure(answer.get("result").is_some(), || answer.to_string())
    }),
    both(
        "base/result-or-error",
        &["BASE-012"],
        "an answer has a result or an error, not both",
        |site| {
            let mut talk = site.ready()?;
            for method in ["ping", "no/such/method"] {
                let answer = talk.ask(method, json!({}))?;
                let both = answer.get("result").is_some() == answer.get("error").is_some();
                ensure(!both, || answer.to_string())?;
            }
            Ok(())
        },
    ),
    both("base/error-id", &["BASE-013"], "an error has the id of its request", |site| {
        let answer = site.ready()?.ask("no/such/method", json!({}))?;
        ensure(answer.get("error").is_some() && answer["id"].is_i64(), || answer.to_string())
    }),
    both("base/error-object", &["BASE-015"], "an error has a code and a message", |site| {
        let answer = site.ready()?.ask("no/such/method", json!({}))?;
        let error = &answer["error"];
        ensure(error["code"].is_number() && error["message"].is_string(), || answer.to_string())
    }),
    both("base/error-code-integer", &["BASE-016"], "error codes are integers", |site| {
        let answer = site.ready()?.ask("no/such/method", json!({}))?;
        ensure(answer["error"]["code"].is_i64(), || answer.to_string())
    }),
    both("base/error-message", &["BASE-017"], "the error's message is short", |site| {
        let answer = site.ready()?.ask("no/such/method", json!({}))?;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        let short = !message.is_empty() && message.len() <= 200 && !message.contains('\n');
        ensure(short, || answer.to_string())
    }),
    both("base/unknown-method", &["BASE-021"], "an unknown method is -32601", |site| {
        site.ready()?.refused("no/such/method", json!({}), &[METHOD])
    }),
    both(
        "base/unknown-method-survived",
        &["BASE-021"],
        "after an unknown method all goes on",
        |site| {
            let mut talk = site.ready()?;
            talk.refused("tools/destroy", json!({}), &[METHOD])?;
            talk.lives()
        },
    ),
    both("base/methods-have-case", &["BASE-021"], "methods are case-sensitive", |site| {
        site.ready()?.refused("Ping", json!({}), &[METHOD])
    }),
    both("base/not-json", &["BASE-019"], "what is no JSON is -32700", |site| {
        survives(&mut site.ready()?, "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\"", &[PARSE])
    }),
    both("base/garbage", &["BASE-019"], "noise is survived", |site| {
        survives(&mut site.ready()?, "hello, is anybody there?", &[PARSE])
    }),
    both("base/not-a-request", &["BASE-020"], "JSON that is no message is -32600", |site| {
        survives(&mut site.ready()?, "{\"hello\": \"world\"}", &[INVALID])
    }),
    both("base/scalar", &["BASE-020"], "a bare number is -32600", |site| {
        survives(&mut site.ready()?, "42", &[INVALID])
    }),
    both(
        "base/no-version",
        &["BASE-004", "BASE-020"],
        "a request without jsonrpc is refused",
        |site| survives(&mut site.ready()?, "{\"id\": 77, \"method\": \"ping\"}", &[INVALID]),
    ),
    both("base/wrong-version", &["BASE-004", "BASE-020"], "jsonrpc \"1.0\" is refused", |site| {
        let text = "{\"jsonrpc\": \"1.0\", \"id\": 77, \"method\": \"ping\"}";
        survives(&mut site.ready()?, text, &[INVALID])
    }),
    both("base/null-id", &["BASE-007"], "a request with the id null is refused", |site| {
        let text = "{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\"}";
        survives(&mut site.ready()?, text, &[INVALID])
    }),
    both(
        "base/object-id",
        &["BASE-006"],
        "a request with an object as its id is refused",
        |site| {
            let text = "{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"ping\"}";
            survives(&mut site.ready()?, text, &[INVALID])
        },
    ),
    both("base/method-number", &["BASE-020"], "a number as a method is refused", |site| {
        let text = "{\"jsonrpc\": \"2.0\", \"id\": 77, \"method\": 5}";
        survives(&mut site.ready()?, text, &[INVALID])
    }),
    both("base/params-scalar", &["BASE-020"], "a string as params is refused", |site| {
        let text = "{\"jsonrpc\": \"2.0\", \"id\": 77, \"method\": \"ping\", \"params\": \"x\"}";
        survives(&mut site.ready()?, text, &[INVALID, PARAMS])
    }),
    both(
        "base/params-wrong-type",
        &["BASE-022"],
        "parameters of the wrong type are -32602",
        |site| {
            let mut talk = site.with("tools")?;
            talk.refused("tools/call", json!({"name": 5}), &[PARAMS])
        },
    ),
    both("base/params-missing", &["BASE-022"], "a missing parameter is -32602", |site| {
        let mut talk = site.with("tools")?;
        talk.refused("tools/call", json!({}), &[PARAMS])
    }),
    stdio("base/no-batch", &["BASE-028", "TRANSPORT-STDIO-006"], "an array is refused", |site| {
        let text = "[{\"jsonrpc\": \"2.0\", \"id\": 77, \"method\": \"ping\"}]";
        survives(&mut site.ready()?, text, &[INVALID, PARSE])
    }),
    over_http(
        "base/no-batch-http",
        &["BASE-028", "TRANSPORT-HTTP-009"],
        "an array is refused",
        |site| {
            let text = "[{\"jsonrpc\": \"2.0\", \"id\": 77, \"method\": \"ping\"}]";
            survives(&mut site.ready()?, text, &[INVALID, PARSE])
        },
    ),
    both(
        "base/notification-silence",
        &["BASE-025"],
        "an unknown notification is not answered",
        |site| {
            let mut talk = site.ready()?;
            talk.tell("notifications/no/such", json!({"a": 1}))?;
            talk.stays_silent()
        },
    ),
    both(
        "base/known-notification-silence",
        &["BASE-025"],
        "a known notification is not answered",
        |site| {
            let mut talk = site.ready()?;
            talk.tell("notifications/roots/list_changed", json!({}))?;
            talk.stays_silent()
        },
    ),
    stdio(
        "base/odd-notification",
        &["BASE-025"],
        "a notification with bad parameters is not answered",
        |site| {
            let mut talk = site.ready()?;
            talk.tell("notifications/cancelled", json!({"requestId": {"no": "id"}}))?;
            talk.tell("notifications/progress", json!({"progress": "x"}))?;
            talk.stays_silent()
        },
    ),
    stdio("base/stray-response", &["BASE-003"], "an answer to nothing is not answered", |site| {
        let mut talk = site.ready()?;
        talk.say(&json!({"jsonrpc": "2.0", "id": 987_654, "result": {}}))?;
        talk.say(&json!({"jsonrpc": "2.0", "id": "x", "error": {"code": -1, "message": "m"}}))?;
        talk.stays_silent()
    }),
    both("base/unicode", &["BASE-027"], "text comes back as UTF-8", |site| {
        let answer = ping(&mut site.ready()?, &json!("ü — 漢字 🦀 \u{7f} \"\\\n"))?;
        ensure(answer.get("result").is_some(), || answer.to_string())
    }),
    both("base/meta-foreign", &["META-002"], "unknown keys in _meta are no fault", |site| {
        let meta = json!({"_meta": {"example.com/x": {"y": [1]}, "plain": null}});
        site.ready()?.result("ping", meta).map(drop)
    }),
    both("base/unknown-params", &["BASE-003"], "unknown parameters are no fault", |site| {
        let mut talk = site.ready()?;
        let request = json!({"jsonrpc": "2.0", "id": 5, "method": "ping",
            "params": {"more": 1}});
        let answer = talk.exchange(&request)?;
        ensure(answer.get("result").is_some(), || answer.to_string())
    }),
    both("base/no-params", &["BASE-003"], "params may be left out", |site| {
        let answer = ping(&mut site.ready()?, &json!(9))?;
        ensure(answer.get("result").is_some(), || answer.to_string())
    }),
    both(
        "base/answers-match",
        &["BASE-009"],
        "each of many requests gets the answer with its id",
        |site| {
            let mut talk = site.ready()?;
            for id in 100..120 {
                let answer = ping(&mut talk, &json!(id))?;
                ensure(answer["id"] == id, || answer.to_string())?;
            }
            Ok(())
        },
    ),
    stdio(
        "base/pipelined",
        &["BASE-009"],
        "requests sent together are all answered, once",
        |site| {
            let mut talk = site.ready()?;
            let lines: Vec<String> = (200..210)
                .map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string())
                .collect();
            let first = talk.raw(lines.join("\n").as_bytes())?.unwrap_or_default();
            let mut ids = vec![first["id"].as_i64().unwrap_or_default()];
            while ids.len() < 10 {
                let wait = talk.wait();
                let Some(answer) = talk.line(wait)? else { return fail(format!("only {ids:?}")) };
                ids.extend(answer["id"].as_i64());
            }
            ids.sort_unstable();
            ensure(ids == (200..210).collect::<Vec<_>>(), || format!("{ids:?}"))?;
            talk.stays_silent()
        },
    ),
];
