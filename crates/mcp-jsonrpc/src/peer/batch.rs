use std::collections::HashMap;

use crate::Outgoing;

/// Batches whose responses are being gathered.
#[derive(Default)]
pub(super) struct Batches {
    open: HashMap<u64, Batch>,
    last: u64,
}

#[derive(Default)]
struct Batch {
    /// Members that are still to be answered.
    open: usize,
    responses: Vec<Outgoing>,
}

impl Batches {
    /// Opens a batch; it holds itself open until it is closed like a member.
    pub(super) fn open(&mut self) -> u64 {
        self.last += 1;
        self.open.insert(self.last, Batch { open: 1, responses: Vec::new() });
        self.last
    }

    /// One more member is to be answered.
    pub(super) fn add(&mut self, number: u64) {
        if let Some(batch) = self.open.get_mut(&number) {
            batch.open += 1;
        }
    }

    /// An answer to what was no member.
    pub(super) fn push(&mut self, number: u64, response: Outgoing) {
        if let Some(batch) = self.open.get_mut(&number) {
            batch.responses.push(response);
        }
    }

    /// One member is done. Hands over all responses once that was the last.
    pub(super) fn close(
        &mut self,
        number: u64,
        response: Option<Outgoing>,
    ) -> Option<Vec<Outgoing>> {
        let batch = self.open.get_mut(&number)?;
        batch.responses.extend(response);
        batch.open = batch.open.saturating_sub(1);
        if batch.open > 0 {
            return None;
        }
        self.open.remove(&number).map(|batch| batch.responses)
    }

    /// Hands over the responses of those that will never be complete.
    pub(super) fn take_all(&mut self) -> Vec<Vec<Outgoing>> {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|(number, _)| *number);
        open.into_iter().map(|(_, batch)| batch.responses).collect()
    }
}
