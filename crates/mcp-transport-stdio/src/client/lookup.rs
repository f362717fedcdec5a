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
        let named = directory.map_or_else(|| named.to_owned(), |dir| dir.join(named));
        // Else it would count from the child's directory once more.
        candidates.push(std::path::absolute(&named).unwrap_or(named));
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A folder that goes with it.
    struct Folder(PathBuf);

    impl Folder {
        /// With these files, and their modes.
        fn new(name: &str, files: &[(&str, u32)]) -> Self {
            let path = std::env::temp_dir().join(format!("mcp-{name}-{}", std::process::id()));
            for (file, mode) in files {
                let file = path.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, "").unwrap();
                fs::set_permissions(&file, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Self(path)
        }

        fn path(&self, folders: &[&str]) -> OsString {
            std::env::join_paths(folders.iter().map(|folder| self.0.join(folder))).unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn find_in(
        program: &str,
        path: &OsStr,
        directory: Option<&Path>,
    ) -> Result<PathBuf, SpawnError> {
        find(program.as_ref(), Some(path), &endings(None), directory)
    }

    // Shows: FC-010
    #[test]
    fn the_first_program_of_the_search_path_that_can_be_run_is_it() {
        let folder = Folder::new("search", &[("a/x", 0o644), ("b/x", 0o755), ("c/x", 0o755)]);
        let found = find_in("x", &folder.path(&["none", "a", "b", "c"]), None).unwrap();
        assert_eq!(found, folder.0.join("b/x"));
        let denied = find_in("x", &folder.path(&["a"]), None).unwrap_err();
        assert!(
            matches!(denied, SpawnError::PermissionDenied { program } if program.ends_with("a/x"))
        );
        let missing = find_in("y", &folder.path(&["a", "b"]), None).unwrap_err();
        assert!(matches!(missing, SpawnError::NotFound { program } if program == Path::new("y")));
        // A folder is no program.
        assert!(find_in("b", &folder.path(&["."]), None).is_err());
    }

    #[test]
    fn what_lies_in_the_working_directory_is_not_found_by_its_bare_name() {
        let folder = Folder::new("planted", &[("x", 0o755)]);
        // The same folder, told from where this process is.
        let depth = std::env::current_dir().unwrap().canonicalize().unwrap().components().count();
        let relative = format!("{}{}", "../".repeat(depth - 1), &folder.0.to_str().unwrap()[1..]);
        assert!(Path::new(&relative).join("x").exists());
        for path in ["", ".", ":", &relative] {
            assert!(find_in("x", OsStr::new(path), Some(&folder.0)).is_err(), "{path:?}");
        }
    }

    // Shows: FC-010
    #[test]
    fn a_path_counts_from_the_childs_directory() {
        let folder = Folder::new("relative", &[("bin/x", 0o755)]);
        let found = find_in("bin/x", OsStr::new(""), Some(&folder.0)).unwrap();
        assert_eq!(found, folder.0.join("bin/x"));
        let found = find_in(found.to_str().unwrap(), OsStr::new(""), None).unwrap();
        assert_eq!(found, folder.0.join("bin/x"));
    }

    #[test]
    fn an_ending_may_be_left_out_where_there_are_such() {
        let folder = Folder::new("endings", &[("a/npx.CMD", 0o755), ("b/npx", 0o755)]);
        let endings = ["", ".EXE", ".CMD"].map(OsString::from);
        let path = folder.path(&["a", "b"]);
        let found = find("npx".as_ref(), Some(&path), &endings, None).unwrap();
        assert_eq!(found, folder.0.join("a/npx.CMD"));
    }
}
