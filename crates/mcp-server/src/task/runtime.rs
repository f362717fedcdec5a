use std::sync::Arc;
use std::time::{Instant, SystemTime};

use mcp_jsonrpc::service::v1::BoxFuture;
use mcp_lifecycle::tasks::{Spawn, TaskConfig, Tasks};
use mcp_lifecycle::v1::{Clock, IdSource, NoRandomness};

/// Tasks that run in tasks of the runtime.
pub(super) fn tasks(config: TaskConfig) -> Tasks {
    let spawn: Spawn = Arc::new(|run| drop(tokio::spawn(run)));
    Tasks::new(config, Arc::new(TokioClock), Arc::new(OsIds), spawn, SystemTime::now())
}

/// The clock of the runtime, with time that can be paused in tests.
struct TokioClock;

impl Clock for TokioClock {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        // An async block, so that the runtime has to be entered for the first poll only.
        Box::pin(async move { tokio::time::sleep_until(deadline.into()).await })
    }
}

/// Ids from the operating system's source of randomness.
struct OsIds;

impl IdSource for OsIds {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        getrandom::fill(bytes).map_err(NoRandomness::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: TASK-029, TASK-030, TASK-084
    #[test]
    fn ids_are_from_a_source_that_can_not_be_guessed() {
        mcp_lifecycle::testing::id_source_suite(&OsIds);
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_keeps_its_contract() {
        mcp_lifecycle::testing::clock_suite(&TokioClock);
    }
}
