//! Clients that break a rule: what they say is changed on its way, or what they get, as if they
//! had misread it.

use serde_json::{Value, json};

use crate::check::http::{Event, Head};

use super::super::{Asked, Memory};
use super::{Break, Deal, How, deal, message, said, takes_for, without};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// Changes the head of what a client sends.
const fn sends(
    name: &'static str,
    caught_by: &'static str,
    change: fn(&mut Head, &mut Memory),
) -> Break {
    Break { name, caught_by, how: How::Heads(change, |_, _, _| {}) }
}

/// Changes the head of what a client gets.
const fn gets(
    name: &'static str,
    caught_by: &'static str,
    change: fn(&Asked<'_>, &mut Head, &mut Memory),
) -> Break {
    Break { name, caught_by, how: How::Heads(|_, _| {}, change) }
}

/// Changes the stream that a client gets.
const fn reads(name: &'static str, caught_by: &'static str, change: fn(&str) -> String) -> Break {
    Break { name, caught_by, how: How::Stream(change) }
}

fn is(request: &Value, method: &str) -> bool {
    request["method"] == method
}

/// Changes the request or notification with this method.
fn changed(text: &str, method: &str, change: impl FnOnce(&mut Value)) -> Deal {
    takes_for(text, |request| is(request, method), change)
}

/// Changes the answer to the question with this id.
fn reply(text: &str, id: Value, change: impl FnOnce(&mut Value)) -> Deal {
    takes_for(text, |m| m.get("method").is_none() && m["id"] == id, change)
}

/// Says something else before what has this method.
fn before(text: &str, method: &str, other: Value) -> Deal {
    if is(&said(text), method) { Deal::Also(other.to_string()) } else { Deal::Pass }
}

/// Says what has this method twice.
fn twice(text: &str, method: &str) -> Deal {
    if is(&said(text), method) { Deal::Also(text.to_owned()) } else { Deal::Pass }
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": "other", "method": "tools/list"})
}

/// Reads a stream up to here.
fn up_to(text: &str, end: &str) -> String {
    text.split(end).next().unwrap_or_default().to_owned()
}

fn not_understood(asked: &Asked<'_>, head: &mut Head, kind: &str) {
    if asked.says("tools/call") && head.get("content-type") == Some(kind) {
        head.set("content-type", "text/plain");
    }
}

fn is_later(head: &Head) -> bool {
    head.get(SESSION).is_some()
}

pub(super) const BREAKS: &[Break] = &[
    deal("client-lists-first", "client/initialize-first", |text| {
        before(text, "initialize", list())
    }),
    deal("client-initializes-twice", "client/initialize-once", |text| twice(text, "initialize")),
    deal("client-version-semver", "client/version", |text| {
        changed(text, "initialize", |r| r["params"]["protocolVersion"] = json!("1.0"))
    }),
    deal("client-without-version", "client/version", |text| {
        changed(text, "initialize", |r| without(&mut r["params"], "protocolVersion"))
    }),
    deal("client-asks-for-the-oldest", "client/version-newest", |text| {
        changed(text, "initialize", |r| r["params"]["protocolVersion"] = json!("2024-11-05"))
    }),
    deal("client-without-capabilities", "client/capabilities", |text| {
        changed(text, "initialize", |r| without(&mut r["params"], "capabilities"))
    }),
    deal("client-capabilities-list", "client/capabilities", |text| {
        changed(text, "initialize", |r| r["params"]["capabilities"] = json!([]))
    }),
    deal("client-of-unknown-capability", "client/capability-names", |text| {
        changed(text, "initialize", |r| r["params"]["capabilities"]["tools"] = json!({}))
    }),
    deal("client-capability-boolean", "client/capability-objects", |text| {
        changed(text, "initialize", |r| r["params"]["capabilities"]["roots"] = json!(true))
    }),
    deal("client-without-info", "client/info", |text| {
        changed(text, "initialize", |r| without(&mut r["params"], "clientInfo"))
    }),
    deal("client-without-own-version", "client/info", |text| {
        changed(text, "initialize", |r| without(&mut r["params"]["clientInfo"], "version"))
    }),
    deal("client-not-initialized", "client/initialized", |text| {
        if is(&said(text), "notifications/initialized") { Deal::Swallow } else { Deal::Pass }
    }),
    deal("client-asks-too-early", "client/initialized-before", |text| {
        before(text, "notifications/initialized", list())
    }),
    deal("client-initialized-twice", "client/initialized-once", |text| {
        twice(text, "notifications/initialized")
    }),
    deal("client-jsonrpc-1.0", "client/jsonrpc-member", |text| {
        changed(text, "tools/call", |r| r["jsonrpc"] = json!("1.0"))
    }),
    deal("client-without-jsonrpc", "client/jsonrpc-member", |text| {
        changed(text, "notifications/initialized", |r| without(r, "jsonrpc"))
    }),
    deal("client-id-null", "client/id-type", |text| {
        changed(text, "tools/call", |r| r["id"] = Value::Null)
    }),
    deal("client-id-fraction", "client/id-type", |text| {
        changed(text, "tools/call", |r| r["id"] = json!(1.5))
    }),
    deal("client-id-object", "client/id-type", |text| {
        changed(text, "tools/list", |r| r["id"] = json!({"n": 1}))
    }),
    deal("client-id-constant", "client/id-unique", |text| {
        takes_for(text, |r| r["id"].is_i64(), |r| r["id"] = json!(1))
    }),
    deal("client-notice-with-id", "client/notification-id", |text| {
        changed(text, "notifications/initialized", |r| r["id"] = json!(77))
    }),
    deal("client-params-list", "client/params-object", |text| {
        changed(text, "tools/list", |r| r["params"] = json!([]))
    }),
    deal("client-params-null", "client/params-object", |text| {
        changed(text, "notifications/initialized", |r| r["params"] = Value::Null)
    }),
    deal("client-batches", "client/one-message", |text| {
        if is(&said(text), "tools/list") { Deal::Change(format!("[{text}]")) } else { Deal::Pass }
    }),
    deal("client-two-lines", "client/one-message", |text| {
        if is(&said(text), "tools/list") {
            Deal::Change(format!("{text}\n{text}"))
        } else {
            Deal::Pass
        }
    }),
    sends("client-accepts-json", "client/accept", |head, _| head.set("accept", "application/json")),
    sends("client-accepts-anything", "client/accept", |head, _| head.set("accept", "*/*")),
    sends("client-accepts-nothing", "client/accept", |head, _| head.remove("accept")),
    sends("client-posts-text", "client/content-type", |head, _| {
        head.set("content-type", "text/plain");
    }),
    sends("client-posts-forms", "client/content-type", |head, _| {
        head.set("content-type", "application/x-www-form-urlencoded");
    }),
    sends("client-gets-json", "client/get-accept", |head, _| {
        if head.word(0) == "GET" {
            head.set("accept", "application/json");
        }
    }),
    sends("client-without-version-header", "client/version-header", |head, _| head.remove(VERSION)),
    sends("client-forgets-version-at-the-end", "client/version-header", |head, _| {
        if head.word(0) == "DELETE" {
            head.remove(VERSION);
        }
    }),
    sends("client-version-header-wrong", "client/version-header-value", |head, _| {
        if is_later(head) {
            head.set(VERSION, "2025-03-26");
        }
    }),
    sends("client-version-header-as-asked", "client/version-header-older", |head, _| {
        if is_later(head) {
            head.set(VERSION, "2025-11-25");
        }
    }),
    sends("client-without-session", "client/session-header", |head, _| head.remove(SESSION)),
    sends("client-session-lower-case", "client/session-header", |head, _| {
        let upper = head.get(SESSION).map(str::to_ascii_uppercase);
        if let Some(session) = upper {
            head.set(SESSION, session);
        }
    }),
    sends("client-invents-a-session", "client/session-none", |head, _| head.set(SESSION, "mine")),
    sends("client-session-in-the-url", "client/session-secret", |head, _| {
        let session = head.get(SESSION).unwrap_or_default().to_owned();
        head.first = head.first.replacen("/mcp", &format!("/mcp?session={session}"), 1);
    }),
    sends("client-keeps-a-lost-session", "client/session-lost", |head, memory| {
        match head.get(SESSION) {
            Some(session) => session.clone_into(&mut memory.session),
            None if !memory.session.is_empty() => head.set(SESSION, memory.session.clone()),
            None => {}
        }
    }),
    gets("client-takes-404-for-500", "client/session-lost", |_, head, _| {
        if head.word(1) == "404" {
            head.first = "HTTP/1.1 500 Error".to_owned();
        }
    }),
    sends("client-never-deletes", "client/delete", |head, _| {
        head.first = head.first.replacen("DELETE", "OPTIONS", 1);
    }),
    message("client-goes-on-with-any-version", "client/version-unknown", |_, m| {
        if m["result"]["protocolVersion"] == "1999-01-01" {
            m["result"]["protocolVersion"] = json!("2025-11-25");
        }
    }),
    message("client-falls-over-2025-06-18", "client/version-2025-06-18", |asked, m| {
        if is(asked, "tools/list") {
            *m = super::refusal(asked, -32600);
        }
    }),
    message("client-falls-over-2025-03-26", "client/version-2025-03-26", |asked, m| {
        if is(asked, "tools/list") {
            *m = super::refusal(asked, -32600);
        }
    }),
    message("client-of-known-members-only", "client/future-server", |asked, m| {
        if m["result"].get("future").is_some() {
            *m = super::refusal(asked, -32600);
        }
    }),
    deal("client-asks-for-tools-anyway", "client/no-tools", |text| {
        before(text, "initialize", list())
    }),
    deal("client-reads-cursors", "client/paged", |text| {
        takes_for(
            text,
            |r| r["params"]["cursor"].is_string(),
            |r| {
                r["params"]["cursor"] = json!("unusual cursor");
            },
        )
    }),
    deal("client-counts-pages", "client/paged", |text| {
        takes_for(text, |r| r["params"]["cursor"].is_string(), |r| r["params"]["cursor"] = json!(2))
    }),
    message("client-stops-at-an-empty-page", "client/page-empty", |_, m| {
        if m["result"]["tools"] == json!([]) {
            without(&mut m["result"], "nextCursor");
        }
    }),
    deal("client-lists-on", "client/page-last", |text| before(text, "tools/call", list())),
    gets("client-deaf-to-json", "client/json-answer", |asked, head, _| {
        not_understood(asked, head, "application/json");
    }),
    gets("client-deaf-to-streams", "client/stream-answer", |asked, head, _| {
        not_understood(asked, head, "text/event-stream");
    }),
    reads("client-ends-at-a-comment", "client/stream-comments", |text| up_to(text, ": keep-alive")),
    reads("client-ends-at-empty-data", "client/stream-empty", |text| up_to(text, "id: 2")),
    reads("client-sees-no-cr-lf", "client/stream-crlf", |text| text.replace("\r\n\r\n", " ")),
    reads("client-sees-no-cr", "client/stream-cr", |text| text.replace('\r', " ")),
    reads("client-reads-the-first-line", "client/stream-lines", |text| {
        let data = text.lines().find(|line| line.starts_with("data:")).unwrap_or_default();
        format!("{data}\n\n")
    }),
    reads("client-reads-the-first-piece", "client/stream-pieces", |text| {
        text.chars().take(text.chars().count() / 2).collect()
    }),
    sends("client-does-not-resume", "client/resume", |head, _| {
        if head.get("last-event-id").is_some() {
            head.first = head.first.replacen("GET", "OPTIONS", 1);
        }
    }),
    sends("client-resumes-from-the-start", "client/resume", |head, _| {
        if head.get("last-event-id").is_some() {
            head.set("last-event-id", "0");
        }
    }),
    sends("client-resumes-without-session", "client/resume-session", |head, _| {
        if head.get("last-event-id").is_some() {
            head.remove(SESSION);
        }
    }),
    Break {
        name: "client-does-not-wait",
        caught_by: "client/retry",
        how: How::Event(|_, _, event| {
            let retry = event.retry.as_ref().map(|_| "1".to_owned());
            vec![Event { retry, ..event }]
        }),
    },
    deal("client-says-pong", "client/ping", |text| {
        reply(text, json!("are you there"), |m| m["result"] = json!({"pong": true}))
    }),
    deal("client-does-not-answer-pings", "client/ping", |text| {
        if said(text)["id"] == "are you there" { Deal::Swallow } else { Deal::Pass }
    }),
    deal("client-answers-by-text-ids", "client/answer-id", |text| {
        reply(text, json!(0), |m| m["id"] = json!("0"))
    }),
    deal("client-answers-by-number-ids", "client/answer-digits", |text| {
        reply(text, json!("17"), |m| m["id"] = json!(17))
    }),
    deal("client-serves-anything", "client/unknown-method", |text| {
        reply(text, json!(5), |m| {
            without(m, "error");
            m["result"] = json!({});
        })
    }),
    deal("client-unknown-as-internal", "client/unknown-method", |text| {
        reply(text, json!(5), |m| m["error"]["code"] = json!(-32603))
    }),
    deal("client-has-secret-roots", "client/roots-undeclared", |text| {
        reply(text, json!(5), |m| {
            without(m, "error");
            m["result"] = json!({"roots": []});
        })
    }),
    deal("client-samples-secretly", "client/sampling-undeclared", |text| {
        reply(text, json!(5), |m| {
            without(m, "error");
            m["result"] = json!({"role": "assistant", "model": "m",
                "content": {"type": "text", "text": "x"}});
        })
    }),
    deal("client-answers-notices", "client/notice-silence", |text| {
        before(text, "tools/call", json!({"jsonrpc": "2.0", "id": 1, "result": {}}))
    }),
    reads("client-ends-at-a-stray-answer", "client/stray-answer", |text| up_to(text, "data: ")),
    reads("client-ends-at-stray-progress", "client/stray-progress", |text| up_to(text, "data: ")),
    reads("client-ends-at-a-stray-cancel", "client/stray-cancel", |text| up_to(text, "data: ")),
    deal("client-calls-nobody", "client/call-arguments", |text| {
        changed(text, "tools/call", |r| without(&mut r["params"], "name"))
    }),
    deal("client-arguments-list", "client/call-arguments", |text| {
        changed(text, "tools/call", |r| r["params"]["arguments"] = json!([2, 3]))
    }),
    deal("client-progress-token-fraction", "client/progress-token", |text| {
        changed(text, "tools/call", |r| r["params"]["_meta"] = json!({"progressToken": 1.5}))
    }),
    deal("client-progress-token-constant", "client/progress-token", |text| {
        let request = |r: &Value| r["method"].as_str().is_some_and(|m| m.starts_with("tools/"));
        takes_for(text, request, |r| r["params"]["_meta"] = json!({"progressToken": "same"}))
    }),
    deal("client-fills-in-undeclared", "client/elicitation-declared", |text| {
        changed(text, "initialize", |r| without(&mut r["params"]["capabilities"], "elicitation"))
    }),
    deal("client-says-ok", "client/elicitation-action", |text| {
        reply(text, json!("form"), |m| m["result"]["action"] = json!("ok"))
    }),
    deal("client-fills-in-texts", "client/elicitation-content", |text| {
        reply(text, json!("form"), |m| m["result"]["content"]["age"] = json!("30"))
    }),
    deal("client-leaves-fields-empty", "client/elicitation-content", |text| {
        reply(text, json!("form"), |m| without(&mut m["result"]["content"], "verified"))
    }),
    deal("client-opens-any-url", "client/elicitation-url", |text| {
        reply(text, json!("url"), |m| {
            without(m, "error");
            m["result"] = json!({"action": "accept"});
        })
    }),
    deal("client-refuses-urls-as-internal", "client/elicitation-url", |text| {
        reply(text, json!("url"), |m| m["error"]["code"] = json!(-32603))
    }),
];
