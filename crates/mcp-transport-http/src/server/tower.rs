//! The endpoint as a `tower` service.

use std::convert::Infallible;
use std::task::{Context, Poll};

use hyper::body::Body;
use hyper::{Request, Response};

use super::body::AnswerBody;
use super::endpoint::Endpoint;

/// Always ready: what is too much is answered by 503.
impl<B> tower_service::Service<Request<B>> for Endpoint
where
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = <Self as hyper::service::Service<Request<B>>>::Future;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        hyper::service::Service::call(self, request)
    }
}
