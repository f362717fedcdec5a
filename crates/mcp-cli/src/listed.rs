//! Servers that are written down in a file.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use mcp_client::config::{ConfigError, MAX_BYTES, ServerConfig, ServerMap};

use crate::args::{UsageError, nearest};
use crate::failure::Failure;

/// A server in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listed {
    pub(crate) file: PathBuf,
    /// Its name; the only one's if there is none.
    pub(crate) server: Option<String>,
}

impl Listed {
    /// Reads the file, and what it says of the server. Variables are those of the environment.
    pub(crate) fn find(&self) -> Result<ServerConfig, Failure> {
        let servers = self.read()?;
        let name = self.name(&servers)?;
        let variable = |name: &str| std::env::var(name).ok();
        servers.get(name, variable).map_err(|error| self.wrong(error))
    }

    fn read(&self) -> Result<ServerMap, Failure> {
        let unread = |source| Failure::ConfigFile { file: self.file.clone(), source };
        let mut text = String::new();
        // One more than is taken, so that a larger file is noticed.
        let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        File::open(&self.file)
            .and_then(|file| file.take(limit).read_to_string(&mut text))
            .map_err(unread)?;
        ServerMap::parse(&text).map_err(|error| self.wrong(error))
    }

    fn wrong(&self, source: ConfigError) -> Failure {
        Failure::Config { file: self.file.clone(), source }
    }

    fn name<'a>(&'a self, servers: &'a ServerMap) -> Result<&'a str, UsageError> {
        let file = self.file.display();
        if let Some(name) = &self.server {
            if servers.names().any(|known| known == name) {
                return Ok(name);
            }
            let hint = match nearest(name, servers.names()) {
                Some(known) => format!("did you mean {known}?"),
                None => format!("it has {}", list(servers)),
            };
            return Err(UsageError::new(format!("{file} has no server {name:?}; {hint}")));
        }
        let mut enabled = servers.names().filter(|name| !servers.is_disabled(name));
        match (enabled.next(), enabled.next()) {
            (Some(name), None) => Ok(name),
            _ => {
                let known = list(servers);
                Err(UsageError::new(format!("which server, by --server? {file} has {known}")))
            }
        }
    }
}

/// The names, as far as they fit.
fn list(servers: &ServerMap) -> String {
    const SHOWN: usize = 20;
    let names: Vec<_> = servers.names().take(SHOWN).collect();
    match servers.len().saturating_sub(SHOWN) {
        _ if names.is_empty() => "none".to_owned(),
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
