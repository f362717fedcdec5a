use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use mcp_client::{Client, ClientError};
use mcp_transport_http::client::{Config, HttpConnector, Transport};

use super::Chance;
use super::report::Counts;
use super::server::CLOCK;

/// Somebody who has one session after the other, and does all sorts of things with it.
pub(super) struct Visitor {
    number: u32,
    url: String,
    chance: Chance,
    counts: Arc<Counts>,
    over: Arc<AtomicBool>,
    used: u64,
}

impl Visitor {
    pub(super) fn new(
        number: u32,
        url: String,
        chance: Chance,
        counts: Arc<Counts>,
        over: Arc<AtomicBool>,
    ) -> Self {
        Self { number, url, chance, counts, over, used: 0 }
    }

    pub(super) async fn run(mut self) {
        // Not all at one moment.
        tokio::time::sleep(self.chance.between(0, 20_000)).await;
        while !self.is_over() {
            if let Some(client) = self.connect().await {
                self.visit(client).await;
            } else {
                tokio::time::sleep(self.chance.between(500, 2_000)).await;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    async fn connect(&mut self) -> Option<Client> {
        let mut config = Config::new();
        config.transport = Transport::StreamableHttp;
        config.limits.idle_connections = 1;
        let connector = HttpConnector::new(&self.url, config).ok()?;
        let counts = Arc::clone(&self.counts);
        let builder = Client::builder("soak", "1").on_resource_updated(move |_, _| {
            Counts::add(&counts.updates);
            std::future::ready(())
        });
        let connecting = builder.connect(connector.link());
        match tokio::time::timeout(Duration::from_secs(90), connecting).await {
            Ok(Ok(client)) => {
                Counts::add(&self.counts.connected);
                Some(client)
            }
            // The connection was cut in the middle of the handshake.
            Ok(Err(_)) => {
                Counts::add(&self.counts.not_connected);
                None
            }
            Err(_) => {
                Counts::add(&self.counts.lost);
                None
            }
        }
    }

    /// One session.
    async fn visit(&mut self, client: Client) {
        while !self.is_over() && !client.is_closed() {
            tokio::time::sleep(self.chance.between(1_000, 6_000)).await;
            match self.chance.below(100) {
                0..45 => self.once(&client).await,
                45..60 => self.steps(&client).await,
                60..72 => self.give_up(&client).await,
                72..80 => {
                    let outcome = client.subscribe(CLOCK).await;
                    self.took(outcome);
                }
                80..86 => {
                    let outcome = client.unsubscribe(CLOCK).await;
                    self.took(outcome);
                }
                86..92 => {
                    let outcome = client.list_tools().await.map(|_| ());
                    self.took(outcome);
                }
                92..96 => {
                    let outcome = client.ping().await;
                    self.took(outcome);
                }
                96..98 => break,
                // Vanishes: no goodbye, whatever is under way.
                _ => return,
            }
        }
        client.close().await;
    }

    fn next(&mut self) -> (u64, u64) {
        self.used += 1;
        (u64::from(self.number), self.used)
    }

    async fn once(&mut self, client: &Client) {
        let (visitor, number) = self.next();
        let call = client.call_tool("once").arg("visitor", visitor).arg("number", number).text();
        let outcome = call.await;
        if let Ok(answer) = &outcome
            && *answer != number.to_string()
        {
            Counts::add(&self.counts.wrong);
        }
        self.took(outcome.map(|_| ()));
    }

    async fn steps(&mut self, client: &Client) {
        let (visitor, number) = self.next();
        let count = u32::try_from(1 + self.chance.below(20)).unwrap_or(1);
        let (seen, last) = (AtomicU32::new(0), AtomicU64::new(0));
        let disorder = AtomicBool::new(false);
        let call = client
            .call_tool("steps")
            .arg("visitor", visitor)
            .arg("number", number)
            .arg("count", count)
            .on_progress(|step| {
                seen.fetch_add(1, Ordering::Relaxed);
                let bits = last.swap(step.progress.to_bits(), Ordering::Relaxed);
                if step.progress <= f64::from_bits(bits) {
                    disorder.store(true, Ordering::Relaxed);
                }
            })
            .text();
        let outcome = call.await;
        if outcome.is_ok() && seen.load(Ordering::Relaxed) != count {
            Counts::add(&self.counts.gaps);
        }
        if disorder.load(Ordering::Relaxed) {
            Counts::add(&self.counts.disorder);
        }
        self.took(outcome.map(|_| ()));
    }

    /// Begins a call that takes for ever, and drops it.
    async fn give_up(&mut self, client: &Client) {
        let call = async { client.call_tool("wait").text().await };
        match tokio::time::timeout(self.chance.between(20, 500), call).await {
            Err(_) => Counts::add(&self.counts.given_up),
            Ok(outcome) => self.took(outcome.map(|_| ())),
        }
    }

    fn took(&self, outcome: Result<(), ClientError>) {
        match outcome {
            Ok(()) => Counts::add(&self.counts.answered),
            // Silence: what the transport has to turn into an answer or an error.
            Err(ClientError::TimedOut { .. }) => Counts::add(&self.counts.lost),
            Err(error) => self.counts.failed(&error),
        }
    }
}
