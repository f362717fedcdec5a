//! Random inputs against tiny models.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::disallowed_types,
    reason = "a test may fail, and its tools may share"
)]

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use common::{hello, notification, request};
use mcp_jsonrpc::peer::{Arrival, NotificationVerdict, Protocol, RequestVerdict};
use mcp_jsonrpc::service::v1::Reply;
use mcp_jsonrpc::{ErrorObject, Extensions, Outgoing};
use mcp_lifecycle::testing::ManualClock;
use mcp_lifecycle::{
    Deadline, Phase, Profile, ProgressReset, ProgressTable, ProgressVerdict, ServerSession,
    Timeouts,
};
use mcp_types::{ProgressToken, ServerCapabilities, ToolsCapability};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Initialize { id: i64, in_batch: bool, good: bool },
    Ping,
    Tools { id: i64, as_task: bool },
    Prompts,
    Ready,
    Cancel { id: i64 },
    Answer { id: i64, well: bool },
    Close,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let id = 0..3i64;
    let op = prop_oneof![
        4 => (id.clone(), prop::bool::weighted(0.1), prop::bool::weighted(0.8))
            .prop_map(|(id, in_batch, good)| Op::Initialize { id, in_batch, good }),
        1 => Just(Op::Ping),
        3 => (id.clone(), any::<bool>()).prop_map(|(id, as_task)| Op::Tools { id, as_task }),
        1 => Just(Op::Prompts),
        4 => Just(Op::Ready),
        3 => id.clone().prop_map(|id| Op::Cancel { id }),
        4 => (id, prop::bool::weighted(0.8)).prop_map(|(id, well)| Op::Answer { id, well }),
        1 => prop::bool::weighted(0.05).prop_map(|end| if end { Op::Close } else { Op::Ping }),
    ];
    prop::collection::vec(op, 0..40)
}

/// What the server should be like: as few words as possible.
#[derive(Debug, Default)]
struct Model {
    phase: u8,
    answering: Option<i64>,
    ready: bool,
    tasks: Vec<i64>,
}

const FRESH: u8 = 0;
const INITIALIZING: u8 = 1;
const INITIALIZED: u8 = 2;
const CLOSED: u8 = 3;

impl Model {
    fn step(&mut self, op: &Op) -> &'static str {
        match *op {
            Op::Close => {
                *self = Self { phase: CLOSED, ..Self::default() };
                "-"
            }
            Op::Ping => {
                if self.phase == CLOSED {
                    "-32600"
                } else {
                    "serve"
                }
            }
            Op::Initialize { id, in_batch, good } => {
                if self.phase != FRESH || in_batch {
                    return "-32600";
                }
                if !good {
                    return "-32602";
                }
                *self = Self { phase: INITIALIZING, answering: Some(id), ..Self::default() };
                "serve"
            }
            Op::Tools { id, as_task } => {
                if self.phase != INITIALIZED {
                    return "-32600";
                }
                if as_task {
                    self.tasks.push(id);
                }
                "serve"
            }
            Op::Prompts => {
                if self.phase == INITIALIZED {
                    "-32601"
                } else {
                    "-32600"
                }
            }
            Op::Ready => {
                if self.phase != INITIALIZING {
                    return "drop";
                }
                if self.answering.is_some() {
                    self.ready = true;
                    return "drop";
                }
                self.phase = INITIALIZED;
                "serve"
            }
            Op::Cancel { id } => {
                let exempt = self.answering == Some(id) || self.tasks.contains(&id);
                if exempt || self.phase == CLOSED { "drop" } else { "cancel" }
            }
            Op::Answer { id, well } => {
                self.tasks.retain(|task| *task != id);
                if self.answering == Some(id) {
                    self.answering = None;
                    self.phase = match (well, self.ready) {
                        (false, _) => FRESH,
                        (true, true) => INITIALIZED,
                        (true, false) => INITIALIZING,
                    };
                }
                "-"
            }
        }
    }
}

