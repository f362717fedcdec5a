//! The checks, by area.

mod base;
mod lifecycle;
mod prompts;
mod resources;
mod stdio;
mod streamable;
mod tasks;
mod tools;
mod utilities;

use serde_json::{Value, json};

use super::talk::Talk;
use super::{Check, Fault, fail};

pub(super) const AREAS: &[&[Check]] = &[
    base::CHECKS,
    lifecycle::CHECKS,
    stdio::CHECKS,
    streamable::CHECKS,
    tools::CHECKS,
    resources::CHECKS,
    prompts::CHECKS,
    utilities::CHECKS,
    tasks::CHECKS,
];

/// Every item of a list, page by page; there are bounds to what is walked.
fn every(talk: &mut Talk<'_>, method: &str, member: &str) -> Result<Vec<Value>, Fault> {
    let (mut all, mut params) = (Vec::new(), json!({}));
    for _ in 0..100 {
        let mut page = talk.result(method, params)?;
        match page[member].take() {
            Value::Array(items) => all.extend(items),
            other => return fail(format!("{method} has {other} as its {member}")),
        }
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return Ok(all),
        }
    }
    fail(format!("{method} has no last page"))
}

fn is_uri(value: &Value) -> bool {
    value.as_str().is_some_and(|text| url::Url::parse(text).is_ok())
}

fn is_base64(text: &str) -> bool {
    let (body, padding) = text.split_at(text.trim_end_matches('=').len());
    text.len().is_multiple_of(4)
        && padding.len() <= 2
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}
