#![expect(clippy::panic, reason = "a suite panics when a contract is broken")]

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use mcp_jsonrpc::{ErrorObject, RawJson};
use mcp_types::{Method, TaskId, TaskStatus};

use crate::v1::{NewTask, Owner, TaskChange, TaskOutcome, TaskRecord, TaskStore, TaskStoreError};

/// What a future gives that doesn't have to wait.
///
/// # Panics
///
/// When it has to.
pub fn now_or_never<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future has to wait"),
    }
}

/// Proves the contract of [`TaskStore`], on a store that is empty and has room for 20 tasks of
/// one owner.
///
/// # Panics
///
/// When the contract is broken.
pub async fn task_store_suite(store: &dyn TaskStore) {
    keeps(store).await;
    ends_once(store).await;
    wakes(store).await;
    lists(store).await;
    expires(store).await;
}

const START: SystemTime = SystemTime::UNIX_EPOCH;

fn after(seconds: u64) -> SystemTime {
    START + Duration::from_secs(seconds)
}

fn new(id: &str, owner: &Owner) -> NewTask {
    NewTask::new(TaskId::from(id), owner.clone(), Method::ToolsCall, START)
        .with_ttl(Some(Duration::from_secs(100)))
        .with_poll_interval(Duration::from_millis(5))
}

fn fine<T>(outcome: Result<T, TaskStoreError>) -> T {
    outcome.unwrap_or_else(|error| panic!("the store has failed: {error}"))
}

fn there(record: Option<TaskRecord>) -> TaskRecord {
    record.unwrap_or_else(|| panic!("a task is gone"))
}

fn ends(outcome: TaskOutcome) -> TaskChange {
    let failed = matches!(outcome, TaskOutcome::Error(_));
    TaskChange::Ends { failed, message: Some("done".into()), outcome: Arc::new(outcome) }
}

fn result(json: &'static str) -> TaskOutcome {
    let result = RawJson::new(json);
    TaskOutcome::Result(result.unwrap_or_else(|_| panic!("this is JSON: {json}")))
}

