//! The least that a stdio server can do and still answer an echo: parse, with borrowed serde_json,
//! exactly what the answer needs, and write everything that is ready in one go.
//!
//! It checks nothing, and is no MCP server: it is what ours is measured against.

use std::io;

use memchr::memchr;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: std::borrow::Cow<'a, str>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut stdin = pipe::Receiver::from_owned_fd_unchecked(owned(&io::stdin())?)?;
    let mut stdout = pipe::Sender::from_owned_fd_unchecked(owned(&io::stdout())?)?;
    let (mut input, mut output) = (Vec::with_capacity(1 << 16), Vec::with_capacity(1 << 16));
    loop {
        if stdin.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
        let mut done = 0;
        while let Some(end) = input.get(done..).and_then(|rest| memchr(b'\n', rest)) {
            answer(input.get(done..done + end).unwrap_or_default(), &mut output)?;
            done += end + 1;
        }
        input.drain(..done);
        if !output.is_empty() {
            stdout.write_all(&output).await?;
            output.clear();
        }
    }
}

fn owned(stream: &impl std::os::fd::AsFd) -> io::Result<std::os::fd::OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}

fn answer(line: &[u8], output: &mut Vec<u8>) -> io::Result<()> {
    let request: Request<'_> = serde_json::from_slice(line)?;
    let Some(id) = request.id else { return Ok(()) };
    output.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    output.extend_from_slice(id.get().as_bytes());
    match request.method {
        "initialize" => output.extend_from_slice(
            br#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"0"}}}"#,
        ),
        _ => {
            output.extend_from_slice(br#","result":{"content":[{"type":"text","text":"#);
            let text = request.params.and_then(|params| params.arguments).map(|arguments| arguments.text);
            serde_json::to_writer(&mut *output, text.as_deref().unwrap_or_default())?;
            output.extend_from_slice(b"}]}}");
        }
    }
    output.push(b'\n');
    Ok(())
}
