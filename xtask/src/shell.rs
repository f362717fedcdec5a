//! Running other programs, and saying things.

use std::{
    env,
    ffi::OsStr,
    fmt,
    io::{self, Read, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context as _, bail};

/// Prints a line of a command's own output. A closed pipe is nobody's problem.
pub(crate) fn say(line: impl fmt::Display) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints a line to stderr.
pub(crate) fn complain(line: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// The top of the workspace.
pub(crate) fn root() -> PathBuf {
    // `cargo run` sets the variable; the constant serves a binary that is started by hand.
    let xtask = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask.parent().map_or_else(|| xtask.clone(), Path::to_owned)
}

/// The cargo that runs us, started at the top of the workspace.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    // What `cargo run` told us about our own package would make build scripts run again.
    for (name, _) in env::vars_os() {
        let ours = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if ours {
            command.env_remove(name);
        }
    }
    command
}

/// How a command is shown to a reader.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Runs `command` with our own output, and fails if it does.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("can't start `{}`", show(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", show(command));
    }
    Ok(())
}

/// Runs `command` and returns what it wrote to stdout; what it wrote to stderr is in the error.
pub(crate) fn read(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("can't start `{}`", show(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed ({})\n{}", show(command), output.status, stderr.trim_end());
    }
    String::from_utf8(output.stdout).context("the output is not UTF-8")
}

/// Whether `command` can be started and succeeds; its output is dropped.
pub(crate) fn works(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// What a command said while it was shown to the reader.
pub(crate) struct Told {
    /// Whether it exited with 0.
    pub(crate) success: bool,
    /// Both of its streams, one after the other.
    pub(crate) text: String,
}

/// Runs `command`, shows its output as it comes, and keeps a copy.
pub(crate) fn tee(command: &mut Command) -> anyhow::Result<Told> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("can't start `{}`", show(command)))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (out, err) = thread::scope(|scope| {
        let out = scope.spawn(|| copy(stdout, &mut io::stdout()));
        let err = copy(stderr, &mut io::stderr());
        (out.join().unwrap_or_default(), err)
    });
    let status = child.wait()?;
    let mut text = String::from_utf8_lossy(&out).into_owned();
    text.push_str(&String::from_utf8_lossy(&err));
    Ok(Told { success: status.success(), text })
}

/// Copies until the end, and returns everything that passed.
fn copy(source: Option<impl Read>, sink: &mut impl io::Write) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut source) = source else { return kept };
    let mut buffer = [0; 8 * 1024];
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        let part = buffer.get(..count).unwrap_or_default();
        // A reader that went away must not stop the program that we watch.
        let _ = sink.write_all(part);
        let _ = sink.flush();
        kept.extend_from_slice(part);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_carries_the_command_and_its_stderr() {
        let error = read(&mut cargo(["no-such-command-of-ours"])).unwrap_err().to_string();
        assert!(error.contains("cargo no-such-command-of-ours"), "{error}");
        assert!(error.contains("no such command"), "{error}");
    }

    #[test]
    fn a_copy_keeps_what_it_passes_on() {
        let mut sink = Vec::new();
        let kept = copy(Some(&b"one\ntwo"[..]), &mut sink);
        assert_eq!((kept.as_slice(), sink.as_slice()), (&b"one\ntwo"[..], &b"one\ntwo"[..]));
    }
}
