//! What stands in the parentheses of an attribute.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Meta, Path, Token, parse_quote};

use crate::errors::Errors;

/// What an argument wants to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// A text, or an expression that gives one.
    Text,
    /// `true`, `false`, or nothing, which means `true`.
    Flag,
    /// An expression.
    Value,
    /// A text that may be given several times.
    Texts,
    /// One of a few texts.
    Choice(&'static [&'static str]),
}

/// An argument that an attribute has.
pub(crate) type Known = (&'static str, Want);

/// The arguments that were given.
pub(crate) struct Arguments {
    /// The text that stands first, without a name.
    pub(crate) first: Option<LitStr>,
    /// The path to `mcp_server`.
    pub(crate) krate: Path,
    named: Vec<(Ident, Expr)>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { first: None, krate: parse_quote!(::mcp_server), named: Vec::new() }
    }
}

enum Item {
    First(LitStr),
    Meta(Box<Meta>),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            input.parse().map(Self::First)
        } else {
            input.parse().map(|meta| Self::Meta(Box::new(meta)))
        }
    }
}

impl Arguments {
    /// Reads arguments of an attribute that has those in `known`.
    pub(crate) fn read(tokens: TokenStream, known: &[Known], errors: &mut Errors) -> Self {
        let mut arguments = Self::default();
        let items = match Punctuated::<Item, Token![,]>::parse_terminated.parse2(tokens) {
            Ok(items) => items,
            Err(error) => {
                errors.push(error);
                return arguments;
            }
        };
        for (at, item) in items.into_iter().enumerate() {
            match item {
                Item::First(text) if at == 0 => arguments.first = Some(text),
                Item::First(text) => errors.add(text, "only the first argument can be a bare text"),
                Item::Meta(meta) => arguments.add(*meta, known, errors),
            }
        }
        arguments
    }

    fn add(&mut self, meta: Meta, known: &[Known], errors: &mut Errors) {
        if meta.path().is_ident("crate") {
            match meta {
                Meta::NameValue(pair) => match pair.value {
                    Expr::Path(path) => self.krate = path.path,
                    other => {
                        errors.add(other, "a path is expected: `crate = ::path::to::mcp_server`")
                    }
                },
                other => errors.add(other, "write `crate = ::path::to::mcp_server`"),
            }
            return;
        }
        let Some(name) = meta.path().get_ident().cloned() else {
            errors.add(meta.path(), "the name of an argument is expected");
            return;
        };
        let Some((_, want)) = known.iter().find(|(known, _)| name == known) else {
            errors.add(&name, unknown(&name.to_string(), known));
            return;
        };
        if *want != Want::Texts && self.named.iter().any(|(given, _)| *given == name) {
            errors.add(&name, format!("`{name}` is given twice: remove one of them"));
            return;
        }
        let value = match meta {
            Meta::NameValue(pair) => Some(pair.value),
            Meta::Path(_) => None,
            Meta::List(list) => {
                errors.add(list, format!("write `{name} = …`"));
                return;
            }
        };
        match check(&name, value, *want) {
            Ok(value) => self.named.push((name, value)),
            Err(error) => errors.push(error),
        }
    }

    /// The value of an argument.
    pub(crate) fn get(&self, name: &str) -> Option<&Expr> {
        self.named.iter().find(|(given, _)| given == name).map(|(_, value)| value)
    }

    /// The name of an argument, where it is given.
    pub(crate) fn name_of(&self, name: &str) -> Option<&Ident> {
        self.named.iter().map(|(given, _)| given).find(|given| *given == name)
    }

    /// Whether a flag is set.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        matches!(
            self.get(name),
            Some(Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. })) if flag.value
        )
    }

    /// Calls of the methods that are named like arguments, each with its value.
    pub(crate) fn calls(&self, names: &[&str]) -> TokenStream {
        let given = self.named.iter().filter(|(name, _)| names.iter().any(|known| name == known));
        given.map(|(name, value)| quote!(.#name(#value))).collect()
    }
}

/// The text of an expression, when it is a literal.
pub(crate) fn literal(value: &Expr) -> Option<&LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        _ => None,
    }
}

/// The value, if it is what is wanted.
fn check(name: &Ident, value: Option<Expr>, want: Want) -> syn::Result<Expr> {
    let Some(value) = value else {
        return match want {
            Want::Flag => Ok(parse_quote!(true)),
            Want::Text | Want::Texts => {
                Err(syn::Error::new_spanned(name, format!("write `{name} = \"…\"`")))
            }
            Want::Choice(choices) => {
                Err(syn::Error::new_spanned(name, format!("write `{name} = {}`", list(choices))))
            }
            Want::Value => Err(syn::Error::new_spanned(name, format!("write `{name} = …`"))),
        };
    };
    let wrong = |what: String| Err(syn::Error::new_spanned(&value, what));
    match (want, &value) {
        (Want::Flag, Expr::Lit(ExprLit { lit: Lit::Bool(_), .. })) | (Want::Value, _) => Ok(value),
        (Want::Flag, _) => wrong(format!("`{name}` is `true` or `false`")),
        (Want::Choice(choices), _) => match literal(&value) {
            Some(text) if choices.contains(&text.value().as_str()) => Ok(value),
            _ => wrong(format!("`{name}` is {}", list(choices))),
        },
        (Want::Text | Want::Texts, Expr::Lit(_)) if literal(&value).is_none() => {
            wrong(format!("`{name}` is a text: put it in quotes"))
        }
        (Want::Text | Want::Texts, _) => Ok(value),
    }
}

fn list(choices: &[&str]) -> String {
    let quoted: Vec<String> = choices.iter().map(|choice| format!("{choice:?}")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn unknown(name: &str, known: &[Known]) -> String {
    let nearest = known.iter().map(|(known, _)| *known).min_by_key(|known| distance(known, name));
    match nearest.filter(|nearest| distance(nearest, name) <= 2) {
        Some(nearest) => format!("there is no argument `{name}`: did you mean `{nearest}`?"),
        None => {
            let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
            let names = if names.is_empty() { "`crate`".to_owned() } else { names.join(", ") };
            format!("there is no argument `{name}`: there is {names}")
        }
    }
}

/// How many letters must be added, removed or replaced.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(b.chars()) {
            let least = (diagonal + usize::from(x != y)).min(left + 1).min(*cell + 1);
            diagonal = *cell;
            *cell = least;
            left = least;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Known] = &[
        ("title", Want::Text),
        ("read_only", Want::Flag),
        ("needs", Want::Texts),
        ("task", Want::Choice(&["forbidden", "optional", "required"])),
    ];

    fn check(tokens: &str) -> Vec<String> {
        let mut errors = Errors::default();
        Arguments::read(tokens.parse().unwrap(), KNOWN, &mut errors);
        let text = errors.into_tokens().to_string();
        text.split("compile_error").skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn what_is_right_is_taken() {
        for tokens in [
            "",
            "title = \"a\"",
            "title = TITLE, read_only",
            "read_only = false,",
            "needs = \"a\", needs = \"b\"",
            "task = \"optional\", crate = a::b",
            "\"first\"",
        ] {
            assert!(check(tokens).is_empty(), "{tokens}");
        }
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let found =
            check("titel = \"a\", read_only = 1, title, title = 7, nonsense, task = \"some\"");
        assert_eq!(found.len(), 6, "{found:?}");
        assert!(found[0].contains("did you mean `title`"), "{found:?}");
    }

    #[test]
    fn the_distance_counts_letters() {
        for (a, b, expected) in
            [("", "", 0), ("abc", "abc", 0), ("abc", "abd", 1), ("titel", "title", 2)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
