//! Clients that go without a word; in a process of its own, since memory is measured.

#![cfg(test)]
#![cfg(feature = "server")]
#![cfg(target_os = "linux")]

mod support;

use std::time::Duration;

use serde_json::json;
use support::{Server, bounded, eventually};

/// Resident memory of this process, in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

// Shows: FC-092, TRANSPORT-HTTP-026, LIFE-031
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_vanish_leave_nothing_behind() {
    bounded(async {
        let server = Server::with(|config| {
            config.times.idle = Duration::from_millis(300);
            config.times.detached = Duration::from_millis(300);
        })
        .await;
        let round = async |clients: usize| {
            for _ in 0..clients / 100 {
                let mut gone = Vec::new();
                for _ in 0..100 {
                    let client = server.connect().await;
                    let mut listening = client.get(None).await;
                    assert!(listening.event().await.is_some());
                    let mut calling = client.tool(1, "linger", json!({})).await;
                    assert!(calling.message().await.is_some());
                    gone.push((listening, calling));
                }
                // All at once, without a word. No more than these are ever there.
                drop(gone);
                eventually("sessions are gone", || server.endpoint.sessions() == 0).await;
                eventually("calls are gone", || server.endpoint.exchanges() == 0).await;
                assert_eq!(server.endpoint.streams(), 0);
            }
        };
        // What the process takes once and keeps.
        round(1000).await;
        let before = resident();
        round(1000).await;
        let after = resident();
        assert!(after <= before + before / 10, "{before} KiB before, {after} KiB after");
    })
    .await;
}
