use hyper::header::HeaderValue;

use crate::ScopeSet;

/// Writes one challenge of a server.
///
/// Values are always quoted; what would break out of the quotes is escaped, and what is no
/// printable ASCII is replaced, so there can be no line end in it.
#[derive(Clone, Debug)]
pub struct ChallengeWriter {
    text: String,
    any: bool,
}

impl ChallengeWriter {
    /// Begins a challenge with scheme `Bearer`.
    #[must_use]
    pub fn bearer() -> Self {
        Self { text: "Bearer".to_owned(), any: false }
    }

    /// Begins a challenge with scheme `DPoP`.
    #[must_use]
    pub fn dpop() -> Self {
        Self { text: "DPoP".to_owned(), any: false }
    }

    /// Adds a parameter. `name` is one of a protocol's, so a token.
    #[must_use]
    pub fn param(mut self, name: &'static str, value: &str) -> Self {
        self.text.push_str(if self.any { ", " } else { " " });
        self.any = true;
        self.text.push_str(name);
        self.text.push_str("=\"");
        for c in value.chars() {
            match c {
                '"' | '\\' => self.text.extend(['\\', c]),
                ' '..='~' => self.text.push(c),
                _ => self.text.push('?'),
            }
        }
        self.text.push('"');
        self
    }

    /// Adds the scopes, unless there are none.
    #[must_use]
    pub fn scopes(self, scopes: &ScopeSet) -> Self {
        if scopes.is_empty() { self } else { self.param("scope", &scopes.to_string()) }
    }

    /// The field's value.
    #[must_use]
    pub fn finish(self) -> HeaderValue {
        // Only printable ASCII gets in, so this can't fail; a bare challenge is right anyhow.
        HeaderValue::try_from(self.text).unwrap_or(HeaderValue::from_static("Bearer"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::challenge::Challenges;

    // Shows: RS-WA-1
    #[test]
    fn a_value_can_not_break_out_of_its_quotes() {
        let value = ChallengeWriter::bearer().param("realm", "a\"b\\c\r\nx: ü").finish();
        assert_eq!(value, "Bearer realm=\"a\\\"b\\\\c??x: ?\"");
    }

    proptest::proptest! {
        // Shows: RS-WA-2
        #[test]
        fn the_parser_reads_back_what_the_writer_wrote(a in "[ -~]{1,40}", b in "[ -~]{1,40}") {
            let line = ChallengeWriter::dpop().param("error", &a).param("realm", &b).finish();
            let read = Challenges::of_lines([line.as_bytes()]);
            let challenge = read.iter().next().unwrap();
            proptest::prop_assert!(challenge.is("dpop"));
            proptest::prop_assert_eq!(challenge.param("error"), Some(&*a));
            proptest::prop_assert_eq!(challenge.param("realm"), Some(&*b));
        }
    }
}
