//! The OAuth side of the rmcp client: a person who allows everything, by plain HTTP, and what the
//! host keeps of the login.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, ensure};
use reqwest::header::{HeaderMap, LOCATION, ORIGIN, WWW_AUTHENTICATE};
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode, Url};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{
    AuthClient, AuthorizationCallback, AuthorizationManager, AuthorizationRequest, CredentialStore,
    InMemoryCredentialStore, OAuthState,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use tokio::sync::Mutex;

/// Nobody listens there: the person reads where the browser would be sent.
const REDIRECT: &str = "http://127.0.0.1:1/callback";

/// One login of one client.
pub struct Login {
    url: String,
    manager: Arc<Mutex<AuthorizationManager>>,
    store: InMemoryCredentialStore,
    browser: reqwest::Client,
    /// How often the person was asked.
    pub visits: AtomicU32,
}

impl Login {
    /// Registers and logs in, and gives a transport that uses the login.
    pub async fn start(
        url: &str,
    ) -> Result<(Self, StreamableHttpClientTransport<AuthClient<reqwest::Client>>)> {
        let store = InMemoryCredentialStore::new();
        let mut manager = AuthorizationManager::new(url).await?;
        manager.set_credential_store(store.clone());
        let browser = reqwest::Client::builder().redirect(Policy::none()).build()?;
        let challenge = refusal(&browser, url).await?;

        let mut state = OAuthState::Unauthorized(manager);
        let request = AuthorizationRequest::new(REDIRECT)
            .with_client_name("interop")
            .with_challenge(challenge)
            // As the specification says: what the refusal names, and no more.
            .with_initial_scope_selection();
        state.start_authorization(request).await?;
        let page = state.get_authorization_url().await?;
        state.handle_callback_url(&visit(&browser, &page).await?).await?;
        let manager = state.into_authorization_manager().context("nobody is logged in")?;

        let client = AuthClient::new(reqwest::Client::new(), manager);
        let manager = Arc::clone(&client.auth_manager);
        let config = StreamableHttpClientTransportConfig::with_uri(url);
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let login = Self { url: url.to_owned(), manager, store, browser, visits: 1.into() };
        Ok((login, transport))
    }

    /// A request without a token is refused, and the refusal says where to ask.
    pub async fn refused(&self) -> Result<()> {
        let challenge = refusal(&self.browser, &self.url).await?;
        let (_, rest) = challenge.split_once("resource_metadata=\"").context("no metadata")?;
        let (document, _) = rest.split_once('"').context("no end")?;
        let document = self.browser.get(document).send().await?.text().await?;
        let document: Value = serde_json::from_str(&document)?;
        ensure!(document["resource"] == self.url.as_str(), "{document}");
        Ok(())
    }

    /// Makes the access token one that the server doesn't know.
    pub async fn spoil(&self) -> Result<()> {
        let mut stored = serde_json::to_value(self.store.load().await?)?;
        stored["token_response"]["access_token"] = json!("spoiled");
        Ok(self.store.save(serde_json::from_value(stored)?).await?)
    }

    /// The access token, and the client's name.
    pub async fn kept(&self) -> Result<(String, String)> {
        let stored = serde_json::to_value(self.store.load().await?)?;
        let text = |value: &Value| value.as_str().map(str::to_owned).context("nothing is kept");
        Ok((text(&stored["token_response"]["access_token"])?, text(&stored["client_id"])?))
    }

    /// Logs in again, with a scope more.
    pub async fn step_up(&self, scope: &str) -> Result<()> {
        let manager = self.manager.lock().await;
        let page = manager.request_scope_upgrade(scope).await?;
        let target = visit(&self.browser, &page).await?;
        self.visits.fetch_add(1, Ordering::Relaxed);
        let callback = AuthorizationCallback::from_redirect_url(&target)?;
        let (code, state) = (&callback.code, &callback.csrf_token);
        let issuer = callback.issuer.as_deref();
        manager.exchange_code_for_token_with_issuer(code, state, issuer).await?;
        Ok(())
    }
}

/// What the server says to a request without a token.
async fn refusal(browser: &reqwest::Client, url: &str) -> Result<String> {
    let answer = browser
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string())
        .send()
        .await?;
    ensure!(answer.status() == StatusCode::UNAUTHORIZED, "{}", answer.status());
    header(answer.headers(), &WWW_AUTHENTICATE)
}

/// The browser step: opens the page, and presses its button if there is one. Gives the address
/// that the browser would be sent to.
async fn visit(browser: &reqwest::Client, page: &str) -> Result<String> {
    let mut answer: Response = browser.get(page).send().await?;
    if answer.status() == StatusCode::OK {
        ensure!(answer.text().await?.contains("<form method=\"post\">"), "a page without a button");
        let origin = Url::parse(page)?.origin().ascii_serialization();
        answer = browser.post(page).header(ORIGIN, origin).send().await?;
    }
    ensure!(answer.status() == StatusCode::FOUND, "the page answered {}", answer.status());
    let target = header(answer.headers(), &LOCATION)?;
    ensure!(target.starts_with(REDIRECT), "{target}");
    Ok(target)
}

fn header(headers: &HeaderMap, name: &reqwest::header::HeaderName) -> Result<String> {
    let value = headers.get(name).with_context(|| format!("no {name}"))?;
    Ok(value.to_str()?.to_owned())
}
