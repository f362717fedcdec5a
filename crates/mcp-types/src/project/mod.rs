//! What an older peer gets to see.

mod cancelled;
mod content;
mod elicitation;
mod sampling;
mod tools;

use crate::{json::OrderedMap, revision::Revision};

/// A value that can be taken back to what a peer of some revision knows.
///
/// Three laws hold: for a peer of the newest stateful revision nothing changes; doing it twice
/// is doing it once; and what comes out is valid in the schema of the revision, if the value
/// [`fits`](Self::fits).
///
/// Members that the revision doesn't have are dropped, kinds of content that it doesn't have
/// become ones that it does. Members that no revision knows, in `extra`, stay.
///
/// This is an **open** trait: implement it for your own messages. New methods always come with
/// a default body.
///
/// ```
/// use mcp_types::{Implementation, Project, Revision};
///
/// let mut server = Implementation::new("weather", "1.0").with_title("Weather");
/// server.project(Revision::V2025_03_26);
/// assert_eq!(server.title, None);
/// ```
pub trait Project {
    /// Takes the value back to what a peer of revision `to` knows.
    fn project(&mut self, to: Revision);

    /// Whether the value means the same to a peer of revision `to` after it was projected.
    ///
    /// # Errors
    ///
    /// [`DoesNotFit`] says what the peer has no words for. Such a value is not to be sent.
    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        let _ = to;
        Ok(())
    }
}

/// A value holds something that a revision has no words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DoesNotFit {
    /// Elicitation.
    #[error("{to} has no elicitation")]
    Elicitation {
        /// The peer's revision.
        to: Revision,
    },
    /// Elicitation by URL.
    #[error("{to} has no elicitation by URL")]
    UrlElicitation {
        /// The peer's revision.
        to: Revision,
    },
    /// A form with a multiple choice.
    #[error("{to} has no multiple choice in forms")]
    MultiSelect {
        /// The peer's revision.
        to: Revision,
    },
    /// Sampling with tools.
    #[error("{to} has no tools in sampling")]
    SamplingTools {
        /// The peer's revision.
        to: Revision,
    },
    /// A cancellation that doesn't say of what.
    #[error("in {to} a cancellation names its request")]
    CancelledWithoutId {
        /// The peer's revision.
        to: Revision,
    },
    /// A sampling message of no block, or of several.
    #[error("{to} has exactly one block of content in a sampling message")]
    ContentList {
        /// The peer's revision.
        to: Revision,
    },
}

impl<T: Project> Project for Option<T> {
    fn project(&mut self, to: Revision) {
        if let Some(value) = self {
            value.project(to);
        }
    }

    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        self.as_ref().map_or(Ok(()), |value| value.fits(to))
    }
}

impl<T: Project> Project for Vec<T> {
    fn project(&mut self, to: Revision) {
        for value in self {
            value.project(to);
        }
    }

    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        self.iter().try_for_each(|value| value.fits(to))
    }
}

impl<T: Project> Project for Box<T> {
    fn project(&mut self, to: Revision) {
        T::project(self, to);
    }

    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        T::fits(self, to)
    }
}

impl<T: Project> Project for OrderedMap<T> {
    fn project(&mut self, to: Revision) {
        for value in self.values_mut() {
            value.project(to);
        }
    }

    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        self.iter().try_for_each(|(_, value)| value.fits(to))
    }
}
