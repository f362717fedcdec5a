//! HTTP/1.1 and event streams by hand, so that wrong things can be sent and seen.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// A head may have so many lines.
const HEAD_LINES: usize = 200;
/// A body that is read as a whole, and a line, may be so long, in bytes.
const BODY: u64 = 8 * 1024 * 1024;

/// The host, its port, and the path of an `http:` URL.
pub(crate) fn split(url: &str) -> Option<(String, String)> {
    let rest = url.strip_prefix("http://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    Some((host, format!("/{path}")))
}

/// The first line and the headers of a request or of an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) first: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    /// Reads one; none at the end of the connection.
    pub(crate) fn read(from: &mut impl io::BufRead) -> io::Result<Option<Self>> {
        let mut head = Self::default();
        for number in 0..HEAD_LINES {
            let mut line = String::new();
            if from.take(BODY).read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let line = line.trim_end();
            if number == 0 {
                line.clone_into(&mut head.first);
            } else if line.is_empty() {
                return Ok(Some(head));
            } else if let Some((name, value)) = line.split_once(':') {
                head.headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        Err(io::Error::other("the head has no end"))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.into()));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.headers.retain(|(n, _)| n != name);
    }

    /// The word of the first line that is the method of a request, or the status of an answer.
    pub(crate) fn word(&self, number: usize) -> &str {
        self.first.split(' ').nth(number).unwrap_or_default()
    }

    /// As it goes over the wire.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\r\n", self.first);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.into_bytes()
    }
}

/// How the end of a body is known.
enum Framing {
    /// So many bytes are left.
    Length(u64),
    /// So many bytes are left of this chunk; none of the first one.
    Chunked(Option<u64>),
    Close,
}

/// What follows a head.
pub(crate) struct Body {
    from: BufReader<TcpStream>,
    framing: Framing,
}

impl Body {
    /// The body of a request.
    pub(crate) fn of_request(head: &Head, from: BufReader<TcpStream>) -> Self {
        Self::new(head, from, Framing::Length(0))
    }

    /// The body of an answer.
    pub(crate) fn of_answer(head: &Head, from: BufReader<TcpStream>) -> Self {
        let none = matches!(head.word(1), "204" | "304");
        Self::new(head, from, if none { Framing::Length(0) } else { Framing::Close })
    }

    fn new(head: &Head, from: BufReader<TcpStream>, otherwise: Framing) -> Self {
        let chunked = head.get("transfer-encoding").is_some_and(|v| v.contains("chunked"));
        let length = head.get("content-length").and_then(|length| length.parse().ok());
        let framing = match (chunked, length) {
            (true, _) => Framing::Chunked(None),
            (false, Some(length)) => Framing::Length(length),
            (false, None) => otherwise,
        };
        Self { from, framing }
    }

    /// All of it.
    pub(crate) fn all(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.take(BODY).read_to_end(&mut all)?;
        Ok(all)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        (&mut self.from).take(BODY).read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = match self.framing {
                Framing::Length(0) | Framing::Chunked(Some(0)) => return Ok(0),
                Framing::Length(left) | Framing::Chunked(Some(left)) => left,
                Framing::Chunked(None) => {
                    let size = self.line()?;
                    let size = size.split(';').next().unwrap_or_default();
                    let size = u64::from_str_radix(size, 16).map_err(io::Error::other)?;
                    if size == 0 {
                        // There are no trailers.
                        self.line()?;
                    }
                    self.framing = Framing::Chunked(Some(size));
                    continue;
                }
                Framing::Close => return self.from.read(buffer),
            };
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let count = self.from.read(buffer.get_mut(..most).unwrap_or_default())?;
            let left = left - count as u64;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if matches!(self.framing, Framing::Length(_)) {
                self.framing = Framing::Length(left);
            } else if left > 0 {
                self.framing = Framing::Chunked(Some(left));
            } else {
                self.line()?;
                self.framing = Framing::Chunked(None);
            }
            return Ok(count);
        }
    }
}

/// One event of a stream; what a field did not say is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) retry: Option<String>,
    pub(crate) data: Option<String>,
}

impl Event {
    /// As it goes over the wire.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        let fields =
            [("event", &self.kind), ("id", &self.id), ("retry", &self.retry), ("data", &self.data)];
        for (name, value) in fields {
            for line in value.iter().flat_map(|value| value.split('\n')) {
                text.push_str(&format!("{name}: {line}\n"));
            }
        }
        text.push('\n');
        text
    }
}

