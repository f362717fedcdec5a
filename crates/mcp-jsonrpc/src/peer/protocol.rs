use crate::link::v1::LinkError;
use crate::service::v1::Reply;
use crate::{ErrorObject, Extensions, Fault, Name, Notification, Outgoing, Request, RequestId};

/// The rules of a protocol on top of JSON-RPC, for one peer. It does no I/O: it is told what
/// came in, and says what is to be done.
///
/// This is an **open** trait. New methods always come with a default body.
///
/// The [`Driver`](super::Driver) calls it from one task, in the order in which messages came in.
pub trait Protocol: Send + 'static {
    /// A request came in.
    fn request(&mut self, request: &Request, arrival: Arrival) -> RequestVerdict;

    /// A notification came in.
    fn notification(
        &mut self,
        notification: &Notification,
        arrival: Arrival,
    ) -> NotificationVerdict;

    /// The service has answered the request `id`, and the answer is about to be sent.
    fn answered(&mut self, id: &RequestId, method: &Name, reply: &Reply) {
        let _ = (id, method, reply);
    }

    /// The answer to a frame that is no message; `None` when it gets none. What would have been a
    /// response or a notification gets none in any case.
    fn malformed(&mut self, fault: &Fault) -> Option<Outgoing> {
        fault.is_answered().then(|| Outgoing::error(fault.id.clone(), &fault.to_error()))
    }

    /// Whether the peer may send batches now.
    fn batches(&self) -> bool {
        false
    }

    /// The notification that tells the peer that we have given up our request `id`; `None`
    /// when it must not be told.
    fn abandon(&mut self, id: &RequestId, method: &Name, reason: Option<&str>) -> Option<Outgoing> {
        let _ = (id, method, reason);
        None
    }

    /// [`abandon`](Self::abandon), for a request that was sent with `notes`: what a driver calls.
    fn abandon_noted(
        &mut self,
        id: &RequestId,
        method: &Name,
        notes: &Extensions,
        reason: Option<&str>,
    ) -> Option<Outgoing> {
        let _ = notes;
        self.abandon(id, method, reason)
    }

    /// The error for a request that came in while too many others were being served.
    fn overloaded(&self) -> ErrorObject {
        ErrorObject::internal("too many requests at once")
    }

    /// Something happened that nobody is told about otherwise.
    fn observe(&mut self, event: &Event<'_>) {
        let _ = event;
    }
}

/// How a message came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrival {
    /// It was a member of a batch.
    pub in_batch: bool,
}

/// What is to be done with a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RequestVerdict {
    /// The service answers it; the extensions are what it gets to know.
    Serve(Extensions),
    /// It is answered by an error.
    Refuse(ErrorObject),
}

/// What is to be done with a notification.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NotificationVerdict {
    /// The service takes it; the extensions are what it gets to know.
    Serve(Extensions),
    /// The peer has canceled its request `id`.
    Cancel {
        /// The request. An unknown one is ignored: its response may have crossed.
        id: RequestId,
    },
    /// It is ignored.
    Drop,
}

/// What a [`Driver`](super::Driver) tells its [`Protocol`] beside messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A response came in that no request of ours waits for: it was unknown, or came late.
    UnknownResponse {
        /// Its id.
        id: Option<&'a RequestId>,
    },
    /// The peer reports an error that belongs to no request: one whose id it could not read.
    PeerError {
        /// What it said.
        error: &'a ErrorObject,
    },
    /// A notification was dropped, since too many exchanges were open.
    NotificationDropped {
        /// Its method.
        method: &'a Name,
    },
    /// A request of the peer was canceled by it, and its exchange ended without a response.
    Canceled {
        /// The request.
        id: &'a RequestId,
    },
    /// The service panicked. A request was answered by an internal error.
    Panicked {
        /// The method of the request or notification.
        method: &'a Name,
    },
    /// The peer sends nothing more.
    Ended {
        /// Why.
        cause: &'a LinkError,
    },
}
