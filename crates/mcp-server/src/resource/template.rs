use std::collections::BTreeMap;

/// The values of a template's variables, decoded, by name.
///
/// A value comes from a client: `..%2F..` is decoded to `../..`. Don't make paths of values;
/// see `resource::Files` for how files are served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of a variable, parsed.
    #[must_use]
    pub fn parse<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// A URI template of [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570), levels 1 to 3, that is
/// matched against URIs.
///
/// The RFC defines how a template expands, not how a URI is taken apart. Here a URI matches
/// when some values expand to it; where several do, a variable takes as much as it can from the
/// left. `{x}` never matches across a `/`, `?` or `#`; `{+x}` and `{#x}` do. Form-style queries
/// (`{?a,b}`) match in any order, and each variable may be absent. The prefix and explode
/// modifiers of level 4 are refused.
///
/// Matching takes time linear in the URI for each variable, whatever the URI is.
#[derive(Clone, Debug)]
pub struct UriPattern {
    parts: Vec<Part>,
    names: Vec<String>,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(String),
    /// `{a,b}` and its like: a prefix, then values between separators.
    Values {
        prefix: &'static str,
        separator: &'static str,
        reserved: bool,
        names: Vec<String>,
    },
    /// `{?a,b}`, `{&a,b}`, `{;a,b}`: named values.
    Named {
        prefix: char,
        separator: char,
        names: Vec<String>,
    },
}

/// A text that is no template, or one that can't be matched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTemplate {
    /// A `{` without its `}`, or the other way round.
    #[error("the braces of the template are not balanced")]
    Braces,
    /// An expression without a variable, or with a name that isn't one.
    #[error("`{name}` is not the name of a variable")]
    Name {
        /// What stands there.
        name: String,
    },
    /// A prefix or explode modifier, which belong to level 4.
    #[error("`{name}` has a modifier, which can't be matched")]
    Modifier {
        /// What stands there.
        name: String,
    },
    /// An operator that is reserved for extensions.
    #[error("`{operator}` is not an operator")]
    Operator {
        /// What stands there.
        operator: char,
    },
    /// A variable that occurs twice.
    #[error("`{name}` occurs twice")]
    Twice {
        /// Its name.
        name: String,
    },
    /// A template with more than 32 expressions, or longer than 2,048 bytes.
    #[error("the template is too long")]
    TooLong,
}

impl UriPattern {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// [`InvalidTemplate`] says what is wrong with it.
    pub fn parse(template: &str) -> Result<Self, InvalidTemplate> {
        if template.len() > 2048 {
            return Err(InvalidTemplate::TooLong);
        }
        let mut parts = Vec::new();
        let mut names = Vec::new();
        let mut rest = template;
        while !rest.is_empty() {
            let Some(open) = rest.find('{') else {
                parts.push(literal(rest)?);
                break;
            };
            let (before, from) = rest.split_at(open);
            if !before.is_empty() {
                parts.push(literal(before)?);
            }
            let close = from.find('}').ok_or(InvalidTemplate::Braces)?;
            let expression = from.get(1..close).unwrap_or_default();
            let part = expression_part(expression)?;
            if let Part::Values { names: new, .. } | Part::Named { names: new, .. } = &part {
                for name in new {
                    if names.contains(name) {
                        return Err(InvalidTemplate::Twice { name: name.clone() });
                    }
                    names.push(name.clone());
                }
            }
            parts.push(part);
            rest = from.get(close + 1..).unwrap_or_default();
        }
        if names.len() > 32 {
            return Err(InvalidTemplate::TooLong);
        }
        Ok(Self { parts, names })
    }

    /// The names of the variables, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values for which the template expands to `uri`, or none when there are none.
    #[must_use]
    pub fn matches(&self, uri: &str) -> Option<Variables> {
        let mut variables = BTreeMap::new();
        let mut budget = 64 * (uri.len() + 16);
        match_parts(&self.parts, uri, &mut variables, &mut budget).then_some(Variables(variables))
    }
}

fn literal(text: &str) -> Result<Part, InvalidTemplate> {
    if text.contains('}') {
        return Err(InvalidTemplate::Braces);
    }
    Ok(Part::Literal(text.to_owned()))
}

fn expression_part(expression: &str) -> Result<Part, InvalidTemplate> {
    let operator = expression.chars().next().filter(|c| "+#./;?&=,!@|".contains(*c));
    let list =
        operator.map_or(expression, |op| expression.get(op.len_utf8()..).unwrap_or_default());
    let names = list.split(',').map(variable).collect::<Result<Vec<_>, _>>()?;
    let values =
        |prefix, separator, reserved, names| Part::Values { prefix, separator, reserved, names };
    Ok(match operator {
        None => values("", ",", false, names),
        Some('+') => values("", ",", true, names),
        Some('#') => values("#", ",", true, names),
        Some('.') => values(".", ".", false, names),
        Some('/') => values("/", "/", false, names),
        Some(';') => Part::Named { prefix: ';', separator: ';', names },
        Some('?') => Part::Named { prefix: '?', separator: '&', names },
        Some('&') => Part::Named { prefix: '&', separator: '&', names },
        Some(operator) => return Err(InvalidTemplate::Operator { operator }),
    })
}

