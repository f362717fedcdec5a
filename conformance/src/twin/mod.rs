//! Broken twins: something that is right, with one rule broken on the way. They show that the
//! checks see what they are there to see.
//!
//! A twin stands between a checker and something unbroken, and changes what passes: a message, a
//! header, an event, a byte. It knows nothing of our own implementation.

#![expect(clippy::indexing_slicing, reason = "a member that a JSON value lacks is null")]

mod breaks;
mod http;
mod pipe;
pub mod run;

use serde_json::{Value, json};

use crate::check::http::{Event, Head};

pub use pipe::run as stdio;

/// What becomes of a message on its way to the server.
pub(crate) enum Deal {
    Pass,
    /// The server gets this instead.
    Change(String),
    /// The server gets this first.
    Also(String),
    /// The server gets nothing, and the client this.
    Reply(Value),
    /// The server gets nothing, and the client no answer.
    Swallow,
    /// The twin is no more.
    Die,
}

/// What is answered.
pub(crate) struct Asked<'a> {
    pub(crate) head: &'a Head,
    pub(crate) text: &'a str,
}

impl Asked<'_> {
    pub(crate) fn is(&self, method: &str) -> bool {
        self.head.word(0) == method
    }

    pub(crate) fn says(&self, words: &str) -> bool {
        self.text.contains(words)
    }
}

/// What a twin remembers.
#[derive(Default)]
pub(crate) struct Memory {
    /// The real session.
    pub(crate) session: String,
    pub(crate) count: usize,
    pub(crate) over: bool,
}

/// A message of the server, changed by what was asked; each that is left goes on.
type Messages = fn(&Value, Value) -> Vec<Value>;
/// The head of an answer, changed by what was asked.
type Answered = fn(&Asked<'_>, &mut Head, &mut Memory);

/// What is broken.
#[derive(Clone, Copy)]
pub(crate) enum How {
    Nothing,
    /// What the client says.
    Deal(fn(&str) -> Deal),
    /// A message of the server, by the request that it answers, which is null if it answers none.
    Message(fn(&Value, &mut Value)),
    Messages(Messages),
    /// A line on stdout, by its number.
    Line(fn(usize, &[u8]) -> Vec<u8>),
    /// The end of stdin is not noticed.
    Stay,
    /// The heads of requests and answers.
    Heads(fn(&mut Head, &mut Memory), Answered),
    Body(fn(&Head, Vec<u8>) -> Vec<u8>),
    /// The events of a stream, by their number.
    Event(fn(&Asked<'_>, usize, Event) -> Vec<Event>),
    /// A stream that ends, as a whole.
    Stream(fn(&str) -> String),
}

/// One switch.
#[derive(Clone, Copy)]
pub(crate) struct Break {
    pub(crate) name: &'static str,
    /// The check that has to see it.
    pub(crate) caught_by: &'static str,
    pub(crate) how: How,
}

impl Break {
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        breaks::ALL.iter().flat_map(|area| area.iter())
    }

    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|switch| switch.name == name)
    }
}

impl How {
    fn deal(self, text: &str) -> Deal {
        match self {
            Self::Deal(deal) => deal(text),
            _ => Deal::Pass,
        }
    }

    fn messages(self, asked: &Value, mut message: Value) -> Vec<Value> {
        match self {
            Self::Message(change) => {
                change(asked, &mut message);
                vec![message]
            }
            Self::Messages(change) => change(asked, message),
            _ => vec![message],
        }
    }
}

/// An error, as an answer to this request.
pub(crate) fn refusal(request: &Value, code: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": "broken"}})
}
