use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use mcp_jsonrpc::ErrorObject;
use mcp_types::{Cursor, Revision};

use crate::access::{Access, Class, Label};
use crate::page::Position;

/// An item of a list.
pub(crate) trait Listed: Send + Sync + 'static {
    /// Unique in the list.
    fn key(&self) -> &str;

    /// What whoever wants to see the item must have been granted.
    fn needs(&self) -> &[Label];

    /// Appends the item's JSON, as `revision` knows it.
    fn write(&self, revision: Revision, out: &mut Vec<u8>);
}

/// Classes of askers whose pages are kept; those of further ones are made for each request.
const MOST_CLASSES: usize = 64;

/// Items by name, in the order in which they were added.
///
/// Readers share a snapshot; whoever changes the list makes a new one, unless nobody reads. The
/// pages of a snapshot are serialized once for each revision, and class of askers, that asks.
pub(crate) struct Registry<T> {
    /// Its name in results, and in cursors.
    member: &'static str,
    snapshot: RwLock<Arc<Snapshot<T>>>,
}

struct Snapshot<T> {
    /// With the number that an item got when it was added.
    items: Vec<(u64, Arc<T>)>,
    index: HashMap<String, u64>,
    next: u64,
    /// Every label that an item needs, sorted.
    labels: Vec<Label>,
    views: Mutex<HashMap<Class, Arc<View>>>,
}

/// The list as one class of askers sees it.
struct View {
    /// Places in `items`, in order.
    visible: Vec<usize>,
    /// By revision and place of the first item, for the pages that a walk from the start meets:
    /// others cost their sender's time only, or a client could fill the memory with cursors.
    pages: Mutex<HashMap<(Revision, usize), Bytes>>,
}

impl<T> Default for Snapshot<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            index: HashMap::new(),
            next: 1,
            labels: Vec::new(),
            views: Mutex::default(),
        }
    }
}

/// Without the views: a copy is made to be changed.
impl<T> Clone for Snapshot<T> {
    fn clone(&self) -> Self {
        Self {
            items: self.items.clone(),
            index: self.index.clone(),
            next: self.next,
            labels: self.labels.clone(),
            views: Mutex::default(),
        }
    }
}

impl<T: Listed> Registry<T> {
    pub(crate) fn new(member: &'static str) -> Self {
        Self { member, snapshot: RwLock::default() }
    }

    /// A registry with the same items, which goes its own way from here on.
    pub(crate) fn fork(&self) -> Self {
        Self { member: self.member, snapshot: RwLock::new(self.snapshot()) }
    }

    fn snapshot(&self) -> Arc<Snapshot<T>> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The item of this name, if there is one that the asker may see.
    pub(crate) fn get(&self, key: &str, access: &Access<'_>) -> Option<Arc<T>> {
        let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner);
        let item = Arc::clone(snapshot.find(key)?);
        drop(snapshot);
        access.allows(item.needs()).then_some(item)
    }

    /// The first item that the asker may see and of which `pick` makes something.
    pub(crate) fn find<R>(
        &self,
        access: &Access<'_>,
        mut pick: impl FnMut(&Arc<T>) -> Option<R>,
    ) -> Option<R> {
        let snapshot = self.snapshot();
        let mut visible = snapshot.items.iter().filter(|(_, item)| access.allows(item.needs()));
        visible.find_map(|(_, item)| pick(item))
    }

    /// Every item, in order.
    pub(crate) fn items(&self) -> Vec<Arc<T>> {
        self.snapshot().items.iter().map(|(_, item)| Arc::clone(item)).collect()
    }

    /// Adds `item`; hands it back when its name is taken.
    pub(crate) fn add(&self, item: T) -> Result<Arc<T>, T> {
        let mut guard = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        if guard.index.contains_key(item.key()) {
            return Err(item);
        }
        let item = Arc::new(item);
        let snapshot = Arc::make_mut(&mut guard);
        snapshot.views = Mutex::default();
        let number = snapshot.next;
        snapshot.next += 1;
        snapshot.index.insert(item.key().to_owned(), number);
        snapshot.items.push((number, Arc::clone(&item)));
        for label in item.needs() {
            if let Err(at) = snapshot.labels.binary_search(label) {
                snapshot.labels.insert(at, label.clone());
            }
        }
        Ok(item)
    }

    /// Removes the item of this name, if there is one.
    pub(crate) fn remove(&self, key: &str) -> Option<Arc<T>> {
        let mut guard = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        if !guard.index.contains_key(key) {
            return None;
        }
        let snapshot = Arc::make_mut(&mut guard);
        snapshot.views = Mutex::default();
        let number = snapshot.index.remove(key)?;
        let at = snapshot.place(number).ok()?;
        // A label that nothing needs any more does no harm: it is left.
        Some(snapshot.items.remove(at).1)
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
        access: &Access<'_>,
    ) -> Result<Bytes, ErrorObject> {
        let after = match cursor {
            None => 0,
            Some(cursor) => Position::from_cursor(self.member, cursor)?.after,
        };
        let size = size.max(1);
        let snapshot = self.snapshot();
        let view = snapshot.view(access);
        let start = view.visible.partition_point(|at| {
            snapshot.items.get(*at).is_some_and(|(number, _)| *number <= after)
        });
        if start % size != 0 {
            return Ok(snapshot.write_page(self.member, &view, start, size, revision));
        }
        let kept = view.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = kept.get(&(revision, start)) {
            return Ok(page.clone());
        }
        drop(kept);
        // Made outside of the lock, perhaps twice: nobody waits for somebody else's page.
        let page = snapshot.write_page(self.member, &view, start, size, revision);
        let mut kept = view.pages.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.entry((revision, start)).or_insert(page).clone())
    }
}

