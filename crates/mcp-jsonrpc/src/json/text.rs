//! Escapes in JSON strings.

use memchr::memchr;

/// What a backslash and the bytes behind it stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// A character that one byte names, such as `\n`.
    Byte(u8),
    /// A character that its number names: `\u` and four digits, or a pair of those.
    Char(char),
    /// Half of a surrogate pair, which names no character.
    HalfPair,
    /// The bytes end inside of it.
    Cut,
    /// No escape.
    Unknown,
}

/// Reads the escape at the front of `bytes`; answers with its length, too.
pub(super) fn read_escape(bytes: &[u8]) -> (Escape, usize) {
    let byte = match bytes.get(1) {
        Some(b'u') => return read_number(bytes),
        Some(byte @ (b'"' | b'\\' | b'/')) => *byte,
        Some(b'b') => 0x08,
        Some(b'f') => 0x0c,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(_) => return (Escape::Unknown, 0),
        None => return (Escape::Cut, 0),
    };
    (Escape::Byte(byte), 2)
}

fn read_number(bytes: &[u8]) -> (Escape, usize) {
    let digits = bytes.get(2..).unwrap_or_default();
    let Some(unit) = hex4(digits) else {
        let cut = digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit);
        return (if cut { Escape::Cut } else { Escape::Unknown }, 0);
    };
    if let Some(char) = char::from_u32(unit) {
        return (Escape::Char(char), 6);
    }
    let low = bytes.get(6..).and_then(|rest| rest.strip_prefix(br"\u")).and_then(hex4);
    match (unit, low) {
        (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
            let char = char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            (char.map_or(Escape::HalfPair, Escape::Char), 12)
        }
        _ => (Escape::HalfPair, 6),
    }
}

fn hex4(digits: &[u8]) -> Option<u32> {
    digits.get(..4)?.iter().try_fold(0u32, |value, digit| {
        char::from(*digit).to_digit(16).map(|digit| value << 4 | digit)
    })
}

/// What stands between two quotes, with its escapes resolved. The scanner has been over it.
pub(crate) fn unescape(inside: &[u8]) -> String {
    let mut out = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = memchr(b'\\', rest) {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain);
        let (escape, len) = read_escape(tail);
        match escape {
            Escape::Byte(byte) => out.push(byte),
            Escape::Char(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            Escape::HalfPair | Escape::Cut | Escape::Unknown => {
                out.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        rest = tail.get(len.max(1)..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Whether an escape in `json` names half of a surrogate pair.
pub(crate) fn has_half_pair(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some(at) = memchr(b'\\', rest) {
        let (escape, len) = read_escape(rest.get(at..).unwrap_or_default());
        if escape == Escape::HalfPair {
            return true;
        }
        rest = rest.get(at + len.max(1)..).unwrap_or_default();
    }
    false
}

/// JSON with each half of a surrogate pair replaced by `\ufffd`, of the same length.
///
/// Programs that cut UTF-16 text anywhere write such halves. They are JSON, but no text can hold
/// them, so whoever parses a string would refuse the whole value.
pub(crate) fn repair(json: &[u8]) -> Vec<u8> {
    let mut out = json.to_vec();
    let mut at = 0;
    while let Some(found) = out.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at += found;
        let (escape, len) = read_escape(out.get(at..).unwrap_or_default());
        if escape == Escape::HalfPair
            && let Some(half) = out.get_mut(at..at + 6)
        {
            half.copy_from_slice(br"\ufffd");
        }
        at += len.max(1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved() {
        for (inside, text) in [
            ("plain", "plain"),
            (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r"\u0041\u00e9\u20AC", "Aé€"),
            (r"<\uD834\udd1e>", "<\u{1d11e}>"),
            (r"\ud834", "\u{fffd}"),
            (r"\udd1e\ud834", "\u{fffd}\u{fffd}"),
            (r"\ud834\ud834\udd1e", "\u{fffd}\u{1d11e}"),
            (r"\ud834A", "\u{fffd}A"),
            (r"\ud834\n", "\u{fffd}\n"),
        ] {
            assert_eq!(unescape(inside.as_bytes()), text, "{inside}");
        }
    }

    #[test]
    fn only_halves_are_repaired() {
        for (json, repaired) in [
            (r#""\ud834""#, r#""\ufffd""#),
            (r#""\ud834\udd1e""#, r#""\ud834\udd1e""#),
            (r#""\ud834\ud834\udd1e\udd1e""#, r#""\ufffd\ud834\udd1e\ufffd""#),
            (r#""\\ud834""#, r#""\\ud834""#),
            (r#""\\\ud834""#, r#""\\\ufffd""#),
        ] {
            assert_eq!(repair(json.as_bytes()), repaired.as_bytes(), "{json}");
            assert_eq!(has_half_pair(json.as_bytes()), json != repaired, "{json}");
        }
    }
}
