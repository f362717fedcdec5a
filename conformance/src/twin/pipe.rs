//! A twin on a pipe.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::{Break, Deal, How};

/// Requests that are remembered until they are answered.
const PENDING: usize = 10_000;
/// How long it stays although it should not.
const LONG: Duration = Duration::from_secs(15);

type Asked = Arc<Mutex<HashMap<String, Value>>>;

/// Starts a server, and passes on what is said, with one rule broken, until the server has ended.
/// The switch `none` breaks nothing.
///
/// # Errors
///
/// When there is no such switch, or no such server.
pub fn run(switch: &str, command: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let how = match switch {
        "none" => How::Nothing,
        name => Break::named(name).ok_or("there is no such switch")?.how,
    };
    let (program, arguments) = command.split_first().ok_or("no command")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the server has no pipes".into());
    };
    let asked = Asked::default();
    let up = Arc::clone(&asked);
    std::thread::spawn(move || drop(upwards(how, stdin, &up)));
    downwards(how, stdout, &asked)?;
    child.wait()?;
    if matches!(how, How::Stay) {
        std::thread::sleep(LONG);
    }
    Ok(())
}

/// From our stdin to the server. What is dropped at the end closes the server's.
fn upwards(how: How, mut to: impl io::Write, asked: &Asked) -> io::Result<()> {
    let mut from = BufReader::new(io::stdin());
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let sent = match how.deal(text) {
            Deal::Pass => std::mem::take(&mut line),
            Deal::Change(text) => format!("{text}\n").into_bytes(),
            Deal::Also(other) => [other.as_bytes(), b"\n", &line].concat(),
            Deal::Reply(message) => {
                write(format!("{message}\n").as_bytes())?;
                Vec::new()
            }
            Deal::Swallow => Vec::new(),
            Deal::Die => std::process::exit(3),
        };
        line.clear();
        if let Ok(message) = serde_json::from_slice::<Value>(&sent)
            && message.get("method").is_some()
        {
            let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            if asked.len() < PENDING {
                asked.insert(message["id"].to_string(), message);
            }
        }
        to.write_all(&sent)?;
        to.flush()?;
    }
    Ok(())
}

fn downwards(how: How, from: impl io::Read, asked: &Asked) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let (mut line, mut number) = (Vec::new(), 0);
    while from.read_until(b'\n', &mut line)? > 0 {
        if let How::Line(change) = how {
            write(&change(number, &line))?;
        } else if let Ok(message @ Value::Object(_)) = serde_json::from_slice::<Value>(&line) {
            let request = match message.get("method") {
                None => {
                    let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
                    asked.remove(&message["id"].to_string()).unwrap_or_default()
                }
                Some(_) => Value::Null,
            };
            for message in how.messages(&request, message) {
                write(format!("{message}\n").as_bytes())?;
            }
        } else {
            write(&line)?;
        }
        number += 1;
        line.clear();
    }
    Ok(())
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut to = io::stdout().lock();
    to.write_all(bytes)?;
    to.flush()
}
