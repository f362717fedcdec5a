use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_jsonrpc::{Name, RawJson};
use mcp_lifecycle::{ProgressReset, Timeouts};
use mcp_types::{
    CallToolResult, ContentBlock, JsonObject, JsonValue, Meta, Method, TaskMetadata, TaskSupport,
    ToolName,
};
use serde_core::de::{DeserializeOwned, Error as _};
use serde_core::ser::{Serialize, SerializeMap as _, Serializer};

use super::Decode;
use super::calling::Calling;
use super::options::{self, Options};
use crate::list::Promise;
use crate::task::{self, TaskCall};
use crate::v1::Decision;
use crate::{Client, ClientError, Progress};

/// A call of a tool: sent by `.await`ing it, after its arguments and options were set.
///
/// ```
/// # use std::time::Duration;
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
/// let result = client
///     .call_tool("forecast")
///     .arg("city", "Bern")
///     .arg("days", 3)
///     .timeout(Duration::from_secs(20))
///     .on_progress(|step| println!("{:?}", step.message))
///     .await?;
/// assert!(!result.failed());
/// # Ok(()) }
/// ```
///
/// Three ways to end it:
///
/// | | gives | a tool that failed is |
/// |---|---|---|
/// | `.await` | the whole [`CallToolResult`] | a result that says so, for a model to read |
/// | [`.parsed()`](Self::parsed) | a value of your type | [`ClientError::ToolFailed`] |
/// | [`.text()`](Self::text) | the text | [`ClientError::ToolFailed`] |
///
/// A structured result is held against the tool's output schema, if the tool was seen in a list
/// before, and [`ClientError::Output`] if it breaks it. Results that say that the tool failed
/// are exempt.
///
/// Progress is asked for even if nobody watches it, so that a long call isn't given up while
/// the server is at work: see [`Timeouts`](mcp_lifecycle::Timeouts).
///
/// Specification: [calling tools](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#calling-tools).
///
/// # Cancel safety
///
/// Nothing is sent before it is `.await`ed. Dropping the future then gives the call up: the
/// server is told so, and an answer that still comes is dropped.
#[must_use = "a tool is called when the call is awaited"]
pub struct ToolCall<'p> {
    client: Client,
    name: ToolName,
    arguments: Arguments,
    checked: bool,
    options: Options<'p>,
}

/// What a tool is called with.
enum Arguments {
    Members(JsonObject),
    /// An object, written as a whole.
    Whole(JsonValue),
}

impl ToolCall<'static> {
    pub(crate) fn new(client: &Client, name: ToolName) -> Self {
        let mut options = Options::new(client.timeouts());
        if options.timeouts.reset == ProgressReset::WhenObserved {
            options.timeouts.reset = ProgressReset::Always;
        }
        Self {
            client: client.clone(),
            name,
            arguments: Arguments::Members(JsonObject::new()),
            checked: true,
            options,
        }
    }
}

impl<'p> ToolCall<'p> {
    /// Sets one argument. A value that can't be written as JSON fails the call before anything
    /// is sent.
    pub fn arg<T: Serialize>(mut self, name: impl Into<String>, value: T) -> Self {
        if let Err(error) = self.arguments.set(name.into(), &value) {
            self.options.broken.get_or_insert(error);
        }
        self
    }

    /// Sets all arguments, from a value that is written as an object. One that isn't fails the
    /// call before anything is sent.
    pub fn args<T: Serialize + ?Sized>(mut self, arguments: &T) -> Self {
        match JsonValue::from_serialize(arguments) {
            Ok(value) if value.is_object() => self.arguments = Arguments::Whole(value),
            Ok(_) => {
                let error = serde_json::Error::custom("the arguments of a tool are an object");
                self.options.broken.get_or_insert(error);
            }
            Err(error) => {
                self.options.broken.get_or_insert(error);
            }
        }
        self
    }

