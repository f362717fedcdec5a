use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use hyper::Uri;
use hyper::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, USER_AGENT};
use mcp_jsonrpc::link::v1::{Incoming, LinkError};
use mcp_jsonrpc::{Limits, Outgoing, RequestId};
use tokio::sync::Semaphore;

use super::inbox::Inbox;
use super::net::{Dialer, Pool};
use super::session::Session;
use super::tasks::{Spawner, TaskId};
use super::{Config, HttpError};

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("mcp-transport-http/", env!("CARGO_PKG_VERSION")));
/// Compression would make proxies hold events back until a block is full.
const PLAIN: HeaderValue = HeaderValue::from_static("identity");

/// What the tasks of one link share.
pub(super) struct Core {
    pub(super) config: Arc<Config>,
    /// Where messages go, unless the server speaks the older transport.
    pub(super) endpoint: Uri,
    pub(super) limits: Limits,
    pub(super) spawner: Spawner,
    pub(super) pool: Arc<Pool>,
    /// One for each request that is being answered.
    pub(super) turns: Semaphore,
    seed: AtomicU64,
    state: Mutex<State>,
}

/// What changes.
pub(super) struct State {
    pub(super) inbox: Inbox,
    /// Our requests that wait for their response.
    pub(super) calls: HashMap<RequestId, Call>,
    pub(super) session: Session,
    /// The endpoint that a server of the older transport has named.
    pub(super) legacy: Option<Uri>,
    /// Notifications that wait until the one before them was taken.
    pub(super) lane: VecDeque<Note>,
    pub(super) lane_is_driven: bool,
    /// Messages on their way.
    pub(super) underway: usize,
    /// Of these, those that nobody answers.
    pub(super) notes: usize,
    /// Who waits for one of them to be through.
    pub(super) waiting: Vec<Waker>,
    /// Why the link has ended.
    pub(super) ended: Option<LinkError>,
}

/// A request that waits for its response.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) task: TaskId,
    /// The server may have seen it.
    pub(super) departed: bool,
}

/// A notification, or a response to the server.
pub(super) struct Note {
    pub(super) message: Outgoing,
    pub(super) underway: Underway,
}

/// One message on its way, until it is dropped.
pub(super) struct Underway {
    core: std::sync::Weak<Core>,
    is_note: bool,
}

impl Core {
    pub(super) fn new(config: Arc<Config>, endpoint: Uri, dialer: Dialer) -> Arc<Self> {
        let spawner = Spawner::default();
        let host = endpoint.authority().map_or("", |authority| authority.as_str());
        let host = HeaderValue::from_str(host).unwrap_or(HeaderValue::from_static(""));
        let pool = Pool::new(
            dialer,
            spawner.clone(),
            host,
            config.times.idle_connection,
            config.limits.idle_connections,
        );
        let mut headers = HeaderMap::with_capacity(config.headers.len() + 8);
        headers.insert(USER_AGENT, AGENT);
        headers.insert(ACCEPT_ENCODING, PLAIN);
        for (name, value) in &config.headers {
            if !headers.contains_key(name) || name == USER_AGENT {
                headers.insert(name.clone(), value.clone());
            } else {
                headers.append(name.clone(), value.clone());
            }
        }
        let state = State {
            inbox: Inbox::new(config.limits.received),
            calls: HashMap::new(),
            session: Session::new(headers),
            legacy: None,
            lane: VecDeque::new(),
            lane_is_driven: false,
            underway: 0,
            notes: 0,
            waiting: Vec::new(),
            ended: None,
        };
        // Only different from one process to the next.
        let seed = std::hash::BuildHasher::hash_one(
            &std::collections::hash_map::RandomState::new(),
            std::time::Instant::now(),
        );
        Arc::new(Self {
            limits: Limits::new().with_frame_bytes(config.limits.message_bytes),
            turns: Semaphore::new(config.limits.requests.clamp(1, Semaphore::MAX_PERMITS)),
            config,
            endpoint,
            spawner,
            pool: Arc::new(pool),
            seed: AtomicU64::new(seed),
            state: Mutex::new(state),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number in 0..1 that nobody has to be unable to guess.
    pub(super) fn chance(&self) -> f64 {
        // splitmix64
        let mut z = self.seed.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = u32::try_from((z ^ z >> 31) >> 32).unwrap_or(0);
        f64::from(bits) / f64::from(u32::MAX)
    }

    /// Hands a message up, once there is room for it.
    pub(super) async fn deliver(&self, incoming: Incoming, bytes: usize) {
        let mut incoming = Some(incoming);
        poll_fn(|cx| {
            let mut state = self.lock();
            if !state.inbox.has_room() {
                state.inbox.wait(cx.waker());
                return Poll::Pending;
            }
            if let Some(incoming) = incoming.take() {
                state.inbox.push(incoming, bytes);
            }
            Poll::Ready(())
        })
        .await;
    }

    /// The request gets no response.
    pub(super) async fn fail(&self, id: &RequestId, error: HttpError) {
        if self.lock().calls.remove(id).is_none() {
            return;
        }
        tracing::debug!(%id, error = &error as &dyn std::error::Error, "a request failed");
        let cause = LinkError::failed(error);
        self.deliver(Incoming::StreamEnded { id: id.clone(), cause }, 0).await;
    }

    /// The request has left us.
    pub(super) fn departed(&self, id: &RequestId) {
        if let Some(call) = self.lock().calls.get_mut(id) {
            call.departed = true;
        }
    }

    pub(super) fn is_waited_for(&self, id: &RequestId) -> bool {
        self.lock().calls.contains_key(id)
    }

    /// The link is over; what came in before is still there.
    pub(super) fn end(&self, cause: LinkError) {
        let mut state = self.lock();
        state.ended.get_or_insert(cause);
    }

    /// Counts a message that is on its way.
    pub(super) fn begin(self: &Arc<Self>, is_note: bool) -> Underway {
        let mut state = self.lock();
        state.underway += 1;
        state.notes += usize::from(is_note);
        Underway { core: Arc::downgrade(self), is_note }
    }

    /// Waits until no notification and no response of ours is on its way.
    pub(super) async fn notes_are_through(&self) {
        poll_fn(|cx| {
            let mut state = self.lock();
            if state.notes == 0 {
                return Poll::Ready(());
            }
            state.wait(cx.waker());
            Poll::Pending
        })
        .await;
    }
}

impl State {
    pub(super) fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|known| known.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let Some(core) = self.core.upgrade() else { return };
        let waiting = {
            let mut state = core.lock();
            state.underway -= 1;
            state.notes -= usize::from(self.is_note);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}
