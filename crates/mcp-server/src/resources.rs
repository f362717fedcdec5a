//! The requests of resources: from raw parameters to the outgoing frame.

use std::sync::Arc;

use mcp_jsonrpc::service::v1::{PeerOutlet, Replies};
use mcp_jsonrpc::{ErrorObject, Extensions, Request};
use mcp_lifecycle::Session;
use mcp_types::error_code::Meaning;
use mcp_types::{
    Project, ReadResourceRequestParams, ResourceUri, Revision, SubscribeRequestParams,
    UnsubscribeRequestParams,
};

use crate::access::{Access, Label};
use crate::catch::catching;
use crate::context::Context;
use crate::error::chain;
use crate::list::Listed;
use crate::resource::{MimeType, ReadRequest, ResourceError, Variables};
use crate::server::{Inner, Server};
use crate::service::{Answer, encode, params, revision_of};
use crate::v1::ResourceProvider;

/// The longest URI that is looked at, in bytes.
const LONGEST_URI: usize = 8192;

/// What stands under a URI.
struct Found {
    provider: Arc<dyn ResourceProvider>,
    mime_type: Option<MimeType>,
    variables: Variables,
    state: Option<Arc<Extensions>>,
}

impl Server {
    pub(crate) async fn read_resource(
        &self,
        request: &Request,
        extensions: Extensions,
        replies: Replies,
    ) -> Answer {
        if !self.inner.offers.resources {
            return Err(ErrorObject::method_not_found("resources/read"));
        }
        let params: ReadResourceRequestParams = params(request)?;
        check_uri(&params.uri)?;
        let uri = params.uri.as_str();
        let revision = revision_of(&extensions);
        let found = self.inner.find_resource(uri, &self.inner.access(&extensions));
        let found = found.ok_or_else(|| not_found(&params.uri, revision))?;
        let mut extensions = extensions;
        if let Some(mime_type) = found.mime_type {
            extensions.insert(mime_type);
        }
        let meta = request.params.as_ref().and_then(crate::service::meta_of);
        let context = Context::new(request.id.clone(), extensions, replies, meta, self.clone());
        let state = found.state.unwrap_or_else(|| self.inner.state.clone());
        let read = ReadRequest::new(uri.to_owned(), found.variables, context, state);
        let panicked = |_| ErrorObject::internal("reading the resource has failed");
        let outcome =
            catching(|| found.provider.read(read)).map_err(panicked)?.await.map_err(panicked)?;
        match outcome {
            Ok(mut result) => {
                result.project(revision);
                encode(&request.id, &result)
            }
            Err(ResourceError::NotFound | ResourceError::Denied) => {
                Err(not_found(&params.uri, revision))
            }
            Err(ResourceError::Protocol(error)) => Err(error),
            Err(error @ ResourceError::Failed(_)) => {
                tracing::error!(uri, error = chain(&error), "a resource can't be read");
                Err(ErrorObject::internal("the resource can't be read"))
            }
        }
    }

    pub(crate) fn subscribe(&self, request: &Request, extensions: &Extensions) -> Answer {
        if !self.inner.offers.subscriptions {
            return Err(ErrorObject::method_not_found("resources/subscribe"));
        }
        let params: SubscribeRequestParams = params(request)?;
        check_uri(&params.uri)?;
        let access = self.inner.access(extensions);
        if self.inner.find_resource(params.uri.as_str(), &access).is_none() {
            return Err(not_found(&params.uri, revision_of(extensions)));
        }
        let (session, outlet) = listener(extensions)?;
        let grants = self.inner.listener_grants(&access);
        self.inner.listeners.subscribe(&session, &outlet, &grants, params.uri.as_str())?;
        encode(&request.id, &serde_json::Map::new())
    }

    pub(crate) fn unsubscribe(&self, request: &Request, extensions: &Extensions) -> Answer {
        if !self.inner.offers.subscriptions {
            return Err(ErrorObject::method_not_found("resources/unsubscribe"));
        }
        let params: UnsubscribeRequestParams = params(request)?;
        let (session, _) = listener(extensions)?;
        self.inner.listeners.unsubscribe(&session, params.uri.as_str());
        encode(&request.id, &serde_json::Map::new())
    }
}

impl Inner {
    /// Whatever stands under `uri`: a resource of its own comes before templates, and these come
    /// in the order in which they were added.
    fn find_resource(&self, uri: &str, access: &Access<'_>) -> Option<Found> {
        if let Some(resource) = self.resources.get(uri, access) {
            return Some(Found {
                provider: Arc::clone(&resource.provider),
                mime_type: resource.mime_type.clone(),
                variables: Variables::default(),
                state: resource.state.clone(),
            });
        }
        self.templates.find(access, |template| {
            let variables = template.pattern.matches(uri)?;
            Some(Found {
                provider: Arc::clone(&template.provider),
                mime_type: template.mime_type.clone(),
                variables,
                state: template.state.clone(),
            })
        })
    }

    /// What reading `uri` needs, as far as it is known by which entry that would happen.
    pub(crate) fn needs_of(&self, uri: &str) -> Vec<Label> {
        let entry = self.resources.items().into_iter().find(|resource| resource.key() == uri);
        if let Some(resource) = entry {
            return resource.needs().to_vec();
        }
        let mut templates = self.templates.items().into_iter();
        let template = templates.find(|template| template.pattern.matches(uri).is_some());
        template.map(|template| template.needs().to_vec()).unwrap_or_default()
    }
}

fn listener(extensions: &Extensions) -> Result<(Arc<Session>, PeerOutlet), ErrorObject> {
    match (extensions.get_arc::<Session>(), extensions.get::<PeerOutlet>()) {
        (Some(session), Some(outlet)) => Ok((session, outlet.clone())),
        _ => Err(ErrorObject::invalid_request("there is no session to subscribe for")),
    }
}

/// Whether the text could be a URI at all.
fn check_uri(uri: &ResourceUri) -> Result<(), ErrorObject> {
    if uri.as_str().len() > LONGEST_URI {
        let message = format!("the URI has more than {LONGEST_URI} bytes");
        return Err(ErrorObject::invalid_params(message));
    }
    if !uri.is_conforming() {
        return Err(ErrorObject::invalid_params("`uri` is no URI"));
    }
    Ok(())
}

/// The code of the peer's revision, with the URI.
fn not_found(uri: &ResourceUri, revision: Revision) -> ErrorObject {
    mcp_lifecycle::to_error(&Meaning::ResourceMissing { uri: uri.clone() }, revision)
}
