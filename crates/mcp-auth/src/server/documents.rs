use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::CACHE_CONTROL;
use tokio::time::Instant;

use crate::metadata::{ClientDocument, UnusableClientDocument};
use crate::v1::Fetch;
use crate::{FetchError, FetchRequest, Reach};

/// How large a client metadata document may be, in bytes.
const MAX_DOCUMENT: usize = 5 * 1024;
/// How long a document is believed at least and at most.
const FRESH: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(86_400));
/// How long a failure is remembered.
const FAILED: Duration = Duration::from_secs(10);
/// How many documents are kept.
const MAX_KEPT: usize = 1000;

/// Fetches and checks client metadata documents, for authorization servers
/// ([client id metadata documents](https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-id-metadata-documents)).
///
/// Only public addresses are asked, no redirect is followed, 5 KiB are read. Documents are
/// believed as long as they say, between a minute and a day.
pub struct ClientDocuments {
    fetch: Arc<dyn Fetch>,
    reach: Reach,
    kept: Mutex<HashMap<String, Kept>>,
}

#[derive(Clone)]
struct Kept {
    until: Instant,
    /// `None`: there was none.
    document: Option<Arc<ClientDocument>>,
}

impl ClientDocuments {
    /// Documents that `fetch` can get. Use a policy that admits public addresses only.
    pub fn new(fetch: impl Fetch) -> Self {
        Self { fetch: Arc::new(fetch), reach: Reach::Public, kept: Mutex::default() }
    }

    /// Lets documents be fetched from loopback, for a server that is on loopback itself.
    #[must_use]
    pub fn with_loopback(mut self) -> Self {
        self.reach = Reach::Loopback;
        self
    }

    /// The document of `client_id`.
    ///
    /// # Errors
    ///
    /// When the id can't be that of a document, or there is no usable one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the request up.
    pub async fn get(&self, client_id: &str) -> Result<Arc<ClientDocument>, DocumentError> {
        let url = ClientDocument::check_id(client_id, self.reach == Reach::Loopback)?;
        if let Some(kept) = self.kept(client_id) {
            return kept.document.ok_or(DocumentError::FailedLately);
        }
        let request =
            FetchRequest::get(url, self.reach).with_max_body(MAX_DOCUMENT).with_max_redirects(0);
        let outcome = match self.fetch.fetch(request).await {
            Ok(answer) if answer.status == StatusCode::OK => {
                ClientDocument::read(&answer.body, client_id)
                    .map(|document| (Arc::new(document), answer.headers))
                    .map_err(DocumentError::Unusable)
            }
            Ok(answer) => Err(DocumentError::Status(answer.status)),
            Err(error) => Err(DocumentError::Fetch(error)),
        };
        let now = Instant::now();
        match outcome {
            Ok((document, headers)) => {
                let text = headers.get(CACHE_CONTROL).and_then(|value| value.to_str().ok());
                let age = text
                    .and_then(|text| {
                        text.split(',').find_map(|p| p.trim().strip_prefix("max-age="))
                    })
                    .and_then(|age| age.parse().ok())
                    .unwrap_or(0);
                let fresh = Duration::from_secs(age).clamp(FRESH.0, FRESH.1);
                let kept = Kept { until: now + fresh, document: Some(Arc::clone(&document)) };
                self.keep(client_id, kept);
                Ok(document)
            }
            Err(error) => {
                self.keep(client_id, Kept { until: now + FAILED, document: None });
                Err(error)
            }
        }
    }

    fn kept(&self, client_id: &str) -> Option<Kept> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(client_id).filter(|kept| Instant::now() < kept.until).cloned()
    }

    fn keep(&self, client_id: &str, new: Kept) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            let now = Instant::now();
            kept.retain(|_, kept| now < kept.until);
        }
        if kept.len() >= MAX_KEPT {
            // All are fresh: forgetting them costs one request each.
            kept.clear();
        }
        kept.insert(client_id.to_owned(), new);
    }
}

impl fmt::Debug for ClientDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientDocuments").field("reach", &self.reach).finish_non_exhaustive()
    }
}

/// There is no usable client metadata document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The id, or what was found there, can't be used.
    #[error("the client metadata document can't be used")]
    Unusable(#[from] UnusableClientDocument),
    /// It can't be fetched.
    #[error("the client metadata document can't be fetched")]
    Fetch(#[from] FetchError),
    /// Its server answered something else.
    #[error("the server of the client metadata document answered with status {0}")]
    Status(StatusCode),
    /// There was none a few seconds ago.
    #[error("there was no usable client metadata document a few seconds ago")]
    FailedLately,
}
