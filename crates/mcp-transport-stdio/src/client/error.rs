use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use mcp_jsonrpc::link::v1::LinkError;

/// A server process could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program where the child would look for it.
    #[error("there is no program `{}`", program.display())]
    NotFound {
        /// What was looked for.
        program: PathBuf,
    },
    /// There is a file, but it may not be run.
    #[error("`{}` may not be run", program.display())]
    PermissionDenied {
        /// The file.
        program: PathBuf,
    },
    /// The working directory can't be entered.
    #[error("`{}` is no working directory", path.display())]
    WorkingDirectory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is no Tokio runtime to drive the pipes.
    #[error("a server process is started inside of a Tokio runtime")]
    NoRuntime,
    /// The system refuses.
    #[error("`{}` can't be started", program.display())]
    Io {
        /// The program.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// A server process has ended, or is of no more use: the cause in a
/// [`LinkError::Failed`]; see [`ChildError::of`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// The process has ended.
    #[error("the server process ended, {}{}", describe(*status), last_words(stderr))]
    Exited {
        /// How; `None` when somebody else in this process has waited for it.
        status: Option<ExitStatus>,
        /// The last lines that it wrote to stderr, the newest last.
        stderr: Vec<String>,
    },
    /// The process has closed its stdout or stdin, and still runs. It is being ended.
    #[error("the server process closed its pipes{}", last_words(stderr))]
    ClosedPipes {
        /// The last lines that it wrote to stderr, the newest last.
        stderr: Vec<String>,
    },
}

impl ChildError {
    /// What has become of the server process, where that is why a link has ended.
    #[must_use]
    pub fn of(cause: &LinkError) -> Option<&Self> {
        match cause {
            LinkError::Failed(source) => source.downcast_ref(),
            _ => None,
        }
    }

    /// How the process ended, where it has.
    #[must_use]
    pub const fn status(&self) -> Option<ExitStatus> {
        match self {
            Self::Exited { status, .. } => *status,
            Self::ClosedPipes { .. } => None,
        }
    }

    /// The last lines that the process wrote to stderr, the newest last.
    #[must_use]
    pub fn stderr(&self) -> &[String] {
        match self {
            Self::Exited { stderr, .. } | Self::ClosedPipes { stderr } => stderr,
        }
    }
}

fn describe(status: Option<ExitStatus>) -> String {
    status.map_or_else(|| "with a status that is unknown".to_owned(), |status| status.to_string())
}

/// The newest line, since many callers show nothing but the error's text.
fn last_words(stderr: &[String]) -> String {
    match stderr.last() {
        Some(line) => format!(": {}", line.chars().take(200).collect::<String>()),
        None => String::new(),
    }
}
