use hyper::StatusCode;

use super::engine::Engine;
use super::error::{AuthError, AuthErrorKind, FlowStep};
use super::record::Record;
use super::renew::{Live, Origin, identity_of};
use super::token::TokenEndpoint;
use crate::dpop::Nonces;
use crate::v1::{CredentialKey, Saved};
use crate::{Secret, json};

/// What became of a logout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogoutReport {
    /// How many logins were removed here.
    pub removed: usize,
    /// How many tokens the authorization server took back.
    pub revoked: usize,
    /// How many it did not, or could not.
    pub not_revoked: usize,
}

/// Gives the tokens of a login back where that can be done, then removes them here. A dynamic
/// registration stays: it is no login.
pub(crate) async fn log_out(
    engine: &Engine,
    key: &CredentialKey,
    report: &mut LogoutReport,
) -> Result<(), AuthError> {
    let storage = |error| AuthError::new(FlowStep::Storage, AuthErrorKind::Store(error));
    for _ in 0..5 {
        let Some(stored) = engine.store.load(key).await.map_err(storage)? else { return Ok(()) };
        let rest = Record { tokens: None, proof_key: None, ..stored.record.clone() };
        let saved = match rest.registration {
            Some(_) => engine.store.save(key, &rest, Some(stored.generation)).await,
            None => engine.store.remove(key, stored.generation).await,
        };
        if saved.map_err(storage)? == Saved::Superseded {
            continue;
        }
        // Removed first: what the server says to the rest must not keep a login alive.
        if stored.record.tokens.is_some() {
            report.removed += 1;
            revoke(engine, key, stored.record, report).await;
        }
        return Ok(());
    }
    Ok(())
}

async fn revoke(engine: &Engine, key: &CredentialKey, record: Record, report: &mut LogoutReport) {
    let live = Live {
        key: key.clone(),
        record,
        stored: None,
        origin: Origin::Stored,
        accepted: false,
        document: None,
    };
    let Some(tokens) = live.tokens() else { return };
    let given: Vec<(&Secret, &'static str)> = tokens
        .refresh
        .iter()
        .map(|token| (token, "refresh_token"))
        .chain([(&tokens.access, "access_token")])
        .collect();
    let endpoint = live.record.revocation_endpoint.as_ref();
    let (Some(url), Some(identity)) = (endpoint, identity_of(engine, &live)) else {
        report.not_revoked += given.len();
        return;
    };
    let reach = match url::Url::parse(key.endpoint.as_str()) {
        Ok(endpoint) => engine.fetch.reach(&endpoint).await.unwrap_or_default(),
        Err(_) => crate::Reach::default(),
    };
    let nonces = Nonces::default();
    let server = TokenEndpoint {
        fetch: &*engine.fetch,
        reach,
        url,
        issuer: &key.issuer,
        client: &identity,
        proof_key: None,
        nonces: &nonces,
        now: engine.now(),
    };
    for (token, hint) in given {
        match server.revoke(token, hint).await {
            Ok(answer) if answer.status == StatusCode::OK => report.revoked += 1,
            Ok(answer) => {
                report.not_revoked += 1;
                let code = json::object(&answer.body);
                let code =
                    code.as_ref().and_then(|o| json::text(o, "error")).map(crate::text::clean);
                tracing::warn!(issuer = %key.issuer, status = answer.status.as_u16(), code, hint, "a token was not revoked");
            }
            Err(error) => {
                report.not_revoked += 1;
                tracing::warn!(issuer = %key.issuer, %error, hint, "a token was not revoked");
            }
        }
    }
}
