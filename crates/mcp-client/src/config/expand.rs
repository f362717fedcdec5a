//! Variables in values.

use super::{MAX_SERVER_BYTES, Problem};

/// Fills variables in, within a bound for all values of a server together.
pub(super) struct Expander<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    left: usize,
}

impl<'a> Expander<'a> {
    pub(super) fn new(variable: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { variable, left: MAX_SERVER_BYTES }
    }

    /// The value of `member`, with `${NAME}`, `${env:NAME}` and `${NAME:-default}` replaced.
    pub(super) fn expand(&mut self, member: &str, text: &str) -> Result<String, Problem> {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, placeholder)) = rest.split_once("${") {
            let wrong = || Problem::Placeholder { member: member.to_owned() };
            let (inside, after) = placeholder.split_once('}').ok_or_else(wrong)?;
            self.push(&mut expanded, before)?;
            let value = self.value(member, inside)?;
            self.push(&mut expanded, &value)?;
            rest = after;
        }
        self.push(&mut expanded, rest)?;
        Ok(expanded)
    }

    fn value(&self, member: &str, inside: &str) -> Result<String, Problem> {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        if name.is_empty() || name.contains([':', '=', '\0', '$']) {
            return Err(Problem::Placeholder { member: member.to_owned() });
        }
        match ((self.variable)(name), default) {
            // As a shell has it: an empty value is none.
            (Some(value), Some(default)) if value.is_empty() => Ok(default.to_owned()),
            (Some(value), _) => Ok(value),
            (None, Some(default)) => Ok(default.to_owned()),
            (None, None) => {
                Err(Problem::Variable { member: member.to_owned(), name: name.to_owned() })
            }
        }
    }

    fn push(&mut self, expanded: &mut String, text: &str) -> Result<(), Problem> {
        self.left = self.left.checked_sub(text.len()).ok_or(Problem::TooLarge)?;
        expanded.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        match name {
            "A" => Some("1".to_owned()),
            "NESTED" => Some("${A}".to_owned()),
            "EMPTY" => Some(String::new()),
            "LONG" => Some("x".repeat(MAX_SERVER_BYTES / 4)),
            _ => None,
        }
    }

    fn expand(text: &str) -> Result<String, Problem> {
        Expander::new(&variable).expand("args", text)
    }

    #[test]
    fn variables_are_filled_in_once() {
        for (text, expected) in [
            ("", ""),
            ("plain $A {A} $", "plain $A {A} $"),
            ("${A}-${env:A}", "1-1"),
            ("${B:-2}${A:-2}${EMPTY:-3}${EMPTY}", "213"),
            ("${B:-}", ""),
            ("${B:-http://x:1/}", "http://x:1/"),
            ("${NESTED}", "${A}"),
        ] {
            assert_eq!(expand(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_named_and_what_is_unknown_is_refused() {
        let missing = Problem::Variable { member: "args".to_owned(), name: "B".to_owned() };
        assert_eq!(expand("${B}"), Err(missing));
        for text in ["${", "${A", "${}", "${input:key}", "${env:}", "${file:/etc/x}", "${A${A}}"] {
            assert!(matches!(expand(text), Err(Problem::Placeholder { .. })), "{text}");
        }
    }

    #[test]
    fn variables_can_fill_no_memory() {
        assert!(expand(&"${LONG}".repeat(4)).is_ok());
        assert_eq!(expand(&"${LONG}".repeat(5)), Err(Problem::TooLarge));
        let mut expander = Expander::new(&variable);
        let quarter = |expander: &mut Expander<'_>| expander.expand("args", "${LONG}");
        for _ in 0..4 {
            assert!(quarter(&mut expander).is_ok());
        }
        assert_eq!(quarter(&mut expander), Err(Problem::TooLarge));
    }
}
