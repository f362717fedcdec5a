//! The server as a service: which method goes where.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::service::v1::{BoxFuture, Call, Inbound, PeerOutlet, Replies, Reply, Service};
use mcp_jsonrpc::{ErrorObject, Extensions, Outgoing, RawJson, Request, RequestId};
use mcp_lifecycle::{PeerFacts, Session};
use mcp_types::{Cursor, InitializeResult, Method, Project, Revision, SetLevelRequestParams};
use serde_core::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde_core::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
#[cfg(feature = "tracing-subscriber")]
use tracing::Instrument as _;

use crate::catch::catching;
#[cfg(feature = "tracing-subscriber")]
use crate::context::Context;
use crate::list::{Listed, Registry};
use crate::roots::RootsCache;
use crate::server::{Inner, Server};
use crate::tools::{Called, ToolRun};

/// The response to a request, or the error to answer it with.
pub(crate) type Answer = Result<Outgoing, ErrorObject>;

impl Service for Server {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        self.inner.listeners.settle(&inbound.extensions);
        match self.stack() {
            None => self.route(inbound, replies).await,
            // Boxed, so that servers without layers don't carry room for it.
            Some(stack) => Box::pin(stack.call(inbound, replies)).await,
        }
    }
}

/// What has become of a message at first sight.
pub(crate) enum Begun<'a> {
    /// It is answered.
    Over(Reply),
    /// A tool is to be called. What nearly every request is costs no box of its own.
    Tool(ToolRun),
    /// It is under way.
    Running(BoxFuture<'a, Answer>, RequestId),
}

/// What has to be known of the asker when a request is answered.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) revision: Revision,
    /// Whether the client has said that it can open URLs.
    urls: bool,
}

impl Terms {
    fn of(extensions: &Extensions) -> Self {
        let Some(facts) = extensions.get::<PeerFacts>() else {
            return Self { revision: Revision::LATEST_STATEFUL, urls: false };
        };
        let elicitation = facts.caller.capabilities.elicitation.as_ref();
        let urls = elicitation.is_some_and(|modes| modes.url.is_some());
        Self { revision: facts.caller.revision, urls }
    }

    /// Whether the client has a word for "open a URL first".
    pub(crate) fn know_urls(self) -> bool {
        self.urls && self.revision >= Revision::V2025_11_25
    }
}

impl Server {
    /// What stands behind the layers.
    ///
    /// What comes before a handler, and after it, is done in plain functions: the future holds
    /// only what waits for the handler, since every request allocates it.
    pub(crate) async fn route(&self, inbound: Inbound, replies: Replies) -> Reply {
        let terms = Terms::of(&inbound.extensions);
        match self.begin(inbound, replies, terms) {
            Begun::Over(reply) => reply,
            Begun::Tool(ToolRun { tool, call, id }) => {
                let outcome = match catching(|| tool.tool.call(call)) {
                    Ok(running) => running.await,
                    Err(panicked) => Err(panicked),
                };
                reply(&id, self.finish_tool(&tool, &id, outcome, terms), terms)
            }
            Begun::Running(running, id) => reply(&id, running.await, terms),
        }
    }

    /// The same, with its events sent to the client where that is wanted.
    #[cfg(feature = "tracing-subscriber")]
    pub(crate) async fn observed(&self, inbound: Inbound, replies: Replies) -> Reply {
        let (Some(forwarder), Some(id)) = (&self.inner.forwarder, inbound.id()) else {
            return self.route(inbound, replies).await;
        };
        let (id, extensions) = (id.clone(), inbound.extensions.clone());
        let cx = Context::new(id, extensions, replies.clone(), None, self.clone());
        let (span, _open) = forwarder.open(&cx);
        self.route(inbound, replies).instrument(span).await
    }

    #[cfg(not(feature = "tracing-subscriber"))]
    pub(crate) async fn observed(&self, inbound: Inbound, replies: Replies) -> Reply {
        self.route(inbound, replies).await
    }

