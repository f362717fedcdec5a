//! What callers may count on.

use std::sync::Arc;

use mcp_jsonrpc::link::v1::{Incoming, Link, LinkError, LinkFeatures, Stream};
use mcp_jsonrpc::link::{MemoryLink, memory_pair};
use mcp_jsonrpc::peer::{
    Arrival, Driver, DriverConfig, Event, NotificationVerdict, Peer, PendingCall, Protocol,
    RequestVerdict,
};
use mcp_jsonrpc::service::v1::{
    Ask, AskError, Call, CancelSignal, DynService, Inbound, Outlet, PeerOutlet, Replies, Reply,
    ReplySink, SendError, Service, SharedService, TrySendError,
};
use mcp_jsonrpc::{
    EncodeError, ErrorObject, Extensions, Fault, FaultKind, Frame, Head, InvalidId, Limits,
    Message, Name, Notification, Outgoing, RawJson, Request, RequestId, Response,
};

fn send_sync<T: Send + Sync + 'static>() {}
fn send<T: Send + 'static>() {}

struct Rules;

impl Protocol for Rules {
    fn request(&mut self, _: &Request, _: Arrival) -> RequestVerdict {
        RequestVerdict::Serve(Extensions::new())
    }
    fn notification(&mut self, _: &Notification, _: Arrival) -> NotificationVerdict {
        NotificationVerdict::Drop
    }
}

struct Silent;

impl Service for Silent {
    async fn call(&self, _: Inbound, _: Replies) -> Reply {
        Reply::Silent
    }
}

#[test]
fn everything_may_go_to_another_thread() {
    send_sync::<(RequestId, InvalidId, Name, RawJson, Message, Request, Notification, Response)>();
    send_sync::<(ErrorObject, Limits, Fault, FaultKind, Frame, Outgoing, Head, EncodeError)>();
    send_sync::<(Extensions, Incoming, Stream, LinkError, LinkFeatures, MemoryLink)>();
    send_sync::<(SharedService, Inbound, Call, Reply, Replies, CancelSignal, PeerOutlet)>();
    send_sync::<(Ask, AskError, SendError, TrySendError, DriverConfig, Peer, PendingCall)>();
    send_sync::<(Arrival, RequestVerdict, NotificationVerdict, Event<'static>)>();
    send_sync::<(Arc<dyn DynService>, Arc<dyn ReplySink>, Arc<dyn Outlet>)>();
    send::<(Box<dyn Link>, Driver<MemoryLink, Rules, Silent>)>();
    let (driver, _) = Driver::new(memory_pair(1).0, Silent, DriverConfig::new(), |_| Rules);
    let run: Box<dyn Future<Output = LinkError> + Send> = Box::new(driver.run());
    drop(run);
}

#[test]
fn a_message_is_no_larger_than_it_was() {
    assert_eq!(size_of::<RequestId>(), 24);
    assert_eq!(size_of::<Name>(), 32);
    assert!(size_of::<Message>() <= 104, "{}", size_of::<Message>());
}
