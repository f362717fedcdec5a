use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use mcp_jsonrpc::ErrorObject;
use mcp_types::error_code::{Meaning, URL_ELICITATION_REQUIRED};
use mcp_types::{CallToolResult, ContentBlock, ElicitRequestUrlParams, Revision};

use crate::schema::UnusableSchema;

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
    OpenUrlFirst(Vec<ElicitRequestUrlParams>),
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

    /// Says that the person has to open these URLs first, and the client to call again then.
    ///
    /// The request is answered with the error that is set aside for this; a client that doesn't
    /// know it gets a result whose text names the URLs. Nothing but a URL is a reason for it: with
    /// none at all the tool has failed.
    ///
    /// Specification: [URL elicitation required](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error).
    #[must_use]
    pub fn open_url_first(urls: Vec<ElicitRequestUrlParams>) -> Self {
        if urls.is_empty() {
            return Self::new("something has to be done first");
        }
        Self(Kind::OpenUrlFirst(urls))
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
            Kind::OpenUrlFirst(urls) => {
                let meaning = Meaning::OpenUrlFirst(urls);
                return Err(mcp_lifecycle::to_error(&meaning, Revision::V2025_11_25));
            }
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
            Kind::OpenUrlFirst(urls) => write!(f, "ToolError({urls:?})"),
        }
    }
}

/// An error that says "open a URL first", in words for a client that has no code for it. Others
/// stay what they are.
pub(crate) fn without_urls(error: &ErrorObject, revision: Revision) -> ErrorObject {
    if error.code != URL_ELICITATION_REQUIRED {
        return error.clone();
    }
    // The revision before the one that has the code: the text is the same for all.
    let older = revision.min(Revision::V2025_06_18);
    match mcp_lifecycle::from_error(error, Revision::V2025_11_25) {
        meaning @ Meaning::OpenUrlFirst(_) => mcp_lifecycle::to_error(&meaning, older),
        _ => ErrorObject::internal(error.message.clone()),
    }
}

/// How making a prompt fails.
///
/// Any error turns into one by `?`. An [`ErrorObject`] is sent as it is; of any other the client
/// gets to know only that there was one, `-32603`, and the cause is logged here.
#[derive(Debug)]
pub struct PromptError(ErrorObject);

impl PromptError {
    /// The error to answer with.
    #[must_use]
    pub fn into_object(self) -> ErrorObject {
        self.0
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for PromptError {
    fn from(error: E) -> Self {
        let error: Box<dyn Error + Send + Sync> = Box::new(error);
        match error.downcast::<ErrorObject>() {
            Ok(object) => Self(*object),
            Err(error) => {
                tracing::error!(error = chain(&*error), "a prompt can't be made");
                Self(ErrorObject::internal("making the prompt has failed"))
            }
        }
    }
}

/// Something can't be added to a server.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// There is something with this name, or under this URI, already.
    #[error("`{name}` is taken")]
    NameTaken {
        /// The name, or the URI.
        name: String,
    },
    /// Arguments and structured results are objects; the schema is one of something else.
    #[error("the {which} schema of the tool `{tool}` is not one of an object")]
    NotAnObject {
        /// The tool.
        tool: String,
        /// `input` or `output`.
        which: &'static str,
    },
    /// The schema is none.
    #[error("the {which} schema of the tool `{tool}` can't be used")]
    Schema {
        /// The tool.
        tool: String,
        /// `input` or `output`.
        which: &'static str,
        /// What is wrong with it.
        source: UnusableSchema,
    },
    /// The URI of a resource is none (RFC 3986): it has no scheme, or spaces.
    #[error("{uri:?} is no URI")]
    Uri {
        /// What was given.
        uri: String,
    },
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
    /// The peer's answer is not what was asked for.
    #[error("the client's answer does not fit the form: {}", violations.join("; "))]
    Unfit {
        /// What is wrong with it, each in a sentence.
        violations: Vec<String>,
    },
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
