//! The least that a server can do and still answer an echo: parse, with borrowed `serde_json`,
//! exactly what the answer needs. It checks nothing, and is no MCP server.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

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
    text: Cow<'a, str>,
}

/// Writes the answer to a request; says whether there is one.
///
/// # Errors
///
/// When it is no request.
pub fn answer(message: &[u8], output: &mut Vec<u8>) -> serde_json::Result<bool> {
    let request: Request<'_> = serde_json::from_slice(message)?;
    let Some(id) = request.id else { return Ok(false) };
    output.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    output.extend_from_slice(id.get().as_bytes());
    match request.method {
        "initialize" => output.extend_from_slice(
            br#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"0"}}}"#,
        ),
        _ => {
            output.extend_from_slice(br#","result":{"content":[{"type":"text","text":"#);
            let arguments = request.params.and_then(|params| params.arguments);
            let text = arguments.map(|arguments| arguments.text).unwrap_or_default();
            serde_json::to_writer(&mut *output, &text)?;
            output.extend_from_slice(b"}]}}");
        }
    }
    Ok(true)
}
