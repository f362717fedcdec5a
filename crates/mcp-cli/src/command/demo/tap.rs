//! A link that shows what goes over it.

use std::task::{Context, Poll};

use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError, LinkFeatures};
use mcp_jsonrpc::{Message, Outgoing, RequestId};

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Sent,
    Received,
}

/// Shows each message, as it is on the wire, and hands it on.
pub(super) struct Tap<L, F> {
    link: L,
    show: F,
}

impl<L: Link, F: Fn(Way, &str) + Send + 'static> Tap<L, F> {
    pub(super) const fn new(link: L, show: F) -> Self {
        Self { link, show }
    }

    fn received(&self, message: &Message) {
        (self.show)(Way::Received, &text(&written(message.clone())));
    }
}

/// A message that was read, as it was written.
fn written(message: Message) -> Outgoing {
    match message {
        Message::Request(request) => {
            Outgoing::request_raw(request.id, request.method, request.params.as_ref())
        }
        Message::Notification(notification) => {
            Outgoing::notification_raw(notification.method, notification.params.as_ref())
        }
        Message::Response(response) => match (response.outcome, response.id) {
            (Ok(result), Some(id)) => Outgoing::result_raw(id, result.as_bytes()),
            (Err(error), id) => Outgoing::error(id, &error),
            // A result names its request, or it is no message.
            (Ok(result), None) => Outgoing::result_raw(RequestId::from(""), result.as_bytes()),
        },
        // There are no others.
        _ => Outgoing::notification_raw("?".into(), None),
    }
}

fn text(message: &Outgoing) -> String {
    String::from_utf8_lossy(message.frame()).into_owned()
}

impl<L: Link, F: Fn(Way, &str) + Send + 'static> Link for Tap<L, F> {
    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Incoming, LinkError>> {
        let incoming = self.link.poll_recv(cx);
        if let Poll::Ready(Ok(Incoming::Message(message, _))) = &incoming {
            self.received(message);
        }
        incoming
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.link.poll_ready(cx)
    }

    fn start_send(&mut self, message: Outgoing) -> Result<(), LinkError> {
        (self.show)(Way::Sent, &text(&message));
        self.link.start_send(message)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.link.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.link.poll_close(cx)
    }

    fn abandon(&mut self, id: &RequestId, notice: Option<Outgoing>) -> Result<(), LinkError> {
        if let Some(notice) = &notice {
            (self.show)(Way::Sent, &text(notice));
        }
        self.link.abandon(id, notice)
    }

    fn features(&self) -> LinkFeatures {
        self.link.features()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::task::Waker;

    use mcp_jsonrpc::link::memory_pair;

    use super::*;

    #[test]
    fn what_goes_over_a_link_is_shown_as_it_is() {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&shown);
        let (here, mut there) = memory_pair(4);
        let mut tap = Tap::new(here, move |way, text: &str| {
            log.lock().unwrap().push((way, text.to_owned()));
        });
        tap.start_send(Outgoing::request_raw(1.into(), "ping".into(), None)).unwrap();
        there.start_send(Outgoing::result_raw(1.into(), b"{\"x\": 1}")).unwrap();
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(tap.poll_recv(cx).is_ready());
        assert_eq!(
            *shown.lock().unwrap(),
            [
                (Way::Sent, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned()),
                (Way::Received, r#"{"jsonrpc":"2.0","id":1,"result":{"x": 1}}"#.to_owned()),
            ]
        );
    }
}
