use url::Url;

use crate::json::{self, Object};
use crate::{Issuer, ScopeSet, text};

/// What an authorization server says about itself, by RFC 8414 or OpenID Connect Discovery.
///
/// One reading for both kinds: what a document is shows in its members. Lists of abilities are
/// open: unknown values stay, a list that isn't there says nothing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerMetadata {
    /// The issuer, exactly as the document has it.
    pub issuer: Issuer,
    /// Where people are sent.
    pub authorization_endpoint: Option<Url>,
    /// Where tokens come from.
    pub token_endpoint: Url,
    /// Where clients are registered.
    pub registration_endpoint: Option<Url>,
    /// Where tokens are given back.
    pub revocation_endpoint: Option<Url>,
    /// Where tokens are asked about.
    pub introspection_endpoint: Option<Url>,
    /// Where its keys are.
    pub jwks_uri: Option<Url>,
    /// All scopes that it knows.
    pub scopes_supported: Option<ScopeSet>,
    /// How clients may authenticate at the token endpoint.
    pub token_endpoint_auth_methods: Option<Vec<String>>,
    /// The algorithms for signed client assertions.
    pub token_endpoint_auth_algorithms: Option<Vec<String>>,
    /// The PKCE methods; `None` if none are named.
    pub code_challenge_methods: Option<Vec<String>>,
    /// The algorithms for DPoP proofs.
    pub dpop_algorithms: Option<Vec<String>>,
    /// Whether a URL may serve as client id.
    pub client_id_metadata_document_supported: bool,
    /// Whether authorization responses carry `iss`
    /// ([RFC 9207](https://www.rfc-editor.org/rfc/rfc9207)).
    pub iss_parameter_supported: bool,
}

impl ServerMetadata {
    /// Reads the document that was found for `expected`. Its `issuer` has to be that very text
    /// ([RFC 8414, section 3.3](https://www.rfc-editor.org/rfc/rfc8414#section-3.3)).
    ///
    /// # Errors
    ///
    /// When it is no JSON object, names another issuer, or has no token endpoint.
    pub fn read(document: &[u8], expected: &Issuer) -> Result<Self, UnusableServerMetadata> {
        Self::read_if(document, expected, |named| named == expected.as_str())
    }

    /// As [`read`](Self::read), but a lone slash at a root path makes no difference.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_forgiving_root_slash(
        document: &[u8],
        expected: &Issuer,
    ) -> Result<Self, UnusableServerMetadata> {
        Self::read_if(document, expected, |named| {
            named == expected.as_str() || expected.is_but_for_root_slash(named)
        })
    }

    fn read_if(
        document: &[u8],
        expected: &Issuer,
        fits: impl Fn(&str) -> bool,
    ) -> Result<Self, UnusableServerMetadata> {
        let object = json::object(document).ok_or(UnusableServerMetadata::NotAnObject)?;
        let named = json::text(&object, "issuer").ok_or(UnusableServerMetadata::NoIssuer)?;
        let mismatch = || UnusableServerMetadata::OtherIssuer {
            expected: expected.clone(),
            found: text::clean(named),
        };
        if !fits(named) {
            return Err(mismatch());
        }
        Ok(Self {
            issuer: Issuer::new(named).map_err(|_| mismatch())?,
            authorization_endpoint: web_url(&object, "authorization_endpoint"),
            token_endpoint: web_url(&object, "token_endpoint")
                .ok_or(UnusableServerMetadata::NoTokenEndpoint)?,
            registration_endpoint: web_url(&object, "registration_endpoint"),
            revocation_endpoint: web_url(&object, "revocation_endpoint"),
            introspection_endpoint: web_url(&object, "introspection_endpoint"),
            jwks_uri: web_url(&object, "jwks_uri"),
            scopes_supported: json::texts(&object, "scopes_supported")
                .map(|names| names.iter().map(|name| &**name).collect()),
            token_endpoint_auth_methods: json::texts(
                &object,
                "token_endpoint_auth_methods_supported",
            ),
            token_endpoint_auth_algorithms: json::texts(
                &object,
                "token_endpoint_auth_signing_alg_values_supported",
            ),
            code_challenge_methods: json::texts(&object, "code_challenge_methods_supported"),
            dpop_algorithms: json::texts(&object, "dpop_signing_alg_values_supported"),
            client_id_metadata_document_supported: json::flag(
                &object,
                "client_id_metadata_document_supported",
            ),
            iss_parameter_supported: json::flag(
                &object,
                "authorization_response_iss_parameter_supported",
            ),
        })
    }

    /// Whether it says that it does PKCE with `S256`. Without that a client must not go on
    /// ([code protection](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#authorization-code-protection)).
    #[must_use]
    pub fn does_s256(&self) -> bool {
        self.code_challenge_methods
            .as_deref()
            .is_some_and(|methods| methods.iter().any(|method| method == "S256"))
    }

    /// Whether clients may authenticate with `method`; yes where it doesn't say.
    #[must_use]
    pub(crate) fn lists_auth_method(&self, method: &str) -> Option<bool> {
        self.token_endpoint_auth_methods
            .as_deref()
            .filter(|methods| !methods.is_empty())
            .map(|methods| methods.iter().any(|known| known == method))
    }
}

