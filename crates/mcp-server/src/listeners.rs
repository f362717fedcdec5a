//! Who is told when something changes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcp_jsonrpc::service::v1::{PeerOutlet, TrySendError};
use mcp_jsonrpc::{ErrorObject, Extensions, Name, Outgoing};
use mcp_lifecycle::Session;

use crate::access::{Access, Grants, Label};

/// URIs that one session may subscribe to.
const MOST_SUBSCRIPTIONS: usize = 1000;

/// The sessions that listen. Nothing here keeps one alive; dead ones are dropped whenever their
/// number may have doubled, so that the map stays within twice the number of live sessions.
///
/// A change for which a session's queue has no room is owed to it: it is told with its next
/// request, or the next change. Changes of one kind that are owed are one.
///
/// Outlets and sessions are foreign code: they are called, and dropped, outside of the lock.
#[derive(Default)]
pub(crate) struct Listeners {
    state: Mutex<State>,
    /// Sessions that are owed something: nearly always none, so that asking costs nothing.
    owed: AtomicUsize,
}

#[derive(Default)]
struct State {
    sessions: HashMap<usize, Listener>,
    sweep_at: usize,
}

struct Listener {
    session: Weak<Session>,
    outlet: PeerOutlet,
    grants: Grants,
    /// Most sessions have none, and there may be many thousands of them.
    rest: Option<Box<Rest>>,
}

/// What few sessions have.
#[derive(Default)]
struct Rest {
    /// What it has subscribed to.
    uris: HashSet<String>,
    /// What it has not been told yet.
    owed: BTreeSet<Change>,
}

/// Something that clients are told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    Tools,
    Resources,
    Prompts,
    Updated(String),
}

impl Change {
    fn to_message(&self) -> Option<Outgoing> {
        let list = |method| Outgoing::notification::<()>(Name::from_static(method), None).ok();
        match self {
            Self::Tools => list("notifications/tools/list_changed"),
            Self::Resources => list("notifications/resources/list_changed"),
            Self::Prompts => list("notifications/prompts/list_changed"),
            Self::Updated(uri) => {
                let params = mcp_types::ResourceUpdatedNotificationParams::new(uri.as_str());
                let name = Name::from_static("notifications/resources/updated");
                Outgoing::notification(name, Some(&params)).ok()
            }
        }
    }
}

impl Listener {
    fn is_dead(&self) -> bool {
        self.session.strong_count() == 0 || self.outlet.is_closed()
    }

