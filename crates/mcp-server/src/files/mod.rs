//! Files as resources, and nothing but those that are meant.

mod open;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_types::{BlobResourceContents, ReadResourceResult, ResourceContents, TextResourceContents};

use crate::resource::{InvalidTemplate, ReadRequest, ResourceEntry, ResourceError, TemplateEntry};
use crate::v1::{BoxFuture, ResourceProvider};
use mcp_types::file_uri::encode;

/// The files under a directory, as resources.
///
/// ```no_run
/// use mcp_server::Server;
/// use mcp_server::resource::Files;
///
/// # fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let files = Files::under("docs:///", "/srv/docs")?.max_bytes(1 << 20);
/// let mut server = Server::new("docs", "1.0.0").with_template(files.template("docs")?);
/// for entry in files.entries(100)? {
///     server = server.with_resource(entry);
/// }
/// # Ok(())
/// # }
/// ```
///
/// What is served is inside of the directory after every link was followed and every encoding
/// resolved, is a regular file, has no name that begins with a dot on its way, unless
/// [`hidden`](Self::hidden) says so, and is not larger than allowed. Everything else is "not
/// found": a client learns nothing of what it may not read. Texts (UTF-8) are sent as text,
/// other files as bytes. Reading happens on a thread for work that blocks.
///
/// Whoever may write in the directory decides what is in it: hard links, for example, can't be
/// told from files.
#[derive(Clone, Debug)]
pub struct Files(Arc<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    prefix: String,
    /// With every link resolved.
    root: PathBuf,
    max_bytes: u64,
    hidden: bool,
}

impl Files {
    /// The files under `directory`, whose URIs begin with `prefix`, such as `file:///docs/`.
    ///
    /// # Errors
    ///
    /// When the directory is none.
    pub fn under(prefix: impl Into<String>, directory: impl AsRef<Path>) -> io::Result<Self> {
        let root = directory.as_ref().canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let inner =
            Inner { prefix: prefix.into(), root, max_bytes: 4 * 1024 * 1024, hidden: false };
        Ok(Self(Arc::new(inner)))
    }

    /// Sets how large a file may be, in bytes; 4 MiB by default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        Arc::make_mut(&mut self.0).max_bytes = bytes;
        self
    }

    /// Serves files and directories whose names begin with a dot, too.
    #[must_use]
    pub fn hidden(mut self, served: bool) -> Self {
        Arc::make_mut(&mut self.0).hidden = served;
        self
    }

    /// The template under which every file can be read, called `name`.
    ///
    /// # Errors
    ///
    /// When the prefix can't be part of a template.
    pub fn template(&self, name: impl Into<String>) -> Result<TemplateEntry, InvalidTemplate> {
        TemplateEntry::new(format!("{}{{+path}}", self.0.prefix), name, self.clone())
    }

    /// An entry for each file, by name; as they are now. Blocks while it looks.
    ///
    /// # Errors
    ///
    /// When a directory can't be read, and when there are more than `most` files.
    pub fn entries(&self, most: usize) -> io::Result<Vec<ResourceEntry>> {
        let mut paths = Vec::new();
        self.collect(&self.0.root, &mut paths, most, 32)?;
        paths.sort();
        Ok(paths.iter().filter_map(|path| self.entry(path)).collect())
    }

    /// Links are not followed here: a file is listed once, where it is.
    fn collect(
        &self,
        directory: &Path,
        found: &mut Vec<PathBuf>,
        most: usize,
        depth: usize,
    ) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if !self.0.hidden && entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let kind = entry.file_type()?;
            if kind.is_dir() && depth > 0 {
                self.collect(&entry.path(), found, most, depth - 1)?;
            } else if kind.is_file() {
                if found.len() >= most {
                    return Err(io::Error::other(TooMany { most }));
                }
                found.push(entry.path());
            }
        }
        Ok(())
    }

    fn entry(&self, path: &Path) -> Option<ResourceEntry> {
        let inside = path.strip_prefix(&self.0.root).ok()?;
        // A name that is no UTF-8 has no URI by which it could be asked for here.
        let inside = inside.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
        let size = path.metadata().ok()?.len();
        let mut uri = self.0.prefix.clone();
        encode(inside.as_bytes(), &mut uri);
        let entry = ResourceEntry::new(uri, inside.as_str(), self.clone()).size(size);
        Some(match mime_of(&inside) {
            Some(mime_type) => entry.mime_type(mime_type),
            None => entry,
        })
    }

    /// What is left of a URI behind the prefix, decoded.
    fn relative(&self, request: &ReadRequest) -> Option<String> {
        if let Some(path) = request.variables.get("path") {
            return Some(path.to_owned());
        }
        // An entry of its own has no variables.
        crate::resource::decode(request.uri.strip_prefix(&self.0.prefix)?)
    }
}

/// There are more files than were to be listed.
#[derive(Debug, thiserror::Error)]
#[error("there are more than {most} files")]
struct TooMany {
    most: usize,
}

impl ResourceProvider for Files {
    fn read(
        &self,
        request: ReadRequest,
    ) -> BoxFuture<'_, Result<ReadResourceResult, ResourceError>> {
        let relative = self.relative(&request);
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let relative = relative.ok_or(ResourceError::NotFound)?;
            let mime_type = mime_of(&relative);
            let reading = tokio::task::spawn_blocking(move || {
                open::read(&inner.root, &relative, inner.max_bytes, inner.hidden)
            });
            let bytes = reading.await.map_err(ResourceError::failed)??;
            Ok(ReadResourceResult::new(vec![contents(request.uri, bytes, mime_type)]))
        })
    }
}

fn contents(uri: String, bytes: Vec<u8>, mime_type: Option<&str>) -> ResourceContents {
    match String::from_utf8(bytes) {
        Ok(text) => {
            let mime_type = mime_type.unwrap_or("text/plain");
            TextResourceContents::new(uri, text).with_mime_type(mime_type).into()
        }
        Err(error) => {
            // A file that says to be text and isn't is sent as it is.
            let known = mime_type.filter(|mime_type| !mime_type.starts_with("text/"));
            let data = mcp_types::Base64::encode(error.as_bytes());
            let mime_type = known.unwrap_or("application/octet-stream");
            BlobResourceContents::new(uri, data).with_mime_type(mime_type).into()
        }
    }
}

/// By the ending of the name, for what is common.
fn mime_of(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('/').map_or(path, |(_, name)| name).rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "js" | "mjs" => "text/javascript",
        "rs" => "text/x-rust",
        "py" => "text/x-python",
        "json" => "application/json",
        "toml" => "application/toml",
        "yaml" | "yml" => "application/yaml",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        _ => return None,
    })
}
