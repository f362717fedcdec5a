#![expect(clippy::panic, reason = "a suite panics when a contract is broken")]

use std::time::Duration;

use crate::Record;
use crate::v1::{CredentialKey, CredentialStore, Generation, LockPurpose, Saved, StoreError};
use crate::{Issuer, Resource};

/// Proves the contract of [`CredentialStore`] on an empty store.
///
/// # Panics
///
/// When the contract is broken.
pub async fn credential_store_suite(store: &dyn CredentialStore) {
    let (a, b) = (key("https://a.example/mcp"), key("https://b.example/mcp"));
    assert!(good(store.load(&a).await).is_none(), "an empty store holds something");
    assert!(good(store.keys(&a.endpoint).await).is_empty(), "an empty store has keys");

    let first = done(store.save(&a, &record("one"), None).await);
    let again = good(store.save(&a, &record("two"), None).await);
    assert_eq!(again, Saved::Superseded, "what is stored was not seen");
    let stored = good(store.load(&a).await);
    let stored = stored.unwrap_or_else(|| panic!("a record is gone"));
    assert_eq!(stored.generation, first, "a version changed on its own");
    assert_eq!(stored.record, record("one"), "a record came back different");

    let second = done(store.save(&a, &record("two"), Some(first)).await);
    assert_ne!(second, first, "two versions have one number");
    let late = good(store.save(&a, &record("three"), Some(first)).await);
    assert_eq!(late, Saved::Superseded, "an old version was written over a newer one");
    let late = good(store.remove(&a, first).await);
    assert_eq!(late, Saved::Superseded, "an unseen version was removed");

    let with_account = a.clone().with_account(Some("work".to_owned()));
    done(store.save(&b, &record("b"), None).await);
    done(store.save(&with_account, &record("c"), None).await);
    let mut keys = good(store.keys(&a.endpoint).await);
    keys.sort_by_key(|key| key.account.clone());
    assert_eq!(keys, [a.clone(), with_account.clone()], "the keys of an endpoint");

    done(store.remove(&a, second).await);
    assert!(good(store.load(&a).await).is_none(), "a removed record is there");
    let fresh = done(store.save(&a, &record("four"), None).await);
    assert!(fresh != first && fresh != second, "a new record has an old version");
    assert!(good(store.load(&with_account).await).is_some(), "a neighbor is gone");

    let wait = Duration::from_millis(1);
    let lock = good(store.lock(&a, LockPurpose::Renewal, wait).await);
    assert!(lock.is_some(), "a free lock can't be had");
    assert!(good(store.lock(&a, LockPurpose::Renewal, wait).await).is_none(), "two hold a lock");
    assert!(good(store.lock(&a, LockPurpose::Login, wait).await).is_some(), "purposes mix");
    assert!(good(store.lock(&b, LockPurpose::Renewal, wait).await).is_some(), "keys mix");
    drop(lock);
    let wait = Duration::from_secs(5);
    assert!(good(store.lock(&a, LockPurpose::Renewal, wait).await).is_some(), "a lock stays");
}

fn key(endpoint: &str) -> CredentialKey {
    let resource = |text: &str| Resource::new(text).unwrap_or_else(|error| panic!("{error}"));
    let issuer = Issuer::new("https://as.example").unwrap_or_else(|error| panic!("{error}"));
    CredentialKey::new(resource(endpoint), resource(endpoint), issuer)
}

fn record(token: &str) -> Record {
    let text = format!(
        r#"{{"format":1,"client_id":"c","method":"none","registration":null,
            "tokens":{{"access":"{token}","dpop":false,"refresh":null,"granted":"",
            "issued_at":1,"expires_at":2}},"requested":"","login_id":"l","last_used":1,
            "token_endpoint":"https://as.example/token"}}"#
    );
    Record::from_bytes(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn good<T>(result: Result<T, StoreError>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

fn done(result: Result<Saved, StoreError>) -> Generation {
    match good(result) {
        Saved::Done(generation) => generation,
        Saved::Superseded => panic!("a write was refused that had seen everything"),
    }
}
