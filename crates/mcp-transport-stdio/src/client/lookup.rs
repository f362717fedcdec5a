//! Where a program is.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::SpawnError;

/// Finds `program` the way that the child would: with the child's search path, from the
/// child's working directory.
///
/// Entries of the search path that are empty or relative mean "wherever you are" and are
/// passed over: a server must not be whatever lies in a project's folder.
pub(super) fn find(
    program: &OsStr,
    path: Option<&OsStr>,
    endings: &[OsString],
    directory: Option<&Path>,
) -> Result<PathBuf, SpawnError> {
    let named = Path::new(program);
    let mut candidates = Vec::new();
    if named.components().count() > 1 || named.is_absolute() {
        candidates.push(directory.map_or_else(|| named.to_owned(), |dir| dir.join(named)));
    } else {
        let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
        candidates.extend(
            std::env::split_paths(path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(named)),
        );
    }
    let mut denied = None;
    for candidate in candidates {
        for file in with_endings(candidate, endings) {
            match executable(&file) {
                Ok(()) => return Ok(file),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    denied.get_or_insert(file);
                }
                Err(_) => {}
            }
        }
    }
    match denied {
        Some(program) => Err(SpawnError::PermissionDenied { program }),
        None => Err(SpawnError::NotFound { program: named.to_owned() }),
    }
}

/// Endings that a program's name may lack, first the name as it is.
pub(super) fn endings(pathext: Option<&OsStr>) -> Vec<OsString> {
    let mut endings = vec![OsString::new()];
    if cfg!(windows) {
        let pathext = pathext.and_then(OsStr::to_str).unwrap_or(".COM;.EXE;.BAT;.CMD");
        endings.extend(pathext.split(';').filter(|e| !e.is_empty()).map(Into::into));
    }
    endings
}

/// What is searched when the child has no search path: the places that every system has.
const DEFAULT_PATH: &str = if cfg!(windows) { "" } else { "/usr/bin:/bin" };

fn with_endings(file: PathBuf, endings: &[OsString]) -> impl Iterator<Item = PathBuf> {
    endings.iter().map(move |ending| {
        let mut name = file.clone().into_os_string();
        name.push(ending);
        name.into()
    })
}

fn executable(file: &Path) -> io::Result<()> {
    let metadata = fs::metadata(file)?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if metadata.permissions().mode() & 0o111 == 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
    }
    Ok(())
}
