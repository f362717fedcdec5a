//! What the stateful era remembers about a peer between exchanges.

mod attachments;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use mcp_jsonrpc::Extensions;
use mcp_types::{LoggingLevel, Revision};

use self::attachments::Attachments;
pub use self::attachments::TooManyAttachments;
use crate::Caller;

/// What the stateful era remembers about one client between its exchanges.
///
/// Found by type in the extensions of what came in, where there is one: no code may need it,
/// since the stateless era has none. Shared, small, and without a lock.
#[derive(Debug)]
pub struct Session {
    id: Id,
    caller: Arc<Caller>,
    /// An index into [`LEVELS`], or past its end for none.
    log_level: AtomicU8,
    initialized: AtomicBool,
    attachments: Attachments,
}

/// A session's name is a secret over HTTP, so it isn't printed.
struct Id(Option<Arc<str>>);

/// From the most talkative to the most serious.
const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

impl Session {
    /// A session with `caller`, and a name where the medium has one.
    #[must_use]
    pub fn new(id: Option<Arc<str>>, caller: Arc<Caller>) -> Self {
        Self {
            id: Id(id),
            caller,
            log_level: AtomicU8::new(u8::MAX),
            initialized: AtomicBool::new(false),
            attachments: Attachments::default(),
        }
    }

    /// The session that `extensions` know of.
    #[must_use]
    pub fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }

    /// Its name. Over HTTP it is a secret: keep it out of logs.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.0.as_deref()
    }

    /// Who is on the other side.
    #[must_use]
    pub const fn caller(&self) -> &Arc<Caller> {
        &self.caller
    }

    /// The revision that was negotiated.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.caller.revision
    }

    /// The level from which on the client wants log messages; `None` while it hasn't said.
    #[must_use]
    pub fn log_level(&self) -> Option<LoggingLevel> {
        LEVELS.get(usize::from(self.log_level.load(Ordering::Relaxed))).copied()
    }

    /// The client says from which level on it wants log messages. Exchanges under way notice.
    pub fn set_log_level(&self, level: LoggingLevel) {
        let index = LEVELS.iter().position(|known| *known == level);
        // There are eight levels, so the index fits.
        let index = index.and_then(|index| u8::try_from(index).ok()).unwrap_or(u8::MAX);
        self.log_level.store(index, Ordering::Relaxed);
    }

    /// Whether the client has said that it is ready. Before that, a server may send it log
    /// messages and pings, and nothing else.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        self.initialized.load(Ordering::Acquire)
    }

    pub(crate) fn set_initialized(&self) {
        self.initialized.store(true, Ordering::Release);
    }

    /// The value of type `T` that a layer has attached, if one has.
    #[must_use]
    pub fn attached<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.attachments.get()
    }

    /// The value of type `T` that a layer has attached; attaches the one that `make` makes if
    /// there is none. It stays until the session ends.
    ///
    /// When several threads attach at once all get the same value, and `make` may have been
    /// called in vain.
    ///
    /// # Errors
    ///
    /// [`TooManyAttachments`] when there are 16 of other types.
    pub fn attach<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce() -> T,
    ) -> Result<&T, TooManyAttachments> {
        self.attachments.get_or_insert(make)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "<redacted>" } else { "None" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: Option<&str>) -> Session {
        let caller = Caller::new(Revision::V2025_06_18, Default::default());
        Session::new(id.map(Arc::from), Arc::new(caller))
    }

    #[test]
    fn every_level_is_kept() {
        let session = session(None);
        assert_eq!(session.log_level(), None);
        for level in LEVELS {
            session.set_log_level(level);
            assert_eq!(session.log_level(), Some(level));
        }
    }

    #[test]
    fn the_name_is_not_printed() {
        let session = session(Some("secret"));
        assert_eq!(session.id(), Some("secret"));
        assert!(!format!("{session:?}").contains("secret"));
    }

    #[test]
    fn it_is_found_by_type() {
        let mut extensions = Extensions::new();
        assert!(Session::of(&extensions).is_none());
        extensions.insert_arc(Arc::new(session(Some("a"))));
        let found = Session::of(&extensions).unwrap();
        assert_eq!((found.id(), found.revision()), (Some("a"), Revision::V2025_06_18));
        assert!(!found.is_initialized());
        assert_eq!(found.attach(|| 7u8), Ok(&7));
        assert_eq!(found.attached::<u8>(), Some(&7));
    }
}
