//! Sets each switch, and sees whether the check of its rule sees it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::http::Proxy;
use super::{Break, How};
use crate::check::client::play::Between;
use crate::check::report::{self, Verdict};
use crate::check::{On, Site, Target, all, client};

/// Switches that are set at the same time.
const AT_ONCE: usize = 4;
/// How long a check waits for an answer of an unbroken twin.
const PATIENT: Duration = Duration::from_secs(20);
/// How long it waits for one of a broken twin, which may be missing.
const BROKEN: Duration = Duration::from_secs(3);
/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(30);

/// Checks of how a client ends, which nothing between can change.
const ONLY_SEEN: [&str; 1] = ["client/delete-refused"];

/// Whether a switch was seen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The switch, or the check that the unbroken twin did not pass.
    pub name: String,
    /// Whether all is as it should be.
    pub ok: bool,
    /// The check, and what it said.
    pub detail: String,
}

/// The checks that no switch is for.
fn without_twin() -> Vec<&'static str> {
    let has = |id: &str| Break::all().any(|switch| switch.caught_by == id);
    let clients = client::all().map(|check| check.id).filter(|id| !ONLY_SEEN.contains(id));
    all().map(|check| check.id).chain(clients).filter(|id| !has(id)).collect()
}

/// A server on HTTP; ends with this value.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(server: &str) -> std::io::Result<Self> {
        let mut child = Command::new(server)
            .args(["--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = child.stderr.take().ok_or_else(|| std::io::Error::other("no stderr"))?;
        let (send, urls) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some(url) = line.strip_prefix("listening on ") {
                    let _ = send.send(url.trim().to_owned());
                }
            }
        });
        let url = urls.recv_timeout(START).unwrap_or_default();
        // Dropped and so ended if there is none.
        let served = Self { child, url };
        if served.url.is_empty() {
            return Err(std::io::Error::other("the server did not say where it listens"));
        }
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs all switches whose name or check begins with `only`: `server` is a program that knows
/// `--stdio` and `--http ADDR`, `client` one that runs the scenarios of the public suite, and
/// `twin` the one that is between on a pipe. First the unbroken twins have to pass every check.
///
/// # Errors
///
/// When the server can't be started.
pub fn all_of(server: &str, client: &str, twin: &str, only: &str) -> std::io::Result<Vec<Found>> {
    let served = Served::start(server)?;
    let on_pipe = |switch: &str| {
        Target::Command([twin, "server", switch, "--", server, "--stdio"].map(str::to_owned).into())
    };
    let command = [client.to_owned()];
    let mut found = Vec::new();
    if only.is_empty() {
        found.extend(without_twin().into_iter().map(|id| Found {
            name: id.to_owned(),
            ok: false,
            detail: "no switch is for this check".to_owned(),
        }));
        let proxy = Proxy::start(&served.url, How::Nothing)?;
        for (where_, target) in
            [("stdio", on_pipe("none")), ("http", Target::Url(proxy.url.clone()))]
        {
            found.extend(unbroken(where_, &report::run(&target, PATIENT, "")));
        }
        let lines = each_of_client(&command);
        found.extend(unbroken("the client's side", &lines));
    }
    let switches: Vec<_> = Break::all()
        .filter(|s| s.name.starts_with(only) || s.caught_by.starts_with(only))
        .collect();
    let next = AtomicUsize::new(0);
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(switch) = switches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one = match client::all().find(|check| check.id == switch.caught_by) {
                        Some(check) => broken_client(switch, check, &command),
                        None => broken(switch, &served.url, || on_pipe(switch.name)),
                    };
                    seen.lock().unwrap_or_else(PoisonError::into_inner).push(one);
                }
            });
        }
    });
    found.extend(seen.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(found)
}

/// Puts a twin between a client and our server.
fn between(how: How) -> Between {
    Box::new(move |url| {
        let proxy = Proxy::start(url, how)?;
        Ok((proxy.url.clone(), Box::new(proxy) as Box<dyn std::any::Any>))
    })
}

/// Every check of a client, with an unbroken twin in between.
fn each_of_client(command: &[String]) -> Vec<report::Line> {
    let one = |check| client::one(check, command, PATIENT, Some(between(How::Nothing))).0;
    client::all().map(one).collect()
}

/// Sets one switch of a client.
fn broken_client(switch: &Break, check: &'static client::Check, command: &[String]) -> Found {
    let line = client::one(check, command, BROKEN, Some(between(switch.how))).0;
    let seen = line.verdict == Verdict::Fail;
    let what = if seen { String::new() } else { format!("not seen, {:?}: ", line.verdict) };
    Found {
        name: switch.name.to_owned(),
        ok: seen,
        detail: format!("{}: {what}{}", check.id, line.detail),
    }
}

/// Everything that the unbroken twin did not pass, and one line if it passed.
fn unbroken(place: &str, lines: &[report::Line]) -> Vec<Found> {
    let passed = lines.iter().filter(|line| line.verdict == Verdict::Pass).count();
    let mut found: Vec<_> = lines
        .iter()
        .filter(|line| line.verdict == Verdict::Fail)
        .map(|line| Found {
            name: format!("unbroken on {place}"),
            ok: false,
            detail: format!("{}: {}", line.id, line.detail),
        })
        .collect();
    if found.is_empty() {
        let detail = format!("{passed} checks passed");
        found.push(Found { name: format!("unbroken on {place}"), ok: passed > 0, detail });
    }
    found
}

/// Sets one switch.
fn broken(switch: &'static Break, url: &str, on_pipe: impl FnOnce() -> Target) -> Found {
    let found = |ok, detail: String| Found {
        name: switch.name.to_owned(),
        ok,
        detail: format!("{}: {detail}", switch.caught_by),
    };
    let Some(check) = all().find(|check| check.id == switch.caught_by) else {
        return found(false, "there is no such check".to_owned());
    };
    let pipe_only = matches!(switch.how, How::Line(_) | How::Stay);
    let line = if pipe_only || check.on == On::Stdio {
        report::one(check, &Site::new(on_pipe(), BROKEN)).0
    } else {
        match Proxy::start(url, switch.how) {
            Ok(proxy) => report::one(check, &Site::new(Target::Url(proxy.url.clone()), BROKEN)).0,
            Err(error) => return found(false, error.to_string()),
        }
    };
    match line.verdict {
        Verdict::Fail => found(true, line.detail),
        _ => found(false, format!("it was not seen ({:?} {})", line.verdict, line.detail)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_check_has_a_switch_and_every_switch_a_check_and_a_name() {
        assert_eq!(without_twin(), [""; 0]);
        let ids = || all().map(|check| check.id).chain(client::all().map(|check| check.id));
        let checks: BTreeSet<_> = ids().collect();
        assert_eq!(checks.len(), ids().count());
        let mut names = BTreeSet::new();
        for switch in Break::all() {
            assert!(checks.contains(switch.caught_by), "{}", switch.caught_by);
            assert!(names.insert(switch.name), "{} is there twice", switch.name);
        }
        assert!(names.len() >= 300 && !names.contains("none"), "{}", names.len());
    }
}
