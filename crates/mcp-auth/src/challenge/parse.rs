use hyper::HeaderMap;
use hyper::header::WWW_AUTHENTICATE;

/// How much challenge text is read, in bytes over all fields.
const MAX_TEXT: usize = 16 * 1024;
/// How many challenges are read.
const MAX_CHALLENGES: usize = 16;
/// How many parameters of one challenge are read.
const MAX_PARAMS: usize = 32;

/// What a server asks for in its `WWW-Authenticate` fields
/// ([RFC 9110, section 11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1)).
///
/// All fields are read, each as a list. What can't be read loses only itself. At most 16 KiB,
/// 16 challenges and 32 parameters of each are read; what exceeds that is as if absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenges(Vec<Challenge>);

impl Challenges {
    /// Reads the challenges of an answer.
    #[must_use]
    pub fn read(headers: &HeaderMap) -> Self {
        Self::of_lines(headers.get_all(WWW_AUTHENTICATE).iter().map(|value| value.as_bytes()))
    }

    /// Reads field lines.
    pub(crate) fn of_lines<'l>(lines: impl IntoIterator<Item = &'l [u8]>) -> Self {
        let mut challenges = Vec::new();
        let mut left = MAX_TEXT;
        for line in lines {
            let Some(rest) = left.checked_sub(line.len()) else { break };
            left = rest;
            Parser { text: &String::from_utf8_lossy(line), challenges: &mut challenges }.list();
        }
        Self(challenges)
    }

    /// The challenges, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Challenge> {
        self.0.iter()
    }
}

/// One challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    scheme: String,
    token: Option<String>,
    /// Names in lower case. `None` for a name that came with several values.
    params: Vec<(String, Option<String>)>,
}

impl Challenge {
    /// The scheme, as it was written.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Whether this is the scheme `name`, whatever its case.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(name)
    }

    /// The token that stands in place of parameters, if one does.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The value of parameter `name`, in lower case; none if it came with several.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.as_deref())
    }
}

/// Reads one field line.
///
/// A comma separates parameters *and* challenges: after one, a token followed by `=` belongs
/// to the challenge at hand, any other token begins a new one.
struct Parser<'t, 'c> {
    text: &'t str,
    challenges: &'c mut Vec<Challenge>,
}

impl<'t> Parser<'t, '_> {
    fn list(&mut self) {
        // A field line that begins with a parameter belongs to nothing.
        let mut current: Option<Challenge> = None;
        loop {
            self.skip(|c| c == ',' || is_blank(c));
            if self.text.is_empty() {
                break;
            }
            let name = self.take(is_token);
            if name.is_empty() {
                self.recover();
                continue;
            }
            let after_name = self.text;
            self.skip(is_blank);
            if self.eat('=') {
                self.skip(is_blank);
                let value = self.value();
                match (&mut current, value) {
                    (Some(challenge), Some(value)) => challenge.add(name, value),
                    // The value is broken, or nobody's.
                    (_, None) => self.recover(),
                    (None, Some(_)) => {}
                }
                continue;
            }
            self.text = after_name;
            self.finish(current.take());
            current = Some(self.challenge(name));
        }
        self.finish(current);
    }

    /// Reads what follows a scheme, up to its first comma.
    fn challenge(&mut self, scheme: &str) -> Challenge {
        let mut challenge =
            Challenge { scheme: scheme.to_owned(), token: None, params: Vec::new() };
        self.skip(is_blank);
        let start = self.text;
        // Parameters and a token look alike up to what follows their first `=`.
        let token = self.take(is_token68);
        let padding = self.take(|c| c == '=');
        self.skip(is_blank);
        if !token.is_empty() && (self.text.is_empty() || self.text.starts_with(',')) {
            challenge.token = Some(format!("{token}{padding}"));
        } else {
            self.text = start;
        }
        challenge
    }

    /// A quoted string, or text up to the next comma or blank: some servers send URLs bare.
    fn value(&mut self) -> Option<String> {
        if !self.eat('"') {
            return Some(self.take(|c| c != ',' && !is_blank(c)).to_owned());
        }
        let mut value = String::new();
        let mut chars = self.text.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.text = self.text.get(at + 1..).unwrap_or_default();
                    return Some(value);
                }
                '\\' => value.push(chars.next()?.1),
                _ => value.push(c),
            }
        }
        // The quote was never closed: nothing behind it can be trusted.
        self.text = "";
        None
    }

    fn finish(&mut self, challenge: Option<Challenge>) {
        if let Some(challenge) = challenge
            && self.challenges.len() < MAX_CHALLENGES
        {
            self.challenges.push(challenge);
        }
    }

    /// Skips to the next comma outside of quotes.
    fn recover(&mut self) {
        let (mut quoted, mut escaped) = (false, false);
        let end = self.text.char_indices().find(|&(_, c)| {
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                _ => {}
            }
            c == ',' && !quoted
        });
        self.text = end.and_then(|(at, _)| self.text.get(at..)).unwrap_or_default();
    }

    fn skip(&mut self, what: impl Fn(char) -> bool) {
        self.text = self.text.trim_start_matches(what);
    }

    fn take(&mut self, what: impl Fn(char) -> bool) -> &'t str {
        let end = self.text.find(|c| !what(c)).unwrap_or(self.text.len());
        let (taken, rest) = self.text.split_at(end);
        self.text = rest;
        taken
    }

    fn eat(&mut self, c: char) -> bool {
        let rest = self.text.strip_prefix(c);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }
}

