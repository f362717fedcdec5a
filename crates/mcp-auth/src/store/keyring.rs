use std::path::PathBuf;

use super::FileStore;
use super::file::hold;
use crate::v1::StoreError;
use crate::{Secret, crypto};

/// The name under which the key stands in the keyring.
const NAME: &str = "login-key";

impl FileStore {
    /// Opens a directory whose files are encrypted with a key from the operating system's
    /// keyring: Keychain, Credential Manager, Secret Service. The key is made at the first
    /// time. Platforms limit what fits into a keyring, so that only the key is there.
    ///
    /// `service` names the program in the keyring. Blocks while the keyring is asked, and
    /// perhaps a person is.
    ///
    /// # Errors
    ///
    /// When there is no keyring, it is locked, or the directory can't be used.
    pub fn with_keyring(directory: impl Into<PathBuf>, service: &str) -> Result<Self, StoreError> {
        let store = Self::open(directory)?;
        // Two processes that start at once must not make two keys.
        let _lock = hold(store.directory(), "keyring")?;
        let failed = |error: keyring::Error| StoreError::new("the keyring", error);
        let entry = keyring::Entry::new(service, NAME).map_err(failed)?;
        let key = match entry.get_password() {
            Ok(key) => Secret::new(key),
            Err(keyring::Error::NoEntry) => {
                let mut bytes = [0; 32];
                crypto::fill_random(&mut bytes)
                    .map_err(|error| StoreError::new("the keyring", error))?;
                let key = Secret::new(crypto::base64url(&bytes));
                entry.set_password(key.expose()).map_err(failed)?;
                key
            }
            Err(error) => return Err(failed(error)),
        };
        Ok(store.sealed_with(&key))
    }
}
