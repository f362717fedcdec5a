use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_types::Root;
use mcp_types::file_uri::{InvalidFileUri, uri_of};

use crate::HandlerError;
use crate::context::Context;
use crate::roots::{RootList, RootsChanges};
use crate::v1::{BoxFuture, RootsProvider};

/// Directories of this machine as roots: named only as long as they are there, can be read, and
/// lie inside of what is allowed, with every link resolved.
///
/// Looked at each time a server asks, and by [`refresh`](Self::refresh): one that is gone is left
/// out, and comes back when it does. Clones are the same list.
///
/// ```no_run
/// use mcp_client::Client;
/// use mcp_client::host::LocalRoots;
///
/// let roots = LocalRoots::inside(["/home/me/projects"]);
/// roots.add("/home/me/projects/app", Some("The app"))?;
/// assert!(roots.add("/home/me/.ssh", None).is_err());
/// let builder = Client::builder("editor", "1.0").roots(roots.clone());
/// // Now and then, or when the file system says that something has changed:
/// roots.refresh();
/// # Ok::<(), mcp_client::host::RootError>(())
/// ```
///
/// Looking directories up blocks for as long as that takes.
///
/// Specification: [roots](https://modelcontextprotocol.io/specification/2025-11-25/client/roots#security-considerations).
#[derive(Clone, Debug)]
pub struct LocalRoots(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    allowed: Vec<PathBuf>,
    wanted: Mutex<Vec<Wanted>>,
    /// What servers see.
    seen: RootList,
}

#[derive(Clone, Debug)]
struct Wanted {
    path: PathBuf,
    name: Option<String>,
}

/// How many directories there may be.
const MOST: usize = 1000;

/// A directory that can't be a root.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// It isn't there, or can't be read.
    #[error("{} can't be read", path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It isn't a directory.
    #[error("{} is no directory", path.display())]
    NoDirectory {
        /// What it is called.
        path: PathBuf,
    },
    /// It lies outside of what is allowed, where links lead.
    #[error("{} lies outside of what is allowed", path.display())]
    Outside {
        /// Where it lies.
        path: PathBuf,
    },
    /// Its path can't be written as a URI.
    #[error("{} can't be written as a URI", path.display())]
    Uri {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: InvalidFileUri,
    },
    /// There are too many roots: 1,000.
    #[error("there are {MOST} roots")]
    TooMany,
}

impl LocalRoots {
    /// No roots yet; they will have to lie inside of these directories. One that is not there
    /// allows nothing.
    pub fn inside<P: AsRef<Path>>(allowed: impl IntoIterator<Item = P>) -> Self {
        let real = |path: P| path.as_ref().canonicalize().ok();
        let allowed = allowed.into_iter().filter_map(real).collect();
        let (wanted, seen) = (Mutex::default(), RootList::default());
        Self(Arc::new(Inner { allowed, wanted, seen }))
    }

    /// Adds a directory, and tells servers. One that is there already gets its new name.
    ///
    /// # Errors
    ///
    /// Why it can't be a root; nothing is added then.
    pub fn add(&self, directory: impl AsRef<Path>, name: Option<&str>) -> Result<(), RootError> {
        let path = directory.as_ref().to_owned();
        let wanted = Wanted { path, name: name.map(str::to_owned) };
        self.0.root(&wanted)?;
        {
            let mut all = self.lock();
            all.retain(|known| known.path != wanted.path);
            if all.len() == MOST {
                return Err(RootError::TooMany);
            }
            all.push(wanted);
        }
        self.refresh();
        Ok(())
    }

    /// Takes a directory out, by the path it was added with, and tells servers.
    pub fn remove(&self, directory: impl AsRef<Path>) {
        self.lock().retain(|known| known.path != directory.as_ref());
        self.refresh();
    }

    /// Looks at all directories again, and tells servers if that changes what they see.
    pub fn refresh(&self) {
        let wanted = self.lock().clone();
        let root = |wanted: &Wanted| {
            let root = self.0.root(wanted);
            root.inspect_err(|error| tracing::warn!(%error, "a root is left out")).ok()
        };
        let mut roots: Vec<Root> = Vec::new();
        for root in wanted.iter().filter_map(root) {
            // Two paths may lead to one directory.
            if roots.iter().all(|known| known.uri != root.uri) {
                roots.push(root);
            }
        }
        self.0.seen.set(roots);
    }

