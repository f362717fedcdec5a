//! Several servers of one host.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

#[cfg(feature = "tokio")]
use mcp_jsonrpc::link::v1::IntoLink;
use mcp_types::{Prompt, Resource, ResourceTemplate, Tool, ToolName};

mod all;
mod name;

pub use name::{InvalidServerName, ServerName};

#[cfg(feature = "tokio")]
use crate::ConnectError;
use crate::call::{PromptCall, ToolCall};
use crate::list::Listed;
use crate::{Builder, Client, ClientError};

/// The servers of a host, each under a name of the host's, with one list of all their tools.
///
/// Two servers may have tools of one name: in the list a tool is called `server__tool`, always, so
/// that no name changes when another server comes or goes. What stands before the first `__` is
/// the server. Such a name is a valid one for a tool and for the models in use, as far as the
/// tool's own is.
///
/// A server that is gone, or doesn't answer, costs only itself: lists say what is missing.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_client::{Client, ClientSet};
/// use mcp_server::Server;
///
/// let clock = Server::new("clock", "1.0").tool("now", || async { "noon" });
/// let moon = Server::new("moon", "1.0").tool("now", || async { "full" });
///
/// let servers = ClientSet::new(|_server| Client::builder("my-app", "1.0"));
/// servers.connect("clock", &clock).await?;
/// servers.connect("moon", &moon).await?;
/// let tools = servers.list::<mcp_types::Tool>().await;
/// let names: Vec<_> = tools.items.iter().map(|tool| &*tool.name).collect();
/// assert_eq!(names, ["clock__now", "moon__now"]);
/// assert_eq!(servers.call_tool("moon__now")?.text().await?, "full");
/// # Ok(()) }
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(example())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cheap to clone; clones are the same set. A client that is taken out of it stays connected for
/// as long as somebody has it.
#[derive(Clone)]
pub struct ClientSet(Arc<Inner>);

struct Inner {
    #[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "to connect takes a runtime"))]
    build: Box<dyn Fn(&ServerName) -> Builder + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    servers: BTreeMap<ServerName, Client>,
    /// What has changed since somebody last asked. No more than kinds of every server.
    changes: BTreeSet<SetChange>,
    waiting: Vec<Waker>,
}

/// How many servers a set has at most.
const MOST: usize = 1000;
/// How many may wait for changes at a time; who comes later is woken, and asks again.
const WAITING: usize = 64;

/// Something is different at one server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SetChange {
    /// The server.
    pub server: ServerName,
    /// What is different.
    pub kind: ChangeKind,
}

/// What is different at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ChangeKind {
    /// It was added, or took the place of another one.
    Added,
    /// It was taken out.
    Removed,
    /// Its list of tools.
    Tools,
    /// Its list of resources, or of their templates.
    Resources,
    /// Its list of prompts.
    Prompts,
}

/// One item of one server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SetItem<T> {
    /// What it is called in the set: `server__name` for tools and prompts, the URI or the
    /// template for resources, of which two servers may have the same.
    pub name: String,
    /// Its server.
    pub server: ServerName,
    /// The item, as the server describes it.
    pub item: T,
}

/// What all servers of a set list.
#[derive(Debug)]
#[non_exhaustive]
pub struct SetListing<T> {
    /// The items, by server and in each server's order.
    pub items: Vec<SetItem<T>>,
    /// The servers whose lists are missing, and why.
    pub failures: Vec<(ServerName, ClientError)>,
}

/// A server can't be added to a set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// Its name can't be told from others.
    #[error(transparent)]
    Name(#[from] InvalidServerName),
    /// There are 1,000 servers.
    #[error("there are {MOST} servers")]
    TooMany,
    /// There is no conversation.
    #[cfg(feature = "tokio")]
    #[error("no conversation with `{server}` came about")]
    Connect {
        /// The server.
        server: ServerName,
        /// Why.
        source: ConnectError,
    },
}

/// There is nothing of this name in the set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no server for {name:?}")]
#[non_exhaustive]
pub struct NoServer {
    /// The name.
    pub name: String,
}

/// What is listed by servers, and in a set of them.
///
/// This is a **sealed** trait.
pub trait InSet: Listed {
    #[doc(hidden)]
    const OFFERED: &'static str;
    #[doc(hidden)]
    fn name_in_set(&self, server: &ServerName) -> String;
}

macro_rules! in_set {
    ($($item:ident $offered:literal |$self:ident, $server:ident| $name:expr;)*) => {$(
        impl InSet for $item {
            const OFFERED: &'static str = $offered;

            fn name_in_set(&self, $server: &ServerName) -> String {
                let $self = self;
                $name
            }
        }
    )*};
}

in_set! {
    Tool "tools" |tool, server| server.prefix(tool.name.as_str());
    Prompt "prompts" |prompt, server| server.prefix(&prompt.name);
    Resource "resources" |resource, _server| resource.uri.as_str().to_owned();
    ResourceTemplate "resources" |template, _server| template.uri_template.as_str().to_owned();
}

