//! `twin server SWITCH -- COMMAND…`: a server with one rule broken, on a pipe.
//! `twin run SERVER CLIENT [ONLY]`: sets every switch, and says whether the check of its rule sees it.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program")]

use std::process::ExitCode;

use mcp_conformance::twin;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["server", switch, "--", ..] => {
            twin::stdio(switch, words.get(3..).unwrap_or_default()).map(|()| true)
        }
        ["run", server, client] => run(server, client, ""),
        ["run", server, client, only] => run(server, client, only),
        _ => Err("usage: twin server SWITCH -- COMMAND… | twin run SERVER CLIENT [ONLY]".into()),
    };
    let code = match outcome {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            eprintln!("twin: {error}");
            2
        }
    };
    // Stdin may still be read by a thread that nothing else ends.
    std::process::exit(code)
}

/// A JSON line for each, in the form that `cargo xtask conformance` reads.
fn run(server: &str, client: &str, only: &str) -> Result<bool, Box<dyn std::error::Error>> {
    let own = std::env::current_exe()?;
    let found = twin::run::all_of(server, client, &own.to_string_lossy(), only)?;
    for one in &found {
        let line = serde_json::json!({"check": one.name, "ok": one.ok, "detail": one.detail});
        println!("{line}");
    }
    let missed = found.iter().filter(|one| !one.ok).count();
    eprintln!("{} switches and twins, {missed} not as they should be", found.len());
    Ok(missed == 0)
}
