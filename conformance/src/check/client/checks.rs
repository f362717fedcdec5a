//! What a client has to do, by what it says.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::play::{
    Client, Manner, Reply, Request, SECOND, SESSION, Seen, Step, answer, called, tools, welcome,
};
use super::{Check, check};
use crate::check::http::Event;
use crate::check::{Fault, Outcome, ensure, fail, skip};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The scenario that lists and calls a tool.
fn calls(client: &Client, manner: Manner) -> Result<Seen, Fault> {
    let seen = client.run("tools_call", manner)?;
    ensure(!seen.requests.is_empty(), || "the client did not speak".to_owned())?;
    Ok(seen)
}

/// The same with a server without faults.
fn plain(client: &Client) -> Result<Seen, Fault> {
    calls(client, |_, _| Reply::Usual)
}

/// The call is answered by this stream; the client has to get its answer.
fn answered_by(client: &Client, manner: Manner) -> Outcome {
    let seen = calls(client, manner)?;
    seen.first("tools/call")?;
    seen.ended_well()
}

/// Asks the client something while it waits for its call, and returns what it says.
fn asked(client: &Client, id: Value, manner: Manner) -> Result<Value, Fault> {
    let seen = calls(client, manner)?;
    let answer = seen.answered(&id)?.clone();
    seen.ended_well()?;
    Ok(answer)
}

/// A stream in which the server asks before it answers the call.
fn asking(request: &Request, question: Value) -> Reply {
    if !request.is("tools/call") {
        return Reply::Usual;
    }
    let id = question["id"].clone();
    Reply::Stream(vec![Step::Say(question), Step::Await(id), Step::Say(called(request))])
}

/// A stream with this text before the answer to the call.
fn with_text(request: &Request, text: &str) -> Reply {
    if !request.is("tools/call") {
        return Reply::Usual;
    }
    Reply::Stream(vec![Step::Bytes(text.to_owned()), Step::Say(called(request))])
}

/// The answer to `initialize` is changed.
fn welcomed(request: &Request, change: impl FnOnce(&mut Value)) -> Reply {
    if !request.is("initialize") {
        return Reply::Usual;
    }
    let mut result = welcome("2025-11-25");
    change(&mut result);
    Reply::Json(answer(request, result))
}

/// Every request after the handshake began.
fn later(seen: &Seen) -> impl Iterator<Item = &Request> {
    seen.requests.iter().filter(|request| !request.is("initialize"))
}

fn speaks(client: &Client, version: &'static str, manner: Manner) -> Outcome {
    let seen = calls(client, manner)?;
    if seen.all("notifications/initialized").next().is_none() {
        return skip(format!("the client does not speak {version}"));
    }
    seen.first("tools/call")?;
    seen.ended_well()
}

/// The stream of a call that is cut after an event, and its resumption.
fn cut(heard: &[Request], request: &Request) -> Reply {
    let primed = Event {
        id: Some("stream-7".to_owned()),
        retry: Some("500".to_owned()),
        data: Some(String::new()),
        kind: None,
    };
    let call = heard.iter().find(|request| request.is("tools/call"));
    match (request.http(), call) {
        ("POST", _) if request.is("tools/call") => Reply::Stream(vec![Step::Event(primed)]),
        ("GET", Some(call)) if request.head.get("last-event-id").is_some() => {
            Reply::Stream(vec![Step::Say(called(call))])
        }
        _ => Reply::Usual,
    }
}

fn resumed(client: &Client) -> Result<Seen, Fault> {
    client.run("sse-retry", cut)
}

/// The GET by which a stream is resumed.
fn resumption(seen: &Seen) -> Result<&Request, Fault> {
    let call = seen.first("tools/call")?.at;
    let is_it = |r: &&Request| r.http() == "GET" && r.at > call;
    seen.requests.iter().find(is_it).map_or_else(|| fail("the stream was not resumed"), Ok)
}

/// Asks with a form.
fn form(_: &[Request], request: &Request) -> Reply {
    asking(
        request,
        json!({"jsonrpc": "2.0", "id": "form", "method": "elicitation/create",
        "params": {"message": "Fill in", "requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "verified": {"type": "boolean", "default": true},
        }, "required": ["name", "age", "verified"]}}}),
    )
}

