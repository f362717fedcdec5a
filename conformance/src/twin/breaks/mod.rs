//! The switches, by area.

mod base;
mod client;
mod http;
mod lifecycle;
mod offers;
mod stdio;
mod tasks;
mod tools;
mod utilities;

use serde_json::{Value, json};

use super::{Break, Deal, How, refusal};

pub(super) const ALL: &[&[Break]] = &[
    base::BREAKS,
    lifecycle::BREAKS,
    stdio::BREAKS,
    http::BREAKS,
    tools::BREAKS,
    offers::BREAKS,
    utilities::BREAKS,
    client::BREAKS,
    tasks::BREAKS,
];

const fn message(
    name: &'static str,
    caught_by: &'static str,
    change: fn(&Value, &mut Value),
) -> Break {
    Break { name, caught_by, how: How::Message(change) }
}

const fn messages(
    name: &'static str,
    caught_by: &'static str,
    change: fn(&Value, Value) -> Vec<Value>,
) -> Break {
    Break { name, caught_by, how: How::Messages(change) }
}

const fn deal(name: &'static str, caught_by: &'static str, deal: fn(&str) -> Deal) -> Break {
    Break { name, caught_by, how: How::Deal(deal) }
}

/// What is said, if it is JSON.
fn said(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// The server refuses a request of which this holds.
fn refuses(text: &str, code: i64, holds: impl FnOnce(&Value) -> bool) -> Deal {
    let request = said(text);
    if holds(&request) { Deal::Reply(refusal(&request, code)) } else { Deal::Pass }
}

/// The server answers a request of which this holds by this result.
fn answers(text: &str, result: Value, holds: impl FnOnce(&Value) -> bool) -> Deal {
    let request = said(text);
    if holds(&request) {
        Deal::Reply(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
    } else {
        Deal::Pass
    }
}

/// The server takes a request of which this holds for another one.
fn takes_for(
    text: &str,
    holds: impl FnOnce(&Value) -> bool,
    change: impl FnOnce(&mut Value),
) -> Deal {
    let mut request = said(text);
    if !holds(&request) {
        return Deal::Pass;
    }
    change(&mut request);
    Deal::Change(request.to_string())
}

/// The result of this method, if that is what was asked and it worked.
fn result<'m>(asked: &Value, message: &'m mut Value, method: &str) -> Option<&'m mut Value> {
    if asked["method"] == method { message.get_mut("result") } else { None }
}

/// Every item of a list in a result.
fn items<'m>(
    asked: &Value,
    message: &'m mut Value,
    method: &str,
    member: &str,
) -> impl Iterator<Item = &'m mut Value> {
    let list = result(asked, message, method).and_then(|result| result.get_mut(member));
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

/// Changes the code of an error that answers this method.
fn code(asked: &Value, message: &mut Value, method: &str, code: i64) {
    if asked["method"] == method && message["error"].is_object() {
        message["error"]["code"] = json!(code);
    }
}

/// Leaves a member out.
fn without(value: &mut Value, member: &str) {
    if let Some(object) = value.as_object_mut() {
        object.remove(member);
    }
}