impl<T: Listed> Snapshot<T> {
    fn find(&self, key: &str) -> Option<&Arc<T>> {
        let at = self.place(*self.index.get(key)?).ok()?;
        self.items.get(at).map(|(_, item)| item)
    }

    fn place(&self, number: u64) -> Result<usize, usize> {
        self.items.binary_search_by_key(&number, |(number, _)| *number)
    }

    fn view(&self, access: &Access<'_>) -> Arc<View> {
        let class = access.class(&self.labels);
        let views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = views.get(&class) {
            return Arc::clone(view);
        }
        drop(views);
        let items = self.items.iter().enumerate();
        let visible =
            items.filter(|(_, (_, item))| access.allows(item.needs())).map(|(at, _)| at).collect();
        let view = Arc::new(View { visible, pages: Mutex::default() });
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if views.len() < MOST_CLASSES {
            return Arc::clone(views.entry(class).or_insert(view));
        }
        view
    }

    fn write_page(
        &self,
        member: &'static str,
        view: &View,
        start: usize,
        size: usize,
        revision: Revision,
    ) -> Bytes {
        let end = start.saturating_add(size).min(view.visible.len());
        let page = view.visible.get(start..end).unwrap_or_default();
        let mut out = Vec::with_capacity(page.len() * 256 + 64);
        out.extend_from_slice(b"{\"");
        out.extend_from_slice(member.as_bytes());
        out.extend_from_slice(b"\":[");
        let mut last = None;
        for (number, item) in page.iter().filter_map(|at| self.items.get(*at)) {
            if last.is_some() {
                out.push(b',');
            }
            item.write(revision, &mut out);
            last = Some(*number);
        }
        out.push(b']');
        if let Some(after) = last.filter(|_| end < view.visible.len()) {
            let cursor = Position { after }.to_cursor(member);
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
    use crate::access::Grants;

    struct Item(&'static str, Vec<Label>);

    impl Listed for Item {
        fn key(&self) -> &str {
            self.0
        }
        fn needs(&self) -> &[Label] {
            &self.1
        }
        fn write(&self, _: Revision, out: &mut Vec<u8>) {
            out.extend_from_slice(format!("\"{}\"", self.0).as_bytes());
        }
    }

    fn registry(names: &[&'static str]) -> Registry<Item> {
        let registry = Registry::new("items");
        for name in names {
            assert!(registry.add(Item(name, Vec::new())).is_ok());
        }
        registry
    }

    fn page(
        registry: &Registry<Item>,
        cursor: Option<&Cursor>,
        size: usize,
        access: &Access<'_>,
    ) -> (Vec<String>, Option<Cursor>) {
        let page = registry.page(cursor, size, Revision::V2025_11_25, access).unwrap();
        let page: serde_json::Value = serde_json::from_slice(&page).unwrap();
        let names = page["items"].as_array().unwrap().iter();
        let next = page.get("nextCursor").and_then(|next| next.as_str());
        (
            names.map(|name| name.as_str().unwrap().to_owned()).collect(),
            next.map(|next| Cursor::from(next.to_owned())),
        )
    }

    fn walk(registry: &Registry<Item>, size: usize, access: &Access<'_>) -> Vec<String> {
        let (mut names, mut cursor) = (Vec::new(), None);
        loop {
            let (more, next) = page(registry, cursor.as_ref(), size, access);
            names.extend(more);
            cursor = next;
            if cursor.is_none() {
                return names;
            }
        }
    }

    // Shows: PAGE-003, PAGE-004
    #[test]
    fn every_page_size_walks_the_whole_list_in_order() {
        let registry = registry(&["d", "a", "c", "b", "e"]);
        for size in 0..7 {
            assert_eq!(walk(&registry, size, &Access::none()), ["d", "a", "c", "b", "e"], "{size}");
        }
    }

    #[test]
    fn a_name_is_taken_once() {
        let registry = registry(&["a"]);
        assert!(registry.add(Item("a", Vec::new())).is_err());
        assert!(registry.remove("a").is_some() && registry.remove("a").is_none());
        assert!(registry.items().is_empty());
    }

    // Shows: PAGE-005
    #[test]
    fn a_page_goes_on_where_it_was_when_items_come_and_go() {
        let none = &Access::none();
        for removed in [&["a"][..], &["b"], &["a", "b"], &["a", "b", "c"], &[]] {
            let registry = registry(&["a", "b", "c", "d"]);
            let (first, cursor) = page(&registry, None, 2, none);
            assert_eq!(first, ["a", "b"]);
            for name in removed {
                registry.remove(name);
            }
            let again = removed.contains(&"b") && registry.add(Item("b", Vec::new())).is_ok();
            let rest = walk_from(&registry, cursor, 2);
            let expected = ["c", "d"].into_iter().filter(|name| !removed.contains(name));
            let expected: Vec<_> = expected.chain(again.then_some("b")).collect();
            assert_eq!(rest, expected, "{removed:?}");
        }
    }

    fn walk_from(
        registry: &Registry<Item>,
        mut cursor: Option<Cursor>,
        size: usize,
    ) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(here) = cursor {
            let (more, next) = page(registry, Some(&here), size, &Access::none());
            names.extend(more);
            cursor = next;
        }
        names
    }

    #[test]
    fn made_up_cursors_do_not_fill_the_memory() {
        let registry = registry(&["a", "b", "c", "d", "e"]);
        for after in 0..1000 {
            let cursor = Position { after }.to_cursor("items");
            page(&registry, Some(&cursor), 2, &Access::none());
        }
        let snapshot = registry.snapshot();
        let views = snapshot.views.lock().unwrap();
        let kept: usize = views.values().map(|view| view.pages.lock().unwrap().len()).sum();
        assert_eq!(kept, 3);
    }

    #[test]
    fn each_class_walks_its_own_list() {
        let registry = registry(&["a", "b"]);
        for (name, needs) in [("c", vec!["x"]), ("d", vec!["x", "y"]), ("e", vec![])] {
            let needs = needs.into_iter().map(Label::from).collect();
            assert!(registry.add(Item(name, needs)).is_ok());
        }
        for (granted, expected) in [
            (&[][..], &["a", "b", "e"][..]),
            (&["x"], &["a", "b", "c", "e"]),
            (&["y"], &["a", "b", "e"]),
            (&["y", "x", "z"], &["a", "b", "c", "d", "e"]),
        ] {
            let access = Access::of(Grants::new(granted.iter().copied()));
            for size in 1..7 {
                assert_eq!(walk(&registry, size, &access), expected, "{granted:?} {size}");
            }
            assert_eq!(registry.get("d", &access).is_some(), expected.contains(&"d"));
        }
    }

    #[test]
    fn the_number_of_classes_that_are_kept_is_bounded() {
        let registry = Registry::new("items");
        let labels: Vec<String> = (0..100).map(|number| format!("l{number}")).collect();
        for (name, label) in ["a", "b", "c"].into_iter().zip(&labels) {
            assert!(registry.add(Item(name, vec![Label::from(label.as_str())])).is_ok());
        }
        // A label that nothing needs makes no class of its own.
        for label in &labels {
            walk(&registry, 2, &Access::of(Grants::new([label.as_str()])));
        }
        assert_eq!(registry.snapshot().views.lock().unwrap().len(), 4);
    }
}
