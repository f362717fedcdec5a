//! A validating scanner: walks over JSON values without building anything.

use memchr::memchr2;

/// Why a value can't be walked over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanError {
    /// Not JSON, at this byte.
    Syntax(usize),
    /// The bytes end inside of a value.
    Eof(usize),
    /// Deeper than allowed, at this byte.
    Depth(usize),
}

type Scan<T> = Result<T, ScanError>;

/// A place in the bytes of one frame. The bytes are UTF-8: the caller has checked.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    pub(crate) at: usize,
    max_depth: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8], max_depth: usize) -> Self {
        // One bit per level in a `u128`, see `skip_value`.
        Self { bytes, at: 0, max_depth: max_depth.min(127) }
    }

    /// The next byte that isn't whitespace, not consumed.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at)? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }

    /// Consumes `expected`, whitespace before it included.
    pub(crate) fn eat(&mut self, expected: u8) -> Scan<()> {
        match self.peek() {
            Some(byte) if byte == expected => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(ScanError::Syntax(self.at)),
            None => Err(ScanError::Eof(self.at)),
        }
    }

    /// Walks over a string whose opening quote is the next byte. Answers with what is between
    /// the quotes, and whether it holds escapes.
    pub(crate) fn string(&mut self) -> Scan<(&'a [u8], bool)> {
        let start = self.at + 1;
        self.at = start;
        let mut escaped = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(found) = memchr2(b'"', b'\\', rest) else {
                self.at = self.bytes.len();
                return Err(ScanError::Eof(self.at));
            };
            let (clean, tail) = rest.split_at(found);
            if has_control(clean) {
                return Err(ScanError::Syntax(self.at));
            }
            self.at += found;
            if tail.first() == Some(&b'"') {
                let inside = self.bytes.get(start..self.at).unwrap_or_default();
                self.at += 1;
                return Ok((inside, escaped));
            }
            escaped = true;
            self.at += match tail.get(1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                Some(b'u') => self.unicode_escape(tail)?,
                Some(_) => return Err(ScanError::Syntax(self.at)),
                None => return Err(ScanError::Eof(self.bytes.len())),
            };
        }
    }

    /// The length of `\uXXXX`, or of a pair of them. A lone surrogate names no character.
    fn unicode_escape(&self, tail: &[u8]) -> Scan<usize> {
        match hex4(tail.get(2..6)) {
            None if tail.len() < 6 => Err(ScanError::Eof(self.bytes.len())),
            None | Some(0xDC00..=0xDFFF) => Err(ScanError::Syntax(self.at)),
            Some(0xD800..=0xDBFF) => match (tail.get(6..8), hex4(tail.get(8..12))) {
                (Some(br"\u"), Some(0xDC00..=0xDFFF)) => Ok(12),
                _ => Err(ScanError::Syntax(self.at)),
            },
            Some(_) => Ok(6),
        }
    }

    fn number(&mut self) -> Scan<()> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            Some(_) => return Err(ScanError::Syntax(self.at)),
            None => return Err(ScanError::Eof(self.at)),
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Scan<()> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            _ if self.at > start => Ok(()),
            Some(_) => Err(ScanError::Syntax(self.at)),
            None => Err(ScanError::Eof(self.at)),
        }
    }

    fn literal(&mut self, literal: &[u8]) -> Scan<()> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.starts_with(literal) {
            self.at += literal.len();
            Ok(())
        } else if literal.starts_with(rest) {
            Err(ScanError::Eof(self.bytes.len()))
        } else {
            Err(ScanError::Syntax(self.at))
        }
    }

    /// Walks over one value that stands `depth` levels deep; answers with its text.
    pub(crate) fn value(&mut self, depth: usize) -> Scan<&'a [u8]> {
        self.peek();
        let start = self.at;
        self.skip_value(depth)?;
        Ok(self.bytes.get(start..self.at).unwrap_or_default())
    }

    /// No recursion: a frame must not choose how much stack it takes.
    fn skip_value(&mut self, base: usize) -> Scan<()> {
        // Bit `n` says whether the container at level `n` is an object.
        let mut objects: u128 = 0;
        let mut level = 0usize;
        loop {
            // Here a value has to start.
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                Some(b'n') => self.literal(b"null")?,
                Some(open @ (b'{' | b'[')) => {
                    if base + level >= self.max_depth {
                        return Err(ScanError::Depth(self.at));
                    }
                    self.at += 1;
                    let close = if open == b'{' { b'}' } else { b']' };
                    if self.peek() == Some(close) {
                        self.at += 1;
                    } else {
                        objects = (objects << 1) | u128::from(open == b'{');
                        level += 1;
                        if open == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                Some(_) => return Err(ScanError::Syntax(self.at)),
                None => return Err(ScanError::Eof(self.at)),
            }
            // Here a value has ended: close what ends with it, or go on to the next one.
            loop {
                if level == 0 {
                    return Ok(());
                }
                let object = objects & 1 == 1;
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if object {
                            self.key()?;
                        }
                        break;
                    }
                    Some(b'}') if object => self.at += 1,
                    Some(b']') if !object => self.at += 1,
                    Some(_) => return Err(ScanError::Syntax(self.at)),
                    None => return Err(ScanError::Eof(self.at)),
                }
                objects >>= 1;
                level -= 1;
            }
        }
    }

    /// Walks over the key of a member, and its colon.
    pub(crate) fn key(&mut self) -> Scan<(&'a [u8], bool)> {
        match self.peek() {
            Some(b'"') => {}
            Some(_) => return Err(ScanError::Syntax(self.at)),
            None => return Err(ScanError::Eof(self.at)),
        }
        let key = self.string()?;
        self.eat(b':')?;
        Ok(key)
    }
}

