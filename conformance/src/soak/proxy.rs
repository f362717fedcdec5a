use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::Chance;

/// A proxy that cuts connections, at random.
#[derive(Debug)]
pub(super) struct Proxy {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(super) async fn start(server: SocketAddr, seed: u64) -> std::io::Result<Proxy> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let task = tokio::spawn(async move {
        let mut chance = Chance::new(seed ^ 0xC07);
        let mut connections = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let Ok((client, _)) = accepted else { continue };
                    let chance = Chance::new(chance.below(u64::MAX));
                    connections.spawn(carry(client, server, chance));
                }
                Some(_) = connections.join_next() => {}
            }
        }
    });
    Ok(Proxy { address, task })
}

/// Carries a connection until it ends or is cut: after a while, or in the middle of an answer.
async fn carry(mut client: TcpStream, server: SocketAddr, mut chance: Chance) {
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let life = tokio::time::sleep(chance.between(2_000, 60_000));
    // Some are cut after a few bytes of an answer, at whatever place that is.
    let mut left = if chance.below(4) == 0 { chance.below(4_000) } else { u64::MAX };
    let (mut up, mut down) = ([0; 4096], [0; 4096]);
    tokio::pin!(life);
    loop {
        tokio::select! {
            () = &mut life => return,
            read = client.read(&mut up) => {
                let Ok(count) = read else { return };
                let Some(bytes) = up.get(..count).filter(|bytes| !bytes.is_empty()) else { return };
                if server.write_all(bytes).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut down) => {
                let Ok(count) = read else { return };
                let some = usize::try_from(left).unwrap_or(usize::MAX).min(count);
                let Some(bytes) = down.get(..some).filter(|bytes| !bytes.is_empty()) else { return };
                let written = tokio::time::timeout(Duration::from_secs(20), client.write_all(bytes));
                if !matches!(written.await, Ok(Ok(()))) {
                    return;
                }
                left = left.saturating_sub(count as u64);
                if left == 0 {
                    return;
                }
            }
        }
    }
}
