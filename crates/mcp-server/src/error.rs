use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use mcp_jsonrpc::ErrorObject;
use mcp_types::{CallToolResult, ContentBlock};

/// How a tool fails.
///
/// Any error turns into one by `?`: the model reads its text, and those of its sources, in a
/// result with `isError`, and can act on it. That is right for nearly everything: a city that
/// doesn't exist, a service that doesn't answer.
///
/// [`ToolError::protocol`] answers the *request* with an error instead. It is for what the
/// model can't mend, and the model doesn't get to see it.
///
/// Specification: [Error handling](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling).
pub struct ToolError(Kind);

enum Kind {
    Execution(Box<dyn Error + Send + Sync>),
    Content(Vec<ContentBlock>),
    Protocol(ErrorObject),
}

impl ToolError {
    /// Fails with a text that the model reads.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(Kind::Content(vec![ContentBlock::text(message.into())]))
    }

    /// Fails with content that the model reads.
    #[must_use]
    pub const fn content(content: Vec<ContentBlock>) -> Self {
        Self(Kind::Content(content))
    }

    /// Answers the request with an error of the protocol.
    #[must_use]
    pub const fn protocol(error: ErrorObject) -> Self {
        Self(Kind::Protocol(error))
    }

    /// The tool's result, or the error of the protocol.
    ///
    /// # Errors
    ///
    /// The error of the protocol, when it is one.
    pub fn into_result(self) -> Result<CallToolResult, ErrorObject> {
        let content = match self.0 {
            Kind::Execution(error) => vec![ContentBlock::text(chain(&*error))],
            Kind::Content(content) => content,
            Kind::Protocol(error) => return Err(error),
        };
        let mut result = CallToolResult::new(content);
        result.is_error = Some(true);
        Ok(result)
    }
}

/// The text of an error and of what caused it, each once.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(Kind::Execution(Box::new(error)))
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Execution(error) => write!(f, "ToolError({error:?})"),
            Kind::Content(content) => write!(f, "ToolError({content:?})"),
            Kind::Protocol(error) => write!(f, "ToolError({error:?})"),
        }
    }
}

/// The peer can't be asked, or its answer is of no use.
///
/// By `?` it fails the tool with a text that says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The peer has not declared the capability that the request needs; nothing was sent.
    #[error("the client does not support {capability}")]
    Unsupported {
        /// The capability, as the specification spells it.
        capability: &'static str,
    },
    /// The parameters break a rule of the specification; nothing was sent.
    #[error("the request is not valid")]
    Invalid(#[from] mcp_types::Invalid),
    /// The client's revision has no words for the parameters; nothing was sent.
    #[error("the client's revision does not know this")]
    DoesNotFit(#[from] mcp_types::DoesNotFit),
    /// The parameters can't be written as JSON; nothing was sent.
    #[error("the request can't be written as JSON")]
    Encode(#[source] serde_json::Error),
    /// No response came.
    #[error("the client did not answer")]
    NoAnswer(#[from] mcp_jsonrpc::service::v1::AskError),
    /// The peer answered with an error.
    #[error("the client refused")]
    Refused(#[source] ErrorObject),
    /// The peer's result is not what the method promises.
    #[error("the client's answer can't be read")]
    Decode(#[source] serde_json::Error),
}
