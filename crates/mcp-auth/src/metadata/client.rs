use url::{Host, Url};

use crate::json::{self, Object};

/// What a client says about itself at the URL that is its id, as an authorization server
/// reads it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClientDocument {
    /// The id, equal to the document's URL.
    pub client_id: String,
    /// A name for people. A claim, not an identity: that is the host of the id.
    pub client_name: String,
    /// Where codes may be sent; never empty.
    pub redirect_uris: Vec<String>,
    /// How it authenticates at the token endpoint: `none` or `private_key_jwt`.
    pub token_endpoint_auth_method: String,
    /// Its public keys.
    pub jwks: Option<serde_json::Map<String, serde_json::Value>>,
    /// Where its public keys are.
    pub jwks_uri: Option<Url>,
}

impl ClientDocument {
    /// Checks that `client_id` may be the URL of a document: `https` with a path, nothing in
    /// it that is read differently by different readers. On a loopback host `http` will do
    /// where `loopback` says so.
    ///
    /// # Errors
    ///
    /// [`UnusableClientDocument::Id`] when it may not.
    pub fn check_id(client_id: &str, loopback: bool) -> Result<Url, UnusableClientDocument> {
        let url = Url::parse(client_id).map_err(|_| UnusableClientDocument::Id)?;
        let local = loopback && url.scheme() == "http" && is_loopback(&url);
        let plain = url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
            && url.path() != "/";
        // What the URL type changed, a string comparison would trip over: dot segments, case.
        let as_written = url.as_str() == client_id;
        if (url.scheme() == "https" || local) && plain && as_written {
            Ok(url)
        } else {
            Err(UnusableClientDocument::Id)
        }
    }

    /// Reads the document that was found at `client_id`.
    ///
    /// # Errors
    ///
    /// When it lacks what is needed, names another id, or relies on a shared secret.
    pub fn read(document: &[u8], client_id: &str) -> Result<Self, UnusableClientDocument> {
        let object = json::object(document).ok_or(UnusableClientDocument::NotAnObject)?;
        if json::text(&object, "client_id") != Some(client_id) {
            return Err(UnusableClientDocument::OtherId);
        }
        let name = json::text(&object, "client_name").ok_or(UnusableClientDocument::NoName)?;
        let redirect_uris = json::texts(&object, "redirect_uris").unwrap_or_default();
        if redirect_uris.is_empty() || !redirect_uris.iter().all(|uri| may_redirect_to(uri)) {
            return Err(UnusableClientDocument::RedirectUris);
        }
        let method = json::text(&object, "token_endpoint_auth_method").unwrap_or("none");
        let has_secret =
            ["client_secret", "client_secret_expires_at"].iter().any(|m| object.contains_key(*m));
        if has_secret || method.starts_with("client_secret") {
            return Err(UnusableClientDocument::SharedSecret);
        }
        let jwks = object.get("jwks").and_then(serde_json::Value::as_object).cloned();
        if jwks.as_ref().is_some_and(has_private_members) {
            return Err(UnusableClientDocument::PrivateKey);
        }
        let jwks_uri = json::text(&object, "jwks_uri").and_then(|uri| Url::parse(uri).ok());
        Ok(Self {
            client_id: client_id.to_owned(),
            client_name: name.to_owned(),
            redirect_uris,
            token_endpoint_auth_method: method.to_owned(),
            jwks,
            jwks_uri,
        })
    }

    /// Whether a code may be sent to `redirect_uri`: one of the document's, letter for letter.
    /// Only the port of a loopback address is free
    /// ([RFC 8252, section 7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3)).
    #[must_use]
    pub fn allows_redirect(&self, redirect_uri: &str) -> bool {
        self.redirect_uris.iter().any(|known| same_redirect(known, redirect_uri))
    }

    /// Whether any program on a person's machine can pose as this client, since all its
    /// redirects are loopback ones.
    #[must_use]
    pub fn is_local_only(&self) -> bool {
        self.redirect_uris.iter().all(|uri| Url::parse(uri).is_ok_and(|uri| is_loopback(&uri)))
    }
}

/// Whether `asked` is `known`, the port of a loopback address aside.
#[must_use]
pub(crate) fn same_redirect(known: &str, asked: &str) -> bool {
    if known == asked {
        return true;
    }
    let (Ok(mut known), Ok(mut asked)) = (Url::parse(known), Url::parse(asked)) else {
        return false;
    };
    if !is_loopback(&known) || known.scheme() != "http" {
        return false;
    }
    // These fail only for URLs that have no host.
    let _ = (known.set_port(None), asked.set_port(None));
    known == asked
}

