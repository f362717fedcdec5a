//! `mcp login` and `mcp logout`.

use std::time::{Duration, SystemTime};

use mcp_auth::client::{Limits, LogoutReport, LoopbackHost, SystemBrowser};
use mcp_auth::v1::{BoxFuture, Browser, BrowserError, Visit, Visited};
use mcp_auth::{FileStore, Redirect, ScopeSet};
use serde_json::json;
use url::Url;

use crate::args::{Login, Logout, UsageError};
use crate::failure::Failure;
use crate::logins;
use crate::output::Screen;

/// Shows where to go, and opens nothing.
struct Shown(Screen);

impl Browser for Shown {
    fn open<'a>(&'a self, visit: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>> {
        show(self.0, visit);
        Box::pin(async { Ok(Visited::Shown) })
    }
}

fn show(screen: Screen, visit: &Visit) {
    let host = visit.url.host_str().unwrap_or_default();
    screen.remark(&format!("Log in at {host}, to use {}:\n  {}", visit.resource, visit.url));
    if !visit.scopes.is_empty() {
        screen.remark(&format!("It asks for {}.", visit.scopes));
    }
}

/// Logs in, and keeps what the server gives.
pub(super) async fn login(login: Login, screen: Screen) -> Result<(), Failure> {
    let url = parsed(&login.site.url()?)?;
    let directory = logins::directory().ok_or(Failure::NoPlace)?;
    let store = FileStore::open(directory).map_err(Failure::Logins)?;
    let redirect = Redirect::Loopback {
        host: LoopbackHost::V4,
        port: login.port,
        path: "/callback".to_owned(),
    };
    let builder = logins::client(login.client_id.as_deref(), redirect).store(store);
    let builder = if login.no_browser {
        builder.browser(Shown(screen))
    } else {
        builder.browser(SystemBrowser::new(move |visit| show(screen, visit)))
    };
    let mut limits = Limits::default();
    if let Some(timeout) = login.timeout {
        limits.login = timeout;
    }
    let client = builder.limits(limits).build().map_err(Failure::Login)?;
    let mut wanted = mcp_auth::Login::new();
    if let Some(scope) = &login.scope {
        wanted = wanted.with_scopes(ScopeSet::parse(scope));
    }
    let report = client.login(url, wanted).await.map_err(Failure::Login)?;
    let left = report.expires_at.and_then(|at| at.duration_since(SystemTime::now()).ok());
    if screen.is_json() {
        return screen.json(&json!({
            "resource": report.resource.as_str(),
            "issuer": report.issuer.as_str(),
            "clientId": report.client_id,
            "scopes": report.scopes.iter().collect::<Vec<_>>(),
            "expiresInSeconds": left.map(|left| left.as_secs()),
        }));
    }
    screen.line(&format!("Logged in to {} at {}.", report.resource, report.issuer))?;
    if !report.scopes.is_empty() {
        screen.line(&format!("Granted: {}.", report.scopes))?;
    }
    if let Some(left) = left {
        screen.line(&format!("The token ends in {}, and is renewed if it can be.", span(left)))?;
    }
    Ok(())
}

/// Gives the tokens back.
pub(super) async fn logout(logout: Logout, screen: Screen) -> Result<(), Failure> {
    let url = parsed(&logout.site.url()?)?;
    let report = match logins::directory().filter(|directory| directory.is_dir()) {
        None => LogoutReport::default(),
        Some(directory) => {
            let store = FileStore::open(directory).map_err(Failure::Logins)?;
            let client = logins::client(None, Redirect::loopback()).store(store);
            let client = client.build().map_err(Failure::Login)?;
            client.logout(&url).await.map_err(Failure::Login)?
        }
    };
    if screen.is_json() {
        return screen.json(&json!({
            "removed": report.removed,
            "revoked": report.revoked,
            "notRevoked": report.not_revoked,
        }));
    }
    match report.removed {
        0 => screen.line(&format!("There was no login for {url}.")),
        _ if report.not_revoked > 0 => screen.line(&format!(
            "The login for {url} is forgotten here. Its server did not take all tokens back."
        )),
        _ => screen.line(&format!("The login for {url} is forgotten, and its tokens are void.")),
    }
}

fn parsed(url: &str) -> Result<Url, Failure> {
    // It may have a secret in it: it is not repeated.
    url.trim().parse().map_err(|_| UsageError::new("this is no URL").into())
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
