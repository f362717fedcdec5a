//! Where sessions are kept beyond one process.

use std::fmt;

use bytes::Bytes;

use super::{Principal, Step};
use crate::SessionId;

/// Keeps what is needed to take a session up again: after a restart, or in another process.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come
/// with a default body. The suite `session_store_suite` (feature `testing`) proves an
/// implementation.
///
/// An endpoint without a store keeps its sessions itself, and they end with it. With a
/// store, what the endpoint has is a cache: a session that it doesn't know is looked for
/// in the store, and how long an idle session lives is for the store to decide.
///
/// # Contract
///
/// - [`create`](Self::create) is called once, before the client learns the id. A store
///   refuses an id that it has.
/// - [`load`](Self::load) gives what `create` got, unchanged, until
///   [`remove`](Self::remove) or the store's own limit on idle sessions. It never makes
///   one up.
/// - [`touch`](Self::touch) says that a session is in use; called once in a while, not for
///   each request.
/// - An error means that the store is down or full, never that a session is unknown: the
///   request is answered by 503.
///
/// # Cancel safety
///
/// A dropped step may or may not have taken effect. The endpoint drops one when its client
/// goes away.
pub trait SessionStore: Send + Sync + 'static {
    /// Keeps a new session.
    fn create(&self, record: SessionRecord) -> Step<Result<(), StoreError>>;

    /// What is known of a session; `None` when it is unknown, or has ended.
    fn load(&self, id: &SessionId) -> Step<Result<Option<SessionRecord>, StoreError>>;

    /// Says that a session is in use.
    fn touch(&self, id: &SessionId) -> Step<Result<(), StoreError>>;

    /// Ends a session; answers whether it was there.
    fn remove(&self, id: &SessionId) -> Step<Result<bool, StoreError>>;
}

/// What is kept of a session.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionRecord {
    /// Its name.
    pub id: SessionId,
    /// What marks the ids of its events.
    pub tag: u32,
    /// Whose it is; compared by issuer, subject and client.
    pub principal: Option<Principal>,
    /// The parameters of its `initialize`, as they came: a JSON object. From it and the
    /// server's own offer follows what was negotiated.
    pub initialize: Bytes,
}

impl SessionRecord {
    /// Makes a record.
    pub fn new(id: SessionId, tag: u32, principal: Option<Principal>, initialize: Bytes) -> Self {
        Self { id, tag, principal, initialize }
    }
}

impl fmt::Debug for SessionRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionRecord").field("tag", &self.tag).finish_non_exhaustive()
    }
}

/// A session can't be kept, or looked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store has as many sessions as it takes.
    #[error("the session store is full")]
    Full,
    /// The store has a session with this id.
    #[error("the session store has this session already")]
    Taken,
    /// The store is down. The cause is its own.
    #[error("the session store is down")]
    Down(#[source] Box<dyn std::error::Error + Send + Sync>),
}