/// In blocks, so that the compiler compares many bytes at once.
fn has_control(bytes: &[u8]) -> bool {
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        if block.iter().fold(false, |found, byte| found | (*byte < 0x20)) {
            return true;
        }
    }
    blocks.remainder().iter().any(|byte| *byte < 0x20)
}

fn hex4(digits: Option<&[u8]>) -> Option<u32> {
    digits?.iter().try_fold(0u32, |value, digit| {
        char::from(*digit).to_digit(16).map(|digit| value << 4 | digit)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scan(bytes: &[u8]) -> Scan<()> {
        let mut scanner = Scanner::new(bytes, 100);
        scanner.value(0)?;
        match scanner.peek() {
            None => Ok(()),
            Some(_) => Err(ScanError::Syntax(scanner.at)),
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_not_walked_by_recursion() {
        let deep = "[".repeat(200_000);
        assert_eq!(scan(deep.as_bytes()), Err(ScanError::Depth(100)));
        let mixed = r#"{"a":["#.repeat(40) + "1" + &"]}".repeat(40);
        assert_eq!(scan(mixed.as_bytes()), Ok(()));
    }

    /// Texts close to JSON, so that both sides of each rule are met.
    fn nearly_json() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\"a\"",
            "\"\\u00e9\"",
            "\"\\ud834\\udd1e\"",
            "\"\\ud834\"",
            "\\",
            "1",
            "-",
            "0",
            "01",
            "1.5",
            "1.",
            "e3",
            "1E+2",
            "true",
            "fals",
            "null",
            " ",
            "\n",
            "\"\t\"",
            "é",
            "\u{0}",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn the_scanner_agrees_with_serde_json(text in nearly_json()) {
            // `IgnoredAny` doesn't look at surrogates; building the value does.
            let reference = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            prop_assert_eq!(scan(text.as_bytes()).is_ok(), reference, "{:?}", text);
        }

        #[test]
        fn the_scanner_accepts_what_serde_json_prints(value in any::<Vec<(String, f64, Option<i64>)>>()) {
            let finite: Vec<_> = value.into_iter().filter(|v| v.1.is_finite()).collect();
            let text = serde_json::to_string_pretty(&finite).unwrap();
            prop_assert_eq!(scan(text.as_bytes()), Ok(()));
        }
    }
}
