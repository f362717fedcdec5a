use std::collections::BTreeMap;

use mcp_types::ProgressToken;

use crate::Ids;

/// The progress tokens of our requests under way, and how far each has come.
///
/// The table gives the tokens out, so a token is ours exactly when it is in the table, and a
/// late one is told from a foreign one without remembering anything about requests that are
/// over. Bounded: it holds as many tokens as it was made for, and refuses one more.
///
/// Specification: [progress](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress).
#[derive(Debug)]
pub struct ProgressTable {
    ids: Ids,
    /// The last value of each request under way.
    active: BTreeMap<i64, Option<f64>>,
    limit: usize,
    dropped: u64,
}

/// What is to be done with a progress notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgressVerdict {
    /// It goes to whoever watches the request.
    Deliver,
    /// It is dropped: the value did not grow. The peer lives, though.
    NotGrowing,
    /// It is dropped: its request is over.
    Late,
    /// It is dropped: the token is none of ours.
    Unknown,
}

impl ProgressVerdict {
    /// Whether the notification shows that the request is still worked on, so that it ends a
    /// silence. A peer that repeats a value is lax, and no reason to fail the call.
    #[must_use]
    pub const fn is_sign_of_life(self) -> bool {
        matches!(self, Self::Deliver | Self::NotGrowing)
    }
}

/// Too many requests with a progress token are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("progress of more than {limit} requests can't be watched at once")]
#[non_exhaustive]
pub struct TooManyTokens {
    /// The limit that was in force.
    pub limit: usize,
}

impl ProgressTable {
    /// How many tokens a table holds by default: as many as there may be requests that wait for
    /// their response.
    pub const LIMIT: usize = 1024;

    /// An empty table.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_limit(Self::LIMIT)
    }

    /// An empty table that holds at most `limit` tokens.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self { ids: Ids::new(), active: BTreeMap::new(), limit, dropped: 0 }
    }

    /// A token for a request that is about to be sent. It is given out once, and has to be
    /// [`end`](Self::end)ed.
    ///
    /// # Errors
    ///
    /// [`TooManyTokens`] when the table is full. The request may be sent without a token.
    pub fn start(&mut self) -> Result<ProgressToken, TooManyTokens> {
        if self.active.len() >= self.limit {
            return Err(TooManyTokens { limit: self.limit });
        }
        let number = self.ids.next();
        self.active.insert(number, None);
        Ok(number.into())
    }

    /// A progress notification came in.
    pub fn take(&mut self, token: &ProgressToken, progress: f64) -> ProgressVerdict {
        let known = token.as_i64();
        let verdict = match known.and_then(|number| self.active.get_mut(&number)) {
            Some(last) if last.is_none_or(|last| last < progress) => {
                *last = Some(progress);
                return ProgressVerdict::Deliver;
            }
            Some(_) => ProgressVerdict::NotGrowing,
            None if known.is_some_and(|number| self.ids.has_given(number)) => ProgressVerdict::Late,
            None => ProgressVerdict::Unknown,
        };
        self.dropped = self.dropped.saturating_add(1);
        tracing::debug!(?token, progress, ?verdict, "progress notification dropped");
        verdict
    }

    /// The request of `token` is over, however it ended: what still comes is late. Ending it
    /// twice does nothing.
    pub fn end(&mut self, token: &ProgressToken) {
        if let Some(number) = token.as_i64() {
            self.active.remove(&number);
        }
    }

    /// How many requests with a token are under way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.active.len()
    }

    /// Whether no request with a token is under way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// How many notifications were dropped.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Default for ProgressTable {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(table: &mut ProgressTable, token: &ProgressToken, values: &[f64]) -> String {
        let verdicts: Vec<_> =
            values.iter().map(|value| format!("{:?}", table.take(token, *value))).collect();
        verdicts.join(" ")
    }

    // Shows: PROGRESS-005, FC-029
    #[test]
    fn any_sequence_is_taken_and_only_growth_delivered() {
        let mut table = ProgressTable::new();
        let token = table.start().unwrap();
        assert_eq!(
            take(&mut table, &token, &[5.0, 5.0, 3.0, 7.0, 0.1 + 0.2, f64::NAN, 7.000_001]),
            "Deliver NotGrowing NotGrowing Deliver NotGrowing NotGrowing Deliver"
        );
        assert_eq!(table.dropped(), 4);
        assert!(ProgressVerdict::NotGrowing.is_sign_of_life());
    }

    // Shows: PROGRESS-008, FC-028
    #[test]
    fn a_token_that_a_peer_made_up_is_ignored() {
        let mut table = ProgressTable::new();
        let token = table.start().unwrap();
        for foreign in
            ["tool-call-4".into(), "1".into(), 0.into(), 2.into(), ProgressToken::from(-1)]
        {
            assert_eq!(table.take(&foreign, 1.0), ProgressVerdict::Unknown, "{foreign}");
        }
        assert!(!ProgressVerdict::Unknown.is_sign_of_life());
        assert_eq!(table.take(&token, 0.0), ProgressVerdict::Deliver);
    }

    // Shows: PROGRESS-009, PROGRESS-018
    #[test]
    fn progress_after_the_end_is_late() {
        let mut table = ProgressTable::new();
        let token = table.start().unwrap();
        table.take(&token, 1.0);
        table.end(&token);
        table.end(&token);
        assert_eq!(table.take(&token, 2.0), ProgressVerdict::Late);
        assert!(!ProgressVerdict::Late.is_sign_of_life());
    }

    // Shows: PROGRESS-002, PROGRESS-016
    #[test]
    fn tokens_differ_and_the_table_empties() {
        let mut table = ProgressTable::with_limit(3);
        let tokens: Vec<_> = (0..3).map(|_| table.start().unwrap()).collect();
        assert_eq!(table.start(), Err(TooManyTokens { limit: 3 }));
        assert!(tokens.windows(2).all(|pair| pair[0] != pair[1]));
        tokens.iter().for_each(|token| table.end(token));
        assert!(table.is_empty());
        let again = table.start().unwrap();
        assert!(!tokens.contains(&again), "a token is never given out again");
    }

    // Shows: PROGRESS-017
    #[test]
    fn a_flood_costs_no_memory() {
        let mut table = ProgressTable::new();
        let token = table.start().unwrap();
        for n in 0..10_000 {
            table.take(&ProgressToken::from(format!("made up {n}")), 1.0);
            table.take(&token, f64::from(n));
        }
        assert_eq!((table.len(), table.dropped()), (1, 10_000));
    }
}
