use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};
use url::Url;

use super::config::{ApplicationType, DynamicClient, is_loopback};
use super::identity::{to_register, with_secret};
use super::record::StoredClient;
use super::{AuthErrorKind, ClientAuthMethod};
use crate::json;
use crate::metadata::ServerMetadata;
use crate::v1::Fetch;
use crate::{FetchRequest, FetchResponse, Reach, Secret, text};

/// Registers a client on the spot
/// ([RFC 7591](https://www.rfc-editor.org/rfc/rfc7591)).
pub(crate) async fn register(
    fetch: &dyn Fetch,
    reach: Reach,
    endpoint: &Url,
    client: &DynamicClient,
    metadata: &ServerMetadata,
    redirect_uri: &str,
    refreshable: bool,
) -> Result<StoredClient, AuthErrorKind> {
    let local = Url::parse(redirect_uri).is_ok_and(|uri| is_loopback(&uri));
    let kind = client.application_type.unwrap_or(if local {
        ApplicationType::Native
    } else {
        ApplicationType::Web
    });
    let method = to_register(metadata)?;
    let mut kinds = vec![kind];
    // Where both kinds could have this redirect, a refusal may be about the kind.
    if client.application_type.is_none() && !local {
        kinds.push(kind.other());
    }
    let mut refusal = None;
    for kind in kinds {
        let body = request(client, redirect_uri, method, kind, refreshable);
        let request = FetchRequest::post(endpoint.clone(), reach, body.to_string().into_bytes())
            .with_header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let answer = fetch.fetch(request).await?;
        match read(endpoint, &answer, metadata, method, redirect_uri) {
            Err(error @ AuthErrorKind::RegistrationRefused { .. }) => refusal = Some(error),
            outcome => return outcome,
        }
    }
    Err(refusal.unwrap_or(AuthErrorKind::RegistrationUnusable {
        host: host_of(endpoint),
        why: "it was not asked",
    }))
}

