use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use hyper::Uri;
use hyper::header::{HeaderMap, PROXY_AUTHORIZATION};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

#[cfg(feature = "tls")]
use super::Tls;
use super::proxy::Proxy;
use super::{BoxIo, Protocol, host, port};
use crate::client::error::ConnectError;

/// After so much silence the system asks whether the other end is still there, and how often.
const PROBE_AFTER: Duration = Duration::from_secs(30);
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// How long one address is tried before the next is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);

/// Opens connections to one origin.
pub(in crate::client) struct Dialer {
    host: Box<str>,
    port: u16,
    proxy: Option<Proxy>,
    limit: Duration,
    #[cfg(feature = "tls")]
    https: bool,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

impl Dialer {
    pub(in crate::client) fn new(
        origin: &Uri,
        proxy: Option<Proxy>,
        limit: Duration,
        #[cfg(feature = "tls")] tls: Option<Tls>,
    ) -> Self {
        Self {
            host: host(origin).into(),
            port: port(origin),
            proxy,
            limit,
            #[cfg(feature = "tls")]
            https: origin.scheme_str() == Some("https"),
            #[cfg(feature = "tls")]
            tls,
        }
    }

    #[cfg(not(feature = "tls"))]
    const fn is_https(&self) -> bool {
        false
    }

    #[cfg(feature = "tls")]
    const fn is_https(&self) -> bool {
        self.https
    }

    /// Whether requests go to a proxy, which reads them and passes them on.
    pub(super) const fn is_forwarded(&self) -> bool {
        self.proxy.is_some() && !self.is_https()
    }

    pub(super) fn authorize_at_proxy(&self, headers: &mut HeaderMap) {
        if let Some(value) = self.proxy.as_ref().and_then(Proxy::authorization) {
            headers.insert(PROXY_AUTHORIZATION, value.clone());
        }
    }

    pub(super) const fn limit(&self) -> Duration {
        self.limit
    }

    /// Host and port, for errors.
    pub(super) fn name(&self) -> Box<str> {
        authority(&self.host, self.port).into()
    }

    pub(super) async fn dial(&self) -> Result<(BoxIo, Protocol), ConnectError> {
        let io = match &self.proxy {
            None => tcp(&self.host, self.port).await?,
            Some(proxy) => {
                let io = self.to_proxy(proxy).await?;
                if self.is_https() {
                    proxy.tunnel(io, &authority(&self.host, self.port)).await?
                } else {
                    io
                }
            }
        };
        #[cfg(feature = "tls")]
        if let Some(tls) = self.tls.as_ref().filter(|_| self.https) {
            return tls.connect(io, &self.host, true).await;
        }
        Ok((io, Protocol::Http1))
    }

    async fn to_proxy(&self, proxy: &Proxy) -> Result<BoxIo, ConnectError> {
        let io = tcp(proxy.host(), proxy.port()).await?;
        #[cfg(feature = "tls")]
        if let Some(tls) = self.tls.as_ref().filter(|_| proxy.is_https()) {
            return tls.connect(io, proxy.host(), false).await.map(|(io, _)| io);
        }
        Ok(io)
    }
}

fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

async fn tcp(host: &str, port: u16) -> Result<BoxIo, ConnectError> {
    let addresses: Vec<SocketAddr> = match host.parse::<IpAddr>() {
        Ok(address) => vec![(address, port).into()],
        Err(_) => {
            tokio::net::lookup_host((host, port)).await.map_err(ConnectError::Resolve)?.collect()
        }
    };
    let stream = first_of(alternate(addresses)).await.map_err(ConnectError::Tcp)?;
    // A message must not wait for the acknowledgment of what went before.
    let set = stream.set_nodelay(true).and_then(|()| {
        let keep_alive = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY);
        SockRef::from(&stream).set_tcp_keepalive(&keep_alive)
    });
    if let Err(error) = set {
        tracing::debug!(error = &error as &dyn std::error::Error, "no TCP_NODELAY or keep-alive");
    }
    Ok(Box::new(stream))
}

/// Puts the two families of addresses in turn, the first one first.
fn alternate(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (mut first, mut second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == first_is_v6);
    first.reverse();
    second.reverse();
    let mut all = Vec::new();
    while !first.is_empty() || !second.is_empty() {
        all.extend(first.pop());
        all.extend(second.pop());
    }
    all
}

/// Tries the addresses, the next one when one fails or is slow; takes the first that connects.
async fn first_of(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter();
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let mut patience = pin!(sleep_until(Instant::now()));
    poll_fn(|cx| {
        loop {
            let mut index = 0;
            while let Some(attempt) = attempts.get_mut(index) {
                match attempt.as_mut().poll(cx) {
                    Poll::Ready(Ok(stream)) => return Poll::Ready(Ok(stream)),
                    Poll::Ready(Err(error)) => {
                        failed = error;
                        drop(attempts.swap_remove(index));
                        patience.as_mut().reset(Instant::now());
                    }
                    Poll::Pending => index += 1,
                }
            }
            if patience.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            match waiting.next() {
                Some(address) => {
                    attempts.push(Box::pin(TcpStream::connect(address)));
                    patience.as_mut().reset(Instant::now() + STAGGER);
                }
                None if attempts.is_empty() => {
                    let none = io::ErrorKind::AddrNotAvailable.into();
                    return Poll::Ready(Err(std::mem::replace(&mut failed, none)));
                }
                None => return Poll::Pending,
            }
        }
    })
    .await
}

type Attempt = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_of_addresses_take_turns() {
        let addresses = |list: &[&str]| -> Vec<SocketAddr> {
            list.iter().map(|address| address.parse().unwrap()).collect()
        };
        let given = addresses(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"]);
        let expected = addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"]);
        assert_eq!(alternate(given), expected);
    }

    #[tokio::test]
    async fn an_address_that_refuses_makes_room_for_the_next() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let good = listener.local_addr().unwrap();
        let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let bad = gone.local_addr().unwrap();
        drop(gone);
        let stream = first_of(vec![bad, good]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), good);
        let error = first_of(vec![bad]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert!(first_of(Vec::new()).await.is_err());
    }
}
