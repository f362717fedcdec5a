//! What is asked of a server, and whether it was answered.

use std::borrow::Cow;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use serde_json::value::RawValue;

/// One kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `tools/call` of `echo`.
    Echo,
    /// `tools/call` of `add`: typed arguments, a structured result.
    Add,
    /// `tools/call` of `progress`: notifications, then the result.
    Progress,
    /// `tools/call` of `sample`: a request of the server's, then the result.
    Sample,
    /// `tools/list`.
    List,
    /// `resources/read` of 64 KiB.
    Read,
    /// `ping`.
    Ping,
}

impl Kind {
    pub(crate) const ALL: [(&'static str, Self); 7] = [
        ("echo", Self::Echo),
        ("add", Self::Add),
        ("progress", Self::Progress),
        ("sample", Self::Sample),
        ("list", Self::List),
        ("read", Self::Read),
        ("ping", Self::Ping),
    ];
}

/// A request that is sent again and again, and what its answer has to be.
pub(crate) struct Work {
    pub(crate) kind: Kind,
    /// Of the text of an echo; notifications of a call of `progress`.
    pub(crate) size: usize,
    text: String,
    /// The text as JSON.
    escaped: String,
}

/// Text as programs have it: every line brings three characters that JSON escapes.
const LINES: &str = "a line of some sixty characters, as program text is, \"quoted\"\n";

impl Work {
    pub(crate) fn new(kind: Kind, size: usize) -> anyhow::Result<Self> {
        let text = match kind {
            Kind::Echo if size <= 16 => "x".repeat(size),
            Kind::Echo => LINES.chars().cycle().take(size).collect(),
            _ => String::new(),
        };
        let escaped = serde_json::to_string(&text)?;
        Ok(Self { kind, size, text, escaped })
    }

