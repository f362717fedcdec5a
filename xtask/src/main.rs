//! The project's own commands: `cargo xtask help` lists them.

mod bench;
mod ci;
mod codegen;
mod conformance;
mod deny;
mod flags;
mod fresh;
mod fuzz;
mod ledger;
mod package;
mod schema;
mod semver;
mod shell;
mod soak;
mod tidy;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    match flags::dispatch(std::env::args_os().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not by returning it: a backtrace of a tool helps nobody.
            shell::complain(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
