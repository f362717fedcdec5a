//! The gates, cheapest first; what compiles shares one target folder and one profile.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use super::{Gate, Options, Outcome, counts::Counts, readme, tests};
use crate::{
    bench, codegen, conformance, deny, fuzz, ledger, package, schema, shell, tidy,
    workspace::{Metadata, Package},
};

/// Every gate, in the order in which they run.
pub(crate) const GATES: &[Gate] = &[
    Gate { name: "format", fast: true, run: format },
    Gate { name: "codegen", fast: true, run: |_| done(codegen::run(&["--check".to_owned()])) },
    Gate { name: "schema", fast: true, run: schemas },
    Gate { name: "lock", fast: true, run: lock },
    Gate { name: "tidy", fast: true, run: |_| done(tidy::run(&[])) },
    Gate { name: "lints", fast: true, run: lints },
    Gate { name: "tests", fast: true, run: all_tests },
    Gate { name: "ledger", fast: true, run: |_| ledger::gate() },
    Gate { name: "doctests", fast: true, run: doctests },
    Gate { name: "alone", fast: false, run: each_alone },
    Gate { name: "docs", fast: false, run: docs },
    Gate { name: "package", fast: false, run: packages },
    Gate { name: "deny", fast: false, run: |_| done(deny::run(&[])) },
    Gate { name: "fuzz", fast: false, run: |_| fuzz::gate().map(judged) },
    Gate { name: "cost", fast: false, run: |_| bench::ceilings::gate() },
    Gate { name: "conformance", fast: false, run: |_| conformance::gate() },
    Gate { name: "readme", fast: false, run: readme::gate },
];

/// A gate without tests of its own.
fn done(result: anyhow::Result<()>) -> anyhow::Result<Outcome> {
    result.map(|()| Outcome::Passed(Counts::default()))
}

/// A gate that failed if one of its tests did.
fn judged(counts: Counts) -> Outcome {
    match counts.failed {
        0 => Outcome::Passed(counts),
        _ => Outcome::Failed(counts),
    }
}

/// Runs a test runner and reads its counts.
fn counted(command: &mut std::process::Command) -> anyhow::Result<Outcome> {
    let told = shell::tee(command)?;
    let counts = Counts::of_output(&told.text);
    Ok(if told.success { judged(counts) } else { Outcome::Failed(counts) })
}

/// Every test, and a note of what each has said.
fn all_tests(_: &Options) -> anyhow::Result<Outcome> {
    ledger::forget()?;
    let told = shell::tee(&mut tests::command(None))?;
    ledger::keep(&told.text)?;
    let counts = Counts::of_output(&told.text);
    Ok(if told.success { judged(counts) } else { Outcome::Failed(counts) })
}

/// Says so, instead of failing, where the toolchain came without a component.
fn component(name: &str) -> Result<(), Outcome> {
    match shell::works(&mut shell::cargo([name, "--version"])) {
        true => Ok(()),
        false => Err(Outcome::Skipped(format!("the toolchain has no {name}"))),
    }
}

fn format(_: &Options) -> anyhow::Result<Outcome> {
    if let Err(skipped) = component("fmt") {
        return Ok(skipped);
    }
    done(shell::run(&mut shell::cargo(["fmt", "--all", "--", "--check"])))
}

/// The model agrees with every official schema that is at hand.
fn schemas(options: &Options) -> anyhow::Result<Outcome> {
    let given = options.schemas.clone().or_else(|| env::var_os("MCP_SCHEMA_DIR").map(Into::into));
    let found = match given {
        Some(folder) => {
            let found = official_schemas(&folder);
            anyhow::ensure!(!found.is_empty(), "no schema-*.json in {}", folder.display());
            found
        }
        None => beside(&shell::root()),
    };
    if found.is_empty() {
        return Ok(Outcome::Skipped("no official schema here (--schemas DIR)".to_owned()));
    }
    for path in found {
        shell::say(format_args!("schema diff {}", path.display()));
        schema::run(&["diff".to_owned(), path.to_string_lossy().into_owned()])?;
    }
    done(Ok(()))
}

/// Copies of the official schemas in `spec` folders next to the checkout.
fn beside(root: &Path) -> Vec<PathBuf> {
    let siblings = root.parent().and_then(|parent| fs::read_dir(parent).ok());
    let mut found: Vec<PathBuf> = siblings
        .into_iter()
        .flatten()
        .flatten()
        .flat_map(|sibling| official_schemas(&sibling.path().join("spec")))
        .collect();
    found.sort();
    found
}

/// The files `schema-<revision>.json` of a folder.
fn official_schemas(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("schema-") && name.ends_with(".json")
        })
        .collect();
    found.sort();
    found
}

/// The committed lock file is the one that the manifests need. Starting us has completed it, so
/// `--locked` alone would never complain.
fn lock(_: &Options) -> anyhow::Result<Outcome> {
    if env::var_os("CI").is_none() {
        return Ok(Outcome::Skipped("before a commit it may differ".to_owned()));
    }
    done(unchanged(&shell::root(), "Cargo.lock"))
}

/// Fails, and shows the difference, if `file` isn't as it was committed.
fn unchanged(root: &Path, file: &str) -> anyhow::Result<()> {
    let mut git = std::process::Command::new("git");
    shell::run(git.current_dir(root).args(["diff", "--exit-code", "HEAD", "--", file]))
}

