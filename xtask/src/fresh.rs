//! Writes generated files, or only checks that they are up to date.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

/// Collects every stale file before it fails, so that one run shows them all.
pub(crate) struct Fresh {
    check: bool,
    command: &'static str,
    stale: Vec<PathBuf>,
}

impl Fresh {
    /// Starts a run; `command` is what a reader has to type to write the files.
    pub(crate) fn new(check: bool, command: &'static str) -> Self {
        Self { check, command, stale: Vec::new() }
    }

    /// Makes `path` hold `contents`, or notes that it doesn't.
    pub(crate) fn put(&mut self, path: &Path, contents: &str) -> anyhow::Result<()> {
        let old = fs::read_to_string(path).unwrap_or_default();
        // A checkout on Windows may have rewritten the line ends.
        if old.replace("\r\n", "\n") == contents {
            return Ok(());
        }
        self.stale.push(path.to_owned());
        if self.check {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("can't make {}", folder.display()))?;
        }
        fs::write(path, contents).with_context(|| format!("can't write {}", path.display()))
    }

    /// Treats files of `folder` with the extension `ext` that are not in `expected` as stale.
    pub(crate) fn no_others(
        &mut self,
        folder: &Path,
        ext: &str,
        expected: &[PathBuf],
    ) -> anyhow::Result<()> {
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|e| e != ext) || expected.contains(&path) {
                continue;
            }
            if !self.check {
                fs::remove_file(&path)
                    .with_context(|| format!("can't remove {}", path.display()))?;
            }
            self.stale.push(path);
        }
        Ok(())
    }

    /// Says what was written; when checking, fails if anything should have been.
    #[expect(clippy::print_stdout, reason = "a command's own output")]
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        if self.check && !self.stale.is_empty() {
            let list: String =
                self.stale.iter().map(|path| format!("\n  {}", path.display())).collect();
            bail!("stale:{list}\nrun `{}` and commit the result", self.command);
        }
        for path in &self.stale {
            println!("wrote {}", path.display());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_names_every_stale_file_and_writes_none() {
        let folder = std::env::temp_dir().join(format!("xtask-fresh-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (a, b, c) = (folder.join("a.rs"), folder.join("b.rs"), folder.join("c.rs"));
        fs::write(&a, "same\r\n").unwrap();
        fs::write(&b, "old").unwrap();
        fs::write(folder.join("left.rs"), "over").unwrap();

        let mut fresh = Fresh::new(true, "cargo xtask codegen");
        fresh.put(&a, "same\n").unwrap();
        fresh.put(&b, "new").unwrap();
        fresh.put(&c, "new").unwrap();
        fresh.no_others(&folder, "rs", &[a.clone(), b.clone(), c.clone()]).unwrap();
        let error = fresh.finish().unwrap_err().to_string();

        let found = fs::read_to_string(&b).unwrap();
        let exists = c.exists();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, "old");
        assert!(!exists);
        for name in ["b.rs", "c.rs", "left.rs", "cargo xtask codegen"] {
            assert!(error.contains(name), "{error}");
        }
        assert!(!error.contains("a.rs"), "{error}");
    }
}