impl Challenge {
    fn add(&mut self, name: &str, value: String) {
        let name = name.to_ascii_lowercase();
        if let Some((_, known)) = self.params.iter_mut().find(|(known, _)| *known == name) {
            if known.as_deref() != Some(&value) {
                *known = None;
            }
        } else if self.params.len() < MAX_PARAMS {
            self.params.push((name, Some(value)));
        }
    }
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

fn is_token68(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~+/".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints what was read: scheme, token, parameters.
    fn check(lines: &[&str], expected: &[&str]) {
        let read = Challenges::of_lines(lines.iter().map(|line| line.as_bytes()));
        let printed: Vec<String> = read
            .iter()
            .map(|challenge| {
                let mut text = challenge.scheme.clone();
                if let Some(token) = &challenge.token {
                    text += &format!(" <{token}>");
                }
                for (name, value) in &challenge.params {
                    text += &match value {
                        Some(value) => format!(" {name}=[{value}]"),
                        None => format!(" {name}=?"),
                    };
                }
                text
            })
            .collect();
        assert_eq!(printed, expected);
    }

    // Shows: CL-CH-1, AUTH-CLIENT-016
    #[test]
    fn several_challenges_come_in_one_field_or_in_several() {
        check(
            &[
                "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
                "bearer scope=\"a b\"",
            ],
            &[
                "Newauth realm=[apps] type=[1] title=[Login to \"apps\"]",
                "Basic realm=[simple]",
                "bearer scope=[a b]",
            ],
        );
    }

    // Shows: CL-CH-1
    #[test]
    fn a_challenge_may_have_nothing_or_one_token() {
        check(
            &["Negotiate, Bearer, Negotiate YII+/a==, DPoP algs=\"ES256\""],
            &["Negotiate", "Bearer", "Negotiate <YII+/a==>", "DPoP algs=[ES256]"],
        );
    }

    // Shows: CL-CH-2
    #[test]
    fn commas_and_scheme_names_inside_quotes_are_text() {
        check(
            &["Bearer error_description=\"no, Basic realm=x, really\", error=\"invalid_token\""],
            &["Bearer error_description=[no, Basic realm=x, really] error=[invalid_token]"],
        );
    }

    // Shows: CL-CH-2
    #[test]
    fn blanks_around_the_equals_sign_and_empty_elements_are_tolerated() {
        check(&[" , ,Bearer  Realm = \"x\" ,, scope\t=\ta , "], &["Bearer realm=[x] scope=[a]"]);
    }

    // Shows: CL-CH-2
    #[test]
    fn a_url_without_quotes_is_read_to_the_next_comma_or_blank() {
        check(
            &["Bearer resource_metadata=https://h.example/.well-known/x?a=b, scope=\"s\""],
            &["Bearer resource_metadata=[https://h.example/.well-known/x?a=b] scope=[s]"],
        );
    }

    // Shows: CL-CH-2
    #[test]
    fn a_missing_comma_between_parameters_is_forgiven() {
        check(&["Bearer error=\"e\" scope=\"s\""], &["Bearer error=[e] scope=[s]"]);
    }

    // Shows: CL-CH-3
    #[test]
    fn what_is_broken_loses_only_itself() {
        check(
            &["Bearer scope=\"s\", @@@, error=\"e\", Basic realm=\"open", "DPoP"],
            &["Bearer scope=[s] error=[e]", "Basic", "DPoP"],
        );
        check(&["scope=\"nobody's\", Bearer scope=\"s\""], &["Bearer scope=[s]"]);
        check(&["", "=", "\"", "\u{fffd}"], &[]);
    }

    // Shows: CL-CH-4
    #[test]
    fn a_parameter_with_two_values_counts_as_absent() {
        check(
            &["Bearer scope=a, scope=b, error=e, ERROR=\"e\", Bearer scope=c"],
            &["Bearer scope=? error=[e]", "Bearer scope=[c]"],
        );
    }

    // Shows: CL-CH-7
    #[test]
    fn what_exceeds_the_limits_is_as_if_absent() {
        let many = vec!["Bearer scope=\"s\""; 40];
        assert_eq!(Challenges::of_lines(many.iter().map(|l| l.as_bytes())).0.len(), MAX_CHALLENGES);
        let long = format!("Bearer scope=\"{}\"", "s".repeat(MAX_TEXT));
        assert_eq!(Challenges::of_lines([long.as_bytes()]), Challenges::default());
        let wide: String = (0..100).map(|n| format!(", p{n}=v")).collect();
        let wide = Challenges::of_lines([format!("Bearer x=y{wide}").as_bytes()]);
        assert_eq!(wide.0[0].params.len(), MAX_PARAMS);
    }

    proptest::proptest! {
        // Shows: CL-CH-3
        #[test]
        fn whatever_comes_is_read_and_ends(line in "[ -~\\t]{0,120}") {
            let read = Challenges::of_lines([line.as_bytes()]);
            proptest::prop_assert!(read.0.len() <= line.len());
        }

        #[test]
        fn a_broken_field_does_not_touch_its_neighbor(line in "[ -~]{0,60}") {
            let read = Challenges::of_lines([line.as_bytes(), b"Bearer scope=\"s\"".as_slice()]);
            let last = read.0.last().map(|c| c.param("scope") == Some("s"));
            proptest::prop_assert!(last == Some(true) || read.0.len() == MAX_CHALLENGES);
        }
    }
}