fn variable(name: &str) -> Result<String, InvalidTemplate> {
    let name = name.trim();
    if name.ends_with('*') || name.contains(':') {
        return Err(InvalidTemplate::Modifier { name: name.to_owned() });
    }
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%');
    if name.is_empty() || !name.chars().all(legal) {
        return Err(InvalidTemplate::Name { name: name.to_owned() });
    }
    Ok(name.to_owned())
}

fn match_parts(
    parts: &[Part],
    uri: &str,
    variables: &mut BTreeMap<String, String>,
    budget: &mut usize,
) -> bool {
    let Some((first, rest)) = parts.split_first() else { return uri.is_empty() };
    match first {
        Part::Literal(text) => {
            strip_literal(text, uri).is_some_and(|uri| match_parts(rest, uri, variables, budget))
        }
        Part::Values { prefix, separator, reserved, names } => {
            let Some(uri) = uri.strip_prefix(prefix) else { return false };
            match_values(names, separator, *reserved, rest, uri, variables, budget)
        }
        Part::Named { prefix, separator, names } => {
            let Some(query) = uri.strip_prefix(*prefix) else {
                // All of its variables may be absent.
                return match_parts(rest, uri, variables, budget);
            };
            let end = query.find(['#', '/']).unwrap_or(query.len());
            let (query, uri) = query.split_at(end);
            for pair in query.split(*separator).filter(|pair| !pair.is_empty()) {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                let (Some(name), Some(value)) = (names.iter().find(|n| *n == name), decode(value))
                else {
                    return false;
                };
                if variables.insert(name.clone(), value).is_some() {
                    return false;
                }
            }
            match_parts(rest, uri, variables, budget)
        }
    }
}

/// What of `uri` is behind `text`. A character and its percent-encoding are the same, unless
/// it is one that delimits parts of a URI.
fn strip_literal<'a>(text: &str, uri: &'a str) -> Option<&'a str> {
    if let Some(rest) = uri.strip_prefix(text) {
        return Some(rest);
    }
    let (mut left, mut right) = (text.as_bytes(), uri.as_bytes());
    while !left.is_empty() {
        let (expected, found) = (unit(&mut left)?, unit(&mut right)?);
        let same = expected.byte == found.byte
            && (expected.encoded == found.encoded || !is_delimiter(expected.byte));
        if !same {
            return None;
        }
    }
    uri.get(uri.len() - right.len()..)
}

struct Unit {
    byte: u8,
    encoded: bool,
}

/// The first byte of `text`, decoded, which is taken from it.
fn unit(text: &mut &[u8]) -> Option<Unit> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    if let [b'%', high, low, rest @ ..] = *text
        && let (Some(high), Some(low)) = (digit(*high), digit(*low))
    {
        *text = rest;
        return Some(Unit { byte: high * 16 + low, encoded: true });
    }
    let (first, rest) = text.split_first()?;
    *text = rest;
    Some(Unit { byte: *first, encoded: false })
}

/// The reserved characters of RFC 3986, and the percent sign.
fn is_delimiter(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=%".contains(&byte)
}

/// Gives the first of `names` the longest value with which the rest still matches.
fn match_values(
    names: &[String],
    separator: &str,
    reserved: bool,
    rest: &[Part],
    uri: &str,
    variables: &mut BTreeMap<String, String>,
    budget: &mut usize,
) -> bool {
    let Some((name, more)) = names.split_first() else {
        return match_parts(rest, uri, variables, budget);
    };
    let stop = |c: char| {
        !reserved && (matches!(c, '/' | '?' | '#') || separator.starts_with(c) && !more.is_empty())
    };
    let longest = uri.find(stop).unwrap_or(uri.len());
    let mut end = longest;
    loop {
        // Every try is paid for: a URI that nearly matches must not cost more than one that does.
        match budget.checked_sub(1) {
            Some(left) => *budget = left,
            None => return false,
        }
        let (value, after) = uri.split_at(end);
        // An empty value would make `/users/{id}` match `/users/`.
        if value.is_empty() {
            return false;
        }
        let after = if more.is_empty() { Some(after) } else { after.strip_prefix(separator) };
        if let (Some(after), Some(value)) = (after, decode(value)) {
            variables.insert(name.clone(), value);
            if match_values(more, separator, reserved, rest, after, variables, budget) {
                return true;
            }
            variables.remove(name);
        }
        end = value.char_indices().next_back().map_or(0, |(at, _)| at);
    }
}

