//! Cancellations, read and written.
//!
//! Specification: [cancellation](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation).

use mcp_jsonrpc::peer::NotificationVerdict;
use mcp_jsonrpc::{Extensions, Name, Outgoing, RawJson, RequestId};
use mcp_types::{CancelledNotificationParams, Method};

/// A marker for [`Ask::notes`](mcp_jsonrpc::service::v1::Ask::notes): the request asks to be run
/// as a task.
///
/// When it is given up the peer isn't told: a task is canceled by `tasks/cancel` and by nothing
/// else, and before the answer nobody knows the task's id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a mark holds nothing")]
pub struct TaskAugmented;

/// The longest reason that is logged, in characters.
const SHOWN: usize = 200;

/// What a peer's cancellation asks for; `None` for one that says nothing, which is ignored.
pub(crate) fn read(params: Option<&RawJson>) -> Option<(RequestId, Option<String>)> {
    let params = params?.parse::<CancelledNotificationParams>().ok()?;
    Some((params.request_id?, params.reason))
}

/// The verdict for a peer's cancellation, unless `is_exempt` says that this request can't be
/// canceled.
pub(crate) fn verdict(
    params: Option<&RawJson>,
    is_exempt: impl FnOnce(&RequestId) -> bool,
) -> NotificationVerdict {
    let Some((id, reason)) = read(params) else {
        tracing::debug!("ignored a cancellation that names no request");
        return NotificationVerdict::Drop;
    };
    if is_exempt(&id) {
        tracing::debug!(%id, "ignored the cancellation of a request that can't be canceled");
        return NotificationVerdict::Drop;
    }
    let reason = reason.map(|reason| reason.chars().take(SHOWN).collect::<String>());
    tracing::debug!(%id, reason, "the peer cancels a request");
    NotificationVerdict::Cancel { id }
}

/// The notification that gives up our request `id`, which was sent with `notes`; `None` for
/// `initialize`, which can't be canceled, and for what is marked as [`TaskAugmented`].
pub(crate) fn notice(
    id: &RequestId,
    method: &Name,
    notes: &Extensions,
    reason: Option<&str>,
) -> Option<Outgoing> {
    let exempt = *method == Method::Initialize.as_str() || notes.get::<TaskAugmented>().is_some();
    if exempt {
        tracing::debug!(%id, %method, reason, "gave a request up without telling the peer");
        return None;
    }
    tracing::debug!(%id, %method, reason, "gave a request up");
    let mut params = CancelledNotificationParams::new().with_request_id(id.clone());
    params.reason = reason.map(str::to_owned);
    let name = Name::from_static(Method::NotificationsCancelled.as_str());
    // Texts and an id can always be written.
    Outgoing::notification(name, Some(&params)).ok()
}
