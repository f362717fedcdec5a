//! The server as a service: which method goes where.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use mcp_jsonrpc::service::v1::{Call, Inbound, PeerOutlet, Replies, Reply, Service};
use mcp_jsonrpc::{ErrorObject, Extensions, Outgoing, RawJson, Request, RequestId};
use mcp_lifecycle::{Caller, PeerFacts, Session};
use mcp_types::{Cursor, InitializeResult, Method, Project, Revision, SetLevelRequestParams};
use serde_core::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde_core::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::list::{Listed, Registry};
use crate::roots::RootsCache;
use crate::server::{Inner, Server};

/// The response to a request, or the error to answer it with.
pub(crate) type Answer = Result<Outgoing, ErrorObject>;

impl Service for Server {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        self.inner.listeners.settle(&inbound.extensions);
        match self.stack() {
            None => self.route(inbound, replies).await,
            Some(stack) => stack.call(inbound, replies).await,
        }
    }
}

impl Server {
    /// What stands behind the layers.
    pub(crate) async fn route(&self, inbound: Inbound, replies: Replies) -> Reply {
        let Inbound { call, extensions, .. } = inbound;
        match call {
            Call::Request(request) => {
                let facts = extensions.get::<PeerFacts>().map(|facts| Arc::clone(&facts.caller));
                let answer = self.answer(&request, extensions, replies).await;
                Reply::Response(answer.unwrap_or_else(|error| {
                    let error = fit(error, facts.as_deref());
                    Outgoing::error(Some(request.id), &error)
                }))
            }
            Call::Notification(notification) => {
                self.hear(notification.method.as_str(), &extensions);
                Reply::Silent
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

    async fn answer(&self, request: &Request, extensions: Extensions, replies: Replies) -> Answer {
        let inner = &self.inner;
        let name = request.method.as_str();
        let Ok(method) = name.parse::<Method>() else {
            return Err(ErrorObject::method_not_found(name));
        };
        match method {
            Method::ToolsCall => self.call_tool(request, extensions, replies).await,
            Method::ToolsList => inner.list(request, &extensions, inner.offers.tools, &inner.tools),
            Method::ResourcesList => {
                inner.list(request, &extensions, inner.offers.resources, &inner.resources)
            }
            Method::ResourcesTemplatesList => {
                inner.list(request, &extensions, inner.offers.resources, &inner.templates)
            }
            Method::ResourcesRead => self.read_resource(request, extensions, replies).await,
            Method::ResourcesSubscribe => self.subscribe(request, &extensions),
            Method::ResourcesUnsubscribe => self.unsubscribe(request, &extensions),
            Method::PromptsList => {
                inner.list(request, &extensions, inner.offers.prompts, &inner.prompts)
            }
            Method::PromptsGet => self.get_prompt(request, extensions, replies).await,
            Method::CompletionComplete => self.complete(request, extensions, replies).await,
            Method::LoggingSetLevel => inner.set_level(request, &extensions),
            Method::Ping => Ok(Outgoing::result_raw(request.id.clone(), b"{}")),
            Method::Initialize => inner.initialize(request, &extensions),
            _ => Err(ErrorObject::method_not_found(name)),
        }
    }
}

impl Inner {
    fn initialize(&self, request: &Request, extensions: &Extensions) -> Answer {
        let revision = revision_of(extensions);
        let mut result =
            InitializeResult::new(revision.as_str(), self.capabilities(), self.identity.clone());
        result.instructions.clone_from(&self.instructions);
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
fn fit(error: ErrorObject, caller: Option<&Caller>) -> ErrorObject {
    if error.code != mcp_types::error_code::URL_ELICITATION_REQUIRED {
        return error;
    }
    let revision = caller.map_or(Revision::LATEST_STATEFUL, |caller| caller.revision);
    let declared = caller.is_some_and(|caller| {
        caller.capabilities.elicitation.as_ref().is_some_and(|modes| modes.url.is_some())
    });
    if declared && revision == Revision::V2025_11_25 {
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
