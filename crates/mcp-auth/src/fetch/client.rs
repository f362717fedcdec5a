use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{
    AUTHORIZATION, CONTENT_LENGTH, COOKIE, HOST, HeaderValue, LOCATION, REFERER, USER_AGENT,
};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use url::Url;

use super::address::{Target, place_of};
use super::connect::{self, Resolve, SystemResolver};
use super::{FetchError, FetchPolicy, FetchRequest, FetchResponse, Reach, Roots, Rule};
use crate::v1::{BoxFuture, Fetch};

/// The longest URL that is asked for, in bytes.
const MAX_URL: usize = 8 * 1024;
/// How large the head of an answer may be, in bytes.
const MAX_HEAD: usize = 64 * 1024;
/// How many headers an answer may have.
const MAX_HEADERS: usize = 100;

/// Fetches documents and makes requests that somebody else's document caused.
///
/// `https` only, `http` within loopback; no further inwards than where a URL came from; each
/// redirect judged anew; what was judged is what is connected to; bounded in bytes and time
/// ([SSRF](https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices)).
/// It knows no proxy: behind one, give the host a [`Fetch`] of its own, and let the proxy be
/// the guard.
///
/// One connection a request. Cheap to clone.
#[derive(Clone)]
pub struct GuardedFetcher {
    shared: Arc<Shared>,
}

struct Shared {
    policy: FetchPolicy,
    tls: Arc<ClientConfig>,
    resolver: Box<dyn Resolve>,
}

impl GuardedFetcher {
    /// A fetcher with this policy, and roots of trust as the features say.
    ///
    /// # Errors
    ///
    /// When the roots of trust can't be read.
    pub fn new(policy: FetchPolicy) -> Result<Self, FetchError> {
        Self::with_roots(policy, &Roots::default())
    }

    /// A fetcher with this policy and these roots of trust.
    ///
    /// # Errors
    ///
    /// When the roots of trust can't be read.
    pub fn with_roots(policy: FetchPolicy, roots: &Roots) -> Result<Self, FetchError> {
        Self::with_resolver(policy, roots, Box::new(SystemResolver))
    }

    fn with_resolver(
        policy: FetchPolicy,
        roots: &Roots,
        resolver: Box<dyn Resolve>,
    ) -> Result<Self, FetchError> {
        let tls = roots.client_config()?;
        Ok(Self { shared: Arc::new(Shared { policy, tls, resolver }) })
    }

    async fn go(&self, mut request: FetchRequest) -> Result<FetchResponse, FetchError> {
        // Nothing that is asked for by a document carries credentials of its reader.
        if request.method == Method::GET {
            for name in [AUTHORIZATION, COOKIE, REFERER] {
                request.headers.remove(name);
            }
        }
        let mut left = if request.method == Method::GET { request.max_redirects } else { 0 };
        left = left.min(self.shared.policy.max_redirects);
        loop {
            let answer = self.once(&request).await?;
            if !is_redirect(answer.status) || request.shows_redirects {
                return Ok(answer);
            }
            let host = host_of(&request.url);
            let to = answer
                .headers
                .get(LOCATION)
                .and_then(|location| location.to_str().ok())
                .and_then(|location| request.url.join(location).ok());
            let Some((rest, mut to)) = left.checked_sub(1).zip(to.clone()) else {
                return Err(FetchError::Redirected { host, to: to.map(|to| host_of(&to)) });
            };
            to.set_fragment(None);
            FetchPolicy::judge_redirect(&request.url, &to)
                .map_err(|rule| FetchError::Refused { host: host_of(&to), rule })?;
            left = rest;
            request.url = to;
        }
    }

    async fn once(&self, request: &FetchRequest) -> Result<FetchResponse, FetchError> {
        let Shared { policy, tls, resolver } = &*self.shared;
        let url = &request.url;
        let host = host_of(url);
        let refused = |rule| FetchError::Refused { host: host.clone(), rule };
        if url.as_str().len() > MAX_URL {
            return Err(refused(Rule::TooLong));
        }
        let target = policy.judge(url, request.reach).map_err(refused)?;
        let addresses =
            connect::judged_addresses(&**resolver, policy, url, &target, request.reach).await?;
        let stream = connect::connect(tls, policy, url, &addresses).await?;

        let broken = |source| FetchError::Broken { host: host.clone(), source };
        let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEAD)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        let _driver = Driver(tokio::spawn(async move {
            // What goes wrong here shows on the other side, too.
            let _ = connection.await;
        }));
        let answer = sender.send_request(to_http(request)?).await.map_err(broken)?;
        let (head, mut body) = answer.into_parts();
        let mut bytes = Vec::new();
        let too_large = || FetchError::TooLarge { host: host.clone(), limit: request.max_body };
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame.map_err(broken)?.into_data() {
                if bytes.len() + data.len() > request.max_body {
                    return Err(too_large());
                }
                bytes.extend_from_slice(&data);
            }
        }
        Ok(FetchResponse::new(head.status, head.headers, bytes))
    }
}

