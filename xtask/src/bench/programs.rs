//! The programs that measure and are measured.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::bail;

use crate::{shell, workspace};

/// Optimized programs, built.
pub(super) struct Programs {
    folder: PathBuf,
}

/// How they are optimized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    /// As figures want it.
    Measured,
    /// Without what takes minutes to build: enough to see that something has become worse.
    Quick,
}

impl Programs {
    /// Builds them.
    pub(super) fn build(profile: Profile) -> anyhow::Result<Self> {
        let packages = ["--package", "mcp-bench", "--package", "mcp-conformance"];
        let bins = ["--bin", "mcp-bench", "--bin", "floor-stdio", "--bin", "floor-http"];
        let mut build = shell::cargo(["build", "--quiet", "--profile", "bench"]);
        if profile == Profile::Quick {
            build
                .env("CARGO_PROFILE_BENCH_LTO", "off")
                .env("CARGO_PROFILE_BENCH_CODEGEN_UNITS", "16");
        }
        shell::run(build.args(packages).args(bins).args(["--bin", "bench-server"]))?;
        // The profile `bench` shares the folder of `release`.
        Ok(Self { folder: workspace::Metadata::of_workspace()?.target_directory.join("release") })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The driver, with what it is to measure and its options.
    pub(super) fn driver(&self, what: &str, options: &[String]) -> Command {
        let mut command = Command::new(self.path("mcp-bench"));
        command.arg(what).args(options);
        command
    }

    /// A server as the driver takes it: its name, the program, and the program's arguments.
    pub(super) fn server(&self, name: &str, program: &str, arguments: &str) -> String {
        named(name, &self.path(program), arguments)
    }

    /// The least that a server can be, and ours, over stdio.
    pub(super) fn stdio(&self) -> [String; 2] {
        [self.server("floor", "floor-stdio", ""), self.server("ours", "bench-server", "stdio")]
    }

    /// The same over HTTP.
    pub(super) fn http(&self) -> [String; 2] {
        [
            self.server("floor", "floor-http", "127.0.0.1:0"),
            self.server("ours", "bench-server", "http 127.0.0.1:0"),
        ]
    }

    /// Ours, as it answers when every answer has to be a stream.
    pub(super) fn events(&self) -> String {
        self.server("ours, SSE", "bench-server", "http 127.0.0.1:0 sse")
    }

    /// Ours, without sessions.
    pub(super) fn stateless(&self) -> String {
        self.server("ours, no sessions", "bench-server", "http 127.0.0.1:0 stateless")
    }
}

/// A server as the driver takes it.
pub(super) fn named(name: &str, program: &Path, arguments: &str) -> String {
    format!("{name}={} {arguments}", program.display())
}

/// Instructions are counted by valgrind; says so where there is none.
pub(super) fn needs_valgrind() -> anyhow::Result<()> {
    if !has_valgrind() {
        bail!(
            "instructions are counted by valgrind, and there is none here: install the package `valgrind`"
        );
    }
    Ok(())
}

/// Whether there is a valgrind.
pub(super) fn has_valgrind() -> bool {
    shell::works(Command::new("valgrind").arg("--version"))
}