    fn begin(&self, inbound: Inbound, replies: Replies, terms: Terms) -> Begun<'_> {
        let Inbound { call, extensions, .. } = inbound;
        match call {
            Call::Request(request) => self.answer(request, extensions, replies, terms),
            Call::Notification(notification) => {
                self.hear(notification.method.as_str(), &extensions);
                Begun::Over(Reply::Silent)
            }
        }
    }

    fn hear(&self, notification: &str, extensions: &Extensions) {
        match notification {
            "notifications/initialized" => {
                if let (Some(session), Some(outlet)) =
                    (extensions.get_arc::<Session>(), extensions.get::<PeerOutlet>())
                {
                    let grants = self.inner.listener_grants(&self.inner.access(extensions));
                    self.inner.listeners.add(&session, outlet, &grants);
                }
            }
            "notifications/roots/list_changed" => {
                let session = extensions.get::<Session>();
                if let Some(cache) = session.and_then(Session::attached::<Arc<RootsCache>>) {
                    cache.forget();
                }
            }
            _ => {}
        }
    }

    fn answer(
        &self,
        request: Request,
        extensions: Extensions,
        replies: Replies,
        terms: Terms,
    ) -> Begun<'_> {
        let inner = &self.inner;
        let answer = match Method::from_bytes(request.method.as_bytes()) {
            Some(Method::ToolsCall) => {
                match self.begin_tool(&request, extensions, replies, terms) {
                    Ok(Called::Runs(run)) => return Begun::Tool(run),
                    Ok(Called::Answered(answer)) => Ok(answer),
                    #[cfg(feature = "tasks")]
                    Ok(Called::Task(call)) => {
                        let id = call.id.clone();
                        return Begun::Running(Box::pin(self.start_task(*call)), id);
                    }
                    Err(error) => Err(error),
                }
            }
            Some(Method::ResourcesRead) => {
                return running(request, |request| async move {
                    self.read_resource(&request, extensions, replies).await
                });
            }
            Some(Method::PromptsGet) => {
                return running(request, |request| async move {
                    self.get_prompt(&request, extensions, replies).await
                });
            }
            Some(Method::CompletionComplete) => {
                return running(request, |request| async move {
                    self.complete(&request, extensions, replies).await
                });
            }
            #[cfg(feature = "tasks")]
            Some(
                method @ (Method::TasksGet
                | Method::TasksResult
                | Method::TasksList
                | Method::TasksCancel),
            ) => {
                return running(request, move |request| async move {
                    self.answer_task(method, &request, &extensions, &replies).await
                });
            }
            Some(method) => inner.answer(method, &request, &extensions, self),
            None => Err(ErrorObject::method_not_found(request.method.as_str())),
        };
        Begun::Over(reply(&request.id, answer, terms))
    }
}

/// A request that may have to wait.
fn running<'a, F>(request: Request, answer: impl FnOnce(Request) -> F) -> Begun<'a>
where
    F: Future<Output = Answer> + Send + 'a,
{
    let id = request.id.clone();
    Begun::Running(Box::pin(answer(request)), id)
}

/// The end of request `id`.
fn reply(id: &RequestId, answer: Answer, terms: Terms) -> Reply {
    Reply::Response(
        answer.unwrap_or_else(|error| Outgoing::error(Some(id.clone()), &fit(error, terms))),
    )
}

impl Inner {
    /// Answers what needs no waiting.
    fn answer(
        &self,
        method: Method,
        request: &Request,
        extensions: &Extensions,
        server: &Server,
    ) -> Answer {
        match method {
            Method::ToolsList => self.list(request, extensions, self.offers.tools, &self.tools),
            Method::ResourcesList => {
                self.list(request, extensions, self.offers.resources, &self.resources)
            }
            Method::ResourcesTemplatesList => {
                self.list(request, extensions, self.offers.resources, &self.templates)
            }
            Method::ResourcesSubscribe => server.subscribe(request, extensions),
            Method::ResourcesUnsubscribe => server.unsubscribe(request, extensions),
            Method::PromptsList => {
                self.list(request, extensions, self.offers.prompts, &self.prompts)
            }
            Method::LoggingSetLevel => self.set_level(request, extensions),
            Method::Ping => Ok(Outgoing::result_raw(request.id.clone(), b"{}")),
            Method::Initialize => self.initialize(request, extensions),
            _ => Err(ErrorObject::method_not_found(request.method.as_str())),
        }
    }

