use std::collections::HashMap;
use std::error::Error;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_server::tool::{Args, State, ToolEntry};
use mcp_server::{Context, Server};
use mcp_transport_http::server::{Config, Endpoint, Listener};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncReadExt as _;

/// The resource that changes all the time.
pub(super) const CLOCK: &str = "soak://clock";
/// So long may a session be idle: those of visitors that vanish have to go.
const IDLE: Duration = Duration::from_secs(60);

/// What has happened on the server.
#[derive(Debug, Default)]
struct Happened {
    /// The last number that each visitor has used.
    last: Mutex<HashMap<u64, u64>>,
    calls: AtomicU64,
    twice: AtomicU64,
    waits_begun: AtomicU64,
    waits_ended: AtomicU64,
}

impl Happened {
    /// Notes a call; numbers of one visitor only grow.
    fn note(&self, visitor: u64, number: u64) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last.entry(visitor).or_default();
        if number <= *last {
            self.twice.fetch_add(1, Ordering::Relaxed);
        }
        *last = number.max(*last);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Once {
    visitor: u64,
    number: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    visitor: u64,
    number: u64,
    count: u32,
}

/// Counts a wait as ended, however it ends.
struct Waiting(Arc<Happened>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waits_ended.fetch_add(1, Ordering::Relaxed);
    }
}

fn server(happened: &Arc<Happened>) -> Server {
    Server::new("soak", env!("CARGO_PKG_VERSION"))
        .state(Arc::clone(happened))
        .with_tool(ToolEntry::new(
            "once",
            |Args(once): Args<Once>, State(happened): State<Arc<Happened>>| async move {
                happened.note(once.visitor, once.number);
                once.number.to_string()
            },
        ))
        .with_tool(ToolEntry::new(
            "steps",
            |Args(steps): Args<Steps>,
             State(happened): State<Arc<Happened>>,
             cx: Context| async move {
                happened.note(steps.visitor, steps.number);
                let progress = cx.progress();
                for step in 1..=steps.count {
                    progress.report(f64::from(step), Some(f64::from(steps.count))).await;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                steps.number.to_string()
            },
        ))
        .with_tool(ToolEntry::new("wait", |State(happened): State<Arc<Happened>>| async move {
            happened.waits_begun.fetch_add(1, Ordering::Relaxed);
            let waiting = Waiting(Arc::clone(&happened));
            tokio::time::sleep(Duration::from_secs(90)).await;
            drop(waiting);
            "nobody waits for this long"
        }))
        .resource(CLOCK, "clock", "tick")
        .subscriptions()
}

/// Serves over HTTP until stdin ends, and tells on stdout how it is.
///
/// # Errors
///
/// When it can't listen or write.
pub async fn serve() -> Result<(), Box<dyn Error + Send + Sync>> {
    let happened = Arc::new(Happened::default());
    let server = server(&happened);
    let mut config = Config::new();
    config.times.idle = IDLE;
    config.times.keep_alive = Duration::from_secs(5);
    let endpoint = Endpoint::builder(server.clone()).config(config).build();
    let listener = Listener::bind(endpoint.clone(), "127.0.0.1:0").await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "listening on {}", listener.local_addr())?;
    stdout.flush()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(listener.run(async move {
        let _ = stopped.await;
    }));
    let mut stdin = tokio::io::stdin();
    let mut byte = [0];
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = stdin.read(&mut byte) => break,
            _ = second.tick() => {}
        }
        server.resource_updated(CLOCK);
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let line = serde_json::json!({
            "memory": resident(),
            "tasks": tokio::runtime::Handle::current().metrics().num_alive_tasks(),
            "sessions": endpoint.sessions(),
            "exchanges": endpoint.exchanges(),
            "streams": endpoint.streams(),
            "calls": get(&happened.calls),
            "twice": get(&happened.twice),
            "waits": get(&happened.waits_begun) - get(&happened.waits_ended),
        });
        writeln!(stdout, "{line}")?;
        stdout.flush()?;
    }
    let _ = stop.send(());
    serving.await?;
    Ok(())
}

/// The same server over stdio.
///
/// # Errors
///
/// When stdin and stdout are no pipes.
pub async fn serve_child() -> Result<(), Box<dyn Error + Send + Sync>> {
    server(&Arc::default()).serve(mcp_transport_stdio::stdio()).await?;
    Ok(())
}

/// Bytes of memory that this process has; 0 where the system doesn't say.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 =
        statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
    pages * 4096
}
