//! Fuzz bodies on stable: each is an ordinary function with a test that feeds it made-up inputs.
//!
//! By our rule they are in modules named `fuzzing`; `cargo fuzz` drives the same functions.

use anyhow::{Context as _, bail};

use crate::{
    ci::{counts::Counts, tests},
    shell,
};

/// How many inputs each body gets in a smoke run.
const SMOKE: u32 = 4096;

/// `cargo xtask fuzz --smoke [--cases N]`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let mut cases = None;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--smoke" => cases = cases.or(Some(SMOKE)),
            "--cases" => {
                let number = words.next().context("--cases needs a number")?;
                cases = Some(number.parse().context("--cases needs a number")?);
            }
            other => bail!("unknown argument `{other}`"),
        }
    }
    let Some(cases) = cases else { bail!("give --smoke or --cases N") };
    let counts = smoke(cases)?;
    if counts.failed > 0 {
        bail!("{} of {} fuzz tests failed", counts.failed, counts.failed + counts.passed);
    }
    Ok(())
}

/// Runs every fuzz body with `cases` inputs; fails if there is none.
pub(crate) fn smoke(cases: u32) -> anyhow::Result<Counts> {
    let mut command = tests::command(Some("fuzzing::"));
    let told = shell::tee(command.env("PROPTEST_CASES", cases.to_string()))?;
    let counts = Counts::of_output(&told.text);
    if !told.success && counts.failed == 0 {
        bail!("`{}` failed", shell::show(&command));
    }
    if counts.passed + counts.failed == 0 {
        bail!("no module `fuzzing` has a test");
    }
    Ok(counts)
}

/// The smoke run of `ci`.
pub(crate) fn gate() -> anyhow::Result<Counts> {
    smoke(SMOKE)
}
