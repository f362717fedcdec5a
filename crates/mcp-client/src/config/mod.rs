//! Servers as hosts write them down: the map `mcpServers` of an `mcp.json`.
//!
//! There is no specification of these files; this reads what the hosts in use have in common:
//!
//! ```json
//! {
//!   "mcpServers": {
//!     "files": { "command": "file-server", "args": ["--root", "${HOME}"], "env": { "LOG": "info" } },
//!     "issues": { "url": "https://issues.example.com/mcp", "headers": { "X-Key": "${ISSUES_KEY}" } }
//!   }
//! }
//! ```
//!
//! - The map is called `mcpServers` or `servers`; comments and commas too many are skipped.
//! - A server has a `command`, with `args`, `env` and `cwd`, or a `url`, with `headers`. `type`
//!   says which where both are there: `stdio`, `http`, `streamable-http` or `sse`. `httpUrl` and
//!   `serverUrl` are other names of `url`.
//! - `${NAME}`, `${env:NAME}` and `${NAME:-default}` in these values stand for variables, which
//!   the caller looks up. One that isn't there is an error, never an empty text.
//! - Other members are ignored. A server that is written down wrongly costs only itself.
//!
//! Such a file says which programs are started, so it has to be trusted as a program is. What
//! stands in it may be secret: no error and no `Debug` shows values.
//!
//! # Examples
//!
//! ```
//! use mcp_client::config::{ServerConfig, ServerMap};
//!
//! let text = r#"{"mcpServers": {"files": {"command": "file-server", "args": ["${ROOT}"]}}}"#;
//! let servers = ServerMap::parse(text)?;
//! let variable = |name: &str| (name == "ROOT").then(|| "/srv".to_owned());
//! let ServerConfig::Command(files) = servers.get("files", variable)? else { unreachable!() };
//! assert_eq!((&*files.command, &*files.args), ("file-server", &["/srv".to_owned()][..]));
//! # Ok::<(), mcp_client::config::ConfigError>(())
//! ```

mod comments;
mod entry;
mod expand;

use std::fmt;

use mcp_types::{JsonObject, JsonValue};

pub use self::entry::{CommandConfig, ServerConfig, UrlConfig, UrlKind};

/// Bytes of a file, at most.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Servers of a file, at most.
pub const MAX_SERVERS: usize = 1000;
/// Bytes of all values of a server together, variables filled in, at most.
pub const MAX_SERVER_BYTES: usize = 1024 * 1024;

/// The servers of a file, by name, in the order in which they stand there.
#[derive(Clone)]
pub struct ServerMap {
    servers: Vec<(String, JsonValue)>,
}

/// What is wrong with a file of servers. No value that stands in it is shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is larger than [`MAX_BYTES`].
    #[error("more than {MAX_BYTES} bytes")]
    TooLarge,
    /// It is no JSON object, or a name is there twice.
    #[error("no JSON object with each name once (line {line}, column {column})")]
    Json {
        /// Where, counted from 1.
        line: usize,
        /// Where in that line.
        column: usize,
    },
    /// There is no map of servers.
    #[error("there is no `mcpServers` in it")]
    NoServers,
    /// There are more than [`MAX_SERVERS`].
    #[error("more than {MAX_SERVERS} servers")]
    TooMany,
    /// There is no server with this name.
    #[error("there is no server {name:?}")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The server is written down wrongly.
    #[error("the server {server:?} can't be used: {problem}")]
    Server {
        /// Its name.
        server: String,
        /// What is wrong.
        problem: Problem,
    },
}

/// What is wrong with one server of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is no JSON object, or a name is there twice.
    #[error("it is no object with each name once")]
    NoObject,
    /// It has neither a command nor a URL.
    #[error("it has neither `command` nor `url`")]
    NoWay,
    /// It has both a command and a URL, and doesn't say which to use.
    #[error("it has a `command` and a `url`; `type` has to say which counts")]
    TwoWays,
    /// Its `type` is unknown.
    #[error("its `type` is none of stdio, http, streamable-http and sse")]
    Type,
    /// A member doesn't have the form that it has to have.
    #[error("`{member}` is no {form}")]
    Form {
        /// The member.
        member: String,
        /// What it would have to be.
        form: &'static str,
    },
    /// A variable isn't there.
    #[error("the variable {name} in `{member}` is not set")]
    Variable {
        /// Where it is used.
        member: String,
        /// Its name.
        name: String,
    },
    /// A `${` has no end, or has something in it that is no variable.
    #[error("`{member}` has a ${{…}} that is no variable")]
    Placeholder {
        /// Where.
        member: String,
    },
    /// Its values have more than [`MAX_SERVER_BYTES`], variables filled in.
    #[error("it has more than {MAX_SERVER_BYTES} bytes")]
    TooLarge,
}

