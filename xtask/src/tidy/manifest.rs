//! What a published crate's manifest and folder must have.

use std::{fs, path::Path};

use anyhow::Context as _;
use toml::Table;

use super::{File, Findings, lex, table::MOST_FEATURES};
use crate::workspace::{Metadata, Package};

/// Files that every published crate ships.
const SHIPPED: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Patterns that `include` must have for them.
const INCLUDED: [&str; 4] = ["src/**", "README.md", "CHANGELOG.md", "LICENSE-*"];

/// Holds each member's manifest against the rules.
pub(super) fn check(
    metadata: &Metadata,
    files: &[File],
    findings: &mut Findings,
) -> anyhow::Result<()> {
    for package in metadata.members() {
        let text = fs::read_to_string(&package.manifest_path)?;
        let manifest: Table = text
            .parse()
            .with_context(|| format!("{} is no TOML", package.manifest_path.display()))?;
        every_member(package, &manifest, findings);
        if !package.is_published() {
            continue;
        }
        published(package, &manifest, findings);
        shipped_files(package, findings);
        let library = package.library().map(|target| target.src_path.as_path());
        let library = library.map(|path| text_of(path, &metadata.workspace_root, files));
        let readme = text_of(&package.folder().join("README.md"), &metadata.workspace_root, files);
        features(package, library.unwrap_or_default(), findings);
        readme_is_tested(package, readme, library, findings);
    }
    Ok(())
}

/// What every archive has is there; a link to a file elsewhere counts, cargo follows it.
fn shipped_files(package: &Package, findings: &mut Findings) {
    for name in SHIPPED {
        if !package.folder().join(name).is_file() {
            findings.add("manifest", &package.name, format!("has no {name}"));
        }
    }
}

/// The text of a file by its full path.
fn text_of<'a>(path: &Path, root: &Path, files: &'a [File]) -> &'a str {
    let name = path.strip_prefix(root).unwrap_or(path);
    let file = files.iter().find(|file| Path::new(&file.path) == name);
    file.and_then(|file| file.text.as_deref()).unwrap_or_default()
}

/// What also unpublished members keep.
fn every_member(package: &Package, manifest: &Table, findings: &mut Findings) {
    let inherits = |table: &str, key: &str| {
        let table = manifest.get(table).and_then(|value| value.as_table());
        match key {
            "" => table.and_then(|t| t.get("workspace")).and_then(|v| v.as_bool()) == Some(true),
            key => table.and_then(|t| t.get(key)).and_then(|v| v.get("workspace")).is_some(),
        }
    };
    if !inherits("lints", "") {
        findings.add("manifest", &package.name, "does not take the workspace's lints");
    }
    for key in ["edition", "rust-version", "license"] {
        if !inherits("package", key) {
            findings.add("manifest", &package.name, format!("does not inherit {key}"));
        }
    }
}

/// What a registry shows, and what goes there.
fn published(package: &Package, manifest: &Table, findings: &mut Findings) {
    let mut add = |what: String| findings.add("manifest", &package.name, what);
    if package.description.as_deref().is_none_or(|text| text.trim().is_empty()) {
        add("has no description".to_owned());
    }
    if package.readme.is_none() {
        add("has no readme".to_owned());
    }
    if package.rust_version.is_none() {
        add("has no rust-version".to_owned());
    }
    // The registry refuses more than five of each.
    for (what, list) in [("keywords", &package.keywords), ("categories", &package.categories)] {
        if !(1..=5).contains(&list.len()) {
            add(format!("has {} {what}, one to five are allowed", list.len()));
        }
    }
    let include = manifest
        .get("package")
        .and_then(|package| package.get("include"))
        .and_then(|include| include.as_array())
        .map(|list| list.iter().filter_map(|pattern| pattern.as_str()).collect::<Vec<_>>());
    match include {
        None => add("has no include: tests would be shipped".to_owned()),
        Some(include) => {
            for pattern in INCLUDED.iter().filter(|pattern| !include.contains(pattern)) {
                add(format!("include lacks {pattern:?}"));
            }
        }
    }
}

/// Few features, each named for what one gets and explained in the crate's docs.
fn features(package: &Package, library: &str, findings: &mut Findings) {
    let mut add = |what: String| findings.add("features", &package.name, what);
    let public: Vec<&str> = package
        .features
        .keys()
        .map(String::as_str)
        .filter(|name| *name != "default" && !name.starts_with('_'))
        .collect();
    if public.len() > MOST_FEATURES {
        add(format!("has {} features, {MOST_FEATURES} are allowed", public.len()));
    }
    let docs: String = library.lines().filter(|line| line.starts_with("//!")).collect();
    for name in public {
        if name.starts_with("with-") || name.starts_with("use-") || name.starts_with("no-") {
            add(format!("`{name}` must say what one gets"));
        }
        // A program has its features in its README.
        if package.library().is_some() && !docs.contains(&format!("`{name}`")) {
            add(format!("`{name}` is missing in the crate's docs"));
        }
    }
}

