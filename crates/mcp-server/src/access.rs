//! Who may see what: decided in one place, by labels.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::Extensions;
use mcp_lifecycle::{Caller, PeerFacts, Session};

/// A label that items need and askers are granted.
pub(crate) type Label = Arc<str>;

/// The labels, of those that matter, that a class of askers was granted: they see the same.
pub(crate) type Class = Box<[Label]>;

/// What somebody was granted: a set of labels, such as roles, scopes or tenants.
///
/// Tools, resources and prompts say what they need by `needs` of their entry.
/// [`Server::grants`](crate::Server::grants) says what the asker of a request was granted. Who
/// lacks a label doesn't find the item in a list, and can't use it either: it answers as if it
/// weren't there.
///
/// ```
/// use mcp_server::Grants;
///
/// let grants = Grants::new(["staff", "tenant-7"]);
/// assert!(grants.contains("staff") && !Grants::none().contains("staff"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Grants(Arc<[Label]>);

impl Grants {
    /// These labels.
    pub fn new<L: Into<Arc<str>>>(labels: impl IntoIterator<Item = L>) -> Self {
        let mut labels: Vec<Label> = labels.into_iter().map(Into::into).collect();
        labels.sort_unstable();
        labels.dedup();
        Self(labels.into())
    }

    /// Nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether the label is among those granted.
    #[must_use]
    pub fn contains(&self, label: &str) -> bool {
        self.0.binary_search_by(|known| (**known).cmp(label)).is_ok()
    }
}

/// Who sends a request, for [`Server::grants`](crate::Server::grants) to judge.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a>(&'a Extensions);

impl<'a> Asker<'a> {
    /// A fact that a transport, a guard or a layer has left, such as a principal.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&'a T> {
        self.0.get()
    }

    /// What the client says it is. A claim: no basis for what matters.
    #[must_use]
    pub fn caller(&self) -> Option<&'a Caller> {
        self.0.get::<PeerFacts>().map(|facts| &*facts.caller)
    }

    /// The session, where there is one.
    #[must_use]
    pub fn session(&self) -> Option<&'a Session> {
        self.0.get()
    }
}

/// Judges an asker.
pub(crate) type GrantFn = Arc<dyn Fn(&Asker<'_>) -> Grants + Send + Sync>;

/// What the asker of one request may see. Nobody is judged before it matters.
pub(crate) struct Access<'a> {
    judge: Option<(&'a GrantFn, &'a Extensions)>,
    grants: OnceCell<Grants>,
}

impl<'a> Access<'a> {
    /// Of somebody who was granted nothing.
    #[cfg(test)]
    pub(crate) fn none() -> Access<'static> {
        Access::of(Grants::none())
    }

    pub(crate) fn new(judge: Option<&'a GrantFn>, extensions: &'a Extensions) -> Self {
        Self { judge: judge.map(|judge| (judge, extensions)), grants: OnceCell::new() }
    }

    /// Of somebody who was granted this.
    pub(crate) fn of(grants: Grants) -> Access<'static> {
        Access { judge: None, grants: OnceCell::from(grants) }
    }

    pub(crate) fn grants(&self) -> &Grants {
        self.grants.get_or_init(|| match self.judge {
            Some((judge, extensions)) => judge(&Asker(extensions)),
            // Nobody was asked, so nothing was granted.
            None => Grants::none(),
        })
    }

    pub(crate) fn allows(&self, needs: &[Label]) -> bool {
        needs.is_empty() || {
            let grants = self.grants();
            needs.iter().all(|label| grants.contains(label))
        }
    }

    /// Which of `labels`, which are sorted, were granted.
    pub(crate) fn class(&self, labels: &[Label]) -> Class {
        if labels.is_empty() {
            return Class::default();
        }
        let grants = self.grants();
        labels.iter().filter(|label| grants.contains(label)).cloned().collect()
    }
}

impl fmt::Debug for Access<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("grants", &self.grants.get()).finish_non_exhaustive()
    }
}