impl ServerMap {
    /// Reads a file. What is in the servers is looked at in [`get`](Self::get).
    ///
    /// # Errors
    ///
    /// [`ConfigError`], when there is no map of servers in it, or too much.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        if text.len() > MAX_BYTES {
            return Err(ConfigError::TooLarge);
        }
        let text = comments::without(text.trim_start_matches('\u{feff}'));
        let file: JsonObject = serde_json::from_str(&text)
            .map_err(|error| ConfigError::Json { line: error.line(), column: error.column() })?;
        let map = file.get("mcpServers").or_else(|| file.get("servers"));
        let map = map.ok_or(ConfigError::NoServers)?;
        let map = map.to::<JsonObject>().map_err(|_| ConfigError::NoServers)?;
        if map.len() > MAX_SERVERS {
            return Err(ConfigError::TooMany);
        }
        Ok(Self { servers: map.into_iter().collect() })
    }

    /// The names, in the order of the file.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.servers.iter().map(|(name, _)| name.as_str())
    }

    /// How many servers there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.servers.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Whether the server is switched off (`"disabled": true`). It can be used all the same.
    #[must_use]
    pub fn is_disabled(&self, name: &str) -> bool {
        self.find(name).and_then(|server| server.get("disabled")).is_some_and(|disabled| {
            // Whatever else stands there switches nothing off.
            disabled.to::<bool>().unwrap_or_default()
        })
    }

    /// Reads a server, and fills variables in: `variable` looks them up, for example in the
    /// environment. What it gives is taken as it is.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Unknown`], or [`ConfigError::Server`] with what is wrong.
    pub fn get(
        &self,
        name: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<ServerConfig, ConfigError> {
        let unknown = || ConfigError::Unknown { name: name.to_owned() };
        let server = self.find(name).ok_or_else(unknown)?;
        entry::read(server, &variable)
            .map_err(|problem| ConfigError::Server { server: name.to_owned(), problem })
    }

    fn find(&self, name: &str) -> Option<&JsonValue> {
        self.servers.iter().find(|(known, _)| known == name).map(|(_, server)| server)
    }
}

/// The names only: the values may be secret.
impl fmt::Debug for ServerMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn what_hosts_write_is_read() {
        for key in ["mcpServers", "servers"] {
            let text = format!(
                "\u{feff}{{ // of this machine\n \"inputs\": [], \"{key}\": {{\"a\": {{\"command\": \
                 \"x\",}}, \"b\": {{\"url\": \"http://b/\", \"disabled\": true}},}}, }}"
            );
            let map = ServerMap::parse(&text).unwrap();
            assert_eq!(map.names().collect::<Vec<_>>(), ["a", "b"]);
            assert_eq!((map.len(), map.is_empty()), (2, false));
            assert!(map.is_disabled("b") && !map.is_disabled("a") && !map.is_disabled("c"));
            assert!(map.get("b", none).is_ok());
            assert_eq!(format!("{map:?}"), r#"{"a", "b"}"#);
        }
    }

    #[test]
    fn what_is_no_map_of_servers_is_refused() {
        let error = |text: &str| ServerMap::parse(text).unwrap_err();
        assert_eq!(error("{\n  \"mcpServers\": secret }").to_string().matches("secret").count(), 0);
        assert_eq!(error("{\n  nope }"), ConfigError::Json { line: 2, column: 3 });
        assert!(matches!(error("[]"), ConfigError::Json { .. }));
        assert!(matches!(error(r#"{"servers":{},"servers":{}}"#), ConfigError::Json { .. }));
        for text in ["{}", r#"{"mcpServers": []}"#, r#"{"mcpServers": {"a": 1, "a": 2}}"#] {
            assert_eq!(error(text), ConfigError::NoServers, "{text}");
        }
        let many: Vec<_> = (0..=MAX_SERVERS).map(|n| format!("\"{n}\":{{}}")).collect();
        assert_eq!(error(&format!("{{\"servers\":{{{}}}}}", many.join(","))), ConfigError::TooMany);
        assert_eq!(error(&" ".repeat(MAX_BYTES + 1)), ConfigError::TooLarge);
    }

    #[test]
    fn a_server_that_is_wrong_costs_only_itself() {
        let text = r#"{"mcpServers": {"bad": {"command": 7}, "good": {"command": "x"}}}"#;
        let map = ServerMap::parse(text).unwrap();
        assert!(map.get("good", none).is_ok());
        let error = map.get("bad", none).unwrap_err();
        assert_eq!(error.to_string(), "the server \"bad\" can't be used: `command` is no text");
        assert_eq!(map.get("x", none).unwrap_err(), ConfigError::Unknown { name: "x".into() });
    }
}
