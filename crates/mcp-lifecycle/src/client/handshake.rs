use mcp_jsonrpc::{ErrorObject, Extensions, RawJson};
use mcp_types::{Implementation, InitializeResult, Revision, ServerCapabilities};

use crate::error::{Culprit, supported_versions};
use crate::{ClientProfile, RevisionSet, negotiate, peek};

/// What a client and its server have agreed on, and what the server says about itself.
///
/// Found by type in the extensions of what the server sends after the handshake.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Negotiated {
    /// The revision that both speak.
    pub revision: Revision,
    /// What the server says it is. A claim: for display and logs, no basis for decisions.
    pub server: Implementation,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// How to use the server, for a model.
    pub instructions: Option<String>,
}

impl Negotiated {
    /// What was negotiated with the server that sent a message with these extensions.
    #[must_use]
    pub fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }
}

/// The handshake with a server failed. The connection is of no use: the client has to close it,
/// and to send nothing more.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The server wants to speak a revision that we don't.
    #[error("the server speaks revision `{offered}`, we speak {spoken:?}")]
    UnsupportedRevision {
        /// What the server answered.
        offered: String,
        /// What we speak.
        spoken: RevisionSet,
    },
    /// The server refused the revision that we asked for, and said what it speaks.
    #[error("the server refused revision `{requested}`, it speaks {supported:?}")]
    RefusedRevision {
        /// What we asked for.
        requested: Revision,
        /// What the server speaks.
        supported: Vec<String>,
        /// What it answered.
        source: ErrorObject,
    },
    /// The server refused.
    #[error("the server refused `initialize`")]
    Refused(#[source] ErrorObject),
    /// The server's answer isn't what it should be.
    #[error(
        "the answer to `initialize` is malformed (revision {}; we speak {spoken:?})",
        offered.as_deref().unwrap_or("missing")
    )]
    Malformed {
        /// The `protocolVersion` in it as JSON, if there is one.
        offered: Option<String>,
        /// What we speak.
        spoken: RevisionSet,
        /// What is wrong.
        source: std::sync::Arc<serde_json::Error>,
    },
    /// The server lacks a capability that we can't do without.
    #[error("the server has not declared `{capability}`, which is required")]
    PeerLacks {
        /// The capability.
        capability: &'static str,
    },
    /// We speak no revision that has a handshake.
    #[error("{spoken:?} holds no revision with a handshake")]
    NothingToOffer {
        /// What we speak.
        spoken: RevisionSet,
    },
    /// The handshake was not begun, or is over.
    #[error("there is no handshake under way")]
    OutOfTurn,
}

impl HandshakeError {
    /// Who is at fault.
    #[must_use]
    pub const fn culprit(&self) -> Culprit {
        match self {
            Self::UnsupportedRevision { .. }
            | Self::RefusedRevision { .. }
            | Self::Refused(_)
            | Self::Malformed { .. }
            | Self::PeerLacks { .. } => Culprit::Peer,
            Self::NothingToOffer { .. } | Self::OutOfTurn => Culprit::Caller,
        }
    }

    /// Whether the same handshake may succeed on a new connection. A server that has given its
    /// answer gives it again.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        false
    }

    /// The newest revision in common, where the server has said what it speaks: a handshake on
    /// a new connection that asks for it succeeds.
    #[must_use]
    pub fn common(&self, spoken: RevisionSet) -> Option<Revision> {
        let Self::RefusedRevision { supported, .. } = self else { return None };
        supported.iter().filter_map(|name| negotiate::settle(name, spoken)).max()
    }

    /// The server answered `initialize` with `error`.
    pub(super) fn refused(error: ErrorObject, requested: Revision) -> Self {
        match supported_versions(&error) {
            Some(supported) => Self::RefusedRevision { requested, supported, source: error },
            None => Self::Refused(error),
        }
    }
}

/// Reads the server's result.
pub(super) fn read(
    result: &RawJson,
    spoken: RevisionSet,
) -> Result<InitializeResult, HandshakeError> {
    result.parse().map_err(|source| {
        let offered = peek::member(result.as_str(), "protocolVersion");
        // Of what a server sends, only as much as fits into a line.
        let offered = offered.map(|json| json.chars().take(80).collect());
        HandshakeError::Malformed { offered, spoken, source: std::sync::Arc::new(source) }
    })
}

/// Whether we can work with what the server answered.
pub(super) fn settle(
    result: &InitializeResult,
    profile: &ClientProfile,
) -> Result<Negotiated, HandshakeError> {
    let spoken = profile.revisions;
    let Some(revision) = negotiate::settle(&result.protocol_version, spoken) else {
        let offered = result.protocol_version.chars().take(80).collect();
        return Err(HandshakeError::UnsupportedRevision { offered, spoken });
    };
    let lacks = |capability: &&&'static str| !result.capabilities.has(capability);
    if let Some(capability) = profile.required.iter().find(lacks) {
        return Err(HandshakeError::PeerLacks { capability });
    }
    Ok(Negotiated {
        revision,
        server: result.server_info.clone(),
        capabilities: result.capabilities.clone(),
        instructions: result.instructions.clone(),
    })
}
