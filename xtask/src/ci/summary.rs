//! The table at the end of a run.

use std::time::Duration;

use super::{Outcome, counts::Counts};

/// One gate that ran.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) time: Duration,
}

impl Row {
    pub(crate) fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
    }
}

/// A line for each gate: what it found and how long it took.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut lines = vec![format!("{:<12} {:<8} {:>8}  {}", "gate", "result", "seconds", "tests")];
    lines.extend(rows.iter().map(line));
    let total: Duration = rows.iter().map(|row| row.time).sum();
    lines.push(format!("{:<12} {:<8} {:>8.1}", "all", "", total.as_secs_f64()));
    lines.join("\n")
}

/// The line of one gate.
pub(crate) fn line(row: &Row) -> String {
    let (result, detail) = match &row.outcome {
        Outcome::Passed(counts) => ("passed", tests(*counts)),
        Outcome::Failed(counts) => ("FAILED", tests(*counts)),
        Outcome::Skipped(why) => ("skipped", why.clone()),
    };
    let seconds = row.time.as_secs_f64();
    let line = format!("{:<12} {result:<8} {seconds:>8.1}  {detail}", row.name);
    line.trim_end().to_owned()
}

/// `N passed, N failed`: every test that ran, and a failure for each gate that has no tests to
/// show what is wrong, so that the line never says less than the exit code.
pub(crate) fn closing_line(rows: &[Row]) -> String {
    let mut sum = Counts::default();
    for row in rows {
        match row.outcome {
            Outcome::Passed(counts) => sum += counts,
            Outcome::Failed(counts) => {
                sum += Counts { failed: counts.failed.max(1), ..counts };
            }
            Outcome::Skipped(_) => {}
        }
    }
    format!("{} passed, {} failed", sum.passed, sum.failed)
}

fn tests(Counts { passed, failed }: Counts) -> String {
    match (passed, failed) {
        (0, 0) => String::new(),
        (passed, 0) => format!("{passed} passed"),
        (passed, failed) => format!("{passed} passed, {failed} failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, outcome: Outcome) -> Row {
        Row { name, outcome, time: Duration::from_millis(1250) }
    }

    #[test]
    fn the_table_says_what_each_gate_found() {
        let rows = [
            row("format", Outcome::Passed(Counts::default())),
            row("tests", Outcome::Failed(Counts { passed: 10, failed: 2 })),
            row("schema", Outcome::Skipped("no official schema here".into())),
        ];
        assert_eq!(
            table(&rows),
            "gate         result    seconds  tests\n\
             format       passed        1.2\n\
             tests        FAILED        1.2  10 passed, 2 failed\n\
             schema       skipped       1.2  no official schema here\n\
             all                        3.8"
        );
    }

    #[test]
    fn the_closing_line_never_hides_a_failure() {
        let line = |outcomes: Vec<Outcome>| {
            let rows: Vec<Row> = outcomes.into_iter().map(|it| row("x", it)).collect();
            closing_line(&rows)
        };
        let counts = |passed, failed| Counts { passed, failed };
        assert_eq!(line(vec![Outcome::Passed(counts(3, 0))]), "3 passed, 0 failed");
        assert_eq!(
            line(vec![Outcome::Passed(counts(3, 0)), Outcome::Failed(counts(4, 2))]),
            "7 passed, 2 failed"
        );
        // Lints have no tests; a runner that crashed has no failed ones.
        assert_eq!(line(vec![Outcome::Failed(counts(0, 0))]), "0 passed, 1 failed");
    }
}
