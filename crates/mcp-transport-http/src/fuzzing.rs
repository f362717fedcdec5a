//! Bodies of the fuzz targets: each takes bytes from anywhere and must not fail.

use bytes::Bytes;

use crate::sse::{Decoder, Event};

const LIMIT: usize = 64;

/// Cuts the rest of `input` at places that its first byte chooses, and compares with the
/// uncut stream.
pub fn sse(input: &[u8]) {
    let Some((step, stream)) = input.split_first() else { return };
    let whole = run(stream.chunks(stream.len().max(1)));
    let cut = run(stream.chunks(usize::from(*step).max(1)));
    assert_eq!(whole, cut, "where a stream is cut must not matter");
    assert!(whole.0.iter().all(|event| event.data.len() <= LIMIT));
}

/// The events, and whether the limit ended the stream.
fn run<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> (Vec<Event>, bool) {
    let mut decoder = Decoder::new(LIMIT);
    let mut events = Vec::new();
    for chunk in chunks {
        let mut chunk = Bytes::copy_from_slice(chunk);
        loop {
            match decoder.feed(&mut chunk) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(_) => return (events, true),
            }
        }
    }
    (events, false)
}

#[cfg(test)]
mod tests {
    #[test]
    fn inputs_that_once_were_interesting_pass() {
        for input in [
            &b""[..],
            b"\x01data: 1\r\n\r\ndata: 2\r\r",
            b"\x02\xef\xbb\xbfid: 1\0\nretry: 9\ndata\n\n",
            b"\x03\xef\xbbdata: 1\n\n",
            b"\x05: comment that goes on and on and on and on and on and on and on and on and on\n\n",
            b"\x07data: a line that goes on and on and on and on and on and on and on and on and on\n\n",
        ] {
            super::sse(input);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_input_fails(input: Vec<u8>) {
            super::sse(&input);
        }
    }
}