fn may_redirect_to(uri: &str) -> bool {
    Url::parse(uri).is_ok_and(|uri| {
        uri.fragment().is_none()
            && (uri.scheme() == "https" || (uri.scheme() == "http" && is_loopback(&uri)))
    })
}

/// `localhost`, `127.0.0.1`, `[::1]`.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn has_private_members(jwks: &Object) -> bool {
    let keys = jwks.get("keys").and_then(serde_json::Value::as_array);
    keys.into_iter().flatten().filter_map(serde_json::Value::as_object).any(|key| {
        ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].iter().any(|member| key.contains_key(*member))
    })
}

/// A client id, or the document that it points to, can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableClientDocument {
    /// The client id is not a URL that may be one.
    #[error("the client id is not the URL of a client metadata document")]
    Id,
    /// It is no JSON object.
    #[error("the document is not a JSON object")]
    NotAnObject,
    /// It names another id, or none.
    #[error("the document does not name its own URL as client id")]
    OtherId,
    /// It has no name.
    #[error("the document has no client name")]
    NoName,
    /// It has no redirect URIs, or one that is neither https nor loopback.
    #[error("the document has no usable redirect URIs")]
    RedirectUris,
    /// It relies on a shared secret, which a public document can't hold.
    #[error("the document relies on a shared secret")]
    SharedSecret,
    /// It shows a private key.
    #[error("the document shows a private key")]
    PrivateKey,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "https://app.example/client.json";

    fn read(more: &str) -> Result<ClientDocument, UnusableClientDocument> {
        let document = format!(
            r#"{{"client_id":"{ID}","client_name":"App",
                "redirect_uris":["http://127.0.0.1/callback","https://app.example/cb"]{more}}}"#
        );
        ClientDocument::read(document.as_bytes(), ID)
    }

    // Shows: AS-CD-1, AUTH-CLIENT-032
    #[test]
    fn a_client_id_is_a_plain_https_url_with_a_path() {
        assert!(ClientDocument::check_id(ID, false).is_ok());
        assert!(ClientDocument::check_id("http://127.0.0.1:1/c.json", true).is_ok());
        for id in [
            "http://app.example/c",
            "http://127.0.0.1:1/c.json",
            "https://app.example/",
            "https://app.example",
            "https://app.example/a/../c",
            "https://app.example/c#x",
            "https://u@app.example/c",
            "HTTPS://app.example/c",
            "app",
        ] {
            assert_eq!(
                ClientDocument::check_id(id, false),
                Err(UnusableClientDocument::Id),
                "{id}"
            );
        }
    }

    // Shows: AS-CD-3, AUTH-CLIENT-033, AUTH-CLIENT-034
    #[test]
    fn a_document_names_itself_and_holds_no_secret() {
        assert!(read("").is_ok());
        for (more, why) in [
            (r#","client_secret":"x""#, UnusableClientDocument::SharedSecret),
            (
                r#","token_endpoint_auth_method":"client_secret_jwt""#,
                UnusableClientDocument::SharedSecret,
            ),
            (r#","jwks":{"keys":[{"kty":"EC","d":"x"}]}"#, UnusableClientDocument::PrivateKey),
            (r#","redirect_uris":["app://x"]"#, UnusableClientDocument::RedirectUris),
            (r#","client_name":"""#, UnusableClientDocument::NoName),
            (r#","client_id":"https://app.example/other.json""#, UnusableClientDocument::OtherId),
        ] {
            assert_eq!(read(more), Err(why), "{more}");
        }
    }

    // Shows: AS-CD-5
    #[test]
    fn only_the_port_of_a_loopback_redirect_is_free() {
        let document = read("").unwrap();
        assert!(document.allows_redirect("http://127.0.0.1:4711/callback"));
        assert!(document.allows_redirect("https://app.example/cb"));
        for uri in [
            "https://app.example:8443/cb",
            "https://app.example/cb/x",
            "http://127.0.0.1:4711/callback2",
            "http://localhost:4711/callback",
            "http://127.0.0.1.evil.example/callback",
            "http://127.0.0.1:1@evil.example/callback",
        ] {
            assert!(!document.allows_redirect(uri), "{uri}");
        }
        assert!(!document.is_local_only());
    }
}
