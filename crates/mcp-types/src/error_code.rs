//! The error codes of all revisions, and what an error can mean.
//!
//! Only the data: which meaning becomes which code for which peer is decided in one place, by
//! the crate that keeps the protocol's state.

use crate::{
    generated::{elicitation::ElicitRequestUrlParams, lifecycle::ClientCapabilities},
    names::ResourceUri,
    revision::Revision,
};

/// The text is no JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is no message, or no message that may be sent now.
pub const INVALID_REQUEST: i64 = -32600;
/// There is no such method, or it isn't offered.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The params don't fit; also an unknown tool, prompt, task or cursor.
pub const INVALID_PARAMS: i64 = -32602;
/// The receiver failed.
pub const INTERNAL_ERROR: i64 = -32603;
/// There is no such resource. Sent up to 2025-11-25, understood always.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// The person has to go to a URL first. Only in 2025-11-25.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// The person refused to let the model be used.
pub const SAMPLING_REFUSED: i64 = -1;
/// A header is missing, malformed, or says another thing than the body. From 2026-07-28.
pub const HEADER_MISMATCH: i64 = -32020;
/// The request needs a capability that its client doesn't have. From 2026-07-28.
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The revision isn't spoken here. From 2026-07-28.
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

/// What an error means, before a code is chosen for the peer's revision.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "one at a time, on the way to an error")]
pub enum Meaning {
    /// The text was no JSON.
    ParseError,
    /// The message isn't allowed, or isn't one.
    InvalidRequest,
    /// There is no such method, or it isn't offered.
    UnknownMethod,
    /// The params don't fit.
    InvalidParams,
    /// The receiver failed.
    Internal,
    /// There is no such resource.
    ResourceMissing {
        /// What was asked for.
        uri: ResourceUri,
    },
    /// The client lacks a capability that the request needs.
    CapabilityMissing(ClientCapabilities),
    /// The revision isn't spoken here.
    VersionUnsupported {
        /// What was asked for.
        requested: String,
        /// What is spoken.
        supported: Vec<Revision>,
    },
    /// A header says another thing than the body.
    HeaderMismatch {
        /// Which one.
        header: String,
    },
    /// The person has to go to these URLs first.
    OpenUrlFirst(Vec<ElicitRequestUrlParams>),
    /// The person refused to let the model be used.
    SamplingRefused,
    /// A code of the application's own.
    Custom(i64),
}

/// Whether a peer of `revision` may be sent `code`: one of JSON-RPC's, one that the revision
/// defines, or one outside of the ranges that are set aside.
#[must_use]
pub fn may_be_sent(code: i64, revision: Revision) -> bool {
    match code {
        PARSE_ERROR | INTERNAL_ERROR | INVALID_PARAMS | METHOD_NOT_FOUND | INVALID_REQUEST => true,
        RESOURCE_NOT_FOUND => revision.has_resource_not_found_code(),
        URL_ELICITATION_REQUIRED => revision == Revision::V2025_11_25,
        HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_PROTOCOL_VERSION => {
            revision >= Revision::V2026_07_28
        }
        -32099..=-32020 => false,
        // Left to implementations before 2026-07-28, and advised against from then on.
        -32019..=-32000 => true,
        -32768..=-32100 => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_belong_to_revisions() {
        let row = |code| Revision::ALL.map(|revision| u8::from(may_be_sent(code, revision)));
        assert_eq!(row(INVALID_PARAMS), [1, 1, 1, 1, 1]);
        assert_eq!(row(RESOURCE_NOT_FOUND), [1, 1, 1, 1, 0]);
        assert_eq!(row(URL_ELICITATION_REQUIRED), [0, 0, 0, 1, 0]);
        assert_eq!(row(HEADER_MISMATCH), [0, 0, 0, 0, 1]);
        assert_eq!(row(-32050), [0; 5]);
        assert_eq!(row(-32500), [0; 5]);
        assert_eq!(row(SAMPLING_REFUSED), [1; 5]);
        assert_eq!(row(42), [1; 5]);
    }
}