    /// What servers see.
    #[must_use]
    pub fn get(&self) -> Vec<Root> {
        self.0.seen.get()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Wanted>> {
        self.0.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn root(&self, wanted: &Wanted) -> Result<Root, RootError> {
        let path = wanted.path.clone();
        let unreadable = |source| RootError::Unreadable { path: path.clone(), source };
        let real = path.canonicalize().map_err(unreadable)?;
        if !real.is_dir() {
            return Err(RootError::NoDirectory { path });
        }
        if !self.allowed.iter().any(|allowed| real.starts_with(allowed)) {
            return Err(RootError::Outside { path: real });
        }
        // Whether it can be read, and not only be named.
        let _ = real.read_dir().map_err(unreadable)?;
        let uri = uri_of(&real).map_err(|source| RootError::Uri { path: real, source })?;
        let root = Root::new(uri);
        Ok(match &wanted.name {
            Some(name) => root.with_name(name),
            None => root,
        })
    }
}

impl RootsProvider for LocalRoots {
    fn roots(&self, cx: Context) -> BoxFuture<'_, Result<Vec<Root>, HandlerError>> {
        self.refresh();
        self.0.seen.roots(cx)
    }

    fn announces_changes(&self) -> bool {
        true
    }

    fn connected(&self, changes: RootsChanges) {
        self.0.seen.connected(changes);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A directory of this test alone.
    struct Scratch(PathBuf);

    #[expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]
    impl Scratch {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("mcp-roots-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path.canonicalize().unwrap())
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    // Shows: ROOTS-012, ROOTS-013
    #[test]
    fn only_readable_directories_inside_of_what_is_allowed_are_roots() {
        let scratch = Scratch::new("inside");
        let at = |path: &str| scratch.0.join(path);
        for path in ["allowed/app", "allowed2", "secret"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("allowed/file"), "").unwrap();
        symlink(at("secret"), at("allowed/out")).unwrap();
        symlink(at("allowed/app"), at("in")).unwrap();
        let roots = LocalRoots::inside([at("allowed"), at("gone")]);
        roots.add(at("allowed/app"), Some("App")).unwrap();
        roots.add(at("allowed/app/../app"), None).unwrap();
        roots.add(at("in"), None).unwrap();
        for path in ["secret", "allowed/out", "allowed/../secret", "allowed2"] {
            let error = roots.add(at(path), None).unwrap_err();
            assert!(matches!(error, RootError::Outside { .. }), "{path}: {error}");
        }
        let error = roots.add(at("allowed/file"), None).unwrap_err();
        assert!(matches!(error, RootError::NoDirectory { .. }), "{error}");
        let error = roots.add(at("allowed/none"), None).unwrap_err();
        assert!(matches!(error, RootError::Unreadable { .. }), "{error}");
        let uris: Vec<_> = roots.get().into_iter().map(|root| root.uri).collect();
        let app = uri_of(&at("allowed/app")).unwrap();
        assert!(uris.len() == 1 && uris[0].as_str() == app, "{uris:?}");
        let nowhere = LocalRoots::inside([at("gone")]);
        assert!(nowhere.add(at("allowed/app"), None).is_err());
    }

    // Shows: ROOTS-014, ROOTS-020, ROOTS-021
    #[test]
    fn a_directory_that_is_gone_is_left_out_and_comes_back() {
        let scratch = Scratch::new("gone");
        let app = scratch.0.join("app");
        fs::create_dir_all(&app).unwrap();
        let roots = LocalRoots::inside([&scratch.0]);
        roots.add(&app, None).unwrap();
        assert_eq!(roots.get().len(), 1);
        fs::remove_dir(&app).unwrap();
        roots.refresh();
        assert!(roots.get().is_empty());
        // What has taken its place leads elsewhere.
        symlink("/", &app).unwrap();
        roots.refresh();
        assert!(roots.get().is_empty());
        fs::remove_file(&app).unwrap();
        fs::create_dir(&app).unwrap();
        roots.refresh();
        assert_eq!(roots.get().len(), 1);
        roots.remove(&app);
        assert!(roots.get().is_empty());
    }
}
