use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::page;
use crate::client::LoopbackHost;
use crate::v1::CallbackUrl;

/// How many bytes of a request's head are read.
const MAX_HEAD: usize = 16 * 1024;
/// How long a request line may be, in bytes.
const MAX_LINE: usize = 8 * 1024;
/// How long one connection may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many connections are served at once; others wait to be accepted.
const MAX_CONNECTIONS: usize = 8;

/// Listens on loopback for the one answer of one login.
pub(crate) struct RedirectListener {
    listeners: Vec<TcpListener>,
    host: &'static str,
    port: u16,
    path: String,
}

/// What becomes of a callback.
pub(crate) enum Judgement<T> {
    /// It is not ours: say so, and keep waiting.
    KeepWaiting,
    /// It ends the wait; the page says this.
    Done { title: &'static str, text: String, value: T },
}

impl RedirectListener {
    pub(crate) async fn bind(
        host: LoopbackHost,
        port: Option<u16>,
        path: &str,
    ) -> io::Result<Self> {
        let wanted = port.unwrap_or(0);
        let (name, listeners) = match host {
            LoopbackHost::V4 => {
                ("127.0.0.1", vec![TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)).await?])
            }
            LoopbackHost::V6 => {
                ("[::1]", vec![TcpListener::bind((Ipv6Addr::LOCALHOST, wanted)).await?])
            }
            LoopbackHost::Name => {
                let first = TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)).await?;
                let port = first.local_addr()?.port();
                // A machine without IPv6 has no second address to listen on; one where the
                // port belongs to somebody else must not send the code there.
                match TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await {
                    Ok(second) => ("localhost", vec![first, second]),
                    Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
                    Err(_) => ("localhost", vec![first]),
                }
            }
        };
        let port = match listeners.first() {
            Some(listener) => listener.local_addr()?.port(),
            None => wanted,
        };
        Ok(Self { listeners, host: name, port, path: path.to_owned() })
    }

    /// The redirect URI that leads here.
    pub(crate) fn uri(&self) -> String {
        format!("http://{}:{}{}", self.host, self.port, self.path)
    }

    /// Waits until `judge` is content with a callback. Whatever else comes is answered and
    /// forgotten.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connections at hand.
    pub(crate) async fn wait<T>(
        &self,
        mut judge: impl FnMut(&CallbackUrl) -> Judgement<T>,
    ) -> io::Result<T> {
        let mut connections: JoinSet<Option<(TcpStream, Knock)>> = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.accept(), if connections.len() < MAX_CONNECTIONS => {
                    let (stream, expected) = (accepted?, self.expected());
                    connections.spawn(async move {
                        tokio::time::timeout(PATIENCE, read(stream, &expected)).await.ok()?
                    });
                }
                Some(finished) = connections.join_next(), if !connections.is_empty() => {
                    let Ok(Some((stream, knock))) = finished else { continue };
                    match knock {
                        Knock::Refused(status) => {
                            reply(stream, &page::answer(status, status, "This is not the place.")).await;
                        }
                        Knock::Callback(callback) => match judge(&callback) {
                            Judgement::KeepWaiting => {
                                let text = "This answer does not belong to the login that is \
                                            under way. The login goes on waiting.";
                                reply(stream, &page::answer("400 Bad Request", "Not this one", text)).await;
                            }
                            Judgement::Done { title, text, value } => {
                                reply(stream, &page::answer("200 OK", title, &text)).await;
                                return Ok(value);
                            }
                        },
                    }
                }
            }
        }
    }

    async fn accept(&self) -> io::Result<TcpStream> {
        match &*self.listeners {
            [one, two] => tokio::select! {
                accepted = one.accept() => Ok(accepted?.0),
                accepted = two.accept() => Ok(accepted?.0),
            },
            [one, ..] => Ok(one.accept().await?.0),
            [] => std::future::pending().await,
        }
    }

    fn expected(&self) -> Expected {
        Expected { host: format!("{}:{}", self.host, self.port), path: self.path.clone() }
    }
}

/// What a request has to be.
struct Expected {
    host: String,
    path: String,
}

