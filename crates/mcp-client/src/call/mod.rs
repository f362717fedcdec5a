//! Requests to the server: how they are put together, and what waits for their answers.

use std::fmt;

use mcp_jsonrpc::{ErrorObject, Name, RawJson};
use mcp_types::{JsonObject, Meta, Method};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

mod calling;
mod complete;
mod options;
mod prompt;
mod tool;

pub use self::calling::Calling;
pub use self::complete::CompleteCall;
pub use self::prompt::PromptCall;
pub use self::tool::{ToolCall, ToolCalling, ToolValue};

pub(crate) use self::options::OnProgress;
use self::options::Options;
use crate::{Client, ClientError, Progress};

/// What becomes of an outcome.
pub(crate) type Decode<T> = fn(&Name, Result<RawJson, ErrorObject>) -> Result<T, ClientError>;

/// A request that can be sent by `.await`ing it, after its options were set.
///
/// ```
/// # use std::time::Duration;
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
/// let read = client.read_resource("file:///notes.txt").timeout(Duration::from_secs(5)).await?;
/// # Ok(()) }
/// ```
///
/// # Cancel safety
///
/// Nothing is sent before it is `.await`ed. Dropping the future then gives the request up: the
/// server is told so, and an answer that still comes is dropped.
#[must_use = "a request is sent when it is awaited"]
pub struct Call<'p, T> {
    client: Client,
    method: Name,
    params: Result<Option<RawJson>, serde_json::Error>,
    options: Options<'p>,
    decode: Decode<T>,
}

impl<T> Call<'static, T> {
    pub(crate) fn new<P: Serialize + ?Sized>(
        client: &Client,
        method: Method,
        params: &P,
        decode: Decode<T>,
    ) -> Self {
        let params = RawJson::from_serialize(params).map(Some);
        Self::of(client, Name::from_static(method.as_str()), params, decode)
    }

    pub(crate) fn without_params(client: &Client, method: Method, decode: Decode<T>) -> Self {
        Self::of(client, Name::from_static(method.as_str()), Ok(None), decode)
    }

    pub(crate) fn of(
        client: &Client,
        method: Name,
        params: Result<Option<RawJson>, serde_json::Error>,
        decode: Decode<T>,
    ) -> Self {
        let options = Options::new(client.timeouts());
        Self { client: client.clone(), method, params, options, decode }
    }
}

impl<'p, T> Call<'p, T> {
    fn start(self) -> Calling<'p, T> {
        let Self { client, method, params, options, decode } = self;
        Calling::new(client, method, options, decode, |meta| with_meta(params?, meta))
    }

    /// Sends it without waiting for the answer, if it can be sent.
    pub(crate) fn say_farewell(self) {
        self.start().say_farewell();
    }

    fn with_options<'q>(self, options: Options<'q>) -> Call<'q, T> {
        let Self { client, method, params, options: _, decode } = self;
        Call { client, method, params, options, decode }
    }

    fn with_progress<'q>(self, report: impl FnMut(Progress) + Send + 'q) -> Call<'q, T> {
        let Self { client, method, params, options, decode } = self;
        Call { client, method, params, options: options.with_progress(report), decode }
    }

    fn options(&mut self) -> &mut Options<'p> {
        &mut self.options
    }
}

options::setters! {
    impl<T> Call<'p, T>
}

impl<'p, T> IntoFuture for Call<'p, T> {
    type Output = Result<T, ClientError>;
    type IntoFuture = Calling<'p, T>;

    fn into_future(self) -> Calling<'p, T> {
        self.start()
    }
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Reads a result as what the method promises.
pub(crate) fn parse<T: DeserializeOwned>(
    method: &Name,
    outcome: Result<RawJson, ErrorObject>,
) -> Result<T, ClientError> {
    let result = raw(method, outcome)?;
    result.parse().map_err(|source| ClientError::Decode { method: method.clone(), source })
}

/// Hands a result on unread.
pub(crate) fn raw(
    method: &Name,
    outcome: Result<RawJson, ErrorObject>,
) -> Result<RawJson, ClientError> {
    outcome.map_err(|source| ClientError::Refused { method: method.clone(), source })
}

/// The result says nothing but that all is well.
pub(crate) fn done(
    method: &Name,
    outcome: Result<RawJson, ErrorObject>,
) -> Result<(), ClientError> {
    raw(method, outcome).map(drop)
}

/// The server lives: an error is a sign of that, too.
pub(crate) fn alive(_: &Name, _: Result<RawJson, ErrorObject>) -> Result<(), ClientError> {
    Ok(())
}

/// Puts `meta` into parameters that were written without it.
fn with_meta(
    params: Option<RawJson>,
    meta: Option<&Meta>,
) -> Result<Option<RawJson>, serde_json::Error> {
    let Some(meta) = meta else { return Ok(params) };
    let mut object = match &params {
        Some(params) => params.parse::<JsonObject>()?,
        None => JsonObject::new(),
    };
    let mut merged: Meta = match object.get(META) {
        Some(known) => known.to()?,
        None => Meta::new(),
    };
    for (key, value) in meta.iter() {
        merged.insert(key, value)?;
    }
    object.insert(META, &merged)?;
    RawJson::from_serialize(&object).map(Some)
}

const META: &str = "_meta";
