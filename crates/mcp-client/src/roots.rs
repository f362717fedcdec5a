//! Roots: which of them may be named, and who is told that they have changed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcp_types::{ResourceUri, Root};

use crate::HandlerError;
use crate::client::Inner;
use crate::context::Context;
use crate::v1::{BoxFuture, RootsProvider};

/// Tells one server that the roots have changed.
///
/// Cheap to clone; it doesn't keep the conversation open.
#[derive(Clone, Debug)]
pub struct RootsChanges(Weak<Inner>);

impl RootsChanges {
    pub(crate) const fn new(client: Weak<Inner>) -> Self {
        Self(client)
    }

    /// Tells the server. Answers whether it is still there.
    ///
    /// Specification: [root list changes](https://modelcontextprotocol.io/specification/2025-11-25/client/roots#root-list-changes).
    pub fn announce(&self) -> bool {
        self.0.upgrade().is_some_and(|client| client.announce_roots())
    }
}

/// A list of roots that can be changed while servers are connected: each of them is told.
///
/// Clones are the same list.
///
/// ```
/// use mcp_client::{Client, RootList};
/// use mcp_types::Root;
///
/// let roots = RootList::new([Root::new("file:///home/me/project")]);
/// let builder = Client::builder("editor", "1.0").roots(roots.clone());
/// // Later, while the client is connected:
/// roots.set([Root::new("file:///home/me/other")]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct RootList(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    roots: Vec<Root>,
    /// Who is told; those that are gone are dropped whenever somebody comes.
    servers: Vec<RootsChanges>,
}

impl RootList {
    /// A list.
    pub fn new(roots: impl Into<Vec<Root>>) -> Self {
        Self(Arc::new(Mutex::new(State { roots: roots.into(), servers: Vec::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The roots.
    #[must_use]
    pub fn get(&self) -> Vec<Root> {
        self.lock().roots.clone()
    }

    /// Puts other roots in their place, and tells the servers if that changes anything.
    pub fn set(&self, roots: impl Into<Vec<Root>>) {
        let roots = roots.into();
        self.change(|known| {
            let changes = *known != roots;
            *known = roots;
            changes
        });
    }

    /// Adds a root, unless there is one with this URI, and tells the servers.
    pub fn add(&self, root: Root) {
        self.change(|known| {
            let is_new = known.iter().all(|other| other.uri != root.uri);
            if is_new {
                known.push(root);
            }
            is_new
        });
    }

    /// Takes the root with this URI out, and tells the servers if there was one.
    pub fn remove(&self, uri: &str) {
        self.change(|known| {
            let before = known.len();
            known.retain(|root| root.uri != *uri);
            known.len() < before
        });
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Root>) -> bool) {
        let mut state = self.lock();
        if !change(&mut state.roots) {
            return;
        }
        let mut servers = std::mem::take(&mut state.servers);
        // Others may come in the meantime, and have seen the new list then.
        drop(state);
        servers.retain(RootsChanges::announce);
        self.lock().servers.append(&mut servers);
    }
}

impl RootsProvider for RootList {
    fn roots(&self, _: Context) -> BoxFuture<'_, Result<Vec<Root>, HandlerError>> {
        Box::pin(std::future::ready(Ok(self.get())))
    }

    fn announces_changes(&self) -> bool {
        true
    }

    fn connected(&self, changes: RootsChanges) {
        let mut state = self.lock();
        state.servers.retain(|known| known.0.strong_count() > 0);
        state.servers.push(changes);
    }
}

/// A URI that can't be a root.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidRoot {
    /// It isn't a `file://` URI.
    #[error("{uri} is no file:// URI")]
    NoFile {
        /// The URI.
        uri: ResourceUri,
    },
    /// It goes up, or stays, by a segment that is `.` or `..`, written plainly or encoded.
    #[error("{uri} holds a dot segment")]
    DotSegment {
        /// The URI.
        uri: ResourceUri,
    },
}

/// Whether a root may be named to a server.
///
/// Specification: [security](https://modelcontextprotocol.io/specification/2025-11-25/client/roots#security-considerations).
pub(crate) fn check(root: &Root) -> Result<(), InvalidRoot> {
    let uri = root.uri.as_str();
    let Some(path) = uri.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://")) else {
        return Err(InvalidRoot::NoFile { uri: root.uri.clone() });
    };
    let path = uri.get(path.len()..).unwrap_or_default();
    if path.split(['/', '\\']).any(is_dots) {
        return Err(InvalidRoot::DotSegment { uri: root.uri.clone() });
    }
    Ok(())
}

/// Whether a segment is `.` or `..`, some of it perhaps percent-encoded. An encoded separator
/// counts as one.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/");
    plain.replace("%5c", "/").split('/').any(|part| matches!(part, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: ROOTS-012
    #[test]
    fn a_root_is_a_file_uri_without_dot_segments() {
        let verdict = |uri: &str| check(&Root::new(uri));
        for uri in ["file:///", "file:///home/me", "FILE:///a/.git/..b", "file:///C:/x%20y"] {
            assert_eq!(verdict(uri), Ok(()), "{uri}");
        }
        for uri in [
            "file:///a/../../etc",
            "file:///a/%2e%2E/etc",
            "file:///a/.%2e",
            "file:///a/b%2f..%2fetc",
            "file:///a\\..\\b",
            "file:///a/./b",
        ] {
            assert!(matches!(verdict(uri), Err(InvalidRoot::DotSegment { .. })), "{uri}");
        }
        for uri in ["", "file:", "/etc", "https://a/b", "filé:///a"] {
            assert!(matches!(verdict(uri), Err(InvalidRoot::NoFile { .. })), "{uri}");
        }
    }
}
