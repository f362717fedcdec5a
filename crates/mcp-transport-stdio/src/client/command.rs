use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcp_jsonrpc::link::v1::{Connector, IntoLink, LinkError};

use super::env::{Base, compose, lookup};
use super::lookup::{endings, find};
use super::supervisor::{Supervisor, Times};
use super::{ChildLink, SpawnError, Stderr, process};
use crate::pipe::NoiseCallback;
use crate::{OnNoise, PipeConfig, PipeLink};

/// How a server is started in a child process.
///
/// It is a [`Connector`]: each [`open`](Connector::open), and each [`spawn`](Self::spawn),
/// starts a new process. It can also be handed over in place of a link ([`IntoLink`]).
///
/// # Environment
///
/// A child doesn't see this process's environment, which may hold secrets that are none of its
/// business, but only what tells it where it is: on Unix `HOME`, `LANG`, `LC_*`, `LOGNAME`,
/// `PATH`, `SHELL`, `TERM` and `USER`; on Windows `APPDATA`, `COMSPEC`, `HOMEDRIVE`,
/// `HOMEPATH`, `LOCALAPPDATA`, `PATH`, `PATHEXT`, `PROCESSOR_ARCHITECTURE`, `PROGRAMDATA`,
/// `PROGRAMFILES`, `SYSTEMDRIVE`, `SYSTEMROOT`, `TEMP`, `TMP`, `USERNAME` and `USERPROFILE`.
/// Values that begin with `()`, which are functions of a shell, are left out. What
/// [`env`](Self::env) says comes on top. A server's credentials belong there.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
///
/// use mcp_transport_stdio::{ChildCommand, Stderr};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let link = ChildCommand::new("npx")
///     .args(["-y", "@modelcontextprotocol/server-everything"])
///     .env("API_KEY", "…")
///     .stderr(Stderr::lines(|line| eprintln!("server: {line}")))
///     .exit_time(Duration::from_secs(5))
///     .spawn()?;
/// # Ok(())
/// # }
/// ```
///
/// Specification: [stdio](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio).
#[derive(Clone)]
pub struct ChildCommand {
    program: OsString,
    args: Vec<OsString>,
    base: Base,
    /// `None` takes a variable out.
    env: Vec<(OsString, Option<OsString>)>,
    directory: Option<PathBuf>,
    stderr: Stderr,
    stderr_lines: usize,
    times: Times,
    config: PipeConfig,
    on_noise: Option<NoiseCallback>,
}

impl ChildCommand {
    /// Starts `program`. A name without a folder is looked up in the `PATH` that the child
    /// gets to see; a relative path with folders counts from the child's working directory.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            base: Base::Safe,
            env: Vec::new(),
            directory: None,
            stderr: Stderr::default(),
            stderr_lines: 20,
            times: Times { exit: Duration::from_secs(2), terminate: Duration::from_secs(2) },
            config: PipeConfig::new(),
            on_noise: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the child's environment, whatever would be inherited.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Sets variables of the child's environment, whatever would be inherited.
    #[must_use]
    pub fn envs(
        mut self,
        vars: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>,
    ) -> Self {
        self.env.extend(vars.into_iter().map(|(name, value)| (name.into(), Some(value.into()))));
        self
    }

    /// Takes a variable out of the child's environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// Lets the child see this process's whole environment, secrets included.
    #[must_use]
    pub const fn env_inherit_all(mut self) -> Self {
        self.base = Base::All;
        self
    }

    /// Lets the child see nothing but what [`env`](Self::env) sets.
    #[must_use]
    pub const fn env_inherit_nothing(mut self) -> Self {
        self.base = Base::Nothing;
        self
    }

    /// Sets the child's working directory; this process's by default.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets what becomes of what the child writes to stderr; [`Stderr::Trace`] by default.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Sets how many of the last lines of stderr are kept for errors; 20 by default.
    #[must_use]
    pub const fn stderr_lines(mut self, lines: usize) -> Self {
        self.stderr_lines = lines;
        self
    }

