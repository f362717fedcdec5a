//! Asking the peer on behalf of a request: elicitation, sampling, roots.

use mcp_jsonrpc::service::v1::{PeerOutlet, Replies};
use mcp_jsonrpc::{Name, Outgoing};
#[cfg(feature = "validate")]
use mcp_types::ElicitAction;
use mcp_types::{
    Check, CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestParams, ElicitResult, ElicitationCompleteNotificationParams, ElicitationId,
    IncludeContext, ListRootsResult, Project, RequestedSchema, Revision, Root,
};

use crate::context::Context;
use crate::error::RequestError;
use crate::roots::RootsCache;

impl Context {
    /// Whether the peer can be asked to fill in a form.
    #[must_use]
    pub fn can_elicit(&self) -> bool {
        self.replies().can_ask()
            && self.revision() >= Revision::V2025_06_18
            && self.caller().is_some_and(|caller| {
                // `{}` means forms, as it did before there were modes.
                caller.capabilities.elicitation.as_ref().is_some_and(|elicitation| {
                    elicitation.form.is_some() || elicitation.url.is_none()
                })
            })
    }

    /// Whether the peer can be asked to send its user to a URL.
    #[must_use]
    pub fn can_elicit_url(&self) -> bool {
        self.replies().can_ask() && self.knows_urls()
    }

    /// Whether the peer can be asked to have its model write something.
    #[must_use]
    pub fn can_sample(&self) -> bool {
        self.replies().can_ask()
            && self.caller().is_some_and(|caller| caller.capabilities.sampling.is_some())
    }

    /// Whether the peer can be asked for its roots.
    #[must_use]
    pub fn can_list_roots(&self) -> bool {
        self.replies().can_ask()
            && self.caller().is_some_and(|caller| caller.capabilities.roots.is_some())
    }

    /// Whether the peer has declared that it knows URLs to send its user to, in whatever form.
    pub(crate) fn knows_urls(&self) -> bool {
        self.revision() >= Revision::V2025_11_25
            && self.caller().is_some_and(|caller| {
                caller.capabilities.elicitation.as_ref().is_some_and(|e| e.url.is_some())
            })
    }

    /// Asks the user to fill in a form. With the feature `validate` what the user has accepted
    /// is held against the form.
    ///
    /// Never ask for secrets this way.
    ///
    /// Specification: [Elicitation](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation).
    ///
    /// # Errors
    ///
    /// [`RequestError::Unsupported`] when the peer has no forms; else when there is no answer,
    /// or an error. That the user declines is a result.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future withdraws the question.
    pub async fn elicit(
        &self,
        form: ElicitRequestFormParams,
    ) -> Result<ElicitResult, RequestError> {
        if !self.can_elicit() {
            return Err(RequestError::Unsupported { capability: "elicitation" });
        }
        let schema = form.requested_schema.clone();
        let params = self.checked(ElicitRequestParams::Form(form))?;
        let answer = self.ask("elicitation/create", &params).await?;
        fits_form(&schema, &answer)?;
        Ok(answer)
    }

    /// Asks the user to open a URL. The answer says whether the user agrees, not whether what
    /// is done there is done: that is for [`elicitation`](Self::elicitation) to tell.
    ///
    /// Specification: [URL mode](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests).
    ///
    /// # Errors
    ///
    /// As [`elicit`](Self::elicit), where the peer has no URL mode.
    pub async fn elicit_url(
        &self,
        params: mcp_types::ElicitRequestUrlParams,
    ) -> Result<ElicitResult, RequestError> {
        if !self.can_elicit_url() {
            return Err(RequestError::Unsupported { capability: "elicitation.url" });
        }
        if is_open(&params.url) {
            tracing::warn!("a user is sent to a URL that is not protected by TLS");
        }
        let params = self.checked(ElicitRequestParams::Url(params))?;
        self.ask("elicitation/create", &params).await
    }

    /// A handle on what the user does behind a URL, to keep until it is done: it knows the
    /// client that was asked, and nobody else hears of it.
    ///
    /// `id` is the `elicitation_id` that the URL was sent with. It has to be unique in this
    /// server, and is best a random one.
    #[must_use]
    pub fn elicitation(&self, id: impl Into<ElicitationId>) -> Elicitation {
        let outlet = self.extension::<PeerOutlet>().cloned();
        Elicitation { id: id.into(), outlet, replies: self.replies().clone() }
    }

