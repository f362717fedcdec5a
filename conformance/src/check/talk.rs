//! A conversation with a server: raw messages, over a pipe or over HTTP.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{self, Answer, Event, Events, Head};
use super::pipe::Pipe;
use super::{Fault, Outcome, Site, Target, ensure, fail, skip};
use crate::wire::{Side, Watch};

/// The revision that is asked for.
pub(crate) const REVISION: &str = "2025-11-25";
/// How long nobody has to speak to be called silent. It decides nothing where all is well.
const SILENCE: Duration = Duration::from_millis(150);
const ACCEPT: &str = "application/json, text/event-stream";

enum Link {
    Pipe(Pipe),
    Http { host: String, path: String },
}

/// One session, or none yet.
pub(crate) struct Talk<'s> {
    site: &'s Site,
    link: Link,
    number: i64,
    watch: Watch,
    /// What the server has said that was no answer to us, in order.
    pub(crate) heard: Vec<Value>,
    /// Answers to what the server asks, by method; there are usual ones.
    pub(crate) replies: HashMap<&'static str, Value>,
    pub(crate) session: Option<String>,
    pub(crate) version: Option<String>,
    /// What `initialize` was answered with.
    pub(crate) welcome: Value,
    /// The HTTP status of the last answer.
    pub(crate) status: u16,
}

impl<'s> Talk<'s> {
    pub(super) fn open(site: &'s Site) -> Result<Self, Fault> {
        let link = match &site.target {
            Target::Command(command) => Link::Pipe(Pipe::start(command)?),
            Target::Url(url) => {
                let Some((host, path)) = http::split(url) else {
                    return fail(format!("{url} is no http URL"));
                };
                Link::Http { host, path }
            }
        };
        Ok(Self {
            site,
            link,
            number: 0,
            watch: Watch::default(),
            heard: Vec::new(),
            replies: HashMap::new(),
            session: None,
            version: None,
            welcome: Value::Null,
            status: 0,
        })
    }

    /// The handshake, as a client that can do everything.
    pub(crate) fn greet(&mut self) -> Outcome {
        let all = json!({
            "roots": {"listChanged": true},
            "sampling": {"tools": {}, "context": {}},
            "elicitation": {"form": {}, "url": {}},
        });
        self.greet_with(REVISION, all)
    }

    /// The handshake.
    pub(crate) fn greet_with(&mut self, revision: &str, capabilities: Value) -> Outcome {
        let answer = self.ask("initialize", hello(revision, capabilities))?;
        let Some(result) = answer.get("result") else {
            return fail(format!("initialize was answered by {answer}"));
        };
        self.welcome = result.clone();
        self.version = result["protocolVersion"].as_str().map(str::to_owned);
        self.tell("notifications/initialized", json!({}))
    }

    /// Skips the check unless the server has said that it has this, for example `tools`.
    pub(crate) fn need(&self, capability: &str) -> Outcome {
        let pointer = format!("/capabilities/{}", capability.replace('.', "/"));
        match self.welcome.pointer(&pointer) {
            None | Some(Value::Null | Value::Bool(false)) => {
                skip(format!("the server has no {capability}"))
            }
            Some(_) => Ok(()),
        }
    }

    pub(crate) fn number(&mut self) -> i64 {
        self.number += 1;
        self.number
    }

    /// Asks, and returns the whole answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, Fault> {
        let id = self.number();
        self.exchange(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    /// Asks for what has to work.
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Result<Value, Fault> {
        let mut answer = self.ask(method, params)?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => fail(format!("{method} was answered by {answer}")),
        }
    }

