//! JSON as people write it, with comments and a comma too many.

use std::borrow::Cow;

/// The text with blanks in place of comments, and of commas before the end of a list or an
/// object, so that what is left stands where it stood.
pub(super) fn without(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut blanked: Vec<(usize, usize)> = Vec::new();
    let mut comma = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        at = match (byte, next) {
            (b'/', Some(b'/')) => {
                let end = find(bytes, at, |rest| rest.starts_with(b"\n"));
                blanked.push((at, end));
                end
            }
            (b'/', Some(b'*')) => {
                let end = find(bytes, at + 2, |rest| rest.starts_with(b"*/"));
                let end = (end + 2).min(bytes.len());
                blanked.push((at, end));
                end
            }
            (b'"', _) => {
                comma = None;
                string(bytes, at)
            }
            (b',', _) => {
                comma = Some(at);
                at + 1
            }
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    blanked.push((comma, comma + 1));
                }
                at + 1
            }
            (b' ' | b'\t' | b'\n' | b'\r', _) => at + 1,
            _ => {
                comma = None;
                at + 1
            }
        };
    }
    if blanked.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut plain = bytes.to_vec();
    for (from, to) in blanked {
        for byte in plain.get_mut(from..to).into_iter().flatten() {
            // Lines are counted in errors.
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    // Whole characters were replaced: comments begin and end with ASCII.
    Cow::Owned(String::from_utf8_lossy(&plain).into_owned())
}

/// Where `found` is true first, from `at` on; the end otherwise.
fn find(bytes: &[u8], at: usize, found: impl Fn(&[u8]) -> bool) -> usize {
    (at..bytes.len()).find(|&at| bytes.get(at..).is_some_and(&found)).unwrap_or(bytes.len())
}

/// The end of the string that begins at `at`.
fn string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    loop {
        match bytes.get(at) {
            None => return at,
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_as_it_is() {
        for text in ["", r#"{"a": [1, "//", "/*", "\"//", ",]"], "b": "\\"}"#, "\"", "\"\\"] {
            assert!(matches!(without(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn comments_and_commas_become_blanks() {
        for (text, expected) in [
            ("{} // é\n", "{}      \n"),
            ("[1, /* 2,\n*/ 3]", "[1,      \n   3]"),
            ("[1, // 2\n]", "[1      \n]"),
            ("{\"a\": [1,],\n}", "{\"a\": [1 ] \n}"),
            ("[1,,2]", "[1,,2]"),
            ("/* no end", "         "),
            ("/", "/"),
        ] {
            assert_eq!(without(text), expected, "{text}");
        }
    }
}
