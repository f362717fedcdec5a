//! Where servers are: written down in a file, or at a URL of the older transport.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_conformance::everything;
use mcp_transport_http::server::{Endpoint, LegacyConfig, Listener};
use serde_json::{Value, json};

const MCP: &str = env!("CARGO_BIN_EXE_mcp");

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(MCP);
    command.args(args).stdin(Stdio::null()).env("MCP_TEST_KEY", "hush-hush");
    command
}

fn mcp(args: &[&str]) -> (i32, String, String) {
    let output = command(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A file of servers; gone in the end.
struct Written(PathBuf);

impl Written {
    fn new(text: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mcp-{}-{number}.json", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn servers(servers: &Value) -> Self {
        Self::new(&json!({ "mcpServers": servers }).to_string())
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        mcp(&[args, &["--config", self.0.to_str().unwrap()]].concat())
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn demo() -> Value {
    json!({ "command": MCP, "args": ["demo-server"] })
}

/// Answers one request with 403, and gives its head.
fn turn_away() -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let seen = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.push(byte[0]);
        }
        let answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(head).unwrap().to_ascii_lowercase()
    });
    (url, seen)
}

#[test]
fn a_server_in_a_file_is_like_any_other() {
    let one = Written::servers(&json!({ "demo": demo(), "off": { "disabled": true } }));
    let (code, stdout, stderr) = one.run(&["call", "add", "a=1", "b=2"]);
    assert_eq!((code, stdout.as_str()), (0, "{\"sum\":3.0}\n"), "{stderr}");
    let (code, stdout, stderr) = one.run(&["tools", "--server", "demo", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("\"divide\""), "{stdout}");
    // As people write it.
    let text = format!("{{ // mine\n \"servers\": {{ \"x\": {}, }}, }}", demo());
    assert_eq!(Written::new(&text).run(&["ping"]).0, 0);
}

#[test]
fn which_server_is_asked_for_by_name() {
    let two = Written::servers(&json!({ "first": demo(), "second": demo() }));
    let (code, stdout, stderr) = two.run(&["ping"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("--server") && stderr.contains("first, second"), "{stderr}");
    assert_eq!(two.run(&["ping", "--server", "second"]).0, 0);
    let (code, _, stderr) = two.run(&["ping", "--server", "secnd"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("did you mean second?"), "{stderr}");
    let (code, _, stderr) = Written::servers(&json!({})).run(&["ping"]);
    assert!(code == 2 && stderr.contains("has none"), "{stderr}");
}

#[test]
fn a_file_that_is_wrong_is_explained_without_its_values() {
    let (code, _, stderr) = mcp(&["ping", "--config", "/no/such/mcp.json", "--json"]);
    assert_eq!(code, 2);
    let error: Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(error["error"]["kind"], "config");
    assert_eq!(error["error"]["message"], "/no/such/mcp.json can't be read");
    for (text, part) in [
        ("{ \"hush-hush\": ", "line 1, column "),
        ("{}", "no `mcpServers`"),
        (r#"{"mcpServers": {"x": {}}}"#, "neither `command` nor `url`"),
        (r#"{"mcpServers": {"x": {"command": "a", "args": "hush-hush"}}}"#, "no list of texts"),
        (
            r#"{"mcpServers": {"x": {"url": "hush-hush", "headers": {"A": "${MCP_TEST_NONE}"}}}}"#,
            "the variable MCP_TEST_NONE in `headers.A` is not set",
        ),
        (r#"{"mcpServers": {"x": {"url": "${MCP_TEST_KEY}"}}}"#, "can't be reached like that"),
        (
            r#"{"mcpServers": {"x": {"url": "http://x/", "headers": {"A": "hush-hush\n!"}}}}"#,
            "the value of the header a has characters",
        ),
    ] {
        let (code, stdout, stderr) = Written::new(text).run(&["ping"]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{text}: {stderr}");
        assert!(stderr.contains(part), "{text}: {stderr}");
        assert!(!stderr.contains("hush-hush"), "{stderr}");
    }
}

#[test]
fn the_command_line_goes_before_the_file() {
    let (url, seen) = turn_away();
    let headers = json!({ "Authorization": "Bearer ${MCP_TEST_KEY}", "X-Kept": "1", "X-Own": "2" });
    let file =
        Written::servers(&json!({ "x": { "url": url, "type": "http", "headers": headers } }));
    let own = ["ping", "--transport", "http", "--header", "X-Own: 3"];
    let (code, _, stderr) = file.run(&own);
    let head = seen.join().unwrap();
    assert_eq!(code, 3);
    assert!(stderr.contains("403") && !stderr.contains("hush-hush"), "{stderr}");
    for part in ["authorization: bearer hush-hush\r\n", "x-kept: 1\r\n", "x-own: 3\r\n"] {
        assert!(head.contains(part), "{part:?} {head}");
    }
    assert!(!head.contains("x-own: 2"), "{head}");
    assert_eq!(file.run(&["ping", "--env", "A=1"]).0, 2);
    let demo = Written::servers(&json!({ "x": demo() }));
    assert_eq!(demo.run(&["ping", "--header", "A: 1"]).0, 2);
}

#[cfg(unix)]
#[test]
fn a_command_gets_its_variables_and_its_directory() {
    let folder = std::env::temp_dir().canonicalize().unwrap();
    let server = json!({
        "command": "sh",
        "args": ["-c", "echo \"$A $B $MCP_TEST_KEY $(pwd)\" >&2; exit 1"],
        "env": { "A": "${MCP_TEST_KEY}", "B": 1 },
        "cwd": folder,
    });
    let file = Written::servers(&json!({ "x": server }));
    let (_, _, stderr) = file.run(&["ping"]);
    assert!(stderr.contains(&format!("hush-hush 1  {}", folder.display())), "{stderr}");
    let (_, _, stderr) = file.run(&["ping", "--env", "B=2", "--env", "MCP_TEST_KEY", "--cwd", "/"]);
    assert!(stderr.contains("hush-hush 2 hush-hush /\n"), "{stderr}");
}

/// The address of a server that speaks both transports, as long as the runtime lives.
async fn both() -> String {
    let endpoint = Endpoint::builder(everything::server()).legacy(LegacyConfig::new()).build();
    let listener = Listener::bind(endpoint, "127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().to_string();
    tokio::spawn(listener.run(std::future::pending()));
    address
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_the_older_transport_is_found() {
    let address = both().await;
    tokio::task::spawn_blocking(move || {
        let sse = format!("http://{address}/sse");
        for transport in [&["--transport", "sse"][..], &["--transport", "auto"], &[]] {
            let call = ["call", "add", "a=1", "b=2", "--url", &*sse];
            let (code, stdout, stderr) = mcp(&[&call[..], transport].concat());
            assert_eq!((code, stdout.as_str()), (0, "{\"sum\":3}\n"), "{transport:?}: {stderr}");
        }
        // There is nothing else at that address.
        let (code, _, stderr) = mcp(&["ping", "--url", &*sse, "--transport", "http"]);
        assert_eq!(code, 3, "{stderr}");
        for kind in ["sse", "http"] {
            let file = Written::servers(&json!({ "x": { "type": kind, "url": sse } }));
            assert_eq!(file.run(&["ping"]).0, 0, "{kind}");
        }
        let newer = format!("http://{address}/mcp");
        let file = Written::servers(&json!({ "x": { "type": "streamable-http", "url": newer } }));
        assert_eq!(file.run(&["ping"]).0, 0);
    })
    .await
    .unwrap();
}