    /// Sets how long the child may take to end once its stdin is closed, before it and its
    /// group are asked to (`SIGTERM`); 2 seconds by default.
    #[must_use]
    pub const fn exit_time(mut self, time: Duration) -> Self {
        self.times.exit = time;
        self
    }

    /// Sets how long the child and its group may take to end once they were asked to, before
    /// they are killed (`SIGKILL`); 2 seconds by default.
    #[must_use]
    pub const fn terminate_time(mut self, time: Duration) -> Self {
        self.times.terminate = time;
        self
    }

    /// Sets what is accepted and how much is held. Of [`PipeConfig::noise`] nothing is taken
    /// over: a server's noise is always skipped.
    #[must_use]
    pub const fn config(mut self, config: PipeConfig) -> Self {
        self.config = config;
        self
    }

    /// Calls `callback` with each line of the child's stdout that is no message, cut to 200
    /// bytes. It is called while messages are read, and must not block.
    #[must_use]
    pub fn on_noise(mut self, callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_noise = Some(Arc::new(callback));
        self
    }

    /// Starts a process.
    ///
    /// # Errors
    ///
    /// When there is no such program or directory, the system refuses, or there is no Tokio
    /// runtime. A process that ends right after it was started is no error here, but of the
    /// link.
    ///
    /// # Panics
    ///
    /// In a Tokio runtime that was built without I/O.
    pub fn spawn(&self) -> Result<ChildLink, SpawnError> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(SpawnError::NoRuntime);
        }
        let (program, command) = self.command()?;
        let name = program.display().to_string();
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::PermissionDenied => {
                SpawnError::PermissionDenied { program: program.clone() }
            }
            _ => SpawnError::Io { program: program.clone(), source },
        };
        let started = process::start(command).map_err(failed)?;
        let (supervisor, stdout, stdin) =
            Supervisor::start(started, name, self.times, self.stderr_lines, self.stderr.clone())
                .map_err(failed)?;
        tracing::info!(pid = supervisor.id(), program = %program.display(), "a server process started");
        let config = self.config.clone().with_noise(OnNoise::Skip);
        let mut pipe = PipeLink::with_config(stdout, stdin, config);
        if let Some(callback) = &self.on_noise {
            pipe = pipe.on_noise(Arc::clone(callback));
        }
        let skipped = pipe.skipped_counter();
        Ok(ChildLink::new(pipe, supervisor, skipped))
    }

    /// The program that was found, and how it is started.
    fn command(&self) -> Result<(PathBuf, Command), SpawnError> {
        let env = compose(self.base, std::env::vars_os(), &self.env);
        if let Some(path) = &self.directory {
            let error = |source| SpawnError::WorkingDirectory { path: path.clone(), source };
            if !std::fs::metadata(path).map_err(error)?.is_dir() {
                return Err(error(io::ErrorKind::NotADirectory.into()));
            }
        }
        let endings = endings(lookup(&env, "PATHEXT"));
        let directory = self.directory.as_deref();
        let program = find(&self.program, lookup(&env, "PATH"), &endings, directory)?;
        let mut command = Command::new(&program);
        command.args(&self.args).env_clear().envs(env);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match &self.stderr {
            Stderr::Inherit => Stdio::inherit(),
            _ => Stdio::piped(),
        });
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        Ok((program, command))
    }
}

impl Connector for ChildCommand {
    type Link = ChildLink;

    async fn open(&self) -> Result<ChildLink, LinkError> {
        self.spawn().map_err(LinkError::failed)
    }
}

impl IntoLink for ChildCommand {
    type Link = ChildLink;

    async fn into_link(self) -> Result<ChildLink, LinkError> {
        self.open().await
    }
}

impl IntoLink for &ChildCommand {
    type Link = ChildLink;

    async fn into_link(self) -> Result<ChildLink, LinkError> {
        self.open().await
    }
}

/// Without the arguments and the values of variables, which may be secret.
impl fmt::Debug for ChildCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("ChildCommand")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("base", &self.base)
            .field("env", &names)
            .field("directory", &self.directory)
            .field("stderr", &self.stderr)
            .field("times", &self.times)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
