//! The protocol's rules for one request that stands alone; those of a session are the
//! lifecycle layer's own.

use std::sync::{Arc, OnceLock};

use mcp_jsonrpc::peer::{Arrival, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::{Extensions, Notification, Request};
use mcp_lifecycle::{
    Caller, Declared, PeerFacts, Profile, Refusal, ServerSession, UnknownMethods,
    admit_notification, admit_request,
};
use mcp_types::{ClientCapabilities, Era, Method, Revision};

/// What is known of a client that has not introduced itself: nothing but its revision. One
/// set for all of its requests.
#[derive(Default)]
pub(super) struct Strangers([OnceLock<Arc<Extensions>>; Revision::ALL.len()]);

impl Strangers {
    fn known(&self, revision: Revision) -> Extensions {
        let make = || {
            let caller = Arc::new(Caller::new(revision, ClientCapabilities::new()));
            let mut known = Extensions::new();
            known.insert(PeerFacts::new(caller));
            Arc::new(known)
        };
        match self.0.get(revision as usize) {
            Some(slot) => Extensions::on(Arc::clone(slot.get_or_init(make))),
            None => Extensions::on(make()),
        }
    }

    /// Whether a request is served outside of any session.
    pub(super) fn request(
        &self,
        profile: &Arc<Profile>,
        revision: Revision,
        request: &Request,
        arrival: Arrival,
    ) -> RequestVerdict {
        match Method::from_bytes(request.method.as_bytes()) {
            Some(Method::Initialize) => {
                // Answered, and forgotten.
                let profile = Arc::clone(profile);
                let mut session = ServerSession::new(profile, None, None, Extensions::new());
                return session.request(request, arrival);
            }
            Some(Method::Ping) => return RequestVerdict::Serve(self.known(revision)),
            _ => {}
        }
        let ours = Declared::Server(&profile.capabilities);
        match admit_request(&request.method, revision, ours) {
            Ok(_) => {}
            Err(Refusal::Unknown) if profile.unknown_methods == UnknownMethods::Serve => {}
            Err(refusal) => {
                let name = request.method.as_str();
                return RequestVerdict::Refuse(refusal.to_error(name, revision));
            }
        }
        RequestVerdict::Serve(self.known(revision))
    }

    /// Whether a notification is served outside of any session.
    pub(super) fn notification(
        &self,
        profile: &Profile,
        revision: Revision,
        notification: &Notification,
    ) -> NotificationVerdict {
        let name = notification.method.as_str();
        // Whatever these are about was forgotten.
        if matches!(
            Method::from_name(name),
            Some(Method::NotificationsInitialized | Method::NotificationsCancelled)
        ) {
            return NotificationVerdict::Drop;
        }
        let ours = Declared::Server(&profile.capabilities);
        let nothing = ClientCapabilities::new();
        match admit_notification(name, revision, ours, Declared::Client(&nothing)) {
            Ok(_) => {}
            Err(Refusal::Unknown) if profile.unknown_methods == UnknownMethods::Serve => {}
            Err(_) => return NotificationVerdict::Drop,
        }
        NotificationVerdict::Serve(self.known(revision))
    }
}

/// The revisions that are served over this transport, newest first.
pub(super) fn served(profile: &Profile) -> impl Iterator<Item = Revision> {
    profile.revisions.iter().filter(|revision| revision.era() == Era::Stateful)
}

/// The revision of who names none.
pub(super) fn unnamed(profile: &Profile) -> Revision {
    let usual = Revision::V2025_03_26;
    if profile.revisions.contains(usual) {
        usual
    } else {
        served(profile).next().unwrap_or(Revision::LATEST_STATEFUL)
    }
}
