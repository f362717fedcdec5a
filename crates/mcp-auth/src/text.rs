//! Text that came from somebody else.

use crate::Secret;

/// How many characters of foreign text an error shows at most.
pub(crate) const SHOWN: usize = 200;

/// Makes foreign text fit to be shown: no control characters, no line ends, bounded.
pub(crate) fn clean(text: &str) -> String {
    let mut shown = String::new();
    for (at, c) in text.trim().chars().enumerate() {
        if at == SHOWN {
            shown.push('…');
            break;
        }
        shown.push(if is_harmful(c) { ' ' } else { c });
    }
    shown
}

/// Control characters, and those that turn the direction of text around.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// As [`clean`], with everything that we know to be secret taken out first.
pub(crate) fn clean_without<'s>(
    text: &str,
    secrets: impl IntoIterator<Item = &'s Secret>,
) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        let secret = secret.expose();
        // A few characters could be anything, and removing them would tell what they are.
        if secret.len() < 6 {
            continue;
        }
        text = text.replace(secret, "<redacted>");
        let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        if encoded != secret {
            text = text.replace(&encoded, "<redacted>");
        }
    }
    clean(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: CL-ER-3, FC-077
    #[test]
    fn foreign_text_loses_control_characters_and_has_an_end() {
        assert_eq!(clean("  a\r\nb\u{1b}[31m\u{202e}c "), "a  b [31m c");
        assert_eq!(clean(&"x".repeat(500)).chars().count(), SHOWN + 1);
    }

    // Shows: CL-TK-8
    #[test]
    fn known_secrets_are_taken_out_in_plain_and_in_percent_form() {
        let secret = Secret::new("s3cr3t/+=");
        let shown = clean_without("got s3cr3t/+= and s3cr3t%2F%2B%3D", [&secret]);
        assert_eq!(shown, "got <redacted> and <redacted>");
    }
}
