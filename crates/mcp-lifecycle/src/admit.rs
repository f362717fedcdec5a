//! Which era a request belongs to, decided for each by itself.

use mcp_jsonrpc::{ErrorObject, RawJson, Request};
use mcp_types::error_code::Meaning;
use mcp_types::next::UnsupportedVersionData;
use mcp_types::{ClientCapabilities, Era, Implementation, LoggingLevel, Method, Revision};
use serde::de::DeserializeOwned;

use crate::gate::{Declared, Refusal, admit_request};
use crate::{Caller, PeerFacts, Profile, TraceContext, UnknownMethods, error, peek};

/// The key of `_meta` under which a request says what revision it is of.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The key of `_meta` under which a request says what its client can do.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The key of `_meta` under which a request says what its client is.
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
/// The key of `_meta` under which a request says which log messages it wants.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What is to be done with a request, by what it says about itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Admission {
    /// It is of the stateful era: what was agreed on in the handshake decides, or that nothing
    /// was. [`ServerSession`](crate::ServerSession) knows.
    Stateful,
    /// It speaks for itself, and is served. Nothing is remembered of it.
    Alone(Box<PeerFacts>),
    /// It is answered by an error.
    Refuse(ErrorObject),
}

/// Decides which era `request` belongs to, and, if it stands alone, whether it is served.
///
/// A server that speaks no revision without a handshake takes every request for one of the
/// stateful era, whatever it claims.
///
/// | claims a revision in `_meta` | method | |
/// |---|---|---|
/// | yes | any | alone: `-32602` if what has to be in `_meta` isn't, `-32022` if the revision isn't served, `-32601` if the method isn't |
/// | no | `server/discover` | alone, so `-32602` |
/// | no | `ping` | stateful |
/// | no | `initialize` | stateful; `-32022` if no revision with a handshake is served |
/// | no | any other | stateful; `-32602` if no revision with a handshake is served |
#[must_use]
pub fn admit(profile: &Profile, request: &Request) -> Admission {
    let served = profile.revisions;
    if !served.iter().any(|revision| revision.era() == Era::Stateless) {
        return Admission::Stateful;
    }
    let params = request.params.as_ref().map_or("", RawJson::as_str);
    let meta = peek::member(params, "_meta").unwrap_or_default();
    if let Some(version) = peek::member(meta, VERSION) {
        return match alone(profile, request, meta, version) {
            Ok(facts) => Admission::Alone(Box::new(facts)),
            Err(error) => Admission::Refuse(error),
        };
    }
    let handshake = served.latest_stateful().is_some();
    match Method::from_bytes(request.method.as_bytes()) {
        Some(Method::ServerDiscover) => Admission::Refuse(missing(VERSION)),
        Some(Method::Ping) => Admission::Stateful,
        _ if handshake => Admission::Stateful,
        Some(Method::Initialize) => {
            let requested = peek::member(params, "protocolVersion").and_then(parse);
            Admission::Refuse(unsupported(profile, requested.unwrap_or_default()))
        }
        _ => {
            let mut error = missing(VERSION);
            let names: Vec<_> = served.names().into_iter().map(str::to_owned).collect();
            error.message = format!("{}; served: {}", error.message, names.join(", ")).into();
            let data = UnsupportedVersionData::new("", names);
            Admission::Refuse(error.with_data_from(&data))
        }
    }
}

/// Reads the facts of a request that speaks for itself.
fn alone(
    profile: &Profile,
    request: &Request,
    meta: &str,
    version: &str,
) -> Result<PeerFacts, ErrorObject> {
    let requested: String = parse(version).ok_or_else(|| ill_typed(VERSION))?;
    let capabilities = peek::member(meta, CAPABILITIES).ok_or_else(|| missing(CAPABILITIES))?;
    let capabilities: ClientCapabilities =
        parse(capabilities).ok_or_else(|| ill_typed(CAPABILITIES))?;
    let log_level = match peek::member(meta, LOG_LEVEL) {
        None => None,
        Some(level) => Some(parse::<LoggingLevel>(level).ok_or_else(|| ill_typed(LOG_LEVEL))?),
    };
    let revision = requested.parse().ok().filter(|revision: &Revision| {
        revision.era() == Era::Stateless && profile.revisions.contains(*revision)
    });
    let Some(revision) = revision else { return Err(unsupported(profile, requested)) };

    let name = request.method.as_str();
    match admit_request(name, revision, Declared::Server(&profile.capabilities)) {
        Ok(_) => {}
        Err(Refusal::Unknown) if profile.unknown_methods == UnknownMethods::Serve => {}
        Err(refusal) => return Err(refusal.to_error(name, revision)),
    }
    // A name is for display alone: one that can't be read is none.
    let client = peek::member(meta, CLIENT).and_then(parse::<Implementation>);
    let caller = Caller::new(revision, capabilities).with_client(client);
    Ok(PeerFacts::new(caller.into())
        .with_log_level(log_level)
        .with_trace(TraceContext::peek(request.params.as_ref())))
}

fn parse<T: DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json).ok()
}

fn missing(key: &str) -> ErrorObject {
    invalid(format!("`_meta` lacks `{key}`"))
}

fn ill_typed(key: &str) -> ErrorObject {
    invalid(format!("`{key}` in `_meta` is not what it should be"))
}

fn invalid(message: String) -> ErrorObject {
    error::with_message(&Meaning::InvalidParams, Revision::V2026_07_28, message)
}

fn unsupported(profile: &Profile, requested: String) -> ErrorObject {
    let supported = profile.revisions.iter().collect();
    let meaning = Meaning::VersionUnsupported { requested, supported };
    error::to_error(&meaning, Revision::V2026_07_28)
}

/// What becomes of an exchange when the stream to its peer is lost.
///
/// A policy that the transport takes from the revision: a lost stream is no cancellation where
/// the peer can come back for the answer, and is one where it can't.
///
/// Specification: [cancellation by closing](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnLost {
    /// It goes on, and what it sends waits for the peer.
    Detach,
    /// It is canceled.
    Cancel,
}

impl OnLost {
    /// The policy of an era.
    #[must_use]
    pub const fn of(era: Era) -> Self {
        match era {
            Era::Stateful => Self::Detach,
            // Of an era to come nothing is known to wait for anybody.
            _ => Self::Cancel,
        }
    }
}
