//! Who is told when something changes.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcp_jsonrpc::service::v1::{PeerOutlet, TrySendError};
use mcp_jsonrpc::{ErrorObject, Name, Outgoing};
use mcp_lifecycle::Session;

/// URIs that one session may subscribe to.
const MOST_SUBSCRIPTIONS: usize = 1000;

/// The sessions that listen. Nothing here keeps one alive; dead ones are dropped whenever their
/// number may have doubled, so that the map stays within twice the number of live sessions.
#[derive(Default)]
pub(crate) struct Listeners {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sessions: HashMap<usize, Listener>,
    sweep_at: usize,
}

struct Listener {
    session: Weak<Session>,
    outlet: PeerOutlet,
    uris: HashSet<String>,
}

impl Listener {
    fn is_dead(&self) -> bool {
        self.session.strong_count() == 0 || self.outlet.is_closed()
    }
}

fn key(session: &Arc<Session>) -> usize {
    Arc::as_ptr(session).addr()
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session has said that it is initialized: it hears of lists from now on.
    pub(crate) fn add(&self, session: &Arc<Session>, outlet: &PeerOutlet) {
        self.lock().entry(session, outlet);
    }

    pub(crate) fn subscribe(
        &self,
        session: &Arc<Session>,
        outlet: &PeerOutlet,
        uri: &str,
    ) -> Result<(), ErrorObject> {
        let mut state = self.lock();
        let listener = state.entry(session, outlet);
        if listener.uris.len() >= MOST_SUBSCRIPTIONS && !listener.uris.contains(uri) {
            return Err(ErrorObject::invalid_params(format!(
                "a session has at most {MOST_SUBSCRIPTIONS} subscriptions"
            )));
        }
        listener.uris.insert(uri.to_owned());
        Ok(())
    }

    pub(crate) fn unsubscribe(&self, session: &Arc<Session>, uri: &str) {
        if let Some(listener) = self.lock().sessions.get_mut(&key(session)) {
            listener.uris.remove(uri);
        }
    }

    /// Tells every session that a list has changed.
    pub(crate) fn list_changed(&self, method: &'static str) {
        let Ok(notification) = Outgoing::notification::<()>(Name::from_static(method), None) else {
            return;
        };
        self.tell(&notification, |_| true);
    }

    /// Tells the sessions that have subscribed to `uri` that it has changed.
    pub(crate) fn resource_updated(&self, uri: &str) {
        let params = mcp_types::ResourceUpdatedNotificationParams::new(uri);
        let name = Name::from_static("notifications/resources/updated");
        let Ok(notification) = Outgoing::notification(name, Some(&params)) else { return };
        self.tell(&notification, |listener| listener.uris.contains(uri));
    }

    fn tell(&self, notification: &Outgoing, wants: impl Fn(&Listener) -> bool) {
        self.lock().sessions.retain(|_, listener| {
            if listener.is_dead() {
                return false;
            }
            if wants(listener)
                && listener.outlet.try_notify(notification.clone()) == Err(TrySendError::Full)
            {
                tracing::debug!("a session that does not read missed a change");
            }
            true
        });
    }
}

impl State {
    fn entry(&mut self, session: &Arc<Session>, outlet: &PeerOutlet) -> &mut Listener {
        if self.sessions.len() >= self.sweep_at {
            self.sessions.retain(|_, listener| !listener.is_dead());
            self.sweep_at = (self.sessions.len() * 2).max(64);
        }
        let fresh = || Listener {
            session: Arc::downgrade(session),
            outlet: outlet.clone(),
            uris: HashSet::new(),
        };
        let listener = self.sessions.entry(key(session)).or_insert_with(fresh);
        if listener.session.strong_count() == 0 {
            // The address of a session that is gone, used again.
            *listener = fresh();
        }
        listener
    }
}
