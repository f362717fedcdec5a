//! The contract of a session store.

use std::sync::Arc;

use bytes::Bytes;

use super::Case;
use crate::v1::{Principal, SessionRecord, SessionStore, StoreError};

/// Every test that a [`SessionStore`] has to pass, each on a fresh store from `make`.
pub fn session_store_suite<S: SessionStore>(
    make: impl Fn() -> S + Clone + Send + Sync + 'static,
) -> Vec<Case> {
    macro_rules! cases {
        ($($test:ident)*) => {
            vec![$({
                let make = make.clone();
                Case::new(stringify!($test), move || $test(Arc::new(make())))
            }),*]
        };
    }
    cases![
        what_is_created_is_loaded_unchanged
        what_was_never_created_is_unknown
        an_id_is_taken_once
        what_is_removed_is_unknown
        touching_what_is_unknown_makes_nothing_up
    ]
}

type Store = Arc<dyn SessionStore>;

#[expect(clippy::expect_used, reason = "the ids below are valid")]
fn record(id: &str) -> SessionRecord {
    let principal = Principal::new("https://as.example", "alice").with_client("app");
    let initialize = Bytes::from_static(b"{\"protocolVersion\":\"2025-11-25\"}");
    SessionRecord::new(id.parse().expect("a session id"), 7, Some(principal), initialize)
}

#[expect(clippy::expect_used, reason = "a suite fails by panicking")]
async fn load(store: &Store, id: &str) -> Option<SessionRecord> {
    store.load(&record(id).id).await.expect("the store is up")
}

async fn what_is_created_is_loaded_unchanged(store: Store) {
    assert!(store.create(record("a")).await.is_ok());
    let mut plain = record("b");
    plain.principal = None;
    assert!(store.create(plain.clone()).await.is_ok());
    assert_eq!(load(&store, "a").await, Some(record("a")));
    assert_eq!(load(&store, "b").await, Some(plain));
    assert!(store.touch(&record("a").id).await.is_ok());
    assert_eq!(load(&store, "a").await, Some(record("a")));
}

async fn what_was_never_created_is_unknown(store: Store) {
    assert!(store.create(record("a")).await.is_ok());
    assert_eq!(load(&store, "b").await, None);
    assert!(matches!(store.remove(&record("b").id).await, Ok(false)));
}

async fn an_id_is_taken_once(store: Store) {
    assert!(store.create(record("a")).await.is_ok());
    let mut other = record("a");
    other.tag = 8;
    assert!(matches!(store.create(other).await, Err(StoreError::Taken)));
    assert_eq!(load(&store, "a").await, Some(record("a")));
}

async fn what_is_removed_is_unknown(store: Store) {
    assert!(store.create(record("a")).await.is_ok());
    assert!(store.create(record("b")).await.is_ok());
    assert!(matches!(store.remove(&record("a").id).await, Ok(true)));
    assert!(matches!(store.remove(&record("a").id).await, Ok(false)));
    assert_eq!(load(&store, "a").await, None);
    assert_eq!(load(&store, "b").await, Some(record("b")));
}

async fn touching_what_is_unknown_makes_nothing_up(store: Store) {
    assert!(store.touch(&record("a").id).await.is_ok());
    assert_eq!(load(&store, "a").await, None);
}