async fn keeps(store: &dyn TaskStore) {
    let owner = Owner::named("keeps");
    let made = fine(store.create(new("keeps", &owner)).await);
    assert_eq!(made.status, TaskStatus::Working, "a task begins as working");
    assert_eq!((made.created, made.updated, made.expires()), (START, START, Some(after(100))));
    assert_eq!((made.owner, made.method), (owner.clone(), Method::ToolsCall));
    assert_eq!(made.poll_interval, Duration::from_millis(5));
    assert!(store.create(new("keeps", &owner)).await.is_err(), "an id is there once");
    let id = TaskId::from("keeps");
    let said = fine(store.change(&id, TaskChange::Says("half".into()), after(1)).await);
    assert_eq!((said.message.as_deref(), said.updated), (Some("half"), after(1)));
    assert_eq!(said.status, TaskStatus::Working);
    assert!(said.version > made.version, "a change is another version");
    let asked = fine(store.change(&id, TaskChange::NeedsInput, after(2)).await);
    assert_eq!(asked.status, TaskStatus::InputRequired);
    let got = there(fine(store.get(&id).await));
    assert_eq!((got.status, got.version), (asked.status, asked.version), "it is kept");
    let done = fine(store.change(&id, ends(result(r#"{"a":1}"#)), after(3)).await);
    assert_eq!(done.status, TaskStatus::Completed);
    match there(fine(store.get(&id).await)).outcome.as_deref() {
        Some(TaskOutcome::Result(json)) => assert_eq!(json.as_str(), r#"{"a":1}"#),
        other => panic!("the result is kept as it is: {other:?}"),
    }
    fine(store.remove(&id).await);
    fine(store.remove(&id).await);
    assert!(fine(store.get(&id).await).is_none(), "it is forgotten");
    let error = store.change(&id, TaskChange::Works, after(4)).await;
    assert!(matches!(error, Err(TaskStoreError::Unknown)), "{error:?}");
}

async fn ends_once(store: &dyn TaskStore) {
    let owner = Owner::named("ends");
    let error = || TaskOutcome::Error(ErrorObject::invalid_params("no"));
    let all: [fn() -> TaskChange; 3] = [
        || ends(result("{}")),
        || ends(TaskOutcome::Error(ErrorObject::invalid_params("no"))),
        || TaskChange::IsCancelled,
    ];
    for (number, first) in all.iter().enumerate() {
        let id = format!("ends{number}");
        fine(store.create(new(&id, &owner)).await);
        let id = TaskId::from(id);
        let ended = fine(store.change(&id, first(), after(1)).await);
        assert!(ended.has_ended());
        for second in all {
            let again = store.change(&id, second(), after(2)).await;
            assert!(matches!(again, Err(TaskStoreError::Ended { .. })), "{again:?}");
        }
        for second in [TaskChange::Works, TaskChange::NeedsInput, TaskChange::Says("x".into())] {
            let again = store.change(&id, second, after(2)).await;
            assert!(matches!(again, Err(TaskStoreError::Ended { .. })), "{again:?}");
        }
        let kept = there(fine(store.get(&id).await));
        assert_eq!(
            (kept.status, kept.version, kept.updated),
            (ended.status, ended.version, after(1))
        );
        fine(store.remove(&id).await);
    }
    let id = TaskId::from("fails");
    fine(store.create(new("fails", &owner)).await);
    fine(store.change(&id, ends(error()), after(1)).await);
    match there(fine(store.get(&id).await)).outcome.as_deref() {
        Some(TaskOutcome::Error(kept)) => assert_eq!(kept.code, -32602),
        other => panic!("the error is kept as it is: {other:?}"),
    }
    fine(store.remove(&id).await);
}

async fn wakes(store: &dyn TaskStore) {
    let owner = Owner::named("wakes");
    let made = fine(store.create(new("wakes", &owner)).await);
    let id = TaskId::from("wakes");
    let mut waiting = store.changed(&id, made.version);
    let first = poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_pending())).await;
    assert!(first, "nothing has changed");
    let asked = fine(store.change(&id, TaskChange::NeedsInput, after(1)).await);
    let woken = there(fine(waiting.await));
    assert_eq!(woken.version, asked.version);
    let late = there(fine(store.changed(&id, made.version).await));
    assert_eq!(late.version, asked.version, "a change that was made before counts");
    let waiting = store.changed(&id, asked.version);
    fine(store.remove(&id).await);
    assert!(fine(waiting.await).is_none(), "who waits hears that the task is gone");
}

async fn lists(store: &dyn TaskStore) {
    let (owner, other) = (Owner::named("lists"), Owner::named("lists2"));
    let mut numbers = Vec::new();
    for number in 0..5 {
        numbers.push(fine(store.create(new(&format!("l{number}"), &owner)).await).number);
        fine(store.create(new(&format!("o{number}"), &other)).await);
    }
    assert!(numbers.is_sorted_by(|a, b| a < b), "numbers grow");
    let mut found = Vec::new();
    let mut last = None;
    loop {
        let page = fine(store.list(&owner, last, 2).await);
        assert!(page.len() <= 2);
        let Some(end) = page.last() else { break };
        last = Some(end.number);
        assert!(page.iter().all(|task| task.owner == owner), "somebody else's task");
        found.extend(page.iter().map(|task| task.number));
    }
    assert_eq!(found, numbers, "every task of the owner, once, oldest first");
    assert!(fine(store.list(&Owner::named("nobody"), None, 10).await).is_empty());
    assert!(fine(store.list(&owner, Some(u64::MAX), 10).await).is_empty());
    for number in 0..5 {
        for id in [format!("l{number}"), format!("o{number}")] {
            fine(store.remove(&TaskId::from(id)).await);
        }
    }
    assert!(fine(store.list(&owner, None, 10).await).is_empty());
}

async fn expires(store: &dyn TaskStore) {
    let owner = Owner::named("expires");
    for (id, ttl) in [("e1", Some(10)), ("e2", Some(20)), ("e3", None)] {
        let ttl = ttl.map(Duration::from_secs);
        fine(store.create(new(id, &owner).with_ttl(ttl)).await);
    }
    assert_eq!(fine(store.sweep(after(5)).await), Some(after(10)));
    let id = TaskId::from("e1");
    let version = there(fine(store.get(&id).await)).version;
    let waiting = store.changed(&id, version);
    assert_eq!(fine(store.sweep(after(10)).await), Some(after(20)));
    assert!(fine(waiting.await).is_none(), "who waits hears that the task is gone");
    assert_eq!(fine(store.sweep(after(1000)).await), None);
    assert_eq!(fine(store.list(&owner, None, 10).await).len(), 1, "what has no end stays");
    fine(store.remove(&TaskId::from("e3")).await);
}
