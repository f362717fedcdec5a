use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::v1::{BoxFuture, Browser, BrowserError, Visit, Visited};

/// Starts the platform's opener with the URL as its one argument, never through a shell.
///
/// The way is shown as well, by a function of the host's; where there is no opener (a remote
/// shell, a container), showing it is all.
#[derive(Clone)]
pub struct SystemBrowser {
    show: Arc<dyn Fn(&Visit) + Send + Sync>,
}

impl SystemBrowser {
    /// A browser that also shows the way by calling `show`, which should print the URL, its
    /// host and the scopes where a person sees them.
    pub fn new(show: impl Fn(&Visit) + Send + Sync + 'static) -> Self {
        Self { show: Arc::new(show) }
    }
}

impl Browser for SystemBrowser {
    fn open<'a>(&'a self, visit: &'a Visit) -> BoxFuture<'a, Result<Visited, BrowserError>> {
        Box::pin(async move {
            (self.show)(visit);
            let url = visit.url.as_str().to_owned();
            let opened = tokio::task::spawn_blocking(move || start(&url)).await;
            Ok(match opened {
                Ok(Ok(())) => Visited::Opened,
                Ok(Err(_)) | Err(_) => Visited::Shown,
            })
        })
    }
}

impl std::fmt::Debug for SystemBrowser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SystemBrowser")
    }
}

/// The platform's opener, and what stands before the URL.
fn opener() -> (&'static str, &'static [&'static str]) {
    if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(target_os = "windows") {
        // Not `start`, which is a command of the shell.
        ("rundll32.exe", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    }
}

fn start(url: &str) -> io::Result<()> {
    let (program, before) = opener();
    let status = Command::new(program)
        .args(before)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: CL-RD-1, SEC-079, SEC-080, SEC-081, SEC-084
    #[test]
    fn no_opener_is_a_shell() {
        let (program, before) = opener();
        for shell in ["sh", "bash", "cmd", "cmd.exe", "powershell", "powershell.exe"] {
            assert_ne!(program, shell);
            assert!(!before.contains(&shell));
        }
    }
}
