//! Bodies of the fuzz targets: each takes bytes from anywhere and must not fail.

use mcp_types::{ElicitValue, OrderedMap, RequestedSchema};

use crate::form::Form;
use crate::host::{IconGuard, UrlNotice};

/// The schema of a form, and an answer to it, with a line between: the defaults that are left fit
/// where nothing else is required, and what fits once fits again.
pub fn form(input: &[u8]) {
    let mut lines = input.splitn(2, |byte| *byte == b'\n');
    let (Some(schema), answer) = (lines.next(), lines.next()) else { return };
    let Ok(schema) = serde_json::from_slice::<RequestedSchema>(schema) else { return };
    let form = Form::of(&schema);
    let defaults = form.defaults();
    for field in form.fields() {
        if let Some(value) = &field.default {
            let mut alone = OrderedMap::new();
            alone.set(field.name.as_str(), value.clone());
            let error = form.check(&alone).err();
            assert!(error.is_none_or(|error| error.field != field.name), "a default is no answer");
        }
    }
    let missing = form.fields().iter().any(|field| field.required && field.default.is_none());
    assert!(missing || form.check(&defaults).is_ok());
    let answer =
        answer.and_then(|text| serde_json::from_slice::<OrderedMap<ElicitValue>>(text).ok());
    if let Some(answer) = answer {
        assert_eq!(form.check(&answer).is_ok(), form.check(&answer.clone()).is_ok());
    }
}

/// What a server's icons and URLs may be.
pub fn picture(input: &[u8]) {
    let _ = IconGuard::local().check_bytes(input.to_vec(), [None]);
    if let Ok(text) = std::str::from_utf8(input)
        && let Ok(notice) = UrlNotice::of(text)
    {
        assert!(!notice.host().is_empty() && text.to_lowercase().contains(notice.host()));
    }
}

#[cfg(test)]
mod tests {
    // Shows: FC-047, FC-048
    #[test]
    fn inputs_that_once_were_interesting_pass() {
        for input in [
            &b""[..],
            br#"{"type":"object","properties":{}}"#,
            br#"{"type":"object","properties":{"n":{"type":"integer","default":1.5,"minimum":2}},"required":["n"]}
{"n":3}"#,
            br#"{"type":"object","properties":{"e":{"type":"string","enum":["x"],"default":"y"}}}
{"e":"x"}"#,
            br#"{"type":"object","properties":{"m":{"type":"array","minItems":9,"items":{"type":"string","enum":["a"]},"default":["a"]}}}
{"m":["a","a"]}"#,
            br#"{"type":"object","properties":{"s":{"type":"string","format":"uri","minLength":9,"maxLength":1}}}
{"s":"a:b"}"#,
            br#"{"type":"object","properties":{"x":{"type":"null"},"y":7}}"#,
        ] {
            super::form(input);
            super::picture(input);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_input_fails(input: Vec<u8>) {
            super::form(&input);
            super::picture(&input);
        }

        #[test]
        fn no_schema_fails(
            kind in "(string|integer|number|boolean|array)",
            rest in "(,\"(minLength|maxLength|minimum|maximum|minItems|default|format|enum)\":(-?[0-9]{1,4}(\\.5)?|\"[a-z]{0,4}\"|\\[\"a\"\\]|true|null)){0,4}",
            answer in "(-?[0-9]{1,4}(\\.5)?|\"[a-z:/@é]{0,8}\"|\\[\"a\"\\]|true|null)",
        ) {
            let text = format!(
                "{{\"type\":\"object\",\"properties\":{{\"f\":{{\"type\":\"{kind}\"{rest}}}}}}}\n{{\"f\":{answer}}}"
            );
            super::form(text.as_bytes());
        }

        #[test]
        fn no_url_fails(url in "(https?|HTTPS|ftp)://[a-z0-9.:@\\[\\]%/é-]{0,24}") {
            super::picture(url.as_bytes());
        }
    }
}
