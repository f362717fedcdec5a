use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use mcp_types::ProgressToken;

use crate::Client;
use crate::call::OnProgress;

/// The reports about a task, which go on to come after the task was made.
pub(crate) struct Watch<'p> {
    client: Client,
    token: Option<ProgressToken>,
    on_progress: Option<OnProgress<'p>>,
}

impl<'p> Watch<'p> {
    pub(crate) const fn new(
        client: Client,
        token: Option<ProgressToken>,
        on_progress: Option<OnProgress<'p>>,
    ) -> Self {
        Self { client, token, on_progress }
    }

    /// Hands reports on while `future` is waited for.
    pub(super) async fn beside<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let polled = future.as_mut().poll(cx);
            if let (Some(token), Some(report)) = (&self.token, &mut self.on_progress) {
                let news = self.client.watches().news(token, cx.waker());
                news.reports.into_iter().for_each(report);
            }
            match polled {
                Poll::Ready(output) => Poll::Ready(output),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Nothing more is reported.
    pub(super) fn end(&mut self) {
        if let Some(token) = self.token.take() {
            self.client.watches().end(&token);
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