impl ClientSet {
    /// A set without servers. `build` says what the client is for each of them, and does for it.
    pub fn new(build: impl Fn(&ServerName) -> Builder + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { build: Box::new(build), state: Mutex::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }

    /// Connects to a server, and adds it. One that had this name before is taken out.
    ///
    /// # Errors
    ///
    /// Why it isn't added; the set is as it was then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the link, and the set is as it was.
    #[cfg(feature = "tokio")]
    pub async fn connect(
        &self,
        server: impl Into<String>,
        to: impl IntoLink,
    ) -> Result<Client, SetError> {
        let server = ServerName::try_new(server)?;
        self.check_room(&server)?;
        let (set, name) = (Arc::downgrade(&self.0), server.clone());
        let builder = (self.0.build)(&server).observe(move |kind| {
            if let Some(set) = set.upgrade() {
                set.tell(SetChange { server: name.clone(), kind });
            }
        });
        let connecting = builder.connect(to).await;
        let client =
            connecting.map_err(|source| SetError::Connect { server: server.clone(), source })?;
        self.put(server, client.clone())?;
        Ok(client)
    }

    /// Adds a client that is connected already. Changes of its lists are not told by the set.
    ///
    /// # Errors
    ///
    /// Why it isn't added.
    pub fn add(&self, server: impl Into<String>, client: Client) -> Result<(), SetError> {
        let server = ServerName::try_new(server)?;
        self.check_room(&server)?;
        self.put(server, client)
    }

    fn check_room(&self, server: &ServerName) -> Result<(), SetError> {
        let state = self.lock();
        let full = state.servers.len() >= MOST && !state.servers.contains_key(server);
        if full { Err(SetError::TooMany) } else { Ok(()) }
    }

    fn put(&self, server: ServerName, client: Client) -> Result<(), SetError> {
        self.check_room(&server)?;
        let before = self.lock().servers.insert(server.clone(), client);
        drop(before);
        self.0.tell(SetChange { server, kind: ChangeKind::Added });
        Ok(())
    }

    /// Takes a server out. Its conversation ends when nobody else has its client.
    pub fn remove(&self, server: &str) -> Option<Client> {
        let (name, client) = self.lock().servers.remove_entry(server)?;
        self.0.tell(SetChange { server: name, kind: ChangeKind::Removed });
        Some(client)
    }

    /// The client of a server.
    #[must_use]
    pub fn get(&self, server: &str) -> Option<Client> {
        self.lock().servers.get(server).cloned()
    }

    /// All servers, by name, those that are gone among them.
    #[must_use]
    pub fn servers(&self) -> Vec<(ServerName, Client)> {
        let state = self.lock();
        state.servers.iter().map(|(name, client)| (name.clone(), client.clone())).collect()
    }

    /// Lists what all servers have, at the same time. Servers that don't offer such things are
    /// left out, and those that fail are named. Lists that are kept are not fetched again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the requests up.
    pub async fn list<T: InSet>(&self) -> SetListing<T> {
        let offers = |client: &Client| client.capabilities().has(T::OFFERED);
        let asked: Vec<_> =
            self.servers().into_iter().filter(|(_, client)| offers(client)).collect();
        let calls = asked.iter().map(|(_, client)| crate::ListCall::<T>::new(client).into_future());
        let lists = all::all(calls.collect()).await;
        let mut listing = SetListing { items: Vec::new(), failures: Vec::new() };
        for ((server, _), list) in asked.into_iter().zip(lists) {
            match list {
                Ok(list) => listing.items.extend(list.iter().map(|item| SetItem {
                    name: item.name_in_set(&server),
                    server: server.clone(),
                    item: item.clone(),
                })),
                Err(error) => listing.failures.push((server, error)),
            }
        }
        listing
    }

    /// Calls a tool by its name in the set.
    ///
    /// # Errors
    ///
    /// [`NoServer`] when the name doesn't begin with that of a server.
    pub fn call_tool(&self, name: &str) -> Result<ToolCall<'static>, NoServer> {
        let (client, tool) = self.find(name)?;
        Ok(client.call_tool(ToolName::from(tool.to_owned())))
    }

    /// Fills in a prompt by its name in the set.
    ///
    /// # Errors
    ///
    /// [`NoServer`] when the name doesn't begin with that of a server.
    pub fn get_prompt(&self, name: &str) -> Result<PromptCall<'static>, NoServer> {
        let (client, prompt) = self.find(name)?;
        Ok(client.get_prompt(prompt))
    }

    fn find<'n>(&self, name: &'n str) -> Result<(Client, &'n str), NoServer> {
        let found =
            ServerName::split(name).and_then(|(server, rest)| Some((self.get(server)?, rest)));
        found.ok_or_else(|| NoServer { name: name.chars().take(200).collect() })
    }

    /// Waits until something has changed at some server, and answers with all that has since the
    /// last time somebody was told, each once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no change.
    pub async fn changes(&self) -> Vec<SetChange> {
        poll_fn(|cx| {
            let mut state = self.lock();
            if !state.changes.is_empty() {
                return Poll::Ready(std::mem::take(&mut state.changes).into_iter().collect());
            }
            let known = state.waiting.iter().any(|waker| waker.will_wake(cx.waker()));
            let mut oldest = None;
            if !known {
                if state.waiting.len() == WAITING {
                    oldest = Some(state.waiting.remove(0));
                }
                state.waiting.push(cx.waker().clone());
            }
            drop(state);
            if let Some(oldest) = oldest {
                oldest.wake();
            }
            Poll::Pending
        })
        .await
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: SetChange) {
        let mut state = self.lock();
        // A server that has been taken out has nothing more to say.
        let known =
            change.kind == ChangeKind::Removed || state.servers.contains_key(&change.server);
        if known {
            if change.kind == ChangeKind::Removed {
                state.changes.retain(|other| other.server != change.server);
            }
            state.changes.insert(change);
        }
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl fmt::Debug for ClientSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSet")
            .field("servers", &self.lock().servers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