fn step(machine: &mut ServerSession, op: &Op) -> String {
    let said = |verdict: RequestVerdict| match verdict {
        RequestVerdict::Serve(_) => "serve".to_owned(),
        RequestVerdict::Refuse(error) => error.code.to_string(),
        _ => unreachable!("there are no other verdicts"),
    };
    let told = |verdict: NotificationVerdict| match verdict {
        NotificationVerdict::Serve(_) => "serve".to_owned(),
        NotificationVerdict::Cancel { .. } => "cancel".to_owned(),
        NotificationVerdict::Drop => "drop".to_owned(),
        _ => unreachable!("there are no other verdicts"),
    };
    let mut arrival = Arrival::default();
    match op {
        Op::Initialize { id, in_batch, good } => {
            arrival.in_batch = *in_batch;
            let params = if *good { hello("2025-11-25", "{}") } else { "{}".to_owned() };
            said(machine.request(&request(*id, "initialize", &params), arrival))
        }
        Op::Ping => said(machine.request(&request(9, "ping", ""), arrival)),
        Op::Tools { id, as_task } => {
            let params = if *as_task { r#"{"name":"t","task":{}}"# } else { r#"{"name":"t"}"# };
            said(machine.request(&request(*id, "tools/call", params), arrival))
        }
        Op::Prompts => said(machine.request(&request(8, "prompts/list", ""), arrival)),
        Op::Ready => {
            told(machine.notification(&notification("notifications/initialized", ""), arrival))
        }
        Op::Cancel { id } => {
            let params = format!(r#"{{"requestId":{id}}}"#);
            told(machine.notification(&notification("notifications/cancelled", &params), arrival))
        }
        Op::Answer { id, well } => {
            let reply = if *well {
                Reply::Response(Outgoing::result_raw((*id).into(), b"{}"))
            } else {
                Reply::error(&(*id).into(), &ErrorObject::internal("x"))
            };
            machine.answered(&(*id).into(), &"x".into(), &reply);
            "-".to_owned()
        }
        Op::Close => {
            machine.close();
            "-".to_owned()
        }
    }
}

fn server() -> ServerSession {
    let json = r#"{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#;
    let tasks: mcp_types::ServerTasksCapability = serde_json::from_str(json).unwrap();
    let capabilities =
        ServerCapabilities::new().with_tools(ToolsCapability::new()).with_tasks(tasks);
    ServerSession::new(Arc::new(Profile::new(capabilities)), None, None, Extensions::new())
}

proptest! {
    // Shows: LIFE-001, CANCEL-010, CANCEL-012
    #[test]
    fn the_server_does_what_the_model_does(ops in ops()) {
        let (mut machine, mut model) = (server(), Model::default());
        for op in &ops {
            prop_assert_eq!(step(&mut machine, op), model.step(op), "{:?}", op);
            let phase = match model.phase {
                FRESH => Phase::Fresh,
                INITIALIZING => Phase::Initializing,
                INITIALIZED => Phase::Initialized,
                _ => Phase::Closed,
            };
            prop_assert_eq!(machine.phase(), phase, "after {:?}", op);
            let known = matches!(phase, Phase::Initializing | Phase::Initialized);
            prop_assert_eq!(machine.session().is_some(), known);
        }
    }

    // Shows: LIFE-036, LIFE-037
    #[test]
    fn a_deadline_is_the_shorter_of_silence_and_all(
        idle in prop::option::of(1u64..20),
        max in prop::option::of(1u64..60),
        resets in any::<bool>(),
        steps in prop::collection::vec((0u64..15, any::<bool>()), 0..20),
    ) {
        let start = ManualClock::new().instant();
        let seconds = Duration::from_secs;
        let reset = if resets { ProgressReset::Always } else { ProgressReset::Never };
        let timeouts = Timeouts::new()
            .with_idle(idle.map(seconds))
            .with_max(max.map(seconds))
            .with_reset(reset);
        let mut deadline = Deadline::start(start, timeouts);
        let (mut now, mut heard) = (0, 0);
        for (passes, progress) in steps {
            now += passes;
            let late = idle.is_some_and(|idle| now - heard >= idle)
                || max.is_some_and(|max| now >= max);
            prop_assert_eq!(deadline.expired(start + seconds(now)).is_some(), late);
            prop_assert_eq!(deadline.next().is_some_and(|next| next <= start + seconds(now)), late);
            if late {
                break;
            }
            if progress {
                deadline.on_progress(start + seconds(now));
                if resets {
                    heard = now;
                }
            }
        }
    }

    // Shows: PROGRESS-008, PROGRESS-009, PROGRESS-016
    #[test]
    fn progress_is_delivered_exactly_when_it_grows_for_a_request_under_way(
        ops in prop::collection::vec((0u8..3, 0i64..6, -3i8..4), 0..60),
    ) {
        let (mut table, mut model) = (ProgressTable::with_limit(3), HashMap::new());
        let mut given = 0;
        for (op, token, value) in ops {
            let value = f64::from(value);
            match op {
                0 => match table.start() {
                    Ok(token) => {
                        given += 1;
                        prop_assert_eq!(token.as_i64(), Some(given));
                        model.insert(given, f64::NEG_INFINITY);
                    }
                    Err(_) => prop_assert_eq!(model.len(), 3),
                },
                1 => {
                    let expected = match model.get_mut(&token) {
                        Some(last) if *last < value => {
                            *last = value;
                            ProgressVerdict::Deliver
                        }
                        Some(_) => ProgressVerdict::NotGrowing,
                        None if (1..=given).contains(&token) => ProgressVerdict::Late,
                        None => ProgressVerdict::Unknown,
                    };
                    prop_assert_eq!(table.take(&ProgressToken::from(token), value), expected);
                }
                _ => {
                    table.end(&ProgressToken::from(token));
                    model.remove(&token);
                }
            }
            prop_assert_eq!(table.len(), model.len());
        }
    }
}
