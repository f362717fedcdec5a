//! Asks the guard about operations, before anything of their answer is sent.

use std::collections::BTreeMap;

use mcp_jsonrpc::{Fault, Frame, Message, Request};
use serde_json::value::RawValue;

use super::core::Core;
use super::refuse::{Refused, refuse_request};
use crate::v1::{Admission, Operation};

/// Judges all requests of a frame, before any of them runs. Responses and notifications ask
/// for nothing.
pub(super) async fn judge(
    core: &Core,
    admission: &Admission,
    frame: &Result<Frame, Fault>,
) -> Result<(), Refused> {
    let Some(guard) = &core.guard else { return Ok(()) };
    let mut requests: Vec<&Request> = Vec::new();
    match frame {
        Ok(Frame::Single(Message::Request(request))) => requests.push(request),
        Ok(Frame::Batch(messages)) => {
            requests.extend(messages.iter().filter_map(|message| match message {
                Ok(Message::Request(request)) => Some(request),
                _ => None,
            }));
        }
        Ok(_) | Err(_) => {}
    }
    for request in requests {
        if let Err(refusal) = guard.permit(admission, &operation_of(request)).await {
            // The answer is about all of a batch, so it names none of its requests.
            let id = matches!(frame, Ok(Frame::Single(_))).then(|| request.id.clone());
            let mut response = refuse_request(refusal.status, id, &refusal.error);
            response.headers_mut().extend(refusal.headers);
            return Err(response.into());
        }
    }
    Ok(())
}

/// What a request asks for: its method, and the name of the tool, prompt or resource.
fn operation_of(request: &Request) -> Operation {
    let operation = Operation::new(request.method.as_str());
    let named_by = mcp_types::Method::from_name(request.method.as_str()).and_then(|m| m.named_by());
    let (Some(named_by), Some(params)) = (named_by, &request.params) else { return operation };
    let members: BTreeMap<String, &RawValue> = params.parse().unwrap_or_default();
    let name =
        members.get(named_by).and_then(|name| serde_json::from_str::<String>(name.get()).ok());
    match name {
        Some(name) => operation.with_name(name),
        None => operation,
    }
}

#[cfg(test)]
mod tests {
    use mcp_jsonrpc::RawJson;

    use super::*;

    // Shows: RS-SP-4
    #[test]
    fn an_operation_is_named_by_what_its_params_name() {
        let operation = |method: &str, params: &str| {
            let params = RawJson::new(params.to_owned()).unwrap();
            let operation = operation_of(&Request::new(1, method, Some(params)));
            (operation.method.into_string(), operation.name.map(str::into_string))
        };
        let named = |method: &str, name: &str| (method.to_owned(), Some(name.to_owned()));
        assert_eq!(operation("tools/call", r#"{"name":"x\u0041"}"#), named("tools/call", "xA"));
        assert_eq!(operation("resources/read", r#"{"uri":"a:b"}"#), named("resources/read", "a:b"));
        assert_eq!(operation("tools/call", r#"{"name":7}"#), ("tools/call".to_owned(), None));
        assert_eq!(operation("x/y", r#"{"name":"z"}"#), ("x/y".to_owned(), None));
    }
}
