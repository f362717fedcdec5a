use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::resource::ResourceError;

/// Reads a file inside of `root`, which has no links in it, and none outside.
pub(super) fn read(
    root: &Path,
    relative: &str,
    max_bytes: u64,
    hidden: bool,
) -> Result<Vec<u8>, ResourceError> {
    let path = join(root, relative, hidden).ok_or(ResourceError::NotFound)?;
    let real = resolve(root, &path, hidden)?;
    // Before it is opened: opening a pipe waits for whoever writes to it.
    let expected = regular(&real)?;
    let mut file = File::open(&real)?;
    let found = file.metadata()?;
    // Somebody may have put a link in its place since it was resolved.
    if !found.is_file() || !same(&expected, &found) || resolve(root, &path, hidden)? != real {
        return Err(ResourceError::NotFound);
    }
    if found.len() > max_bytes {
        return Err(too_large(max_bytes));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    // It may grow while it is read.
    file.by_ref().take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max_bytes {
        return Err(too_large(max_bytes));
    }
    Ok(bytes)
}

fn too_large(max_bytes: u64) -> ResourceError {
    let message = format!("the file has more than {max_bytes} bytes");
    ResourceError::Protocol(mcp_jsonrpc::ErrorObject::internal(message))
}

/// The path, if each of its segments is the name of something and of nothing else.
fn join(root: &Path, relative: &str, hidden: bool) -> Option<PathBuf> {
    let mut path = root.to_owned();
    for name in relative.split('/') {
        let odd = |c: char| c.is_control() || c == '\\' || cfg!(windows) && c == ':';
        if matches!(name, "" | "." | "..") || name.contains(odd) {
            return None;
        }
        if !hidden && name.starts_with('.') {
            return None;
        }
        path.push(name);
    }
    Some(path)
}

/// Where the path really leads, if that is inside, too.
fn resolve(root: &Path, path: &Path, hidden: bool) -> Result<PathBuf, ResourceError> {
    let real = path.canonicalize().map_err(|error| {
        // Not there, not allowed, a loop of links, a name that no file can have: all the same.
        tracing::debug!(%error, "a file can't be found");
        ResourceError::NotFound
    })?;
    let inside = real.strip_prefix(root).map_err(|_| ResourceError::NotFound)?;
    // A link could lead to what is hidden.
    let dotted =
        |part: std::path::Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    if !hidden && inside.components().any(dotted) {
        return Err(ResourceError::NotFound);
    }
    Ok(real)
}

fn regular(path: &Path) -> Result<Metadata, ResourceError> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_file() { Ok(metadata) } else { Err(ResourceError::NotFound) }
}

#[cfg(unix)]
fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Elsewhere a file has no number that can be asked for here: what can be compared is compared.
#[cfg(not(unix))]
fn same(one: &Metadata, other: &Metadata) -> bool {
    one.created().ok() == other.created().ok() && one.file_type() == other.file_type()
}
