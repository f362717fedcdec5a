//! What the server asks and tells, handed to whoever of the host's is to hear it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mcp_jsonrpc::service::v1::{Call, Inbound, Replies, Reply, Service};
use mcp_jsonrpc::{ErrorObject, Notification, RawJson, Request};
use mcp_lifecycle::{ElicitationModes, Negotiated};
use mcp_types::error_code::Meaning;
use mcp_types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestParams,
    ElicitResult, ElicitationCompleteNotificationParams, ElicitationId, EmptyResult,
    ListRootsResult, LoggingLevel, LoggingMessageNotificationParams, Meta, Method,
    ProgressNotificationParams, Project, RequestParams, ResourceUpdatedNotificationParams,
    ResourceUri, Task, TaskStatusNotificationParams,
};
use serde_core::de::DeserializeOwned;

use crate::ChangeKind;
use crate::Client;
use crate::catch::{Panicked, catching, catching_now};
use crate::client::Inner;
use crate::context::Context;
use crate::form::Form;
use crate::handler::{Answer, HandlerError};
use crate::notice::Notice;
use crate::v1::{
    Approver, BoxFuture, Decision, ElicitationHandler, RootsProvider, SamplingHandler, Wish,
};
use crate::{roots, sampling};

/// What to do when a resource has changed.
type Updated = dyn Fn(ResourceUri, Client) -> BoxFuture<'static, ()> + Send + Sync;

/// What the host has registered.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) sampling: Option<Arc<dyn SamplingHandler>>,
    pub(crate) elicitation: Option<Arc<dyn ElicitationHandler>>,
    pub(crate) roots: Option<Arc<dyn RootsProvider>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) log: Option<Box<dyn Fn(LoggingMessageNotificationParams) + Send + Sync>>,
    pub(crate) tools_changed: Option<Notice>,
    pub(crate) resources_changed: Option<Notice>,
    pub(crate) prompts_changed: Option<Notice>,
    pub(crate) resource_updated: Option<Box<Updated>>,
    pub(crate) elicitation_complete: Option<Box<dyn Fn(ElicitationId) + Send + Sync>>,
    /// Hears of each list that has changed, beside what the host does about it.
    pub(crate) observer: Option<Box<dyn Fn(ChangeKind) + Send + Sync>>,
    pub(crate) task_status: Option<Box<dyn Fn(Task) + Send + Sync>>,
    pub(crate) other_notification: Option<Box<dyn Fn(Notification) + Send + Sync>>,
}

impl Handlers {
    fn observe(&self, kind: ChangeKind) {
        if let Some(observe) = &self.observer {
            observe(kind);
        }
    }
}

/// The client as a [`Service`].
pub(crate) struct ClientService {
    duties: Arc<Duties>,
    /// Set before the conversation begins.
    client: Arc<OnceLock<Arc<Inner>>>,
    #[cfg(feature = "tasks")]
    tasks: Option<mcp_lifecycle::tasks::Tasks>,
}

/// What the client does for its server.
pub(crate) struct Duties {
    handlers: Handlers,
    /// The URLs that the person has agreed to open and that aren't done, oldest first.
    open_urls: Mutex<VecDeque<ElicitationId>>,
}

/// How many URLs are waited for; the oldest are forgotten.
const OPEN_URLS: usize = 256;

impl ClientService {
    pub(crate) fn new(handlers: Handlers, client: Arc<OnceLock<Arc<Inner>>>) -> Self {
        let duties = Arc::new(Duties { handlers, open_urls: Mutex::default() });
        Self {
            duties,
            client,
            #[cfg(feature = "tasks")]
            tasks: None,
        }
    }

    #[cfg(feature = "tasks")]
    pub(crate) fn with_tasks(mut self, tasks: Option<mcp_lifecycle::tasks::Tasks>) -> Self {
        self.tasks = tasks;
        self
    }

    async fn request(&self, request: Request, cx: Option<Context>) -> Reply {
        let method = Method::from_name(request.method.as_str());
        let (Some(method), Some(cx)) = (method, cx) else {
            // `ping` is answered in every phase.
            return if method == Some(Method::Ping) {
                Reply::result(&request.id, &EmptyResult::new())
            } else {
                Reply::error(&request.id, &unknown(&request))
            };
        };
        #[cfg(feature = "tasks")]
        if let Some(tasks) = &self.tasks
            && let Some(reply) =
                crate::task::answer(tasks, &self.duties, method, &request, &cx).await
        {
            return reply;
        }
        let duties = &*self.duties;
        let outcome = match method {
            Method::Ping => return Reply::result(&request.id, &EmptyResult::new()),
            Method::SamplingCreateMessage => duties.sample(&request, cx).await.map(write),
            Method::ElicitationCreate => duties.elicit(&request, cx).await.map(write),
            Method::RootsList => duties.roots(&request, cx).await.map(write),
            _ => Err(unknown(&request)),
        };
        match outcome {
            Ok(write) => write(&request),
            Err(error) => Reply::error(&request.id, &error),
        }
    }

