//! Where each sentence of the specification is kept: the ledger of requirements, the tests that
//! show them, and what these tests have said in this very run.

mod book;
mod cases;
mod page;
mod results;
mod shows;

use std::{fs, path::PathBuf};

use anyhow::bail;

use self::{book::Book, cases::Cases, results::Results, shows::Shows};
use crate::{
    ci::{Outcome, counts::Counts, tests},
    flags,
    fresh::Fresh,
    shell,
    workspace::Metadata,
};

/// `cargo xtask ledger [--write]`: runs the tests, and judges.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    flags::only(args, &["--write"])?;
    let write = !args.is_empty();
    let results = if write {
        None
    } else {
        forget()?;
        let told = shell::tee(&mut tests::command(None))?;
        keep(&told.text)?;
        Some(Results::read(&fs::read_to_string(kept()?)?))
    };
    match judge(results, write)? {
        Outcome::Failed(counts) => bail!("{} requirements are red", counts.failed),
        _ => Ok(()),
    }
}

/// Keeps what the tests of this run have said, for the gate.
pub(crate) fn keep(output: &str) -> anyhow::Result<()> {
    let file = kept()?;
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(file, tests::report(output)?)?)
}

/// Forgets what an earlier run has said.
pub(crate) fn forget() -> anyhow::Result<()> {
    for file in [kept()?, tests::nextest_report()] {
        match fs::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

fn kept() -> anyhow::Result<PathBuf> {
    Ok(Metadata::of_workspace()?.target_directory.join("xtask/tests.log"))
}

/// Judges by what the tests of this run have said.
pub(crate) fn gate() -> anyhow::Result<Outcome> {
    match fs::read_to_string(kept()?) {
        Ok(output) => judge(Some(Results::read(&output)), false),
        Err(_) => Ok(Outcome::Skipped("the tests did not run".to_owned())),
    }
}

fn judge(results: Option<Results>, write: bool) -> anyhow::Result<Outcome> {
    let root = shell::root();
    let book = Book::read(&root.join("conformance/requirements/2025-11-25.toml"))?;
    let shows = Shows::collect(&root)?;
    let mut faults = book.unknown(&shows);
    faults.extend(book.contradictions(&shows));
    let cases = Cases::read(&root.join("conformance/requirements/field-cases.toml"))?;
    faults.extend(cases.faults(&shows, results.as_ref()));
    let mut counts = Counts::default();
    if let Some(results) = &results {
        for row in &book.rows {
            let tests = shows.of(&row.id);
            let red: Vec<_> = tests.iter().filter(|test| !results.passed(test)).collect();
            for test in &red {
                faults.push(format!("{}: {} did not pass in this run", row.id, test.name));
            }
            match (tests.is_empty(), red.is_empty()) {
                (false, true) => counts.passed += 1,
                (false, false) => counts.failed += 1,
                (true, _) => {}
            }
        }
    }
    let mut pages = Fresh::new(!write, "cargo xtask ledger --write");
    pages.put(&root.join("docs/conformance.md"), &page::write(&book, &shows))?;
    for fault in &faults {
        shell::say(format_args!("FAILED {fault}"));
    }
    shell::say(cases.summary());
    for line in page::summary(&book, &shows).lines() {
        shell::say(line);
    }
    pages.finish()?;
    if !faults.is_empty() {
        counts.failed = counts.failed.max(1);
        return Ok(Outcome::Failed(counts));
    }
    Ok(Outcome::Passed(counts))
}
