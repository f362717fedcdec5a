//! What a handler gets to know about the HTTP request behind its message.

use std::fmt;
use std::sync::{Arc, Weak};

use hyper::header::{AUTHORIZATION, HeaderName, PROXY_AUTHORIZATION};
use hyper::http::request::Parts as Head;
use hyper::{HeaderMap, Uri};
use mcp_jsonrpc::Extensions;

use super::core::Core;
use super::exchange::Exchange;
use crate::v1::{Admission, Principal};

const DPOP: HeaderName = HeaderName::from_static("dpop");

/// The HTTP request that brought a message, among the extensions of the inbound message.
///
/// Its headers hold secrets: `Debug` prints none.
pub struct HttpExchange {
    head: Head,
    exchange: Weak<Exchange>,
}

impl HttpExchange {
    /// The headers of the request; behind a guard without the credential that it judged.
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The target of the request.
    pub fn uri(&self) -> &Uri {
        &self.head.uri
    }

    /// What layers of the HTTP stack, below this crate, left with the request.
    pub fn extensions(&self) -> &hyper::http::Extensions {
        &self.head.extensions
    }

    /// Closes the connection, while the exchange goes on: the client comes back for the
    /// rest, after the time that [`Times::retry`](super::Times::retry) says.
    ///
    /// Answers `false`, and does nothing, when this peer could not come back: without a
    /// session or an event log, or before revision 2025-11-25.
    ///
    /// Specification:
    /// [sending messages](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server).
    pub fn close_connection(&self) -> bool {
        self.exchange.upgrade().is_some_and(|exchange| exchange.suspend())
    }

    /// Adds what is known of the HTTP request to what is known of the message.
    pub(super) fn extend(
        mut facts: Extensions,
        head: Head,
        admission: Admission,
        exchange: &Arc<Exchange>,
    ) -> Extensions {
        facts.insert(Self::new(&exchange.core, head, Arc::downgrade(exchange)));
        if let Some(principal) = admission.principal {
            facts.insert_arc(Arc::clone(principal.named()));
            facts.insert(principal);
        }
        facts
    }

    fn new(core: &Core, mut head: Head, exchange: Weak<Exchange>) -> Self {
        if core.guard.is_some() {
            // A credential is for this server: a handler must not pass it on.
            for name in [AUTHORIZATION, PROXY_AUTHORIZATION, DPOP] {
                head.headers.remove(name);
            }
        }
        Self { head, exchange }
    }
}

/// What all messages of a batch have in common.
pub(super) struct BatchFacts {
    http: Arc<HttpExchange>,
    principal: Option<Arc<Principal>>,
}

impl BatchFacts {
    pub(super) fn new(core: &Core, head: Head, admission: Admission) -> Self {
        // Revisions with batches have no clients that come back.
        let http = Arc::new(HttpExchange::new(core, head, Weak::new()));
        Self { http, principal: admission.principal.map(Arc::new) }
    }

    /// Adds them to what is known of one message.
    pub(super) fn extend(&self, mut facts: Extensions) -> Extensions {
        facts.insert_arc(Arc::clone(&self.http));
        if let Some(principal) = &self.principal {
            facts.insert_arc(Arc::clone(principal.named()));
            facts.insert_arc(Arc::clone(principal));
        }
        facts
    }
}

impl fmt::Debug for HttpExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpExchange")
            .field("method", &self.head.method)
            .field("path", &self.head.uri.path())
            .finish_non_exhaustive()
    }
}
