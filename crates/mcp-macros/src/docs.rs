//! Doc comments as texts.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, Meta};

use crate::arguments::literal;

/// The text of the doc comments among `attributes`: an expression, none when there are none.
pub(crate) fn text(attributes: &[Attribute]) -> Option<TokenStream> {
    let lines: Vec<&Expr> = attributes.iter().filter_map(line).collect();
    if lines.is_empty() {
        return None;
    }
    if let Some(lines) = lines.iter().map(|line| literal(line)).collect::<Option<Vec<_>>>() {
        let lines: Vec<String> = lines.iter().map(|line| line.value()).collect();
        let text = unindent(&lines.join("\n"));
        return (!text.is_empty()).then(|| quote!(#text));
    }
    // Somebody includes a file, or builds the text with a macro.
    let breaks = lines.iter().enumerate().map(|(at, _)| if at == 0 { "" } else { "\n" });
    Some(quote!(::core::concat!(#(#breaks, #lines),*).trim()))
}

fn line(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
        _ => None,
    }
}

/// The lines without the indentation that they have in common, and without empty ones around.
fn unindent(text: &str) -> String {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let written = || text.lines().filter(|line| !line.trim().is_empty());
    let common = written().map(indentation).min().unwrap_or_default();
    let lines: Vec<&str> =
        text.lines().map(|line| line.get(common..).unwrap_or_default().trim_end()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::unindent;

    #[test]
    fn common_indentation_is_removed() {
        for (text, expected) in [
            (" One.", "One."),
            (" One.\n\n Two:\n - a\n   b", "One.\n\nTwo:\n- a\n  b"),
            ("\n     One.\n\n     Two.\n    ", "One.\n\nTwo."),
            ("", ""),
            ("  ", ""),
        ] {
            assert_eq!(unindent(text), expected);
        }
    }
}
