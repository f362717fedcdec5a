use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use mcp_jsonrpc::ErrorObject;
use mcp_types::{Cursor, Revision};

use crate::page::Position;

/// An item of a list.
pub(crate) trait Listed: Send + Sync + 'static {
    /// Unique in the list.
    fn key(&self) -> &str;

    /// Appends the item's JSON, as `revision` knows it.
    fn write(&self, revision: Revision, out: &mut Vec<u8>);
}

/// Items by name, in the order in which they were added.
///
/// Readers share a snapshot; whoever changes the list makes a new one. The pages of a snapshot
/// are serialized once for each revision that asks.
pub(crate) struct Registry<T> {
    /// Its name in results, and in cursors.
    member: &'static str,
    snapshot: RwLock<Arc<Snapshot<T>>>,
}

struct Snapshot<T> {
    items: Vec<Arc<T>>,
    index: HashMap<String, usize>,
    /// By revision and first item. Bounded: there is no page but those that start at a multiple
    /// of the page size, or behind an item.
    pages: Mutex<HashMap<(Revision, usize), Bytes>>,
}

impl<T> Default for Snapshot<T> {
    fn default() -> Self {
        Self { items: Vec::new(), index: HashMap::new(), pages: Mutex::default() }
    }
}

impl<T: Listed> Registry<T> {
    pub(crate) fn new(member: &'static str) -> Self {
        Self { member, snapshot: RwLock::default() }
    }

    fn snapshot(&self) -> Arc<Snapshot<T>> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn get(&self, key: &str) -> Option<Arc<T>> {
        let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner);
        snapshot.index.get(key).and_then(|at| snapshot.items.get(*at)).cloned()
    }

    /// Every item, in order.
    pub(crate) fn items(&self) -> Vec<Arc<T>> {
        self.snapshot().items.clone()
    }

    /// Adds `item`; hands it back when its name is taken.
    pub(crate) fn add(&self, item: T) -> Result<(), T> {
        let mut guard = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        if guard.index.contains_key(item.key()) {
            return Err(item);
        }
        let mut items = guard.items.clone();
        items.push(Arc::new(item));
        *guard = Arc::new(Snapshot::of(items));
        Ok(())
    }

    /// Removes the item; answers whether there was one.
    pub(crate) fn remove(&self, key: &str) -> bool {
        let mut guard = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = guard.index.get(key).copied() else { return false };
        let mut items = guard.items.clone();
        items.remove(at);
        *guard = Arc::new(Snapshot::of(items));
        true
    }

    /// The result of a list request, as JSON.
    ///
    /// # Errors
    ///
    /// `-32602` for a cursor that was not issued for this list.
    pub(crate) fn page(
        &self,
        cursor: Option<&Cursor>,
        size: usize,
        revision: Revision,
    ) -> Result<Bytes, ErrorObject> {
        let snapshot = self.snapshot();
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let position = Position::from_cursor(self.member, cursor)?;
                match snapshot.index.get(&position.name) {
                    Some(at) => at + 1,
                    None => position.index.min(snapshot.items.len()),
                }
            }
        };
        let mut pages = snapshot.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let page = pages
            .entry((revision, start))
            .or_insert_with(|| snapshot.write_page(self.member, start, size.max(1), revision));
        Ok(page.clone())
    }
}

impl<T: Listed> Snapshot<T> {
    fn of(items: Vec<Arc<T>>) -> Self {
        let index =
            items.iter().enumerate().map(|(at, item)| (item.key().to_owned(), at)).collect();
        Self { items, index, pages: Mutex::default() }
    }

    fn write_page(
        &self,
        member: &'static str,
        start: usize,
        size: usize,
        revision: Revision,
    ) -> Bytes {
        let end = start.saturating_add(size).min(self.items.len());
        let page = self.items.get(start..end).unwrap_or_default();
        let mut out = Vec::with_capacity(page.len() * 256 + 64);
        out.extend_from_slice(b"{\"");
        out.extend_from_slice(member.as_bytes());
        out.extend_from_slice(b"\":[");
        for (at, item) in page.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            item.write(revision, &mut out);
        }
        out.push(b']');
        if let Some(last) = page.last().filter(|_| end < self.items.len()) {
            let cursor = Position { index: end, name: last.key().to_owned() }.to_cursor(member);
            out.extend_from_slice(b",\"nextCursor\":\"");
            // Hex digits: there is nothing to escape.
            out.extend_from_slice(cursor.as_str().as_bytes());
            out.push(b'"');
        }
        out.push(b'}');
        out.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Item(&'static str);

    impl Listed for Item {
        fn key(&self) -> &str {
            self.0
        }
        fn write(&self, _: Revision, out: &mut Vec<u8>) {
            out.extend_from_slice(format!("\"{}\"", self.0).as_bytes());
        }
    }

    fn walk(registry: &Registry<Item>, size: usize) -> Vec<String> {
        let (mut names, mut cursor) = (Vec::new(), None);
        loop {
            let page = registry.page(cursor.as_ref(), size, Revision::V2025_11_25).unwrap();
            let page: serde_json::Value = serde_json::from_slice(&page).unwrap();
            names.extend(
                page["items"].as_array().unwrap().iter().map(|n| n.as_str().unwrap().to_owned()),
            );
            match page.get("nextCursor") {
                Some(next) => cursor = Some(Cursor::from(next.as_str().unwrap().to_owned())),
                None => return names,
            }
        }
    }

    // Shows: PAGE-004, PAGE-007
    #[test]
    fn every_page_size_walks_the_whole_list_in_order() {
        let registry = Registry::new("items");
        for name in ["d", "a", "c", "b", "e"] {
            assert!(registry.add(Item(name)).is_ok());
        }
        for size in 0..7 {
            assert_eq!(walk(&registry, size), ["d", "a", "c", "b", "e"], "{size}");
        }
    }

    #[test]
    fn a_name_is_taken_once() {
        let registry = Registry::new("items");
        assert!(registry.add(Item("a")).is_ok());
        assert!(registry.add(Item("a")).is_err());
        assert!(registry.remove("a") && !registry.remove("a"));
        assert!(registry.items().is_empty());
    }

    #[test]
    fn a_page_goes_on_where_it_was_when_items_come_and_go() {
        let registry = Registry::new("items");
        for name in ["a", "b", "c", "d"] {
            assert!(registry.add(Item(name)).is_ok());
        }
        let revision = Revision::V2025_11_25;
        let first: serde_json::Value =
            serde_json::from_slice(&registry.page(None, 2, revision).unwrap()).unwrap();
        let cursor = Cursor::from(first["nextCursor"].as_str().unwrap().to_owned());
        registry.remove("a");
        let page = registry.page(Some(&cursor), 2, revision).unwrap();
        assert_eq!(page, r#"{"items":["c","d"]}"#);
        registry.remove("b");
        assert!(registry.page(Some(&cursor), 2, revision).is_ok());
    }
}
