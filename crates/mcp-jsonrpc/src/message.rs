use crate::{ErrorObject, Name, RawJson, RequestId};

/// One JSON-RPC message whose envelope has been read.
///
/// `params` and `result` are still raw: they share the memory of the frame.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// Wants a response.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Is one.
    Response(Response),
}

/// A message that wants a response.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// Comes back in the response.
    pub id: RequestId,
    /// What is wanted.
    pub method: Name,
    /// An object, when there are any.
    pub params: Option<RawJson>,
}

impl Request {
    /// A request as it might have come in.
    pub fn new(id: impl Into<RequestId>, method: impl Into<Name>, params: Option<RawJson>) -> Self {
        Self { id: id.into(), method: method.into(), params }
    }
}

/// A message that wants no response.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Notification {
    /// What has happened.
    pub method: Name,
    /// An object, when there are any.
    pub params: Option<RawJson>,
}

impl Notification {
    /// A notification as it might have come in.
    pub fn new(method: impl Into<Name>, params: Option<RawJson>) -> Self {
        Self { method: method.into(), params }
    }
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Response {
    /// The request's id; absent when the peer could not read it.
    pub id: Option<RequestId>,
    /// The result, or what went wrong.
    pub outcome: Result<RawJson, ErrorObject>,
}

impl Response {
    /// A response as it might have come in.
    #[must_use]
    pub fn new(id: Option<RequestId>, outcome: Result<RawJson, ErrorObject>) -> Self {
        Self { id, outcome }
    }
}

impl Message {
    /// The method of a request or a notification.
    #[must_use]
    pub fn method(&self) -> Option<&Name> {
        match self {
            Self::Request(request) => Some(&request.method),
            Self::Notification(notification) => Some(&notification.method),
            Self::Response(_) => None,
        }
    }

    /// The id of a request, or of a response that has one.
    #[must_use]
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Request(request) => Some(&request.id),
            Self::Notification(_) => None,
            Self::Response(response) => response.id.as_ref(),
        }
    }

    /// The parameters of a request or a notification.
    #[must_use]
    pub fn params(&self) -> Option<&RawJson> {
        match self {
            Self::Request(request) => request.params.as_ref(),
            Self::Notification(notification) => notification.params.as_ref(),
            Self::Response(_) => None,
        }
    }
}
