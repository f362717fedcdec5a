use serde_json::json;

use crate::check::http::{Event, Head};

use super::super::{Asked, Memory};
use super::{Break, Deal, How, deal, messages, said};

/// Changes the head of an answer.
const fn answered(
    name: &'static str,
    caught_by: &'static str,
    change: fn(&Asked<'_>, &mut Head, &mut Memory),
) -> Break {
    Break { name, caught_by, how: How::Heads(|_, _| {}, change) }
}

/// Changes the head of a request, so that the server does not see what it should.
const fn blind(
    name: &'static str,
    caught_by: &'static str,
    change: fn(&mut Head, &mut Memory),
) -> Break {
    Break { name, caught_by, how: How::Heads(change, |_, head, memory| keep(head, memory)) }
}

const fn heads(
    name: &'static str,
    caught_by: &'static str,
    request: fn(&mut Head, &mut Memory),
    answer: fn(&Asked<'_>, &mut Head, &mut Memory),
) -> Break {
    Break { name, caught_by, how: How::Heads(request, answer) }
}

const fn event(
    name: &'static str,
    caught_by: &'static str,
    change: fn(&Asked<'_>, usize, Event) -> Vec<Event>,
) -> Break {
    Break { name, caught_by, how: How::Event(change) }
}

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// Remembers the real session.
fn keep(head: &Head, memory: &mut Memory) {
    if let Some(session) = head.get(SESSION) {
        session.clone_into(&mut memory.session);
    }
}

/// Gives out this id for the real one.
fn disguise(head: &mut Head, memory: &mut Memory, id: String) {
    if head.get(SESSION).is_some() {
        keep(head, memory);
        head.set(SESSION, id);
    }
}

/// Whatever session is named, it is the last real one.
fn reveal(head: &mut Head, memory: &mut Memory) {
    if head.get(SESSION).is_some() {
        head.set(SESSION, memory.session.clone());
    }
}

fn set_status(head: &mut Head, status: u16) {
    head.first = format!("HTTP/1.1 {status} Other");
}

/// Forgets the Origin of a request with this method.
fn no_origin(head: &mut Head, method: &str) {
    if head.word(0) == method {
        head.remove("origin");
    }
}

fn with_data(data: &str) -> Event {
    Event { data: Some(data.to_owned()), ..Event::default() }
}

fn is_answer(event: &Event) -> bool {
    event.data.as_deref().is_some_and(|data| data.contains("\"result\""))
}

const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"Tool execution started"}}"#;

/// Takes an unknown session for the last one, when asked in this way.
fn any_session(head: &mut Head, memory: &mut Memory, method: &str) {
    if head.word(0) == method && head.get(SESSION).is_some_and(|id| id.starts_with("no-such")) {
        reveal(head, memory);
    }
}

/// Asks for something harmless instead of ending a session.
fn no_delete(head: &mut Head, _: &mut Memory) {
    if head.word(0) == "DELETE" {
        head.first = head.first.replacen("DELETE", "OPTIONS", 1);
    }
}

fn deleted(asked: &Asked<'_>, head: &mut Head, _: &mut Memory) {
    if asked.is("DELETE") {
        set_status(head, 204);
    }
}

pub(super) const BREAKS: &[Break] = &[
    answered("answers-as-plain-text", "http/answer-type", |asked, head, _| {
        if asked.says("900") {
            head.set("content-type", "text/plain");
        }
    }),
    answered("answers-by-201", "http/answer-type", |asked, head, _| {
        if asked.says("900") {
            set_status(head, 201);
        }
    }),
    Break {
        name: "answers-as-a-list",
        caught_by: "http/json-one-object",
        how: How::Body(|_, body| {
            let is_ping = body.windows(8).any(|w| w == b"\"id\":900");
            if is_ping { [b"[".as_slice(), &body, b"]"].concat() } else { body }
        }),
    },
    answered("notices-by-200", "http/notification-202", |asked, head, _| {
        if asked.says("roots/list_changed") {
            set_status(head, 200);
        }
    }),
    answered("notices-by-204", "http/notification-202", |asked, head, _| {
        if asked.says("roots/list_changed") {
            set_status(head, 204);
        }
    }),
    Break {
        name: "notices-with-a-body",
        caught_by: "http/notification-no-body",
        how: How::Body(|_, body| if body.is_empty() { b"{}".to_vec() } else { body }),
    },
    answered("responses-by-500", "http/response-202", |asked, head, _| {
        if asked.says("12345") {
            set_status(head, 500);
        }
    }),
    answered("no-json-by-200", "http/not-json", |_, head, _| {
        if head.word(1) == "400" {
            set_status(head, 200);
        }
    }),
    answered("no-json-by-500", "http/not-json", |_, head, _| {
        if head.word(1) == "400" {
            set_status(head, 500);
        }
    }),
    deal("bad-notices-accepted", "http/bad-notification", |text| {
        if said(text)["method"] == 7 { Deal::Swallow } else { Deal::Pass }
    }),
    deal("empty-bodies-accepted", "http/empty-body", |text| {
        if text.is_empty() { Deal::Swallow } else { Deal::Pass }
    }),
    answered("get-by-404", "http/get", |asked, head, _| {
        if asked.is("GET") {
            set_status(head, 404);
        }
    }),
    answered("get-as-json", "http/get", |asked, head, _| {
        if asked.is("GET") {
            head.set("content-type", "application/json");
            head.remove("transfer-encoding");
            head.set("content-length", "0");
        }
    }),
    event("answers-on-get", "http/get-no-answers", |asked, number, event| {
        let answer = with_data(r#"{"jsonrpc":"2.0","id":900,"result":{}}"#);
        if asked.is("GET") && number == 0 { vec![event, answer] } else { vec![event] }
    }),
    event("broadcasts", "http/one-stream", |asked, number, event| {
        let log = with_data(LOG);
        if asked.is("GET") && number == 0 { vec![event, log] } else { vec![event] }
    }),
    blind("any-origin", "http/origin-foreign", |head, _| no_origin(head, "POST")),
    blind("origin-by-prefix", "http/origin-foreign-https", |head, _| {
        if head.get("origin").is_some_and(|o| o.starts_with("https://127.0.0.1")) {
            head.remove("origin");
        }
    }),
    answered("origin-by-400", "http/origin-foreign", |_, head, _| {
        if head.word(1) == "403" {
            set_status(head, 400);
        }
    }),
    blind("any-origin-to-initialize", "http/origin-foreign-initialize", |head, _| {
        if head.get(SESSION).is_none() {
            head.remove("origin");
        }
    }),
    blind("any-origin-by-get", "http/origin-foreign-get", |head, _| no_origin(head, "GET")),
    blind("any-origin-by-delete", "http/origin-foreign-delete", |head, _| {
        no_origin(head, "DELETE")
    }),
    answered("origin-is-compulsory", "http/origin-absent", |asked, head, _| {
        if asked.says("900") && asked.head.get("origin").is_none() {
            set_status(head, 403);
        }
    }),
    blind("any-version", "http/version-unknown", |head, _| {
        if head.get(VERSION) == Some("1999-01-01") {
            head.set(VERSION, "2025-11-25");
        }
    }),
    answered("unknown-version-by-404", "http/version-unknown", |_, head, _| {
        if head.word(1) == "400" {
            set_status(head, 404);
        }
    }),
    blind("garbage-version", "http/version-garbage", |head, _| {
        if head.get(VERSION) == Some("latest") {
            head.remove(VERSION);
        }
    }),
    blind("any-version-by-get", "http/version-unknown-get", |head, _| {
        if head.word(0) == "GET" {
            head.remove(VERSION);
        }
    }),
    answered("version-is-compulsory", "http/version-absent", |asked, head, _| {
        if asked.says("900") && asked.head.get(VERSION).is_none() {
            set_status(head, 400);
        }
    }),
    answered("session-by-one-spelling", "http/header-case", |asked, head, _| {
        if asked.says("900") {
            set_status(head, 400);
        }
    }),
    heads("session-with-a-space", "http/session-characters", reveal, |_, head, memory| {
        disguise(head, memory, "a session id of words".to_owned());
    }),
    heads("session-of-umlauts", "http/session-characters", reveal, |_, head, memory| {
        disguise(head, memory, "sitzungsschlüssel-0123456789".to_owned());
    }),
    heads("session-is-constant", "http/session-unique", reveal, |_, head, memory| {
        disguise(head, memory, "the-only-session-0123456789".to_owned());
    }),
    heads("session-is-short", "http/session-long", reveal, |_, head, memory| {
        disguise(head, memory, "s7".to_owned());
    }),
    heads("session-is-padded", "http/session-long", reveal, |_, head, memory| {
        disguise(head, memory, "00000000000000000000000000000007".to_owned());
    }),
    heads("session-is-counted", "http/session-not-counted", reveal, |_, head, memory| {
        memory.count += 1;
        let id = format!("session-of-this-server-{:08}", memory.count);
        disguise(head, memory, id);
    }),
    blind("session-is-optional", "http/session-missing", |head, memory| {
        if head.get(SESSION).is_none() && head.get(VERSION).is_some() {
            head.set(SESSION, memory.session.clone());
        }
    }),
    answered("no-session-by-401", "http/session-missing", |_, head, _| {
        if head.word(1) == "400" {
            set_status(head, 401);
        }
    }),
    blind("any-session", "http/session-unknown", |head, memory| any_session(head, memory, "POST")),
    answered("unknown-session-by-500", "http/session-unknown", |_, head, _| {
        if head.word(1) == "404" {
            set_status(head, 500);
        }
    }),
    blind("any-session-by-get", "http/session-unknown-get", |head, memory| {
        any_session(head, memory, "GET");
    }),
    heads("sessions-do-not-end", "http/session-ended", no_delete, deleted),
    answered("ended-session-by-400", "http/session-ended", |_, head, _| {
        if head.word(1) == "404" {
            set_status(head, 400);
        }
    }),
    heads("sessions-do-not-end-for-get", "http/session-ended-get", no_delete, deleted),
    heads(
        "all-sessions-end-together",
        "http/session-ended-alone",
        |head, memory| {
            memory.over |= head.word(0) == "DELETE";
        },
        |asked, head, memory| {
            if memory.over && !asked.is("DELETE") {
                set_status(head, 404);
                head.set("content-type", "text/plain");
            }
        },
    ),
    event("stream-answers-twice", "http/stream-one-answer", |_, _, event| {
        if is_answer(&event) { vec![event.clone(), event] } else { vec![event] }
    }),
    event("stream-answers-others", "http/stream-one-answer", |_, _, event| {
        let other = with_data(r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#);
        if is_answer(&event) { vec![other, event] } else { vec![event] }
    }),
    event("stream-without-answer", "http/stream-one-answer", |_, _, event| {
        if is_answer(&event) { Vec::new() } else { vec![event] }
    }),
    event("stream-goes-on", "http/stream-ends", |_, _, event| {
        if is_answer(&event) { vec![event, with_data(LOG)] } else { vec![event] }
    }),
    event("stream-of-lists", "http/stream-one-message", |_, _, mut event| {
        event.data = event.data.filter(|data| !data.is_empty()).map(|data| format!("[{data}]"));
        vec![event]
    }),
    event("stream-of-words", "http/stream-one-message", |_, number, event| {
        if number == 1 { vec![with_data("hello"), event] } else { vec![event] }
    }),
    event("stream-of-other-types", "http/stream-event-name", |_, _, mut event| {
        event.kind = Some("mcp".to_owned());
        vec![event]
    }),
    event("stream-is-not-primed", "http/stream-primed", |_, number, event| {
        if number == 0 { Vec::new() } else { vec![event] }
    }),
    event("event-ids-by-stream", "http/event-ids", |_, number, mut event| {
        event.id = event.id.map(|_| number.to_string());
        vec![event]
    }),
    event("event-ids-are-constant", "http/event-ids", |_, _, mut event| {
        event.id = event.id.map(|_| "event".to_owned());
        vec![event]
    }),
    event("no-retry", "http/retry-number", |_, _, mut event| {
        event.retry = None;
        vec![event]
    }),
    event("retry-as-word", "http/retry-number", |_, _, mut event| {
        event.retry = event.retry.map(|_| "soon".to_owned());
        vec![event]
    }),
    blind("last-event-id-ignored", "http/resume", |head, _| head.remove("last-event-id")),
    event("replays-others", "http/resume-own", |asked, number, event| {
        if asked.is("GET") && number == 0 { vec![with_data(LOG), event] } else { vec![event] }
    }),
    messages("sessions-are-mixed", "http/two-sessions", |asked, m| {
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        if asked["method"] == "ping" { vec![notice, m] } else { vec![m] }
    }),
    answered("charset-by-415", "http/charset", |asked, head, _| {
        if asked.head.get("content-type").is_some_and(|kind| kind.contains("charset")) {
            set_status(head, 415);
        }
    }),
    answered("long-bodies-by-413", "http/long-body", |asked, head, _| {
        if asked.text.len() > 100_000 {
            set_status(head, 413);
            head.set("content-type", "text/plain");
        }
    }),
];
