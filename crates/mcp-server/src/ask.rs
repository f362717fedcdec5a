//! Asking the peer on behalf of a request: elicitation, sampling, roots.

use mcp_types::{
    Check, CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestParams, ElicitResult, ListRootsResult, Project, Revision, Root,
};

use crate::context::Context;
use crate::error::RequestError;

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
        self.replies().can_ask()
            && self.revision() >= Revision::V2025_11_25
            && self.caller().is_some_and(|caller| {
                caller.capabilities.elicitation.as_ref().is_some_and(|e| e.url.is_some())
            })
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

    /// Asks the user to fill in a form.
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
        let params = self.checked(ElicitRequestParams::Form(form))?;
        self.ask("elicitation/create", &params).await
    }

    /// Asks the user to open a URL.
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
        let params = self.checked(ElicitRequestParams::Url(params))?;
        self.ask("elicitation/create", &params).await
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
        if !self.can_sample() {
            return Err(RequestError::Unsupported { capability: "sampling" });
        }
        let sampling = self.caller().and_then(|caller| caller.capabilities.sampling.as_ref());
        let has_tools = params.tools.is_some() || params.tool_choice.is_some();
        if has_tools && sampling.is_none_or(|sampling| sampling.tools.is_none()) {
            return Err(RequestError::Unsupported { capability: "sampling.tools" });
        }
        let params = self.checked(params)?;
        self.ask("sampling/createMessage", &params).await
    }

    /// Parameters that keep the specification's rules, as the peer's revision knows them.
    fn checked<T: Check + Project>(&self, mut params: T) -> Result<T, RequestError> {
        params.check()?;
        params.fits(self.revision())?;
        params.project(self.revision());
        Ok(params)
    }

    /// Asks the peer for its roots.
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
        let result: ListRootsResult = self.ask("roots/list", &serde_json::Map::new()).await?;
        Ok(result.roots)
    }
}
