use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::crypto;
use crate::jose::Thumbprint;

/// How many proofs are remembered.
const MAX_PROOFS: usize = 100_000;

/// The proofs that were seen, for as long as they could be shown again.
///
/// When it is full the oldest are forgotten, and a warning says so.
#[derive(Debug, Default)]
pub(crate) struct ReplayWindow(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    digests: HashSet<[u8; 32]>,
    order: VecDeque<([u8; 32], SystemTime)>,
}

impl ReplayWindow {
    /// Remembers a proof; `false` if it was seen before.
    pub(crate) fn first_time(
        &self,
        id: &str,
        key: &Thumbprint,
        until: SystemTime,
        now: SystemTime,
    ) -> bool {
        let digest = crypto::sha256_parts([id.as_bytes(), key.as_str().as_bytes()]);
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((oldest, until)) = seen.order.front().copied() {
            let full = seen.order.len() >= MAX_PROOFS;
            if !full && until > now {
                break;
            }
            if full && until > now {
                tracing::warn!("the window for replayed proofs is full: it has become shorter");
            }
            seen.order.pop_front();
            seen.digests.remove(&oldest);
        }
        if !seen.digests.insert(digest) {
            return false;
        }
        seen.order.push_back((digest, until));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    // Shows: RS-DV-2
    #[test]
    fn a_proof_is_good_once_for_each_key_until_its_time_is_over() {
        let window = ReplayWindow::default();
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let (a, b) = (Thumbprint::new("a"), Thumbprint::new("b"));
        assert!(window.first_time("1", &a, at(100), at(0)));
        assert!(!window.first_time("1", &a, at(100), at(50)));
        assert!(window.first_time("1", &b, at(100), at(50)));
        assert!(window.first_time("1", &a, at(200), at(100)));
    }
}
