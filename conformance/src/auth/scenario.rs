//! The credentials of our client in the public suite's authorization scenarios.
//!
//! Nothing here knows what a scenario expects: there is one client, and beside it whatever
//! credentials the suite hands over.

use std::error::Error;

use mcp_auth::client::{
    ClientAuthentication, DocumentClient, Dpop, DynamicClient, IdentityProvider, PinnedClient,
};
use mcp_auth::jose::{Algorithm, PrivateKey};
use mcp_auth::testing::FollowingBrowser;
use mcp_auth::{
    FetchPolicy, GuardedFetcher, Issuer, OAuthAuthorizer, OAuthClient, Redirect, Registration,
    Secret,
};
use serde_json::Value;

/// The URL of a document that nobody can fetch: it is an id and nothing more.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// The authorizer for a scenario whose server is at `url`, with the `context` that the suite
/// gives.
///
/// # Errors
///
/// When the context can't be used.
pub fn authorizer(
    scenario: &str,
    context: &Value,
    url: &str,
) -> Result<OAuthAuthorizer, Box<dyn Error>> {
    let fetcher = GuardedFetcher::new(FetchPolicy::default())?;
    let text = |name: &str| context.get(name).and_then(Value::as_str);
    let needed = |name: &str| text(name).ok_or_else(|| format!("the context has no {name}"));
    let builder = OAuthClient::builder();
    let builder = if let Some(pem) = text("private_key_pem") {
        let name = text("signing_algorithm").unwrap_or("ES256");
        let algorithm = Algorithm::from_name(name).ok_or("an unknown algorithm")?;
        let key = PrivateKey::from_pem(&Secret::new(pem), algorithm)?;
        builder.client_credentials(PinnedClient::with_key(needed("client_id")?, key))
    } else if let Some(subject) = text("idp_id_token") {
        let provider = IdentityProvider::new(
            Issuer::new(needed("idp_issuer")?)?,
            needed("idp_client_id")?,
            Secret::new(subject),
        )
        .with_token_endpoint(needed("idp_token_endpoint")?.parse()?);
        builder.enterprise_managed(provider, configured(context)?)
    } else if let Some(assertion) = text("valid_jwt") {
        let client_id = text("client_id").map(str::to_owned);
        builder.workload_identity(client_id, Secret::new(assertion), None)
    } else if scenario.contains("client-credentials") {
        builder.client_credentials(configured(context)?)
    } else {
        let mut registration = Registration::new()
            .with_document(DocumentClient::new(DOCUMENT)?)
            .with_dynamic(DynamicClient::new("mcp-conformance"));
        if text("client_id").is_some() {
            registration = registration.with_client(configured(context)?);
        }
        builder.interactive(registration, Redirect::loopback())
    };
    let oauth = builder
        .fetcher(fetcher.clone())
        .browser(FollowingBrowser::new(fetcher))
        .proof_of_possession(Dpop::WhenOffered)
        .build()?;
    Ok(oauth.for_endpoint(url.parse()?)?)
}

/// The client of the context: pinned to its issuer where the suite names one.
fn configured(context: &Value) -> Result<PinnedClient, Box<dyn Error>> {
    let text = |name: &str| context.get(name).and_then(Value::as_str);
    let id = text("client_id").ok_or("the context has no client_id")?;
    let authentication = match text("client_secret") {
        Some(secret) => ClientAuthentication::secret(secret),
        None => ClientAuthentication::None,
    };
    Ok(match text("issuer") {
        Some(issuer) => PinnedClient::new(Issuer::new(issuer)?, id, authentication),
        None => PinnedClient::dangerous_for_any_issuer(id, authentication),
    })
}
