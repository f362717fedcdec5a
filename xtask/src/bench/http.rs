//! What an echo call over HTTP costs our server, and what a session does, next to the least that
//! a server can do.

use std::process::Command;

use super::stdio::Programs;
use crate::shell;

/// Builds the servers and the driver, and runs the driver with `args` passed on: answers in JSON
/// and as streams, over one connection and over sixteen.
pub(crate) fn calls(args: &[String]) -> anyhow::Result<()> {
    let programs = Programs::build()?;
    let connections: &[&str] =
        if args.iter().any(|arg| arg == "--connections") { &[""] } else { &["1", "16"] };
    for (form, floor, ours) in [("JSON", "", ""), ("a stream", " --sse", " sse")] {
        for count in connections {
            shell::say(format_args!("answers are {form}:"));
            let mut command = Command::new(programs.path("mcp-bench"));
            command.arg("http").args(args);
            if !count.is_empty() {
                command.args(["--connections", count]);
            }
            shell::run(with_servers(&mut command, &programs, floor, ours))?;
        }
    }
    Ok(())
}

/// Memory and CPU of sessions, with and without a stream: a thousand, and as many as the default
/// limit of ten thousand leaves after the warm-up.
pub(crate) fn sessions(args: &[String]) -> anyhow::Result<()> {
    let programs = Programs::build()?;
    for streams in [false, true] {
        for count in ["1000", "9500"] {
            let mut command = Command::new(programs.path("mcp-bench"));
            command.args(["sessions", "--count", count]).args(args);
            if streams {
                command.arg("--streams");
            }
            // The floor has no sessions, and nothing to say on a stream.
            if streams {
                command.arg(ours(&programs, ""));
                shell::run(&mut command)?;
            } else {
                shell::run(with_servers(&mut command, &programs, "", ""))?;
            }
        }
    }
    Ok(())
}

fn with_servers<'c>(
    command: &'c mut Command,
    programs: &Programs,
    floor: &str,
    mode: &str,
) -> &'c mut Command {
    command
        .arg(format!("floor={}{floor}", programs.path("floor-http").display()))
        .arg(ours(programs, mode))
}

fn ours(programs: &Programs, mode: &str) -> String {
    format!("ours={} http 127.0.0.1:0{mode}", programs.path("bench-server").display())
}
