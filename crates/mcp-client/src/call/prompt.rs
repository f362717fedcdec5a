use std::fmt;

use mcp_types::{GetPromptRequestParams, GetPromptResult, Method, OrderedMap};

use super::calling::Calling;
use super::options::{self, Options};
use super::{Call, parse};
use crate::{Client, ClientError, Progress};

/// Fills in a prompt: sent by `.await`ing it, after its arguments and options were set.
///
/// ```
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
/// let prompt = client.get_prompt("summarize").arg("style", "brief").await?;
/// println!("{} messages", prompt.messages.len());
/// # Ok(()) }
/// ```
///
/// Specification: [getting a prompt](https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#getting-a-prompt).
///
/// # Cancel safety
///
/// Nothing is sent before it is `.await`ed. Dropping the future then gives the request up.
#[must_use = "a request is sent when it is awaited"]
pub struct PromptCall<'p> {
    client: Client,
    name: String,
    arguments: OrderedMap<String>,
    options: Options<'p>,
}

impl PromptCall<'static> {
    pub(crate) fn new(client: &Client, name: String) -> Self {
        let options = Options::new(client.timeouts());
        Self { client: client.clone(), name, arguments: OrderedMap::new(), options }
    }
}

impl<'p> PromptCall<'p> {
    /// Sets one argument.
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.set(name, value.into());
        self
    }

    fn with_progress<'q>(self, report: impl FnMut(Progress) + Send + 'q) -> PromptCall<'q> {
        let Self { client, name, arguments, options } = self;
        PromptCall { client, name, arguments, options: options.with_progress(report) }
    }

    fn options(&mut self) -> &mut Options<'p> {
        &mut self.options
    }
}

options::setters! {
    impl PromptCall<'p>
}

impl<'p> IntoFuture for PromptCall<'p> {
    type Output = Result<GetPromptResult, ClientError>;
    type IntoFuture = Calling<'p, GetPromptResult>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { client, name, arguments, options } = self;
        let mut params = GetPromptRequestParams::new(name);
        if !arguments.is_empty() {
            params.arguments = Some(arguments);
        }
        let call = Call::new(&client, Method::PromptsGet, &params, parse);
        call.with_options(options).into_future()
    }
}

impl fmt::Debug for PromptCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptCall").field("name", &self.name).finish_non_exhaustive()
    }
}
