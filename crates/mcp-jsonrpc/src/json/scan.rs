use super::plain::{first_hit, plain_run};
use super::text::{Escape, read_escape};

/// Why bytes can't be walked over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanError {
    /// No JSON, at this byte.
    Syntax(usize),
    /// The bytes end inside of a value.
    Eof,
}

pub(crate) type Scan<T> = Result<T, ScanError>;

/// Walks over the bytes of one frame. Each step takes the place where it starts, and answers
/// with the place behind it.
///
/// What is noticed on the way stops nothing: what comes behind may name the request.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    max_depth: usize,
    /// No byte beyond ASCII was met so far.
    ascii: bool,
    /// A string with an escape was met.
    pub(crate) escaped: bool,
    /// Where the bytes stop being UTF-8, once a string beyond ASCII was met.
    pub(crate) not_utf8: Option<usize>,
    /// Something is nested deeper than allowed; the inside of that was skimmed, not checked.
    pub(crate) too_deep: bool,
    /// An escape names half of a surrogate pair, so no character. RFC 8259 allows that much.
    pub(crate) half_pair: bool,
}

impl<'a> Scanner<'a> {
    /// Counts more than 127 levels as 127: one bit for each in a `u128`, see `deep_value`.
    pub(crate) fn new(bytes: &'a [u8], max_depth: usize) -> Self {
        Self {
            bytes,
            max_depth: max_depth.min(127),
            ascii: true,
            escaped: false,
            not_utf8: None,
            too_deep: false,
            half_pair: false,
        }
    }

    /// Walks over whitespace; answers with the byte behind it, too.
    #[inline(always)]
    pub(crate) fn peek(&self, at: usize) -> (usize, Option<u8>) {
        match self.bytes.get(at) {
            Some(byte) if *byte > b' ' => (at, Some(*byte)),
            _ => {
                let at = self.behind_space(at);
                (at, self.bytes.get(at).copied())
            }
        }
    }

    #[inline(never)]
    fn behind_space(&self, mut at: usize) -> usize {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(at) {
            at += 1;
        }
        at
    }

    /// Walks over `expected`, and the whitespace before it.
    #[inline(always)]
    pub(crate) fn eat(&self, at: usize, expected: u8) -> Scan<usize> {
        if self.bytes.get(at) == Some(&expected) {
            return Ok(at + 1);
        }
        self.eat_behind_space(at, expected)
    }

    #[inline(never)]
    fn eat_behind_space(&self, at: usize, expected: u8) -> Scan<usize> {
        match self.peek(at) {
            (at, Some(byte)) if byte == expected => Ok(at + 1),
            (at, _) => Err(self.unexpected(at)),
        }
    }

    /// Checks that nothing but whitespace follows.
    pub(crate) fn end(&self, at: usize) -> Scan<()> {
        match self.peek(at) {
            (_, None) => Ok(()),
            (at, Some(_)) => Err(ScanError::Syntax(at)),
        }
    }

    /// What is wrong when the byte at this place is.
    #[cold]
    pub(crate) fn unexpected(&self, at: usize) -> ScanError {
        if at < self.bytes.len() { ScanError::Syntax(at) } else { ScanError::Eof }
    }

    /// Walks over the key of a member, and its colon; answers with what is between the quotes,
    /// too.
    #[inline(always)]
    pub(crate) fn key(&mut self, at: usize) -> Scan<(usize, &'a [u8])> {
        let start = self.eat(at, b'"')?;
        let end = self.string(start)?;
        let key = self.bytes.get(start..end - 1).unwrap_or_default();
        Ok((self.eat(end, b':')?, key))
    }

    #[inline(always)]
    fn skip_key(&mut self, at: usize) -> Scan<usize> {
        let start = self.eat(at, b'"')?;
        let end = self.string(start)?;
        self.eat(end, b':')
    }

    /// Walks over one value that stands `depth` levels deep; answers with its text, too.
    #[inline(always)]
    pub(crate) fn value(&mut self, at: usize, depth: usize) -> Scan<(usize, &'a [u8])> {
        let (start, next) = self.peek(at);
        let end = match next {
            Some(b'"') => self.string(start + 1)?,
            Some(b'0'..=b'9') => self.number(start)?,
            _ => self.deep_value(start, depth)?,
        };
        Ok((end, self.bytes.get(start..end).unwrap_or_default()))
    }