fn request(
    client: &DynamicClient,
    redirect_uri: &str,
    method: ClientAuthMethod,
    kind: ApplicationType,
    refreshable: bool,
) -> Value {
    let mut grants = vec!["authorization_code"];
    grants.extend(refreshable.then_some("refresh_token"));
    let mut body = json!({
        "client_name": client.client_name,
        "redirect_uris": [redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "token_endpoint_auth_method": method.name(),
        "application_type": kind.name(),
    });
    if let Some(members) = body.as_object_mut() {
        if let Some(uri) = &client.client_uri {
            members.insert("client_uri".to_owned(), uri.as_str().into());
        }
        if let Some(scopes) = &client.scopes {
            members.insert("scope".to_owned(), scopes.to_string().into());
        }
    }
    body
}

fn read(
    endpoint: &Url,
    answer: &FetchResponse,
    metadata: &ServerMetadata,
    asked: ClientAuthMethod,
    redirect_uri: &str,
) -> Result<StoredClient, AuthErrorKind> {
    let host = host_of(endpoint);
    let object = json::object(&answer.body);
    if !matches!(answer.status, StatusCode::OK | StatusCode::CREATED) {
        if answer.status.is_server_error() {
            return Err(super::token::read_error(&host, answer, &[]));
        }
        let said =
            |name| object.as_ref().and_then(|object| json::text(object, name)).map(text::clean);
        return Err(AuthErrorKind::RegistrationRefused {
            host,
            status: answer.status.as_u16(),
            code: said("error"),
            description: said("error_description"),
        });
    }
    let unusable = |why| AuthErrorKind::RegistrationUnusable { host: host.clone(), why };
    let object = object.ok_or_else(|| unusable("it is no JSON object"))?;
    let client_id =
        json::text(&object, "client_id").ok_or_else(|| unusable("it holds no client id"))?;
    let secret = json::text(&object, "client_secret").map(Secret::from);
    let expires = object.get("client_secret_expires_at").and_then(Value::as_u64);
    let secret_expires_at = expires
        .filter(|seconds| *seconds > 0)
        .and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    let method = match json::text(&object, "token_endpoint_auth_method") {
        // The server has the last word.
        Some(name) => ClientAuthMethod::from_name(name)
            .filter(|method| *method != ClientAuthMethod::PrivateKeyJwt)
            .ok_or_else(|| unusable("it demands an authentication that can't be done"))?,
        None if secret.is_none() => ClientAuthMethod::None,
        None if asked == ClientAuthMethod::None => with_secret(metadata)?,
        None => asked,
    };
    let needs_secret = matches!(method, ClientAuthMethod::Basic | ClientAuthMethod::Post);
    if needs_secret && secret.is_none() {
        return Err(unusable("it demands a secret and gives none"));
    }
    let uris = json::texts(&object, "redirect_uris").unwrap_or_default();
    if !uris.is_empty() && !uris.iter().any(|known| same_but_for_loopback_port(known, redirect_uri))
    {
        return Err(unusable("it names other redirect URIs than ours"));
    }
    Ok(StoredClient {
        client_id: client_id.to_owned(),
        secret: secret.filter(|_| needs_secret),
        secret_expires_at: secret_expires_at.filter(|_| needs_secret),
        method,
        redirect_uris: vec![redirect_uri.to_owned()],
    })
}

/// Whether a stored registration still serves at `now`.
pub(crate) fn still_serves(client: &StoredClient, now: SystemTime) -> bool {
    client.secret_expires_at.is_none_or(|at| now < at)
}

fn same_but_for_loopback_port(known: &str, ours: &str) -> bool {
    let strip = |text: &str| {
        let mut url = Url::parse(text).ok()?;
        if is_loopback(&url) {
            // It has a host, so this can't fail.
            let _ = url.set_port(None);
        }
        Some(url)
    };
    strip(known) == strip(ours)
}

fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;

    use super::*;
    use crate::client::identity::tests::metadata;

    const OURS: &str = "http://127.0.0.1:4711/callback";

    fn answered(status: u16, body: &str) -> Result<StoredClient, AuthErrorKind> {
        let status = StatusCode::from_u16(status).unwrap();
        let answer = FetchResponse::new(status, HeaderMap::new(), body.as_bytes().to_vec());
        let metadata = metadata(r#","token_endpoint_auth_methods_supported":["none"]"#);
        let endpoint = Url::parse("https://as.example/register").unwrap();
        read(&endpoint, &answer, &metadata, ClientAuthMethod::None, OURS)
    }

    // Shows: CL-RG-4, FC-077
    #[test]
    fn a_registration_says_what_kind_of_program_it_is_and_no_scopes() {
        let body = request(
            &DynamicClient::new("App"),
            OURS,
            ClientAuthMethod::None,
            ApplicationType::Native,
            true,
        );
        assert_eq!(body["application_type"], "native");
        assert_eq!(body["grant_types"], json!(["authorization_code", "refresh_token"]));
        assert_eq!(body["response_types"], json!(["code"]));
        assert_eq!(body["redirect_uris"], json!([OURS]));
        assert_eq!(body.get("scope"), None);
    }

    // Shows: CL-RG-5
    #[test]
    fn the_answer_decides_how_the_client_authenticates() {
        let secret = r#"{"client_id":"c","client_secret":"s""#;
        let client = answered(201, &format!("{secret}}}")).unwrap();
        assert_eq!((client.method, client.secret), (ClientAuthMethod::None, None));
        let post =
            r#","token_endpoint_auth_method":"client_secret_post","client_secret_expires_at":0}"#;
        let client = answered(200, &format!("{secret}{post}")).unwrap();
        assert_eq!(client.method, ClientAuthMethod::Post);
        assert_eq!(client.secret_expires_at, None);
        let empty = answered(201, r#"{"client_id":"c","client_secret":"","logo_uri":""}"#).unwrap();
        assert_eq!(empty.method, ClientAuthMethod::None);
        for body in [
            "[]",
            "{}",
            r#"{"client_id":"c","token_endpoint_auth_method":"client_secret_basic"}"#,
            r#"{"client_id":"c","token_endpoint_auth_method":"tls_client_auth"}"#,
            r#"{"client_id":"c","redirect_uris":["https://evil.example/cb"]}"#,
        ] {
            let error = answered(201, body).unwrap_err();
            assert!(matches!(error, AuthErrorKind::RegistrationUnusable { .. }), "{body}: {error}");
        }
        assert!(
            answered(201, r#"{"client_id":"c","redirect_uris":["http://127.0.0.1/callback"]}"#)
                .is_ok()
        );
    }

    // Shows: CL-RG-6, FC-077
    #[test]
    fn a_refusal_says_what_the_server_said_and_what_remains() {
        let error = answered(
            400,
            "{\"error\":\"invalid_redirect_uri\",\"error_description\":\"localhost\\u0007 not allowed\"}",
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "as.example refused to register the client (status 400, invalid_redirect_uri: \
             localhost  not allowed); a client registered beforehand or a client metadata \
             document may do"
        );
        for (status, body) in [(403, "<html>"), (404, "")] {
            let error = answered(status, body).unwrap_err();
            assert!(matches!(error, AuthErrorKind::RegistrationRefused { .. }), "{error}");
        }
        assert!(matches!(answered(502, "").unwrap_err(), AuthErrorKind::ServerTrouble { .. }));
    }

    // Shows: FC-076, CL-RG-7
    #[test]
    fn an_expired_secret_ends_a_registration() {
        let body = r#"{"client_id":"c","client_secret":"s","client_secret_expires_at":1700000000,
            "token_endpoint_auth_method":"client_secret_basic"}"#;
        let client = answered(201, body).unwrap();
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(still_serves(&client, at(1_699_999_999)));
        assert!(!still_serves(&client, at(1_700_000_000)));
    }
}
