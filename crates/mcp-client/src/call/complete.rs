use std::fmt;

use mcp_types::{
    CompleteRequestParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    CompletionReference, Method, OrderedMap, Project as _,
};

use super::calling::Calling;
use super::options::{self, Options};
use super::{Call, parse};
use crate::{Client, ClientError, Progress};

/// Completes an argument while it is typed: sent by `.await`ing it, after what is known already
/// was set.
///
/// ```
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
/// let found = client.complete_prompt("review", "framework", "fla").known("language", "python").await?;
/// println!("{:?}", found.values);
/// # Ok(()) }
/// ```
///
/// Specification: [completion](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion).
///
/// # Cancel safety
///
/// Nothing is sent before it is `.await`ed. Dropping the future then gives the request up.
#[must_use = "a request is sent when it is awaited"]
pub struct CompleteCall<'p> {
    client: Client,
    reference: CompletionReference,
    argument: CompletionArgument,
    known: OrderedMap<String>,
    options: Options<'p>,
}

impl CompleteCall<'static> {
    pub(crate) fn new(
        client: &Client,
        reference: CompletionReference,
        argument: CompletionArgument,
    ) -> Self {
        let options = Options::new(client.timeouts());
        Self { client: client.clone(), reference, argument, known: OrderedMap::new(), options }
    }
}

impl<'p> CompleteCall<'p> {
    /// Says what another argument is, which was filled in before. Left out towards servers of
    /// revisions that have no place for it.
    pub fn known(mut self, argument: impl Into<String>, value: impl Into<String>) -> Self {
        self.known.set(argument, value.into());
        self
    }

    fn with_progress<'q>(self, report: impl FnMut(Progress) + Send + 'q) -> CompleteCall<'q> {
        let Self { client, reference, argument, known, options } = self;
        CompleteCall { client, reference, argument, known, options: options.with_progress(report) }
    }

    fn options(&mut self) -> &mut Options<'p> {
        &mut self.options
    }
}

options::setters! {
    impl CompleteCall<'p>
}

impl<'p> IntoFuture for CompleteCall<'p> {
    type Output = Result<Completion, ClientError>;
    type IntoFuture = Calling<'p, Completion>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { client, reference, argument, known, options } = self;
        let mut params = CompleteRequestParams::new(reference, argument);
        if !known.is_empty() {
            params.context = Some(CompletionContext::new().with_arguments(known));
        }
        params.project(client.revision());
        let call = Call::new(&client, Method::CompletionComplete, &params, |method, outcome| {
            parse::<CompleteResult>(method, outcome).map(|result| result.completion)
        });
        call.with_options(options).into_future()
    }
}

impl fmt::Debug for CompleteCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompleteCall").field("argument", &self.argument).finish_non_exhaustive()
    }
}
