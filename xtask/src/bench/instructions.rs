//! Instructions that an echo call takes, counted by callgrind. Unlike times they are the same on
//! every run, within a percent, so that they can be held to a bound.

use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, bail};

use super::stdio::Programs;
use crate::{flags, shell};

/// A long run minus a short one: what happens once falls out.
const CALLS: [u64; 2] = [1000, 6000];

/// What is counted: how the floor and our server are started, and how many tenths of the floor
/// ours may take. A ratio, since the C library of the machine counts as well.
const ROADS: [Road; 3] = [
    Road { name: "stdio", floor: &[], ours: &["stdio"], most: 16 },
    Road { name: "http, JSON", floor: &[], ours: &["http", "127.0.0.1:0"], most: 22 },
    Road {
        name: "http, stream",
        floor: &["--sse"],
        ours: &["http", "127.0.0.1:0", "sse"],
        most: 27,
    },
];

struct Road {
    name: &'static str,
    floor: &'static [&'static str],
    ours: &'static [&'static str],
    most: u64,
}

/// Counts for the least that a server can do, and for ours. With `--check` fails when ours takes
/// more than it may.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    flags::only(args, &["--check"])?;
    match measure()? {
        faults if args.is_empty() || faults.is_empty() => Ok(()),
        faults => bail!("{}", faults.join("\n")),
    }
}

/// Prints the counts, and says which are beyond their bound.
pub(crate) fn measure() -> anyhow::Result<Vec<String>> {
    let programs = Programs::build()?;
    let mut faults = Vec::new();
    shell::say(format_args!("{:<14} {:>8} {:>8}  ratio  bound", "road", "floor", "ours"));
    for Road { name, floor, ours, most } in ROADS {
        let count = |program: &str, arguments| match name {
            "stdio" => count(arguments, &programs.path(program), total),
            _ => {
                let driver = programs.path("mcp-bench");
                count(arguments, &programs.path(program), |program, arguments, calls| {
                    over_http(&driver, program, arguments, calls)
                })
            }
        };
        let (floor_name, transport) =
            if name == "stdio" { ("floor-stdio", "stdio") } else { ("floor-http", "HTTP") };
        let least = count(floor_name, floor)?;
        let taken = count("bench-server", ours)?;
        let tenths = taken.saturating_mul(10) / least.max(1);
        shell::say(format_args!(
            "{name:<14} {least:>8} {taken:>8}  {:>2}.{}   {:>2}.{}",
            tenths / 10,
            tenths % 10,
            most / 10,
            most % 10
        ));
        if tenths > most {
            faults.push(format!("an echo over {transport} ({name}) has become too expensive"));
        }
    }
    Ok(faults)
}

fn count(
    args: &[&str],
    program: &Path,
    total: impl Fn(&Path, &[&str], u64) -> anyhow::Result<u64>,
) -> anyhow::Result<u64> {
    let [short, long] = CALLS;
    let once = total(program, args, short)?;
    let more = total(program, args, long)?;
    Ok(more.saturating_sub(once) / (long - short))
}

/// A server that is called by the driver, and then told to end.
fn over_http(driver: &Path, program: &Path, args: &[&str], calls: u64) -> anyhow::Result<u64> {
    let mut server = valgrind(program, args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("can't start valgrind; it counts the instructions")?;
    let mut stderr = BufReader::new(server.stderr.take().context("no pipe")?);
    let mut report = String::new();
    let url = loop {
        let mut line = String::new();
        if stderr.read_line(&mut line)? == 0 {
            bail!("the server has ended\n{report}");
        }
        if let Some(url) = line.strip_prefix("listening on ") {
            break url.trim().to_owned();
        }
        report.push_str(&line);
    };
    let called = shell::run(Command::new(driver).args(["calls", &url, &calls.to_string()]));
    // It writes its count when it is told to end.
    let told = shell::run(Command::new("kill").arg(server.id().to_string()));
    stderr.read_to_string(&mut report)?;
    server.wait()?;
    called.and(told)?;
    parse(&report)
}

fn valgrind(program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).args(args);
    command
}

fn total(program: &Path, args: &[&str], calls: u64) -> anyhow::Result<u64> {
    let mut child = valgrind(program, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("can't start valgrind; it counts the instructions")?;
    let mut stdin = child.stdin.take().context("no pipe")?;
    // Its answers are read by `wait_with_output`; a thread keeps the pipes from filling up.
    let writer = std::thread::spawn(move || stdin.write_all(conversation(calls).as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().ok().context("the writer has panicked")??;
    let report = String::from_utf8_lossy(&output.stderr);
    let answers = output.stdout.iter().filter(|byte| **byte == b'\n').count();
    if u64::try_from(answers)? != calls + 1 {
        bail!("{answers} answers to {} requests\n{report}", calls + 1);
    }
    parse(&report)
}

/// Runs a command under callgrind, and answers with the instructions that it took.
pub(super) fn collected(command: &mut Command) -> anyhow::Result<u64> {
    let output = command.stdin(Stdio::null()).output().context("can't start valgrind")?;
    parse(&String::from_utf8_lossy(&output.stderr))
}

fn parse(report: &str) -> anyhow::Result<u64> {
    let collected = report.split("Collected : ").nth(1).context("callgrind has not counted")?;
    Ok(collected.split_whitespace().next().unwrap_or_default().parse()?)
}

fn conversation(calls: u64) -> String {
    let mut lines = String::from(concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
        r#""capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
    ));
    for id in 1_000_001..=1_000_000 + calls {
        // Writing to a `String` can't fail.
        let _ = writeln!(
            lines,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"xxxxxxxxxxxxxxxx"}}}}}}"#
        );
    }
    lines
}