    /// Takes the result as it comes, whatever the tool's output schema says.
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }

    /// Has the server run the call as a task, which is looked at and fetched later.
    ///
    /// Where the result is wanted here and now there is no need for it: a tool that was listed as
    /// one that runs only as a task is run as one by `.await`ing the call.
    pub fn as_task(self) -> TaskCall<'p> {
        TaskCall::new(self)
    }

    /// Sends the call, and reads its result as a `T`: the structured content, or else a text
    /// that is JSON.
    ///
    /// ```
    /// # #[derive(serde::Deserialize)] struct Forecast { high: f64 }
    /// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::ClientError> {
    /// let forecast: Forecast = client.call_tool("forecast").arg("city", "Bern").parsed().await?;
    /// # Ok(()) }
    /// ```
    pub fn parsed<T: DeserializeOwned>(self) -> ToolValue<'p, T> {
        ToolValue { calling: self.into_future(), read: parsed }
    }

    /// Sends the call, and reads the text of its result: all of it, with a line end between
    /// one block and the next.
    pub fn text(self) -> ToolValue<'p, String> {
        ToolValue { calling: self.into_future(), read: text }
    }

    fn with_progress<'q>(self, report: impl FnMut(Progress) + Send + 'q) -> ToolCall<'q> {
        let Self { client, name, arguments, checked, options } = self;
        ToolCall { client, name, arguments, checked, options: options.with_progress(report) }
    }

    fn options(&mut self) -> &mut Options<'p> {
        &mut self.options
    }
}

options::setters! {
    impl ToolCall<'p>
}

impl Arguments {
    fn set<T: Serialize>(&mut self, name: String, value: &T) -> Result<(), serde_json::Error> {
        let value = JsonValue::from_serialize(value)?;
        if let Self::Whole(whole) = self {
            *self = Self::Members(whole.to()?);
        }
        if let Self::Members(members) = self {
            members.set(name, value);
        }
        Ok(())
    }
}

/// The parameters of `tools/call`, written in one go. The arguments are always there: some
/// servers take their absence for a mistake.
struct Params<'a> {
    name: &'a ToolName,
    arguments: &'a Arguments,
    task: Option<&'a TaskMetadata>,
    meta: Option<&'a Meta>,
}

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name)?;
        match self.arguments {
            Arguments::Members(members) => map.serialize_entry("arguments", members)?,
            Arguments::Whole(whole) => map.serialize_entry("arguments", whole)?,
        }
        if let Some(task) = self.task {
            map.serialize_entry("task", task)?;
        }
        if let Some(meta) = self.meta {
            map.serialize_entry("_meta", meta)?;
        }
        map.end()
    }
}

impl<'p> IntoFuture for ToolCall<'p> {
    type Output = Result<CallToolResult, ClientError>;
    type IntoFuture = ToolCalling<'p>;

    fn into_future(self) -> ToolCalling<'p> {
        let name = self.name.clone();
        if let Some(decision) = self.decision() {
            let run = async move {
                approved(&self.name, &self.client, decision).await?;
                self.send().await
            };
            return ToolCalling { run: Run::Boxed(Box::pin(run)), name, promise: None };
        }
        self.send()
    }
}

/// Asks the person, or the policy, about a call.
async fn approved(name: &ToolName, client: &Client, decision: Decided) -> Result<(), ClientError> {
    let decision = decision.map_err(|source| {
        let method = Name::from_static(Method::ToolsCall.as_str());
        ClientError::Encode { method, source }
    })?;
    if decision.await == Decision::Allow {
        return Ok(());
    }
    tracing::info!(tool = %name, server = %client.server().name, "a call is not approved");
    Err(ClientError::NotApproved { tool: name.clone() })
}

/// A question to whoever approves, or why it can't be put.
type Decided = Result<BoxFuture<'static, Decision>, serde_json::Error>;

/// For those who run the call otherwise.
impl<'p> ToolCall<'p> {
    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// The question whether it may be made, where that is to be asked.
    fn decision(&self) -> Option<Decided> {
        self.client.approve_call(&self.name, || match &self.arguments {
            Arguments::Members(members) => JsonValue::from_serialize(members),
            Arguments::Whole(whole) => Ok(whole.clone()),
        })
    }

    /// The same, to be waited for.
    pub(crate) fn approve(&self) -> impl Future<Output = Result<(), ClientError>> + Send + use<> {
        let (decision, name, client) = (self.decision(), self.name.clone(), self.client.clone());
        async move {
            match decision {
                Some(decision) => approved(&name, &client, decision).await,
                None => Ok(()),
            }
        }
    }

