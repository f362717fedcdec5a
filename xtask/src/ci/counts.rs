//! How many tests ran, read from what the test runners print.

use std::ops::AddAssign;

/// Tests that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Counts {
    /// Adds up every closing line of nextest and of the standard test harness in `output`.
    pub(crate) fn of_output(output: &str) -> Self {
        let mut sum = Self::default();
        for line in output.lines() {
            // nextest: `Summary [ 1.2s] 3/4 tests run: 2 passed (1 slow), 1 failed, 5 skipped`
            let summary = line.trim_start().strip_prefix("Summary [");
            let nextest = summary.and_then(|rest| rest.split_once(" run: "));
            // cargo test: `test result: FAILED. 2 passed; 1 failed; 0 ignored; ...`, which nextest
            // repeats, indented, for each test that failed.
            let harness = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "));
            if let Some((_, numbers)) = nextest.or(harness) {
                sum += Self {
                    passed: before(numbers, "passed"),
                    failed: ["failed", "timed out", "exec failed"]
                        .map(|word| before(numbers, word))
                        .into_iter()
                        .sum(),
                };
            }
        }
        sum
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// The number in front of `word` in a list such as `2 passed (1 slow), 1 failed`.
fn before(numbers: &str, word: &str) -> usize {
    numbers
        .split([',', ';'])
        .filter_map(|part| part.trim().split_once(' '))
        // What is in parentheses is counted in the number before it.
        .find(|(_, label)| label.split(" (").next() == Some(word))
        .and_then(|(number, _)| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, passed: usize, failed: usize) {
        assert_eq!(Counts::of_output(output), Counts { passed, failed }, "{output}");
    }

    #[test]
    fn the_summary_of_nextest_is_read() {
        check("     Summary [   0.002s] 12 tests run: 12 passed, 0 skipped", 12, 0);
        check(
            "     Summary [   0.1s] 4/5 tests run: 2 passed (1 slow, 1 flaky), 1 failed, 1 timed out, 0 skipped",
            2,
            2,
        );
        check("     Summary [   0.1s] 2 tests run: 0 passed, 2 exec failed, 0 skipped", 0, 2);
    }

    #[test]
    fn the_results_of_the_harness_are_added_up() {
        check(
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s\n\
             test a ... FAILED\n\
             test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            4,
            2,
        );
    }

    #[test]
    fn what_a_test_prints_is_not_counted() {
        check("    test result: FAILED. 0 passed; 1 failed; 0 ignored", 0, 0);
        check("7 passed\n  PASS [ 0.1s] 9 passed, 3 failed\nerror: test run failed", 0, 0);
    }
}