/// A member that is a web URL; anything else is as if absent. Which of them may be used is for
/// the fetch policy to say.
fn web_url(object: &Object, name: &str) -> Option<Url> {
    let url = Url::parse(json::text(object, name)?).ok()?;
    let plain = url.username().is_empty() && url.password().is_none();
    (matches!(url.scheme(), "https" | "http") && plain).then_some(url)
}

/// A document can't serve as authorization server metadata.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableServerMetadata {
    /// It is no JSON object.
    #[error("the document is not a JSON object")]
    NotAnObject,
    /// It names no issuer.
    #[error("the document names no issuer")]
    NoIssuer,
    /// It names another issuer.
    #[error("the document for issuer {expected} names issuer {found}")]
    OtherIssuer {
        /// The issuer whose document this should be.
        expected: Issuer,
        /// The issuer that the document names: foreign text, cleaned and bounded.
        found: String,
    },
    /// It has no usable token endpoint.
    #[error("the document names no usable token endpoint")]
    NoTokenEndpoint,
    /// It has no usable authorization endpoint, and one is needed.
    #[error("the document names no usable authorization endpoint")]
    NoAuthorizationEndpoint,
    /// It doesn't say that PKCE with S256 is supported, and that is needed.
    #[error("the document does not announce PKCE with S256")]
    NoS256,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(text: &str) -> Issuer {
        Issuer::new(text).unwrap()
    }

    fn document(issuer: &str, more: &str) -> Vec<u8> {
        format!(r#"{{"issuer":{issuer},"token_endpoint":"https://as.example/token"{more}}}"#)
            .into_bytes()
    }

    // Shows: FC-075, CL-AM-3, AUTH-CLIENT-024
    #[test]
    fn the_issuer_has_to_be_the_very_text_that_was_expected() {
        let check = |asked: &str, found: &str, exact: bool, forgiving: bool| {
            let (asked, document) = (issuer(asked), document(found, ""));
            assert_eq!(ServerMetadata::read(&document, &asked).is_ok(), exact, "{found}");
            let read = ServerMetadata::read_forgiving_root_slash(&document, &asked);
            assert_eq!(read.is_ok(), forgiving, "{found} forgiving");
        };
        check("https://as.example/tenant1", r#""https://as.example/tenant1""#, true, true);
        check("https://as.example/tenant1", r#""https://as.example""#, false, false);
        check("https://as.example/tenant1", r#""https://as.example/tenant1/""#, false, false);
        check("https://as.example", r#""https://other.example""#, false, false);
        check("https://as.example", r#""https://AS.example""#, false, false);
        check("https://as.example", r#""https://as.example/""#, false, true);
        check("https://as.example", "null", false, false);
        let error = ServerMetadata::read(
            &document(r#""https://other.example""#, ""),
            &issuer("https://as.example"),
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "the document for issuer https://as.example names issuer https://other.example"
        );
    }

    // Shows: CL-AM-4
    #[test]
    fn empty_and_dangerous_endpoints_are_as_if_absent() {
        let read = |more: &str| {
            ServerMetadata::read(
                &document(r#""https://as.example""#, more),
                &issuer("https://as.example"),
            )
        };
        let metadata = read(
            r#","authorization_endpoint":"javascript:alert(1)","registration_endpoint":"",
               "revocation_endpoint":"https://u:p@as.example/","jwks_uri":"https://keys.example/k""#,
        )
        .unwrap();
        assert_eq!(metadata.authorization_endpoint, None);
        assert_eq!(metadata.registration_endpoint, None);
        assert_eq!(metadata.revocation_endpoint, None);
        assert_eq!(metadata.jwks_uri.unwrap().as_str(), "https://keys.example/k");
        assert_eq!(
            ServerMetadata::read(
                br#"{"issuer":"https://as.example"}"#,
                &issuer("https://as.example")
            ),
            Err(UnusableServerMetadata::NoTokenEndpoint)
        );
    }

    // Shows: CL-AM-5, CL-AM-6, AUTH-CLIENT-073, AUTH-CLIENT-075, AUTH-CLIENT-077
    #[test]
    fn s256_has_to_be_announced_and_other_lists_are_open() {
        let read = |more: &str| {
            ServerMetadata::read(
                &document(r#""https://as.example""#, more),
                &issuer("https://as.example"),
            )
            .unwrap()
        };
        for (methods, does) in [
            ("", false),
            (r#","code_challenge_methods_supported":null"#, false),
            (r#","code_challenge_methods_supported":[]"#, false),
            (r#","code_challenge_methods_supported":["plain"]"#, false),
            (r#","code_challenge_methods_supported":"S256""#, false),
            (r#","code_challenge_methods_supported":["plain","S256","later"]"#, true),
        ] {
            assert_eq!(read(methods).does_s256(), does, "{methods}");
        }
        let open = read(r#","token_endpoint_auth_methods_supported":["attest_jwt_client_auth"]"#);
        assert_eq!(open.lists_auth_method("none"), Some(false));
        assert_eq!(read("").lists_auth_method("none"), None);
    }
}