impl Fetch for GuardedFetcher {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>> {
        Box::pin(async move {
            let host = host_of(&request.url);
            let started = std::time::Instant::now();
            let method = request.method.clone();
            let result = tokio::time::timeout(self.shared.policy.timeout, self.go(request))
                .await
                .unwrap_or(Err(FetchError::TimedOut { host: host.clone() }));
            let took = started.elapsed();
            match &result {
                Ok(answer) => {
                    tracing::debug!(%method, host, status = answer.status.as_u16(), ?took, "fetched");
                }
                Err(error) => tracing::debug!(%method, host, %error, ?took, "not fetched"),
            }
            result
        })
    }

    fn reach<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Reach, FetchError>> {
        Box::pin(async move {
            let Shared { policy, resolver, .. } = &*self.shared;
            let refused = |rule| FetchError::Refused { host: host_of(url), rule };
            let target = policy.judge(url, Reach::Loopback).map_err(refused)?;
            let addresses =
                connect::judged_addresses(&**resolver, policy, url, &target, Reach::Loopback);
            let addresses = tokio::time::timeout(policy.timeout, addresses)
                .await
                .map_err(|_| FetchError::TimedOut { host: host_of(url) })??;
            // Of several places the most public one counts: it may reach the least.
            let places = addresses.into_iter().filter_map(place_of);
            Ok(match target {
                Target::Localhost => Reach::Loopback,
                Target::Address(_) | Target::Name(_) => places.min().unwrap_or_default(),
            })
        })
    }
}

impl fmt::Debug for GuardedFetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GuardedFetcher").field(&self.shared.policy).finish()
    }
}

/// Drives a connection for as long as somebody waits for its answer.
struct Driver(tokio::task::JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn to_http(request: &FetchRequest) -> Result<Request<Full<Bytes>>, FetchError> {
    let unmade = |source: hyper::http::Error| FetchError::Unmade { source: source.into() };
    let url = &request.url;
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let authority = match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let mut made = Request::builder()
        .method(request.method.clone())
        .uri(target)
        .header(HOST, authority)
        .header(USER_AGENT, concat!("mcp-auth/", env!("CARGO_PKG_VERSION")))
        .body(Full::new(Bytes::from(request.body.clone())))
        .map_err(unmade)?;
    for (name, value) in &request.headers {
        made.headers_mut().insert(name, value.clone());
    }
    if request.method == Method::POST {
        made.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(request.body.len()));
    }
    Ok(made)
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Answers each name with another address at each turn: what rebinding does.
    struct Turning(Vec<IpAddr>, AtomicUsize);

    impl Resolve for Turning {
        fn resolve(&self, _: String) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
            let turn = self.1.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move { Ok(self.0.get(turn).copied().into_iter().collect()) })
        }
    }

    fn fetcher(addresses: &[&str]) -> GuardedFetcher {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        GuardedFetcher::with_resolver(
            FetchPolicy::default(),
            &Roots::Only(Vec::new()),
            Box::new(Turning(addresses, AtomicUsize::new(0))),
        )
        .unwrap()
    }

    // Shows: CL-FT-3, SEC-051
    #[tokio::test]
    async fn a_name_that_turns_to_an_inner_address_is_refused_where_it_is_connected_to() {
        let fetcher = fetcher(&["8.8.8.8", "169.254.169.254", "127.0.0.1"]);
        let url = Url::parse("https://rebind.example/").unwrap();
        assert_eq!(fetcher.reach(&url).await.unwrap(), Reach::Public);
        for rule in [Rule::Address, Rule::Inwards] {
            let error = fetcher.fetch(FetchRequest::get(url.clone(), Reach::Public)).await;
            let Err(FetchError::Refused { rule: broken, .. }) = error else { panic!("{error:?}") };
            assert_eq!(broken, rule);
        }
    }
}
