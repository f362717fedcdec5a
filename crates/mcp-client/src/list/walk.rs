use std::collections::HashSet;

use mcp_lifecycle::Timeouts;

use super::page::PageCall;
use super::{ListLimits, ListWarning, Listed, Listing};
use crate::{Client, ClientError};

/// Fetches page after page, and keeps the list.
pub(super) async fn walk<T: Listed>(
    client: &Client,
    timeouts: Timeouts,
) -> Result<Listing<T>, ClientError> {
    let ListLimits { pages, items: limit } = client.list_limits();
    let version = T::slot(client.caches()).version();
    let (mut items, mut keys) = (Vec::new(), HashSet::new());
    let (mut used, mut cursor, mut walked) = (HashSet::new(), None, 0usize);
    let warning = loop {
        let page = PageCall::<T>::new(client, cursor).timeouts(timeouts).fetch().await?;
        let (found, next) = T::open(page);
        let mut full = false;
        for item in found {
            if keys.contains(item.key()) {
                continue;
            }
            full = items.len() >= limit;
            if full {
                break;
            }
            keys.insert(item.key().to_owned());
            items.push(item);
        }
        walked += 1;
        if full {
            break Some(ListWarning::TooManyItems { limit });
        }
        let Some(next) = next else { break None };
        if !used.insert(next.clone()) {
            break Some(ListWarning::CursorRepeated { cursor: next });
        }
        if walked >= pages {
            break Some(ListWarning::TooManyPages { limit: pages });
        }
        cursor = Some(next);
    };
    if let Some(warning) = &warning {
        tracing::warn!(method = T::METHOD.as_str(), %warning, "a list may be incomplete");
    }
    let list = Listing::new(items, warning);
    T::slot(client.caches()).keep(version, list.clone());
    Ok(list)
}
