use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::seal::Seal;
use crate::json::{self, Object};
use crate::v1::{
    BoxFuture, CredentialKey, CredentialStore, Generation, LockPurpose, Saved, StoreError,
    StoreLock, Stored,
};
use crate::{Issuer, Record, Resource, Secret, crypto};

/// How large a stored login may be, in bytes.
const MAX_FILE: u64 = 256 * 1024;
/// How many files of a directory are looked at.
const MAX_FILES: usize = 10_000;
/// How often a taken lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// Keeps logins in a directory, one file for each, safe with several processes.
///
/// The directory has mode 0700, each file 0600 from its first moment; a file is written beside
/// its place, synced and renamed. Locks are advisory file locks on files that are never
/// deleted, so a lock dies with its holder. A file that others may read, or a symbolic link,
/// is refused. (Modes are for Unix; elsewhere the directory's own protection counts.)
#[derive(Clone, Debug)]
pub struct FileStore {
    directory: PathBuf,
    seal: Option<Arc<Seal>>,
}

impl FileStore {
    /// Opens a directory, and makes it if it isn't there.
    ///
    /// # Errors
    ///
    /// When it can't be made or is no directory.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let directory = directory.into();
        make_private_directory(&directory).map_err(|error| at(&directory, error))?;
        Ok(Self { directory, seal: None })
    }

    /// Encrypts the files with a key that is made from `key`, which should have 128 bits or
    /// more of randomness. What was written without it, or with another, is an error then.
    #[must_use]
    pub fn sealed_with(mut self, key: &Secret) -> Self {
        self.seal = Seal::new(key).map(Arc::new);
        self
    }

    #[cfg(feature = "keyring")]
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Runs `work` where it may block.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let directory = self.directory.clone();
        let place = directory.display().to_string();
        tokio::task::spawn_blocking(move || work(&directory))
            .await
            .map_err(|error| StoreError::new(place, error))?
    }

    fn write(
        &self,
        key: &CredentialKey,
        record: Option<&Record>,
        replaces: Option<Generation>,
    ) -> BoxFuture<'_, Result<Saved, StoreError>> {
        let (key, record, seal) = (key.clone(), record.cloned(), self.seal.clone());
        Box::pin(self.run(move |directory| {
            let path = file_of(directory, &key);
            // Held from reading to renaming: writers of all processes queue up here.
            let _lock = lock_blocking(&path.with_extension("write"))?;
            let stored = read(&path, seal.as_deref())?.map(|file| file.generation);
            if stored != replaces {
                return Ok(Saved::Superseded);
            }
            let generation = replaces.map_or_else(Generation::first, Generation::next);
            match record {
                Some(record) => put(&path, &key, &record, generation, seal.as_deref())?,
                None => fs::remove_file(&path).map_err(|error| at(&path, error))?,
            }
            Ok(Saved::Done(generation))
        }))
    }
}

impl CredentialStore for FileStore {
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> BoxFuture<'a, Result<Option<Stored>, StoreError>> {
        let (key, seal) = (key.clone(), self.seal.clone());
        Box::pin(self.run(move |directory| {
            let path = file_of(directory, &key);
            let Some(file) = read(&path, seal.as_deref())? else { return Ok(None) };
            let record = Record::from_bytes(&file.record).map_err(|error| at(&path, error))?;
            Ok(Some(Stored::new(record, file.generation)))
        }))
    }

    fn save<'a>(
        &'a self,
        key: &'a CredentialKey,
        record: &'a Record,
        replaces: Option<Generation>,
    ) -> BoxFuture<'a, Result<Saved, StoreError>> {
        self.write(key, Some(record), replaces)
    }

    fn remove<'a>(
        &'a self,
        key: &'a CredentialKey,
        replaces: Generation,
    ) -> BoxFuture<'a, Result<Saved, StoreError>> {
        self.write(key, None, Some(replaces))
    }

    fn keys<'a>(
        &'a self,
        endpoint: &'a Resource,
    ) -> BoxFuture<'a, Result<Vec<CredentialKey>, StoreError>> {
        let (endpoint, seal) = (endpoint.clone(), self.seal.clone());
        Box::pin(self.run(move |directory| {
            let prefix = prefix_of(&endpoint);
            let entries = fs::read_dir(directory).map_err(|error| at(directory, error))?;
            let mut keys = Vec::new();
            for entry in entries.take(MAX_FILES) {
                let path = entry.map_err(|error| at(directory, error))?.path();
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                if name.starts_with(&prefix)
                    && name.ends_with(".json")
                    && let Some(file) = read(&path, seal.as_deref())?
                    && file.key.endpoint == endpoint
                {
                    keys.push(file.key);
                }
            }
            Ok(keys)
        }))
    }

    fn lock<'a>(
        &'a self,
        key: &'a CredentialKey,
        purpose: LockPurpose,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Option<StoreLock>, StoreError>> {
        let extension = match purpose {
            LockPurpose::Renewal => "renewal",
            LockPurpose::Login => "login",
        };
        let path = file_of(&self.directory, key).with_extension(extension);
        Box::pin(async move {
            let deadline = tokio::time::Instant::now() + wait;
            loop {
                let attempt = path.clone();
                let tried = self.run(move |_| {
                    let file = open_private(&attempt).map_err(|error| at(&attempt, error))?;
                    match file.try_lock() {
                        Ok(()) => Ok(Some(file)),
                        Err(TryLockError::WouldBlock) => Ok(None),
                        Err(TryLockError::Error(error)) => Err(at(&attempt, error)),
                    }
                });
                if let Some(file) = tried.await? {
                    return Ok(Some(StoreLock::new(file)));
                }
                if tokio::time::Instant::now() >= deadline {
                    return Ok(None);
                }
                tokio::time::sleep(LOCK_PAUSE).await;
            }
        })
    }
}

