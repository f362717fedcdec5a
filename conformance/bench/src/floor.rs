//! The least that answers a request: parse, with borrowed serde_json, exactly what the answer
//! needs, and write it.
//!
//! It checks nothing, and is no MCP server: it is what ours is measured against.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    name: &'a str,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Echo<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Count {
    count: u32,
}

/// What is known before the first request.
#[derive(Debug)]
pub struct Floor {
    /// The result of `tools/list`.
    list: String,
    /// The result of `resources/read`.
    resource: String,
}

/// What an answer turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answered {
    /// Nothing was written.
    Nothing,
    /// The one response was written.
    Response,
    /// The response to `initialize` was written.
    Initialized,
    /// Notifications and the response were written.
    Several,
}

impl Floor {
    /// Makes what never changes.
    #[must_use]
    pub fn new() -> Self {
        let mut list = String::from(r#"{"tools":["#);
        for number in 0..100 {
            let comma = if number == 0 { "" } else { "," };
            // Writing to a `String` can't fail.
            let _ = write!(
                list,
                r#"{comma}{{"name":"tool_{number:02}","description":"Lists the entries under a path of the project, newest first, with their size and the time of their last change. Folders end with a slash.","inputSchema":{{"type":"object","properties":{{"path":{{"type":"string","description":"Where to start, relative to the root of the project."}},"limit":{{"type":"integer","minimum":0,"description":"How many entries at most."}},"deep":{{"type":"boolean","description":"Whether to go into folders."}}}},"required":["path"]}}}}"#
            );
        }
        list.push_str("]}");
        let text = "0123456789abcdef".repeat(4096);
        let resource = format!(r#"{{"contents":[{{"uri":"bench://text64k","text":"{text}"}}]}}"#);
        Self { list, resource }
    }

    /// Answers one message; `end` comes after each message that is written, and `begin` before.
    ///
    /// # Errors
    ///
    /// When it is not what a request has to be.
    pub fn answer(
        &self,
        message: &[u8],
        output: &mut Vec<u8>,
        (begin, end): (&[u8], &[u8]),
    ) -> io::Result<Answered> {
        let request: Request<'_> = serde_json::from_slice(message)?;
        let Some(id) = request.id else { return Ok(Answered::Nothing) };
        let mut answered = Answered::Response;
        let call = match (request.method, request.params) {
            ("tools/call", Some(params)) => Some(serde_json::from_str::<Call<'_>>(params.get())?),
            _ => None,
        };
        let arguments = call.as_ref().and_then(|call| call.arguments).map_or("{}", RawValue::get);
        let name = call.as_ref().map_or("", |call| call.name);
        if name == "progress" {
            answered = Answered::Several;
            let Count { count } = serde_json::from_str(arguments)?;
            let token = call.as_ref().and_then(|call| call.meta.as_ref()?.token);
            let token = token.map_or("0", RawValue::get);
            for step in 1..=count {
                output.extend_from_slice(begin);
                output.extend_from_slice(br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#);
                output.extend_from_slice(token.as_bytes());
                output.extend_from_slice(br#","progress":"#);
                serde_json::to_writer(&mut *output, &step)?;
                output.extend_from_slice(br#","total":"#);
                serde_json::to_writer(&mut *output, &count)?;
                output.extend_from_slice(b"}}");
                output.extend_from_slice(end);
            }
        }
        output.extend_from_slice(begin);
        output.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        output.extend_from_slice(id.get().as_bytes());
        output.extend_from_slice(br#","result":"#);
        match (request.method, name) {
            ("initialize", _) => {
                answered = Answered::Initialized;
                output.extend_from_slice(br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"floor","version":"0"}}"#);
            }
            ("tools/list", _) => output.extend_from_slice(self.list.as_bytes()),
            ("resources/read", _) => output.extend_from_slice(self.resource.as_bytes()),
            (_, "echo") => {
                let Echo { text } = serde_json::from_str(arguments)?;
                output.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
                serde_json::to_writer(&mut *output, &text)?;
                output.extend_from_slice(b"}]}");
            }
            (_, "add") => {
                let Add { a, b } = serde_json::from_str(arguments)?;
                let sum = a.wrapping_add(b);
                let content = r#"{"content":[{"type":"text","text":"{\"sum\":"#;
                output.extend_from_slice(content.as_bytes());
                serde_json::to_writer(&mut *output, &sum)?;
                output.extend_from_slice(br#"}"}],"structuredContent":{"sum":"#);
                serde_json::to_writer(&mut *output, &sum)?;
                output.extend_from_slice(b"}}");
            }
            (_, "progress") => {
                output.extend_from_slice(br#"{"content":[{"type":"text","text":"done"}]}"#);
            }
            _ => output.extend_from_slice(b"{}"),
        }
        output.push(b'}');
        output.extend_from_slice(end);
        Ok(answered)
    }
}

impl Default for Floor {
    fn default() -> Self {
        Self::new()
    }
}