/// A body that is read event by event.
pub(crate) struct Events {
    from: BufReader<Body>,
    /// The last line ended in CR, so that an LF belongs to it.
    after_cr: bool,
}

impl Events {
    pub(crate) fn new(body: Body) -> Self {
        Self { from: BufReader::new(body), after_cr: false }
    }

    /// The next line, which may end in LF, CR, or both; none at the end of the stream.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.from.read(&mut byte)? > 0 {
            let [byte] = byte;
            let skipped = std::mem::take(&mut self.after_cr) && byte == b'\n';
            match byte {
                b'\n' if skipped => {}
                b'\r' | b'\n' => {
                    self.after_cr = byte == b'\r';
                    return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
                }
                _ if line.len() as u64 >= BODY => {
                    return Err(io::Error::other("the line is too long"));
                }
                _ => line.push(byte),
            }
        }
        Ok(None)
    }

    /// The next one with a field in it; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Event>> {
        let mut event = Event::default();
        loop {
            let Some(line) = self.line()? else { return Ok(None) };
            if line.is_empty() {
                if event != Event::default() {
                    return Ok(Some(event));
                }
                continue;
            }
            let (name, value) = line.split_once(':').unwrap_or((line.as_str(), ""));
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            match name {
                "id" => event.id = Some(value),
                "event" => event.kind = Some(value),
                "retry" => event.retry = Some(value),
                "data" => match &mut event.data {
                    Some(data) => *data = format!("{data}\n{value}"),
                    None => event.data = Some(value),
                },
                _ => {}
            }
        }
    }
}

/// What was answered.
pub(crate) struct Answer {
    pub(crate) head: Head,
    pub(crate) body: Body,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.word(1).parse().unwrap_or_default()
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.is_of("text/event-stream")
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_of("application/json")
    }

    fn is_of(&self, kind: &str) -> bool {
        self.head.get("content-type").is_some_and(|v| {
            v.split(';').next().is_some_and(|v| v.trim().eq_ignore_ascii_case(kind))
        })
    }
}

/// Sends a request over a connection of its own. Nothing waits longer than `wait` for a byte.
pub(crate) fn send(host: &str, head: &Head, body: &[u8], wait: Duration) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(wait))?;
    stream.set_write_timeout(Some(wait))?;
    let mut bytes = head.to_bytes();
    bytes.extend_from_slice(body);
    // A refusal may come before all is written.
    let _ = stream.write_all(&bytes);
    let mut from = BufReader::new(stream);
    let head = Head::read(&mut from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let body = Body::of_answer(&head, from);
    Ok(Answer { head, body })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// What is read of an answer that comes as it is written here.
    fn answer(text: &'static str) -> Answer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut from = BufReader::new(stream.try_clone().unwrap());
            Head::read(&mut from).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
        });
        let head = Head { first: "GET / HTTP/1.1".into(), headers: Vec::new() };
        let answer = send(&host, &head, b"", Duration::from_secs(10)).unwrap();
        server.join().unwrap();
        answer
    }

    #[test]
    fn bodies_end_by_length_by_chunks_and_by_the_connection() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nhello",
        ] {
            let mut answer = answer(text);
            assert_eq!((answer.status(), answer.body.all().unwrap()), (200, b"hello".to_vec()));
        }
        let cut = answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").body.all();
        assert!(cut.is_err());
    }

    #[test]
    fn events_are_read_as_they_are_written() {
        let text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; x\r\n\r\n\
            : nothing\n\nid: 1\ndata:\n\nevent: message\r\ndata: a\r\ndata:b\r\n\r\nretry: 7\r\r";
        let answer = answer(text);
        assert!(answer.is_stream() && !answer.is_json());
        let mut events = Events::new(answer.body);
        let first = events.next().unwrap().unwrap();
        assert_eq!((first.id.as_deref(), first.data.as_deref()), (Some("1"), Some("")));
        let second = events.next().unwrap().unwrap();
        assert_eq!(
            (second.kind.as_deref(), second.data.as_deref()),
            (Some("message"), Some("a\nb"))
        );
        assert_eq!(second.to_text(), "event: message\ndata: a\ndata: b\n\n");
        assert_eq!(events.next().unwrap().unwrap().retry.as_deref(), Some("7"));
        assert_eq!(events.next().unwrap(), None);
    }
}
