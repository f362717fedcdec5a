//! Holds each crate against its last release, with cargo-semver-checks.

use std::process::Command;

use anyhow::bail;

use crate::{flags, shell, workspace::Metadata};

/// `cargo xtask semver`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    flags::only(args, &[])?;
    let tags = shell::read(Command::new("git").args(["tag", "--list"]).current_dir(shell::root()))?;
    let metadata = Metadata::of_workspace()?;
    let mut broken = Vec::new();
    for package in metadata.published() {
        let Some(tag) = last_tag(&package.name, &tags) else {
            shell::say(format_args!("{}: never released, nothing to compare with", package.name));
            continue;
        };
        shell::say(format_args!("{}: compared with {tag}", package.name));
        let mut check = shell::cargo(["semver-checks", "check-release"]);
        check.args(["--package", &package.name, "--baseline-rev", tag]);
        if shell::run(&mut check).is_err() {
            broken.push(package.name.as_str());
        }
    }
    if !broken.is_empty() {
        bail!(
            "more than the new versions say has changed, or cargo-semver-checks is not installed \
             (`cargo install cargo-semver-checks --locked`): {}",
            broken.join(", ")
        );
    }
    Ok(())
}

/// The tag of the newest release of a crate, of those that are one to a line.
fn last_tag<'t>(name: &str, tags: &'t str) -> Option<&'t str> {
    let released = tags.lines().filter_map(|tag| {
        let version = tag.strip_prefix(name)?.strip_prefix("-v")?;
        let numbers: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
        // Those before a release are no release.
        Some((numbers.filter(|numbers| numbers.len() == 3)?, tag))
    });
    released.max().map(|(_, tag)| tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_is_that_of_the_highest_number() {
        let tags = "mcp-types-v0.9.0\nmcp-types-v0.10.0\nmcp-types-v0.10.1-rc.1\n\
                    mcp-types-extra-v7.0.0\nv9.0.0\nmcp-server-v1.0.0\nmcp-types-vnext\n";
        assert_eq!(last_tag("mcp-types", tags), Some("mcp-types-v0.10.0"));
        assert_eq!(last_tag("mcp-server", tags), Some("mcp-server-v1.0.0"));
        assert_eq!(last_tag("mcp-client", tags), None);
    }
}
