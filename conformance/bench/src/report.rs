//! What was measured, as a table and as JSON.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::args::Options;

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Cpu,
    Rate,
    Half,
    Most,
    Resident,
    Instructions,
    SessionMemory,
    SessionCpu,
    Start,
}

impl Column {
    /// Its name in JSON, its head in the table, and the digits behind the point.
    const fn shape(self) -> (&'static str, &'static str, usize) {
        match self {
            Self::Cpu => ("cpu_s_per_100k", "CPU s/100k", 3),
            Self::Rate => ("calls_per_s", "calls/s", 0),
            Self::Half => ("p50_us", "p50 us", 0),
            Self::Most => ("p99_us", "p99 us", 0),
            Self::Resident => ("rss_kib", "RSS KiB", 0),
            Self::Instructions => ("instructions", "instructions", 0),
            Self::SessionMemory => ("session_kib", "KiB each", 2),
            Self::SessionCpu => ("session_cpu_ms", "CPU ms each", 4),
            Self::Start => ("start_ms", "ms", 3),
        }
    }
}

/// One row for each server.
pub(crate) struct Table {
    title: String,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    /// What each round has shown.
    rounds: Vec<Vec<(Column, f64)>>,
}

/// A median, and what lies around it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    median: f64,
    least: f64,
    most: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let last = values.len().saturating_sub(1);
        Self { median: (at(last / 2) + at(last.div_ceil(2))) / 2.0, least: at(0), most: at(last) }
    }
}

impl Row {
    fn columns(&self) -> impl Iterator<Item = (Column, Spread)> {
        let columns = self.rounds.first().map_or(&[][..], Vec::as_slice);
        columns.iter().enumerate().map(|(at, (column, _))| (*column, Spread::of(self.column(at))))
    }

    fn column(&self, at: usize) -> impl Iterator<Item = f64> {
        self.rounds.iter().filter_map(move |round| Some(round.get(at)?.1))
    }

    /// Of the first column, round by round.
    fn ratio_to(&self, base: &Self) -> Spread {
        let pairs = self.column(0).zip(base.column(0));
        Spread::of(pairs.map(|(ours, theirs)| ours / theirs))
    }
}

impl Table {
    pub(crate) fn new(options: &Options) -> Self {
        let rows = options.servers.iter();
        let rows = rows.map(|(name, _)| Row { name: name.clone(), rounds: Vec::new() });
        Self { title: options.title(), rows: rows.collect() }
    }

    /// Adds what a round has shown of a server.
    pub(crate) fn add(&mut self, name: &str, cells: Vec<(Column, f64)>) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.name == name) {
            row.rounds.push(cells);
        }
    }

    #[expect(clippy::print_stdout, reason = "that is what this program is for")]
    pub(crate) fn print(&self, json: Option<&Path>) -> anyhow::Result<()> {
        let Some(base) = self.rows.first() else { return Ok(()) };
        println!("{}, {} rounds", self.title, base.rounds.len());
        let mut head = format!("{:<22}", "server");
        for (at, (column, _)) in base.columns().enumerate() {
            let (_, name, _) = column.shape();
            head.push_str(&format!(" {name:>12}"));
            if at == 0 {
                head.push_str(&format!(" {:>20} {:>7}", "least to most", "ratio"));
            }
        }
        println!("{head}");
        for row in &self.rows {
            let mut line = format!("{:<22}", row.name);
            for (at, (column, spread)) in row.columns().enumerate() {
                let (_, _, digits) = column.shape();
                let Spread { median, least, most } = spread;
                line.push_str(&format!(" {median:>12.digits$}"));
                if at == 0 {
                    let spread = format!("{least:.digits$} to {most:.digits$}");
                    let ratio = row.ratio_to(base).median;
                    line.push_str(&format!(" {spread:>20} {ratio:>7.2}"));
                }
            }
            println!("{line}");
        }
        println!();
        let Some(path) = json else { return Ok(()) };
        let mut file = File::options().create(true).append(true).open(path)?;
        writeln!(file, "{}", self.to_json(base))?;
        Ok(())
    }

    fn to_json(&self, base: &Row) -> Value {
        let rows = self.rows.iter().map(|row| {
            let mut members = Map::new();
            members.insert("server".to_owned(), json!(row.name));
            for (column, spread) in row.columns() {
                let Spread { median, least, most } = spread;
                let value = json!({ "median": median, "least": least, "most": most });
                members.insert(column.shape().0.to_owned(), value);
            }
            members.insert("ratio".to_owned(), json!(row.ratio_to(base).median));
            Value::Object(members)
        });
        json!({ "measured": self.title, "rounds": base.rounds.len(), "rows": Value::from_iter(rows) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_within_each_round() {
        let row = |name: &str, values: [f64; 3]| Row {
            name: name.to_owned(),
            rounds: values.map(|value| vec![(Column::Cpu, value)]).to_vec(),
        };
        // The machine was ten times as slow in the second round.
        let (base, other) = (row("base", [1.0, 10.0, 1.2]), row("other", [2.0, 20.0, 2.4]));
        assert!((other.ratio_to(&base).median - 2.0).abs() < 1e-9);
        assert_eq!(
            Spread::of([3.0, 1.0, 2.0, 10.0].into_iter()),
            Spread { median: 2.5, least: 1.0, most: 10.0 }
        );
    }
}