    /// No recursion: a frame must not choose how much stack it takes.
    #[inline(never)]
    fn deep_value(&mut self, start: usize, base: usize) -> Scan<usize> {
        let room = self.max_depth.saturating_sub(base);
        let mut at = start;
        // Bit `n` says whether the `n`th container from the inside is an object.
        let mut objects: u128 = 0;
        let mut level = 0usize;
        loop {
            // Here a value has to start.
            at = match self.bytes.get(at) {
                Some(b'"') => self.string(at + 1)?,
                Some(b'-' | b'0'..=b'9') => self.number(at)?,
                Some(b't') => self.literal(at, b"true")?,
                Some(b'f') => self.literal(at, b"false")?,
                Some(b'n') => self.literal(at, b"null")?,
                Some(b'{' | b'[') if level >= room => self.skim(at)?,
                Some(b'{') => match self.peek(at + 1) {
                    (at, Some(b'}')) => at + 1,
                    (inside, _) => {
                        objects = (objects << 1) | 1;
                        level += 1;
                        at = self.skip_key(inside)?;
                        continue;
                    }
                },
                Some(b'[') => match self.peek(at + 1) {
                    (at, Some(b']')) => at + 1,
                    (inside, _) => {
                        objects <<= 1;
                        level += 1;
                        at = inside;
                        continue;
                    }
                },
                Some(b' ' | b'\t' | b'\n' | b'\r') => {
                    at += 1;
                    continue;
                }
                _ => return Err(self.unexpected(at)),
            };
            // Here a value has ended: close what ends with it, or go on to the next one.
            while level > 0 {
                let object = objects & 1 == 1;
                match self.bytes.get(at) {
                    Some(b',') if object => {
                        at = self.skip_key(at + 1)?;
                        break;
                    }
                    Some(b',') => {
                        at += 1;
                        break;
                    }
                    Some(b'}') if object => {}
                    Some(b']') if !object => {}
                    Some(b' ' | b'\t' | b'\n' | b'\r') => {
                        at = self.behind_space(at);
                        continue;
                    }
                    _ => return Err(self.unexpected(at)),
                }
                at += 1;
                objects >>= 1;
                level -= 1;
            }
            if level == 0 {
                return Ok(at);
            }
        }
    }

    /// Walks to the end of a container without checking what is inside. The frame is refused in
    /// any case.
    #[cold]
    fn skim(&mut self, mut at: usize) -> Scan<usize> {
        self.too_deep = true;
        let mut level = 0usize;
        loop {
            match self.bytes.get(at) {
                Some(b'"') => {
                    at = self.string(at + 1)?;
                    continue;
                }
                Some(b'{' | b'[') => level += 1,
                Some(b'}' | b']') => level -= 1,
                Some(_) => {}
                None => return Err(ScanError::Eof),
            }
            at += 1;
            if level == 0 {
                return Ok(at);
            }
        }
    }

    /// Walks over a string from behind its opening quote.
    #[inline(always)]
    fn string(&mut self, start: usize) -> Scan<usize> {
        // Most strings of a message are plain, and over within a few words.
        let mut at = start;
        for _ in 0..4 {
            let Some(word) = self.bytes.get(at..).and_then(<[u8]>::first_chunk) else { break };
            if let Some(found) = first_hit::<true>(*word) {
                at += found;
                if self.bytes.get(at) == Some(&b'"') {
                    return Ok(at + 1);
                }
                break;
            }
            at += 8;
        }
        self.rest_of_string(at)
    }

