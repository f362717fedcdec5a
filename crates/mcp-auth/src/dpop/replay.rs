use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

#[cfg(feature = "server")]
use crate::v1::{BoxFuture, ProofDigest, ReplayError, ReplayStore};

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
    pub(crate) fn note(&self, digest: [u8; 32], until: SystemTime, now: SystemTime) -> bool {
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

#[cfg(feature = "server")]
impl ReplayStore for ReplayWindow {
    fn first_time<'a>(
        &'a self,
        proof: ProofDigest,
        until: SystemTime,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<bool, ReplayError>> {
        Box::pin(async move { Ok(self.note(*proof.as_bytes(), until, now)) })
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
        let (a, b) = ([1; 32], [2; 32]);
        assert!(window.note(a, at(100), at(0)));
        assert!(!window.note(a, at(100), at(50)));
        assert!(window.note(b, at(100), at(50)));
        assert!(window.note(a, at(200), at(100)));
    }
}
