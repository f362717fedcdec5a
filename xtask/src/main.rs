//! The project's own commands: `cargo xtask help` lists them.

fn main() -> anyhow::Result<()> {
    Ok(())
}
