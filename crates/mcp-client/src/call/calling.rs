use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use mcp_jsonrpc::peer::PendingCall;
use mcp_jsonrpc::service::v1::{Ask, AskError};
use mcp_jsonrpc::{Name, RawJson, Response};
use mcp_lifecycle::{Deadline, TaskAugmented, Timeouts};
use mcp_types::{Meta, Method, ProgressToken};

use super::Decode;
use super::options::{OnProgress, Options};
use crate::task::Watch;
use crate::timer::Ticket;
use crate::{Client, ClientError};

/// A request under way.
///
/// # Cancel safety
///
/// Dropping it gives the request up: the server is told so, and an answer that still comes is
/// dropped. Before the first poll nothing was sent.
#[must_use = "futures do nothing unless polled"]
pub struct Calling<'p, T> {
    client: Client,
    method: Name,
    stage: Stage,
    timeouts: Timeouts,
    /// From the first poll that had to wait.
    deadline: Option<Deadline>,
    ticket: Option<Ticket>,
    token: Option<ProgressToken>,
    on_progress: Option<OnProgress<'p>>,
    decode: Decode<T>,
    /// Whether progress is reported after the answer, too.
    as_task: bool,
}

enum Stage {
    /// Nothing is sent.
    Refused(ClientError),
    Asked(PendingCall),
    Over,
}

impl<'p, T> Calling<'p, T> {
    /// `params` writes the parameters with what is to be in `_meta`.
    pub(super) fn new(
        client: Client,
        method: Name,
        options: Options<'p>,
        decode: Decode<T>,
        params: impl FnOnce(Option<&Meta>) -> Result<Option<RawJson>, serde_json::Error>,
    ) -> Self {
        let Options { timeouts, on_progress, mut meta, broken, as_task } = options;
        let mut calling = Self {
            client,
            method,
            stage: Stage::Over,
            timeouts,
            deadline: None,
            ticket: None,
            token: None,
            on_progress,
            decode,
            as_task,
        };
        let name = Method::from_name(calling.method.as_str());
        if let Err(error) = calling.client.check(name, as_task) {
            calling.stage = Stage::Refused(error);
            return calling;
        }
        let observed = calling.on_progress.is_some();
        if timeouts.wants_token(observed) {
            calling.token = calling.client.watches().start(observed);
            if let Some(token) = &calling.token {
                meta.set_progress_token(token.clone());
            }
        }
        let params = match broken {
            Some(error) => Err(error),
            None => params(Some(&meta).filter(|meta| !meta.is_empty())),
        };
        calling.stage = match params {
            Ok(params) => {
                let mut ask = Ask::new(calling.method.clone(), params);
                if as_task {
                    ask.notes.insert(TaskAugmented);
                }
                Stage::Asked(calling.client.peer().call(ask))
            }
            Err(source) => {
                Stage::Refused(ClientError::Encode { method: calling.method.clone(), source })
            }
        };
        calling
    }

    /// A request that fails without being sent.
    pub(super) fn refused(
        client: Client,
        method: Name,
        error: ClientError,
        decode: Decode<T>,
    ) -> Self {
        Self {
            timeouts: client.timeouts(),
            client,
            method,
            stage: Stage::Refused(error),
            deadline: None,
            ticket: None,
            token: None,
            on_progress: None,
            decode,
            as_task: false,
        }
    }

    /// Sends it without waiting for the answer.
    pub(super) fn say_farewell(mut self) {
        if let Stage::Asked(call) = std::mem::replace(&mut self.stage, Stage::Over) {
            self.client.farewells().say(call);
        }
    }

    /// What goes on to be reported.
    pub(crate) fn into_watch(mut self) -> Watch<'p> {
        Watch::new(self.client.clone(), self.token.take(), self.on_progress.take())
    }

    /// Hands the reports on that have come; answers when the server last showed life.
    fn report(&mut self, waker: &Waker) -> Option<Instant> {
        let news = self.client.watches().news(self.token.as_ref()?, waker);
        if let Some(on_progress) = &mut self.on_progress {
            news.reports.into_iter().for_each(on_progress);
        }
        news.alive
    }

    /// Sees to it that this task is woken when time is up; an error when it is.
    fn wait(&mut self, alive: Option<Instant>, waker: &Waker) -> Result<(), ClientError> {
        let timers = self.client.timers();
        if let (Some(deadline), Some(at)) = (&mut self.deadline, alive) {
            deadline.on_progress(at);
        }
        // The timer may run out too early, since progress doesn't move it. It never does late.
        if self.ticket.is_some_and(|ticket| timers.renew(ticket, waker)) {
            return Ok(());
        }
        let now = self.client.clock().now();
        let deadline = self.deadline.get_or_insert_with(|| Deadline::start(now, self.timeouts));
        if let Some(source) = deadline.expired(now) {
            self.ticket = None;
            if let Stage::Asked(call) = std::mem::replace(&mut self.stage, Stage::Over) {
                call.abandon(source.to_string());
            }
            return Err(ClientError::TimedOut { method: self.method.clone(), source });
        }
        self.ticket = deadline.next().map(|at| timers.register(at, waker));
        Ok(())
    }

    fn finish(&mut self, answer: Result<Response, AskError>) -> Result<T, ClientError> {
        self.stage = Stage::Over;
        if !self.as_task {
            self.let_go();
        }
        let response = answer.map_err(|error| ClientError::unanswered(&self.method, error))?;
        (self.decode)(&self.method, response.outcome)
    }

    /// Leaves nothing behind in what is shared.
    fn let_go(&mut self) {
        if let Some(token) = self.token.take() {
            self.client.watches().end(&token);
        }
        if let Some(ticket) = self.ticket.take() {
            self.client.timers().cancel(ticket);
        }
    }
}

impl<T> Future for Calling<'_, T> {
    type Output = Result<T, ClientError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let answer = match &mut this.stage {
            Stage::Asked(call) => Pin::new(call).poll(cx),
            Stage::Refused(_) => {
                return match std::mem::replace(&mut this.stage, Stage::Over) {
                    Stage::Refused(error) => {
                        this.let_go();
                        Poll::Ready(Err(error))
                    }
                    Stage::Asked(_) | Stage::Over => Poll::Pending,
                };
            }
            Stage::Over => return Poll::Pending,
        };
        // After the answer was looked for: what came before it is seen before it.
        let alive = this.report(cx.waker());
        match answer {
            Poll::Ready(answer) => Poll::Ready(this.finish(answer)),
            Poll::Pending => match this.wait(alive, cx.waker()) {
                Ok(()) => Poll::Pending,
                Err(error) => {
                    this.let_go();
                    Poll::Ready(Err(error))
                }
            },
        }
    }
}

impl<T> Drop for Calling<'_, T> {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl<T> fmt::Debug for Calling<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calling").field("method", &self.method).finish_non_exhaustive()
    }
}
