//! What the compiler says about wrong uses.

use std::process::Command;

/// The toolchain whose words the files beside the cases have: that of `rust-toolchain.toml`.
const PINNED: &str = "rustc 1.95.";

/// Other compilers say the same in other words, so that there only what is right is tried.
#[test]
fn wrong_uses_are_explained_at_their_tokens() {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output().expect("cargo has found it");
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    if String::from_utf8_lossy(&version.stdout).starts_with(PINNED) {
        cases.compile_fail("tests/ui/fail/*.rs");
    }
}
