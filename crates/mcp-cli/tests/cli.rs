//! The program as its users see it: what it prints, and with which code it ends.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

const MCP: &str = env!("CARGO_BIN_EXE_mcp");

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the program with these arguments.
fn mcp(args: &[&str]) -> Ran {
    ran(Command::new(MCP).args(args).stdin(Stdio::null()).output().unwrap())
}

/// Runs a command against the demo's server.
fn with_demo(args: &[&str]) -> Ran {
    mcp(&[args, &["--", MCP, "demo-server"]].concat())
}

/// Runs a command against a shell script that plays the server.
fn with_script(args: &[&str], script: &str) -> Ran {
    mcp(&[args, &["--", "sh", "-c", script]].concat())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_demo_shows_a_whole_conversation() {
    let demo = mcp(&["demo"]);
    assert_eq!(demo.code, 0, "{}", demo.stderr);
    assert_eq!(demo.stderr, "");
    assert!(!demo.stdout.contains('\x1b'), "colors are for terminals");
    // Everything is there, in this order, each with the way it goes.
    let mut rest = demo.stdout.as_str();
    for part in [
        "1. The handshake",
        "→ {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"",
        "← {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"",
        "→ {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        "They speak 2025-11-25.",
        "2. What can you do?",
        "\"method\":\"tools/list\"",
        "4 tools: add, divide, count, greet.",
        "3. Call a tool",
        "\"name\":\"add\"",
        "\"structuredContent\":{\"sum\":42.0}",
        "sum = 42.",
        "4. A call that takes time",
        "← {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"",
        "3 reports, and then: counted to 3.",
        "5. A tool that fails",
        "\"isError\":true",
        "6. A mistake",
        "\"code\":-32602",
        "7. A question back",
        "← {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"",
        "→ {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\"",
        "The tool says: Hello, Ada!",
        "8. Prompts and resources",
        "\"method\":\"prompts/get\"",
        "\"method\":\"resources/read\"",
        "Say what you do, do what you say.",
        "9. Are you there?",
        "\"method\":\"ping\"",
        "10. Goodbye",
        "The server has ended, exit status: 0.",
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing in:\n{rest}"));
        rest = &rest[at + part.len()..];
    }
    assert!(demo.stdout.contains("more characters"));
    let full = mcp(&["demo", "--full"]);
    assert!(full.code == 0 && !full.stdout.contains("more characters"));
}

#[test]
fn the_demo_shows_the_same_over_http() {
    let demo = mcp(&["demo", "--http"]);
    assert_eq!(demo.code, 0, "{}", demo.stderr);
    assert_eq!(demo.stderr, "");
    let mut rest = demo.stdout.as_str();
    for part in [
        "1. The handshake",
        "→ POST /mcp\n       accept: application/json, text/event-stream\n     → {\"jsonrpc\"",
        "← 200 OK application/json\n       mcp-session-id: ",
        "← {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"",
        "→ POST /mcp\n       mcp-session-id: ",
        "mcp-protocol-version: 2025-11-25",
        "\"notifications/initialized\"",
        "← 202 Accepted",
        "→ GET /mcp",
        "← 200 OK text/event-stream",
        "They speak 2025-11-25.",
        "4 tools: add, divide, count, greet.",
        "sum = 42.",
        "← 200 OK text/event-stream",
        ": a place to come back to)",
        "\"method\":\"notifications/progress\"",
        "counted to 3",
        "7. A question back",
        "\"method\":\"elicitation/create\"",
        "Hello, Ada!",
        "→ DELETE /mcp",
        "← 204 No Content",
        "The server has ended, exit status: 0.",
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing in:\n{rest}"));
        rest = &rest[at + part.len()..];
    }
}

/// The demo's server on HTTP; it ends with this.
struct Remote {
    server: Child,
    url: String,
}

impl Remote {
    fn start() -> Self {
        let mut server = Command::new(MCP)
            .args(["demo-server", "--http", "--leash"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("listening on ").unwrap().to_owned();
        Self { server, url }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

#[test]
fn a_server_at_a_url_is_like_any_other() {
    let remote = Remote::start();
    for transport in ["auto", "http"] {
        let at = |args: &[&str]| {
            mcp(&[args, &["--url", &remote.url, "--transport", transport]].concat())
        };
        let tools = at(&["tools"]);
        assert_eq!((tools.code, tools.stderr.as_str()), (0, ""));
        assert_eq!(tools.stdout, with_demo(&["tools"]).stdout);
        let sum = at(&["call", "add", "a=1", "b:=2", "--header", "X-Test: 1"]);
        assert_eq!((sum.code, sum.stdout.as_str()), (0, "{\"sum\":3.0}\n"), "{}", sum.stderr);
        assert!(at(&["ping"]).stdout.starts_with("demo-server answered in "));
        assert_eq!(at(&["read", "demo://motto"]).stdout, "Say what you do, do what you say.\n");
        assert_eq!(at(&["call", "divide", "dividend=1", "divisor=0"]).code, 1);
        assert_eq!(at(&["read", "demo://nothing"]).code, 5);
    }
    // It speaks no HTTP+SSE.
    let sse = mcp(&["tools", "--url", &remote.url, "--transport", "sse"]);
    assert_eq!(sse.code, 3, "{}", sse.stderr);
    let wrong = remote.url.replace("/mcp", "/other");
    assert_eq!(mcp(&["tools", "--url", &wrong]).code, 0, "this server is the same everywhere");
}

/// Answers one connection after the other with `answer`, and gives the heads it has seen.
fn play(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let seen = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.push(byte[0]);
        }
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(head).unwrap()
    });
    (url, seen)
}

#[test]
fn a_server_that_turns_the_caller_away_is_quoted_and_secrets_are_not() {
    let answer = "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\
                  Connection: close\r\n\r\nmembers!!";
    let (url, seen) = play(answer);
    let header = "Authorization: Bearer hush-hush";
    let refused = mcp(&["ping", "--url", &url, "--transport", "http", "--header", header]);
    let head = seen.join().unwrap().to_ascii_lowercase();
    assert!(head.contains("authorization: bearer hush-hush\r\n"), "{head}");
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("403") && refused.stderr.contains("members!!"));
    assert!(!refused.stderr.contains("hush-hush"));
}

#[test]
fn a_url_that_leads_nowhere_is_said_so() {
    // A port that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = mcp(&["tools", "--url", &format!("http://{free}/mcp")]);
    assert_eq!(nobody.code, 3);
    assert!(nobody.stderr.contains(&free.to_string()), "{}", nobody.stderr);
    for url in ["ftp://x/", "not a url", "https://user:secret@x/mcp"] {
        let wrong = mcp(&["tools", "--url", url]);
        assert_eq!(wrong.code, 2, "{url}: {}", wrong.stderr);
        assert!(!wrong.stderr.contains("secret"), "{}", wrong.stderr);
    }
    let own = mcp(&["tools", "--url", "http://x/mcp", "--header", "Mcp-Session-Id: 1"]);
    assert_eq!(own.code, 2, "{}", own.stderr);
}

#[test]
fn a_demo_that_nobody_reads_ends_quietly() {
    let mut child = Command::new(MCP)
        .arg("demo")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn tools_are_listed_for_people_and_for_programs() {
    let tools = with_demo(&["tools"]);
    assert_eq!(tools.code, 0, "{}", tools.stderr);
    assert!(tools.stdout.starts_with("add(a: number, b: number)\n  Adds two numbers.\n"));
    let tools = parsed(&with_demo(&["tools", "--json"]).stdout);
    assert_eq!(tools["tools"][0]["name"], "add");
    assert_eq!(tools["tools"][0]["outputSchema"]["type"], "object");
}

#[test]
fn a_tool_is_called_with_arguments_of_every_form() {
    let sum = with_demo(&["call", "add", "a=1", "b:=2"]);
    assert_eq!((sum.code, sum.stdout.as_str()), (0, "{\"sum\":3.0}\n"));
    let sum = with_demo(&["call", "add", "--args", r#"{"a":1,"b":2}"#, "b=40", "--json"]);
    assert_eq!(parsed(&sum.stdout)["structuredContent"], json!({"sum": 41.0}));
    let mut child = Command::new(MCP)
        .args(["call", "add", "--args", "-", "--", MCP, "demo-server"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(br#"{"a":5,"b":6}"#).unwrap();
    let sum = ran(child.wait_with_output().unwrap());
    assert_eq!((sum.code, sum.stdout.as_str()), (0, "{\"sum\":11.0}\n"), "{}", sum.stderr);
}

#[test]
fn arguments_come_from_a_file() {
    let path = std::env::temp_dir().join(format!("mcp-cli-test-{}.json", std::process::id()));
    std::fs::write(&path, r#"{"a":1,"b":1}"#).unwrap();
    let file = format!("@{}", path.display());
    let sum = with_demo(&["call", "add", "--args", &file]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!((sum.code, sum.stdout.as_str()), (0, "{\"sum\":2.0}\n"), "{}", sum.stderr);
    let missing = with_demo(&["call", "add", "--args", &file]);
    assert_eq!(missing.code, 2);
}

#[test]
fn a_tool_that_fails_ends_with_its_own_code() {
    let failed = with_demo(&["call", "divide", "dividend=1", "divisor=0"]);
    assert_eq!(failed.code, 1);
    assert!(failed.stdout.contains("try another divisor"), "{}", failed.stdout);
    assert_eq!(failed.stderr, "The tool failed.\n");
    let failed = with_demo(&["call", "divide", "dividend=1", "divisor=0", "--json"]);
    assert_eq!((failed.code, failed.stderr.as_str()), (1, ""));
    assert_eq!(parsed(&failed.stdout)["isError"], true);
    // Arguments that don't fit: which one, and what was expected, in the words of JSON.
    let failed = with_demo(&["call", "add", "a=x", "b=2"]);
    assert_eq!(failed.stdout, "invalid arguments: /a: \"x\" is not of type \"number\"\n");
    assert_eq!(failed.code, 1);
}

#[test]
fn what_the_server_refuses_ends_with_its_own_code() {
    let unknown = with_demo(&["read", "demo://nothing"]);
    assert_eq!(unknown.code, 5);
    assert!(unknown.stderr.contains("-32002"), "{}", unknown.stderr);
    let error = parsed(&with_demo(&["read", "demo://nothing", "--json"]).stderr);
    assert_eq!(error["error"]["kind"], "refused");
    assert_eq!(error["error"]["causes"][0], "the server refused `resources/read`");
    // It has a prompt, but not without its argument.
    assert_eq!(with_demo(&["prompt", "explain"]).code, 5);
}

#[test]
fn a_name_that_is_almost_right_is_guessed() {
    let typo = with_demo(&["call", "ad", "a=1"]);
    assert_eq!(typo.code, 2);
    assert!(typo.stderr.contains("did you mean add?"), "{}", typo.stderr);
    assert_eq!(typo.stdout, "");
}

#[test]
fn the_rest_of_a_server_can_be_looked_at() {
    let info = with_demo(&["info"]);
    assert!(info.stdout.contains("demo-server"), "{}", info.stdout);
    assert!(info.stdout.contains("speaks 2025-11-25\noffers tools,"), "{}", info.stdout);
    let info = parsed(&with_demo(&["info", "--json"]).stdout);
    assert_eq!(info["protocolVersion"], "2025-11-25");
    assert_eq!(info["serverInfo"]["name"], "demo-server");
    let ping = with_demo(&["ping"]);
    assert!(ping.stdout.starts_with("demo-server answered in "), "{}", ping.stdout);
    assert!(parsed(&with_demo(&["ping", "--json"]).stdout)["ms"].as_f64().unwrap() > 0.0);
    let resources = with_demo(&["resources"]);
    assert!(resources.stdout.starts_with("demo://motto\n"), "{}", resources.stdout);
    let resources = parsed(&with_demo(&["resources", "--json"]).stdout);
    assert_eq!(resources["resources"][0]["uri"], "demo://motto");
    assert_eq!(resources["resourceTemplates"], json!([]));
    let read = with_demo(&["read", "demo://motto"]);
    assert_eq!(read.stdout, "Say what you do, do what you say.\n");
    assert!(with_demo(&["prompts"]).stdout.starts_with("explain(word)\n"));
    let prompts = parsed(&with_demo(&["prompts", "--json"]).stdout);
    assert_eq!(prompts["prompts"][0]["arguments"][0]["required"], true);
    let prompt = with_demo(&["prompt", "explain", "word=a b"]);
    assert_eq!(prompt.stdout, "user: Explain \"a b\" to a child, in two sentences.\n");
}

#[test]
fn log_messages_are_shown_from_the_level_that_was_asked_for() {
    let call = ["call", "count", "to=1", "pause_ms=0"];
    let logged = with_demo(&[&call[..], &["--log", "info"]].concat());
    assert_eq!(logged.stdout, "counted to 1\n");
    assert_eq!(logged.stderr, "[info] count: done counting\n");
    let quiet = with_demo(&[&call[..], &["--log", "error"]].concat());
    assert_eq!(quiet.stderr, "");
    assert_eq!(with_demo(&call).stderr, "");
}

#[test]
fn a_command_line_that_makes_no_sense_ends_with_its_own_code() {
    for args in [
        &[][..],
        &["tolls"],
        &["tools"],
        &["tools", "--nope", "--", "x"],
        &["call", "--", "x"],
        &["ping", "--timeout", "soon", "--", "x"],
    ] {
        let ran = mcp(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.starts_with("mcp: "), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("Try: mcp "), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(with_demo(&["call", "add", "--args", "[1]"]).code, 2);
    let strict = with_demo(&["call", "add", "a:=one", "b=1"]);
    assert!(strict.code == 2 && strict.stderr.contains("no JSON"), "{}", strict.stderr);
}

#[test]
fn help_goes_to_stdout() {
    for args in [&["--help"][..], &["help"], &["help", "call"], &["call", "--help"]] {
        let help = mcp(args);
        assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{args:?}");
        assert!(help.stdout.contains("Usage: mcp "), "{args:?}");
    }
    assert!(mcp(&["--version"]).stdout.starts_with("mcp 0."));
}

#[cfg(unix)]
#[test]
fn a_server_that_dies_at_once_is_told_with_its_last_words() {
    let dead = with_script(&["ping"], "echo 'the disk is full' >&2; exit 7");
    assert_eq!(dead.code, 3);
    assert!(dead.stderr.contains("exit status: 7"), "{}", dead.stderr);
    assert!(dead.stderr.contains("the disk is full"), "{}", dead.stderr);
    let dead = with_script(&["ping", "--json"], "echo 'the disk is full' >&2; exit 7");
    let error = parsed(&dead.stderr);
    assert_eq!(error["error"]["kind"], "connect");
    assert_eq!(error["error"]["stderr"], json!(["the disk is full"]));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let missing = mcp(&["ping", "--", "mcp-no-such-program"]);
    assert_eq!(missing.code, 3);
    assert!(missing.stderr.contains("mcp-no-such-program"), "{}", missing.stderr);
}

#[cfg(unix)]
#[test]
fn a_server_that_says_nothing_is_given_up_in_time() {
    let silent = with_script(&["ping", "--timeout", "100ms"], "cat > /dev/null");
    assert_eq!(silent.code, 4);
    assert!(silent.stderr.contains("100 ms"), "{}", silent.stderr);
    let slow = with_demo(&["call", "count", "to=1", "pause_ms=9000", "--timeout", "300ms"]);
    assert_eq!(slow.code, 4, "{}", slow.stderr);
}

#[cfg(unix)]
#[test]
fn a_server_sees_what_it_is_given_and_nothing_else() {
    let script = |name: &str| format!("echo \"${{{name}-unset}}\" >&2; exit 1");
    let ran = with_script(&["ping", "--env", "TOKEN=a b"], &script("TOKEN"));
    assert!(ran.stderr.contains("a b"), "{}", ran.stderr);
    let secret = Command::new(MCP)
        .args(["ping", "--", "sh", "-c", &script("MY_SECRET")])
        .env("MY_SECRET", "hidden")
        .output()
        .unwrap();
    assert!(ran_stderr(&secret).contains("unset"), "{}", ran_stderr(&secret));
    let passed = Command::new(MCP)
        .args(["ping", "--env", "MY_SECRET", "--", "sh", "-c", &script("MY_SECRET")])
        .env("MY_SECRET", "shown")
        .output()
        .unwrap();
    assert!(ran_stderr(&passed).contains("shown"), "{}", ran_stderr(&passed));
}

fn ran_stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

// A server of another kind: it refuses our revision and says which it has.
#[cfg(unix)]
#[test]
fn a_server_that_refuses_the_newest_revision_is_asked_for_another() {
    let script = r#"
        while read -r line; do
            case "$line" in
            *'"2025-11-25"'*) echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["2024-11-05"]}}}' ;;
            *initialize\"*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"old","version":"1"}}}' ;;
            *ping*) echo 'noise'; echo '{"jsonrpc":"2.0","id":2,"result":{}}' ;;
            esac
        done
    "#;
    let ping = with_script(&["ping"], script);
    assert_eq!(ping.code, 0, "{}", ping.stderr);
    assert!(ping.stdout.starts_with("old answered"), "{}", ping.stdout);
}

#[cfg(unix)]
#[test]
fn an_interrupted_command_leaves_no_server_behind() {
    let fifo = std::env::temp_dir().join(format!("mcp-cli-test-{}.fifo", std::process::id()));
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let script = format!("echo $$ > {}; cat > /dev/null", fifo.display());
    let mut child = Command::new(MCP)
        .args(["ping", "--", "sh", "-c", &script])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    // Waits until the server runs.
    let server = std::fs::read_to_string(&fifo).unwrap();
    std::fs::remove_file(&fifo).unwrap();
    let kill = |signal: &str, pid: &str| {
        let kill = Command::new("kill").args([signal, pid]).stderr(Stdio::null()).status();
        kill.unwrap().success()
    };
    assert!(kill("-INT", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!kill("-0", server.trim()), "the server is still there");
}
