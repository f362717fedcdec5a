//! Our client against a protected server of another SDK, with an authorization server of that
//! SDK. Such a server has more tools: `whoami` says what the token says, `expire` makes the server
//! forget the access tokens that it has given, and `restricted`, where the SDK can say so, needs a
//! scope more.

use std::error::Error;
use std::sync::Arc;

use mcp_auth::client::DynamicClient;
use mcp_auth::testing::FollowingBrowser;
use mcp_auth::{FetchPolicy, GuardedFetcher, OAuthAuthorizer, OAuthClient, Redirect, Registration};
use mcp_client::Client;
use mcp_transport_http::client::{Config, HttpConnector, Transport};
use serde::Deserialize;
use url::Url;

use super::checks::{self, ensure};
use super::{Failure, Host, Report};

/// Logs in at the server at `url`, runs every check and those of authorization, and answers with
/// whether all held.
///
/// # Errors
///
/// When there is no conversation at all.
pub async fn run(url: &str) -> Result<bool, Box<dyn Error>> {
    let mut report = Report::default();
    report.say("authorization refused", refused(url).await);

    let fetcher = GuardedFetcher::new(FetchPolicy::default())?;
    let oauth = OAuthClient::builder()
        .interactive(
            Registration::new().with_dynamic(DynamicClient::new("mcp-interop")),
            Redirect::loopback(),
        )
        .browser(FollowingBrowser::new(fetcher.clone()))
        .fetcher(fetcher)
        .build()?;
    let endpoint: Url = url.parse()?;
    let authorizer = oauth.for_endpoint(endpoint.clone())?;
    let host = Host::default();
    let client = connect(&host, url, Some(authorizer.clone())).await?;
    report.say("connect", Ok(format!("{:?}", client.revision())));
    report.say("authorization login", login(&client, &authorizer).await);
    checks::all(&client, &host, &mut report).await;
    report.say("authorization renewal", renewal(&client).await);
    let tools = client.list_tools().await?;
    if tools.iter().any(|tool| tool.name == "restricted") {
        report.say("authorization step-up", step_up(&client, &authorizer).await);
        report.say("authorization renewal after that", renewal(&client).await);
    }
    client.close().await;
    report.say("authorization logout", logout(&oauth, &endpoint).await);
    Ok(report.failed == 0)
}

async fn connect(
    host: &Host,
    url: &str,
    authorizer: Option<OAuthAuthorizer>,
) -> Result<Client, Box<dyn Error>> {
    let mut config = Config::new();
    config.transport = Transport::StreamableHttp;
    config.authorizer = authorizer.map(|authorizer| Arc::new(authorizer) as _);
    Ok(host.client(HttpConnector::new(url, config)?.link()).await?)
}

/// What `whoami` answers.
#[derive(Deserialize)]
struct Facts {
    client: String,
    scopes: Vec<String>,
    resource: Option<String>,
    logins: u32,
    renewals: u32,
}

async fn whoami(client: &Client) -> Result<Facts, Failure> {
    Ok(serde_json::from_str(&client.call_tool("whoami").text().await?)?)
}

async fn refused(url: &str) -> Result<String, Failure> {
    let Err(error) = connect(&Host::default(), url, None).await else {
        return Err("it serves a client without a token".into());
    };
    let mut next: Option<&dyn Error> = Some(&*error);
    while let Some(cause) = next {
        if cause.to_string().contains("401") {
            return Ok(cause.to_string());
        }
        next = cause.source();
    }
    Err(error)
}

async fn login(client: &Client, authorizer: &OAuthAuthorizer) -> Result<String, Failure> {
    let facts = whoami(client).await?;
    let current = authorizer.current().ok_or("there is no login")?;
    ensure(facts.client == current.client_id, || format!("it knows us as {}", facts.client))?;
    ensure(facts.scopes == ["mcp:use"], || format!("the scopes are {:?}", facts.scopes))?;
    ensure(facts.resource.as_deref() == Some(current.resource.as_str()), || {
        format!("the token is for {:?}", facts.resource)
    })?;
    ensure((facts.logins, facts.renewals) == (1, 0), || "there was more than one login".into())?;
    Ok(current.issuer.as_str().to_owned())
}

/// The access token ends while it is in use: the next call renews it, and nobody is asked.
async fn renewal(client: &Client) -> Result<String, Failure> {
    let before = whoami(client).await?;
    client.call_tool("expire").await?;
    let after = whoami(client).await?;
    ensure(after.logins == before.logins, || "a person was asked again".into())?;
    ensure(after.renewals == before.renewals + 1, || format!("{} renewals", after.renewals))?;
    ensure(after.scopes == before.scopes, || format!("the scopes are {:?}", after.scopes))?;
    Ok(String::new())
}

async fn step_up(client: &Client, authorizer: &OAuthAuthorizer) -> Result<String, Failure> {
    let text = client.call_tool("restricted").text().await?;
    ensure(text == "allowed", || text.clone())?;
    let mut scopes = whoami(client).await?.scopes;
    scopes.sort();
    ensure(scopes == ["mcp:admin", "mcp:use"], || format!("the scopes are {scopes:?}"))?;
    let known = authorizer.current().map(|login| login.scopes.to_string()).unwrap_or_default();
    Ok(known)
}

async fn logout(oauth: &OAuthClient, endpoint: &Url) -> Result<String, Failure> {
    let report = oauth.logout(endpoint).await?;
    ensure(report.removed == 1 && report.not_revoked == 0, || format!("{report:?}"))?;
    ensure(report.revoked > 0, || "nothing was revoked".into())?;
    Ok(format!("{} revoked", report.revoked))
}
