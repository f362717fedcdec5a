//! Where a server is.

use std::ffi::OsString;
use std::path::PathBuf;

use hyper::header::HeaderMap;
use mcp_transport_http::client::Transport;

use super::{Options, UsageError};
use crate::listed::Listed;
use crate::target::{self, Site, Target};

/// What the options say of it.
#[derive(Default)]
pub(super) struct Place {
    pub(super) url: Option<String>,
    pub(super) config: Option<PathBuf>,
    pub(super) server: Option<String>,
    headers: HeaderMap,
    transport: Option<Transport>,
}

impl Place {
    /// `Name: value`.
    pub(super) fn header(&mut self, text: &str) -> Result<(), UsageError> {
        // The value may be a secret: it is not repeated.
        let wrong = || UsageError::new("a header is 'Name: value'");
        let (name, value) = text.split_once(':').ok_or_else(wrong)?;
        let (name, value) = target::header(name, value)?;
        self.headers.append(name, value);
        Ok(())
    }

    pub(super) fn transport(&mut self, text: &str) -> Result<(), UsageError> {
        self.transport = Some(match text {
            "auto" => Transport::Auto,
            "http" => Transport::StreamableHttp,
            "sse" => Transport::LegacySse,
            _ => {
                let known = "they are auto, http and sse";
                return Err(UsageError::new(format!("{text:?} is no transport; {known}")));
            }
        });
        Ok(())
    }

    /// The file, and which server of it.
    fn listed(&mut self) -> Result<Option<Listed>, UsageError> {
        match (self.config.take(), self.server.take()) {
            (Some(file), server) => Ok(Some(Listed { file, server })),
            (None, Some(_)) => Err(UsageError::new("--server is for a --config")),
            (None, None) => Ok(None),
        }
    }

    /// A server that has logins.
    pub(super) fn site(mut self) -> Result<Site, UsageError> {
        match (self.listed()?, self.url) {
            (Some(_), Some(_)) => {
                Err(UsageError::new("a server has a URL or a --config, not both"))
            }
            (Some(listed), None) => Ok(Site::Listed(listed)),
            (None, Some(url)) => Ok(Site::Url(url)),
            (None, None) => Err(UsageError::new("which server? Its URL is missing")),
        }
    }

    /// The server: this one, or the command that comes after `--`.
    pub(super) fn target(
        mut self,
        command: Option<Vec<OsString>>,
        options: &Options,
    ) -> Result<Target, UsageError> {
        let listed = self.listed()?;
        let ways = [listed.is_some(), self.url.is_some(), command.is_some()];
        if ways.into_iter().filter(|way| *way).count() > 1 {
            return Err(UsageError::new(
                "a server has a URL, a command or a place in a --config, not both",
            ));
        }
        let (headers, transport) = (self.headers, self.transport);
        if let Some(listed) = listed {
            return Ok(Target::Listed { listed, headers, transport });
        }
        if let Some(url) = self.url {
            if options.cwd.is_some() || !options.env.is_empty() {
                return Err(UsageError::new("--env and --cwd are for servers that are started"));
            }
            return Ok(Target::Url {
                url,
                headers,
                transport: transport.unwrap_or(Transport::Auto),
            });
        }
        if transport.is_some() || !headers.is_empty() {
            return Err(UsageError::new("--header and --transport are for servers with a --url"));
        }
        command.and_then(Target::command).ok_or_else(|| {
            UsageError::new(
                "which server? Its command comes at the end, after --, its URL by --url, its \
                 name by --config and --server",
            )
        })
    }
}
