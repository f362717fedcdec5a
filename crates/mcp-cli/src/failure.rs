//! How a command fails, and with which exit code.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use mcp_auth::AuthErrorKind;
use mcp_client::config::ConfigError;
use mcp_client::{ClientError, ConnectError};
use mcp_transport_stdio::SpawnError;

use crate::args::UsageError;
use crate::logins;

/// A command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line makes no sense, by itself or for this server.
    #[error("{0}")]
    Usage(UsageError),
    #[error("the server can't be started")]
    Spawn(#[source] SpawnError),
    #[error("the server can't be reached like that")]
    Url(#[source] mcp_transport_http::client::ConfigError),
    #[error("{} can't be read", file.display())]
    ConfigFile { file: PathBuf, source: io::Error },
    #[error("{} can't be used", file.display())]
    Config { file: PathBuf, source: ConfigError },
    /// It says how to log in.
    #[error("the server wants a login")]
    LoggedOut { hint: String, source: Box<Self> },
    #[error("the login did not come about")]
    Login(#[source] mcp_auth::AuthError),
    #[error("logins can't be kept")]
    Logins(#[source] mcp_auth::v1::StoreError),
    #[error("there is no place for logins; name a directory by MCP_LOGINS")]
    NoPlace,
    #[error("no conversation with the server came about")]
    Connect(#[source] ConnectError),
    #[error("the request failed")]
    Request(#[source] ClientError),
    /// The tool ran and failed; what it says was printed.
    #[error("the tool failed")]
    Tool,
    #[error("the arguments can't be read")]
    Input(#[source] io::Error),
    #[error("the arguments are no JSON object")]
    Arguments(#[source] serde_json::Error),
    #[error("this program can't be found")]
    Myself(#[source] io::Error),
    #[error("the server can't listen")]
    Listen(#[source] mcp_transport_http::server::ListenError),
    #[error("the output can't be written")]
    Output(#[from] io::Error),
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// The exit code; the help lists them.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Tool => 1,
            Self::Usage(_) | Self::Url(_) | Self::Input(_) | Self::Arguments(_) => 2,
            Self::ConfigFile { .. } | Self::Config { .. } => 2,
            Self::Login(_) | Self::Logins(_) | Self::NoPlace | Self::LoggedOut { .. } => 6,
            Self::Connect(error) if logins::cause(error).is_some() => 6,
            Self::Request(error) if logins::cause(error).is_some() => 6,
            Self::Connect(ConnectError::TimedOut { .. })
            | Self::Request(ClientError::TimedOut { .. }) => 4,
            Self::Request(ClientError::Refused { .. } | ClientError::Unsupported(_)) => 5,
            Self::Spawn(_)
            | Self::Connect(_)
            | Self::Request(_)
            | Self::Listen(_)
            | Self::Myself(_)
            | Self::Output(_) => 3,
            // As a shell has it for SIGINT and SIGPIPE.
            Self::Interrupted => 130,
        }
    }

    /// One word for programs.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Usage(_) | Self::Url(_) => "usage",
            Self::ConfigFile { .. } | Self::Config { .. } => "config",
            Self::Login(_) | Self::Logins(_) | Self::NoPlace | Self::LoggedOut { .. } => "login",
            Self::Connect(error) if logins::cause(error).is_some() => "login",
            Self::Request(error) if logins::cause(error).is_some() => "login",
            Self::Spawn(_) => "spawn",
            Self::Connect(ConnectError::TimedOut { .. })
            | Self::Request(ClientError::TimedOut { .. }) => "timeout",
            Self::Connect(_) => "connect",
            Self::Request(ClientError::Refused { .. }) => "refused",
            Self::Request(ClientError::Unsupported(_)) => "unsupported",
            Self::Request(ClientError::Link(_)) => "disconnected",
            Self::Request(_) => "protocol",
            Self::Tool => "tool",
            Self::Input(_) | Self::Arguments(_) => "arguments",
            Self::Listen(_) | Self::Myself(_) | Self::Output(_) => "io",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether nobody reads the output any more, which is no reason to complain.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Says how to log in, where that would help.
    pub(crate) fn with_login(self, hint: Option<&str>) -> Self {
        let cause = match &self {
            Self::Connect(error) => logins::cause(error),
            Self::Request(error) => logins::cause(error),
            _ => None,
        };
        let helps = cause.is_some_and(|error| matches!(error.kind(), AuthErrorKind::NeedsPerson));
        match hint.filter(|_| helps) {
            Some(hint) => Self::LoggedOut { hint: hint.to_owned(), source: Box::new(self) },
            None => self,
        }
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::LoggedOut { hint, .. } => Some(hint.clone()),
            Self::Usage(error) => Some(match error.topic {
                Some(topic) => format!("mcp help {}", topic.name()),
                None => "mcp --help".to_owned(),
            }),
            _ => None,
        }
    }

    /// Whether the server itself may have said why.
    pub(crate) const fn is_of_the_server(&self) -> bool {
        matches!(
            self,
            Self::Connect(_) | Self::Request(ClientError::Link(_) | ClientError::TimedOut { .. })
        )
    }

    /// The texts of what caused it, outermost first, each once.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut causes: Vec<String> = Vec::new();
        let mut source = self.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if causes.last().is_none_or(|last| !last.ends_with(&text)) {
                causes.push(text);
            }
            source = cause.source();
        }
        causes
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::Usage(error)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Request(error)
    }
}