fn filled(client: &Client) -> Result<(Seen, Value), Fault> {
    let seen = client.run("elicitation-sep1034-client-defaults", form)?;
    let answer = seen.answered(&json!("form"))?.clone();
    Ok((seen, answer))
}

fn is_error(answer: &Value, codes: &[i64]) -> Outcome {
    let code = answer["error"]["code"].as_i64();
    ensure(code.is_some_and(|code| codes.contains(&code)), || answer.to_string())
}

pub(super) const CHECKS: &[Check] = &[
    check(
        "client/initialize-first",
        &["LIFE-001", "LIFE-002"],
        "initialize comes first",
        |client| {
            let seen = plain(client)?;
            let first = seen.messages().next().cloned().unwrap_or_default();
            ensure(first["method"] == "initialize" && first.get("id").is_some(), || {
                first.to_string()
            })
        },
    ),
    check("client/initialize-once", &["LIFE-001"], "initialize comes once", |client| {
        let count = plain(client)?.all("initialize").count();
        ensure(count == 1, || format!("{count} times"))
    }),
    check(
        "client/version",
        &["LIFE-003", "LIFE-021"],
        "initialize has a version that is a date",
        |client| {
            let seen = plain(client)?;
            let version = &seen.first("initialize")?.message["params"]["protocolVersion"];
            let known = VERSIONS.iter().any(|known| version == known);
            ensure(known, || format!("the version is {version}"))
        },
    ),
    check(
        "client/version-newest",
        &["LIFE-013"],
        "it asks for the newest that it speaks",
        |client| {
            let seen = plain(client)?;
            let wanted = seen.first("initialize")?.message["params"]["protocolVersion"].clone();
            let newest = calls(client, |_, request| welcomed(request, |_| {}))?;
            let agreed = newest.all("notifications/initialized").next().is_some();
            ensure(!agreed || wanted == "2025-11-25", || format!("it speaks more than {wanted}"))
        },
    ),
    check("client/capabilities", &["LIFE-004"], "initialize has capabilities", |client| {
        let seen = plain(client)?;
        let params = &seen.first("initialize")?.message["params"];
        ensure(params["capabilities"].is_object(), || params.to_string())
    }),
    check("client/capability-names", &["LIFE-024"], "capabilities have known names", |client| {
        let seen = plain(client)?;
        let capabilities = &seen.first("initialize")?.message["params"]["capabilities"];
        let known = ["roots", "sampling", "elicitation", "tasks", "experimental"];
        let mut names = capabilities.as_object().into_iter().flatten().map(|(name, _)| name);
        ensure(names.all(|name| known.contains(&name.as_str())), || capabilities.to_string())
    }),
    check("client/capability-objects", &["LIFE-024"], "each capability is an object", |client| {
        let seen = plain(client)?;
        let capabilities = &seen.first("initialize")?.message["params"]["capabilities"];
        let mut all = capabilities.as_object().into_iter().flatten();
        ensure(all.all(|(_, value)| value.is_object()), || capabilities.to_string())
    }),
    check("client/info", &["LIFE-005"], "the client has a name and a version", |client| {
        let seen = plain(client)?;
        let info = &seen.first("initialize")?.message["params"]["clientInfo"];
        let named = info["name"].as_str().is_some_and(|name| !name.is_empty());
        ensure(named && info["version"].is_string(), || info.to_string())
    }),
    check("client/initialized", &["LIFE-009"], "after the answer comes initialized", |client| {
        plain(client)?.first("notifications/initialized").map(drop)
    }),
    check(
        "client/initialized-before",
        &["LIFE-009", "LIFE-010"],
        "nothing is asked before initialized",
        |client| {
            let seen = plain(client)?;
            let mut methods = seen.messages().filter_map(|m| m["method"].as_str());
            let before = methods.by_ref().take_while(|m| *m != "notifications/initialized");
            let odd = before.filter(|m| !matches!(*m, "initialize" | "ping")).count();
            ensure(odd == 0, || format!("{odd} messages came before"))
        },
    ),
    check("client/initialized-once", &["LIFE-009"], "initialized comes once", |client| {
        let count = plain(client)?.all("notifications/initialized").count();
        ensure(count == 1, || format!("{count} times"))
    }),
    check("client/jsonrpc-member", &["BASE-004"], "messages have jsonrpc \"2.0\"", |client| {
        let seen = plain(client)?;
        let odd = seen.messages().find(|message| message["jsonrpc"] != "2.0");
        ensure(odd.is_none(), || format!("{odd:?}"))
    }),
    check("client/id-type", &["BASE-006", "BASE-007"], "ids are texts or integers", |client| {
        let seen = plain(client)?;
        let ids = seen.messages().filter_map(|message| message.get("id"));
        let odd = ids.into_iter().find(|id| !id.is_string() && !id.is_i64());
        ensure(odd.is_none(), || format!("{odd:?}"))
    }),
    check("client/id-unique", &["BASE-008"], "no id is used twice", |client| {
        let seen = plain(client)?;
        let mut ids = BTreeSet::new();
        let requests = seen.messages().filter(|message| message.get("method").is_some());
        let odd = requests.filter_map(|m| m.get("id")).find(|id| !ids.insert(id.to_string()));
        ensure(odd.is_none(), || format!("{odd:?}"))
    }),
    check("client/notification-id", &["BASE-026"], "notifications have no id", |client| {
        let seen = plain(client)?;
        let notice = &seen.first("notifications/initialized")?.message;
        ensure(notice.get("id").is_none(), || notice.to_string())
    }),
    check("client/params-object", &["BASE-003"], "params are objects", |client| {
        let seen = plain(client)?;
        let odd = seen.messages().find(|m| m.get("params").is_some_and(|p| !p.is_object()));
        ensure(odd.is_none(), || format!("{odd:?}"))
    }),
    check(
        "client/one-message",
        &["TRANSPORT-HTTP-007", "TRANSPORT-HTTP-009", "BASE-028"],
        "a POST has one message",
        |client| {
            let seen = plain(client)?;
            let mut posts = seen.requests.iter().filter(|r| r.http() == "POST");
            ensure(posts.all(|r| r.message.is_object()), || "one has none, or a list".to_owned())
        },
    ),
    check("client/accept", &["TRANSPORT-HTTP-008"], "a POST accepts JSON and streams", |client| {
        let seen = plain(client)?;
        let fits = |r: &&Request| {
            let accept = r.head.get("accept").unwrap_or_default();
            accept.contains("application/json") && accept.contains("text/event-stream")
        };
        let odd = seen.requests.iter().filter(|r| r.http() == "POST").find(|r| !fits(r));
        ensure(odd.is_none(), || format!("{odd:?}"))
    }),
    check(
        "client/content-type",
        &["TRANSPORT-HTTP-009"],
        "a POST says that it is JSON",
        |client| {
            let seen = plain(client)?;
            let fits = |r: &&Request| {
                r.head.get("content-type").is_some_and(|kind| kind.starts_with("application/json"))
            };
            let odd = seen.requests.iter().filter(|r| r.http() == "POST").find(|r| !fits(r));
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    check("client/get-accept", &["TRANSPORT-HTTP-031"], "a GET accepts streams", |client| {
        let seen = resumed(client)?;
        let accept = resumption(&seen)?.head.get("accept").unwrap_or_default();
        ensure(accept.contains("text/event-stream"), || accept.to_owned())
    }),
    check(
        "client/version-header",
        &["LIFE-023", "TRANSPORT-HTTP-043"],
        "after initialize each request has the version",
        |client| {
            let seen = plain(client)?;
            let odd = later(&seen).find(|r| r.head.get("mcp-protocol-version").is_none());
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    check(
        "client/version-header-value",
        &["TRANSPORT-HTTP-044"],
        "it is the version that was agreed on",
        |client| {
            let seen = plain(client)?;
            let wrong = |r: &&Request| r.head.get("mcp-protocol-version") != Some("2025-11-25");
            let odd = later(&seen).find(wrong);
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    check(
        "client/version-header-older",
        &["TRANSPORT-HTTP-044", "LIFE-020"],
        "even if it is an older one",
        |client| {
            let seen = calls(client, |_, r| {
                welcomed(r, |result| result["protocolVersion"] = json!("2025-06-18"))
            })?;
            if seen.all("notifications/initialized").next().is_none() {
                return skip("the client does not speak 2025-06-18");
            }
            let wrong = |r: &&Request| r.head.get("mcp-protocol-version") != Some("2025-06-18");
            let odd = later(&seen).find(wrong);
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    check(
        "client/session-header",
        &["TRANSPORT-SESSION-005"],
        "after initialize each request has the session",
        |client| {
            let seen = plain(client)?;
            let odd = later(&seen).find(|r| r.head.get("mcp-session-id") != Some(SESSION));
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    check(
        "client/session-none",
        &["TRANSPORT-SESSION-005"],
        "without a session none is named",
        |client| {
            let seen = calls(client, |_, r| {
                if r.is("initialize") {
                    Reply::Bare(answer(r, welcome("2025-11-25")))
                } else {
                    Reply::Usual
                }
            })?;
            seen.first("tools/call")?;
            seen.ended_well()?;
            let odd = seen.requests.iter().find(|r| r.head.get("mcp-session-id").is_some());
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    check(
        "client/session-secret",
        &["TRANSPORT-SESSION-004"],
        "the session is in its header only",
        |client| {
            let seen = plain(client)?;
            let told = |r: &&Request| r.text.contains(SESSION) || r.head.first.contains(SESSION);
            let odd = seen.requests.iter().find(told);
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    check(
        "client/session-lost",
        &["TRANSPORT-SESSION-009"],
        "after 404 it begins anew, without the session",
        |client| {
            let seen = calls(client, |heard, r| {
                let is_new = r.head.get("mcp-session-id") == Some(SECOND);
                let begun = heard.iter().any(|r| r.is("tools/list"));
                let lost = begun && !is_new && !r.is("initialize");
                if lost { Reply::Status(404) } else { Reply::Usual }
            })?;
            let Some(second) = seen.all("initialize").nth(1) else {
                return fail("there is no second initialize");
            };
            let session = second.head.get("mcp-session-id");
            ensure(session.is_none(), || format!("it has {session:?}"))
        },
    ),
    check(
        "client/delete",
        &["TRANSPORT-SESSION-010"],
        "in the end the session is ended",
        |client| {
            let seen = plain(client)?;
            let delete = seen.requests.iter().find(|r| r.http() == "DELETE");
            ensure(delete.is_some(), || "there is no DELETE".to_owned())
        },
    ),
    check(
        "client/delete-refused",
        &["TRANSPORT-SESSION-010"],
        "405 to a DELETE is no fault",
        |client| {
            let seen = calls(client, |_, r| {
                if r.http() == "DELETE" { Reply::Status(405) } else { Reply::Usual }
            })?;
            seen.ended_well()
        },
    ),
    check(
        "client/version-unknown",
        &["LIFE-018", "LIFE-017"],
        "a version that it can't speak ends it",
        |client| {
            let seen = calls(client, |_, r| {
                welcomed(r, |result| result["protocolVersion"] = json!("1999-01-01"))
            })?;
            let odd = seen.messages().find(|m| m["method"] != "initialize");
            ensure(odd.is_none() && !seen.success, || format!("it goes on by {odd:?}"))
        },
    ),
    check("client/version-2025-06-18", &["LIFE-020"], "with 2025-06-18 it goes on", |client| {
        speaks(client, "2025-06-18", |_, r| {
            welcomed(r, |result| result["protocolVersion"] = json!("2025-06-18"))
        })
    }),
    check("client/version-2025-03-26", &["LIFE-020"], "with 2025-03-26 it goes on", |client| {
        speaks(client, "2025-03-26", |_, r| {
            welcomed(r, |result| result["protocolVersion"] = json!("2025-03-26"))
        })
    }),
    check(
        "client/future-server",
        &["LIFE-025"],
        "unknown capabilities and members are no fault",
        |client| {
            let seen = calls(client, |_, r| {
                welcomed(r, |result| {
                    result["capabilities"]["telepathy"] = json!({});
                    result["future"] = json!([1]);
                    result["serverInfo"]["colour"] = json!("red");
                })
            })?;
            seen.first("tools/call")?;
            seen.ended_well()
        },
    ),
    check(
        "client/no-tools",
        &["TOOLS-007", "LIFE-030"],
        "a server without tools is not asked for any",
        |client| {
            let seen =
                calls(client, |_, r| welcomed(r, |result| result["capabilities"] = json!({})))?;
            seen.first("initialize")?;
            let odd = seen
                .messages()
                .find(|m| m["method"].as_str().is_some_and(|method| method.starts_with("tools/")));
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    check(
        "client/paged",
        &["PAGE-007", "PAGE-008", "PAGE-009", "PAGE-010"],
        "a cursor comes back as it was given",
        |client| {
            const CURSOR: &str = "ünüsual cursor/==?&";
            let seen = calls(client, |_, r| {
                match (r.is("tools/list"), r.message["params"]["cursor"].is_null()) {
                    (true, true) => {
                        Reply::Json(answer(r, json!({"tools": [], "nextCursor": CURSOR})))
                    }
                    _ => Reply::Usual,
                }
            })?;
            let Some(second) = seen.all("tools/list").nth(1) else {
                return fail("there is no second page");
            };
            ensure(second.message["params"]["cursor"] == CURSOR, || second.text.clone())
        },
    ),
    check(
        "client/page-empty",
        &["PAGE-001", "PAGE-007"],
        "an empty page with a cursor is not the last",
        |client| {
            let seen = calls(client, |_, r| {
                match (r.is("tools/list"), r.message["params"]["cursor"].as_str()) {
                    (true, None) => Reply::Json(answer(r, json!({"tools": [], "nextCursor": "1"}))),
                    (true, Some("1")) => {
                        Reply::Json(answer(r, json!({"tools": [], "nextCursor": "2"})))
                    }
                    (true, _) => Reply::Json(answer(r, json!({"tools": tools()}))),
                    _ => Reply::Usual,
                }
            })?;
            ensure(seen.all("tools/list").count() == 3, || "it stopped".to_owned())
        },
    ),
    check("client/page-last", &["PAGE-007"], "without a cursor it stops", |client| {
        let count = plain(client)?.all("tools/list").count();
        ensure(count == 1, || format!("{count} pages of one"))
    }),
    check("client/json-answer", &["TRANSPORT-HTTP-015"], "an answer by JSON is taken", |client| {
        answered_by(client, |_, _| Reply::Usual)
    }),
    check(
        "client/stream-answer",
        &["TRANSPORT-HTTP-015"],
        "an answer by a stream is taken",
        |client| answered_by(client, |_, r| with_text(r, "")),
    ),
    check(
        "client/stream-comments",
        &["TRANSPORT-HTTP-048"],
        "comments are passed over",
        |client| answered_by(client, |_, r| with_text(r, ": keep-alive\n\n:\n\n")),
    ),
    check(
        "client/stream-empty",
        &["TRANSPORT-HTTP-049"],
        "an event with empty data is no message",
        |client| answered_by(client, |_, r| with_text(r, "id: 1\ndata:\n\nid: 2\ndata: \n\n")),
    ),
    check("client/stream-crlf", &["TRANSPORT-HTTP-048"], "lines may end in CR LF", |client| {
        answered_by(client, |_, r| {
            if !r.is("tools/call") {
                return Reply::Usual;
            }
            let text = format!("event: message\r\ndata: {}\r\n\r\n", called(r));
            Reply::Stream(vec![Step::Bytes(text)])
        })
    }),
    check("client/stream-cr", &["TRANSPORT-HTTP-048"], "lines may end in CR", |client| {
        answered_by(client, |_, r| {
            if !r.is("tools/call") {
                return Reply::Usual;
            }
            let text = format!("event: message\rdata: {}\r\r", called(r));
            Reply::Stream(vec![Step::Bytes(text)])
        })
    }),
    check(
        "client/stream-lines",
        &["TRANSPORT-HTTP-048"],
        "data may have several lines",
        |client| {
            answered_by(client, |_, r| {
                if !r.is("tools/call") {
                    return Reply::Usual;
                }
                let pretty = format!("{:#}", called(r));
                let event = Event { data: Some(pretty), ..Event::default() };
                Reply::Stream(vec![Step::Event(event)])
            })
        },
    ),
    check(
        "client/stream-pieces",
        &["TRANSPORT-HTTP-048"],
        "an event may come in pieces",
        |client| {
            answered_by(client, |_, r| {
                if !r.is("tools/call") {
                    return Reply::Usual;
                }
                let text =
                    Event { data: Some(called(r).to_string()), ..Event::default() }.to_text();
                let (one, two) = text.split_at(text.len() / 2);
                Reply::Stream(vec![Step::Bytes(one.to_owned()), Step::Bytes(two.to_owned())])
            })
        },
    ),
    check(
        "client/resume",
        &["TRANSPORT-RESUME-004", "TRANSPORT-RESUME-007", "TRANSPORT-HTTP-018"],
        "a cut stream is resumed by its last id",
        |client| {
            let seen = resumed(client)?;
            let last = resumption(&seen)?.head.get("last-event-id");
            ensure(last == Some("stream-7"), || format!("Last-Event-ID is {last:?}"))?;
            seen.ended_well()
        },
    ),
    check(
        "client/resume-session",
        &["TRANSPORT-SESSION-005", "TRANSPORT-HTTP-043"],
        "the resumption has session and version",
        |client| {
            let seen = resumed(client)?;
            let head = &resumption(&seen)?.head;
            let named = head.get("mcp-session-id") == Some(SESSION);
            ensure(named && head.get("mcp-protocol-version").is_some(), || format!("{head:?}"))
        },
    ),
    check("client/retry", &["TRANSPORT-HTTP-020"], "it waits as long as retry says", |client| {
        let seen = resumed(client)?;
        let waited = resumption(&seen)?.at.duration_since(seen.first("tools/call")?.at);
        ensure(waited >= Duration::from_millis(490), || format!("it waited {waited:?}"))
    }),
    check("client/ping", &["PING-001"], "a ping is answered by an empty result", |client| {
        let answer = asked(client, json!("are you there"), |_, r| {
            asking(r, json!({"jsonrpc": "2.0", "id": "are you there", "method": "ping"}))
        })?;
        ensure(answer["result"] == json!({}), || answer.to_string())
    }),
    check("client/answer-id", &["BASE-009"], "a number as an id comes back as one", |client| {
        let answer = asked(client, json!(0), |_, r| {
            asking(r, json!({"jsonrpc": "2.0", "id": 0, "method": "ping"}))
        })?;
        ensure(answer["id"].is_i64(), || answer.to_string())
    }),
    check("client/answer-digits", &["BASE-009"], "a text of digits stays a text", |client| {
        asked(client, json!("17"), |_, r| {
            asking(r, json!({"jsonrpc": "2.0", "id": "17", "method": "ping"}))
        })
        .map(drop)
    }),
    check("client/unknown-method", &["BASE-021"], "an unknown request is -32601", |client| {
        let answer = asked(client, json!(5), |_, r| {
            asking(r, json!({"jsonrpc": "2.0", "id": 5, "method": "no/such/method"}))
        })?;
        is_error(&answer, &[-32601])
    }),
    check(
        "client/roots-undeclared",
        &["LIFE-030", "BASE-021"],
        "roots that were not declared are -32601",
        |client| {
            let seen = plain(client)?;
            if seen.first("initialize")?.message["params"]["capabilities"].get("roots").is_some() {
                return skip("the client has roots");
            }
            let answer = asked(client, json!(5), |_, r| {
                asking(r, json!({"jsonrpc": "2.0", "id": 5, "method": "roots/list"}))
            })?;
            is_error(&answer, &[-32601])
        },
    ),
    check(
        "client/sampling-undeclared",
        &["LIFE-030", "BASE-021"],
        "sampling that was not declared is refused",
        |client| {
            let seen = plain(client)?;
            if seen.first("initialize")?.message["params"]["capabilities"].get("sampling").is_some()
            {
                return skip("the client has sampling");
            }
            let answer = asked(client, json!(5), |_, r| {
                asking(
                    r,
                    json!({"jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage",
                "params": {"messages": [], "maxTokens": 5}}),
                )
            })?;
            is_error(&answer, &[-32601])
        },
    ),
    check("client/notice-silence", &["BASE-025"], "notifications are not answered", |client| {
        let seen = calls(client, |_, r| {
            if !r.is("tools/call") {
                return Reply::Usual;
            }
            let unknown = json!({"jsonrpc": "2.0", "method": "notifications/no/such"});
            let known = json!({"jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": "info", "data": "x"}});
            Reply::Stream(vec![Step::Say(unknown), Step::Say(known), Step::Say(called(r))])
        })?;
        seen.ended_well()?;
        let odd = seen.messages().find(|m| m.get("method").is_none());
        ensure(odd.is_none(), || format!("{odd:?}"))
    }),
    check("client/stray-answer", &["BASE-003"], "an answer to nothing is passed over", |client| {
        answered_by(client, |_, r| {
            if !r.is("tools/call") {
                return Reply::Usual;
            }
            let stray = json!({"jsonrpc": "2.0", "id": 987_654, "result": {}});
            Reply::Stream(vec![Step::Say(stray), Step::Say(called(r))])
        })
    }),
    check(
        "client/stray-progress",
        &["PROGRESS-016"],
        "progress of nothing is passed over",
        |client| {
            answered_by(client, |_, r| {
                if !r.is("tools/call") {
                    return Reply::Usual;
                }
                let stray = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": "nobody's", "progress": 1}});
                Reply::Stream(vec![Step::Say(stray), Step::Say(called(r))])
            })
        },
    ),
    check(
        "client/stray-cancel",
        &["CANCEL-015"],
        "a cancellation of nothing is passed over",
        |client| {
            answered_by(client, |_, r| {
                if !r.is("tools/call") {
                    return Reply::Usual;
                }
                let stray = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": {"requestId": 987_654}});
                Reply::Stream(vec![Step::Say(stray), Step::Say(called(r))])
            })
        },
    ),
    check(
        "client/call-arguments",
        &["TOOLS-039"],
        "a call has a name, and an object of arguments",
        |client| {
            let seen = plain(client)?;
            let params = &seen.first("tools/call")?.message["params"];
            let fits = params["name"] == "add_numbers" && params["arguments"].is_object();
            ensure(fits, || params.to_string())
        },
    ),
    check(
        "client/progress-token",
        &["PROGRESS-001", "PROGRESS-002"],
        "progress tokens are texts or integers, each once",
        |client| {
            let seen = plain(client)?;
            let mut tokens = BTreeSet::new();
            let all = seen.messages().filter_map(|m| m.pointer("/params/_meta/progressToken"));
            for token in all {
                ensure(token.is_string() || token.is_i64(), || token.to_string())?;
                ensure(tokens.insert(token.to_string()), || format!("{token} is there twice"))?;
            }
            Ok(())
        },
    ),
    check(
        "client/elicitation-declared",
        &["ELICIT-007", "ELICIT-009"],
        "who answers forms has declared them",
        |client| {
            let (seen, answer) = filled(client)?;
            let capability =
                &seen.first("initialize")?.message["params"]["capabilities"]["elicitation"];
            ensure(answer.get("error").is_some() || capability.is_object(), || answer.to_string())
        },
    ),
    check(
        "client/elicitation-action",
        &["ELICIT-036"],
        "a form is accepted, declined or cancelled",
        |client| {
            let (_, answer) = filled(client)?;
            let action = &answer["result"]["action"];
            ensure(["accept", "decline", "cancel"].iter().any(|a| action == a), || {
                answer.to_string()
            })
        },
    ),
    check(
        "client/elicitation-content",
        &["ELICIT-037", "ELICIT-018", "ELICIT-071"],
        "what is accepted fits the form",
        |client| {
            let (_, answer) = filled(client)?;
            if answer["result"]["action"] != "accept" {
                return skip("it did not accept");
            }
            let content = &answer["result"]["content"];
            let wanted = json!({"name": "John Doe", "age": 30, "verified": true});
            ensure(*content == wanted, || content.to_string())
        },
    ),
    check(
        "client/elicitation-url",
        &["ELICIT-050"],
        "a mode that was not declared is -32602",
        |client| {
            let seen = client.run("elicitation-sep1034-client-defaults", |_, r| {
                asking(
                    r,
                    json!({"jsonrpc": "2.0", "id": "url", "method": "elicitation/create",
                "params": {"mode": "url", "message": "Go", "elicitationId": "e",
                    "url": "https://example.com/go"}}),
                )
            })?;
            let capability =
                &seen.first("initialize")?.message["params"]["capabilities"]["elicitation"];
            if capability.get("url").is_some() {
                return skip("the client has this mode");
            }
            is_error(seen.answered(&json!("url"))?, &[-32602])
        },
    ),
];
