//! Versions against requirements such as `>= 1.2, < 2.0`, as advisories write them.

use std::cmp::Ordering;

use anyhow::{Context as _, bail};

/// Whether `version` satisfies every part of `requirement`.
pub(super) fn matches(version: &str, requirement: &str) -> anyhow::Result<bool> {
    let version = Version::parse(version)?;
    let mut result = true;
    for part in requirement.split(',').map(str::trim) {
        result &= version.satisfies(part).with_context(|| format!("requirement `{part}`"))?;
    }
    Ok(result)
}

#[derive(Clone, Debug, PartialEq)]
struct Version {
    /// Major, minor and patch.
    numbers: [u64; 3],
    /// How many of them were written down.
    given: usize,
    pre: Vec<String>,
}

impl Version {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let text = text.split('+').next().unwrap_or_default();
        let (numbers, pre) = text.split_once('-').unwrap_or((text, ""));
        let mut version = Self { numbers: [0; 3], given: 0, pre: Vec::new() };
        version.pre.extend(pre.split('.').filter(|part| !part.is_empty()).map(str::to_owned));
        for part in numbers.split('.') {
            let Some(slot) = version.numbers.get_mut(version.given) else {
                bail!("`{text}` has more than three numbers");
            };
            *slot = part.parse().with_context(|| format!("`{text}` is no version"))?;
            version.given += 1;
        }
        Ok(version)
    }

    fn satisfies(&self, part: &str) -> anyhow::Result<bool> {
        if part == "*" {
            return Ok(true);
        }
        let operator = part.find(|c: char| c.is_ascii_digit()).context("there is no version")?;
        let (operator, wanted) = part.split_at(operator);
        let wanted = Self::parse(wanted.trim())?;
        let order = self.order(&wanted);
        let below = |end: [u64; 3]| order != Ordering::Less && self.numbers < end;
        let [major, minor, patch] = wanted.numbers;
        Ok(match operator.trim() {
            "<" => order == Ordering::Less,
            "<=" => order != Ordering::Greater,
            ">" => order == Ordering::Greater,
            ">=" => order != Ordering::Less,
            "=" => order == Ordering::Equal,
            "~" if wanted.given == 1 => below([major + 1, 0, 0]),
            "~" => below([major, minor + 1, 0]),
            // The first number that isn't 0 may not change.
            "" | "^" if major > 0 || wanted.given == 1 => below([major + 1, 0, 0]),
            "" | "^" if minor > 0 || wanted.given == 2 => below([0, minor + 1, 0]),
            "" | "^" => below([0, 0, patch + 1]),
            other => bail!("unknown operator `{other}`"),
        })
    }

    fn order(&self, other: &Self) -> Ordering {
        let pre = match (self.pre.is_empty(), other.pre.is_empty()) {
            // A release comes after its candidates.
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => self.order_of_pre(other),
        };
        self.numbers.cmp(&other.numbers).then(pre)
    }

    /// Numbers by value and before words; the longer of two equal beginnings is later.
    fn order_of_pre(&self, other: &Self) -> Ordering {
        for (a, b) in self.pre.iter().zip(&other.pre) {
            let order = match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        self.pre.len().cmp(&other.pre.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(requirement: &str, inside: &[&str], outside: &[&str]) {
        for version in inside {
            assert!(matches(version, requirement).unwrap(), "{version} is in {requirement}");
        }
        for version in outside {
            assert!(!matches(version, requirement).unwrap(), "{version} is not in {requirement}");
        }
    }

    #[test]
    fn comparisons_order_by_number_then_candidate() {
        check(">= 1.2.3", &["1.2.3", "1.10.0", "2.0.0"], &["1.2.2", "1.2.3-rc.1"]);
        check("< 1.0.0", &["0.9.9", "1.0.0-rc.2"], &["1.0.0"]);
        check("> 1.0.0-rc.2", &["1.0.0-rc.10", "1.0.0"], &["1.0.0-rc.2", "1.0.0-beta"]);
        check("= 1.2.3", &["1.2.3", "1.2.3+build"], &["1.2.4"]);
        check(">= 1.2, < 2", &["1.2.0", "1.9.0"], &["1.1.9", "2.0.0"]);
    }

    #[test]
    fn carets_and_tildes_end_where_a_break_may_be() {
        check("^1.2.3", &["1.2.3", "1.9.0"], &["1.2.2", "2.0.0"]);
        check("^0.2.3", &["0.2.3", "0.2.9"], &["0.3.0", "1.0.0"]);
        check("^0.0.3", &["0.0.3"], &["0.0.4", "0.0.2"]);
        check("^0.2", &["0.2.0"], &["0.3.0"]);
        check("1", &["1.0.0", "1.9.0"], &["2.0.0"]);
        check("~1.2", &["1.2.9"], &["1.3.0"]);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for requirement in ["", "latest", "!= 1.0.0", ">= 1.2.3.4", ">= x"] {
            assert!(matches("1.0.0", requirement).is_err(), "{requirement:?}");
        }
    }
}