    /// What takes no waiting; hands back what does.
    fn notification<'a>(
        &'a self,
        method: Method,
        params: Option<&RawJson>,
        client: &'a Inner,
    ) -> Option<Change<'a>> {
        match method {
            Method::NotificationsProgress => {
                if let Some(params) = note::<ProgressNotificationParams>(method, params) {
                    client.watches.take(params, client.clock.now());
                }
            }
            Method::NotificationsMessage => {
                if let Some(params) = note(method, params) {
                    self.log(params);
                }
            }
            Method::NotificationsToolsListChanged => {
                client.caches.tools_changed();
                self.duties.handlers.observe(ChangeKind::Tools);
                return self.duties.handlers.tools_changed.as_ref().map(Change::List);
            }
            Method::NotificationsResourcesListChanged => {
                client.caches.resources_changed();
                self.duties.handlers.observe(ChangeKind::Resources);
                return self.duties.handlers.resources_changed.as_ref().map(Change::List);
            }
            Method::NotificationsPromptsListChanged => {
                client.caches.prompts_changed();
                self.duties.handlers.observe(ChangeKind::Prompts);
                return self.duties.handlers.prompts_changed.as_ref().map(Change::List);
            }
            Method::NotificationsResourcesUpdated => {
                let params = note::<ResourceUpdatedNotificationParams>(method, params)?;
                return Some(Change::Resource(params.uri));
            }
            Method::NotificationsElicitationComplete => {
                let params = note::<ElicitationCompleteNotificationParams>(method, params)?;
                if self.duties.is_done(&params.elicitation_id)
                    && let Some(complete) = &self.duties.handlers.elicitation_complete
                {
                    // A panic was logged.
                    let _ = catching_now(|| complete(params.elicitation_id));
                }
            }
            Method::NotificationsTasksStatus => {
                let params = note::<TaskStatusNotificationParams>(method, params)?;
                if let Some(hear) = &self.duties.handlers.task_status {
                    // A panic was logged.
                    let _ = catching_now(|| hear(params.into()));
                }
            }
            _ => tracing::debug!(%method, "nobody listens to this notification"),
        }
        None
    }

    /// One that no revision of the protocol has.
    fn other_notification(&self, notification: Notification) {
        if let Some(take) = &self.duties.handlers.other_notification {
            // A panic was logged.
            let _ = catching_now(|| take(notification));
        }
    }

    fn log(&self, message: LoggingMessageNotificationParams) {
        match &self.duties.handlers.log {
            Some(log) => {
                // A panic was logged.
                let _ = catching_now(|| log(message));
            }
            None => trace(&message),
        }
    }
}

impl Duties {
    #[cfg(feature = "tasks")]
    pub(crate) const fn samples(&self) -> bool {
        self.handlers.sampling.is_some()
    }

    #[cfg(feature = "tasks")]
    pub(crate) const fn elicits(&self) -> bool {
        self.handlers.elicitation.is_some()
    }

    pub(crate) async fn sample(
        &self,
        request: &Request,
        cx: Context,
    ) -> Result<CreateMessageResult, ErrorObject> {
        let Some(handler) = &self.handlers.sampling else { return Err(unknown(request)) };
        let params: CreateMessageRequestParams = read(request.params.as_ref())?;
        sampling::check(&params, handler.takes_tools())
            .map_err(|error| ErrorObject::invalid_params(error.to_string()))?;
        let revision = cx.client().revision();
        let refused = || mcp_lifecycle::to_error(&Meaning::SamplingRefused, revision);
        let Some(params) = self.approved(params, Wish::Sampling, &cx).await else {
            return Err(refused());
        };
        let result = catching(|| handler.create_message(params, cx)).await;
        settle(request, result, |answer| match answer {
            Answer::Refused => Err(refused()),
            Answer::Error(error) => Err(error),
        })
        .and_then(|mut result: CreateMessageResult| {
            relate(&mut result.meta, request);
            fit(result, revision)
        })
    }

