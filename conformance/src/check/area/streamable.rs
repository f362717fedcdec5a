//! Streamable HTTP.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::http::{Answer, Event, Events};
use super::super::talk::{REVISION, Talk, hello};
use super::super::{Check, Fault, Outcome, Site, ensure, fail, over_http, skip};

const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"ping\"}";
const NOTICE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}";
/// How long a stream is watched on which nothing should come.
const LOOK: Duration = Duration::from_millis(200);

/// A ping with another header.
fn ping_with(talk: &Talk<'_>, name: &str, value: &str) -> Result<Answer, Fault> {
    let mut head = talk.head("POST");
    head.set(name, value);
    talk.send(head, PING)
}

fn has_status(answer: &Answer, wanted: &[u16]) -> Outcome {
    ensure(wanted.contains(&answer.status()), || {
        format!("a status of {wanted:?} is wanted, not {}", answer.status())
    })
}

/// A conversation that has a session.
fn session(site: &Site) -> Result<Talk<'_>, Fault> {
    let talk = site.ready()?;
    if talk.session.is_none() { skip("the server has no sessions") } else { Ok(talk) }
}

/// The same, after it was ended.
fn ended(site: &Site) -> Result<Talk<'_>, Fault> {
    let talk = session(site)?;
    let answer = talk.send(talk.head("DELETE"), b"")?;
    match answer.status() {
        405 => skip("sessions can't be ended"),
        200 | 202 | 204 => Ok(talk),
        status => fail(format!("DELETE was answered by {status}")),
    }
}

/// The events that a call is answered with.
fn events(talk: &Talk<'_>, tool: &str) -> Result<Vec<Event>, Fault> {
    events_of(talk, tool, 901)
}

fn events_of(talk: &Talk<'_>, tool: &str, id: u64) -> Result<Vec<Event>, Fault> {
    let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": {}, "_meta": {"progressToken": 1}}});
    let answer = talk.post(call.to_string().as_bytes())?;
    if !answer.is_stream() {
        return skip("the answer is no stream");
    }
    let (mut events, mut all) = (Events::new(answer.body), Vec::new());
    while let Some(event) = events.next()? {
        all.push(event);
        ensure(all.len() < 1_000, || "the stream has no end".to_owned())?;
    }
    Ok(all)
}

