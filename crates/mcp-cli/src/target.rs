//! Where the server is, and how to get to it.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::HeaderMap;
use mcp_client::{Builder, Client, ConnectError};
use mcp_jsonrpc::link::v1::Link;
use mcp_lifecycle::RevisionSet;
use mcp_transport_http::client::{Config, HttpConnector, HttpLink, ProxyConfig, Transport};
use mcp_transport_http::v1::Authorizer;
use mcp_transport_stdio::{ChildCommand, ChildHandle, ChildLink, Stderr};
use mcp_types::LoggingLevel;

use crate::args::Options;
use crate::failure::Failure;
use crate::logins;
use crate::output::Screen;

/// A server, as the command line names it.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// A program to start.
    Command { program: OsString, args: Vec<OsString> },
    /// Where it listens.
    Url { url: String, headers: HeaderMap, transport: Transport },
}

impl Target {
    /// A program with its arguments; none without a program.
    pub(crate) fn command(words: Vec<OsString>) -> Option<Self> {
        let mut words = words.into_iter();
        Some(Self::Command { program: words.next()?, args: words.collect() })
    }

    /// Connects once, with the revisions that `builder` speaks.
    async fn connect(
        &self,
        builder: Builder,
        options: &Options,
        servers: &Servers,
    ) -> Result<Result<Client, ConnectError>, Failure> {
        match self {
            Self::Command { program, args } => {
                let link = start(program, args, options)?;
                servers.add(&link);
                Ok(builder.connect(link).await)
            }
            Self::Url { url, headers, transport } => {
                Ok(builder.connect(open(url, headers, *transport)?).await)
            }
        }
    }
}

fn start(program: &OsString, args: &[OsString], options: &Options) -> Result<ChildLink, Failure> {
    let stderr = if options.verbose { Stderr::Inherit } else { Stderr::Discard };
    let mut command =
        ChildCommand::new(program).args(args).envs(options.env.iter().cloned()).stderr(stderr);
    if let Some(directory) = &options.cwd {
        command = command.current_dir(directory);
    }
    command.spawn().map_err(Failure::Spawn)
}

fn open(url: &str, headers: &HeaderMap, transport: Transport) -> Result<HttpLink, Failure> {
    let mut config = Config::new();
    config.transport = transport;
    config.headers = headers.clone();
    if !headers.contains_key(hyper::header::AUTHORIZATION) {
        config.authorizer = logins::kept(url)?.map(|kept| -> Arc<dyn Authorizer> { kept });
    }
    config.proxy = ProxyConfig::from_env().map_err(Failure::Url)?;
    Ok(HttpConnector::new(url, config).map_err(Failure::Url)?.link())
}

/// The servers that were started, so that none of them outlives this program.
#[derive(Default)]
pub(crate) struct Servers(Mutex<Vec<ChildHandle>>);

impl Servers {
    pub(crate) fn add(&self, link: &ChildLink) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(link.handle());
    }

    fn all(&self) -> Vec<ChildHandle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends every server in good order.
    pub(crate) async fn end(&self) {
        for server in self.all() {
            server.shutdown().await;
        }
    }

    /// What the newest server wrote to stderr last.
    pub(crate) fn last_words(&self) -> Vec<String> {
        self.all().last().map(ChildHandle::stderr).unwrap_or_default()
    }
}

/// Starts the server, or finds it, and agrees with it on a revision.
pub(crate) async fn connect(
    target: &Target,
    options: &Options,
    servers: &Servers,
    screen: Screen,
) -> Result<Client, Failure> {
    let outcome = target.connect(builder(options, screen), options, servers).await?;
    let client = match retry(&outcome) {
        Some(revisions) => {
            let builder = builder(options, screen).revisions(revisions);
            target.connect(builder, options, servers).await?
        }
        None => outcome,
    };
    let client = client.map_err(Failure::Connect)?;
    if let Some(level) = options.log
        && client.capabilities().has("logging")
    {
        client.set_log_level(level).await?;
    }
    Ok(client)
}

/// What to speak in a second attempt, when the server refused our revision and said which it
/// has.
fn retry(outcome: &Result<Client, ConnectError>) -> Option<RevisionSet> {
    match outcome {
        Err(ConnectError::Handshake(error)) => {
            error.common(RevisionSet::default()).map(RevisionSet::from)
        }
        _ => None,
    }
}

fn builder(options: &Options, screen: Screen) -> Builder {
    let mut builder = Client::builder("mcp", env!("CARGO_PKG_VERSION"));
    if let Some(timeout) = options.timeout {
        builder = builder.timeout(timeout).connect_timeout(timeout);
    }
    if let Some(max) = options.max_time {
        builder = builder.max_time(max);
    }
    let least = options.log;

    builder.on_log(move |message| {
        if least.is_some_and(|least| severity(least) <= severity(message.level)) {
            let logger = message.logger.map(|logger| format!(" {logger}:")).unwrap_or_default();
            let text = match message.data.as_str() {
                Some(text) => text.into_owned(),
                None => message.data.to_string(),
            };
            screen.remark(&format!("[{}]{logger} {text}", message.level.as_str()));
        }
    })
}

/// Connects over a link that is open.
pub(crate) async fn connect_over(builder: Builder, link: impl Link) -> Result<Client, Failure> {
    builder.connect(link).await.map_err(Failure::Connect)
}

/// From the most talkative to the most serious.
const fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        _ => 7,
    }
}