    /// Asks the peer to have its model write a message.
    ///
    /// Specification: [Sampling](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling).
    ///
    /// # Errors
    ///
    /// [`RequestError::Unsupported`] when the peer has no sampling, or none with tools where
    /// `params` has tools; else when there is no answer, or an error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future withdraws the request.
    pub async fn sample(
        &self,
        params: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, RequestError> {
        let params = self.sampling(params)?;
        self.ask("sampling/createMessage", &params).await
    }

    /// Parameters of a request to the model that the peer can be sent.
    pub(crate) fn sampling(
        &self,
        params: CreateMessageRequestParams,
    ) -> Result<CreateMessageRequestParams, RequestError> {
        if !self.can_sample() {
            return Err(RequestError::Unsupported { capability: "sampling" });
        }
        let sampling = self.caller().and_then(|caller| caller.capabilities.sampling.as_ref());
        let has_tools = params.tools.is_some() || params.tool_choice.is_some();
        if has_tools && sampling.is_none_or(|sampling| sampling.tools.is_none()) {
            return Err(RequestError::Unsupported { capability: "sampling.tools" });
        }
        let mut params = params;
        let elsewhere = |context: &IncludeContext| *context != IncludeContext::None;
        if self.revision() >= Revision::V2025_11_25
            && params.include_context.as_ref().is_some_and(elsewhere)
            && sampling.is_none_or(|sampling| sampling.context.is_none())
        {
            // Only a hint, and one that such a client must not be given.
            params.include_context = None;
        }
        self.checked(params)
    }

    /// Parameters that keep the specification's rules, as the peer's revision knows them.
    pub(crate) fn checked<T: Check + Project>(&self, mut params: T) -> Result<T, RequestError> {
        params.check()?;
        params.fits(self.revision())?;
        params.project(self.revision());
        Ok(params)
    }

    /// Asks the peer for its roots. Where the peer announces changes, they are kept in the
    /// session until it does.
    ///
    /// Specification: [Roots](https://modelcontextprotocol.io/specification/2025-11-25/client/roots).
    ///
    /// # Errors
    ///
    /// [`RequestError::Unsupported`] when the peer has no roots; else when there is no answer,
    /// or an error.
    pub async fn roots(&self) -> Result<Vec<Root>, RequestError> {
        if !self.can_list_roots() {
            return Err(RequestError::Unsupported { capability: "roots" });
        }
        let announced = self.caller().is_some_and(|caller| {
            let roots = caller.capabilities.roots.as_ref();
            roots.is_some_and(|roots| roots.list_changed == Some(true))
        });
        let cache = self.session_state::<RootsCache>().filter(|_| announced);
        let generation = match cache.as_ref().map(|cache| cache.known()) {
            Some((Some(roots), _)) => return Ok(roots.to_vec()),
            Some((None, generation)) => generation,
            None => 0,
        };
        let result: ListRootsResult = self.ask("roots/list", &serde_json::Map::new()).await?;
        if let Some(cache) = cache {
            cache.keep(generation, &result.roots);
        }
        Ok(result.roots)
    }
}

/// What a user does behind a URL: see [`Context::elicitation`].
#[derive(Clone, Debug)]
pub struct Elicitation {
    id: ElicitationId,
    outlet: Option<PeerOutlet>,
    replies: Replies,
}

impl Elicitation {
    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &ElicitationId {
        &self.id
    }

    /// Tells the client that was asked, and no other, that it is done. Whether the client hears
    /// of it is not certain: it may be gone, or its queue full.
    ///
    /// Specification: [Completion](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation).
    pub fn complete(self) {
        let params = ElicitationCompleteNotificationParams::new(self.id);
        let name = Name::from_static("notifications/elicitation/complete");
        let Ok(message) = Outgoing::notification(name, Some(&params)) else { return };
        let sent = match &self.outlet {
            Some(outlet) => outlet.try_notify(message),
            // There is no way to the client but the exchange that asked.
            None => self.replies.try_notify(message),
        };
        if let Err(error) = sent {
            tracing::debug!(%error, "a client does not hear that an elicitation is done");
        }
    }
}

/// Whether what is sent to a URL can be read on the way. What stays on this machine can't.
fn is_open(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    !matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(feature = "validate")]
pub(crate) fn fits_form(
    schema: &RequestedSchema,
    answer: &ElicitResult,
) -> Result<(), RequestError> {
    if answer.action != ElicitAction::Accept {
        return Ok(());
    }
    let schema = serde_json::to_value(schema).map_err(RequestError::Encode)?;
    let schema = crate::schema::ToolSchema::from_value(schema);
    let content = answer.content.clone().unwrap_or_default();
    let content = serde_json::to_vec(&content).map_err(RequestError::Encode)?;
    // A form that was sent is one that can be checked; if not, the answer is as good as any.
    match schema.violations(&content) {
        Ok(violations) if !violations.is_empty() => Err(RequestError::Unfit { violations }),
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(not(feature = "validate"))]
#[expect(clippy::unnecessary_wraps, reason = "the other build needs it")]
pub(crate) fn fits_form(_: &RequestedSchema, _: &ElicitResult) -> Result<(), RequestError> {
    Ok(())
}
