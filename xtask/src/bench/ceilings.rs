//! The regression check: what a call takes in instructions, held against ceilings in a file.

use std::{collections::BTreeMap, fs};

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::programs::{Profile, Programs, has_valgrind};
use crate::{
    ci::{Outcome, counts::Counts},
    shell, workspace,
};

/// Where the ceilings are.
const FILE: &str = "conformance/bench/ceilings.toml";
/// Calls whose instructions are counted: few, since the counts are the same for each.
const CALLS: [&str; 2] = ["--calls", "1000"];

/// Fails when a call takes more than it may.
pub(super) fn check() -> anyhow::Result<()> {
    let Some(counts) = compare()? else { bail!("there is no valgrind to count instructions with") };
    if counts.failed > 0 {
        bail!("{} ceilings are exceeded", counts.failed);
    }
    Ok(())
}

/// The same as a gate, which is skipped where nothing can be counted.
pub(crate) fn gate() -> anyhow::Result<Outcome> {
    Ok(match compare()? {
        None => Outcome::Skipped("no valgrind here".to_owned()),
        Some(counts) if counts.failed > 0 => Outcome::Failed(counts),
        Some(counts) => Outcome::Passed(counts),
    })
}

fn compare() -> anyhow::Result<Option<Counts>> {
    if !has_valgrind() {
        return Ok(None);
    }
    let path = shell::root().join(FILE);
    let ceilings: BTreeMap<String, f64> = toml::from_str(&fs::read_to_string(path)?)?;
    let ratios = measure()?;
    let mut counts = Counts::default();
    for (name, ceiling) in &ceilings {
        let ratio =
            ratios.get(name).with_context(|| format!("{FILE}: nothing is called {name}"))?;
        let holds = ratio <= ceiling;
        let verdict = if holds { "ok" } else { "EXCEEDED" };
        shell::say(format_args!("{name:<20} {ratio:>6.2} of {ceiling:.2}  {verdict}"));
        *(if holds { &mut counts.passed } else { &mut counts.failed }) += 1;
    }
    if let Some(name) = ratios.keys().find(|name| !ceilings.contains_key(*name)) {
        bail!("{FILE} has no ceiling for {name}");
    }
    Ok(Some(counts))
}

/// The ratios, by name. The driver checks every answer: a server that fails fast is not cheap.
fn measure() -> anyhow::Result<BTreeMap<String, f64>> {
    let programs = Programs::build(Profile::Quick)?;
    let folder = workspace::Metadata::of_workspace()?.target_directory.join("cost");
    fs::create_dir_all(&folder)?;
    let mut ratios = BTreeMap::new();
    for (what, servers, names) in [
        ("stdio-count", programs.stdio().to_vec(), &["stdio"][..]),
        (
            "http-count",
            [&programs.http()[..], &[programs.events(), programs.stateless()]].concat(),
            &["http", "http-sse", "http-no-sessions"],
        ),
    ] {
        let json = folder.join(what);
        // The driver appends.
        fs::write(&json, "")?;
        let options = CALLS.map(str::to_owned);
        let mut driver = programs.driver(what, &options);
        shell::run(driver.arg("--json").arg(&json).args(servers))?;
        let measured: Value = serde_json::from_str(&fs::read_to_string(&json)?)?;
        let rows = measured.get("rows").and_then(Value::as_array).context("no rows")?;
        // The first one is what the others are compared with.
        let others = rows.iter().skip(1);
        anyhow::ensure!(others.len() == names.len(), "{what}: {} rows", rows.len());
        for (row, name) in others.zip(names) {
            let ratio = row.get("ratio").and_then(Value::as_f64).context("no ratio")?;
            anyhow::ensure!(ratio > 1.0, "{name}: less than the least, {ratio}");
            ratios.insert((*name).to_owned(), ratio);
        }
    }
    Ok(ratios)
}
