//! `wire stdio REPORT COMMAND…` and `wire http REPORT URL`: stands between a client and a server,
//! and writes into a file what each of them has said, and whether that was in the schema.
#![expect(clippy::print_stderr, reason = "a program says there what goes wrong")]

use std::path::Path;
use std::process::ExitCode;

use mcp_conformance::wire;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [kind, report, command @ ..] if kind == "stdio" => {
            wire::stdio(Path::new(report), command).await.map(|status| status.code())
        }
        [kind, report, url] if kind == "http" => match wire::http(Path::new(report), url).await {
            Ok(never) => match never {},
            Err(error) => Err(error),
        },
        _ => Err("usage: wire stdio REPORT COMMAND… | wire http REPORT URL".into()),
    };
    let code = match outcome {
        Ok(code) => code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1),
        Err(error) => {
            eprintln!("wire: {error}");
            2
        }
    };
    // Stdin may still be read by a thread that nothing else ends.
    std::process::exit(code.into())
}
