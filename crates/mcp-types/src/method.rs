//! The method table: who may send what, since when, and what for.

use std::{fmt, str::FromStr};

use serde::{Serialize, de::DeserializeOwned};

use crate::{generated::methods::Method, revision::Revision};

/// What a method is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MethodKind {
    /// It is answered.
    Request,
    /// It isn't.
    Notification,
}

/// Who sends a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// The client.
    ClientToServer,
    /// The server.
    ServerToClient,
    /// Either side.
    Both,
}

/// One of the two sides of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// Which capability a method needs, and whose.
///
/// The path is in the words of the wire, with points between: `resources.subscribe`. See
/// [`ServerCapabilities::has`](crate::ServerCapabilities::has) and
/// [`ClientCapabilities::has`](crate::ClientCapabilities::has).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CapabilityNeed {
    /// Of the side that sends the message.
    Sender(&'static str),
    /// Of the side that receives it.
    Receiver(&'static str),
}

/// A request, for code that is generic over methods.
///
/// This is a **sealed** trait in spirit: the types that implement it are generated, one a
/// request, named as in the specification. An extension may implement it for its own.
pub trait Request {
    /// The method.
    const METHOD: Method;
    /// What is sent.
    type Params: Serialize + DeserializeOwned + Send + 'static;
    /// What is answered.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// A notification, for code that is generic over methods.
///
/// This is a **sealed** trait in spirit, as [`Request`] is.
pub trait Notification {
    /// The method.
    const METHOD: Method;
    /// What is sent.
    type Params: Serialize + DeserializeOwned + Send + 'static;
}

/// One row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) kind: MethodKind,
    pub(crate) direction: Direction,
    pub(crate) params: &'static str,
    pub(crate) result: Option<&'static str>,
    pub(crate) needs: Option<Needs>,
    pub(crate) since: Revision,
    pub(crate) until: Option<Revision>,
    pub(crate) idempotent: bool,
    pub(crate) cacheable: bool,
    pub(crate) input: bool,
    pub(crate) named_by: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(crate) struct Needs {
    pub(crate) need: CapabilityNeed,
    pub(crate) since: Revision,
}

/// A text that is no method of any revision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no known method")]
pub struct UnknownMethod {
    name: String,
}

impl UnknownMethod {
    /// The text.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Method {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().name
    }

    /// Whether it is a request or a notification.
    #[must_use]
    pub const fn kind(self) -> MethodKind {
        self.row().kind
    }

    /// Whether it is a request.
    #[must_use]
    pub const fn is_request(self) -> bool {
        matches!(self.row().kind, MethodKind::Request)
    }

    /// Who sends it.
    #[must_use]
    pub const fn direction(self) -> Direction {
        self.row().direction
    }

    /// Whether `side` may send it.
    #[must_use]
    pub const fn may_be_sent_by(self, side: Side) -> bool {
        matches!(
            (self.row().direction, side),
            (Direction::Both, _)
                | (Direction::ClientToServer, Side::Client)
                | (Direction::ServerToClient, Side::Server)
        )
    }

    /// The first revision that has it.
    #[must_use]
    pub const fn since(self) -> Revision {
        self.row().since
    }

    /// The last revision that has it; none if the newest one does.
    #[must_use]
    pub const fn until(self) -> Option<Revision> {
        self.row().until
    }

    /// Whether `revision` has it.
    #[must_use]
    pub const fn exists_in(self, revision: Revision) -> bool {
        let row = self.row();
        let ended = match row.until {
            Some(until) => until.is_before(revision),
            None => false,
        };
        !revision.is_before(row.since) && !ended
    }

    /// The capability that has to be negotiated, if `revision` has one for it.
    #[must_use]
    pub const fn capability(self, revision: Revision) -> Option<CapabilityNeed> {
        match self.row().needs {
            Some(needs) if !revision.is_before(needs.since) => Some(needs.need),
            _ => None,
        }
    }

    /// The name of the params' type.
    #[must_use]
    pub const fn params_type(self) -> &'static str {
        self.row().params
    }

    /// The name of the result's type; none for notifications.
    #[must_use]
    pub const fn result_type(self) -> Option<&'static str> {
        self.row().result
    }

    /// Whether sending it again does no harm, when it isn't known whether it arrived.
    #[must_use]
    pub const fn is_idempotent(self) -> bool {
        self.row().idempotent
    }

    /// Whether its result may be kept for later, from 2026-07-28 on.
    #[must_use]
    pub const fn is_cacheable(self) -> bool {
        self.row().cacheable
    }

    /// Whether it may be answered by a wish for input, from 2026-07-28 on.
    #[must_use]
    pub const fn may_answer_input_required(self) -> bool {
        self.row().input
    }

    /// The member of its params that names what it is about: `name`, `uri` or `taskId`.
    #[must_use]
    pub const fn named_by(self) -> Option<&'static str> {
        self.row().named_by
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        Self::from_name(name).ok_or_else(|| UnknownMethod { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_method() {
        for method in Method::ALL {
            assert_eq!(method.as_str().parse(), Ok(method));
            assert_eq!(method.is_request(), method.result_type().is_some());
            assert_eq!(method.is_request(), !method.as_str().starts_with("notifications/"));
        }
        assert_eq!("tools/List".parse::<Method>().unwrap_err().name(), "tools/List");
    }

    #[test]
    fn a_method_exists_from_its_first_to_its_last_revision() {
        let has = |method: Method| Revision::ALL.map(|r| method.exists_in(r));
        assert_eq!(has(Method::ToolsCall), [true; 5]);
        assert_eq!(has(Method::TasksGet), [false, false, false, true, false]);
        assert_eq!(has(Method::ElicitationCreate), [false, false, true, true, false]);
        assert_eq!(has(Method::ServerDiscover), [false, false, false, false, true]);
    }

    #[test]
    fn completion_has_no_capability_in_the_first_revision() {
        let need = |r| Method::CompletionComplete.capability(r);
        assert_eq!(need(Revision::V2024_11_05), None);
        assert_eq!(need(Revision::V2025_03_26), Some(CapabilityNeed::Receiver("completions")));
    }

    #[test]
    fn directions_are_told_apart() {
        assert!(Method::ToolsCall.may_be_sent_by(Side::Client));
        assert!(!Method::ToolsCall.may_be_sent_by(Side::Server));
        assert!(Method::Ping.may_be_sent_by(Side::Server));
    }
}