    #[inline(never)]
    fn rest_of_string(&mut self, mut at: usize) -> Scan<usize> {
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            at += if self.ascii { plain_run::<true>(rest) } else { plain_run::<false>(rest) };
            match self.bytes.get(at) {
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => {
                    self.escaped = true;
                    at = match self.bytes.get(at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at + 2,
                        _ => self.numbered_escape(at)?,
                    }
                }
                Some(0x80..) => self.leave_ascii(),
                Some(_) | None => return Err(self.unexpected(at)),
            }
        }
    }

    /// From here on bytes beyond ASCII are no news, since all of them are checked at once.
    #[cold]
    fn leave_ascii(&mut self) {
        self.ascii = false;
        self.not_utf8 = std::str::from_utf8(self.bytes).err().map(|error| error.valid_up_to());
    }

    fn numbered_escape(&mut self, at: usize) -> Scan<usize> {
        let (escape, len) = read_escape(self.bytes.get(at..).unwrap_or_default());
        match escape {
            Escape::Byte(_) | Escape::Char(_) => {}
            Escape::HalfPair => self.half_pair = true,
            Escape::Cut => return Err(ScanError::Eof),
            Escape::Unknown => return Err(ScanError::Syntax(at)),
        }
        Ok(at + len)
    }

    #[inline(always)]
    fn number(&self, mut at: usize) -> Scan<usize> {
        if self.bytes.get(at) == Some(&b'-') {
            at += 1;
        }
        at = if self.bytes.get(at) == Some(&b'0') { at + 1 } else { self.digits(at)? };
        // Nearly every number is over here.
        match self.bytes.get(at) {
            Some(b'.' | b'e' | b'E') => self.rest_of_number(at),
            _ => Ok(at),
        }
    }

    #[inline(never)]
    fn rest_of_number(&self, mut at: usize) -> Scan<usize> {
        if self.bytes.get(at) == Some(&b'.') {
            at = self.digits(at + 1)?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(at) {
            at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(at) {
                at += 1;
            }
            at = self.digits(at)?;
        }
        Ok(at)
    }

    /// One digit or more.
    #[inline(always)]
    fn digits(&self, start: usize) -> Scan<usize> {
        let mut at = start;
        while let Some(b'0'..=b'9') = self.bytes.get(at) {
            at += 1;
        }
        if at > start { Ok(at) } else { Err(self.unexpected(at)) }
    }

    fn literal(&self, at: usize, literal: &[u8]) -> Scan<usize> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if rest.starts_with(literal) {
            return Ok(at + literal.len());
        }
        let same = rest.iter().zip(literal).take_while(|(a, b)| a == b).count();
        Err(self.unexpected(at + same))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::repair;

    fn scan(bytes: &[u8]) -> Scan<()> {
        let mut scanner = Scanner::new(bytes, 100);
        let (end, _) = scanner.value(0, 0)?;
        scanner.end(end)
    }

    #[test]
    fn deep_nesting_is_noticed_and_not_walked_by_recursion() {
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        let mut scanner = Scanner::new(deep.as_bytes(), 100);
        assert_eq!(scanner.value(0, 0).map(|(end, _)| end), Ok(deep.len()));
        assert!(scanner.too_deep);
        assert_eq!(scan("[".repeat(200_000).as_bytes()), Err(ScanError::Eof));
        let mixed = r#"{"a":["#.repeat(40) + "1" + &"]}".repeat(40);
        assert_eq!(scan(mixed.as_bytes()), Ok(()));
    }

    #[test]
    fn the_limit_counts_levels() {
        for (depth, base, text, too_deep) in [
            (2, 0, "[[1]]", false),
            (2, 0, "[[[]]]", true),
            (2, 1, "[1]", false),
            (2, 1, "[{}]", true),
            (0, 0, "1", false),
            (0, 0, "[]", true),
            (500, 0, &("[".repeat(127) + &"]".repeat(127)), false),
            (500, 0, &("[".repeat(128) + &"]".repeat(128)), true),
        ] {
            let mut scanner = Scanner::new(text.as_bytes(), depth);
            assert_eq!(scanner.value(0, base).map(|(end, _)| end), Ok(text.len()), "{text}");
            assert_eq!(scanner.too_deep, too_deep, "{depth} {base} {text}");
        }
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
            "\"\\udd1e\\ud834\"",
            "\"\\ud834\\ud834\\udd1e\"",
            "\\",
            "\\u12",
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
            "\u{7f}",
            "\u{feff}",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn the_scanner_agrees_with_serde_json(text in nearly_json()) {
            let scanned = scan(text.as_bytes());
            // Half a pair is JSON by its grammar. Building the value needs it to be mended.
            let repaired = repair(text.as_bytes());
            let reference = serde_json::from_slice::<serde_json::Value>(&repaired);
            prop_assert_eq!(scanned.is_ok(), reference.is_ok(), "{:?}", text);
            // `serde_json` counts digits before it looks at them.
            if let Err(error) = reference && !text.contains("\\u12") {
                prop_assert_eq!(scanned == Err(ScanError::Eof), error.is_eof(), "{:?}", text);
            }
        }

        #[test]
        fn what_serde_json_prints_is_accepted(value in prop::collection::vec(any::<(String, f64, Option<i64>)>(), 0..8)) {
            let text = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(scan(text.as_bytes()), Ok(()));
        }
    }
}
