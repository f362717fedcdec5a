//! What can be seen of a server from outside, held against the specification: raw messages, raw
//! HTTP, and the schema of the revision. It uses nothing of our own implementation.
//!
//! A check opens conversations of its own, so that none depends on another. Every wait is bounded.

#![expect(clippy::indexing_slicing, reason = "a member that a JSON value lacks is null")]

mod area;
pub(crate) mod client;
pub(crate) mod http;
mod pipe;
pub mod report;
pub(crate) mod talk;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use self::talk::Talk;

/// Why a check did not pass.
#[derive(Debug)]
pub(crate) enum Fault {
    Fail(String),
    /// It can't be judged here, for example because the server has no such feature.
    Skip(String),
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Fail(error.to_string())
    }
}

pub(crate) type Outcome = Result<(), Fault>;

pub(crate) fn fail<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Fail(why.into()))
}

pub(crate) fn skip<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Skip(why.into()))
}

pub(crate) fn ensure(holds: bool, why: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { fail(why()) }
}

/// Where the server is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// A program that speaks on stdin and stdout; each conversation starts one.
    Command(Vec<String>),
    /// An endpoint of Streamable HTTP.
    Url(String),
}

/// On which transports a check says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    Both,
    Stdio,
    Http,
}

/// One thing that is looked at.
pub(crate) struct Check {
    /// Area and name.
    pub(crate) id: &'static str,
    /// The statements of the ledger that it is about.
    pub(crate) shows: &'static [&'static str],
    /// What is expected.
    pub(crate) title: &'static str,
    pub(crate) on: On,
    pub(crate) run: fn(&Site) -> Outcome,
}

const fn both(
    id: &'static str,
    shows: &'static [&'static str],
    title: &'static str,
    run: fn(&Site) -> Outcome,
) -> Check {
    Check { id, shows, title, on: On::Both, run }
}

const fn stdio(
    id: &'static str,
    shows: &'static [&'static str],
    title: &'static str,
    run: fn(&Site) -> Outcome,
) -> Check {
    Check { id, shows, title, on: On::Stdio, run }
}

const fn over_http(
    id: &'static str,
    shows: &'static [&'static str],
    title: &'static str,
    run: fn(&Site) -> Outcome,
) -> Check {
    Check { id, shows, title, on: On::Http, run }
}

/// Every check of a server.
pub(crate) fn all() -> impl Iterator<Item = &'static Check> {
    area::AREAS.iter().flat_map(|area| area.iter())
}

/// The server that is looked at.
pub(crate) struct Site {
    pub(crate) target: Target,
    /// How long an answer may take.
    pub(crate) wait: Duration,
    broken: Mutex<Vec<String>>,
}

impl Site {
    pub(crate) const fn new(target: Target, wait: Duration) -> Self {
        Self { target, wait, broken: Mutex::new(Vec::new()) }
    }

    /// A conversation in which nothing was said yet.
    pub(crate) fn open(&self) -> Result<Talk<'_>, Fault> {
        Talk::open(self)
    }

    /// A conversation after its handshake.
    pub(crate) fn ready(&self) -> Result<Talk<'_>, Fault> {
        let mut talk = self.open()?;
        talk.greet()?;
        Ok(talk)
    }

    /// The same, if the server has this capability.
    pub(crate) fn with(&self, capability: &str) -> Result<Talk<'_>, Fault> {
        let talk = self.ready()?;
        talk.need(capability)?;
        Ok(talk)
    }

    /// Keeps what broke the schema.
    fn broken(&self, fault: String) {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
    }

    /// What broke the schema since this was last asked.
    pub(crate) fn take_broken(&self) -> Vec<String> {
        std::mem::take(&mut *self.broken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn takes(&self, check: &Check) -> bool {
        match (check.on, &self.target) {
            (On::Both, _) | (On::Stdio, Target::Command(_)) | (On::Http, Target::Url(_)) => true,
            (On::Stdio, Target::Url(_)) | (On::Http, Target::Command(_)) => false,
        }
    }
}