/// Rust in a README compiles, because the library takes it in as a test.
fn readme_is_tested(
    package: &Package,
    readme: &str,
    library: Option<&str>,
    findings: &mut Findings,
) {
    // The file name is inside of a literal, so the line is put together from both parts.
    let takes_it_in = library.is_some_and(|source| {
        let parts = lex::lex(source);
        parts.code.contains("include_str!(") && parts.text.contains("../README.md")
    });
    if library.is_some() && !takes_it_in {
        findings.add("readme", &package.name, "the library does not take README.md in as a test");
    }
    if library.is_none() && has_rust(readme) {
        findings.add("readme", &package.name, "README.md has Rust in it that nothing compiles");
    }
}

/// Whether rustdoc would compile something of `markdown`.
pub(super) fn has_rust(markdown: &str) -> bool {
    let mut inside = false;
    markdown.lines().filter_map(|line| line.trim_start().strip_prefix("```")).any(|info| {
        inside = !inside;
        let first = info.split([',', ' ']).next().unwrap_or_default();
        inside && matches!(first, "" | "rust" | "no_run" | "should_panic" | "compile_fail")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Target;

    fn package() -> Package {
        Package {
            name: "sample".into(),
            description: Some("A sample.".into()),
            readme: Some("README.md".into()),
            rust_version: Some("1.95".into()),
            keywords: vec!["mcp".into()],
            categories: vec!["encoding".into()],
            targets: vec![Target { kind: vec!["lib".into()], ..Target::default() }],
            ..Package::default()
        }
    }

    fn manifest() -> Table {
        "[package]\nedition.workspace = true\nrust-version.workspace = true\n\
         license.workspace = true\n\
         include = ['src/**', 'README.md', 'CHANGELOG.md', 'LICENSE-*']\n\
         [lints]\nworkspace = true"
            .parse()
            .unwrap()
    }

    fn check(package: &Package, manifest: &Table) -> Findings {
        let mut findings = Findings::default();
        every_member(package, manifest, &mut findings);
        published(package, manifest, &mut findings);
        findings
    }

    #[test]
    fn a_complete_manifest_passes() {
        check(&package(), &manifest()).expect(&[]);
    }

    #[test]
    fn each_missing_field_is_found() {
        let one = [("manifest", "sample")];
        check(&Package { description: Some(" ".into()), ..package() }, &manifest()).expect(&one);
        check(&Package { readme: None, ..package() }, &manifest()).expect(&one);
        check(&Package { rust_version: None, ..package() }, &manifest()).expect(&one);
        check(&Package { keywords: vec![], ..package() }, &manifest()).expect(&one);
        check(&Package { categories: vec![String::new(); 6], ..package() }, &manifest())
            .expect(&one);
    }

    #[test]
    fn each_missing_line_is_found() {
        let without = |table: &str, key: &str| {
            let mut manifest = manifest();
            manifest.get_mut(table).and_then(|t| t.as_table_mut()).unwrap().remove(key);
            check(&package(), &manifest).expect(&[("manifest", "sample")]);
        };
        without("lints", "workspace");
        without("package", "edition");
        without("package", "rust-version");
        without("package", "license");
        without("package", "include");
    }

    #[test]
    fn an_include_without_a_license_is_found() {
        let mut manifest = manifest();
        manifest["package"]["include"] = vec!["src/**", "README.md", "CHANGELOG.md"].into();
        check(&package(), &manifest).expect(&[("manifest", "sample")]);
    }

    #[test]
    fn each_missing_file_is_found() {
        let folder = std::env::temp_dir().join(format!("xtask-shipped-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT"] {
            fs::write(folder.join(name), "text").unwrap();
        }
        let package = Package { manifest_path: folder.join("Cargo.toml"), ..package() };
        let mut findings = Findings::default();
        shipped_files(&package, &mut findings);
        fs::remove_dir_all(&folder).unwrap();
        findings.expect(&[("manifest", "sample")]);
    }

    fn check_features(names: &[&str], docs: &str) -> Findings {
        let features = names.iter().map(|name| ((*name).into(), vec![])).collect();
        let mut findings = Findings::default();
        super::features(&Package { features, ..package() }, docs, &mut findings);
        findings
    }

    #[test]
    fn features_are_few_documented_and_named_for_what_one_gets() {
        check_features(&["default", "_private", "testing"], "//! - `testing`: tools").expect(&[]);
        check_features(&["testing"], "fn testing() {}").expect(&[("features", "sample")]);
        check_features(&["with-tower"], "//! `with-tower`").expect(&[("features", "sample")]);
        check_features(
            &["a", "b", "c", "d", "e", "f", "g", "h", "i"],
            "//! `a` `b` `c` `d` `e` `f` `g` `h` `i`",
        )
        .expect(&[("features", "sample")]);
    }

    #[test]
    fn a_readme_that_nothing_compiles_is_found() {
        let check = |readme: &str, library: Option<&str>| {
            let mut findings = Findings::default();
            readme_is_tested(&package(), readme, library, &mut findings);
            findings
        };
        check("", Some("#[doc = include_str!(\"../README.md\")]\nstruct Readme;")).expect(&[]);
        check("", Some("// include_str!(\"../README.md\")")).expect(&[("readme", "sample")]);
        check("```sh\nmcp demo\n```\n", None).expect(&[]);
        check("```rust\nfn f() {}\n```\n", None).expect(&[("readme", "sample")]);
        check("```\nfn f() {}\n```\n", None).expect(&[("readme", "sample")]);
    }
}
