use serde::Serialize;

use super::plain::plain_run;
use super::serializer::Json;

/// The JSON of `value`, byte for byte as `serde_json::to_vec` writes it, but with long texts
/// copied instead of looked at byte by byte.
///
/// # Errors
///
/// As `serde_json`: when a map has a key that is no text, or `value` refuses.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = Vec::with_capacity(128);
    write_json(&mut out, value)?;
    Ok(out)
}

/// Appends the JSON of `value`, as [`to_vec`] writes it.
///
/// # Errors
///
/// As [`to_vec`]; then nothing was appended.
pub fn write_json<T: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    value: &T,
) -> Result<(), serde_json::Error> {
    let start = out.len();
    let written = value.serialize(Json(out));
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Appends `text` as a JSON string.
#[inline]
pub(crate) fn write_str(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    write_escaped(out, text);
    out.push(b'"');
}

/// Appends `text` with its escapes, without the quotes.
#[inline]
pub(super) fn write_escaped(out: &mut Vec<u8>, text: &str) {
    let text = text.as_bytes();
    let plain = plain_run::<false>(text);
    if plain == text.len() {
        out.extend_from_slice(text);
    } else {
        write_rest(out, text, plain);
    }
}

/// The same, once the first run was found.
#[inline(never)]
fn write_rest(out: &mut Vec<u8>, text: &[u8], plain: usize) {
    let (mut run, mut rest) = text.split_at(plain);
    loop {
        out.extend_from_slice(run);
        let Some((byte, behind)) = rest.split_first() else { return };
        write_escape(out, *byte);
        (run, rest) = behind.split_at(plain_run::<false>(behind));
    }
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            let hex = |digit: u8| if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
            return out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                hex(byte >> 4),
                hex(byte & 15),
            ]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Appends the digits of `n`, without the formatting machinery: every message has an id.
pub(crate) fn write_int(out: &mut Vec<u8>, n: i64) {
    if n < 0 {
        out.push(b'-');
    }
    write_uint(out, n.unsigned_abs());
}

/// Appends the digits of `n`.
pub(super) fn write_uint(out: &mut Vec<u8>, n: u64) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    let mut rest = n;
    for (at, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + (rest % 10).to_le_bytes()[0];
        rest /= 10;
        start = at;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(start..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_character_below_256_is_escaped_as_serde_json_does() {
        for char in (0..=255u8).map(char::from) {
            // Where a block, a word and the rest meet it.
            for before in [0, 3, 9, 40, 100, 130] {
                let text = "x".repeat(before) + &char.to_string() + "y";
                assert_eq!(to_vec(&text).unwrap(), serde_json::to_vec(&text).unwrap(), "{text}");
            }
        }
    }

    #[test]
    fn integers_have_their_digits() {
        for n in [0, 1, 9, 10, -1, 99, 100, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            write_int(&mut out, n);
            assert_eq!(String::from_utf8(out).unwrap(), n.to_string());
        }
        let mut out = Vec::new();
        write_uint(&mut out, u64::MAX);
        assert_eq!(String::from_utf8(out).unwrap(), u64::MAX.to_string());
    }

    #[test]
    fn nothing_is_left_of_what_can_not_be_written() {
        let mut out = b"before".to_vec();
        let keys = std::collections::BTreeMap::from([([1u8], 2u8)]);
        assert!(write_json(&mut out, &("a", keys)).is_err());
        assert_eq!(out, b"before");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn texts_are_written_as_serde_json_writes_them(text in "(?s)[a-z\"\\\\\n\u{0}-\u{20}é\u{2028}😀]{0,200}") {
            prop_assert_eq!(to_vec(&text).unwrap(), serde_json::to_vec(&text).unwrap());
        }
    }
}