    fn has(&self, uri: &str) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.uris.contains(uri))
    }

    fn is_owed(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| !rest.owed.is_empty())
    }

    /// Lets go of what is empty.
    fn tidy(&mut self) {
        if self.rest.as_ref().is_some_and(|rest| rest.uris.is_empty() && rest.owed.is_empty()) {
            self.rest = None;
        }
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
    pub(crate) fn add(&self, session: &Arc<Session>, outlet: &PeerOutlet, grants: &Grants) {
        let mut gone = Vec::new();
        let mut state = self.lock();
        state.entry(session, outlet, grants, &mut gone);
        drop(state);
        drop(gone);
    }

    pub(crate) fn subscribe(
        &self,
        session: &Arc<Session>,
        outlet: &PeerOutlet,
        grants: &Grants,
        uri: &str,
    ) -> Result<(), ErrorObject> {
        let mut gone = Vec::new();
        let mut state = self.lock();
        let listener = state.entry(session, outlet, grants, &mut gone);
        let uris = &mut listener.rest.get_or_insert_default().uris;
        let full = uris.len() >= MOST_SUBSCRIPTIONS && !uris.contains(uri);
        if !full {
            uris.insert(uri.to_owned());
        }
        drop(state);
        drop(gone);
        if full {
            return Err(ErrorObject::invalid_params(format!(
                "a session has at most {MOST_SUBSCRIPTIONS} subscriptions"
            )));
        }
        Ok(())
    }

    pub(crate) fn unsubscribe(&self, session: &Arc<Session>, uri: &str) {
        if let Some(listener) = self.lock().sessions.get_mut(&key(session)) {
            if let Some(rest) = &mut listener.rest {
                rest.uris.remove(uri);
                rest.owed.remove(&Change::Updated(uri.to_owned()));
            }
            listener.tidy();
        }
    }

    /// Tells every session that may see an item which needs `needs` that its list has changed.
    pub(crate) fn list_changed(&self, change: &Change, needs: &[Label]) {
        self.tell(change, |listener| Access::of(listener.grants.clone()).allows(needs));
    }

    /// Tells the sessions that have subscribed to `uri`, and may still read what needs `needs`,
    /// that it has changed.
    pub(crate) fn resource_updated(&self, uri: &str, needs: &[Label]) {
        let change = Change::Updated(uri.to_owned());
        self.tell(&change, |listener| {
            listener.has(uri) && Access::of(listener.grants.clone()).allows(needs)
        });
    }

    fn tell(&self, change: &Change, wants: impl Fn(&Listener) -> bool) {
        let Some(message) = change.to_message() else { return };
        let mut told = Vec::new();
        let mut gone = Vec::new();
        let mut state = self.lock();
        let dead: Vec<usize> =
            state.sessions.iter().filter(|(_, l)| l.is_dead()).map(|(key, _)| *key).collect();
        gone.extend(dead.iter().filter_map(|key| state.sessions.remove(key)));
        for (key, listener) in &state.sessions {
            if wants(listener) {
                told.push((*key, listener.session.clone(), listener.outlet.clone()));
            }
        }
        drop(state);
        drop(gone);
        for (key, session, outlet) in told {
            if outlet.try_notify(message.clone()) == Err(TrySendError::Full) {
                self.owe(key, &session, change.clone());
            }
        }
    }

    fn owe(&self, key: usize, session: &Weak<Session>, change: Change) {
        tracing::debug!(?change, "a session that does not read hears of a change later");
        let mut state = self.lock();
        if let Some(listener) = state.sessions.get_mut(&key)
            && listener.session.ptr_eq(session)
        {
            listener.rest.get_or_insert_default().owed.insert(change);
        }
        self.count_owed(&state);
    }

    fn count_owed(&self, state: &State) {
        let owed = state.sessions.values().filter(|listener| listener.is_owed()).count();
        self.owed.store(owed, Ordering::Relaxed);
    }

    /// Tells a session what it is owed, as far as there is room now.
    pub(crate) fn settle(&self, extensions: &Extensions) {
        if self.owed.load(Ordering::Relaxed) == 0 {
            return;
        }
        let Some(session) = extensions.get::<Session>() else { return };
        let key = std::ptr::from_ref(session).addr();
        let mut state = self.lock();
        let Some(listener) = state.sessions.get_mut(&key) else { return };
        let owed = listener.rest.as_mut().map(|rest| std::mem::take(&mut rest.owed));
        listener.tidy();
        let (session, outlet) = (listener.session.clone(), listener.outlet.clone());
        self.count_owed(&state);
        drop(state);
        for change in owed.into_iter().flatten() {
            let Some(message) = change.to_message() else { continue };
            if outlet.try_notify(message) == Err(TrySendError::Full) {
                self.owe(key, &session, change);
            }
        }
    }
}

impl State {
    fn entry(
        &mut self,
        session: &Arc<Session>,
        outlet: &PeerOutlet,
        grants: &Grants,
        gone: &mut Vec<Listener>,
    ) -> &mut Listener {
        if self.sessions.len() >= self.sweep_at {
            let dead: Vec<usize> =
                self.sessions.iter().filter(|(_, l)| l.is_dead()).map(|(key, _)| *key).collect();
            gone.extend(dead.iter().filter_map(|key| self.sessions.remove(key)));
            self.sweep_at = (self.sessions.len() * 2).max(64);
        }
        let fresh = || Listener {
            session: Arc::downgrade(session),
            outlet: outlet.clone(),
            grants: grants.clone(),
            rest: None,
        };
        let listener = self.sessions.entry(key(session)).or_insert_with(fresh);
        if listener.session.strong_count() == 0 {
            // The address of a session that is gone, used again.
            gone.push(std::mem::replace(listener, fresh()));
        }
        // What was granted last counts.
        listener.grants = grants.clone();
        listener
    }
}

