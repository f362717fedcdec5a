//! From what an error means to what a peer is sent, and back: the only place that knows codes.

use mcp_jsonrpc::ErrorObject;
use mcp_types::error_code::{self as code, Meaning};
use mcp_types::next::{MissingCapabilityData, UnsupportedVersionData};
use mcp_types::{ClientCapabilities, ResourceUri, Revision, UrlElicitationRequiredData};
use serde::de::DeserializeOwned;

use crate::peek;

/// Who is at fault. It decides what happens next: tell the peer, tell the developer, or wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Culprit {
    /// The other side: it broke the protocol, or can't do what is needed.
    Peer,
    /// Whoever called us: the call could never have worked.
    Caller,
    /// Nobody in particular: time, load, the medium.
    Environment,
}

/// The error that a peer of `revision` is sent for `meaning`: code, data, and a message that
/// may be replaced by a better one.
///
/// The one place where codes are chosen. A meaning that a revision has no code for becomes the
/// nearest that it has.
///
/// ```
/// use mcp_types::{Revision, error_code::Meaning};
///
/// let missing = Meaning::ResourceMissing { uri: "file:///a".into() };
/// assert_eq!(mcp_lifecycle::to_error(&missing, Revision::V2025_11_25).code, -32002);
/// assert_eq!(mcp_lifecycle::to_error(&missing, Revision::V2026_07_28).code, -32602);
/// ```
#[must_use]
pub fn to_error(meaning: &Meaning, revision: Revision) -> ErrorObject {
    let stateless = revision >= Revision::V2026_07_28;
    match meaning {
        Meaning::ParseError => ErrorObject::new(code::PARSE_ERROR, "this is not JSON"),
        Meaning::InvalidRequest => ErrorObject::new(code::INVALID_REQUEST, "invalid request"),
        Meaning::UnknownMethod => ErrorObject::new(code::METHOD_NOT_FOUND, "method not found"),
        Meaning::InvalidParams => ErrorObject::new(code::INVALID_PARAMS, "invalid params"),
        Meaning::Internal => ErrorObject::new(code::INTERNAL_ERROR, "internal error"),
        Meaning::ResourceMissing { uri } => {
            let code = if revision.has_resource_not_found_code() {
                code::RESOURCE_NOT_FOUND
            } else {
                code::INVALID_PARAMS
            };
            ErrorObject::new(code, "resource not found").with_data_from(&UriData(uri))
        }
        Meaning::CapabilityMissing(required) => {
            let code =
                if stateless { code::MISSING_CLIENT_CAPABILITY } else { code::INVALID_REQUEST };
            ErrorObject::new(code, "the client lacks a capability that this takes")
                .with_data_from(&MissingCapabilityData::new(ClientCapabilities::clone(required)))
        }
        Meaning::VersionUnsupported { requested, supported } => {
            let code =
                if stateless { code::UNSUPPORTED_PROTOCOL_VERSION } else { code::INVALID_PARAMS };
            let names: Vec<_> = supported.iter().map(ToString::to_string).collect();
            // The list stands in the text, too: it is all that an older client can show.
            let message = format!("Unsupported protocol version; supported: {}", names.join(", "));
            ErrorObject::new(code, message)
                .with_data_from(&UnsupportedVersionData::new(requested.clone(), names))
        }
        Meaning::HeaderMismatch { header } => {
            let code = if stateless { code::HEADER_MISMATCH } else { code::INVALID_REQUEST };
            ErrorObject::new(code, format!("the header {header} doesn't fit the message"))
        }
        Meaning::OpenUrlFirst(urls) if revision == Revision::V2025_11_25 => {
            ErrorObject::new(code::URL_ELICITATION_REQUIRED, "a URL has to be opened first")
                .with_data_from(&UrlElicitationRequiredData::new(urls.clone()))
        }
        Meaning::OpenUrlFirst(urls) => {
            // No code says so: the text is what a person can act on.
            let urls: Vec<_> = urls.iter().map(|request| &*request.url).collect();
            let message = format!("this has to be opened first: {}", urls.join(", "));
            ErrorObject::new(code::INTERNAL_ERROR, message)
        }
        Meaning::SamplingRefused => {
            ErrorObject::new(code::SAMPLING_REFUSED, "the user refused the request")
        }
        Meaning::Custom(own) if code::may_be_sent(*own, revision) => {
            ErrorObject::new(*own, "error")
        }
        // A meaning that this version doesn't know yet can only be an error of our own.
        Meaning::Custom(_) | _ => ErrorObject::new(code::INTERNAL_ERROR, "internal error"),
    }
}

