//! What can be seen of a client: ours is the server, and the client is any program that runs the
//! scenarios of the public suite.

mod checks;
pub(crate) mod play;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use self::play::{Between, Client};
use super::report::{Line, Verdict};
use super::{Fault, Outcome};

/// One thing that is looked at.
pub(crate) struct Check {
    pub(crate) id: &'static str,
    pub(crate) shows: &'static [&'static str],
    pub(crate) title: &'static str,
    run: fn(&Client) -> Outcome,
}

const fn check(
    id: &'static str,
    shows: &'static [&'static str],
    title: &'static str,
    run: fn(&Client) -> Outcome,
) -> Check {
    Check { id, shows, title, run }
}

/// Every check of a client.
pub(crate) fn all() -> impl Iterator<Item = &'static Check> {
    checks::CHECKS.iter()
}

/// Runs one check; beside its line there is what broke the schema on the way.
pub(crate) fn one(
    check: &'static Check,
    command: &[String],
    wait: Duration,
    between: Option<Between>,
) -> (Line, Vec<String>) {
    let client = Client { command: command.to_vec(), wait, between, broken: Mutex::default() };
    let (verdict, detail) = match (check.run)(&client) {
        Ok(()) => (Verdict::Pass, String::new()),
        Err(Fault::Fail(why)) => (Verdict::Fail, why),
        Err(Fault::Skip(why)) => (Verdict::Skip, why),
    };
    let broken = client.broken.into_inner().unwrap_or_else(PoisonError::into_inner);
    (Line { id: check.id, shows: check.shows, title: check.title, verdict, detail }, broken)
}
