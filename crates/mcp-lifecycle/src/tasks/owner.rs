use std::sync::atomic::{AtomicU64, Ordering};

use mcp_jsonrpc::Extensions;
use mcp_jsonrpc::service::v1::PeerOutlet;

use crate::v1::Owner;
use crate::{Requestor, Session};

/// Whose the tasks are that are made by an exchange with these facts: of the requestor, where a
/// guard has said who it is; else of the session, whose name only its client knows; else of
/// nobody in particular.
pub(crate) fn owner_of(extensions: &Extensions) -> Owner {
    if let Some(requestor) = extensions.get::<Requestor>() {
        return Owner::named(format!("requestor:{}", requestor.as_str()));
    }
    let Some(session) = Session::of(extensions) else { return Owner::anyone() };
    if let Some(id) = session.id() {
        return Owner::named(format!("session:{id}"));
    }
    // Where nothing leads back to the client there is no pipe: this session ends with its exchange.
    if extensions.get::<PeerOutlet>().is_none() {
        return Owner::anyone();
    }
    match session.attach(Pipe::new) {
        Ok(Pipe(number)) => Owner::named(format!("pipe:{number}")),
        Err(_) => Owner::anyone(),
    }
}

/// Tells the sessions without a name from each other.
struct Pipe(u64);

impl Pipe {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_jsonrpc::service::v1::{Ask, AskError, BoxFuture, Outlet, TrySendError};
    use mcp_jsonrpc::{Outgoing, Response};
    use mcp_types::Revision;

    use super::*;
    use crate::Caller;

    struct Nowhere;

    impl Outlet for Nowhere {
        fn try_notify(&self, _: Outgoing) -> Result<(), TrySendError> {
            Err(TrySendError::Closed)
        }

        fn ask(&self, _: Ask) -> BoxFuture<'_, Result<Response, AskError>> {
            Box::pin(async { Err(AskError::Unavailable) })
        }

        fn is_closed(&self) -> bool {
            true
        }
    }

    fn facts(session: Option<Option<&str>>, requestor: Option<&str>) -> Extensions {
        let mut facts = Extensions::new();
        if let Some(id) = session {
            let caller = Arc::new(Caller::new(Revision::V2025_11_25, Default::default()));
            facts.insert(Session::new(id.map(Arc::from), caller));
        }
        if let Some(requestor) = requestor {
            facts.insert(Requestor::new(requestor));
        }
        facts
    }

    // Shows: TASK-082
    #[test]
    fn the_requestor_counts_before_the_session() {
        let alice = owner_of(&facts(Some(Some("1")), Some("alice")));
        assert_eq!(alice, owner_of(&facts(Some(Some("2")), Some("alice"))));
        assert_eq!(alice, owner_of(&facts(None, Some("alice"))));
        assert_ne!(alice, owner_of(&facts(None, Some("bob"))));
        let session = owner_of(&facts(Some(Some("alice")), None));
        assert_ne!(alice, session);
        assert_eq!(session, owner_of(&facts(Some(Some("alice")), None)));
        assert_ne!(session, owner_of(&facts(Some(Some("2")), None)));
    }

    #[test]
    fn a_pipe_is_one_requestor_for_as_long_as_it_lasts() {
        let pipe = || {
            let mut facts = facts(Some(None), None);
            facts.insert(PeerOutlet::new(Arc::new(Nowhere)));
            facts
        };
        let (one, other) = (pipe(), pipe());
        assert_eq!(owner_of(&one), owner_of(&one));
        assert_ne!(owner_of(&one), owner_of(&other));
        assert!(owner_of(&facts(None, None)).is_anyone());
        // The handshake of a transport that keeps no sessions.
        assert!(owner_of(&facts(Some(None), None)).is_anyone());
    }
}
