//! What an echo call over stdio costs our server, next to the least that a server can do.

use std::path::PathBuf;

use crate::shell;

/// Builds both servers and the driver, and runs the driver with `args` passed on, first one call
/// at a time, then sixteen outstanding.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let programs = Programs::build()?;
    let depths: &[&str] =
        if args.iter().any(|arg| arg == "--depth") { &[""] } else { &["1", "16"] };
    for depth in depths {
        let mut command = std::process::Command::new(programs.path("mcp-bench"));
        command.arg("stdio").args(args);
        if !depth.is_empty() {
            command.args(["--depth", depth]);
        }
        command
            .arg(format!("floor={}", programs.path("floor-stdio").display()))
            .arg(format!("ours={} stdio", programs.path("bench-server").display()));
        shell::run(&mut command)?;
    }
    Ok(())
}

/// The optimized programs that are measured.
pub(crate) struct Programs {
    folder: PathBuf,
}

impl Programs {
    pub(crate) fn build() -> anyhow::Result<Self> {
        let packages = ["--package", "mcp-bench", "--package", "mcp-conformance"];
        shell::run(
            shell::cargo(["build", "--quiet", "--profile", "bench", "--bins"]).args(packages),
        )?;
        // The profile `bench` shares the folder of `release`.
        Ok(Self {
            folder: crate::workspace::Metadata::of_workspace()?.target_directory.join("release"),
        })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}
