//! This process as a server on its stdin and stdout: the program starts itself again, in one of
//! the roles below, and talks to it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test"
)]

#[cfg(unix)]
mod server {
    pub(crate) mod cases;
    pub(crate) mod roles;
}

/// Names the role, in the environment of a process that is a server.
const ROLE: &str = "MCP_TRANSPORT_STDIO_TEST_ROLE";

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    match std::env::var(ROLE) {
        Ok(role) => server::roles::play(&role),
        Err(_) => run(server::cases::ALL),
    }
}

/// As much of the usual harness as those who start tests rely on.
#[cfg(unix)]
fn run(cases: &[(&str, fn())]) {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    // A word behind `--format` is its value, and no name.
    let valued = |at: usize| at > 0 && args.get(at - 1).is_some_and(|arg| arg == "--format");
    let names: Vec<_> = args
        .iter()
        .enumerate()
        .filter(|(at, arg)| !arg.starts_with('-') && !valued(*at))
        .map(|(_, arg)| arg)
        .collect();
    let wanted = |name: &str| {
        let fits = |wanted: &&String| {
            if has("--exact") { name == wanted.as_str() } else { name.contains(wanted.as_str()) }
        };
        !has("--ignored") && (names.is_empty() || names.iter().any(fits))
    };
    let (mut passed, mut failed) = (0, 0);
    for (name, case) in cases.iter().filter(|(name, _)| wanted(name)) {
        if has("--list") {
            println!("{name}: test");
            continue;
        }
        if std::panic::catch_unwind(case).is_ok() {
            println!("test {name} ... ok");
            passed += 1;
        } else {
            println!("test {name} ... FAILED");
            failed += 1;
        }
    }
    if has("--list") {
        return;
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured");
    if failed > 0 {
        std::process::exit(101);
    }
}
