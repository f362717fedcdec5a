//! Lists: page after page, kept until they change.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_lifecycle::Timeouts;
use mcp_types::Cursor;

mod cache;
mod kind;
mod page;
mod promise;
mod walk;

pub(crate) use self::cache::Caches;
pub use self::kind::Listed;
pub use self::page::PageCall;
pub(crate) use self::promise::Promise;

use crate::{Client, ClientError};

/// A list as a server gave it, all its pages in one.
///
/// Cheap to clone. In the server's order, each item once: of two with the same name, or URI,
/// the first.
pub struct Listing<T>(Arc<Contents<T>>);

struct Contents<T> {
    items: Vec<T>,
    warning: Option<ListWarning>,
}

/// Why a list may be incomplete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListWarning {
    /// The server named a next page that it had named before: following it would never end.
    #[error("the server's pages go in a circle, at the cursor {}", shown(cursor))]
    CursorRepeated {
        /// The cursor.
        cursor: Cursor,
    },
    /// There are more pages than are followed.
    #[error("the list has more than {limit} pages")]
    TooManyPages {
        /// The limit that was in force.
        limit: usize,
    },
    /// There are more items than are kept.
    #[error("the list has more than {limit} items")]
    TooManyItems {
        /// The limit that was in force.
        limit: usize,
    },
}

/// As much of a cursor as fits into a line, quoted.
fn shown(cursor: &Cursor) -> String {
    const SHOWN: usize = 80;
    let mut text: String = cursor.as_str().chars().take(SHOWN).collect();
    if text.len() < cursor.as_str().len() {
        text.push('…');
    }
    format!("{text:?}")
}

/// How far lists are followed. What is beyond is left out, and the list says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListLimits {
    /// Pages of one list; 1,000 by default, at least one.
    pub pages: usize,
    /// Items of one list; 100,000 by default.
    pub items: usize,
}

impl ListLimits {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self { pages: 1000, items: 100_000 }
    }

    /// Sets [`pages`](Self::pages).
    #[must_use]
    pub const fn with_pages(mut self, pages: usize) -> Self {
        self.pages = pages;
        self
    }

    /// Sets [`items`](Self::items).
    #[must_use]
    pub const fn with_items(mut self, items: usize) -> Self {
        self.items = items;
        self
    }
}

impl Default for ListLimits {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Listing<T> {
    fn new(items: Vec<T>, warning: Option<ListWarning>) -> Self {
        Self(Arc::new(Contents { items, warning }))
    }

    /// Why the list may be incomplete; none if it isn't.
    #[must_use]
    pub fn warning(&self) -> Option<&ListWarning> {
        self.0.warning.as_ref()
    }
}

impl<T> Deref for Listing<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0.items
    }
}

impl<T> Clone for Listing<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<'a, T> IntoIterator for &'a Listing<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Clones the items where the list is kept, or shared otherwise.
impl<T: Clone> IntoIterator for Listing<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

/// Clones the items where the list is kept, or shared otherwise.
impl<T: Clone> From<Listing<T>> for Vec<T> {
    fn from(list: Listing<T>) -> Self {
        match Arc::try_unwrap(list.0) {
            Ok(contents) => contents.items,
            Err(shared) => shared.items.clone(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Listing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("items", &self.0.items)
            .field("warning", &self.0.warning)
            .finish()
    }
}

/// Fetches a whole list, page after page: sent by `.await`ing it.
///
/// Where the server has promised to tell when the list changes, it is kept and fetched again
/// only after a change; [`fresh`](Self::fresh) fetches it in any case. A change that comes
/// during a fetch counts: then the result is given, but not kept.
///
/// ```
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
/// for tool in &client.list_tools().await? {
///     println!("{}: {}", tool.name, tool.description.as_deref().unwrap_or_default());
/// }
/// # Ok(()) }
/// ```
///
/// The walk ends at a cursor that was named before, and at the [`ListLimits`];
/// [`Listing::warning`] says so. An empty cursor is a cursor.
///
/// Specification: [pagination](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination).
///
/// # Cancel safety
///
/// Dropping the future gives up the page that is being fetched, and forgets the others.
#[must_use = "a list is fetched when it is awaited"]
pub struct ListCall<T> {
    client: Client,
    timeouts: Timeouts,
    fresh: bool,
    kind: std::marker::PhantomData<fn() -> T>,
}

impl<T: Listed> ListCall<T> {
    pub(crate) fn new(client: &Client) -> Self {
        Self {
            client: client.clone(),
            timeouts: client.timeouts(),
            fresh: false,
            kind: std::marker::PhantomData,
        }
    }

    /// Fetches the list even if it is kept.
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Sets how long the server may take for each page.
    pub fn timeout(mut self, page: std::time::Duration) -> Self {
        self.timeouts = self.timeouts.with_idle(page);
        self
    }
}

impl<T: Listed> IntoFuture for ListCall<T> {
    type Output = Result<Listing<T>, ClientError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let kept = if self.fresh { None } else { self.client.kept::<T>() };
            match kept {
                Some(list) => Ok(list),
                None => walk::walk(&self.client, self.timeouts).await,
            }
        })
    }
}

impl<T> fmt::Debug for ListCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListCall").field("fresh", &self.fresh).finish_non_exhaustive()
    }
}
