//! One server of a file.

use std::fmt;
use std::path::PathBuf;

use mcp_types::{JsonObject, JsonValue};

use super::Problem;
use super::expand::Expander;

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerConfig {
    /// It is a program to start.
    Command(CommandConfig),
    /// It listens at a URL.
    Url(UrlConfig),
}

/// A server that is started.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandConfig {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables for it, beside those that every child gets to see.
    pub env: Vec<(String, String)>,
    /// The directory to start it in.
    pub cwd: Option<PathBuf>,
}

/// A server that listens at a URL.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UrlConfig {
    /// The URL.
    pub url: String,
    /// What it speaks.
    pub kind: UrlKind,
    /// To be sent with every request. They are as they stand in the file: whether HTTP has such
    /// headers is for the transport to say.
    pub headers: Vec<(String, String)>,
}

/// What a server at a URL speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlKind {
    /// Streamable HTTP, or the HTTP+SSE before it: no `type`, or `http`.
    Auto,
    /// Streamable HTTP: `streamable-http`, or a `httpUrl`.
    StreamableHttp,
    /// HTTP+SSE: `sse`.
    Sse,
}

/// What `type` says.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Stdio,
    Url(UrlKind),
}

pub(super) fn read(
    server: &JsonValue,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<ServerConfig, Problem> {
    let server: JsonObject = server.to().map_err(|_| Problem::NoObject)?;
    let mut expander = Expander::new(variable);
    let kind = match server.get("type") {
        None => None,
        Some(kind) => Some(self::kind(kind)?),
    };
    let command = text(&server, "command", &mut expander)?;
    let url = match server.get("httpUrl") {
        Some(_) => text(&server, "httpUrl", &mut expander)?.map(|u| (u, UrlKind::StreamableHttp)),
        None => {
            let name = if server.contains("url") { "url" } else { "serverUrl" };
            text(&server, name, &mut expander)?.map(|url| (url, UrlKind::Auto))
        }
    };
    match (kind, command, url) {
        (None, Some(_), Some(_)) => Err(Problem::TwoWays),
        (None | Some(Kind::Stdio), Some(command), _) => {
            let args = match server.get("args") {
                None => Vec::new(),
                Some(args) => args
                    .to::<Vec<String>>()
                    .map_err(|_| form("args", "list of texts"))?
                    .iter()
                    .map(|arg| expander.expand("args", arg))
                    .collect::<Result<_, _>>()?,
            };
            let env = pairs(&server, "env", &mut expander)?;
            let cwd = text(&server, "cwd", &mut expander)?.map(PathBuf::from);
            Ok(ServerConfig::Command(CommandConfig { command, args, env, cwd }))
        }
        (None | Some(Kind::Url(_)), _, Some((url, found))) => {
            let kind = match kind {
                Some(Kind::Url(kind)) if kind != UrlKind::Auto => kind,
                _ => found,
            };
            let headers = pairs(&server, "headers", &mut expander)?;
            Ok(ServerConfig::Url(UrlConfig { url, kind, headers }))
        }
        _ => Err(Problem::NoWay),
    }
}

fn kind(kind: &JsonValue) -> Result<Kind, Problem> {
    match kind.as_str().as_deref() {
        Some("stdio" | "local") => Ok(Kind::Stdio),
        Some("http") => Ok(Kind::Url(UrlKind::Auto)),
        Some("streamable-http" | "streamableHttp" | "streamable_http") => {
            Ok(Kind::Url(UrlKind::StreamableHttp))
        }
        Some("sse") => Ok(Kind::Url(UrlKind::Sse)),
        _ => Err(Problem::Type),
    }
}

fn form(member: impl Into<String>, form: &'static str) -> Problem {
    Problem::Form { member: member.into(), form }
}

fn text(
    server: &JsonObject,
    member: &str,
    expander: &mut Expander<'_>,
) -> Result<Option<String>, Problem> {
    let Some(value) = server.get(member).filter(|value| !value.is_null()) else { return Ok(None) };
    let text = value.as_str().filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| form(member, "text"))?;
    expander.expand(member, &text).map(Some)
}

/// The members of an object, as texts. Numbers and truth values are taken as they are written;
/// null takes a member out.
fn pairs(
    server: &JsonObject,
    member: &str,
    expander: &mut Expander<'_>,
) -> Result<Vec<(String, String)>, Problem> {
    let Some(value) = server.get(member).filter(|value| !value.is_null()) else {
        return Ok(Vec::new());
    };
    let object: JsonObject = value.to().map_err(|_| form(member, "object with each name once"))?;
    let mut pairs = Vec::new();
    for (name, value) in object.iter() {
        if value.is_null() {
            continue;
        }
        let member = format!("{member}.{name}");
        let text = match value.as_str() {
            Some(text) => text.into_owned(),
            None if value.is_object() || value.is_array() => return Err(form(member, "text")),
            None => value.as_raw().to_owned(),
        };
        pairs.push((name.to_owned(), expander.expand(&member, &text)?));
    }
    Ok(pairs)
}

