//! A twin on HTTP.

use std::io::{self, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use super::{Asked, Deal, How, Memory};
use crate::check::http::{self, Answer, Body, Event, Events, Head};

/// How long either side may be silent in the middle of something.
const WAIT: Duration = Duration::from_secs(20);

/// Listens until it is dropped.
pub(crate) struct Proxy {
    pub(crate) url: String,
    host: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    server: String,
    how: How,
    memory: Mutex<Memory>,
    over: AtomicBool,
}

impl Proxy {
    /// Stands before the server at `url`.
    pub(crate) fn start(url: &str, how: How) -> io::Result<Self> {
        let (server, path) =
            http::split(url).ok_or_else(|| io::Error::other("an http URL is wanted"))?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let host = listener.local_addr()?.to_string();
        let (memory, over) = (Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared { server, how, memory, over });
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if own.over.load(Ordering::Relaxed) {
                    return;
                }
                let own = Arc::clone(&own);
                // Whoever it speaks to sees what goes wrong.
                std::thread::spawn(move || drop(own.serve(stream)));
            }
        });
        Ok(Self { url: format!("http://{host}{path}"), host, shared, thread: Some(thread) })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // It wakes to see that.
        let _ = TcpStream::connect(&self.host);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(WAIT))?;
        stream.set_write_timeout(Some(WAIT))?;
        let mut from = BufReader::new(stream.try_clone()?);
        let Some(head) = Head::read(&mut from)? else { return Ok(()) };
        let body = Body::of_request(&head, from).all()?;
        let text = String::from_utf8_lossy(&body).into_owned();
        let asked = Asked { head: &head, text: &text };
        let body = match self.how.deal(&text) {
            _ if !asked.is("POST") => body,
            Deal::Pass => body,
            Deal::Change(text) => text.into_bytes(),
            Deal::Also(other) => {
                let mut first = head.clone();
                first.set("content-length", other.len().to_string());
                first.set("connection", "close");
                http::send(&self.server, &first, other.as_bytes(), WAIT)?.body.all()?;
                body
            }
            Deal::Reply(message) => {
                let body = message.to_string();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
                     connection: close\r\n\r\n{body}",
                    body.len()
                );
                return stream.write_all(head.as_bytes());
            }
            Deal::Swallow => {
                let head =
                    "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                return stream.write_all(head.as_bytes());
            }
            Deal::Die => {
                self.over.store(true, Ordering::Relaxed);
                return Ok(());
            }
        };
        let mut on = head.clone();
        if let How::Heads(request, _) = self.how {
            request(&mut on, &mut self.memory.lock().unwrap_or_else(PoisonError::into_inner));
        }
        if on.get("content-length").is_some() {
            on.set("content-length", body.len().to_string());
        }
        on.set("connection", "close");
        let mut answer = http::send(&self.server, &on, &body, WAIT)?;
        if let How::Heads(_, change) = self.how {
            let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            change(&asked, &mut answer.head, &mut memory);
        }
        answer.head.set("connection", "close");
        let request = serde_json::from_str(&text).unwrap_or_default();
        if answer.is_stream() && answer.status() == 200 {
            self.stream(&asked, &request, answer, stream)
        } else {
            self.whole(&asked, &request, answer, stream)
        }
    }

    /// Passes on what ends.
    fn whole(
        &self,
        asked: &Asked<'_>,
        request: &Value,
        mut answer: Answer,
        mut to: TcpStream,
    ) -> io::Result<()> {
        let mut body = answer.body.all()?;
        answer.head.remove("transfer-encoding");
        if let Ok(message) = serde_json::from_slice::<Value>(&body)
            && message.is_object()
        {
            let messages = self.how.messages(request, message);
            if let [one] = messages.as_slice() {
                body = one.to_string().into_bytes();
            } else {
                answer.head.set("content-type", "text/event-stream");
                let event = |m: &Value| Event { data: Some(m.to_string()), ..Event::default() };
                body = messages.iter().flat_map(|m| event(m).to_text().into_bytes()).collect();
            }
        }
        if let How::Body(change) = self.how {
            body = change(asked.head, body);
        }
        if answer.head.word(1) != "204" {
            answer.head.set("content-length", body.len().to_string());
        }
        to.write_all(&answer.head.to_bytes())?;
        to.write_all(&body)
    }

    /// Passes on event by event.
    fn stream(
        &self,
        asked: &Asked<'_>,
        request: &Value,
        mut answer: Answer,
        mut to: TcpStream,
    ) -> io::Result<()> {
        // The connection's end is the stream's.
        answer.head.remove("transfer-encoding");
        answer.head.remove("content-length");
        to.write_all(&answer.head.to_bytes())?;
        if let How::Stream(change) = self.how {
            let text = answer.body.all()?;
            return to.write_all(change(&String::from_utf8_lossy(&text)).as_bytes());
        }
        if !matches!(self.how, How::Message(_) | How::Messages(_) | How::Event(_)) {
            return io::copy(&mut answer.body, &mut to).map(drop);
        }
        let mut events = Events::new(answer.body);
        let mut number = 0;
        while let Some(event) = events.next()? {
            let changed = match self.how {
                How::Event(change) => change(asked, number, event),
                _ => self.event(request, event),
            };
            number += 1;
            for event in changed {
                to.write_all(event.to_text().as_bytes())?;
            }
        }
        Ok(())
    }

    /// What becomes of the message in an event.
    fn event(&self, request: &Value, event: Event) -> Vec<Event> {
        let message = event.data.as_deref().and_then(|data| serde_json::from_str(data).ok());
        let Some(message @ Value::Object(_)) = message else { return vec![event] };
        let asked = if message.get("method").is_none() { request } else { &Value::Null };
        let messages = self.how.messages(asked, message);
        let with = |m: &Value| Event { data: Some(m.to_string()), ..event.clone() };
        messages.iter().map(with).collect()
    }
}