    /// Asks for what has to be refused with one of these codes.
    pub(crate) fn refused(&mut self, method: &str, params: Value, codes: &[i64]) -> Outcome {
        self.status = 0;
        match self.ask(method, params) {
            Ok(answer) => is_error(&answer, codes),
            // Over HTTP the status may be all that is said.
            Err(Fault::Fail(_)) if self.status >= 400 => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) -> Outcome {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Sends what is no request.
    pub(crate) fn say(&mut self, message: &Value) -> Outcome {
        match &mut self.link {
            Link::Pipe(pipe) => Ok(pipe.write(format!("{message}\n").as_bytes())?),
            Link::Http { .. } => {
                let mut answer = self.post(message.to_string().as_bytes())?;
                self.status = answer.status();
                if self.status != 202 {
                    let body = String::from_utf8_lossy(&answer.body.all()?).into_owned();
                    return fail(format!("{message} was answered by {} {body}", self.status));
                }
                Ok(())
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn exchange(&mut self, request: &Value) -> Result<Value, Fault> {
        // Only so that the answer can be looked at.
        let _ = self.watch.message(Side::Client, request);
        let id = request.get("id").cloned().unwrap_or_default();
        let is_it =
            |message: &Value| message.get("method").is_none() && message.get("id") == Some(&id);
        let until = Instant::now() + self.site.wait;
        if let Link::Pipe(pipe) = &mut self.link {
            pipe.write(format!("{request}\n").as_bytes())?;
            return self.until(until, is_it);
        }
        let answer = self.post(request.to_string().as_bytes())?;
        self.take_in(answer, until, is_it)
    }

    /// What an answer brings, up to the message that is looked for.
    pub(crate) fn take_in(
        &mut self,
        mut answer: Answer,
        until: Instant,
        is_it: impl Fn(&Value) -> bool,
    ) -> Result<Value, Fault> {
        self.status = answer.status();
        if let Some(session) = answer.head.get("mcp-session-id") {
            self.session = Some(session.to_owned());
        }
        if !answer.is_stream() {
            let body = answer.body.all()?;
            let text = String::from_utf8_lossy(&body);
            return match serde_json::from_slice::<Value>(&body) {
                // A refusal's id may be missing; a result comes by 200 only.
                Ok(message) if self.status >= 400 && message.get("error").is_some() => Ok(message),
                Ok(message) if self.status == 200 && is_it(&message) => {
                    self.look(&message);
                    Ok(message)
                }
                _ => fail(format!("the answer was {} `{text}`", self.status)),
            };
        }
        let mut events = Events::new(answer.body);
        loop {
            if Instant::now() > until {
                return fail("no answer came in time");
            }
            let Some(event) = events.next()? else { return fail("the stream ended without it") };
            if let Some(message) = self.of_event(&event)?
                && is_it(&message)
            {
                return Ok(message);
            }
        }
    }

    /// The message in an event; what is no answer is heard, and answered.
    pub(crate) fn of_event(&mut self, event: &Event) -> Result<Option<Value>, Fault> {
        let Some(data) = event.data.as_deref().filter(|data| !data.trim().is_empty()) else {
            return Ok(None);
        };
        let Ok(message) = serde_json::from_str::<Value>(data) else {
            return fail(format!("an event has `{data}`"));
        };
        self.hear(&message)?;
        Ok(Some(message))
    }

    /// Reads lines until one is looked for.
    fn until(&mut self, until: Instant, is_it: impl Fn(&Value) -> bool) -> Result<Value, Fault> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.line(left)? {
                None => return fail("no answer came in time"),
                Some(message) if is_it(&message) => return Ok(message),
                Some(_) => {}
            }
        }
    }

    /// The next message on stdout; none when it takes too long.
    pub(crate) fn line(&mut self, wait: Duration) -> Result<Option<Value>, Fault> {
        let Link::Pipe(pipe) = &self.link else { return skip("only on a pipe") };
        let Some(line) = pipe.line(wait)? else { return Ok(None) };
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) => {
                self.hear(&message)?;
                Ok(Some(message))
            }
            Err(_) => fail(format!("stdout has `{}`", String::from_utf8_lossy(&line).trim_end())),
        }
    }

    fn hear(&mut self, message: &Value) -> Outcome {
        self.look(message);
        let Some(method) = message.get("method").and_then(Value::as_str) else { return Ok(()) };
        self.heard.push(message.clone());
        if let Some(id) = message.get("id") {
            let mut reply =
                self.replies.get(method).cloned().unwrap_or_else(|| usual(method, message));
            // No reply at all was wished for.
            if !reply.is_null() {
                reply["jsonrpc"] = json!("2.0");
                reply["id"] = id.clone();
                let _ = self.watch.message(Side::Client, &reply);
                self.say(&reply)?;
            }
        }
        Ok(())
    }

    /// Holds a message against the schema.
    fn look(&mut self, message: &Value) {
        // What could not be read has no id that an answer could bear.
        if message.get("error").is_some() && message.get("id").is_none_or(Value::is_null) {
            return;
        }
        let faults = self.watch.message(Side::Server, message);
        if !faults.is_empty() {
            let mut text = message.to_string();
            text.truncate(text.char_indices().nth(300).map_or(text.len(), |(at, _)| at));
            self.site.broken(format!("{} in {text}", faults.join("; ")));
        }
    }

    /// What was heard of this method.
    pub(crate) fn heard_of<'t>(&'t self, method: &'t str) -> impl Iterator<Item = &'t Value> {
        self.heard.iter().filter(move |message| message["method"] == method)
    }

    /// Sends anything, and returns the first answer, whatever its id is; none when there is
    /// silence, or an answer without a body.
    pub(crate) fn raw(&mut self, text: &[u8]) -> Result<Option<Value>, Fault> {
        let wait = self.site.wait;
        let until = Instant::now() + wait;
        if let Link::Pipe(pipe) = &mut self.link {
            pipe.write(text)?;
            pipe.write(b"\n")?;
            loop {
                let left = until.saturating_duration_since(Instant::now());
                match self.line(left)? {
                    None => return Ok(None),
                    Some(message) if message.get("method").is_none() => return Ok(Some(message)),
                    Some(_) => {}
                }
            }
        }
        let mut answer = self.post(text)?;
        self.status = answer.status();
        if answer.is_stream() {
            return self.take_in(answer, until, |m| m.get("method").is_none()).map(Some);
        }
        Ok(serde_json::from_slice(&answer.body.all()?).ok())
    }

    /// Nothing but what was asked for is said: neither now, nor before a ping is answered.
    pub(crate) fn stays_silent(&mut self) -> Outcome {
        let id = self.number();
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let Link::Pipe(pipe) = &mut self.link else { return self.exchange(&ping).map(drop) };
        pipe.write(format!("{ping}\n").as_bytes())?;
        let mut wait = self.site.wait;
        let mut answered = false;
        while let Some(message) = self.line(wait)? {
            if message.get("method").is_some() {
                continue;
            }
            ensure(message["id"] == id && !answered, || format!("nobody asked for {message}"))?;
            answered = true;
            wait = SILENCE;
        }
        ensure(answered, || "ping was not answered".to_owned())
    }

    /// It is still there and answers.
    pub(crate) fn lives(&mut self) -> Outcome {
        self.result("ping", json!({})).map(drop)
    }

    /// The usual headers of this session.
    pub(crate) fn head(&self, method: &str) -> Head {
        let Link::Http { host, path } = &self.link else { return Head::default() };
        let mut head = Head { first: format!("{method} {path} HTTP/1.1"), headers: Vec::new() };
        head.set("host", host.as_str());
        head.set("connection", "close");
        match method {
            "GET" => head.set("accept", "text/event-stream"),
            _ => head.set("accept", ACCEPT),
        }
        if method == "POST" {
            head.set("content-type", "application/json");
        }
        if let Some(session) = &self.session {
            head.set("mcp-session-id", session.as_str());
        }
        if let Some(version) = &self.version {
            head.set("mcp-protocol-version", version.as_str());
        }
        head
    }

    pub(crate) fn post(&self, body: &[u8]) -> Result<Answer, Fault> {
        self.send(self.head("POST"), body)
    }

    /// Sends a request with any head.
    pub(crate) fn send(&self, head: Head, body: &[u8]) -> Result<Answer, Fault> {
        self.send_for(head, body, self.site.wait)
    }

    /// The same, waiting so long for each byte.
    pub(crate) fn send_for(
        &self,
        mut head: Head,
        body: &[u8],
        wait: Duration,
    ) -> Result<Answer, Fault> {
        let Link::Http { host, .. } = &self.link else { return skip("only over HTTP") };
        if head.get("content-length").is_none() && (!body.is_empty() || head.word(0) == "POST") {
            head.set("content-length", body.len().to_string());
        }
        Ok(http::send(host, &head, body, wait)?)
    }

    /// The pipe, if it is one.
    pub(crate) fn pipe(&mut self) -> Result<&mut Pipe, Fault> {
        match &mut self.link {
            Link::Pipe(pipe) => Ok(pipe),
            Link::Http { .. } => skip("only on a pipe"),
        }
    }

    pub(crate) const fn wait(&self) -> Duration {
        self.site.wait
    }
}

/// The parameters of `initialize`.
pub(crate) fn hello(revision: &str, capabilities: Value) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": capabilities,
        "clientInfo": {"name": "check", "version": "1"},
    })
}

