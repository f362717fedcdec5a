//! Which session a request belongs to, and which revision is in force for it.

use std::sync::Arc;

use hyper::{HeaderMap, Response, StatusCode};
use mcp_jsonrpc::ErrorObject;
use mcp_types::Revision;

use super::body::AnswerBody;
use super::config::Sessions;
use super::core::Core;
use super::refuse::{Refused, busy, no_session, refuse, wrong};
use super::rules::{served, unnamed};
use super::session::Session;
use crate::header::{MCP_PROTOCOL_VERSION, Single};
use crate::v1::{Admission, StoreError};
use crate::{NamedSession, SessionId};

/// The session that a request belongs to; none when there are no sessions.
pub(super) async fn find_session(
    core: &Arc<Core>,
    headers: &HeaderMap,
    admission: &Admission,
) -> Result<Option<Arc<Session>>, Refused> {
    if core.config.sessions == Sessions::Off {
        return Ok(None);
    }
    let id = match SessionId::of(headers) {
        NamedSession::Id(id) => id,
        NamedSession::Impossible => return Err(no_session().into()),
        NamedSession::None => {
            let message = "MCP-Session-Id is missing: initialize gives one";
            return Err(wrong(StatusCode::BAD_REQUEST, message).into());
        }
    };
    let found = match core.table.get(&id) {
        Some(session) => Some(session),
        None => revive(core, &id).await?,
    };
    // To anybody but its owner a session does not exist.
    let session = found.filter(|found| found.principal == admission.principal);
    let session = session.ok_or_else(no_session)?;
    session.touch();
    if let Some(store) = &core.store
        && session.is_store_touch_due()
    {
        core.settle(store.touch(&id));
    }
    Ok(Some(session))
}

/// Takes a session up again that only the store knows.
async fn revive(core: &Arc<Core>, id: &SessionId) -> Result<Option<Arc<Session>>, Refused> {
    let Some(store) = &core.store else { return Ok(None) };
    let record = store.load(id).await.map_err(|error| store_down(&error))?;
    let Some(record) = record else { return Ok(None) };
    let Some(session) = Session::revive(core, record) else { return Ok(None) };
    if !core.table.insert(core, &session) {
        // Another request was quicker, or there is no room.
        return match core.table.get(id) {
            Some(session) => Ok(Some(session)),
            None => Err(busy("there are too many sessions").into()),
        };
    }
    Ok(Some(session))
}

/// 503: sessions can't be kept or found at the moment.
pub(super) fn store_down(error: &StoreError) -> Response<AnswerBody> {
    tracing::warn!(error = error as &dyn std::error::Error, "no session store");
    busy("sessions can't be kept or found at the moment")
}

/// The revision in force for a request.
///
/// Specification:
/// [protocol version header](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header).
pub(super) fn revision_of(
    core: &Core,
    headers: &HeaderMap,
    session: Option<&Session>,
) -> Result<Revision, Refused> {
    let negotiated = session.and_then(Session::revision);
    let named = match Single::of(headers, &MCP_PROTOCOL_VERSION) {
        Single::Absent => {
            return Ok(negotiated.unwrap_or_else(|| unnamed(&core.service.profile())));
        }
        Single::Text(text) => text.parse::<Revision>().ok(),
        Single::Malformed => None,
    };
    // What was negotiated is served: no need to ask.
    if named.is_some() && named == negotiated {
        return Ok(named.unwrap_or(Revision::LATEST_STATEFUL));
    }
    let profile = core.service.profile();
    let named = named.filter(|named| served(&profile).any(|served| served == *named));
    match (named, negotiated) {
        (Some(named), None) => Ok(named),
        (Some(_), Some(negotiated)) => {
            let message = format!("this session speaks {negotiated}, as negotiated");
            Err(refuse(StatusCode::BAD_REQUEST, &ErrorObject::invalid_request(message)).into())
        }
        (None, _) => {
            let supported: Vec<_> = served(&profile).map(Revision::as_str).collect();
            let message = format!("MCP-Protocol-Version names none of {}", supported.join(", "));
            Err(refuse(StatusCode::BAD_REQUEST, &ErrorObject::invalid_request(message)).into())
        }
    }
}
