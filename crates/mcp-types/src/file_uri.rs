//! `file:` URIs and the paths they stand for, as roots have them.
//!
//! Nothing here looks at the file system.
//!
//! Specification: [roots](https://modelcontextprotocol.io/specification/2025-11-25/client/roots).

use std::path::{Path, PathBuf};

/// A text that is no `file:` URI, or one of a file that can't be reached from here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidFileUri {
    /// The scheme is another one.
    #[error("the URI is none of a file")]
    Scheme,
    /// The file is on another machine.
    #[error("the file is on `{host}`, and not here")]
    Host {
        /// Where it is.
        host: String,
    },
    /// A percent sign without two digits, or bytes that are no path here.
    #[error("the URI is not encoded as it has to be")]
    Encoding,
    /// The path is not absolute, or holds a NUL.
    #[error("the URI has no absolute path")]
    Path,
}

/// The path that a `file:` URI stands for: `file:///a%20b` is `/a b`.
///
/// Nothing is looked up, and nothing resolved: `..` stays what it is. A file of another machine
/// is refused, as is a query or a fragment, whose signs are encoded in a path.
///
/// # Errors
///
/// [`InvalidFileUri`] says what is wrong.
pub fn path_of(uri: &str) -> Result<PathBuf, InvalidFileUri> {
    let scheme = uri.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://"));
    let rest = scheme.and_then(|_| uri.get(7..)).ok_or(InvalidFileUri::Scheme)?;
    let slash = rest.find('/').ok_or(InvalidFileUri::Path)?;
    let (host, path) = rest.split_at(slash);
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return Err(InvalidFileUri::Host { host: host.to_owned() });
    }
    if path.contains(['?', '#']) {
        return Err(InvalidFileUri::Encoding);
    }
    let bytes = decode(path).ok_or(InvalidFileUri::Encoding)?;
    if bytes.contains(&0) {
        return Err(InvalidFileUri::Path);
    }
    native(bytes)
}

/// The `file:` URI of an absolute path.
///
/// # Errors
///
/// [`InvalidFileUri::Path`] for a relative one, [`InvalidFileUri::Encoding`] for one that can't
/// be written.
pub fn uri_of(path: &Path) -> Result<String, InvalidFileUri> {
    if !path.is_absolute() {
        return Err(InvalidFileUri::Path);
    }
    let mut uri = String::from("file://");
    encode(&portable(path)?, &mut uri);
    Ok(uri)
}

/// Appends to `uri` the bytes of a path, in which everything is percent-encoded that isn't plain.
pub fn encode(path: &[u8], uri: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in path {
        let plain = byte.is_ascii_alphanumeric() || b"/-._~!$&'()+,=@:".contains(byte);
        if plain {
            uri.push(char::from(*byte));
        } else {
            uri.push('%');
            for half in [byte >> 4, byte & 15] {
                uri.push(DIGITS.get(usize::from(half)).copied().map_or('0', char::from));
            }
        }
    }
}

fn decode(path: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            out.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
        } else {
            out.push(byte);
        }
    }
    Some(out)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have paths that can't be written")]
fn native(bytes: Vec<u8>) -> Result<PathBuf, InvalidFileUri> {
    use std::os::unix::ffi::OsStringExt as _;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have paths that can't be written")]
fn portable(path: &Path) -> Result<Vec<u8>, InvalidFileUri> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(path.as_os_str().as_bytes().to_vec())
}

/// `/C:/a` and `/c:/a` are both `C:\a`.
#[cfg(not(unix))]
fn native(bytes: Vec<u8>) -> Result<PathBuf, InvalidFileUri> {
    let text = String::from_utf8(bytes).map_err(|_| InvalidFileUri::Encoding)?;
    let mut chars = text.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('/'), Some(drive), Some(':')) if drive.is_ascii_alphabetic() => {
            let rest = chars.as_str().replace('/', "\\");
            let drive = drive.to_ascii_uppercase();
            let rest = if rest.is_empty() { "\\" } else { &rest };
            Ok(PathBuf::from(format!("{drive}:{rest}")))
        }
        _ => Err(InvalidFileUri::Path),
    }
}

#[cfg(not(unix))]
fn portable(path: &Path) -> Result<Vec<u8>, InvalidFileUri> {
    let text = path.to_str().ok_or(InvalidFileUri::Encoding)?;
    let text = text.strip_prefix(r"\\?\").unwrap_or(text);
    if text.starts_with(r"\\") {
        return Err(InvalidFileUri::Path);
    }
    Ok(format!("/{}", text.replace('\\', "/")).into_bytes())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    // Shows: FC-051
    #[test]
    fn paths_convert_both_ways_without_loss() {
        for (uri, path) in [
            ("file:///home/u/my%20proj%231", "/home/u/my proj#1"),
            ("file:///", "/"),
            ("file:///a%25b%3Fc", "/a%b?c"),
            ("file:///caf%C3%A9", "/café"),
            ("file:///C:/Users/u", "/C:/Users/u"),
        ] {
            assert_eq!(path_of(uri).unwrap(), Path::new(path), "{uri}");
            assert_eq!(uri_of(Path::new(path)).unwrap(), uri);
        }
        assert_eq!(path_of("FILE://localhost/a/café").unwrap(), Path::new("/a/café"));
        // The same file in another spelling.
        assert_eq!(path_of("file:///c%3A/Users/u").unwrap(), Path::new("/c:/Users/u"));
        // A name that is no UTF-8 is one nevertheless.
        let odd = path_of("file:///%FF").unwrap();
        assert_eq!(uri_of(&odd).unwrap(), "file:///%FF");
    }

    // Shows: FC-051
    #[test]
    fn what_is_no_file_here_is_refused() {
        let host = || InvalidFileUri::Host { host: "server".into() };
        for (uri, error) in [
            ("https://h.example/x", InvalidFileUri::Scheme),
            ("file:/x", InvalidFileUri::Scheme),
            ("fil", InvalidFileUri::Scheme),
            ("file://server/share", host()),
            ("file://server", InvalidFileUri::Path),
            ("file:///a%2", InvalidFileUri::Encoding),
            ("file:///a%zz", InvalidFileUri::Encoding),
            ("file:///a?b", InvalidFileUri::Encoding),
            ("file:///a#b", InvalidFileUri::Encoding),
            ("file:///a%00b", InvalidFileUri::Path),
        ] {
            assert_eq!(path_of(uri), Err(error), "{uri}");
        }
        assert_eq!(uri_of(Path::new("a/b")), Err(InvalidFileUri::Path));
    }
}