fn lints(_: &Options) -> anyhow::Result<Outcome> {
    if let Err(skipped) = component("clippy") {
        return Ok(skipped);
    }
    let arguments = ["clippy", "--locked", "--workspace", "--all-targets", "--all-features"];
    done(shell::run(shell::cargo(arguments).args([
        "--keep-going",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ])))
}

fn doctests(_: &Options) -> anyhow::Result<Outcome> {
    let arguments = ["test", "--locked", "--workspace", "--all-features", "--doc"];
    counted(shell::cargo(arguments).args(["--quiet", "--no-fail-fast"]))
}

/// Each crate compiles on its own: in a build of the workspace, another crate's features hide
/// what a manifest forgot.
fn each_alone(_: &Options) -> anyhow::Result<Outcome> {
    let metadata = Metadata::of_workspace()?;
    // Clippy, because it can deny warnings without building the dependencies anew; code that a
    // feature leaves unused is a mistake in the manifest.
    let has_clippy = component("clippy").is_ok();
    let mut failed = Vec::new();
    for package in metadata.published() {
        for features in feature_sets(package) {
            let verb: &[&str] = if has_clippy { &["clippy", "--no-deps"] } else { &["check"] };
            let mut command = shell::cargo(verb);
            command.args(["--locked", "--quiet", "--package", &package.name]).args(features);
            shell::say(shell::show(&command));
            if has_clippy {
                command.args(["--", "-D", "warnings"]);
            }
            if shell::run(&mut command).is_err() {
                failed.push(format!("{} {}", package.name, features.unwrap_or_default()));
            }
        }
    }
    anyhow::ensure!(failed.is_empty(), "not alone: {}", failed.join(", "));
    done(Ok(()))
}

/// The arguments for no, default and all features, without those that come to the same.
fn feature_sets(package: &Package) -> Vec<Option<&'static str>> {
    let named = package.features.keys().filter(|name| *name != "default").count();
    let defaults = package.features.get("default").map_or(0, Vec::len);
    let mut sets = vec![None];
    if defaults > 0 {
        sets.push(Some("--no-default-features"));
    }
    if named > 0 {
        sets.push(Some("--all-features"));
    }
    sets
}

fn docs(_: &Options) -> anyhow::Result<Outcome> {
    let arguments = ["doc", "--locked", "--workspace", "--all-features", "--no-deps", "--quiet"];
    done(shell::run(shell::cargo(arguments).env("RUSTDOCFLAGS", "-Dwarnings")))
}

fn packages(_: &Options) -> anyhow::Result<Outcome> {
    // Before a commit there is always something uncommitted.
    let dirty = env::var_os("CI").is_none().then(|| "--allow-dirty".to_owned());
    done(package::run(dirty.as_slice()))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn feature_sets_that_come_to_the_same_are_checked_once() {
        let check = |features: &[(&str, &[&str])]| {
            let features = features
                .iter()
                .map(|(name, on)| ((*name).into(), on.iter().map(|on| (*on).into()).collect()))
                .collect();
            feature_sets(&Package { features, ..Package::default() })
        };
        assert_eq!(check(&[]), [None]);
        assert_eq!(check(&[("testing", &[])]), [None, Some("--all-features")]);
        assert_eq!(
            check(&[("default", &["tokio"]), ("tokio", &[])]),
            [None, Some("--no-default-features"), Some("--all-features")]
        );
    }

    #[test]
    fn a_test_runner_that_fails_without_a_count_is_a_failure() {
        let outcome = counted(&mut shell::cargo(["no-such-command-of-ours"])).unwrap();
        assert_eq!(outcome, Outcome::Failed(Counts::default()));
    }

    #[test]
    fn schemas_next_to_the_checkout_are_found() {
        let parent = env::temp_dir().join(format!("xtask-schemas-{}", std::process::id()));
        let spec = parent.join("notes/spec");
        fs::create_dir_all(&spec).unwrap();
        fs::create_dir_all(parent.join("checkout")).unwrap();
        for name in ["schema-2025-11-25.json", "schema-2024-11-05.json", "other.json"] {
            fs::write(spec.join(name), "{}").unwrap();
        }
        let found = beside(&parent.join("checkout"));
        let none =
            schemas(&Options { schemas: Some(parent.join("checkout")), ..Options::default() });
        fs::remove_dir_all(&parent).unwrap();
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()).collect();
        assert_eq!(names, ["schema-2024-11-05.json", "schema-2025-11-25.json"]);
        assert!(none.is_err(), "a folder that was named must have schemas");
    }

    #[test]
    fn a_file_that_differs_from_its_commit_is_a_failure() {
        let folder = env::temp_dir().join(format!("xtask-unchanged-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let git = |args: &[&str]| {
            let identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
            let mut git = std::process::Command::new("git");
            shell::read(git.current_dir(&folder).args(identity).args(args)).unwrap();
        };
        fs::write(folder.join("Cargo.lock"), "one").unwrap();
        git(&["init", "--quiet"]);
        git(&["add", "Cargo.lock"]);
        git(&["commit", "--quiet", "--message", "one"]);
        let before = unchanged(&folder, "Cargo.lock").is_ok();
        fs::write(folder.join("Cargo.lock"), "two").unwrap();
        let after = unchanged(&folder, "Cargo.lock").is_ok();
        fs::remove_dir_all(&folder).unwrap();
        assert!(before && !after);
    }

    #[test]
    fn every_gate_has_its_own_name() {
        let mut names: Vec<&str> = GATES.iter().map(|gate| gate.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), GATES.len());
    }
}
