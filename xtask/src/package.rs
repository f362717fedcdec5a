//! What goes to a registry: builds each archive, compiles it alone, and looks at what is in it.

use std::fs;

use anyhow::bail;

use crate::{
    flags, shell,
    workspace::{Metadata, Package},
};

/// The largest archive; all of ours are far below it, so that a stray file is noticed.
const MOST_BYTES: u64 = 512 * 1024;

/// What every archive has.
const EXPECTED: [&str; 5] =
    ["Cargo.toml", "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// What cargo adds by itself.
const ADDED: [&str; 3] = ["Cargo.toml.orig", "Cargo.lock", ".cargo_vcs_info.json"];

/// `cargo xtask package [--allow-dirty]`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    flags::only(args, &["--allow-dirty"])?;
    let metadata = Metadata::of_workspace()?;
    let published = metadata.published();
    let order: Vec<&str> = published.iter().map(|package| package.name.as_str()).collect();
    shell::say(format_args!("order of publishing: {}", order.join(", ")));

    // Each archive is compiled by itself, with the features that its users get. Its siblings come
    // from here: a registry has none of them yet, or something else under the same name.
    let folder = metadata.target_directory.join("package");
    fs::create_dir_all(&folder)?;
    let siblings = folder.join("siblings.toml");
    fs::write(&siblings, patches(&published))?;
    let mut package = shell::cargo(["package", "--quiet", "--locked", "--config"]);
    package.arg(&siblings);
    package.args(order.iter().flat_map(|name| ["--package", name])).args(args);
    shell::run(&mut package)?;

    let mut faults = Vec::new();
    for package in published {
        let mut list = shell::cargo(["package", "--quiet", "--list", "--package", &package.name]);
        let files = shell::read(list.args(args))?;
        let archive = format!("{}-{}.crate", package.name, package.version);
        let bytes = fs::metadata(folder.join(archive))?.len();
        let count = files.lines().count();
        let kibibytes = bytes.div_ceil(1024);
        shell::say(format_args!(
            "{} {}: {count} files, {kibibytes} KiB",
            package.name, package.version
        ));
        faults.extend(judge(package, &files, bytes));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

/// A configuration that takes our crates from this workspace.
fn patches(published: &[&Package]) -> String {
    let entries = published.iter().map(|package| {
        let path = toml::Value::from(package.folder().to_string_lossy().into_owned());
        (package.name.clone(), toml::Table::from_iter([("path".to_owned(), path)]).into())
    });
    let crates: toml::Table = entries.collect();
    let patch = toml::Table::from_iter([("crates-io".to_owned(), crates.into())]);
    toml::Table::from_iter([("patch".to_owned(), patch.into())]).to_string()
}

/// What is wrong with an archive.
fn judge(package: &Package, files: &str, bytes: u64) -> Vec<String> {
    let mut faults = Vec::new();
    for name in EXPECTED {
        if !files.lines().any(|file| file == name) {
            faults.push(format!("{}: {name} is missing", package.name));
        }
    }
    let schema = package.name == "mcp-types";
    if schema && !files.lines().any(|file| file.starts_with("schema/")) {
        faults.push(format!("{}: the schema model is missing", package.name));
    }
    for file in files.lines() {
        let expected = EXPECTED.contains(&file)
            || ADDED.contains(&file)
            || file.starts_with("src/")
            || (schema && file.starts_with("schema/"));
        if !expected {
            faults.push(format!("{}: {file} is not for users", package.name));
        }
    }
    if bytes > MOST_BYTES {
        faults.push(format!("{}: {bytes} bytes, {MOST_BYTES} are allowed", package.name));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: &str = "Cargo.toml\nREADME.md\nCHANGELOG.md\nLICENSE-MIT\nLICENSE-APACHE\n\
                            Cargo.lock\nsrc/lib.rs\n";

    fn check(name: &str, files: &str, bytes: u64) -> Vec<String> {
        judge(&Package { name: name.into(), ..Package::default() }, files, bytes)
    }

    #[test]
    fn a_complete_archive_passes() {
        assert!(check("a", COMPLETE, 1).is_empty());
    }

    #[test]
    fn siblings_are_taken_from_the_workspace() {
        let package = Package {
            name: "mcp-types".into(),
            manifest_path: "here/crates/mcp-types/Cargo.toml".into(),
            ..Package::default()
        };
        let config: toml::Table = patches(&[&package]).parse().unwrap();
        let path = config["patch"]["crates-io"]["mcp-types"]["path"].as_str();
        assert_eq!(path, Some("here/crates/mcp-types"));
    }

    #[test]
    fn each_missing_file_is_a_fault() {
        for name in EXPECTED {
            let files = COMPLETE.replace(&format!("{name}\n"), "");
            assert_eq!(check("a", &files, 1), [format!("a: {name} is missing")]);
        }
        assert_eq!(check("mcp-types", COMPLETE, 1), ["mcp-types: the schema model is missing"]);
    }

    #[test]
    fn a_stray_file_and_a_large_archive_are_faults() {
        let files = format!("{COMPLETE}tests/laws.rs\n");
        assert_eq!(check("a", &files, 1), ["a: tests/laws.rs is not for users"]);
        assert_eq!(check("a", COMPLETE, MOST_BYTES + 1).len(), 1);
    }
}