#[cfg(test)]
mod tests {
    use mcp_jsonrpc::Response;
    use mcp_jsonrpc::service::v1::{Ask, AskError, BoxFuture, Outlet};
    use mcp_lifecycle::Caller;
    use mcp_types::Revision;

    use super::*;

    /// Has room for so many messages.
    #[derive(Default)]
    struct Queue {
        room: AtomicUsize,
        sent: Mutex<Vec<String>>,
    }

    impl Outlet for Queue {
        fn try_notify(&self, notification: Outgoing) -> Result<(), TrySendError> {
            let less = |room: usize| room.checked_sub(1);
            self.room
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
                .map_err(|_| TrySendError::Full)?;
            let method = notification.method().unwrap().as_str().to_owned();
            self.sent.lock().unwrap().push(method);
            Ok(())
        }

        fn ask(&self, _: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
            Box::pin(std::future::ready(Err(AskError::Unavailable)))
        }

        fn is_closed(&self) -> bool {
            false
        }
    }

    fn session() -> (Arc<Session>, Extensions) {
        let caller = Caller::new(Revision::V2025_11_25, Default::default());
        let session = Arc::new(Session::new(None, Arc::new(caller)));
        let mut known = Extensions::new();
        known.insert_arc(Arc::clone(&session));
        (session, known)
    }

    // Shows: FC-043
    #[test]
    fn a_change_for_which_there_is_no_room_is_owed_once() {
        let listeners = Listeners::default();
        let queue = Arc::new(Queue::default());
        let outlet = PeerOutlet::new(Arc::clone(&queue) as Arc<dyn Outlet>);
        let (session, known) = session();
        listeners.subscribe(&session, &outlet, &Grants::none(), "a:b").unwrap();
        for _ in 0..100 {
            listeners.list_changed(&Change::Tools, &[]);
            listeners.resource_updated("a:b", &[]);
        }
        listeners.settle(&known);
        assert!(queue.sent.lock().unwrap().is_empty());
        queue.room.store(1, Ordering::SeqCst);
        listeners.settle(&known);
        queue.room.store(10, Ordering::SeqCst);
        listeners.settle(&known);
        listeners.settle(&known);
        let sent = queue.sent.lock().unwrap().clone();
        assert_eq!(sent, ["notifications/tools/list_changed", "notifications/resources/updated"]);
        assert_eq!(listeners.owed.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn who_unsubscribes_is_owed_nothing() {
        let listeners = Listeners::default();
        let queue = Arc::new(Queue::default());
        let outlet = PeerOutlet::new(Arc::clone(&queue) as Arc<dyn Outlet>);
        let (session, known) = session();
        listeners.subscribe(&session, &outlet, &Grants::none(), "a:b").unwrap();
        listeners.resource_updated("a:b", &[]);
        listeners.unsubscribe(&session, "a:b");
        queue.room.store(10, Ordering::SeqCst);
        listeners.settle(&known);
        assert!(queue.sent.lock().unwrap().is_empty());
    }

    // Shows: FC-092
    #[test]
    fn sessions_that_are_gone_are_forgotten() {
        let listeners = Listeners::default();
        let queue = Arc::new(Queue::default());
        let outlet = PeerOutlet::new(queue as Arc<dyn Outlet>);
        for _ in 0..10_000 {
            let (session, _) = session();
            listeners.subscribe(&session, &outlet, &Grants::none(), "a:b").unwrap();
        }
        assert!(listeners.lock().sessions.len() <= 128);
        listeners.list_changed(&Change::Tools, &[]);
        assert!(listeners.lock().sessions.is_empty());
    }
}
