use std::io;
use std::path::{Path, PathBuf};

use mcp_types::Root;

use super::path_of;

/// The directories that a client's roots stand for, to ask whether a path is inside.
///
/// ```no_run
/// # async fn run(cx: mcp_server::Context) -> Result<(), mcp_server::ToolError> {
/// use mcp_server::roots::Inside;
///
/// let inside = Inside::of(&cx.roots().await?);
/// if !inside.contains("/srv/data/report.txt".as_ref())? {
///     return Err(mcp_server::ToolError::new("that is outside of what may be worked on"));
/// }
/// # Ok(())
/// # }
/// ```
///
/// What may be done is the client's to say, and the operating system's to enforce: whoever can
/// change directories in the meantime can defeat any such question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    directories: Vec<PathBuf>,
}

impl Inside {
    /// What the roots stand for. One that is no file here, or is not there (any more), contains
    /// nothing.
    ///
    /// Looks the directories up, which blocks for as long as that takes.
    #[must_use]
    pub fn of(roots: &[Root]) -> Self {
        let directory = |root: &Root| {
            let path = path_of(root.uri.as_str()).ok()?;
            path.canonicalize().inspect_err(|error| tracing::debug!(%error, "a root")).ok()
        };
        Self { directories: roots.iter().filter_map(directory).collect() }
    }

    /// The directories, with every link resolved.
    #[must_use]
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Whether a file, or one that could be made in a directory that is there, is inside: with
    /// links and `..` resolved, and by whole segments.
    ///
    /// Looks the path up, which blocks for as long as that takes.
    ///
    /// # Errors
    ///
    /// When neither the path nor the directory it would be in can be looked up. Take it for a
    /// no.
    pub fn contains(&self, path: &Path) -> io::Result<bool> {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link to nowhere is there, and leads wherever its maker likes.
                if path.symlink_metadata().is_ok() {
                    return Ok(false);
                }
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                    return Err(error);
                };
                parent.canonicalize()?.join(name)
            }
            Err(error) => return Err(error),
        };
        Ok(self.directories.iter().any(|directory| real.starts_with(directory)))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::testing::TempDir;

    // Shows: ROOTS-015, ROOTS-016, ROOTS-017, FC-051
    #[test]
    fn a_path_is_inside_by_segments_and_with_links_resolved() {
        let dir = TempDir::new();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("proj/app/src")).unwrap();
        fs::create_dir_all(at("proj/app2")).unwrap();
        fs::write(at("proj/app2/x"), "").unwrap();
        fs::write(at("proj/app/a"), "").unwrap();
        symlink(at("proj/app2"), at("proj/app/out")).unwrap();
        symlink(at("proj/app/src"), at("proj/app/in")).unwrap();
        symlink(at("nowhere"), at("proj/app/dangling")).unwrap();
        let root = |path: &str| Root::new(super::super::uri_of(&at(path)).unwrap());
        let roots = [root("proj/app"), root("gone"), Root::new("https://h.example/x")];
        let inside = Inside::of(&roots);
        assert_eq!(inside.directories().len(), 1);
        for (path, expected) in [
            ("proj/app", true),
            ("proj/app/a", true),
            ("proj/app/new", true),
            ("proj/app/src/../a", true),
            ("proj/app/in/new", true),
            ("proj/app2/x", false),
            ("proj/app/../app2/x", false),
            ("proj/app/out/x", false),
            ("proj/app/out/new", false),
            ("proj/app/dangling", false),
            ("proj", false),
        ] {
            assert_eq!(inside.contains(&at(path)).unwrap(), expected, "{path}");
        }
        assert!(inside.contains(&at("proj/none/new")).is_err());
        assert!(!Inside::default().contains(&at("proj/app/a")).unwrap());
    }
}
