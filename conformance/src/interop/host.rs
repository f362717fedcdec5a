//! What the host side answers when a server asks, and what it has heard.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_client::{Client, ConnectError, Context, HandlerError, TaskConfig};
use mcp_jsonrpc::link::v1::Link;
use mcp_types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams, ElicitResult,
    ElicitValue, OrderedMap, Role, Root, SamplingContent,
};
use tokio::sync::Notify;

/// The host: it answers every question, and keeps what servers tell.
#[derive(Clone, Debug, Default)]
pub struct Host {
    heard: Arc<Mutex<Vec<String>>>,
    news: Arc<Notify>,
}

impl Host {
    /// A client of this host.
    ///
    /// # Errors
    ///
    /// When the server can't be spoken with.
    pub async fn client(&self, link: impl Link) -> Result<Client, ConnectError> {
        let (logs, tools, updates) = (self.clone(), self.clone(), self.clone());
        Client::builder("mcp-interop", env!("CARGO_PKG_VERSION"))
            .on_sampling(sample)
            .on_elicitation(fill_in)
            .tasks(TaskConfig::new().with_poll_interval(Duration::from_millis(50)))
            .roots(vec![Root::new("file:///workspace")])
            .on_log(move |message| logs.hear(format!("log {}", message.data.as_raw())))
            .on_tools_changed(move |_| {
                let tools = tools.clone();
                async move { tools.hear("tools changed".to_owned()) }
            })
            .on_resource_updated(move |uri, _| {
                let updates = updates.clone();
                async move { updates.hear(format!("updated {}", uri.as_str())) }
            })
            .timeout(Duration::from_secs(20))
            .connect(link)
            .await
    }

    fn hear(&self, what: String) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(what);
        self.news.notify_waiters();
    }

    /// Waits until something that holds `what` was heard, ten seconds at most.
    pub(crate) async fn heard(&self, what: &str) -> bool {
        let wait = async {
            loop {
                let news = self.news.notified();
                let there = self
                    .heard
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .iter()
                    .any(|heard| heard.contains(what));
                if there {
                    return;
                }
                news.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), wait).await.is_ok()
    }
}

async fn sample(
    _: CreateMessageRequestParams,
    _: Context,
) -> Result<CreateMessageResult, HandlerError> {
    let content = SamplingContent::text("sampled");
    Ok(CreateMessageResult::new(Role::Assistant, content, "a-model"))
}

async fn fill_in(_: ElicitRequestFormParams, _: Context) -> Result<ElicitResult, HandlerError> {
    let name = ElicitValue::from("Ada");
    let content: OrderedMap<ElicitValue> = [("name".to_owned(), name)].into_iter().collect();
    Ok(ElicitResult::accept(content))
}
