//! License expressions: `MIT OR (Apache-2.0 WITH LLVM-exception AND Zlib)`.

use anyhow::{Context as _, bail};

/// Whether somebody who accepts exactly `allowed` may use what `expression` licenses.
///
/// # Errors
///
/// Returns an error for an expression that can't be parsed: what isn't understood isn't allowed.
pub(crate) fn permits(expression: &str, allowed: &dyn Fn(&str) -> bool) -> anyhow::Result<bool> {
    let tokens = tokens(expression);
    let mut parser = Parser { tokens: &tokens, at: 0, allowed };
    let result = parser.any_of().with_context(|| format!("license `{expression}`"))?;
    match parser.peek() {
        None => Ok(result),
        Some(token) => bail!("license `{expression}`: unexpected `{token}`"),
    }
}

fn tokens(expression: &str) -> Vec<String> {
    // Before there were expressions, a slash meant a choice.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
    allowed: &'a dyn Fn(&str) -> bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    /// Takes the next token if it is `expected`.
    fn take(&mut self, expected: &str) -> bool {
        let found = self.peek() == Some(expected);
        self.at += usize::from(found);
        found
    }

    /// `OR` binds weakest.
    fn any_of(&mut self) -> anyhow::Result<bool> {
        let mut result = self.all_of()?;
        while self.take("OR") {
            // Both sides are read, or the rest would be taken for garbage.
            result |= self.all_of()?;
        }
        Ok(result)
    }

    fn all_of(&mut self) -> anyhow::Result<bool> {
        let mut result = self.one()?;
        while self.take("AND") {
            result &= self.one()?;
        }
        Ok(result)
    }

    fn one(&mut self) -> anyhow::Result<bool> {
        if self.take("(") {
            let result = self.any_of()?;
            if !self.take(")") {
                bail!("`(` is never closed");
            }
            return Ok(result);
        }
        let mut license = self.name()?;
        if self.take("WITH") {
            license = format!("{license} WITH {}", self.name()?);
        }
        Ok((self.allowed)(&license))
    }

    fn name(&mut self) -> anyhow::Result<String> {
        match self.peek() {
            Some(token) if !matches!(token, "AND" | "OR" | "WITH" | "(" | ")") => {
                let token = token.to_owned();
                self.at += 1;
                Ok(token)
            }
            Some(token) => bail!("a license is missing before `{token}`"),
            None => bail!("a license is missing at the end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, allowed: &[&str]) -> bool {
        permits(expression, &|name| allowed.contains(&name)).unwrap()
    }

    #[test]
    fn one_side_of_an_or_is_enough_and_both_of_an_and_are_needed() {
        assert!(check("MIT OR GPL-3.0-only", &["MIT"]));
        assert!(check("GPL-3.0-only OR MIT", &["MIT"]));
        assert!(!check("MIT AND GPL-3.0-only", &["MIT"]));
        assert!(check("MIT AND Zlib", &["MIT", "Zlib"]));
        assert!(!check("GPL-3.0-only", &["MIT"]));
    }

    #[test]
    fn and_binds_tighter_than_or_and_parentheses_tightest() {
        assert!(check("MIT OR Zlib AND GPL-3.0-only", &["MIT"]));
        assert!(!check("(MIT OR Zlib) AND GPL-3.0-only", &["MIT"]));
        assert!(check("(MIT OR Apache-2.0) AND Unicode-3.0", &["Apache-2.0", "Unicode-3.0"]));
    }

    #[test]
    fn an_exception_is_part_of_the_name() {
        let expression = "Apache-2.0 WITH LLVM-exception";
        assert!(!check(expression, &["Apache-2.0"]));
        assert!(check(expression, &[expression]));
    }

    #[test]
    fn the_old_slash_is_a_choice() {
        assert!(check("MIT/Apache-2.0", &["Apache-2.0"]));
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for expression in ["", "MIT OR", "(MIT", "MIT Zlib", "AND MIT", "MIT)", "MIT WITH"] {
            assert!(permits(expression, &|_| true).is_err(), "{expression:?}");
        }
    }
}
