//! What a service gets to know about who is calling.

use std::sync::Arc;

use mcp_jsonrpc::Extensions;
use mcp_types::{
    ClientCapabilities, Era, Implementation, LoggingLevel, Revision, ServerCapabilities,
};

use crate::{Declared, Outbound, Session, TraceContext};

/// Who is calling, as one exchange knows it.
///
/// Found by type in the extensions of what came in, in both eras. In the stateful one all
/// exchanges of a session share one, in the stateless one it comes from the request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PeerFacts {
    /// The part that repeats from request to request.
    pub caller: Arc<Caller>,
    /// From which level on log messages are wanted, as it was when the exchange began; `None`
    /// when nothing was said. [`current_log_level`](Self::current_log_level) knows better while the exchange
    /// goes on.
    pub log_level: Option<LoggingLevel>,
    /// The trace that the message belongs to.
    pub trace: TraceContext,
}

impl PeerFacts {
    /// Facts about `caller`, who said nothing else.
    #[must_use]
    pub fn new(caller: Arc<Caller>) -> Self {
        Self { caller, log_level: None, trace: TraceContext::default() }
    }

    /// Sets the level from which on log messages are wanted.
    #[must_use]
    pub fn with_log_level(mut self, level: impl Into<Option<LoggingLevel>>) -> Self {
        self.log_level = level.into();
        self
    }

    /// Sets the trace.
    #[must_use]
    pub fn with_trace(mut self, trace: TraceContext) -> Self {
        self.trace = trace;
        self
    }

    /// The facts that `extensions` hold. There are none before the handshake, when only `ping`
    /// is served.
    #[must_use]
    pub fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }

    /// From which level on the caller of an exchange wants log messages, as of now: what the
    /// session says, where there is one, else what came with the request.
    #[must_use]
    pub fn current_log_level(extensions: &Extensions) -> Option<LoggingLevel> {
        match Session::of(extensions) {
            Some(session) => session.log_level(),
            None => Self::of(extensions).and_then(|facts| facts.log_level),
        }
    }
}

/// A client: the part of what is known about it that repeats from request to request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Caller {
    /// The revision that it speaks.
    pub revision: Revision,
    /// What it says it is. A claim: for display and logs, no basis for decisions.
    pub client: Option<Implementation>,
    /// What it declared, as it declared it: what we don't know is kept.
    pub capabilities: ClientCapabilities,
}

impl Caller {
    /// A client that didn't say what it is.
    #[must_use]
    pub const fn new(revision: Revision, capabilities: ClientCapabilities) -> Self {
        Self { revision, client: None, capabilities }
    }

    /// Sets what it says it is.
    #[must_use]
    pub fn with_client(mut self, client: impl Into<Option<Implementation>>) -> Self {
        self.client = client.into();
        self
    }

    /// What a server that declared `ours` may send to this client. In a session that is not
    /// initialized yet, say so: [`Outbound::initialized`].
    #[must_use]
    pub const fn outbound<'a>(&'a self, ours: &'a ServerCapabilities) -> Outbound<'a> {
        let theirs = Declared::Client(&self.capabilities);
        Outbound::new(self.revision, Declared::Server(ours), theirs)
    }

    /// The era that the revision belongs to.
    #[must_use]
    pub const fn era(&self) -> Era {
        self.revision.era()
    }
}

/// Who asks, by a name that stays the same from session to session: the guard of a transport
/// leaves it, and what is kept for a requestor, such as its tasks, is kept under this name.
///
/// Two requestors are the same when their names are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requestor(Arc<str>);

impl Requestor {
    /// The requestor that is called `name`. It has to hold all that tells one from another,
    /// such as the issuer of an account beside the account.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_knows_the_level_better_than_the_exchange() {
        let caller = Arc::new(Caller::new(Revision::V2025_11_25, ClientCapabilities::new()));
        let mut extensions = Extensions::new();
        assert_eq!(PeerFacts::current_log_level(&extensions), None);
        extensions.insert(PeerFacts::new(Arc::clone(&caller)).with_log_level(LoggingLevel::Info));
        assert_eq!(PeerFacts::current_log_level(&extensions), Some(LoggingLevel::Info));
        let session = Arc::new(Session::new(None, caller));
        extensions.insert_arc(Arc::clone(&session));
        assert_eq!(PeerFacts::current_log_level(&extensions), None);
        session.set_log_level(LoggingLevel::Error);
        assert_eq!(PeerFacts::current_log_level(&extensions), Some(LoggingLevel::Error));
    }
}
