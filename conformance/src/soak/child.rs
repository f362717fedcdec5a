use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcp_client::{Client, ClientError};
use mcp_transport_stdio::ChildCommand;

use super::Chance;
use super::report::Counts;

/// One child process after the other; most are killed in the middle of a call.
pub(super) async fn run(
    program: PathBuf,
    number: u32,
    mut chance: Chance,
    counts: Arc<Counts>,
    over: Arc<AtomicBool>,
) {
    tokio::time::sleep(chance.between(0, 5_000)).await;
    while !over.load(Ordering::Relaxed) {
        let Ok(link) = ChildCommand::new(program.clone()).arg("child").spawn() else {
            Counts::add(&counts.wrong);
            continue;
        };
        let child = link.handle();
        match Client::builder("soak", "1").connect(link).await {
            Ok(client) => {
                Counts::add(&counts.children);
                visit(&client, number, &mut chance, &counts).await;
                let waiting = async { client.call_tool("wait").text().await };
                if chance.below(3) > 0 {
                    let pause = chance.between(0, 300);
                    let kill = async {
                        tokio::time::sleep(pause).await;
                        child.kill();
                        std::future::pending::<()>().await;
                    };
                    let outcome = tokio::select! {
                        outcome = tokio::time::timeout(Duration::from_secs(20), waiting) => outcome,
                        () = kill => continue,
                    };
                    match outcome {
                        Ok(Err(ClientError::Link(_))) => Counts::add(&counts.killed),
                        Ok(_) => Counts::add(&counts.wrong),
                        Err(_) => Counts::add(&counts.lost),
                    }
                } else {
                    // Given up, and closed in good order.
                    let _ = tokio::time::timeout(chance.between(0, 100), waiting).await;
                    client.close().await;
                }
            }
            Err(_) => Counts::add(&counts.not_connected),
        }
        if tokio::time::timeout(Duration::from_secs(30), child.gone()).await.is_err() {
            Counts::add(&counts.left_behind);
        }
        tokio::time::sleep(chance.between(200, 2_000)).await;
    }
}

async fn visit(client: &Client, number: u32, chance: &mut Chance, counts: &Counts) {
    for call in 1..=1 + chance.below(30) {
        let once = client.call_tool("once").arg("visitor", number).arg("number", call).text();
        match once.await {
            Ok(answer) if answer == call.to_string() => Counts::add(&counts.answered),
            _ => Counts::add(&counts.wrong),
        }
    }
}