/// Without arguments and the values of variables, which may be secret.
impl fmt::Debug for CommandConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandConfig")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &names(&self.env))
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// Without the values of headers, and what may be secret in a URL: all but its beginning.
impl fmt::Debug for UrlConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.split(['?', '#']).next().unwrap_or_default();
        let url = match url.rsplit_once('@') {
            Some((_, host)) => host,
            None => url,
        };
        f.debug_struct("UrlConfig")
            .field("url", &url)
            .field("kind", &self.kind)
            .field("headers", &names(&self.headers))
            .finish()
    }
}

fn names(pairs: &[(String, String)]) -> Vec<&str> {
    pairs.iter().map(|(name, _)| name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ServerConfig, Problem> {
        let variable = |name: &str| (name == "KEY").then(|| "hush".to_owned());
        super::read(&JsonValue::from_json(json).unwrap(), &variable)
    }

    fn url(json: &str) -> UrlConfig {
        match read(json) {
            Ok(ServerConfig::Url(config)) => config,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_command_is_read_with_all_that_belongs_to_it() {
        let config = read(
            r#"{"command": "${KEY}x", "args": ["-a", "${KEY}"], "cwd": "/${KEY}", "more": {},
                "env": {"T": "${KEY}", "N": 1.50, "B": true, "OFF": null}}"#,
        );
        let Ok(ServerConfig::Command(config)) = config else { panic!("{config:?}") };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!((&*config.command, &*config.args), ("hushx", &["-a".into(), "hush".into()][..]));
        assert_eq!(config.env, [pair("T", "hush"), pair("N", "1.50"), pair("B", "true")]);
        assert_eq!(config.cwd, Some(PathBuf::from("/hush")));
        let config = read(r#"{"type": "stdio", "command": "x", "url": "y", "env": null}"#).unwrap();
        assert!(
            matches!(&config, ServerConfig::Command(c) if c.command == "x" && c.env.is_empty())
        );
    }

    #[test]
    fn a_url_is_read_by_each_of_its_names() {
        for (json, kind) in [
            (r#"{"url": "http://h/"}"#, UrlKind::Auto),
            (r#"{"serverUrl": "http://h/"}"#, UrlKind::Auto),
            (r#"{"type": "http", "url": "http://h/"}"#, UrlKind::Auto),
            (r#"{"type": "http", "httpUrl": "http://h/"}"#, UrlKind::StreamableHttp),
            (r#"{"type": "streamable-http", "url": "http://h/"}"#, UrlKind::StreamableHttp),
            (r#"{"type": "streamableHttp", "url": "http://h/"}"#, UrlKind::StreamableHttp),
            (r#"{"type": "sse", "url": "http://h/", "command": "x"}"#, UrlKind::Sse),
        ] {
            let config = url(json);
            assert_eq!((&*config.url, config.kind), ("http://h/", kind), "{json}");
        }
        let config = url(r#"{"url": "http://h/", "headers": {"A": "Bearer ${KEY}"}}"#);
        assert_eq!(config.headers, [("A".to_owned(), "Bearer hush".to_owned())]);
    }

    #[test]
    fn what_is_wrong_is_named_without_its_value() {
        for (json, problem) in [
            ("7", "it is no object with each name once"),
            (r#"{"url": "a", "url": "b"}"#, "it is no object with each name once"),
            ("{}", "it has neither `command` nor `url`"),
            (r#"{"type": "stdio", "url": "secret"}"#, "it has neither `command` nor `url`"),
            (r#"{"type": "sse", "command": "secret"}"#, "it has neither `command` nor `url`"),
            (
                r#"{"command": "secret", "url": "secret"}"#,
                "it has a `command` and a `url`; `type` has to say which counts",
            ),
            (
                r#"{"type": "secret", "url": "x"}"#,
                "its `type` is none of stdio, http, streamable-http and sse",
            ),
            (r#"{"command": ["secret"]}"#, "`command` is no text"),
            (r#"{"command": ""}"#, "`command` is no text"),
            (r#"{"command": "x", "args": "secret"}"#, "`args` is no list of texts"),
            (r#"{"command": "x", "env": ["A=secret"]}"#, "`env` is no object with each name once"),
            (r#"{"command": "x", "env": {"A": ["secret"]}}"#, "`env.A` is no text"),
            (
                r#"{"url": "x", "headers": {"A": "${B}"}}"#,
                "the variable B in `headers.A` is not set",
            ),
            (r#"{"url": "${input:secret}"}"#, "`url` has a ${…} that is no variable"),
        ] {
            assert_eq!(read(json).unwrap_err().to_string(), problem, "{json}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        for json in [
            r#"{"command": "x", "args": ["${KEY}"], "env": {"A": "${KEY}"}}"#,
            r#"{"url": "http://me:${KEY}@h/p?k=${KEY}#${KEY}", "headers": {"A": "${KEY}"}}"#,
        ] {
            let shown = format!("{:?}", read(json).unwrap());
            assert!(!shown.contains("hush") && shown.contains("\"A\""), "{shown}");
        }
        assert!(format!("{:?}", url(r#"{"url": "http://h/p?k=1"}"#)).contains("\"http://h/p\""));
    }
}