    /// Sends it: whether it may be made was asked.
    fn send(self) -> ToolCalling<'p> {
        let name = self.name.clone();
        if self.client.knows_as_task(&name) == Some(TaskSupport::Required)
            && self.client.check(Some(Method::ToolsCall), true).is_ok()
        {
            let run = Run::Boxed(Box::pin(task::run(TaskCall::new(self))));
            return ToolCalling { run, name, promise: None };
        }
        let promise = match self.promise() {
            Ok(promise) => promise,
            Err(error) => {
                let method = Name::from_static(Method::ToolsCall.as_str());
                let calling = Calling::refused(self.client, method, error, super::parse);
                return ToolCalling { run: Run::Plain(calling), name, promise: None };
            }
        };
        ToolCalling { run: Run::Plain(self.start(None, super::parse)), name, promise }
    }

    pub(crate) const fn name(&self) -> &ToolName {
        &self.name
    }

    pub(crate) const fn limits(&self) -> Timeouts {
        self.options.timeouts
    }

    /// What the tool has promised about its result, if that is to be looked at.
    pub(crate) fn promise(&self) -> Result<Option<Promise>, ClientError> {
        if !self.checked {
            return Ok(None);
        }
        self.client
            .promise_of(&self.name)
            .map_err(|source| ClientError::OutputSchema { tool: self.name.clone(), source })
    }

    pub(crate) fn start<T>(self, task: Option<TaskMetadata>, decode: Decode<T>) -> Calling<'p, T> {
        let Self { client, name, arguments, checked: _, mut options } = self;
        options.as_task = task.is_some();
        let method = Name::from_static(Method::ToolsCall.as_str());
        Calling::new(client, method, options, decode, |meta| {
            let task = task.as_ref();
            let params = Params { name: &name, arguments: &arguments, task, meta };
            RawJson::from_serialize(&params).map(Some)
        })
    }
}

impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A tool call under way; made from a [`ToolCall`].
///
/// # Cancel safety
///
/// Dropping it gives the call up, as with [`Calling`].
#[must_use = "futures do nothing unless polled"]
pub struct ToolCalling<'p> {
    run: Run<'p>,
    name: ToolName,
    /// What the tool has promised about its result.
    promise: Option<Promise>,
}

#[expect(clippy::large_enum_variant, reason = "nearly every call is the larger one")]
enum Run<'p> {
    Plain(Calling<'p, CallToolResult>),
    /// What it comes to was looked at.
    Boxed(BoxFuture<'p, Result<CallToolResult, ClientError>>),
}

impl Future for ToolCalling<'_> {
    type Output = Result<CallToolResult, ClientError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let result = match &mut this.run {
            Run::Plain(calling) => ready!(Pin::new(calling).poll(cx))?,
            Run::Boxed(running) => return running.as_mut().poll(cx),
        };
        let broken = match &this.promise {
            Some(promise) if !result.failed() => promise.check(&result).err(),
            _ => None,
        };
        Poll::Ready(match broken {
            None => Ok(result),
            Some(source) => {
                let tool = this.name.clone();
                Err(ClientError::Output { tool, result: Box::new(result), source })
            }
        })
    }
}

impl fmt::Debug for ToolCalling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCalling").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A tool call under way that ends in a value; made by [`ToolCall::parsed`] and
/// [`ToolCall::text`].
///
/// # Cancel safety
///
/// Dropping it gives the call up, as with [`Calling`].
#[must_use = "futures do nothing unless polled"]
pub struct ToolValue<'p, T> {
    calling: ToolCalling<'p>,
    read: fn(CallToolResult) -> Result<T, NotParsed>,
}

/// There is no such value in a result.
type NotParsed = Box<(CallToolResult, serde_json::Error)>;

impl<T> Future for ToolValue<'_, T> {
    type Output = Result<T, ClientError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let result = ready!(Pin::new(&mut this.calling).poll(cx))?;
        let tool = || this.calling.name.clone();
        Poll::Ready(if result.failed() {
            Err(ClientError::ToolFailed { tool: tool(), result: Box::new(result) })
        } else {
            (this.read)(result).map_err(|not_parsed| {
                let (result, source) = *not_parsed;
                ClientError::NotParsed { tool: tool(), result: Box::new(result), source }
            })
        })
    }
}

impl<T> fmt::Debug for ToolValue<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolValue").field("calling", &self.calling).finish_non_exhaustive()
    }
}

fn parsed<T: DeserializeOwned>(result: CallToolResult) -> Result<T, NotParsed> {
    let read = match (&result.structured_content, result.content.as_slice()) {
        (Some(value), _) => value.to(),
        // What servers of older revisions do.
        (None, [ContentBlock::Text(only)]) => serde_json::from_str(&only.text),
        (None, _) => Err(serde_json::Error::custom("there is no structured content")),
    };
    read.map_err(|error| Box::new((result, error)))
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of two ways to read a result")]
fn text(result: CallToolResult) -> Result<String, NotParsed> {
    let texts: Vec<_> = result.content.iter().filter_map(ContentBlock::as_text).collect();
    Ok(texts.join("\n"))
}
