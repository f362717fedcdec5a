use std::error::Error;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

use super::report::{Report, Side};
use super::watch::Watch;

/// Starts a server, and passes on what it and whoever started this program say to each other,
/// until the server has ended.
///
/// # Errors
///
/// When the server can't be started, or the report not be opened.
pub async fn run(
    report: &Path,
    command: &[String],
) -> Result<ExitStatus, Box<dyn Error + Send + Sync>> {
    let (program, arguments) = command.split_first().ok_or("no command")?;
    let report = Arc::new(Report::open(report)?);
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the server has no pipes".into());
    };
    let watch = Arc::new(Mutex::new(Watch::default()));
    let looks = |from| {
        let (watch, report) = (Arc::clone(&watch), Arc::clone(&report));
        move |line: &str| {
            let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
            watch.frame(from, line, &report);
        }
    };
    let up = tokio::spawn(pass(tokio::io::stdin(), stdin, looks(Side::Client)));
    let down = tokio::spawn(pass(stdout, tokio::io::stdout(), looks(Side::Server)));
    let status = child.wait().await?;
    // All that it has said, but nothing more that it would be told.
    down.await??;
    up.abort();
    Ok(status)
}

async fn pass(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    look: impl Fn(&str),
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line).await? == 0 {
            return to.shutdown().await;
        }
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            look(text.trim());
        }
        to.write_all(&line).await?;
        to.flush().await?;
    }
}
