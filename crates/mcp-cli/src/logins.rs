//! Logins that are kept between commands.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use mcp_auth::client::{
    Builder, ClientAuthentication, DynamicClient, PinnedClient, Ready, Redirect, Registration,
};
use mcp_auth::{AuthError, FileStore, MemoryStore, OAuthAuthorizer, OAuthClient};
use url::Url;

use crate::failure::Failure;

/// Where logins are; `None` where this machine has no place for them.
pub(crate) fn directory() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(directory) = variable("MCP_LOGINS") {
        return Some(directory);
    }
    let home = || variable("HOME");
    let state = if cfg!(target_os = "windows") {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_STATE_HOME").or_else(|| home().map(|home| home.join(".local/state")))
    };
    state.map(|state| state.join("mcp/logins"))
}

/// A client as which this program logs in.
pub(crate) fn client(client_id: Option<&str>, redirect: Redirect) -> Builder<Ready> {
    let mut registration = Registration::new().with_dynamic(DynamicClient::new("mcp"));
    if let Some(id) = client_id {
        // Who types the id has chosen the server, too.
        let client = PinnedClient::dangerous_for_any_issuer(id, ClientAuthentication::None);
        registration = registration.with_client(client);
    }
    OAuthClient::builder().interactive(registration, redirect)
}

/// Uses and renews the login for `url` that is kept, and opens no browser.
pub(crate) fn kept(url: &str) -> Result<Option<Arc<OAuthAuthorizer>>, Failure> {
    // What is wrong with it is said by the transport.
    let Ok(url) = url.parse::<Url>() else { return Ok(None) };
    let builder = client(None, Redirect::loopback());
    // Nothing is made before there is something to keep.
    let builder = match directory().filter(|directory| directory.is_dir()) {
        Some(directory) => builder.store(FileStore::open(directory).map_err(Failure::Logins)?),
        None => builder.store(MemoryStore::new()),
    };
    let client = builder.build().map_err(Failure::Login)?;
    Ok(client.for_endpoint(url).ok().map(Arc::new))
}

/// The error of a login among the causes of another error.
pub(crate) fn cause<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e AuthError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<AuthError>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
