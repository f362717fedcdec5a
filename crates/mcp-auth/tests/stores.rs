//! The stores for logins.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may panic like tests"
)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_auth::testing::credential_store_suite;
use mcp_auth::v1::{CredentialKey, CredentialStore as _, Saved};
use mcp_auth::{FileStore, Issuer, MemoryStore, Record, Resource, Secret};

/// A directory that goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("mcp-auth-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn key() -> CredentialKey {
    let resource = || Resource::new("https://mcp.example/mcp").unwrap();
    CredentialKey::new(resource(), resource(), Issuer::new("https://as.example").unwrap())
}

fn record() -> Record {
    let text = r#"{"format":1,"client_id":"c","method":"none","requested":"","login_id":"l",
        "last_used":1,"token_endpoint":"https://as.example/token",
        "tokens":{"access":"hush","dpop":false,"granted":"","issued_at":1}}"#;
    Record::from_bytes(text.as_bytes()).unwrap()
}

fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|e| e == extension)).collect()
}

// Shows: CL-ST-3, CL-ST-4
#[tokio::test]
async fn the_stores_keep_the_contract() {
    credential_store_suite(&MemoryStore::new()).await;
    let directory = Directory::new();
    credential_store_suite(&FileStore::open(&directory.0).unwrap()).await;
    assert!(files(&directory.0, "tmp").is_empty(), "temporary files are left");
    let directory = Directory::new();
    let sealed = FileStore::open(&directory.0).unwrap().sealed_with(&Secret::new("key"));
    credential_store_suite(&sealed).await;
}

// Shows: CL-ST-4
#[tokio::test]
async fn a_sealed_file_shows_nothing_and_opens_with_its_key_only() {
    let directory = Directory::new();
    let open = || FileStore::open(&directory.0).unwrap();
    let sealed = |key: &str| open().sealed_with(&Secret::new(key));
    sealed("right").save(&key(), &record(), None).await.unwrap();
    let text = std::fs::read_to_string(&files(&directory.0, "json")[0]).unwrap();
    assert!(!text.contains("hush") && text.contains("mcp.example"), "{text}");
    assert_eq!(sealed("right").load(&key()).await.unwrap().unwrap().record, record());
    assert!(sealed("wrong").load(&key()).await.is_err());
    assert!(open().load(&key()).await.is_err(), "read without the key");
    // Nobody can plant a login of theirs.
    let planted = Directory::new();
    FileStore::open(&planted.0).unwrap().save(&key(), &record(), None).await.unwrap();
    let plain = files(&planted.0, "json").remove(0);
    std::fs::copy(&plain, directory.0.join(plain.file_name().unwrap())).unwrap();
    assert!(sealed("right").load(&key()).await.is_err());
}

// Shows: CL-ST-4, AUTH-CLIENT-069
#[cfg(unix)]
#[tokio::test]
async fn files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = Directory::new();
    let store = FileStore::open(&directory.0).unwrap();
    store.save(&key(), &record(), None).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory.0), 0o700);
    for entry in std::fs::read_dir(&directory.0).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
    let file = &files(&directory.0, "json")[0];
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let error = store.load(&key()).await.unwrap_err();
    assert!(error.to_string().contains(".json"), "{error}");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "others may read it");

    let moved = directory.0.join("elsewhere");
    std::fs::rename(file, &moved).unwrap();
    std::fs::set_permissions(&moved, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&moved, file).unwrap();
    assert!(store.load(&key()).await.is_err(), "a symbolic link is followed");
}

// Shows: CL-ST-5
#[tokio::test]
async fn what_can_not_be_read_is_an_error_and_not_nothing() {
    let directory = Directory::new();
    let store = FileStore::open(&directory.0).unwrap();
    store.save(&key(), &record(), None).await.unwrap();
    let file = files(&directory.0, "json").remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    for damaged in [text[..text.len() / 2].to_owned(), text.replace("\"format\":1", "\"format\":9")]
    {
        std::fs::write(&file, &damaged).unwrap();
        let error = store.load(&key()).await.unwrap_err();
        assert!(error.to_string().contains(".json") && !format!("{error:?}").contains("hush"));
    }
}

// Shows: CL-ST-4, CL-RD-7
#[tokio::test]
async fn many_writers_lose_nothing() {
    let directory = Directory::new();
    let store = FileStore::open(&directory.0).unwrap();
    let Saved::Done(first) = store.save(&key(), &record(), None).await.unwrap() else { panic!() };
    let writers: Vec<_> = (0..8)
        .map(|_| {
            // Each has a store of its own, as another process would.
            let store = FileStore::open(&directory.0).unwrap();
            tokio::spawn(async move {
                let mut written = 0;
                while written < 5 {
                    let seen = store.load(&key()).await.unwrap().map(|stored| stored.generation);
                    if let Saved::Done(_) = store.save(&key(), &record(), seen).await.unwrap() {
                        written += 1;
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    // Forty writes, each of which had seen the one before.
    let last = store.load(&key()).await.unwrap().unwrap().generation;
    assert_eq!(last.number(), first.number() + 40);
}
