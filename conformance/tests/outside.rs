//! Our own server and our own client under the checks that hold any against the specification.
//! `cargo xtask conformance twins` shows that each of these checks sees what is broken.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcp_conformance::check::Target;
use mcp_conformance::check::report::{self, Line, Verdict};

const SERVER: &str = env!("CARGO_BIN_EXE_everything-server");
const CLIENT: &str = env!("CARGO_BIN_EXE_everything-client");
const WAIT: Duration = Duration::from_secs(20);

/// Ends with this value.
struct Served(Child, String);

impl Served {
    fn start() -> std::io::Result<Self> {
        let mut command = Command::new(SERVER);
        command.args(["--http", "127.0.0.1:0"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut served = Self(command.spawn()?, String::new());
        let mut line = String::new();
        if let Some(stderr) = served.0.stderr.take() {
            BufReader::new(stderr).read_line(&mut line)?;
        }
        line.trim().trim_start_matches("listening on ").clone_into(&mut served.1);
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// None failed, and some passed.
fn pass(lines: &[Line]) {
    let failed: Vec<_> = lines.iter().filter(|line| line.verdict == Verdict::Fail).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(lines.iter().any(|line| line.verdict == Verdict::Pass), "nothing was looked at");
}

fn on_a_pipe(area: &str) {
    let target = Target::Command(vec![SERVER.to_owned(), "--stdio".to_owned()]);
    pass(&report::run(&target, WAIT, area));
}

fn over_http(area: &str) {
    let served = Served::start();
    let url = served.as_ref().map(|served| served.1.clone()).unwrap_or_default();
    pass(&report::run(&Target::Url(url), WAIT, area));
}

// Shows: BASE-003, BASE-004, BASE-006, BASE-007, BASE-009, BASE-010, BASE-012, BASE-013,
// BASE-015, BASE-016, BASE-017, BASE-019, BASE-020, BASE-021, BASE-022, BASE-025,
// BASE-027, BASE-028, META-002, TRANSPORT-STDIO-006
#[test]
fn envelopes_as_seen_from_outside() {
    on_a_pipe("base/");
    over_http("base/");
}

// Shows: BASE-001, BASE-022, BASE-033, COMPLETION-001, LIFE-001, LIFE-006, LIFE-011, LIFE-014,
// LIFE-015, LIFE-016, LIFE-021, LIFE-025, LIFE-029, LIFE-030, LOGGING-001, PING-001,
// PROMPTS-001, RESOURCES-001, RESOURCES-003, TOOLS-005
#[test]
fn handshakes_as_seen_from_outside() {
    on_a_pipe("lifecycle/");
    over_http("lifecycle/");
}

// Shows: BASE-027, TRANSPORT-STDIO-003, TRANSPORT-STDIO-004, TRANSPORT-STDIO-005,
// TRANSPORT-STDIO-010
#[test]
fn pipes_as_seen_from_outside() {
    on_a_pipe("stdio/");
}

// Shows: BASE-009, BASE-019, BASE-027, TRANSPORT-HTTP-001, TRANSPORT-HTTP-002,
// TRANSPORT-HTTP-003, TRANSPORT-HTTP-010, TRANSPORT-HTTP-011, TRANSPORT-HTTP-013,
// TRANSPORT-HTTP-014, TRANSPORT-HTTP-016, TRANSPORT-HTTP-019, TRANSPORT-HTTP-021,
// TRANSPORT-HTTP-025, TRANSPORT-HTTP-032, TRANSPORT-HTTP-034, TRANSPORT-HTTP-035,
// TRANSPORT-HTTP-040, TRANSPORT-HTTP-041, TRANSPORT-HTTP-045, TRANSPORT-HTTP-046,
// TRANSPORT-HTTP-048, TRANSPORT-RESUME-002, TRANSPORT-RESUME-003, TRANSPORT-RESUME-006,
// TRANSPORT-RESUME-007, TRANSPORT-RESUME-008, TRANSPORT-SESSION-002,
// TRANSPORT-SESSION-003, TRANSPORT-SESSION-006, TRANSPORT-SESSION-008
#[test]
fn streamable_http_as_seen_from_outside() {
    over_http("http/");
}

// Shows: BASE-003, BASE-015, ELICIT-010, ELICIT-011, ELICIT-014, ELICIT-015, ELICIT-038,
// ELICIT-072, LIFE-030, PAGE-005, PROGRESS-004, PROGRESS-005, PROGRESS-008, PROGRESS-009,
// PROGRESS-018, PROGRESS-019, SCHEMA-003, SCHEMA-005, SCHEMA-009, TOOLS-005,
// TOOLS-006, TOOLS-011, TOOLS-012, TOOLS-014, TOOLS-015, TOOLS-017, TOOLS-023, TOOLS-024,
// TOOLS-025, TOOLS-026, TOOLS-027, TOOLS-028, TOOLS-033, TOOLS-034, TOOLS-035, TOOLS-036,
// TOOLS-038, TOOLS-039, TOOLS-040, TOOLS-041, TOOLS-042, TOOLS-046
#[test]
fn tools_as_seen_from_outside() {
    on_a_pipe("tools/");
    over_http("tools/");
}

// Shows: BASE-022, RESOURCES-001, RESOURCES-003, RESOURCES-008, RESOURCES-011, RESOURCES-013,
// RESOURCES-015, RESOURCES-016,
// RESOURCES-024, RESOURCES-025, RESOURCES-027, RESOURCES-029
#[test]
fn resources_as_seen_from_outside() {
    on_a_pipe("resources/");
    over_http("resources/");
}

// Shows: BASE-022, PROMPTS-001, PROMPTS-002, PROMPTS-006, PROMPTS-007, PROMPTS-008, PROMPTS-009,
// PROMPTS-010, PROMPTS-012, PROMPTS-014, PROMPTS-016, PROMPTS-017, PROMPTS-019
#[test]
fn prompts_as_seen_from_outside() {
    on_a_pipe("prompts/");
    over_http("prompts/");
}

// Shows: COMPLETION-004, COMPLETION-005, COMPLETION-006, COMPLETION-007, COMPLETION-009,
// COMPLETION-010, COMPLETION-019
#[test]
fn completion_as_seen_from_outside() {
    on_a_pipe("completion/");
    over_http("completion/");
}

// Shows: BASE-022, LOGGING-002, LOGGING-004, LOGGING-007
#[test]
fn logging_as_seen_from_outside() {
    on_a_pipe("logging/");
    over_http("logging/");
}

// Shows: BASE-022, PAGE-006, PAGE-012
#[test]
fn paging_as_seen_from_outside() {
    on_a_pipe("paging/");
    over_http("paging/");
}

// Shows: CANCEL-005, CANCEL-007, CANCEL-012, CANCEL-015, CANCEL-016, CANCEL-017
#[test]
fn cancellation_as_seen_from_outside() {
    on_a_pipe("cancel/");
    over_http("cancel/");
}

// Shows: PING-001
#[test]
fn pings_as_seen_from_outside() {
    on_a_pipe("ping/");
    over_http("ping/");
}

// Shows: BASE-003, BASE-004, BASE-006, BASE-007, BASE-008, BASE-009, BASE-021, BASE-025,
// BASE-026, BASE-028, CANCEL-015, ELICIT-007, ELICIT-009, ELICIT-036, ELICIT-037,
// ELICIT-050, ELICIT-071, LIFE-001, LIFE-002, LIFE-003, LIFE-004, LIFE-005, LIFE-009,
// LIFE-010, LIFE-013, LIFE-017, LIFE-018, LIFE-020, LIFE-021, LIFE-023, LIFE-024,
// LIFE-030, PAGE-001, PAGE-007, PAGE-008, PAGE-009, PAGE-010, PING-001, PROGRESS-001,
// PROGRESS-002, PROGRESS-016, TOOLS-007, TRANSPORT-HTTP-007, TRANSPORT-HTTP-008,
// TRANSPORT-HTTP-009, TRANSPORT-HTTP-015, TRANSPORT-HTTP-018, TRANSPORT-HTTP-020,
// TRANSPORT-HTTP-031, TRANSPORT-HTTP-043, TRANSPORT-HTTP-044, TRANSPORT-HTTP-048,
// TRANSPORT-HTTP-049, TRANSPORT-RESUME-004, TRANSPORT-RESUME-007, TRANSPORT-SESSION-004,
// TRANSPORT-SESSION-005, TRANSPORT-SESSION-009, TRANSPORT-SESSION-010
#[test]
fn our_client_as_seen_from_outside() {
    pass(&report::run_client(&[CLIENT.to_owned()], WAIT, "client/"));
}

// Shows: TASK-029, TASK-030, TASK-032, TASK-042, TASK-043, TASK-048, TASK-050, TASK-060,
// TASK-066, TASK-072, TASK-073, TASK-081
#[test]
fn tasks_as_seen_from_outside() {
    on_a_pipe("tasks/");
    over_http("tasks/");
}