/// Resolves percent-encoding; none when it is broken, or hides bytes that are no UTF-8.
pub(crate) fn decode(value: &str) -> Option<String> {
    if !value.contains('%') {
        return Some(value.to_owned());
    }
    let mut out = Vec::with_capacity(value.len());
    let mut bytes = value.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let (high, low) = (bytes.next()?, bytes.next()?);
            let digit = |byte: u8| char::from(byte).to_digit(16);
            out.push(u8::try_from(digit(high)? * 16 + digit(low)?).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, uri: &str, expected: Option<&[(&str, &str)]>) {
        let variables = UriPattern::parse(template).unwrap().matches(uri);
        let found = variables.as_ref().map(|variables| variables.iter().collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{template} against {uri}");
    }

    #[test]
    fn values_are_found_and_decoded() {
        check("test://template/{id}/data", "test://template/123/data", Some(&[("id", "123")]));
        check("test://template/{id}/data", "test://template/1%2F2/data", Some(&[("id", "1/2")]));
        check("a://{x}/{y}", "a://1/2", Some(&[("x", "1"), ("y", "2")]));
        check("a://{x,y}", "a://1,2", Some(&[("x", "1"), ("y", "2")]));
        check("a://{x}.{y}", "a://1.2.3", Some(&[("x", "1.2"), ("y", "3")]));
        check("file:///{+path}", "file:///a/b.txt", Some(&[("path", "a/b.txt")]));
        check("a://x{#part}", "a://x#s/1", Some(&[("part", "s/1")]));
        check("a://x{/p,q}", "a://x/1/2", Some(&[("p", "1"), ("q", "2")]));
        check("a://x{.ext}", "a://x.md", Some(&[("ext", "md")]));
        check("a://x{;k}", "a://x;k=1", Some(&[("k", "1")]));
        check("a://x{?q,lang}", "a://x?lang=de&q=%C3%A4", Some(&[("lang", "de"), ("q", "ä")]));
        check("a://x{?q}", "a://x", Some(&[]));
        check("a://x?f=1{&q}", "a://x?f=1&q=2", Some(&[("q", "2")]));
    }

    // Shows: FC-042
    #[test]
    fn a_character_and_its_encoding_are_the_same_but_for_delimiters() {
        let cafe = Some(&[("x", "1")][..]);
        check("file:///café/{x}", "file:///caf%C3%A9/1", cafe);
        check("file:///caf%c3%a9/{x}", "file:///café/1", cafe);
        check("file:///caf%C3%A9/{x}", "file:///caf%c3%a9/1", cafe);
        check("file:///a/{x}", "file:///%61/1", cafe);
        check("file:///a/{x}", "file:%2F%2F/a/1", None);
        check("file:///a%2Fb/{x}", "file:///a/b/1", None);
        check("file:///café/{x}", "file:///caf%C3/1", None);
        check("https://h.example/{x}", "https://H.example/1", None);
    }

    #[test]
    fn what_does_not_fit_does_not_match() {
        for (template, uri) in [
            ("a://{x}", "a://"),
            ("a://{x}", "a://1/2"),
            ("a://{x}", "b://1"),
            ("a://{x}/y", "a://1/yy"),
            ("a://{x}", "a://%zz"),
            ("a://{x}", "a://%ff"),
            ("a://{x}", "a://%e"),
            ("a://x{?q}", "a://x?other=1"),
            ("a://x{?q}", "a://x?q=1&q=2"),
        ] {
            check(template, uri, None);
        }
    }

    #[test]
    fn what_is_no_template_is_refused_with_the_reason() {
        let reason = |template: &str| UriPattern::parse(template).unwrap_err();
        assert_eq!(reason("a://{x"), InvalidTemplate::Braces);
        assert_eq!(reason("a://x}"), InvalidTemplate::Braces);
        assert_eq!(reason("a://{}"), InvalidTemplate::Name { name: String::new() });
        assert_eq!(reason("a://{x*}"), InvalidTemplate::Modifier { name: "x*".into() });
        assert_eq!(reason("a://{x:3}"), InvalidTemplate::Modifier { name: "x:3".into() });
        assert_eq!(reason("a://{=x}"), InvalidTemplate::Operator { operator: '=' });
        assert_eq!(reason("a://{x}/{x}"), InvalidTemplate::Twice { name: "x".into() });
        assert_eq!(reason(&"x".repeat(3000)), InvalidTemplate::TooLong);
    }

    #[test]
    fn a_uri_that_nearly_matches_often_is_given_up_soon() {
        let template: String = (0..16).map(|n| format!("{{v{n}}}x")).collect();
        let pattern = UriPattern::parse(&template).unwrap();
        assert_eq!(pattern.matches(&"x".repeat(5000)), None);
    }
}