    pub(crate) async fn elicit(
        &self,
        request: &Request,
        cx: Context,
    ) -> Result<ElicitResult, ErrorObject> {
        let Some(handler) = &self.handlers.elicitation else { return Err(unknown(request)) };
        let params: ElicitRequestParams = read(request.params.as_ref())?;
        let client = cx.client().clone();
        let modes = ElicitationModes::of(client.declared(), client.revision());
        let asked = match &params {
            ElicitRequestParams::Form(_) => modes.form,
            ElicitRequestParams::Url(_) => modes.url,
            _ => false,
        };
        if !asked {
            return Err(ErrorObject::invalid_params("this client did not declare this mode"));
        }
        let declined = || ElicitResult::new(ElicitAction::Decline);
        let Some(params) = self.approved(params, Wish::Elicitation, &cx).await else {
            let mut result = declined();
            relate(&mut result.meta, request);
            return Ok(result);
        };
        let (result, form, url) = match params {
            ElicitRequestParams::Form(params) => {
                let form = Form::of(&params.requested_schema);
                (catching(|| handler.form(params, cx)).await, Some(form), None)
            }
            ElicitRequestParams::Url(params) => {
                let id = params.elicitation_id.clone();
                (catching(|| handler.url(params, cx)).await, None, id)
            }
            // It is in no mode that was declared.
            _ => return Ok(declined()),
        };
        let mut result = settle(request, result, |answer| match answer {
            Answer::Refused => Ok(declined()),
            Answer::Error(error) => Err(error),
        })?;
        if result.action == ElicitAction::Accept {
            if let Some(form) = form {
                let content = result.content.get_or_insert_default();
                form.check(content).map_err(|error| {
                    tracing::error!(%error, cause = %error.source, "an answer is not sent");
                    ErrorObject::internal("the client's answer doesn't fit what was asked for")
                })?;
            } else {
                result.content = None;
            }
            if let Some(id) = url {
                self.wait_for(id);
            }
        } else {
            result.content = None;
        }
        relate(&mut result.meta, request);
        fit(result, client.revision())
    }

    async fn roots(&self, request: &Request, cx: Context) -> Result<ListRootsResult, ErrorObject> {
        let Some(provider) = &self.handlers.roots else { return Err(unknown(request)) };
        let refused = || ErrorObject::internal("the user refused the request");
        if self.approved((), |_| Wish::Roots, &cx).await.is_none() {
            return Err(refused());
        }
        let revision = cx.client().revision();
        let result = catching(|| provider.roots(cx)).await;
        let listed = match result {
            Ok(Ok(listed)) => listed,
            Ok(Err(error)) => {
                return Err(match error.into_answer(Method::RootsList.as_str()) {
                    Answer::Refused => refused(),
                    Answer::Error(error) => error,
                });
            }
            Err(Panicked) => return Err(failed()),
        };
        if let Some(error) = listed.iter().find_map(|root| roots::check(root).err()) {
            tracing::error!(%error, "roots are not sent");
            return Err(ErrorObject::internal("the client's roots can't be named"));
        }
        let mut result = ListRootsResult::new(listed);
        relate(&mut result.meta, request);
        fit(result, revision)
    }

    /// Hands `params` back if the person, or the policy, lets the request go on.
    async fn approved<P: Clone>(
        &self,
        params: P,
        wish: impl FnOnce(Arc<P>) -> Wish,
        cx: &Context,
    ) -> Option<P> {
        let Some(approver) = &self.handlers.approver else { return Some(params) };
        let params = Arc::new(params);
        let wish = wish(Arc::clone(&params));
        let decision = catching(|| approver.approve(wish, cx.clone())).await;
        matches!(decision, Ok(Decision::Allow)).then(|| Arc::unwrap_or_clone(params))
    }

    fn wait_for(&self, id: ElicitationId) {
        let mut open = self.open_urls.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() == OPEN_URLS {
            open.pop_front();
        }
        open.push_back(id);
    }

    /// Whether this was one that is waited for. It isn't any more.
    fn is_done(&self, id: &ElicitationId) -> bool {
        let mut open = self.open_urls.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open.iter().position(|known| known == id);
        known.is_some_and(|at| open.remove(at).is_some())
    }
}

/// A change that somebody may want to do something about.
enum Change<'a> {
    List(&'a Notice),
    Resource(ResourceUri),
}

