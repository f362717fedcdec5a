//! Bodies of the fuzz targets: each takes bytes from anywhere and must not fail.

use crate::{Line, Lines, long_line};

const LIMIT: usize = 64;

/// Cuts the rest of `input` at places that its first byte chooses, and compares with the uncut
/// stream.
pub fn lines(input: &[u8]) {
    let Some((step, stream)) = input.split_first() else { return };
    let whole = run([stream]);
    let cut = run(stream.chunks(usize::from(*step).max(1)));
    assert_eq!(whole, cut, "where a stream is cut must not matter");
}

/// The lines, where of those that were too long only that counts.
fn run<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Option<Vec<u8>>> {
    let mut lines = Lines::new(LIMIT);
    let mut seen = Vec::new();
    let mut see = |line| match line {
        Line::Whole(line) => {
            assert!(line.len() <= LIMIT && !line.contains(&b'\n'));
            seen.push(Some(line.to_vec()));
        }
        Line::TooLong(line) => {
            assert!(line.bytes > LIMIT as u64 && line.head.len() + line.tail.len() <= 5 * 1024);
            // Whatever it finds.
            let _ = long_line::fault(&line, LIMIT);
            seen.push(None);
        }
    };
    for piece in pieces {
        lines.feed(piece);
        while let Some(line) = lines.next_line() {
            see(line);
        }
    }
    while let Some(line) = lines.last_line() {
        see(line);
    }
    seen
}

#[cfg(test)]
mod tests {
    #[test]
    fn inputs_that_once_were_interesting_pass() {
        let long = [&b"\x05{\"id\":1,"[..], &[b'x'; 100], b"\r\n{}\r"].concat();
        let full = [&b"\x01"[..], &[b'x'; super::LIMIT], b"\r\n\r\n\n"].concat();
        for input in [&b""[..], b"\x01", b"\x02\r\n\r\r\n{}", &long, &full] {
            super::lines(input);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_input_fails(input: Vec<u8>) {
            super::lines(&input);
        }
    }
}
