//! The requests of resources: from raw parameters to the outgoing frame.

use std::sync::Arc;

use mcp_jsonrpc::service::v1::{PeerOutlet, Replies};
use mcp_jsonrpc::{ErrorObject, Extensions, Request};
use mcp_lifecycle::Session;
use mcp_types::{
    Project, ReadResourceRequestParams, SubscribeRequestParams, UnsubscribeRequestParams,
};

use crate::catch::catching;
use crate::context::Context;
use crate::error::chain;
use crate::resource::{ReadRequest, ResourceError, Variables};
use crate::server::Server;
use crate::service::{Answer, encode, params};
use crate::v1::ResourceProvider;

/// The longest URI that is looked at, in bytes.
const LONGEST_URI: usize = 8192;

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
        let uri = params.uri.as_str();
        let Some((provider, mime_type, variables)) = self.find_resource(uri) else {
            return Err(not_found(uri));
        };
        let mut extensions = extensions;
        if let Some(mime_type) = mime_type {
            extensions.insert(mime_type);
        }
        let meta = request.params.as_ref().and_then(crate::service::meta_of);
        let context = Context::new(request.id.clone(), extensions, replies, meta, self.clone());
        let revision = context.revision();
        let read = ReadRequest::new(uri.to_owned(), variables, context, self.inner.state.clone());
        let panicked = |_| ErrorObject::internal("reading the resource has failed");
        let outcome =
            catching(|| provider.read(read)).map_err(panicked)?.await.map_err(panicked)?;
        match outcome {
            Ok(mut result) => {
                result.project(revision);
                encode(&request.id, &result)
            }
            Err(ResourceError::NotFound | ResourceError::Denied) => Err(not_found(uri)),
            Err(ResourceError::Protocol(error)) => Err(error),
            Err(error @ ResourceError::Failed(_)) => {
                tracing::error!(uri, error = chain(&error), "a resource can't be read");
                Err(ErrorObject::internal("the resource can't be read"))
            }
        }
    }

    /// Whatever stands under `uri`: a resource of its own comes before templates, and these come
    /// in the order in which they were added.
    fn find_resource(
        &self,
        uri: &str,
    ) -> Option<(Arc<dyn ResourceProvider>, Option<crate::resource::MimeType>, Variables)> {
        if uri.len() > LONGEST_URI {
            return None;
        }
        if let Some(resource) = self.inner.resources.get(uri) {
            let provider = Arc::clone(&resource.provider);
            return Some((provider, resource.mime_type.clone(), Variables::default()));
        }
        self.inner.templates.items().iter().find_map(|template| {
            let variables = template.pattern.matches(uri)?;
            Some((Arc::clone(&template.provider), template.mime_type.clone(), variables))
        })
    }

    pub(crate) fn subscribe(&self, request: &Request, extensions: &Extensions) -> Answer {
        if !self.inner.offers.subscriptions {
            return Err(ErrorObject::method_not_found("resources/subscribe"));
        }
        let params: SubscribeRequestParams = params(request)?;
        let uri = params.uri.as_str();
        if self.find_resource(uri).is_none() {
            return Err(not_found(uri));
        }
        let (session, outlet) = listener(extensions)?;
        self.inner.listeners.subscribe(&session, &outlet, uri)?;
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

fn listener(extensions: &Extensions) -> Result<(Arc<Session>, PeerOutlet), ErrorObject> {
    match (extensions.get_arc::<Session>(), extensions.get::<PeerOutlet>()) {
        (Some(session), Some(outlet)) => Ok((session, outlet.clone())),
        _ => Err(ErrorObject::invalid_request("there is no session to subscribe for")),
    }
}

/// `-32002`, with the URI.
fn not_found(uri: &str) -> ErrorObject {
    let shown: String = uri.chars().take(LONGEST_URI).collect();
    ErrorObject::new(mcp_types::error_code::RESOURCE_NOT_FOUND, "resource not found")
        .with_data_from(&serde_json::json!({ "uri": shown }))
}
