use mcp_jsonrpc::ErrorObject;
use mcp_types::error_code::Meaning;
use mcp_types::{CapabilityNeed, Method, MethodKind, Revision};

use super::Declared;
use crate::error;

/// Why the gate refuses what came in. A request is answered by `-32601`, a notification is
/// ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No revision has it.
    #[error("there is no such method")]
    Unknown,
    /// It is the other side's to receive.
    #[error("`{method}` goes the other way")]
    WrongDirection {
        /// The method.
        method: Method,
    },
    /// The revision that is spoken doesn't have it.
    #[error("`{method}` is not in revision {revision}")]
    NotInRevision {
        /// The method.
        method: Method,
        /// The revision.
        revision: Revision,
    },
    /// It takes a capability that was not declared.
    #[error("`{method}` takes the capability `{capability}`, which was not declared")]
    NotDeclared {
        /// The method.
        method: Method,
        /// The capability.
        capability: &'static str,
    },
}

impl Refusal {
    /// The answer to a request called `name`.
    #[must_use]
    pub fn to_error(&self, name: &str, revision: Revision) -> ErrorObject {
        let message = match self {
            Self::Unknown => return ErrorObject::method_not_found(name),
            Self::WrongDirection { .. } | Self::NotInRevision { .. } | Self::NotDeclared { .. } => {
                self.to_string()
            }
        };
        error::with_message(&Meaning::UnknownMethod, revision, message)
    }
}

/// Whether a request called `name` is allowed in `revision`, by what its receiver declared. The
/// name is a text, or a [`Name`](mcp_jsonrpc::Name).
///
/// # Errors
///
/// Why it isn't.
pub fn admit_request(
    name: impl AsRef<[u8]>,
    revision: Revision,
    receiver: Declared<'_>,
) -> Result<Method, Refusal> {
    let method = known(name.as_ref(), MethodKind::Request, revision, receiver)?;
    match method.capability(revision) {
        Some(CapabilityNeed::Receiver(capability)) if !receiver.has(capability) => {
            Err(Refusal::NotDeclared { method, capability })
        }
        // No request needs anything of its sender.
        _ => Ok(method),
    }
}

/// Whether a notification called `name` is allowed in `revision`, by what both sides declared.
///
/// We are lenient where a peer says less than it does: a change of a list whose `listChanged`
/// was not declared counts as long as the list itself was, and log messages are always taken,
/// since many servers log and never say so. We never send what wasn't declared: see
/// [`Outbound`](super::Outbound).
///
/// # Errors
///
/// Why it isn't.
pub fn admit_notification(
    name: impl AsRef<[u8]>,
    revision: Revision,
    receiver: Declared<'_>,
    sender: Declared<'_>,
) -> Result<Method, Refusal> {
    let method = known(name.as_ref(), MethodKind::Notification, revision, receiver)?;
    if method == Method::NotificationsMessage {
        return Ok(method);
    }
    match method.capability(revision) {
        Some(CapabilityNeed::Receiver(capability)) if !receiver.has(capability) => {
            Err(Refusal::NotDeclared { method, capability })
        }
        Some(CapabilityNeed::Sender(capability)) if !sender.has(whole(capability)) => {
            Err(Refusal::NotDeclared { method, capability })
        }
        _ => Ok(method),
    }
}

/// `tools` of `tools.listChanged`.
fn whole(capability: &str) -> &str {
    capability.split_once('.').map_or(capability, |(whole, _)| whole)
}

fn known(
    name: &[u8],
    kind: MethodKind,
    revision: Revision,
    receiver: Declared<'_>,
) -> Result<Method, Refusal> {
    let method = Method::from_bytes(name).filter(|method| method.kind() == kind);
    let method = method.ok_or(Refusal::Unknown)?;
    if !receiver.receives(method) {
        return Err(Refusal::WrongDirection { method });
    }
    if !method.exists_in(revision) {
        return Err(Refusal::NotInRevision { method, revision });
    }
    Ok(method)
}