fn messages(events: &[Event]) -> Vec<Value> {
    let data = events.iter().filter_map(|event| event.data.as_deref());
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

/// The server's own stream.
fn listening(talk: &Talk<'_>) -> Result<Answer, Fault> {
    let answer = talk.send_for(talk.head("GET"), b"", LOOK)?;
    match answer.status() {
        405 => skip("there is no stream by GET"),
        200 => Ok(answer),
        status => fail(format!("GET was answered by {status}")),
    }
}

/// What comes on a stream while it is looked at.
fn seen(answer: Answer) -> Vec<Value> {
    let mut events = Events::new(answer.body);
    let (mut all, until) = (Vec::new(), Instant::now() + LOOK * 5);
    while let Ok(Some(event)) = events.next() {
        all.push(event);
        if Instant::now() > until {
            break;
        }
    }
    messages(&all)
}

/// Calls the tool that closes its stream, and comes back for the answer.
fn resumed(site: &Site, foreign: bool) -> Outcome {
    let mut talk = site.with("tools")?;
    let first = events(&talk, "test_reconnection")?;
    if messages(&first).iter().any(|message| message["id"] == 901) {
        return skip("the server does not close its streams");
    }
    let Some(last) = first.iter().rev().find_map(|event| event.id.clone()) else {
        return skip("events have no ids");
    };
    if foreign {
        // Another stream of the same session, whose messages are its own.
        events_of(&talk, "test_tool_with_logging", 902)?;
    }
    let mut head = talk.head("GET");
    head.set("last-event-id", last);
    let answer = talk.send(head, b"")?;
    has_status(&answer, &[200])?;
    let until = Instant::now() + talk.wait();
    talk.heard.clear();
    let answer = talk.take_in(answer, until, |message| message.get("method").is_none())?;
    ensure(answer["id"] == 901 && answer.get("result").is_some(), || answer.to_string())?;
    let odd = talk.heard_of("notifications/message").next();
    ensure(odd.is_none(), || format!("of another stream: {odd:?}"))
}

pub(super) const CHECKS: &[Check] = &[
    over_http(
        "http/answer-type",
        &["TRANSPORT-HTTP-013", "TRANSPORT-HTTP-001"],
        "a request is answered by JSON or a stream",
        |site| {
            let talk = site.ready()?;
            let answer = talk.post(PING)?;
            has_status(&answer, &[200])?;
            ensure(answer.is_json() || answer.is_stream(), || answer.head.first.clone())
        },
    ),
    over_http(
        "http/json-one-object",
        &["TRANSPORT-HTTP-014"],
        "a JSON answer is one object",
        |site| {
            let mut answer = site.ready()?.post(PING)?;
            if !answer.is_json() {
                return skip("the answer is a stream");
            }
            let body = answer.body.all()?;
            let fits = serde_json::from_slice::<Value>(&body).is_ok_and(|body| body.is_object());
            ensure(fits, || String::from_utf8_lossy(&body).into_owned())
        },
    ),
    over_http(
        "http/notification-202",
        &["TRANSPORT-HTTP-010"],
        "a notification is answered by 202",
        |site| has_status(&site.ready()?.post(NOTICE)?, &[202]),
    ),
    over_http(
        "http/notification-no-body",
        &["TRANSPORT-HTTP-010"],
        "a notification is answered without a body",
        |site| {
            let body = site.ready()?.post(NOTICE)?.body.all()?;
            ensure(body.is_empty(), || String::from_utf8_lossy(&body).into_owned())
        },
    ),
    over_http(
        "http/response-202",
        &["TRANSPORT-HTTP-010", "TRANSPORT-HTTP-011"],
        "a response is accepted by 202 or refused",
        |site| {
            let response = b"{\"jsonrpc\":\"2.0\",\"id\":12345,\"result\":{}}";
            has_status(&site.ready()?.post(response)?, &[202, 400, 404])
        },
    ),
    over_http(
        "http/not-json",
        &["TRANSPORT-HTTP-011", "BASE-019"],
        "what is no JSON is refused by a status",
        |site| {
            let answer = site.ready()?.post(b"{\"jsonrpc\":")?;
            ensure((400..500).contains(&answer.status()), || answer.head.first.clone())
        },
    ),
    over_http(
        "http/bad-notification",
        &["TRANSPORT-HTTP-011"],
        "a notification that is none is refused",
        |site| {
            let answer = site.ready()?.post(b"{\"jsonrpc\":\"2.0\",\"method\":7}")?;
            ensure((400..500).contains(&answer.status()), || answer.head.first.clone())
        },
    ),
    over_http("http/empty-body", &["TRANSPORT-HTTP-009"], "an empty body is refused", |site| {
        let answer = site.ready()?.post(b"")?;
        ensure((400..500).contains(&answer.status()), || answer.head.first.clone())
    }),
    over_http(
        "http/get",
        &["TRANSPORT-HTTP-032", "TRANSPORT-HTTP-001"],
        "GET is answered by a stream or 405",
        |site| {
            let talk = site.ready()?;
            let answer = talk.send(talk.head("GET"), b"")?;
            has_status(&answer, &[200, 405])?;
            ensure(answer.status() == 405 || answer.is_stream(), || "no stream".to_owned())
        },
    ),
    over_http(
        "http/get-no-answers",
        &["TRANSPORT-HTTP-035"],
        "no answer comes on the stream of GET",
        |site| {
            let talk = site.ready()?;
            let listening = listening(&talk)?;
            talk.post(PING)?.body.all()?;
            let odd = seen(listening).into_iter().find(|message| message.get("method").is_none());
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    over_http(
        "http/one-stream",
        &["TRANSPORT-HTTP-040", "TRANSPORT-HTTP-041", "TRANSPORT-HTTP-034"],
        "a message goes on one stream",
        |site| {
            let talk = site.with("tools")?;
            let listening = listening(&talk)?;
            let own = messages(&events(&talk, "test_tool_with_logging")?);
            let odd = seen(listening).into_iter().find(|message| own.contains(message));
            ensure(odd.is_none(), || format!("twice: {odd:?}"))
        },
    ),
    over_http(
        "http/origin-foreign",
        &["TRANSPORT-HTTP-002", "TRANSPORT-HTTP-003"],
        "a foreign Origin is answered by 403",
        |site| has_status(&ping_with(&site.ready()?, "origin", "http://evil.example")?, &[403]),
    ),
    over_http(
        "http/origin-foreign-https",
        &["TRANSPORT-HTTP-003"],
        "the same with https",
        |site| {
            has_status(
                &ping_with(&site.ready()?, "origin", "https://127.0.0.1.evil.example")?,
                &[403],
            )
        },
    ),
    over_http(
        "http/origin-foreign-initialize",
        &["TRANSPORT-HTTP-002", "TRANSPORT-HTTP-003"],
        "the same for initialize",
        |site| {
            let talk = site.open()?;
            let mut head = talk.head("POST");
            head.set("origin", "http://evil.example");
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": hello(REVISION, json!({}))});
            has_status(&talk.send(head, body.to_string().as_bytes())?, &[403])
        },
    ),
    over_http(
        "http/origin-foreign-get",
        &["TRANSPORT-HTTP-002", "TRANSPORT-HTTP-003"],
        "the same for GET",
        |site| {
            let talk = site.ready()?;
            let mut head = talk.head("GET");
            head.set("origin", "http://evil.example");
            has_status(&talk.send(head, b"")?, &[403])
        },
    ),
    over_http(
        "http/origin-foreign-delete",
        &["TRANSPORT-HTTP-002", "TRANSPORT-HTTP-003"],
        "the same for DELETE",
        |site| {
            let mut talk = session(site)?;
            let mut head = talk.head("DELETE");
            head.set("origin", "http://evil.example");
            has_status(&talk.send(head, b"")?, &[403])?;
            talk.lives()
        },
    ),
    over_http("http/origin-absent", &["TRANSPORT-HTTP-002"], "no Origin is no fault", |site| {
        has_status(&site.ready()?.post(PING)?, &[200])
    }),
    over_http(
        "http/version-unknown",
        &["TRANSPORT-HTTP-046"],
        "an unknown version header is answered by 400",
        |site| {
            has_status(&ping_with(&site.ready()?, "mcp-protocol-version", "1999-01-01")?, &[400])
        },
    ),
    over_http(
        "http/version-garbage",
        &["TRANSPORT-HTTP-046"],
        "a version header that is no date is answered by 400",
        |site| has_status(&ping_with(&site.ready()?, "mcp-protocol-version", "latest")?, &[400]),
    ),
    over_http("http/version-unknown-get", &["TRANSPORT-HTTP-046"], "the same for GET", |site| {
        let talk = site.ready()?;
        let mut head = talk.head("GET");
        head.set("mcp-protocol-version", "1999-01-01");
        has_status(&talk.send(head, b"")?, &[400, 405])
    }),
    over_http(
        "http/version-absent",
        &["TRANSPORT-HTTP-045"],
        "no version header is no fault",
        |site| {
            let talk = site.ready()?;
            let mut head = talk.head("POST");
            head.remove("mcp-protocol-version");
            has_status(&talk.send(head, PING)?, &[200])
        },
    ),
    over_http(
        "http/header-case",
        &["TRANSPORT-SESSION-005"],
        "names of headers have no case",
        |site| {
            let mut talk = site.ready()?;
            let mut head = talk.head("POST");
            if let Some(session) = talk.session.take() {
                head.remove("mcp-session-id");
                head.headers.push(("MCP-SESSION-ID".to_owned(), session));
            }
            has_status(&talk.send(head, PING)?, &[200])
        },
    ),
    over_http(
        "http/session-characters",
        &["TRANSPORT-SESSION-003"],
        "a session id is visible ASCII",
        |site| {
            let id = session(site)?.session.unwrap_or_default();
            ensure(!id.is_empty() && id.bytes().all(|b| (0x21..=0x7e).contains(&b)), || id)
        },
    ),
    over_http("http/session-unique", &["TRANSPORT-SESSION-002"], "session ids differ", |site| {
        let ids: Result<BTreeSet<_>, Fault> = (0..5).map(|_| Ok(session(site)?.session)).collect();
        let ids = ids?;
        ensure(ids.len() == 5, || format!("{ids:?}"))
    }),
    over_http(
        "http/session-long",
        &["TRANSPORT-SESSION-002"],
        "a session id is too long to guess",
        |site| {
            let id = session(site)?.session.unwrap_or_default();
            // 128 bits take 22 characters of Base64; some secure ids are a little shorter.
            let signs: BTreeSet<char> = id.chars().collect();
            ensure(id.len() >= 16 && signs.len() >= 6, || id)
        },
    ),
    over_http(
        "http/session-not-counted",
        &["TRANSPORT-SESSION-002"],
        "a session id does not follow from the last",
        |site| {
            let first = session(site)?.session.unwrap_or_default();
            let second = session(site)?.session.unwrap_or_default();
            let differ = first.bytes().zip(second.bytes()).filter(|(a, b)| a != b).count();
            ensure(differ >= 6, || format!("{first}, then {second}"))
        },
    ),
    over_http(
        "http/session-missing",
        &["TRANSPORT-SESSION-006"],
        "a request without its session is answered by 400",
        |site| {
            let mut talk = session(site)?;
            talk.session = None;
            has_status(&talk.post(PING)?, &[400])
        },
    ),
    over_http(
        "http/session-unknown",
        &["TRANSPORT-SESSION-008"],
        "an unknown session is refused",
        |site| {
            let talk = session(site)?;
            has_status(
                &ping_with(&talk, "mcp-session-id", "no-such-session-0123456789")?,
                &[400, 404],
            )
        },
    ),
    over_http("http/session-unknown-get", &["TRANSPORT-SESSION-008"], "the same for GET", |site| {
        let talk = session(site)?;
        let mut head = talk.head("GET");
        head.set("mcp-session-id", "no-such-session-0123456789");
        has_status(&talk.send(head, b"")?, &[400, 404, 405])
    }),
    over_http(
        "http/session-ended",
        &["TRANSPORT-SESSION-008"],
        "an ended session is answered by 404",
        |site| has_status(&ended(site)?.post(PING)?, &[404]),
    ),
    over_http("http/session-ended-get", &["TRANSPORT-SESSION-008"], "the same for GET", |site| {
        let talk = ended(site)?;
        has_status(&talk.send(talk.head("GET"), b"")?, &[404, 405])
    }),
    over_http(
        "http/session-ended-alone",
        &["TRANSPORT-SESSION-008"],
        "the end of a session ends no other",
        |site| {
            let mut other = session(site)?;
            ended(site)?;
            other.lives()
        },
    ),
    over_http(
        "http/stream-one-answer",
        &["TRANSPORT-HTTP-021", "BASE-009"],
        "a stream has one answer, that of its request",
        |site| {
            let talk = site.with("tools")?;
            let messages = messages(&events(&talk, "test_tool_with_logging")?);
            let answers: Vec<_> = messages.iter().filter(|m| m.get("method").is_none()).collect();
            ensure(answers.len() == 1 && answers.iter().all(|a| a["id"] == 901), || {
                format!("{answers:?}")
            })
        },
    ),
    over_http(
        "http/stream-ends",
        &["TRANSPORT-HTTP-025"],
        "a stream ends with the answer",
        |site| {
            let talk = site.with("tools")?;
            let messages = messages(&events(&talk, "test_tool_with_logging")?);
            let last = messages.last().cloned().unwrap_or_default();
            ensure(last["id"] == 901, || format!("the last message is {last}"))
        },
    ),
    over_http(
        "http/stream-one-message",
        &["TRANSPORT-HTTP-048"],
        "an event has one message, or no data",
        |site| {
            let talk = site.with("tools")?;
            for event in events(&talk, "test_tool_with_logging")? {
                let data = event.data.as_deref().unwrap_or_default();
                let message = serde_json::from_str::<Value>(data).is_ok_and(|m| m.is_object());
                ensure(data.is_empty() || message, || format!("{event:?}"))?;
            }
            Ok(())
        },
    ),
    over_http(
        "http/stream-event-name",
        &["TRANSPORT-HTTP-048"],
        "an event with a message is of the type message",
        |site| {
            let talk = site.with("tools")?;
            let events = events(&talk, "test_tool_with_logging")?;
            let odd = events.iter().find(|event| {
                let has_data = event.data.as_deref().is_some_and(|data| !data.is_empty());
                has_data && event.kind.as_deref().is_some_and(|kind| kind != "message")
            });
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    over_http(
        "http/stream-primed",
        &["TRANSPORT-HTTP-016"],
        "a stream that can be resumed begins with an id",
        |site| {
            let talk = site.with("tools")?;
            let events = events(&talk, "test_tool_with_logging")?;
            if events.iter().all(|event| event.id.is_none()) {
                return skip("streams can't be resumed");
            }
            let first = events.first().cloned().unwrap_or_default();
            let empty = first.data.as_deref().unwrap_or_default().is_empty();
            ensure(first.id.is_some() && empty, || format!("{first:?}"))
        },
    ),
    over_http(
        "http/event-ids",
        &["TRANSPORT-RESUME-002"],
        "event ids are unique in a session",
        |site| {
            let talk = site.with("tools")?;
            let mut ids = BTreeSet::new();
            for _ in 0..2 {
                for id in events(&talk, "test_tool_with_logging")?.into_iter().filter_map(|e| e.id)
                {
                    ensure(ids.insert(id.clone()), || format!("twice: {id}"))?;
                }
            }
            if ids.is_empty() { skip("events have no ids") } else { Ok(()) }
        },
    ),
    over_http(
        "http/retry-number",
        &["TRANSPORT-HTTP-019"],
        "before it closes a stream a server sends retry",
        |site| {
            let talk = site.with("tools")?;
            let events = events(&talk, "test_reconnection")?;
            if messages(&events).iter().any(|message| message["id"] == 901) {
                return skip("the server does not close its streams");
            }
            let retry = events.iter().rev().find_map(|event| event.retry.clone());
            ensure(retry.as_deref().is_some_and(|r| r.parse::<u64>().is_ok()), || {
                format!("{retry:?}")
            })
        },
    ),
    over_http(
        "http/resume",
        &["TRANSPORT-RESUME-007", "TRANSPORT-RESUME-008", "TRANSPORT-HTTP-021"],
        "a stream goes on where it was left",
        |site| resumed(site, false),
    ),
    over_http(
        "http/resume-own",
        &["TRANSPORT-RESUME-006", "TRANSPORT-RESUME-003"],
        "nothing of another stream is replayed",
        |site| resumed(site, true),
    ),
    over_http(
        "http/two-sessions",
        &["TRANSPORT-SESSION-005", "BASE-009"],
        "two sessions do not mix",
        |site| {
            let (mut one, mut two) = (site.ready()?, site.ready()?);
            for _ in 0..3 {
                one.lives()?;
                two.lives()?;
            }
            ensure(one.heard.is_empty() && two.heard.is_empty(), || "they hear more".to_owned())
        },
    ),
    over_http("http/charset", &["BASE-027"], "a charset in the Content-Type is no fault", |site| {
        let talk = site.ready()?;
        let answer = ping_with(&talk, "content-type", "application/json; charset=utf-8")?;
        has_status(&answer, &[200])
    }),
    over_http("http/long-body", &["TRANSPORT-HTTP-009"], "a body of 200 kB is read", |site| {
        let long = "x".repeat(200_000);
        site.ready()?.result("ping", json!({"_meta": {"example.com/long": long}})).map(drop)
    }),
];
