use serde_json::json;

use super::{Break, Deal, How, deal, messages, refuses};

const fn line(
    name: &'static str,
    caught_by: &'static str,
    change: fn(usize, &[u8]) -> Vec<u8>,
) -> Break {
    Break { name, caught_by, how: How::Line(change) }
}

pub(super) const BREAKS: &[Break] = &[
    line("messages-of-several-lines", "stdio/lines", |_, line| {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
        format!("{value:#}\n").into_bytes()
    }),
    line("a-banner-on-stdout", "stdio/lines", |number, line| {
        let banner = if number == 0 { "Server is running\n" } else { "" };
        [banner.as_bytes(), line].concat()
    }),
    line("content-length-framing", "stdio/lines", |_, line| {
        [format!("Content-Length: {}\r\n\r\n", line.len()).as_bytes(), line].concat()
    }),
    line("log-lines-on-stdout", "stdio/utf-8", |number, line| {
        let log = if number == 1 { "INFO ping\n" } else { "" };
        [line, log.as_bytes()]
            .concat()
            .into_iter()
            .map(|b| if b >= 0x80 { 0xfc } else { b })
            .collect()
    }),
    line("latin-1", "stdio/utf-8", |_, line| {
        line.iter().map(|b| if *b >= 0x80 { 0xfc } else { *b }).collect()
    }),
    deal("blank-line-kills", "stdio/blank-line", |text| {
        if text.trim().is_empty() { Deal::Die } else { Deal::Pass }
    }),
    deal("carriage-return-confuses", "stdio/crlf", |text| {
        if text.ends_with('\r') { Deal::Swallow } else { Deal::Pass }
    }),
    deal("carriage-return-is-an-error", "stdio/crlf", |text| {
        if text.ends_with('\r') { refuses(text, -32700, |_| true) } else { Deal::Pass }
    }),
    deal("pieces-are-lost", "stdio/in-pieces", |text| refuses(text, -32600, |r| r["id"] == 82)),
    deal("bad-utf-8-kills", "stdio/bad-utf-8", |text| {
        if text.contains('\u{fffd}') { Deal::Die } else { Deal::Pass }
    }),
    deal("long-lines-are-lost", "stdio/long-line", |text| {
        if text.len() > 65_536 { Deal::Swallow } else { Deal::Pass }
    }),
    messages("speaks-first", "stdio/nothing-unasked", |asked, m| {
        let hello = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        if asked["method"] == "initialize" { vec![hello, m] } else { vec![m] }
    }),
    Break { name: "does-not-end", caught_by: "stdio/ends", how: How::Stay },
    Break { name: "does-not-end-before", caught_by: "stdio/ends-before", how: How::Stay },
    deal("unknown-cancellations-kill", "cancel/malformed", |text| {
        refuses(text, -32602, |r| r["params"]["requestId"].is_array())
    }),
    deal("cancellations-are-answered", "cancel/running", |text| {
        refuses(text, -32602, |r| r["params"]["requestId"] == "slow")
    }),
];
