//! Where the server is, and how to get to it.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use mcp_client::config::{ServerConfig, UrlKind};
use mcp_client::{Builder, Client, ConnectError};
use mcp_jsonrpc::link::v1::Link;
use mcp_lifecycle::RevisionSet;
use mcp_transport_http::client::{Config, HttpConnector, HttpLink, ProxyConfig, Transport};
use mcp_transport_http::v1::Authorizer;
use mcp_transport_stdio::{ChildCommand, ChildHandle, ChildLink, Stderr};
use mcp_types::LoggingLevel;

use crate::args::{Options, UsageError};
use crate::failure::Failure;
use crate::listed::Listed;
use crate::logins;
use crate::output::Screen;

/// A server, as the command line names it.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// A program to start.
    Command { program: OsString, args: Vec<OsString> },
    /// Where it listens.
    Url { url: String, headers: HeaderMap, transport: Transport },
    /// Where it is written down, with what goes before that.
    Listed { listed: Listed, headers: HeaderMap, transport: Option<Transport> },
}

/// A server that has logins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Site {
    Url(String),
    Listed(Listed),
}

impl Site {
    /// Its URL.
    pub(crate) fn url(self) -> Result<String, Failure> {
        match self {
            Self::Url(url) => Ok(url),
            Self::Listed(listed) => match listed.find()? {
                ServerConfig::Url(config) => Ok(config.url),
                _ => Err(UsageError::new("only servers at a URL have logins").into()),
            },
        }
    }

    /// How to log in there, as one types it.
    fn login(&self) -> String {
        match self {
            Self::Url(url) => format!("mcp login {}", quoted(url)),
            Self::Listed(Listed { file, server }) => {
                let file = quoted(&file.display().to_string());
                let server = server.as_ref().map(|name| format!(" --server {}", quoted(name)));
                format!("mcp login --config {file}{}", server.unwrap_or_default())
            }
        }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A header, whose value may be a secret and is never repeated.
pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), UsageError> {
    let name = HeaderName::try_from(name.trim())
        .map_err(|_| UsageError::new("the name of a header has characters it can't have"))?;
    let mut value = HeaderValue::try_from(value.trim()).map_err(|_| {
        UsageError::new(format!("the value of the header {name} has characters it can't have"))
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}

impl Target {
    /// A program with its arguments; none without a program.
    pub(crate) fn command(words: Vec<OsString>) -> Option<Self> {
        let mut words = words.into_iter();
        Some(Self::Command { program: words.next()?, args: words.collect() })
    }

    /// How to log in, where there are logins.
    pub(crate) fn login(&self) -> Option<String> {
        match self {
            Self::Command { .. } => None,
            Self::Url { url, .. } => Some(Site::Url(url.clone()).login()),
            Self::Listed { listed, .. } => Some(Site::Listed(listed.clone()).login()),
        }
    }

    /// What is written down, if it is. The command line goes before that.
    pub(crate) fn resolve(self, options: &mut Options) -> Result<Self, Failure> {
        let Self::Listed { listed, headers, transport } = self else { return Ok(self) };
        match listed.find()? {
            ServerConfig::Command(config) => {
                if transport.is_some() || !headers.is_empty() {
                    let wrong = "--header and --transport are for servers at a URL";
                    return Err(UsageError::new(wrong).into());
                }
                let env = config.env.into_iter().map(|(name, value)| (name.into(), value.into()));
                options.env = env.chain(std::mem::take(&mut options.env)).collect();
                options.cwd = options.cwd.take().or(config.cwd);
                let args = config.args.into_iter().map(OsString::from).collect();
                Ok(Self::Command { program: config.command.into(), args })
            }
            ServerConfig::Url(config) => {
                if options.cwd.is_some() || !options.env.is_empty() {
                    let wrong = "--env and --cwd are for servers that are started";
                    return Err(UsageError::new(wrong).into());
                }
                let mut all = HeaderMap::new();
                for (name, value) in &config.headers {
                    let (name, value) = header(name, value)?;
                    if !headers.contains_key(&name) {
                        all.append(name, value);
                    }
                }
                all.extend(headers);
                let transport = transport.unwrap_or(match config.kind {
                    UrlKind::StreamableHttp => Transport::StreamableHttp,
                    UrlKind::Sse => Transport::LegacySse,
                    _ => Transport::Auto,
                });
                Ok(Self::Url { url: config.url, headers: all, transport })
            }
            _ => Err(UsageError::new("this server can't be reached by this program").into()),
        }
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
            Self::Listed { .. } => Err(UsageError::new("which server?").into()),
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