impl Service for ClientService {
    async fn call(&self, inbound: Inbound, replies: Replies) -> Reply {
        let Inbound { call, extensions, .. } = inbound;
        let negotiated = extensions.get_arc::<Negotiated>();
        let client = self.client.get();
        match call {
            Call::Request(request) => {
                let cx = client.zip(negotiated).map(|(client, negotiated)| {
                    let client = Client::unowned(Arc::clone(client), negotiated);
                    let (id, params) = (Some(request.id.clone()), request.params.clone());
                    Context::new(client, id, params, extensions, replies)
                });
                // Rare, and much larger than what a notification needs.
                Box::pin(self.request(request, cx)).await
            }
            Call::Notification(notification) => {
                let Some(method) = Method::from_name(notification.method.as_str()) else {
                    self.other_notification(notification);
                    return Reply::Silent;
                };
                if let Some(client) = client {
                    let params = notification.params.as_ref();
                    let change = self.notification(method, params, client);
                    if let (Some(change), Some(negotiated)) = (change, negotiated) {
                        let client = Client::unowned(Arc::clone(client), negotiated);
                        Box::pin(self.tell(change, client)).await;
                    }
                }
                Reply::Silent
            }
        }
    }
}

impl ClientService {
    async fn tell(&self, change: Change<'_>, client: Client) {
        match change {
            Change::List(notice) => notice.take(&client).await,
            Change::Resource(uri) => {
                if let Some(updated) = &self.duties.handlers.resource_updated {
                    // A panic was logged.
                    let _ = catching(|| updated(uri, client)).await;
                }
            }
        }
    }
}

fn unknown(request: &Request) -> ErrorObject {
    ErrorObject::method_not_found(request.method.as_str())
}

fn failed() -> ErrorObject {
    ErrorObject::internal("the client could not serve the request")
}

/// Reads parameters; without any they are read as an empty object.
fn read<T: DeserializeOwned>(params: Option<&RawJson>) -> Result<T, ErrorObject> {
    let read = match params {
        Some(params) => params.parse(),
        None => serde_json::from_str("{}"),
    };
    read.map_err(|error| ErrorObject::invalid_params(format!("invalid parameters: {error}")))
}

/// Reads what a notification says; one that can't be read is ignored.
fn note<T: DeserializeOwned>(method: Method, params: Option<&RawJson>) -> Option<T> {
    match read(params) {
        Ok(params) => Some(params),
        Err(error) => {
            tracing::debug!(%method, %error, "ignored a notification that can't be read");
            None
        }
    }
}

/// What belongs to a task says so, and so does what answers it.
fn relate(meta: &mut Option<Meta>, request: &Request) {
    let asked = request.params.as_ref().and_then(|params| params.parse::<RequestParams>().ok());
    if let Some(task) = asked.and_then(|asked| asked.meta).and_then(|meta| meta.related_task()) {
        *meta = Some(meta.take().unwrap_or_default().with_related_task(&task));
    }
}

/// What came of a handler.
fn settle<T>(
    request: &Request,
    result: Result<Result<T, HandlerError>, Panicked>,
    otherwise: impl FnOnce(Answer) -> Result<T, ErrorObject>,
) -> Result<T, ErrorObject> {
    match result {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => otherwise(error.into_answer(request.method.as_str())),
        Err(Panicked) => Err(failed()),
    }
}

/// Takes a result back to what the server's revision knows; one that can't be said in it is
/// not sent.
fn fit<T: Project>(mut result: T, revision: mcp_types::Revision) -> Result<T, ErrorObject> {
    if let Err(error) = result.fits(revision) {
        tracing::error!(%error, "a result is not sent");
        return Err(failed());
    }
    result.project(revision);
    Ok(result)
}

/// Writes a result once it is known.
fn write<T: serde_core::Serialize + Send + 'static>(
    result: T,
) -> Box<dyn FnOnce(&Request) -> Reply + Send> {
    Box::new(move |request| Reply::result(&request.id, &result))
}

/// A log message of the server, in our own log.
fn trace(message: &LoggingMessageNotificationParams) {
    const SHOWN: usize = 2000;
    let text: String = message.data.as_raw().chars().take(SHOWN).collect();
    let logger = message.logger.as_deref();
    match message.level {
        LoggingLevel::Debug => tracing::debug!(logger, "server: {text}"),
        LoggingLevel::Info | LoggingLevel::Notice => tracing::info!(logger, "server: {text}"),
        LoggingLevel::Warning => tracing::warn!(logger, "server: {text}"),
        _ => tracing::error!(logger, "server: {text}"),
    }
}
