use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::BoxFuture;
use crate::{Issuer, Record, Resource, crypto};

/// Keeps logins.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe. The suite `testing::credential_store_suite` proves an
/// implementation.
///
/// # Contract
///
/// - Each method is one atomic step, also between processes: a reader sees a record as it was
///   written, or the one before, never a mixture.
/// - [`save`](Self::save) and [`remove`](Self::remove) change something only when the stored
///   generation is the one that the caller has seen.
/// - What can't be read is an error, never "nothing there": a new login would overwrite it.
/// - A [`lock`](Self::lock) dies with its holder, in this process and in others.
///
/// # Cancel safety
///
/// A dropped step may or may not have taken effect.
pub trait CredentialStore: Send + Sync + 'static {
    /// Reads a record.
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> BoxFuture<'a, Result<Option<Stored>, StoreError>>;

    /// Writes a record if the stored generation is still `replaces`; `None` means that nothing
    /// is stored yet. Otherwise changes nothing and says so.
    fn save<'a>(
        &'a self,
        key: &'a CredentialKey,
        record: &'a Record,
        replaces: Option<Generation>,
    ) -> BoxFuture<'a, Result<Saved, StoreError>>;

    /// Removes a record if the stored generation is still `replaces`.
    fn remove<'a>(
        &'a self,
        key: &'a CredentialKey,
        replaces: Generation,
    ) -> BoxFuture<'a, Result<Saved, StoreError>>;

    /// What is known for an endpoint: one key for each resource, issuer and account.
    fn keys<'a>(
        &'a self,
        endpoint: &'a Resource,
    ) -> BoxFuture<'a, Result<Vec<CredentialKey>, StoreError>>;

    /// Keeps others from the same purpose, in this process and in others, until the lock is
    /// dropped. Waits at most `wait`, then answers `None`.
    fn lock<'a>(
        &'a self,
        key: &'a CredentialKey,
        purpose: LockPurpose,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Option<StoreLock>, StoreError>>;
}

impl<S: CredentialStore + ?Sized> CredentialStore for Arc<S> {
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> BoxFuture<'a, Result<Option<Stored>, StoreError>> {
        (**self).load(key)
    }

    fn save<'a>(
        &'a self,
        key: &'a CredentialKey,
        record: &'a Record,
        replaces: Option<Generation>,
    ) -> BoxFuture<'a, Result<Saved, StoreError>> {
        (**self).save(key, record, replaces)
    }

    fn remove<'a>(
        &'a self,
        key: &'a CredentialKey,
        replaces: Generation,
    ) -> BoxFuture<'a, Result<Saved, StoreError>> {
        (**self).remove(key, replaces)
    }

    fn keys<'a>(
        &'a self,
        endpoint: &'a Resource,
    ) -> BoxFuture<'a, Result<Vec<CredentialKey>, StoreError>> {
        (**self).keys(endpoint)
    }

    fn lock<'a>(
        &'a self,
        key: &'a CredentialKey,
        purpose: LockPurpose,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Option<StoreLock>, StoreError>> {
        (**self).lock(key, purpose, wait)
    }
}

/// Whose login a record is. Nothing of it is ever used for another key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CredentialKey {
    /// The MCP endpoint, in canonical form: a neighbor may name the same resource.
    pub endpoint: Resource,
    /// The resource that tokens are for.
    pub resource: Resource,
    /// The issuer that they come from.
    pub issuer: Issuer,
    /// A label of the host's, where a person has several accounts.
    pub account: Option<String>,
}

impl CredentialKey {
    /// Makes a key without an account label.
    pub fn new(endpoint: Resource, resource: Resource, issuer: Issuer) -> Self {
        Self { endpoint, resource, issuer, account: None }
    }

    /// Adds an account label.
    #[must_use]
    pub fn with_account(mut self, account: Option<String>) -> Self {
        self.account = account;
        self
    }

    /// A name for the key that fits into a file name.
    pub(crate) fn digest(&self) -> String {
        let account: &[&[u8]] = match &self.account {
            Some(account) => &[account.as_bytes()],
            None => &[],
        };
        let parts = [&self.endpoint.as_str(), &self.resource.as_str(), &self.issuer.as_str()]
            .map(|part| part.as_bytes());
        crypto::hex(&crypto::sha256_parts(parts.into_iter().chain(account.iter().copied())))
    }
}

/// A version of a stored record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(u64);

impl Generation {
    /// Version number `number`.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The version that follows this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// A first version, for a key that has no record. It begins at random: whoever still
    /// knows a record that was removed must not take the new one for it.
    #[must_use]
    pub fn first() -> Self {
        let mut bytes = [0; 8];
        // Without random bytes it begins at zero, which is as good as it gets then.
        let _ = crypto::fill_random(&mut bytes);
        Self(u64::from_le_bytes(bytes) >> 12)
    }
}

/// A record as it was stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// The record.
    pub record: Record,
    /// Its version.
    pub generation: Generation,
}

impl Stored {
    /// Makes one.
    pub fn new(record: Record, generation: Generation) -> Self {
        Self { record, generation }
    }
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Saved {
    /// It was done; this is the new version.
    Done(Generation),
    /// Somebody else wrote first: nothing was changed.
    Superseded,
}

/// What a lock is for. Locks of different purposes don't wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockPurpose {
    /// A refresh token is being used.
    Renewal,
    /// A person is logging in.
    Login,
}

/// A lock that is held until this is dropped.
pub struct StoreLock(#[expect(dead_code, reason = "kept for its drop")] Box<dyn Any + Send>);

impl StoreLock {
    /// Holds whatever unlocks when it is dropped.
    pub fn new(guard: impl Any + Send) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for StoreLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreLock")
    }
}

/// Credentials can't be read or written.
///
/// The cause is the store's own: this is the one place where foreign errors come in.
#[derive(Debug, thiserror::Error)]
#[error("the credential store failed at {place}")]
pub struct StoreError {
    place: String,
    #[source]
    source: Box<dyn Error + Send + Sync>,
}

impl StoreError {
    /// Wraps the store's own error; `place` says what it was about, such as a file.
    pub fn new(place: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { place: place.into(), source: source.into() }
    }
}
