//! Cancellation.

use super::DoesNotFit;
use crate::{generated::base::CancelledNotificationParams, revision::Revision};

impl CancelledNotificationParams {
    #[expect(clippy::unused_self, reason = "the shape is generated")]
    pub(crate) fn project_by_hand(&mut self, _to: Revision) {}

    pub(crate) fn fits_by_hand(&self, to: Revision) -> Result<(), DoesNotFit> {
        if self.request_id.is_none() && to != Revision::V2025_11_25 {
            return Err(DoesNotFit::CancelledWithoutId { to });
        }
        Ok(())
    }
}