/// An answer that is an error with one of these codes.
pub(crate) fn is_error(answer: &Value, codes: &[i64]) -> Outcome {
    let code = answer["error"]["code"].as_i64();
    ensure(code.is_some_and(|code| codes.contains(&code)), || {
        format!("an error of {codes:?} is wanted, not {answer}")
    })
}

/// What a client answers that has a model and a person who agrees with everything.
fn usual(method: &str, request: &Value) -> Value {
    match method {
        "ping" => json!({"result": {}}),
        "roots/list" => json!({"result": {"roots": [{"uri": "file:///tmp", "name": "tmp"}]}}),
        "sampling/createMessage" => json!({"result": {
            "role": "assistant", "model": "none",
            "content": {"type": "text", "text": "a sampled answer"}, "stopReason": "endTurn",
        }}),
        "elicitation/create" if request["params"]["mode"] == "url" => {
            json!({"result": {"action": "accept"}})
        }
        "elicitation/create" => {
            let fields = request["params"]["requestedSchema"]["properties"].as_object();
            let content: serde_json::Map<_, _> = fields
                .into_iter()
                .flatten()
                .map(|(name, field)| (name.clone(), filled(field)))
                .collect();
            json!({"result": {"action": "accept", "content": content}})
        }
        _ => json!({"error": {"code": -32601, "message": "Method not found"}}),
    }
}

/// A value that fits a field of a form.
pub(crate) fn filled(field: &Value) -> Value {
    if let Some(default) = field.get("default") {
        return default.clone();
    }
    let first = |field: &Value| {
        ["/enum/0", "/oneOf/0/const", "/anyOf/0/const"]
            .iter()
            .find_map(|at| field.pointer(at))
            .cloned()
    };
    match field["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => field.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("array") => json!([first(&field["items"]).unwrap_or_else(|| json!("x"))]),
        _ if field["format"] == "email" => json!("a@example.com"),
        _ => first(field).unwrap_or_else(|| json!("something")),
    }
}
