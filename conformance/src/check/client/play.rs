//! A server for a client that is looked at: it says what it is told to, and remembers all it hears.

use std::io::{self, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::check::http::{Body, Event, Head};
use crate::check::{Fault, Outcome, ensure, fail};

/// Requests that are remembered.
const REQUESTS: usize = 1_000;
/// The session that is given out.
pub(crate) const SESSION: &str = "session-3f9c1b7e5a2d4680";
/// The session that is given out by the second `initialize`.
pub(crate) const SECOND: &str = "session-a81d5e0c7b3f9264";

/// What a client has sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: Head,
    pub(crate) text: String,
    /// The body, null if it is no JSON.
    pub(crate) message: Value,
    pub(crate) at: Instant,
}

impl Request {
    pub(crate) fn is(&self, method: &str) -> bool {
        self.message["method"] == method
    }

    pub(crate) fn http(&self) -> &str {
        self.head.word(0)
    }
}

/// A part of a stream.
pub(crate) enum Step {
    Say(Value),
    Event(Event),
    /// Bytes as they are.
    Bytes(String),
    /// Until the client has answered the request with this id, or for a while.
    Await(Value),
}

/// What a client gets.
pub(crate) enum Reply {
    Usual,
    Status(u16),
    Json(Value),
    /// JSON with these headers instead of the session.
    Bare(Value),
    Stream(Vec<Step>),
}

/// Says what is answered, by what was heard before.
pub(crate) type Manner = fn(&[Request], &Request) -> Reply;

/// A client that is looked at, and the server in the middle that may break something.
pub(crate) struct Client {
    pub(crate) command: Vec<String>,
    pub(crate) wait: Duration,
    /// Puts something between the client and this URL, which is there as long as the guard.
    pub(crate) between: Option<Between>,
    pub(crate) broken: Mutex<Vec<String>>,
}

/// Makes the URL that the client gets of ours.
pub(crate) type Between =
    Box<dyn Fn(&str) -> io::Result<(String, Box<dyn std::any::Any>)> + Send + Sync>;

/// All that was heard.
pub(crate) struct Seen {
    pub(crate) requests: Vec<Request>,
    /// Whether the client ended well.
    pub(crate) success: bool,
}

struct Stage {
    manner: Manner,
    wait: Duration,
    requests: Mutex<Vec<Request>>,
    more: Condvar,
    over: AtomicBool,
}

impl Client {
    /// Lets the client run a scenario of the public suite against a server with such manners.
    pub(crate) fn run(&self, scenario: &str, manner: Manner) -> Result<Seen, Fault> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let host = listener.local_addr()?.to_string();
        let stage = Arc::new(Stage {
            manner,
            wait: self.wait,
            requests: Mutex::default(),
            more: Condvar::new(),
            over: AtomicBool::new(false),
        });
        let own = Arc::clone(&stage);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if own.over.load(Ordering::Relaxed) {
                    return;
                }
                let own = Arc::clone(&own);
                std::thread::spawn(move || drop(own.serve(stream)));
            }
        });
        let url = format!("http://{host}/mcp");
        let ended = self.ended(scenario, &url);
        stage.over.store(true, Ordering::Relaxed);
        // It wakes to see that.
        let _ = TcpStream::connect(&host);
        let _ = thread.join();
        let requests = stage.heard().clone();
        self.look(&requests);
        Ok(Seen { requests, success: ended? })
    }

    /// Runs the client, and says whether it ended well.
    fn ended(&self, scenario: &str, url: &str) -> Result<bool, Fault> {
        let (url, _guard) = match &self.between {
            Some(between) => between(url)?,
            None => (url.to_owned(), Box::new(()) as Box<dyn std::any::Any>),
        };
        let Some((program, arguments)) = self.command.split_first() else {
            return fail("no command");
        };
        let child = Command::new(program)
            .args(arguments)
            .arg(url)
            .env("MCP_CONFORMANCE_SCENARIO", scenario)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut running = Running(child);
        let until = Instant::now() + self.wait;
        loop {
            if let Some(status) = running.0.try_wait()? {
                return Ok(status.success());
            }
            if Instant::now() >= until {
                // What it has said by then is judged.
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Holds what it has said against the schema.
    fn look(&self, requests: &[Request]) {
        let mut watch = crate::wire::Watch::default();
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        for request in requests {
            // An error for what could not be read has no id.
            if request.message.is_object() && request.message.get("error").is_none() {
                broken.extend(watch.message(crate::wire::Side::Client, &request.message));
            }
        }
    }
}

/// Ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stage {
    fn heard(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut to: TcpStream) -> io::Result<()> {
        to.set_nodelay(true)?;
        to.set_read_timeout(Some(self.wait))?;
        to.set_write_timeout(Some(self.wait))?;
        let mut from = BufReader::new(to.try_clone()?);
        let Some(head) = Head::read(&mut from)? else { return Ok(()) };
        let body = Body::of_request(&head, from).all()?;
        let text = String::from_utf8_lossy(&body).into_owned();
        let message = serde_json::from_str(&text).unwrap_or_default();
        let request = Request { head, text, message, at: Instant::now() };
        let reply = {
            let mut heard = self.heard();
            let reply = (self.manner)(&heard, &request);
            if heard.len() < REQUESTS {
                heard.push(request.clone());
            }
            self.more.notify_all();
            reply
        };
        let reply = if matches!(reply, Reply::Usual) { usual(&request) } else { reply };
        let again = self.heard().iter().filter(|r| r.is("initialize")).count() > 1;
        match reply {
            Reply::Usual => status(&mut to, 500),
            Reply::Status(code) => status(&mut to, code),
            Reply::Json(message) => {
                let session = if again { SECOND } else { SESSION };
                let header = if request.is("initialize") {
                    format!("mcp-session-id: {session}\r\n")
                } else {
                    String::new()
                };
                whole(&mut to, &message, &header)
            }
            Reply::Bare(message) => whole(&mut to, &message, ""),
            Reply::Stream(steps) => self.stream(&mut to, steps),
        }
    }

    fn stream(&self, to: &mut TcpStream, steps: Vec<Step>) -> io::Result<()> {
        to.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        )?;
        for step in steps {
            let text = match step {
                Step::Say(message) => {
                    Event { data: Some(message.to_string()), ..Event::default() }.to_text()
                }
                Step::Event(event) => event.to_text(),
                Step::Bytes(text) => text,
                Step::Await(id) => {
                    let has = |requests: &mut Vec<Request>| {
                        !requests
                            .iter()
                            .any(|r| r.message["id"] == id && r.message.get("method").is_none())
                    };
                    let wait = self.wait / 4;
                    drop(self.more.wait_timeout_while(self.heard(), wait, has));
                    continue;
                }
            };
            to.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}

fn status(to: &mut TcpStream, code: u16) -> io::Result<()> {
    let head = format!("HTTP/1.1 {code} Status\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    to.write_all(head.as_bytes())
}

fn whole(to: &mut TcpStream, message: &Value, headers: &str) -> io::Result<()> {
    let body = message.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    to.write_all(head.as_bytes())
}

/// What `initialize` is answered with.
pub(crate) fn welcome(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "check", "version": "1"},
    })
}

