use std::fmt;
use std::sync::Arc;

use super::record::StoredClient;
use super::{AuthErrorKind, ClientAuthMethod, ClientAuthentication};
use crate::metadata::ServerMetadata;
use crate::v1::Signer;
use crate::{Secret, text};

/// As whom we talk to an authorization server.
#[derive(Clone)]
pub(crate) struct ClientIdentity {
    pub(crate) client_id: String,
    pub(crate) method: ClientAuthMethod,
    pub(crate) secret: Option<Secret>,
    pub(crate) signer: Option<Arc<dyn Signer>>,
    /// What a dynamic registration gave us; none for every other origin.
    pub(crate) dynamic: Option<StoredClient>,
}

impl ClientIdentity {
    /// The identity of a client that the host has, at a server with this metadata.
    pub(crate) fn new(
        client_id: &str,
        authentication: &ClientAuthentication,
        metadata: &ServerMetadata,
    ) -> Result<Self, AuthErrorKind> {
        let (secret, signer) = match authentication {
            ClientAuthentication::None => (None, None),
            ClientAuthentication::Secret { secret, .. } => (Some(secret.clone()), None),
            ClientAuthentication::PrivateKey(signer) => (None, Some(Arc::clone(signer))),
        };
        let method = method_of(authentication, metadata)?;
        Ok(Self { client_id: client_id.to_owned(), method, secret, signer, dynamic: None })
    }

    /// The identity of a client at a server that lists nothing.
    pub(crate) fn unlisted(client_id: &str, authentication: &ClientAuthentication) -> Self {
        let (method, secret, signer) = match authentication {
            ClientAuthentication::None => (ClientAuthMethod::None, None, None),
            ClientAuthentication::Secret { secret, method } => {
                (method.unwrap_or(ClientAuthMethod::Basic), Some(secret.clone()), None)
            }
            ClientAuthentication::PrivateKey(signer) => {
                (ClientAuthMethod::PrivateKeyJwt, None, Some(Arc::clone(signer)))
            }
        };
        Self { client_id: client_id.to_owned(), method, secret, signer, dynamic: None }
    }

    /// The identity that a dynamic registration gave us.
    pub(crate) fn dynamic(client: StoredClient) -> Self {
        Self {
            client_id: client.client_id.clone(),
            method: client.method,
            secret: client.secret.clone(),
            signer: None,
            dynamic: Some(client),
        }
    }
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientIdentity")
            .field("client_id", &self.client_id)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// How a client authenticates: as configured, else by what it has and the server lists.
fn method_of(
    authentication: &ClientAuthentication,
    metadata: &ServerMetadata,
) -> Result<ClientAuthMethod, AuthErrorKind> {
    match authentication {
        ClientAuthentication::None => Ok(ClientAuthMethod::None),
        ClientAuthentication::Secret { method: Some(method), .. } => Ok(*method),
        ClientAuthentication::Secret { method: None, .. } => with_secret(metadata),
        ClientAuthentication::PrivateKey(signer) => {
            let algorithms = metadata.token_endpoint_auth_algorithms.as_deref();
            let algorithm = signer.algorithm().name();
            let fits = algorithms.is_none_or(|list| list.iter().any(|known| known == algorithm));
            match metadata.lists_auth_method(ClientAuthMethod::PrivateKeyJwt.name()) {
                Some(false) => Err(none_possible(metadata)),
                _ if !fits => Err(none_possible(metadata)),
                _ => Ok(ClientAuthMethod::PrivateKeyJwt),
            }
        }
    }
}

/// The method of a client with a secret: the first that the server lists.
pub(crate) fn with_secret(metadata: &ServerMetadata) -> Result<ClientAuthMethod, AuthErrorKind> {
    let Some(listed) = metadata.token_endpoint_auth_methods.as_deref().filter(|l| !l.is_empty())
    else {
        return Ok(ClientAuthMethod::Basic);
    };
    let methods = || listed.iter().filter_map(|name| ClientAuthMethod::from_name(name));
    let secret = |method: &ClientAuthMethod| {
        matches!(method, ClientAuthMethod::Basic | ClientAuthMethod::Post)
    };
    methods()
        .find(secret)
        .or_else(|| methods().find(|method| *method == ClientAuthMethod::None))
        .ok_or_else(|| none_possible(metadata))
}

/// The method to ask for in a registration: a program on somebody's machine can't keep a
/// secret, so it asks for none where it can.
pub(crate) fn to_register(metadata: &ServerMetadata) -> Result<ClientAuthMethod, AuthErrorKind> {
    match metadata.lists_auth_method(ClientAuthMethod::None.name()) {
        None | Some(true) => Ok(ClientAuthMethod::None),
        Some(false) => with_secret(metadata),
    }
}

pub(crate) fn none_possible(metadata: &ServerMetadata) -> AuthErrorKind {
    let listed = metadata.token_endpoint_auth_methods.as_deref().unwrap_or_default();
    AuthErrorKind::NoAuthMethod { offered: text::clean(&listed.join(" ")) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Issuer;

    pub(crate) fn metadata(more: &str) -> ServerMetadata {
        let document = format!(
            r#"{{"issuer":"https://as.example","token_endpoint":"https://as.example/token",
                "authorization_endpoint":"https://as.example/authorize"{more}}}"#
        );
        let issuer = Issuer::new("https://as.example").unwrap();
        ServerMetadata::read(document.as_bytes(), &issuer).unwrap()
    }

    fn listing(methods: &str) -> ServerMetadata {
        metadata(&format!(r#","token_endpoint_auth_methods_supported":{methods}"#))
    }

    // Shows: CL-TK-2
    #[test]
    fn a_client_with_a_secret_uses_the_first_listed_method_for_one() {
        for (methods, expected) in [
            (r#"["client_secret_post","client_secret_basic"]"#, Some(ClientAuthMethod::Post)),
            (r#"["private_key_jwt","client_secret_basic"]"#, Some(ClientAuthMethod::Basic)),
            (r#"["none"]"#, Some(ClientAuthMethod::None)),
            (r#"[]"#, Some(ClientAuthMethod::Basic)),
            (r#"null"#, Some(ClientAuthMethod::Basic)),
            (r#"["tls_client_auth"]"#, None),
        ] {
            assert_eq!(with_secret(&listing(methods)).ok(), expected, "{methods}");
        }
        let error = with_secret(&listing(r#"["tls_client_auth"]"#)).unwrap_err();
        assert!(error.to_string().contains("tls_client_auth"));
    }

    // Shows: CL-TK-2
    #[test]
    fn a_registration_asks_for_no_secret_where_it_can() {
        for (methods, expected) in [
            (r#"["client_secret_basic","none"]"#, ClientAuthMethod::None),
            (r#"null"#, ClientAuthMethod::None),
            (r#"["client_secret_post"]"#, ClientAuthMethod::Post),
        ] {
            assert_eq!(to_register(&listing(methods)).unwrap(), expected, "{methods}");
        }
    }

    // Shows: CL-TK-2, CL-AM-6
    #[test]
    fn what_the_host_configured_wins_over_the_list() {
        let secret = Secret::new("s");
        let post = ClientAuthentication::Secret { secret, method: Some(ClientAuthMethod::Post) };
        let listed = listing(r#"["client_secret_basic"]"#);
        assert_eq!(method_of(&post, &listed).unwrap(), ClientAuthMethod::Post);
        let none = ClientAuthentication::None;
        assert_eq!(method_of(&none, &listed).unwrap(), ClientAuthMethod::None);
    }
}
