//! The project's own commands: `cargo xtask help` lists them.

mod codegen;
mod flags;
mod fresh;
mod schema;

fn main() -> anyhow::Result<()> {
    flags::dispatch(std::env::args_os().skip(1))
}
