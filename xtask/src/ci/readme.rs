//! The commands that the README promises do what it says.

use std::fs;

use anyhow::{bail, ensure};

use super::{Options, Outcome, counts::Counts};
use crate::{flags, shell};

/// Runs every `cargo build` and `cargo run` of the README; of `cargo xtask` only the names are
/// checked, because one of them is this very run.
pub(crate) fn gate(_: &Options) -> anyhow::Result<Outcome> {
    let Ok(readme) = fs::read_to_string(shell::root().join("README.md")) else {
        return Ok(Outcome::Skipped("there is no README.md yet".to_owned()));
    };
    let commands = commands(&readme);
    ensure!(!commands.is_empty(), "README.md shows no command");
    let mut counts = Counts::default();
    for command in commands {
        match command.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["cargo", verb @ ("build" | "run"), rest @ ..] => {
                shell::say(format_args!("$ {command}"));
                shell::run(shell::cargo([*verb, "--locked"]).args(rest))?;
            }
            ["cargo", "xtask", name, ..] => {
                let known = flags::COMMANDS.iter().any(|command| command.name == *name);
                ensure!(known, "README.md: there is no `{command}`");
            }
            // These change the machine or another project.
            ["rustup", ..] | ["cargo", "add" | "install", ..] => continue,
            _ => bail!("README.md: nothing checks `{command}`"),
        }
        counts += Counts { passed: 1, failed: 0 };
    }
    Ok(Outcome::Passed(counts))
}

/// The lines of shell blocks, without prompts and comments.
fn commands(markdown: &str) -> Vec<String> {
    let mut inside = false;
    let mut commands = Vec::new();
    for line in markdown.lines() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            inside = !inside && matches!(info.trim(), "sh" | "bash" | "shell" | "console");
            continue;
        }
        let line = line.trim().trim_start_matches("$ ");
        let line = line.split(" #").next().unwrap_or_default().trim();
        if inside && !line.is_empty() && !line.starts_with('#') {
            commands.push(line.to_owned());
        }
    }
    commands
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn only_shell_blocks_have_commands() {
        let readme = "```sh\n$ cargo run -p mcp-cli -- demo  # shows a call\n\n# all gates\n\
                      cargo xtask ci\n```\n```rust\nfn main() {}\n```\n```sh\nls\n```\n";
        assert_eq!(commands(readme), ["cargo run -p mcp-cli -- demo", "cargo xtask ci", "ls"]);
    }
}