/// What a file holds.
struct Contents {
    key: CredentialKey,
    generation: Generation,
    record: Zeroizing<Vec<u8>>,
}

fn read(path: &Path, seal: Option<&Seal>) -> Result<Option<Contents>, StoreError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(path, error)),
    };
    if !metadata.is_file() {
        return Err(at(path, Unsafe::NotAFile));
    }
    if is_open_to_others(&metadata) {
        return Err(at(path, Unsafe::OpenToOthers));
    }
    let mut bytes = Zeroizing::new(Vec::new());
    let file = File::open(path).map_err(|error| at(path, error))?;
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(|error| at(path, error))?;
    let object = json::object(&bytes).ok_or_else(|| at(path, Unsafe::Damaged))?;
    if object.contains_key("sealed") != seal.is_some() {
        return Err(at(path, Unsafe::Sealing));
    }
    let contents = parse(&object, seal);
    contents.map(Some).ok_or_else(|| at(path, Unsafe::Damaged))
}

fn parse(object: &Object, seal: Option<&Seal>) -> Option<Contents> {
    let key = CredentialKey::new(
        Resource::new(json::text(object, "endpoint")?).ok()?,
        Resource::new(json::text(object, "resource")?).ok()?,
        Issuer::new(json::text(object, "issuer")?).ok()?,
    );
    let account = object.get("account").and_then(Value::as_str).map(str::to_owned);
    let key = key.with_account(account);
    let record = match seal {
        Some(seal) => seal.open(&key.digest(), json::text(object, "sealed")?)?,
        None => Zeroizing::new(object.get("record")?.to_string().into_bytes()),
    };
    let generation = Generation::new(object.get("generation")?.as_u64()?);
    Some(Contents { key, generation, record })
}

fn put(
    path: &Path,
    key: &CredentialKey,
    record: &Record,
    generation: Generation,
    seal: Option<&Seal>,
) -> Result<(), StoreError> {
    let plain = record.to_bytes();
    let (member, record) = match seal {
        Some(seal) => {
            let sealed = seal.close(&key.digest(), &plain).map_err(|error| at(path, error))?;
            ("sealed", Value::String(sealed))
        }
        None => ("record", serde_json::from_slice(&plain).map_err(|error| at(path, error))?),
    };
    let contents = Zeroizing::new(
        json!({
            "endpoint": key.endpoint.as_str(),
            "resource": key.resource.as_str(),
            "issuer": key.issuer.as_str(),
            "account": key.account,
            "generation": generation.number(),
            member: record,
        })
        .to_string(),
    );
    let random = crypto::random_id().map_err(|error| at(path, error))?;
    let temporary = path.with_extension(format!("{random}.tmp"));
    let written = (|| {
        let mut file = create_private(&temporary)?;
        file.write_all(contents.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        // The rename itself lives in the directory.
        if let Some(directory) = path.parent()
            && let Ok(directory) = File::open(directory)
        {
            // Not every file system can do it, and the file is complete in any case.
            let _ = directory.sync_all();
        }
        Ok(())
    })();
    if written.is_err() {
        // It may not even have been made.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(|error: io::Error| at(path, error))
}

/// Holds the lock of that name in a directory until it is dropped.
#[cfg(feature = "keyring")]
pub(super) fn hold(directory: &Path, name: &str) -> Result<File, StoreError> {
    lock_blocking(&directory.join(format!("{name}.lock")))
}

fn lock_blocking(path: &Path) -> Result<File, StoreError> {
    let file = open_private(path).map_err(|error| at(path, error))?;
    file.lock().map_err(|error| at(path, error))?;
    Ok(file)
}

fn file_of(directory: &Path, key: &CredentialKey) -> PathBuf {
    directory.join(format!("{}{}.json", prefix_of(&key.endpoint), key.digest()))
}

fn prefix_of(endpoint: &Resource) -> String {
    let digest = crypto::hex(&crypto::sha256(endpoint.as_str().as_bytes()));
    format!("{}-", digest.get(..16).unwrap_or_default())
}

fn at(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new(path.display().to_string(), error)
}

#[cfg(unix)]
fn make_private_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

fn create_private(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true)).open(path)
}

fn open_private(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create(true).truncate(false)).open(path)
}

#[cfg(unix)]
fn is_open_to_others(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &fs::Metadata) -> bool {
    false
}

/// A file that can't be trusted.
#[derive(Debug, thiserror::Error)]
enum Unsafe {
    #[error("it is not a plain file")]
    NotAFile,
    #[error("others may read it")]
    OpenToOthers,
    #[error("it does not hold a login, or one that the key does not open")]
    Damaged,
    #[error("it is encrypted and there is no key, or the other way round")]
    Sealing,
}