    fn initialize(&self, request: &Request, extensions: &Extensions) -> Answer {
        let revision = revision_of(extensions);
        let mut result =
            InitializeResult::new(revision.as_str(), self.capabilities(), self.identity.clone());
        result.instructions.clone_from(&self.instructions);
        #[cfg(feature = "tasks")]
        self.fit_tasks(&mut result.capabilities, extensions);
        result.project(revision);
        encode(&request.id, &result)
    }

    fn list<T: Listed>(
        &self,
        request: &Request,
        extensions: &Extensions,
        offered: bool,
        registry: &Registry<T>,
    ) -> Answer {
        if !offered {
            return Err(ErrorObject::method_not_found(request.method.as_str()));
        }
        let cursor = match &request.params {
            None => None,
            Some(raw) => {
                raw.parse::<mcp_types::PaginatedRequestParams>()
                    .map_err(|error| ErrorObject::invalid_params(error.to_string()))?
                    .cursor
            }
        };
        let cursor: Option<Cursor> = cursor;
        let access = self.access(extensions);
        let revision = revision_of(extensions);
        let page = registry.page(cursor.as_ref(), self.page_size, revision, &access)?;
        Ok(Outgoing::result_raw(request.id.clone(), &page))
    }

    fn set_level(&self, request: &Request, extensions: &Extensions) -> Answer {
        if !self.offers.logging {
            return Err(ErrorObject::method_not_found("logging/setLevel"));
        }
        let params: SetLevelRequestParams = params(request)?;
        match extensions.get::<Session>() {
            Some(session) => session.set_log_level(params.level),
            None => return Err(ErrorObject::invalid_request("there is no session to log for")),
        }
        Ok(Outgoing::result_raw(request.id.clone(), b"{}"))
    }
}

/// The error as the client knows it: one that says "open a URL first" is for those who know URLs
/// only.
pub(crate) fn fit(error: ErrorObject, terms: Terms) -> ErrorObject {
    let Terms { revision, urls } = terms;
    if error.code != mcp_types::error_code::URL_ELICITATION_REQUIRED
        || (urls && revision == Revision::V2025_11_25)
    {
        return error;
    }
    crate::error::without_urls(&error, revision)
}

pub(crate) fn revision_of(extensions: &Extensions) -> Revision {
    extensions.get::<PeerFacts>().map_or(Revision::LATEST_STATEFUL, |facts| facts.caller.revision)
}

/// The parameters of a request that can't do without.
pub(crate) fn params<T: DeserializeOwned>(request: &Request) -> Result<T, ErrorObject> {
    let raw = request
        .params
        .as_ref()
        .ok_or_else(|| ErrorObject::invalid_params(format!("{} needs params", request.method)))?;
    raw.parse().map_err(|error| {
        ErrorObject::invalid_params(format!(
            "the params of {} are not valid: {error}",
            request.method
        ))
    })
}

/// The `_meta` of parameters, shared with them.
pub(crate) fn meta_of(params: &RawJson) -> Option<RawJson> {
    let view: MetaRef<'_> = params.parse().ok()?;
    view.0.map(|meta| params.part(meta))
}

/// The `_meta` of parameters, borrowed from them; the rest is walked over.
struct MetaRef<'a>(Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for MetaRef<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = MetaRef<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut meta = None;
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    if key == "_meta" {
                        meta = Some(map.next_value()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(MetaRef(meta))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The frame of a result.
pub(crate) fn encode<T: Serialize + ?Sized>(id: &RequestId, result: &T) -> Answer {
    Outgoing::result(id.clone(), result).map_err(|error| {
        tracing::error!(%error, "a result can't be written as JSON");
        ErrorObject::internal("the result can't be written as JSON")
    })
}