/// This result, as the answer to a request.
pub(crate) fn answer(request: &Request, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.message["id"], "result": result})
}

/// The tools of the scenarios.
pub(crate) fn tools() -> Value {
    let object = json!({"type": "object"});
    json!([
        {"name": "add_numbers", "description": "Adds.", "inputSchema": {"type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"]}},
        {"name": "test_reconnection", "description": "Waits.", "inputSchema": object},
        {"name": "test_client_elicitation_defaults", "description": "Asks.", "inputSchema": object},
    ])
}

/// What a tool answers.
pub(crate) fn called(request: &Request) -> Value {
    answer(request, json!({"content": [{"type": "text", "text": "5"}]}))
}

/// What a server without any faults answers.
pub(crate) fn usual(request: &Request) -> Reply {
    match (request.http(), request.message["method"].as_str()) {
        ("GET", _) => Reply::Status(405),
        ("DELETE", _) => Reply::Status(200),
        ("POST", Some("initialize")) => Reply::Json(answer(request, welcome("2025-11-25"))),
        ("POST", Some("ping")) => Reply::Json(answer(request, json!({}))),
        ("POST", Some("tools/list")) => Reply::Json(answer(request, json!({"tools": tools()}))),
        ("POST", Some("tools/call")) => Reply::Json(called(request)),
        ("POST", Some(_)) if request.message.get("id").is_some() => Reply::Json(json!({
            "jsonrpc": "2.0", "id": request.message["id"],
            "error": {"code": -32601, "message": "Method not found"},
        })),
        ("POST", _) => Reply::Status(202),
        _ => Reply::Status(405),
    }
}

impl Seen {
    /// The requests and notifications with this method.
    pub(crate) fn all<'s>(&'s self, method: &'s str) -> impl Iterator<Item = &'s Request> {
        self.requests.iter().filter(move |request| request.is(method))
    }

    /// The first of them.
    pub(crate) fn first(&self, method: &str) -> Result<&Request, Fault> {
        self.requests
            .iter()
            .find(|r| r.is(method))
            .map_or_else(|| fail(format!("the client sent no {method}")), Ok)
    }

    /// Every message.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Value> {
        self.requests.iter().map(|r| &r.message).filter(|message| !message.is_null())
    }

    /// What was answered to a request of ours.
    pub(crate) fn answered(&self, id: &Value) -> Result<&Value, Fault> {
        let is_it = |m: &&Value| m.get("method").is_none() && m.get("id") == Some(id);
        self.messages().find(is_it).map_or_else(|| fail(format!("{id} was not answered")), Ok)
    }

    /// The client went on to the end.
    pub(crate) fn ended_well(&self) -> Outcome {
        ensure(self.success, || "the client did not end well".to_owned())
    }
}
