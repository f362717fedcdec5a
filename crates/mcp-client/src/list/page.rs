use std::fmt;

use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_lifecycle::Timeouts;
use mcp_types::{Cursor, Meta, PaginatedRequestParams};
use serde_core::Serialize;

use super::Listed;
use crate::call::{Call, parse};
use crate::{Client, ClientError};

/// Fetches one page of a list: sent by `.await`ing it.
///
/// # Cancel safety
///
/// Dropping the future gives the request up.
#[must_use = "a page is fetched when it is awaited"]
pub struct PageCall<T> {
    client: Client,
    cursor: Option<Cursor>,
    timeouts: Timeouts,
    meta: Meta,
    broken: Option<serde_json::Error>,
    kind: std::marker::PhantomData<fn() -> T>,
}

impl<T: Listed> PageCall<T> {
    pub(crate) fn new(client: &Client, cursor: Option<Cursor>) -> Self {
        Self {
            client: client.clone(),
            cursor,
            timeouts: client.timeouts(),
            meta: Meta::new(),
            broken: None,
            kind: std::marker::PhantomData,
        }
    }

    /// Sets how long the server may take.
    pub fn timeout(mut self, limit: std::time::Duration) -> Self {
        self.timeouts = self.timeouts.with_idle(limit);
        self
    }

    pub(super) fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Puts a member into the request's `_meta`. A value that can't be written as JSON fails
    /// the request before anything is sent.
    pub fn meta<V: Serialize + ?Sized>(mut self, key: impl Into<String>, value: &V) -> Self {
        if let Err(error) = self.meta.insert(key, value) {
            self.broken.get_or_insert(error);
        }
        self
    }

    pub(super) async fn fetch(self) -> Result<T::Page, ClientError> {
        let Self { client, cursor, timeouts, meta, broken, kind: _ } = self;
        if let Some(source) = broken {
            let method = T::METHOD.as_str().into();
            return Err(ClientError::Encode { method, source });
        }
        let mut params = PaginatedRequestParams::new();
        params.cursor = cursor;
        params.meta = Some(meta).filter(|meta| !meta.is_empty());
        let version = client.caches().promises_version();
        let call = Call::new(&client, T::METHOD, &params, parse::<T::Page>);
        let page = call.timeouts(timeouts).await?;
        T::note(&page, client.caches(), version, client.list_limits().items);
        Ok(page)
    }
}

impl<T: Listed> IntoFuture for PageCall<T> {
    type Output = Result<T::Page, ClientError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.fetch())
    }
}

impl<T> fmt::Debug for PageCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageCall").field("cursor", &self.cursor).finish_non_exhaustive()
    }
}
