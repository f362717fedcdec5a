//! Progress, on both ends: what we asked for, and what we report.

mod report;
mod watch;

pub use self::{
    report::{ProgressReporter, Report},
    watch::{ProgressTable, ProgressVerdict, TooManyTokens},
};
