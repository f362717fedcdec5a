//! The client's machine against the server's, by hand, over a medium that loses, doubles and
//! reorders messages, from a seed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_types,
    reason = "a test may fail, and its tools may share"
)]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{Dice, implementation, notification, raw, request, whole_client, whole_server};
use mcp_jsonrpc::peer::{Arrival, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::service::v1::Reply;
use mcp_jsonrpc::{
    Extensions, Message, Notification, Outgoing, RawJson, Request, RequestId, Response,
};
use mcp_lifecycle::{
    ClientHandle, ClientPhase, ClientProfile, ClientSession, Negotiated, PeerFacts, Phase, Profile,
    RevisionSet, ServerSession, Session,
};
use mcp_types::{InitializeResult, Method, Revision};

/// What the medium does to messages, in percent.
#[derive(Clone, Copy, Debug)]
struct Faults {
    lost: u64,
    doubled: u64,
    reordered: u64,
}

const NONE: Faults = Faults { lost: 0, doubled: 0, reordered: 0 };

const CALLS: i64 = 8;

struct Pair {
    dice: Dice,
    faults: Faults,
    handle: ClientHandle,
    client: ClientSession,
    server: ServerSession,
    to_client: Vec<Message>,
    to_server: Vec<Message>,
    /// What the server's service is busy with.
    serving: Vec<Request>,
    /// What the server has let go since the client canceled it.
    canceled: BTreeSet<RequestId>,
    /// What the client waits for.
    waiting: BTreeSet<RequestId>,
    answered: usize,
    next: i64,
    /// The session of the first agreement.
    session: Option<Arc<Session>>,
}

fn method(message: &Message) -> &str {
    message.method().map_or("", |name| name.as_str())
}

impl Pair {
    fn new(seed: u64, faults: Faults) -> Self {
        let mut dice = Dice(seed * 2 + 1);
        dice.below(2);
        let spoken = |dice: &mut Dice| {
            let some = Revision::STATEFUL.into_iter().filter(|_| dice.below(3) > 0);
            RevisionSet::from_iter(some).with(Revision::V2024_11_05)
        };
        let profile = ClientProfile::new(implementation("c"))
            .with_capabilities(whole_client())
            .with_revisions(spoken(&mut dice));
        let handle = ClientHandle::new(profile);
        let offered = Profile::new(whole_server()).with_revisions(spoken(&mut dice));
        let client = ClientSession::new(handle.clone(), None, Extensions::new());
        let server = ServerSession::new(Arc::new(offered), None, None, Extensions::new());
        Self {
            dice,
            faults,
            handle,
            client,
            server,
            to_client: Vec::new(),
            to_server: Vec::new(),
            serving: Vec::new(),
            canceled: BTreeSet::new(),
            waiting: BTreeSet::new(),
            answered: 0,
            next: 1,
            session: None,
        }
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            match self.dice.below(8) {
                0..3 => self.deliver_to_server(),
                3..6 => self.deliver_to_client(),
                6 => self.client_acts(),
                _ => self.server_acts(),
            }
            self.check();
        }
    }

    fn pick(&mut self, client: bool) -> Option<Message> {
        let queue = if client { &mut self.to_client } else { &mut self.to_server };
        if queue.is_empty() {
            return None;
        }
        let reordered = self.dice.below(100) < self.faults.reordered;
        let at = if reordered { self.dice.below(queue.len() as u64) as usize } else { 0 };
        let message = queue.remove(at);
        if self.dice.below(100) < self.faults.doubled {
            queue.push(message.clone());
        }
        (self.dice.below(100) >= self.faults.lost).then_some(message)
    }

    fn client_acts(&mut self) {
        let id = self.next;
        match self.handle.phase() {
            ClientPhase::Fresh => {
                let params = RawJson::from_serialize(&self.handle.hello().unwrap()).unwrap();
                self.waiting.insert(id.into());
                self.to_server.push(Message::Request(Request::new(id, "initialize", Some(params))));
                self.next += 1;
            }
            ClientPhase::Operating if id < CALLS => {
                assert_eq!(self.handle.check(Method::ToolsCall), Ok(()));
                self.waiting.insert(id.into());
                self.to_server.push(Message::Request(request(id, "tools/call", r#"{"name":"t"}"#)));
                self.next += 1;
            }
            ClientPhase::Operating => {
                let Some(given_up) = self.waiting.pop_last() else { return };
                let name = "tools/call".into();
                let notice = self.client.abandon(&given_up, &name, None).unwrap();
                let params = RawJson::new(notice.body()).unwrap();
                let notice = Notification::new("notifications/cancelled", Some(params));
                self.to_server.push(Message::Notification(notice));
            }
            // An impatient client gives up `initialize`, which it can't say.
            _ => assert!(self.client.abandon(&1.into(), &"initialize".into(), None).is_none()),
        }
    }

    fn server_acts(&mut self) {
        if self.dice.below(2) == 0 {
            let initialized = self.server.session().is_some_and(|session| session.is_initialized());
            let name = if initialized { "roots/list" } else { "ping" };
            self.to_client.push(Message::Request(request(self.next, name, "")));
        } else if !self.serving.is_empty() {
            let at = self.dice.below(self.serving.len() as u64) as usize;
            let served = self.serving.remove(at);
            let result = match served.method.as_str() {
                "initialize" => {
                    let revision = self.server.revision().unwrap();
                    let info = implementation("s");
                    let result = InitializeResult::new(revision.as_str(), whole_server(), info);
                    RawJson::from_serialize(&result).unwrap()
                }
                _ => raw("{}"),
            };
            let response = Outgoing::result_raw(served.id.clone(), result.as_bytes());
            self.server.answered(&served.id, &served.method, &Reply::Response(response));
            self.to_client.push(Message::Response(Response::new(Some(served.id), Ok(result))));
        }
    }

    fn deliver_to_server(&mut self) {
        let Some(message) = self.pick(false) else { return };
        let before = self.server.phase();
        let early = matches!(method(&message), "initialize" | "ping");
        match message {
            Message::Request(request) => {
                // A driver refuses an id that is being served.
                if self.serving.iter().any(|other| other.id == request.id) {
                    return;
                }
                match self.server.request(&request, Arrival::default()) {
                    RequestVerdict::Serve(known) => {
                        assert!(early || before == Phase::Initialized, "{request:?} {before:?}");
                        assert!(request.method == "ping" || PeerFacts::of(&known).is_some());
                        self.canceled.remove(&request.id);
                        self.serving.push(request);
                    }
                    RequestVerdict::Refuse(error) => {
                        assert_eq!(error.code, -32600, "everything was declared");
                        let response = Response::new(Some(request.id), Err(error));
                        self.to_client.push(Message::Response(response));
                    }
                    _ => unreachable!("there are no other verdicts"),
                }
            }
            Message::Notification(notification) => {
                match self.server.notification(&notification, Arrival::default()) {
                    NotificationVerdict::Serve(known) => {
                        assert!(PeerFacts::of(&known).is_some());
                        assert_eq!(self.server.phase(), Phase::Initialized);
                    }
                    NotificationVerdict::Cancel { id } => {
                        self.serving.retain(|served| {
                            assert!(served.method != "initialize" || served.id != id);
                            served.id != id
                        });
                        self.canceled.insert(id);
                    }
                    NotificationVerdict::Drop => {}
                    _ => unreachable!("there are no other verdicts"),
                }
            }
            _ => {}
        }
    }

    fn deliver_to_client(&mut self) {
        let Some(message) = self.pick(true) else { return };
        match message {
            Message::Request(request) => {
                let operating = self.handle.phase() == ClientPhase::Operating;
                match self.client.request(&request, Arrival::default()) {
                    RequestVerdict::Serve(known) => {
                        assert!(operating || request.method == "ping");
                        assert_eq!(Negotiated::of(&known).is_some(), operating);
                    }
                    RequestVerdict::Refuse(error) => {
                        assert!(!operating && error.code == -32600, "{error}");
                    }
                    _ => unreachable!("there are no other verdicts"),
                }
            }
            Message::Response(response) => {
                let id = response.id.clone().unwrap();
                // A late, doubled or unknown one is dropped.
                if !self.waiting.remove(&id) {
                    return;
                }
                self.answered += 1;
                if id == 1.into() {
                    if self.handle.conclude(&response).is_ok() {
                        let ready = notification("notifications/initialized", "");
                        self.to_server.push(Message::Notification(ready));
                    }
                } else {
                    assert!(!self.canceled.contains(&id) || self.faults.doubled > 0);
                }
            }
            _ => {}
        }
    }

    /// What holds at any time.
    fn check(&mut self) {
        if let Some(session) = self.server.session() {
            if self.server.phase() == Phase::Initialized {
                let first = self.session.get_or_insert_with(|| Arc::clone(session));
                assert!(Arc::ptr_eq(first, session), "the first agreement stands");
            }
            if self.handle.phase() == ClientPhase::Operating {
                assert_eq!(self.handle.revision(), self.server.revision());
            }
        }
    }
}

// Shows: LIFE-001, LIFE-009, LIFE-012, LIFE-020, CANCEL-012
#[test]
fn whatever_the_medium_does_both_sides_keep_the_rules() {
    let (mut shaken, mut initialized) = (0, 0);
    for seed in 0..2000 {
        let faults = match seed % 4 {
            0 => Faults { lost: 10, ..NONE },
            1 => Faults { doubled: 20, ..NONE },
            2 => Faults { reordered: 50, ..NONE },
            _ => Faults { lost: 5, doubled: 10, reordered: 30 },
        };
        let mut pair = Pair::new(seed, faults);
        pair.run(200);
        shaken += usize::from(pair.handle.phase() == ClientPhase::Operating);
        initialized += usize::from(pair.server.phase() == Phase::Initialized);
    }
    // The faults must not keep the machines from getting anywhere.
    assert!(shaken > 1000 && initialized > 1000, "{shaken} {initialized}");
}

// Shows: BASE-001, LIFE-009
#[test]
fn over_a_good_medium_every_call_is_answered_or_given_up() {
    let mut answered = 0;
    for seed in 0..500 {
        let mut pair = Pair::new(seed, NONE);
        pair.run(2000);
        let spoken = pair.handle.profile().revisions;
        let revision = pair.handle.revision();
        if pair.handle.phase() == ClientPhase::Closed {
            // The server's newest is none of the client's.
            assert!(pair.server.revision().is_some_and(|revision| !spoken.contains(revision)));
            continue;
        }
        assert_eq!(pair.server.phase(), Phase::Initialized);
        assert!(revision.is_some_and(|revision| spoken.contains(revision)));
        assert_eq!(pair.next, CALLS);
        assert_eq!(pair.waiting.len(), 0, "seed {seed}");
        answered += pair.answered;
        assert_eq!(pair.serving.len(), 0, "nothing is served for nobody");
    }
    assert!(answered > 1500, "{answered}");
}
