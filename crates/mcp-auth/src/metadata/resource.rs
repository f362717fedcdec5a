use serde_json::Value;

use crate::{ScopeSet, json};

/// What a protected resource says about itself
/// ([RFC 9728](https://www.rfc-editor.org/rfc/rfc9728#section-2)).
///
/// Strings are kept as they came. Members of a wrong type are as if absent, one by one;
/// members that this type doesn't name stay in [`other`](Self::other).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// The resource identifier. What is sent as `resource` is this text, byte for byte.
    pub resource: String,
    /// The issuers of the authorization servers that tokens may come from; never empty.
    pub authorization_servers: Vec<String>,
    /// The scopes that can be asked for; `None` if none are named.
    pub scopes_supported: Option<ScopeSet>,
    /// A name for people.
    pub resource_name: Option<String>,
    /// The algorithms that are taken for DPoP proofs.
    pub dpop_algorithms: Option<Vec<String>>,
    /// Whether tokens must be bound to a key.
    pub dpop_required: bool,
    /// All other members.
    pub other: serde_json::Map<String, Value>,
}

impl ResourceMetadata {
    /// Reads a document.
    ///
    /// # Errors
    ///
    /// When it is no JSON object, or lacks `resource` or `authorization_servers`.
    pub fn read(document: &[u8]) -> Result<Self, UnusableResourceMetadata> {
        let mut object = json::object(document).ok_or(UnusableResourceMetadata::NotAnObject)?;
        let resource =
            json::text(&object, "resource").ok_or(UnusableResourceMetadata::NoResource)?.to_owned();
        let authorization_servers = json::texts(&object, "authorization_servers")
            .filter(|servers| !servers.is_empty())
            .ok_or(UnusableResourceMetadata::NoAuthorizationServer)?;
        let scopes = json::texts(&object, "scopes_supported")
            .map(|names| names.iter().map(|name| &**name).collect::<ScopeSet>());
        let metadata = Self {
            resource,
            authorization_servers,
            scopes_supported: scopes.filter(|scopes| !scopes.is_empty()),
            resource_name: json::text(&object, "resource_name").map(str::to_owned),
            dpop_algorithms: json::texts(&object, "dpop_signing_alg_values_supported"),
            dpop_required: json::flag(&object, "dpop_bound_access_tokens_required"),
            other: {
                for name in NAMED {
                    object.remove(name);
                }
                object
            },
        };
        Ok(metadata)
    }
}

const NAMED: [&str; 6] = [
    "resource",
    "authorization_servers",
    "scopes_supported",
    "resource_name",
    "dpop_signing_alg_values_supported",
    "dpop_bound_access_tokens_required",
];

/// A document can't serve as protected resource metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableResourceMetadata {
    /// It is no JSON object.
    #[error("the document is not a JSON object")]
    NotAnObject,
    /// It names no resource.
    #[error("the document names no resource")]
    NoResource,
    /// It names no authorization server.
    #[error("the document names no authorization server")]
    NoAuthorizationServer,
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: CL-PR-4, CL-PR-7
    #[test]
    fn optional_members_of_a_wrong_type_are_as_if_absent() {
        let metadata = ResourceMetadata::read(
            br#"{"resource":"https://H.example/","authorization_servers":[1,"https://as.example"],
                "scopes_supported":"a b","resource_name":7,"signed_metadata":"x","later":{}}"#,
        )
        .unwrap();
        assert_eq!(metadata.resource, "https://H.example/");
        assert_eq!(metadata.authorization_servers, ["https://as.example"]);
        assert_eq!((metadata.scopes_supported, metadata.resource_name), (None, None));
        assert!(metadata.other.contains_key("later"));
    }

    // Shows: FC-078, CL-SC-1
    #[test]
    fn empty_and_null_lists_of_scopes_are_as_if_absent() {
        for scopes in ["null", "[]", "[\"\"]"] {
            let document = format!(
                r#"{{"resource":"https://h.example","authorization_servers":["https://as.example"],
                    "scopes_supported":{scopes}}}"#
            );
            assert_eq!(ResourceMetadata::read(document.as_bytes()).unwrap().scopes_supported, None);
        }
    }

    // Shows: CL-PR-4, AUTH-SERVER-002
    #[test]
    fn a_document_without_what_is_needed_is_unusable() {
        for (document, why) in [
            ("<html>", UnusableResourceMetadata::NotAnObject),
            ("[]", UnusableResourceMetadata::NotAnObject),
            ("{}", UnusableResourceMetadata::NoResource),
            (
                r#"{"resource":"x","authorization_servers":[]}"#,
                UnusableResourceMetadata::NoAuthorizationServer,
            ),
            (r#"{"resource":"x"}"#, UnusableResourceMetadata::NoAuthorizationServer),
        ] {
            assert_eq!(ResourceMetadata::read(document.as_bytes()), Err(why), "{document}");
        }
    }
}
