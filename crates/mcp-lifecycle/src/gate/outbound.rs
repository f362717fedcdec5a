use mcp_types::{CapabilityNeed, Method, Revision, Side};

use super::{Declared, ElicitationModes};
use crate::Culprit;

/// What was agreed on with a peer, to be asked before anything is sent to it.
///
/// ```
/// use mcp_lifecycle::{Declared, GateError, Outbound};
/// use mcp_types::{ClientCapabilities, Method, Revision, ServerCapabilities, ToolsCapability};
///
/// let ours = ClientCapabilities::new();
/// let theirs = ServerCapabilities::new().with_tools(ToolsCapability::new());
/// let outbound = Outbound::new(
///     Revision::V2025_11_25,
///     Declared::Client(&ours),
///     Declared::Server(&theirs),
/// );
/// assert_eq!(outbound.check(Method::ToolsCall), Ok(()));
/// assert!(matches!(
///     outbound.check(Method::PromptsList),
///     Err(GateError::PeerLacks { capability: "prompts", .. })
/// ));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Outbound<'a> {
    revision: Revision,
    ours: Declared<'a>,
    theirs: Declared<'a>,
    initialized: bool,
}

/// A message may not be sent. Nothing was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// It is the other side's to send.
    #[error("`{method}` goes the other way")]
    WrongDirection {
        /// The method.
        method: Method,
    },
    /// The revision that was agreed on doesn't have it.
    #[error("`{method}` is not in revision {revision}")]
    NotInRevision {
        /// The method.
        method: Method,
        /// The revision.
        revision: Revision,
    },
    /// The peer has not declared the capability that it takes.
    #[error("the peer has not declared `{capability}`, which `{method}` takes")]
    PeerLacks {
        /// The method.
        method: Method,
        /// The capability.
        capability: &'static str,
    },
    /// We have not declared the capability that it takes.
    #[error("`{capability}` was not declared, which `{method}` takes")]
    NotDeclared {
        /// The method.
        method: Method,
        /// The capability.
        capability: &'static str,
    },
    /// The conversation is over.
    #[error("the conversation is over")]
    Closed,
    /// The handshake isn't over.
    #[error("`{method}` has to wait until the handshake is over")]
    TooEarly {
        /// The method.
        method: Method,
    },
}

impl GateError {
    /// Who is at fault.
    #[must_use]
    pub const fn culprit(&self) -> Culprit {
        match self {
            Self::PeerLacks { .. } => Culprit::Peer,
            Self::WrongDirection { .. }
            | Self::NotInRevision { .. }
            | Self::NotDeclared { .. }
            | Self::TooEarly { .. } => Culprit::Caller,
            Self::Closed => Culprit::Environment,
        }
    }

    /// Whether the same message may be sent later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::TooEarly { .. })
    }
}

impl<'a> Outbound<'a> {
    /// The rules after the handshake, or without one.
    #[must_use]
    pub const fn new(revision: Revision, ours: Declared<'a>, theirs: Declared<'a>) -> Self {
        Self { revision, ours, theirs, initialized: true }
    }

    /// Sets whether the handshake is over. Before that, a server may log and ping, and a client
    /// ping.
    #[must_use]
    pub const fn initialized(mut self, initialized: bool) -> Self {
        self.initialized = initialized;
        self
    }

    /// Whether `method` may be sent.
    ///
    /// # Errors
    ///
    /// Why it may not.
    pub fn check(&self, method: Method) -> Result<(), GateError> {
        let revision = self.revision;
        if !self.theirs.receives(method) {
            return Err(GateError::WrongDirection { method });
        }
        if !method.exists_in(revision) {
            return Err(GateError::NotInRevision { method, revision });
        }
        if !self.initialized && !may_come_early(self.ours.side(), method) {
            return Err(GateError::TooEarly { method });
        }
        match method.capability(revision) {
            Some(CapabilityNeed::Receiver(capability)) if !self.theirs.has(capability) => {
                Err(GateError::PeerLacks { method, capability })
            }
            Some(CapabilityNeed::Sender(capability)) if !self.ours.has(capability) => {
                Err(GateError::NotDeclared { method, capability })
            }
            _ => Ok(()),
        }
    }

    /// Whether `method` may be sent with the wish to be run as a task.
    ///
    /// # Errors
    ///
    /// Why it may not.
    pub fn check_as_task(&self, method: Method) -> Result<(), GateError> {
        self.check(method)?;
        if !self.revision.has_core_tasks() {
            return Err(GateError::NotInRevision {
                method: Method::TasksGet,
                revision: self.revision,
            });
        }
        if !self.theirs.runs_as_task(method, self.revision) {
            return Err(GateError::PeerLacks { method, capability: "tasks.requests" });
        }
        Ok(())
    }

    /// Whether the user may be asked in this way.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn check_elicitation(&self, url: bool) -> Result<(), GateError> {
        let method = Method::ElicitationCreate;
        self.check(method)?;
        let Declared::Client(client) = self.theirs else {
            return Err(GateError::WrongDirection { method });
        };
        let modes = ElicitationModes::of(client, self.revision);
        match url {
            true if !modes.url => {
                Err(GateError::PeerLacks { method, capability: "elicitation.url" })
            }
            false if !modes.form => {
                Err(GateError::PeerLacks { method, capability: "elicitation.form" })
            }
            true | false => Ok(()),
        }
    }
}

fn may_come_early(sender: Side, method: Method) -> bool {
    match method {
        Method::Ping => true,
        Method::NotificationsMessage => sender == Side::Server,
        Method::Initialize | Method::NotificationsInitialized => sender == Side::Client,
        _ => false,
    }
}
