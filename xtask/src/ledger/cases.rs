//! Faults from the field: each is a test, or says why it is none.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Context as _;
use serde::Deserialize;

use super::{results::Results, shows::Shows};

/// The file of cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cases {
    count: usize,
    without_test: BTreeMap<String, String>,
}

impl Cases {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
        Ok(toml::from_str(&text)?)
    }

    fn ids(&self) -> impl Iterator<Item = String> + use<> {
        (1..=self.count).map(|number| format!("FC-{number:03}"))
    }

    /// What doesn't hold; `results` are those of this run.
    pub(super) fn faults(&self, shows: &Shows, results: Option<&Results>) -> Vec<String> {
        let mut faults = Vec::new();
        for id in self.ids() {
            let tests = shows.of(&id);
            match (tests.is_empty(), self.without_test.get(&id)) {
                (true, None) => faults.push(format!("{id}: no test shows this case")),
                (false, Some(_)) => {
                    faults.push(format!("{id}: a test shows what is said to have none"))
                }
                (true, Some(reason)) if reason.is_empty() => {
                    faults.push(format!("{id}: there is no reason"));
                }
                _ => {}
            }
            let red = tests.iter().filter(|test| results.is_some_and(|said| !said.passed(test)));
            faults.extend(red.map(|test| format!("{id}: {} did not pass in this run", test.name)));
        }
        let known: Vec<String> = self.ids().collect();
        let named = shows.ids().filter(|id| id.starts_with("FC-"));
        let strange = named.chain(self.without_test.keys().map(String::as_str));
        let strange = strange.filter(|id| !known.iter().any(|known| known == id));
        faults.extend(strange.map(|id| format!("{id} is no case")));
        faults
    }

    /// In a line.
    pub(super) fn summary(&self) -> String {
        let without = self.without_test.len();
        format!(
            "faults from the field: {} are tests, {without} have a reason",
            self.count - without
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(count: usize, without: &[(&str, &str)]) -> Cases {
        let own = |(id, reason): &(&str, &str)| ((*id).to_owned(), (*reason).to_owned());
        Cases { count, without_test: without.iter().map(own).collect() }
    }

    #[test]
    fn a_case_without_a_test_and_a_reason_is_red() {
        let shows = Shows::default();
        assert!(cases(1, &[("FC-001", "later")]).faults(&shows, None).is_empty());
        for (count, without) in
            [(1, &[][..]), (1, &[("FC-001", "")]), (1, &[("FC-001", "later"), ("FC-002", "later")])]
        {
            assert_eq!(cases(count, without).faults(&shows, None).len(), 1, "{without:?}");
        }
    }
}