/// What a connection brought.
enum Knock {
    Refused(&'static str),
    Callback(CallbackUrl),
}

async fn read(mut stream: TcpStream, expected: &Expected) -> Option<(TcpStream, Knock)> {
    let mut head = Vec::new();
    let end = loop {
        let mut chunk = [0; 1024];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(chunk.get(..count)?);
        if let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if head.len() > MAX_HEAD {
            return Some((stream, Knock::Refused("431 Request Header Fields Too Large")));
        }
    };
    let knock = match std::str::from_utf8(head.get(..end)?) {
        Ok(head) => judge_head(head, expected),
        Err(_) => Knock::Refused("400 Bad Request"),
    };
    Some((stream, knock))
}

fn judge_head(head: &str, expected: &Expected) -> Knock {
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let mut parts = line.split(' ');
    let (method, target) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if line.len() > MAX_LINE {
        return Knock::Refused("414 URI Too Long");
    }
    let host = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim());
    // A page of somebody else's may know the port, but not make the browser name this host.
    if !host.is_some_and(|host| host.eq_ignore_ascii_case(&expected.host)) {
        return Knock::Refused("403 Forbidden");
    }
    if target.split('?').next() != Some(&expected.path) {
        return Knock::Refused("404 Not Found");
    }
    if method != "GET" {
        return Knock::Refused("405 Method Not Allowed");
    }
    Knock::Callback(CallbackUrl::new(target))
}

/// Whether the page arrives is the browser's business; the login doesn't hang on it.
async fn reply(mut stream: TcpStream, answer: &str) {
    let writing = async {
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
    };
    let _ = tokio::time::timeout(PATIENCE, writing).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(listener: &RedirectListener, head: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", listener.port)).await.unwrap();
        let head = head.replace("HOST", &format!("127.0.0.1:{}", listener.port));
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    // Shows: FC-083, CL-RD-4, CL-RD-5
    #[tokio::test]
    async fn the_first_good_answer_wins_and_nothing_else_ends_the_wait() {
        let listener = RedirectListener::bind(LoopbackHost::V4, None, "/callback").await.unwrap();
        assert_eq!(listener.uri(), format!("http://127.0.0.1:{}/callback", listener.port));
        let waiting = listener.wait(|callback| match callback.query() {
            "code=C&state=S" => {
                Judgement::Done { title: "Done", text: "for <you>".to_owned(), value: 7 }
            }
            _ => Judgement::KeepWaiting,
        });
        let asking = async {
            for (head, status) in [
                ("GET /favicon.ico HTTP/1.1\r\nHost: HOST\r\n\r\n", "404"),
                ("POST /callback?code=C&state=S HTTP/1.1\r\nHost: HOST\r\n\r\n", "405"),
                ("GET /callback?code=C&state=S HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
                ("GET /callback?code=C&state=WRONG HTTP/1.1\r\nHost: HOST\r\n\r\n", "400"),
                ("GET /callback HTTP/1.1\r\nHost: HOST\r\n\r\n", "400"),
                ("GET /callback?code=C&state=S HTTP/1.1\r\nHost: HOST\r\n\r\n", "200"),
            ] {
                let answer = ask(&listener, head).await;
                assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}: {answer}");
                if status == "200" {
                    assert!(answer.contains("for &lt;you&gt;"));
                }
            }
        };
        let (value, ()) = tokio::join!(waiting, asking);
        assert_eq!(value.unwrap(), 7);
    }

    // Shows: CL-RD-4
    #[tokio::test]
    async fn connections_that_say_nothing_do_not_keep_the_answer_out() {
        let listener = RedirectListener::bind(LoopbackHost::V4, None, "/").await.unwrap();
        let mut silent = Vec::new();
        for _ in 0..MAX_CONNECTIONS - 1 {
            silent.push(TcpStream::connect(("127.0.0.1", listener.port)).await.unwrap());
        }
        let waiting =
            listener.wait(|_| Judgement::Done { title: "Done", text: String::new(), value: () });
        let asking = ask(&listener, "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n");
        let (value, answer) = tokio::join!(waiting, asking);
        assert!(value.is_ok() && answer.starts_with("HTTP/1.1 200"));
    }

    // Shows: CL-RD-3
    #[tokio::test]
    async fn a_taken_port_is_its_own_error() {
        let first = RedirectListener::bind(LoopbackHost::V4, None, "/").await.unwrap();
        let second = RedirectListener::bind(LoopbackHost::V4, Some(first.port), "/").await;
        assert_eq!(second.err().unwrap().kind(), io::ErrorKind::AddrInUse);
    }
}