/// What an error means that a peer of `revision` has sent.
///
/// Codes that implementations used for things of their own count only with the data that the
/// specification gives them; a code without a meaning stays [`Meaning::Custom`].
#[must_use]
pub fn from_error(error: &ErrorObject, revision: Revision) -> Meaning {
    let custom = || Meaning::Custom(error.code);
    match error.code {
        code::PARSE_ERROR => Meaning::ParseError,
        code::INVALID_REQUEST => Meaning::InvalidRequest,
        code::METHOD_NOT_FOUND => Meaning::UnknownMethod,
        code::INVALID_PARAMS => unsupported_version(error)
            .or_else(|| resource_missing(error))
            .unwrap_or(Meaning::InvalidParams),
        code::INTERNAL_ERROR => Meaning::Internal,
        code::RESOURCE_NOT_FOUND => {
            // The URI is a courtesy: the code says it all.
            let unnamed = || Meaning::ResourceMissing { uri: ResourceUri::from("") };
            resource_missing(error).unwrap_or_else(unnamed)
        }
        code::URL_ELICITATION_REQUIRED => data::<UrlElicitationRequiredData>(error)
            .map_or_else(custom, |data| Meaning::OpenUrlFirst(data.elicitations)),
        code::SAMPLING_REFUSED => Meaning::SamplingRefused,
        code::MISSING_CLIENT_CAPABILITY => {
            required_capabilities(error).map_or_else(custom, Meaning::CapabilityMissing)
        }
        code::UNSUPPORTED_PROTOCOL_VERSION => unsupported_version(error).unwrap_or_else(custom),
        code::HEADER_MISMATCH if revision >= Revision::V2026_07_28 => {
            Meaning::HeaderMismatch { header: String::new() }
        }
        _ => custom(),
    }
}

/// What the peer speaks, where an error says that it can't speak what it was asked for.
#[must_use]
pub(crate) fn supported_versions(error: &ErrorObject) -> Option<Vec<String>> {
    peek::supported(error.data.as_deref()?.get())
}

fn unsupported_version(error: &ErrorObject) -> Option<Meaning> {
    let supported = supported_versions(error)?;
    let requested = data::<UnsupportedVersionData>(error).map(|data| data.requested);
    Some(Meaning::VersionUnsupported {
        requested: requested.unwrap_or_default(),
        // Revisions that we don't know can't be spoken anyway.
        supported: supported.iter().filter_map(|name| name.parse().ok()).collect(),
    })
}

fn resource_missing(error: &ErrorObject) -> Option<Meaning> {
    let uri = peek::uri(error.data.as_deref()?.get())?;
    Some(Meaning::ResourceMissing { uri: ResourceUri::from(uri) })
}

fn required_capabilities(error: &ErrorObject) -> Option<ClientCapabilities> {
    data::<MissingCapabilityData>(error).map(|data| data.required_capabilities)
}

fn data<T: DeserializeOwned>(error: &ErrorObject) -> Option<T> {
    serde_json::from_str(error.data.as_deref()?.get()).ok()
}

struct UriData<'a>(&'a ResourceUri);

impl serde::Serialize for UriData<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("uri", self.0)?;
        map.end()
    }
}

/// Logs what a peer reports and nobody has asked for. Of its words only as much as fits into a
/// line.
pub(crate) fn log_unasked(error: &ErrorObject) {
    let said: String = error.message.chars().take(SHOWN).collect();
    tracing::warn!(code = error.code, said, "the peer reports an error of no request");
}

/// The longest message of a peer that is logged, in characters.
const SHOWN: usize = 200;

/// [`to_error`], with a better message.
pub(crate) fn with_message(
    meaning: &Meaning,
    revision: Revision,
    message: impl Into<String>,
) -> ErrorObject {
    let mut error = to_error(meaning, revision);
    error.message = message.into().into();
    error
}
