//! The pipe.

use serde_json::json;

use super::super::talk::REVISION;
use super::super::talk::hello;
use super::super::{Check, ensure, fail, stdio};

pub(super) const CHECKS: &[Check] = &[
    stdio(
        "stdio/lines",
        &["TRANSPORT-STDIO-004", "TRANSPORT-STDIO-005", "TRANSPORT-STDIO-010"],
        "a message is a line",
        |site| {
            let mut talk = site.open()?;
            let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": hello(REVISION, json!({}))});
            let wait = talk.wait();
            let pipe = talk.pipe()?;
            pipe.write(format!("{hello}\n").as_bytes())?;
            let Some(line) = pipe.line(wait)? else { return fail("no answer") };
            let text = String::from_utf8_lossy(&line);
            ensure(line.ends_with(b"\n"), || format!("`{text}` has no end"))?;
            ensure(serde_json::from_slice::<serde_json::Value>(&line).is_ok(), || text.into_owned())
        },
    ),
    stdio("stdio/utf-8", &["BASE-027"], "what is written is UTF-8", |site| {
        let mut talk = site.ready()?;
        let wait = talk.wait();
        let pipe = talk.pipe()?;
        pipe.write("{\"jsonrpc\":\"2.0\",\"id\":\"ü🦀\",\"method\":\"ping\"}\n".as_bytes())?;
        let Some(line) = pipe.line(wait)? else { return fail("no answer") };
        let text = String::from_utf8(line);
        ensure(text.is_ok(), || format!("{text:?}"))
    }),
    stdio("stdio/blank-line", &["TRANSPORT-STDIO-004"], "a blank line is survived", |site| {
        let mut talk = site.ready()?;
        talk.pipe()?.write(b"\n")?;
        talk.lives()
    }),
    stdio("stdio/crlf", &["TRANSPORT-STDIO-004"], "a line may end in CR LF", |site| {
        let mut talk = site.ready()?;
        let text = "{\"jsonrpc\":\"2.0\",\"id\":81,\"method\":\"ping\"}\r";
        let answer = talk.raw(text.as_bytes())?.unwrap_or_default();
        ensure(answer["id"] == 81 && answer.get("result").is_some(), || answer.to_string())
    }),
    stdio("stdio/in-pieces", &["TRANSPORT-STDIO-003"], "a line may come in pieces", |site| {
        let mut talk = site.ready()?;
        for piece in ["{\"jsonrpc\":\"2.0\",", "\"id\":82,", "\"method\":\"pi"] {
            talk.pipe()?.write(piece.as_bytes())?;
        }
        let answer = talk.raw(b"ng\"}")?.unwrap_or_default();
        ensure(answer["id"] == 82 && answer.get("result").is_some(), || answer.to_string())
    }),
    stdio("stdio/bad-utf-8", &["BASE-027"], "bytes that are no UTF-8 are survived", |site| {
        let mut talk = site.ready()?;
        talk.pipe()?.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/\xff\xfe\"}\n")?;
        talk.lives()
    }),
    stdio("stdio/long-line", &["TRANSPORT-STDIO-003"], "a line of 200 kB is read", |site| {
        let mut talk = site.ready()?;
        let long = "x".repeat(200_000);
        talk.result("ping", json!({"_meta": {"example.com/long": long}})).map(drop)
    }),
    stdio(
        "stdio/nothing-unasked",
        &["TRANSPORT-STDIO-010"],
        "nothing is said before initialize",
        |site| {
            let mut talk = site.open()?;
            talk.result("initialize", hello(REVISION, json!({})))?;
            ensure(talk.heard.is_empty(), || format!("{:?}", talk.heard))
        },
    ),
    stdio("stdio/ends", &["TRANSPORT-STDIO-012"], "the server ends when its stdin does", |site| {
        let mut talk = site.ready()?;
        let wait = talk.wait();
        let pipe = talk.pipe()?;
        pipe.close();
        ensure(pipe.ended(wait)?.is_some(), || "it still runs".to_owned())
    }),
    stdio(
        "stdio/ends-before",
        &["TRANSPORT-STDIO-012"],
        "the server ends even before a handshake",
        |site| {
            let mut talk = site.open()?;
            let wait = talk.wait();
            let pipe = talk.pipe()?;
            pipe.close();
            ensure(pipe.ended(wait)?.is_some(), || "it still runs".to_owned())
        },
    ),
];
