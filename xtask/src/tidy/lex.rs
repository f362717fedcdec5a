//! Just enough of Rust's lexical grammar to tell code from comments and text.

/// A source file taken apart; each part has the length and the line breaks of the original,
/// with blanks in place of what belongs to another part.
pub(crate) struct Lexed {
    /// Everything that is neither a comment nor inside of a literal.
    pub(crate) code: String,
    /// What string and character literals hold, without their quotes.
    pub(crate) text: String,
}

/// Takes a source file apart.
pub(crate) fn lex(source: &str) -> Lexed {
    let mut lexer = Lexer { rest: source, code: String::new(), text: String::new() };
    while !lexer.rest.is_empty() {
        lexer.step();
    }
    Lexed { code: lexer.code, text: lexer.text }
}

/// The part of lexed code in front of its unit tests, which by our rule end a file.
pub(crate) fn without_tests(code: &str) -> &str {
    code.find("\nmod tests").and_then(|end| code.get(..end)).unwrap_or(code)
}

/// The line of `offset` in `source`, counted from 1.
pub(crate) fn line_of(source: &str, offset: usize) -> usize {
    1 + source.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Where `word` stands in `text` on its own, and not as a part of a longer name.
pub(crate) fn find_words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|head| head.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|tail| tail.chars().next());
        let continues_left = word.starts_with(is_word) && before.is_some_and(is_word);
        let continues_right = word.ends_with(is_word) && after.is_some_and(is_word);
        !continues_left && !continues_right
    })
}

/// Whether `c` can be part of a name.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Lexer<'a> {
    rest: &'a str,
    code: String,
    text: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Code,
    Comment,
    Text,
}

impl Lexer<'_> {
    fn step(&mut self) {
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            return self.take(end, Part::Comment);
        }
        if self.rest.starts_with("/*") {
            return self.take(comment_length(self.rest), Part::Comment);
        }
        if let Some((open, text, close)) = literal(self.rest) {
            self.take(open, Part::Code);
            self.take(text, Part::Text);
            return self.take(close, Part::Code);
        }
        // A whole word at once, or `r` in `for"` would look like the start of a raw string.
        let word = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let first = self.rest.chars().next().map_or(1, char::len_utf8);
        self.take(word.max(first), Part::Code);
    }

    /// Hands the next `length` bytes to `part`, and blanks to the others.
    fn take(&mut self, length: usize, part: Part) {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        for (out, kind) in [(&mut self.code, Part::Code), (&mut self.text, Part::Text)] {
            if kind == part {
                out.push_str(taken);
            } else {
                // Blanks byte by byte, so that offsets agree in all parts.
                out.extend(taken.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            }
        }
    }
}

/// The length of the block comment that `rest` starts with; they nest.
fn comment_length(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(tail) = rest.get(at..) {
        if tail.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if tail.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            match tail.chars().next() {
                Some(c) => at += c.len_utf8(),
                None => break,
            }
        }
    }
    rest.len()
}

/// The lengths of opening quote, contents and closing quote, if `rest` starts with a literal.
fn literal(rest: &str) -> Option<(usize, usize, usize)> {
    let prefix = rest.find(|c| !matches!(c, 'b' | 'c' | 'r')).unwrap_or(rest.len());
    let (letters, tail) = rest.split_at_checked(prefix)?;
    if prefix <= 2 && letters.ends_with('r') {
        let hashes = tail.find(|c| c != '#').unwrap_or(tail.len());
        let body = tail.get(hashes..)?.strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        let end = body.find(&close).unwrap_or(body.len());
        return Some((prefix + hashes + 1, end, close.len()));
    }
    if !matches!(letters, "" | "b" | "c") {
        return None;
    }
    if let Some(body) = tail.strip_prefix('"') {
        return Some((prefix + 1, end_of_quoted(body, '"')?, 1));
    }
    let body = tail.strip_prefix('\'')?;
    // `'a'` is a character, `'a` a lifetime.
    let mut chars = body.chars();
    let is_char = match chars.next()? {
        '\\' => true,
        _ => chars.next() == Some('\''),
    };
    is_char.then(|| end_of_quoted(body, '\'').map(|end| (prefix + 1, end, 1))).flatten()
}

/// Where the closing quote is.
fn end_of_quoted(body: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at),
            _ => {}
        }
    }
    Some(body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, code: &str, text: &str) {
        let lexed = lex(source);
        assert_eq!((lexed.code.len(), lexed.text.len()), (source.len(), source.len()));
        let squeeze = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeeze(&lexed.code), code, "code of {source:?}");
        assert_eq!(squeeze(&lexed.text), text, "text of {source:?}");
    }

    #[test]
    fn comments_vanish_and_nest() {
        check("a // b \"c\nd", "a d", "");
        check("a /* b /* c */ d */ e", "a e", "");
        check("a /* never closed", "a", "");
        check("/// docs\nfn f() {}", "fn f() {}", "");
    }

    #[test]
    fn literals_keep_their_quotes_in_the_code_and_their_contents_in_the_text() {
        check(r#"f("x // y", 'z')"#, r#"f(" ", ' ')"#, "x // y z");
        check(r#"f("a\"b")"#, r#"f(" ")"#, r#"a\"b"#);
        check(r###"r#"a"b"# b"c""###, r###"r#" "# b" ""###, r#"a"b c"#);
        check("'\\'' 'é'", "' ' ' '", "\\' é");
    }

    #[test]
    fn lifetimes_and_words_that_end_in_r_are_code() {
        check("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)", "");
        check("for\"x\"", "for\" \"", "x");
        check("r#type", "r#type", "");
    }

    #[test]
    fn a_word_is_found_on_its_own_only() {
        let find = |text: &str, word: &str| find_words(text, word).collect::<Vec<_>>();
        assert_eq!(find("a(a) ab _a", "a"), [0, 2]);
        assert_eq!(find("x!(x!())", "x!"), [0, 3]);
    }

    #[test]
    fn unit_tests_are_cut_off() {
        assert_eq!(
            without_tests("fn a() {}\n#[cfg(test)]\nmod tests {}"),
            "fn a() {}\n#[cfg(test)]"
        );
        assert_eq!(line_of("a\nb\nc", 2), 2);
    }
}
