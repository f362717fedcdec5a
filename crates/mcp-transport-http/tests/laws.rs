//! Laws of the codec, which hold for any input.

#![cfg(test)]

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcp_transport_http::sse::{Decoder, EventText};
use proptest::prelude::*;

/// What a decoder said, in a form that can be compared.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Data, name, last event id.
    events: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>,
    last_id: Vec<u8>,
    retry: Option<Duration>,
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let mut decoder = Decoder::new(1 << 20);
    let mut seen = Seen::default();
    for chunk in chunks {
        let mut chunk = Bytes::copy_from_slice(chunk);
        while let Some(event) = decoder.feed(&mut chunk).expect("below the limit") {
            let name = event.name.unwrap_or_default().to_vec();
            seen.events.push((event.data.to_vec(), name, event.id.unwrap_or_default().to_vec()));
        }
    }
    seen.last_id = decoder.last_event_id().map(|id| id.to_vec()).unwrap_or_default();
    seen.retry = decoder.retry();
    seen
}

/// The standard's algorithm, step by step and a byte at a time.
fn reference(stream: &[u8]) -> Seen {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut line = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        match stream[at] {
            b'\r' if stream.get(at + 1) == Some(&b'\n') => {
                lines.push(std::mem::take(&mut line));
                at += 1;
            }
            b'\r' | b'\n' => lines.push(std::mem::take(&mut line)),
            byte => line.push(byte),
        }
        at += 1;
    }
    // `line` now holds what was not ended; the standard drops it.

    let mut seen = Seen::default();
    let (mut data, mut name, mut id) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        if line.is_empty() {
            seen.last_id.clone_from(&id);
            if !data.is_empty() {
                data.pop();
                seen.events.push((data.clone(), name.clone(), id.clone()));
            }
            data.clear();
            name.clear();
            continue;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(0) => continue,
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => name = value.to_vec(),
            b"data" => {
                data.extend_from_slice(value);
                data.push(b'\n');
            }
            b"id" if !value.contains(&0) => id = value.to_vec(),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).expect("digits are text");
                seen.retry = Some(Duration::from_millis(digits.parse().unwrap_or(u64::MAX)));
            }
            _ => {}
        }
    }
    seen
}

/// Streams made of what matters to the decoder, and of a little noise.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let pieces: &[&[u8]] = &[
        b"data",
        b"data:",
        b"data: ",
        b"event: ",
        b"id:",
        b"retry: ",
        b"retry: 12",
        b":",
        b" ",
        b"\n",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\0",
        b"7",
        b"{\"a\":1}",
        b"\xef\xbb\xbf",
        b"\xef",
        b"\xff",
        b"x",
    ];
    let piece = proptest::sample::select(pieces);
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    // Shows: TRANSPORT-HTTP-048
    #[test]
    fn the_decoder_agrees_with_the_standard(stream in stream()) {
        prop_assert_eq!(decode([&stream[..]]), reference(&stream));
    }

    #[test]
    fn where_the_stream_is_cut_does_not_matter(stream in stream()) {
        let whole = reference(&stream);
        for cut in 0..=stream.len() {
            let (head, tail) = stream.split_at(cut);
            prop_assert_eq!(&decode([head, tail]), &whole);
        }
        prop_assert_eq!(decode(stream.chunks(1)), whole);
    }

    #[test]
    fn what_is_written_is_read_back(
        data in proptest::collection::vec(any::<u8>(), 0..200),
        id in "[!-~]{1,20}",
        name in "[!-~]{0,20}",
        retry in any::<u64>(),
    ) {
        let mut out = BytesMut::new();
        let event = EventText::new(&data).with_id(&id)?.with_name(&name)?;
        event.with_retry(Duration::from_millis(retry)).write(&mut out);
        // Any line end comes back as a LF.
        let text: Vec<u8> = data
            .iter()
            .enumerate()
            .filter(|(at, byte)| !(**byte == b'\n' && *at > 0 && data[at - 1] == b'\r'))
            .map(|(_, byte)| if *byte == b'\r' { b'\n' } else { *byte })
            .collect();
        let expected = Seen {
            events: vec![(text, name.into_bytes(), id.clone().into_bytes())],
            last_id: id.into_bytes(),
            retry: Some(Duration::from_millis(retry)),
        };
        prop_assert_eq!(decode([&out[..]]), expected);
    }
}
