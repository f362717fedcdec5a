//! Bodies of the fuzz targets: each takes bytes from anywhere and must not fail.

use mcp_types::Cursor;

use crate::page::Position;
use crate::resource::UriPattern;

/// A template and a URI, a line each: whatever matches has a value for no variable but the
/// template's own.
pub fn template(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (template, uri) = text.split_once('\n').unwrap_or((text, text));
    let Ok(pattern) = UriPattern::parse(template) else { return };
    if let Some(values) = pattern.matches(uri) {
        for (name, _) in values.iter() {
            assert!(pattern.names().iter().any(|known| known == name), "{name} in {template}");
        }
    }
    // A template without expressions is a URI that matches itself.
    if pattern.names().is_empty() && !template.contains('%') {
        assert!(pattern.matches(template).is_some(), "{template}");
    }
}

/// A cursor: what is read is written alike.
pub fn cursor(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let cursor = Cursor::from(text.to_owned());
    if let Ok(position) = Position::from_cursor("tools", &cursor) {
        assert_eq!(position.to_cursor("tools"), cursor);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn inputs_that_once_were_interesting_pass() {
        for input in [
            &b""[..],
            b"note://{id}\nnote://a%2Fb",
            b"{+path}\n/a/../b",
            b"x{/a,b*}{?q,lang}\nx/1/2?q=%zz&lang=",
            b"{#f}{.g}{;h}\n#1.2;h=3",
            b"{\n{",
            b"a{}b\nab",
            "é{x}\né%C3%A9".as_bytes(),
        ] {
            super::template(input);
            super::cursor(input);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_fail(input: Vec<u8>) {
            super::template(&input);
            super::cursor(&input);
        }

        #[test]
        fn no_template_fails(
            template in "([a-z:/é%]{0,4}(\\{[+#./;?&]?[a-z]{0,3}(,[a-z]{1,2}){0,2}\\*?\\})?){0,4}",
            uri in "[a-z:/é%0-9?#&=.;,]{0,24}",
        ) {
            super::template(format!("{template}\n{uri}").as_bytes());
        }
    }
}
