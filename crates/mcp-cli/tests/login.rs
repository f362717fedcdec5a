//! Logging in, as a person does it: with a page that comes from somewhere else.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_conformance::auth::protected::Protected;
use mcp_conformance::auth::server::Consent;

const MCP: &str = env!("CARGO_BIN_EXE_mcp");

/// A folder for logins; gone in the end.
struct Logins(PathBuf);

impl Logins {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("mcp-login-{}-{number}", std::process::id())))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(MCP);
        command.args(args).env("MCP_LOGINS", &self.0).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    /// Logs in: reads the address that is shown, and goes there.
    fn login(&self, args: &[&str]) -> (i32, String, String) {
        let mut child = self
            .command(&[&["login", "--no-browser"], args].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut told = String::new();
        let url = loop {
            let mut line = String::new();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "nothing to visit: {told}");
            told.push_str(&line);
            if let Some(url) = line.trim().strip_prefix("http://") {
                break format!("http://{url}");
            }
        };
        let back = location(&get(&url));
        let page = get(&back);
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        let output = child.wait_with_output().unwrap();
        stderr.read_to_string(&mut told).unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), told)
    }
}

impl Drop for Logins {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One GET, by hand; the whole answer.
fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let (_, port) = host.split_once(':').unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn location(answer: &str) -> String {
    let line = answer.lines().find(|line| line.to_ascii_lowercase().starts_with("location:"));
    line.unwrap_or_else(|| panic!("{answer}")).split_once(':').unwrap().1.trim().to_owned()
}

async fn protected() -> Protected {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Protected::start(address, Consent::Nobody).await.unwrap()
}

/// Everything that is in the files of a folder.
fn contents(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| std::fs::read_to_string(file).unwrap_or_default()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_is_kept_used_and_given_back() {
    let server = protected().await;
    let url = server.url().to_owned();
    let issuer = server.authority().issuer().to_string();
    tokio::task::spawn_blocking(move || {
        let logins = Logins::new();
        let (code, _, stderr) = logins.run(&["tools", "--url", &url]);
        assert_eq!(code, 6, "{stderr}");
        assert!(stderr.contains("the server wants a login"), "{stderr}");
        assert!(stderr.ends_with(&format!("\nTry: mcp login {url}\n")), "{stderr}");
        let (code, _, stderr) = logins.run(&["tools", "--url", &url, "--json"]);
        let error: serde_json::Value = serde_json::from_str(&stderr).unwrap();
        assert_eq!((code, error["error"]["kind"].as_str()), (6, Some("login")));
        assert_eq!(error["error"]["hint"], format!("mcp login {url}"));
        assert!(!logins.0.exists(), "nothing is kept, so nothing is made");

        let (code, stdout, stderr) = logins.login(&[&url, "--scope", "mcp:use"]);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.starts_with(&format!("Logged in to {url} at {issuer}.")), "{stdout}");
        assert!(stdout.contains("Granted: mcp:use."), "{stdout}");
        assert!(stderr.contains("It asks for mcp:use."), "{stderr}");

        let (code, stdout, stderr) = logins.run(&["tools", "--url", &url, "--json"]);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains("\"test_simple_text\""));
        // The tool needs more than was granted, and nobody is there to ask.
        let add = ["call", "add", "a=1", "b=2", "--url", &*url];
        assert_eq!(logins.run(&add).0, 6);
        // Without a wish of ours all scopes that the server has are asked for.
        let (code, stdout, stderr) = logins.login(&[&url]);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains("Granted: mcp:use mcp:add."), "{stdout}");
        let (code, stdout, stderr) = logins.run(&add);
        assert_eq!((code, stdout.trim()), (0, "{\"sum\":3}"), "{stderr}");

        // No file is for others, and no secret is on the screen.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            for entry in std::fs::read_dir(&logins.0).unwrap() {
                let mode = entry.unwrap().metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o077, 0, "{mode:o}");
            }
        }
        let kept = contents(&logins.0);
        let token = kept.split("\"access\":\"").nth(1).unwrap().split('"').next().unwrap();
        for text in [&stdout, &stderr] {
            assert!(!text.contains(token));
        }

        let (code, stdout, _) = logins.run(&["logout", &url]);
        assert_eq!(code, 0);
        assert!(stdout.contains("its tokens are void"), "{stdout}");
        assert!(!contents(&logins.0).contains(token));
        assert_eq!(logins.run(&["tools", "--url", &url]).0, 6);
        let (code, stdout, _) = logins.run(&["logout", &url]);
        assert_eq!((code, stdout), (0, format!("There was no login for {url}.\n")));
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_in_a_file_is_logged_in_to_by_its_name() {
    let server = protected().await;
    let url = server.url().to_owned();
    tokio::task::spawn_blocking(move || {
        let logins = Logins::new();
        std::fs::create_dir(&logins.0).unwrap();
        let file = logins.0.join("mcp.json");
        let text = serde_json::json!({ "mcpServers": {
            "mine": { "url": "${MCP_TEST_URL}" },
            "other": { "command": "x" },
        }});
        std::fs::write(&file, text.to_string()).unwrap();
        let place = ["--config", file.to_str().unwrap(), "--server", "mine"];
        let run = |args: &[&str]| {
            let mut command = logins.command(&[args, &place].concat());
            let output = command.env("MCP_TEST_URL", &url).output().unwrap();
            (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
        };
        let (code, stderr) = run(&["ping"]);
        assert_eq!(code, 6, "{stderr}");
        let hint = format!("Try: mcp login --config {} --server mine\n", file.display());
        assert!(stderr.ends_with(&hint), "{stderr}");
        assert_eq!(logins.login(&[&url]).0, 0);
        assert_eq!(run(&["ping"]).0, 0);
        assert_eq!(run(&["logout"]).0, 0);
        assert_eq!(run(&["ping"]).0, 6);
        let other = ["login", "--config", file.to_str().unwrap(), "--server", "other"];
        let (code, _, stderr) = logins.run(&other);
        assert!(code == 2 && stderr.contains("only servers at a URL"), "{stderr}");
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_that_nobody_comes_to_ends() {
    let server = protected().await;
    let url = server.url().to_owned();
    tokio::task::spawn_blocking(move || {
        let logins = Logins::new();
        let login = ["login", &*url, "--no-browser", "--timeout", "300ms"];
        let (code, stdout, stderr) = logins.run(&login);
        assert_eq!((code, stdout.as_str()), (6, ""), "{stderr}");
        let (code, _, stderr) = logins.run(&[&login[..], &["--json"]].concat());
        assert_eq!(code, 6);
        let error: serde_json::Value =
            serde_json::from_str(stderr.lines().last().unwrap()).unwrap();
        assert_eq!(error["error"]["kind"], "login");
        // A server that wants no login has nothing to say about one.
        let (code, _, stderr) = logins.run(&["login", "http://127.0.0.1:1/mcp"]);
        assert_eq!(code, 6, "{stderr}");
    })
    .await
    .unwrap();
}