    /// Appends the request `id`.
    pub(crate) fn write(&self, id: u64, out: &mut Vec<u8>) {
        let (method, params) = match self.kind {
            Kind::Echo => ("tools/call", [r#"{"name":"echo","arguments":{"text":"#, "}}"]),
            Kind::Add => ("tools/call", [r#"{"name":"add","arguments":{"a":20,"b":22}}"#, ""]),
            Kind::Progress => ("tools/call", [r#"{"name":"progress","arguments":{"count":"#, ""]),
            Kind::Sample => ("tools/call", [r#"{"name":"sample","arguments":{}}"#, ""]),
            Kind::List => ("tools/list", ["{}", ""]),
            Kind::Read => ("resources/read", [r#"{"uri":"bench://text64k"}"#, ""]),
            Kind::Ping => ("ping", ["{}", ""]),
        };
        let mut add = |part: &str| out.extend_from_slice(part.as_bytes());
        let id = id.to_string();
        add(r#"{"jsonrpc":"2.0","id":"#);
        add(&id);
        add(r#","method":""#);
        add(method);
        add(r#"","params":"#);
        let [before, after] = params;
        add(before);
        match self.kind {
            Kind::Echo => add(&self.escaped),
            Kind::Progress => {
                add(&self.size.to_string());
                add(r#"},"_meta":{"progressToken":"#);
                add(&id);
                add("}}");
            }
            _ => {}
        }
        add(after);
        add("}");
    }

    fn check(&self, result: &RawValue) -> anyhow::Result<()> {
        match self.kind {
            Kind::Echo | Kind::Add | Kind::Progress | Kind::Sample => {
                let result: CallResult<'_> = serde_json::from_str(result.get())?;
                ensure!(!result.is_error, "the tool has failed");
                let text = result.content.first().map_or("", |block| &block.text);
                match self.kind {
                    Kind::Echo => ensure!(text == self.text, "not the echo"),
                    Kind::Add => {
                        let sum = result.structured.context("no structured result")?.sum;
                        ensure!(sum == 42, "{sum} is not the sum");
                    }
                    Kind::Sample => ensure!(text == SAMPLED, "not what was sampled"),
                    _ => ensure!(text == "done", "not done"),
                }
            }
            Kind::List => {
                let list: ListResult<'_> = serde_json::from_str(result.get())?;
                ensure!(list.tools.len() == 100, "{} tools", list.tools.len());
            }
            Kind::Read => {
                let read: ReadResult<'_> = serde_json::from_str(result.get())?;
                let text = read.contents.first().map_or("", |block| &block.text);
                ensure!(text.len() == 1 << 16, "{} bytes", text.len());
            }
            Kind::Ping => {}
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Progressed {
    #[serde(rename = "progressToken")]
    token: u64,
}

#[derive(Deserialize)]
struct CallResult<'a> {
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
    #[serde(default, rename = "isError")]
    is_error: bool,
    #[serde(rename = "structuredContent")]
    structured: Option<Sum>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize)]
struct ListResult<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct ReadResult<'a> {
    #[serde(borrow)]
    contents: Vec<Block<'a>>,
}

const SAMPLED: &str = "a word";

/// What came in.
#[derive(Debug, PartialEq)]
pub(crate) enum Came {
    /// The answer to a request, as it has to be.
    Answer,
    /// A notification.
    Note,
    /// A request of the server's, and the response to it.
    Asked(Vec<u8>),
}

/// The requests of a run that are under way, and those that were answered.
pub(crate) struct Book {
    first: u64,
    calls: Vec<Call>,
}

#[derive(Clone, Copy)]
struct Call {
    sent: Instant,
    micros: Option<u32>,
    notes: u32,
}

impl Book {
    /// Requests from `first` on.
    pub(crate) fn new(first: u64, calls: usize) -> Self {
        Self { first, calls: Vec::with_capacity(calls) }
    }

    /// Appends the next request.
    pub(crate) fn send(&mut self, work: &Work, out: &mut Vec<u8>) {
        work.write(self.first + self.calls.len() as u64, out);
        self.calls.push(Call { sent: Instant::now(), micros: None, notes: 0 });
    }

    /// Checks a message.
    pub(crate) fn take(&mut self, work: &Work, message: &[u8]) -> anyhow::Result<Came> {
        let shown = || {
            let shown = message.get(..500).unwrap_or(message);
            String::from_utf8_lossy(shown).into_owned()
        };
        let envelope: Envelope<'_> = serde_json::from_slice(message).with_context(shown)?;
        match (envelope.id, envelope.method) {
            (None, Some("notifications/progress")) => {
                let params = envelope.params.context("no params")?;
                let Progressed { token } = serde_json::from_str(params.get())?;
                let call = self.call(token)?;
                ensure!(call.micros.is_none(), "progress of what is over");
                call.notes += 1;
                Ok(Came::Note)
            }
            (None, Some(_)) => Ok(Came::Note),
            (Some(id), Some("sampling/createMessage")) => Ok(Came::Asked(
                format!(
                    r#"{{"jsonrpc":"2.0","id":{},"result":{{"role":"assistant","content":{{"type":"text","text":"{SAMPLED}"}},"model":"none"}}}}"#,
                    id.get()
                )
                .into_bytes(),
            )),
            (Some(id), Some("ping")) => Ok(Came::Asked(
                format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, id.get()).into_bytes(),
            )),
            (Some(id), None) => {
                let result = envelope.result.context("an error").with_context(shown)?;
                work.check(result).with_context(shown)?;
                let wanted = if work.kind == Kind::Progress { work.size } else { 0 };
                let call = self.call(id.get().parse()?)?;
                ensure!(call.micros.is_none(), "a second answer to {id}");
                ensure!(call.notes as usize == wanted, "{} notifications", call.notes);
                let micros = call.sent.elapsed().as_micros();
                call.micros = Some(u32::try_from(micros).unwrap_or(u32::MAX));
                Ok(Came::Answer)
            }
            _ => bail!("not expected: {}", shown()),
        }
    }

    fn call(&mut self, id: u64) -> anyhow::Result<&mut Call> {
        let at = id.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.calls.get_mut(at)).context("an id that was not sent")
    }

    /// How long each request took, in microseconds.
    pub(crate) fn times(&self) -> impl Iterator<Item = u32> {
        self.calls.iter().filter_map(|call| call.micros)
    }
}

/// The first request of a conversation.
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"mcp-bench","version":"0"}}}"#;

/// What comes after its answer.
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn came(work: &Work, messages: &[&str]) -> anyhow::Result<Came> {
        let mut book = Book::new(7, 1);
        let mut out = Vec::new();
        book.send(work, &mut out);
        let mut last = None;
        for message in messages {
            last = Some(book.take(work, message.as_bytes())?);
        }
        last.context("no message")
    }

    #[test]
    fn only_the_right_answer_counts() {
        let work = Work::new(Kind::Echo, 4).unwrap();
        let answer = |id: &str, text: &str| {
            format!(r#"{{"id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
        };
        let good = answer("7", "xxxx");
        assert_eq!(came(&work, &[&good]).unwrap(), Came::Answer);
        assert!(came(&work, &[&good, &good]).is_err());
        assert!(came(&work, &[&answer("7", "xxx")]).is_err());
        assert!(came(&work, &[&answer("8", "xxxx")]).is_err());
        assert!(came(&work, &[r#"{"id":7,"error":{"code":1,"message":""}}"#]).is_err());
    }

    #[test]
    fn every_notification_has_to_come() {
        let work = Work::new(Kind::Progress, 2).unwrap();
        let note = r#"{"method":"notifications/progress","params":{"progressToken":7}}"#;
        let done = r#"{"id":7,"result":{"content":[{"type":"text","text":"done"}]}}"#;
        assert_eq!(came(&work, &[note, note, done]).unwrap(), Came::Answer);
        assert!(came(&work, &[note, done]).is_err());
        assert!(came(&work, &[note, note, done, note]).is_err());
    }

    #[test]
    fn requests_are_json() {
        for (_, kind) in Kind::ALL {
            let mut out = Vec::new();
            Work::new(kind, 100).unwrap().write(3, &mut out);
            let request: serde_json::Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(request["id"], 3, "{kind:?}");
        }
    }
}
