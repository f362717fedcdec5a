use mcp_types::{ElicitValue, Number, StringFormat};

use super::{Choice, Field, FieldKind};

/// An answer doesn't fit its form.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the field `{field}` doesn't fit")]
#[non_exhaustive]
pub struct FormError {
    /// The field.
    pub field: String,
    /// Why not.
    pub source: FieldError,
}

/// A value doesn't fit its field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// There is none, though there has to be.
    #[error("a value is needed")]
    Missing,
    /// It is of another kind, such as a text where a number is asked for.
    #[error("the value is of another kind")]
    WrongKind,
    /// It is none of those that can be chosen.
    #[error("the value is none of those that can be chosen")]
    NotOffered,
    /// It is too small, too short, or there are too few.
    #[error("at least {minimum} is needed")]
    TooLittle {
        /// What it has to reach.
        minimum: Number,
    },
    /// It is too large, too long, or there are too many.
    #[error("at most {maximum} is allowed")]
    TooMuch {
        /// What it may reach.
        maximum: Number,
    },
    /// It doesn't look as it has to.
    #[error("the value has to be a {}", format.as_str())]
    Format {
        /// How it has to look.
        format: StringFormat,
    },
}

impl Field {
    /// Whether the field takes a value.
    ///
    /// # Errors
    ///
    /// Why it doesn't.
    pub fn check(&self, value: &ElicitValue) -> Result<(), FieldError> {
        match (&self.kind, value) {
            (FieldKind::Text { min_length, max_length, format }, ElicitValue::String(text)) => {
                within(text.chars().count(), *min_length, *max_length)?;
                match format {
                    Some(format) if !looks_like(text, format) => {
                        Err(FieldError::Format { format: format.clone() })
                    }
                    _ => Ok(()),
                }
            }
            (FieldKind::Number { whole, minimum, maximum }, ElicitValue::Number(number)) => {
                let value = number.as_f64();
                if *whole && number.as_i64().is_none() && value.fract() != 0.0 {
                    return Err(FieldError::WrongKind);
                }
                if let Some(minimum) = minimum.as_ref().filter(|minimum| value < minimum.as_f64()) {
                    return Err(FieldError::TooLittle { minimum: minimum.clone() });
                }
                match maximum.as_ref().filter(|maximum| value > maximum.as_f64()) {
                    Some(maximum) => Err(FieldError::TooMuch { maximum: maximum.clone() }),
                    None => Ok(()),
                }
            }
            (FieldKind::Boolean, ElicitValue::Boolean(_)) | (FieldKind::Unknown, _) => Ok(()),
            (FieldKind::Choice(choices), ElicitValue::String(value)) => offered(choices, value),
            (FieldKind::Choices { choices, min, max }, ElicitValue::Strings(values)) => {
                within(values.len(), *min, *max)?;
                values.iter().try_for_each(|value| offered(choices, value))
            }
            _ => Err(FieldError::WrongKind),
        }
    }
}

fn offered(choices: &[Choice], value: &str) -> Result<(), FieldError> {
    let known = choices.iter().any(|choice| choice.value == value);
    if known { Ok(()) } else { Err(FieldError::NotOffered) }
}

fn within(count: usize, minimum: Option<u64>, maximum: Option<u64>) -> Result<(), FieldError> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let number = |limit: u64| Number::from(i64::try_from(limit).unwrap_or(i64::MAX));
    match (minimum, maximum) {
        (Some(minimum), _) if count < minimum => {
            Err(FieldError::TooLittle { minimum: number(minimum) })
        }
        (_, Some(maximum)) if count > maximum => {
            Err(FieldError::TooMuch { maximum: number(maximum) })
        }
        _ => Ok(()),
    }
}

/// A light look, to catch slips of the hand: what exactly is valid is for the server to say.
fn looks_like(text: &str, format: &StringFormat) -> bool {
    match format {
        StringFormat::Email => {
            text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
                && !text.contains(char::is_whitespace)
        }
        StringFormat::Uri => text.split_once(':').is_some_and(|(scheme, rest)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                && !rest.is_empty()
                && !text.contains(char::is_whitespace)
        }),
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => {
            text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_time(time))
        }
        _ => true,
    }
}

/// `2025-11-25`.
fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut next = |len: usize| {
        let part = parts.next()?;
        let digits = part.len() == len && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse::<u32>().ok()).flatten()
    };
    let (year, month, day) = (next(4), next(2), next(2));
    year.is_some()
        && month.is_some_and(|month| (1..=12).contains(&month))
        && day.is_some_and(|day| (1..=31).contains(&day))
        && parts.next().is_none()
}

/// `12:30:00Z`, `12:30:00.5+02:00`.
fn is_time(text: &str) -> bool {
    let Some((clock, zone)) = text.find(['Z', 'z', '+', '-']).map(|at| text.split_at(at)) else {
        return false;
    };
    let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let fits = |text: &str, limits: &[u32]| {
        let parts: Vec<_> = text.split(':').collect();
        parts.len() == limits.len()
            && parts.iter().zip(limits).all(|(part, limit)| {
                part.len() == 2 && part.parse::<u32>().is_ok_and(|value| value <= *limit)
            })
    };
    let zone_fits = match zone.strip_prefix(['+', '-']) {
        Some(offset) => fits(offset, &[23, 59]),
        None => zone.len() == 1,
    };
    // A leap second is a second.
    fits(clock, &[23, 59, 60]) && zone_fits
}

#[cfg(test)]
mod tests {
    use mcp_types::RequestedSchema;

    use super::super::Form;
    use super::*;

    fn form(properties: &str, required: &str) -> Form {
        let json =
            format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{required}]}}"#);
        let schema: RequestedSchema = serde_json::from_str(&json).unwrap();
        Form::of(&schema)
    }

    fn verdict(field: &str, value: &str) -> Result<(), FieldError> {
        let form = form(&format!(r#""x":{field}"#), "");
        let answer = serde_json::from_str(&format!(r#"{{"x":{value}}}"#)).unwrap();
        form.check(&answer).map_err(|error| error.source)
    }

    // Shows: FC-048
    #[test]
    fn whoever_touches_nothing_answers_with_the_defaults() {
        let form = form(
            concat!(
                r#""n":{"type":"integer","default":0},"b":{"type":"boolean","default":false},"#,
                r#""s":{"type":"string","default":""},"#,
                r#""e":{"type":"string","enum":["x","y"],"default":"y"},"#,
                r#""bad":{"type":"string","enum":["x","y"],"default":"z"},"#,
                r#""none":{"type":"string"}"#
            ),
            r#""n""#,
        );
        let answer = form.defaults();
        let json = serde_json::to_string(&answer).unwrap();
        assert_eq!(json, r#"{"n":0,"b":false,"s":"","e":"y"}"#);
        assert_eq!(form.check(&answer), Ok(()));
    }

    // Shows: FC-047
    #[test]
    fn every_form_of_a_choice_has_values_and_titles() {
        let form = form(
            concat!(
                r#""a":{"type":"string","enum":["a","b"]},"#,
                r#""b":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},"#,
                r#""c":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2,"default":["a"]},"#,
                r#""d":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}},"#,
                r#""e":{"type":"string","enum":["a","b"],"enumNames":["A","B"]}"#
            ),
            "",
        );
        let shown: Vec<_> = form
            .fields()
            .iter()
            .map(|field| match &field.kind {
                FieldKind::Choice(choices) | FieldKind::Choices { choices, .. } => {
                    choices.iter().map(|c| format!("{}={}", c.value, c.title)).collect::<String>()
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(shown, ["a=ab=b", "a=Ab=B", "a=ab=b", "a=A", "a=Ab=B"]);
        let answer = serde_json::from_str(r#"{"a":"a","b":"b","c":["b"],"d":["a"],"e":"b"}"#);
        assert_eq!(form.check(&answer.unwrap()), Ok(()));
        let [.., multiple, _, legacy] = form.fields() else { panic!("five fields") };
        assert_eq!(legacy.read(" b "), Ok("b".into()));
        assert_eq!(multiple.read("a, B"), Ok(vec!["a".to_owned(), "b".to_owned()].into()));
    }

    // Shows: ELICIT-071
    #[test]
    fn a_value_that_does_not_fit_is_found() {
        let wrong = Err(FieldError::WrongKind);
        assert_eq!(verdict(r#"{"type":"string"}"#, "1"), wrong);
        assert_eq!(verdict(r#"{"type":"integer"}"#, "1.0"), Ok(()));
        assert_eq!(verdict(r#"{"type":"integer"}"#, "1.5"), wrong);
        assert_eq!(verdict(r#"{"type":"boolean"}"#, r#""true""#), wrong);
        assert_eq!(
            verdict(r#"{"type":"string","enum":["a"]}"#, r#""b""#),
            Err(FieldError::NotOffered)
        );
        assert!(matches!(
            verdict(r#"{"type":"string","minLength":2}"#, r#""é""#),
            Err(FieldError::TooLittle { .. })
        ));
        assert!(matches!(
            verdict(r#"{"type":"number","maximum":2}"#, "2.5"),
            Err(FieldError::TooMuch { .. })
        ));
        let choices = r#"{"type":"array","items":{"type":"string","enum":["a"]},"maxItems":0}"#;
        assert!(matches!(verdict(choices, r#"["a"]"#), Err(FieldError::TooMuch { .. })));
        assert_eq!(verdict(choices, r#""a""#), wrong);
    }

    #[test]
    fn formats_catch_slips_of_the_hand() {
        let fits = |format: &str, text: &str| {
            let field = format!(r#"{{"type":"string","format":"{format}"}}"#);
            verdict(&field, &serde_json::to_string(text).unwrap()).is_ok()
        };
        for (format, good, bad) in [
            ("email", "a@b.c", "a.b"),
            ("uri", "https://a/b", "a/b"),
            ("date", "2025-11-25", "2025-13-01"),
            ("date-time", "2025-11-25T12:30:00.5+02:00", "2025-11-25 12:30"),
            ("date-time", "2025-11-25T12:30:60Z", "2025-11-25T25:00:00Z"),
            ("date", "0001-01-01", "2025-11-25-01"),
        ] {
            assert!(fits(format, good), "{format} {good}");
            assert!(!fits(format, bad), "{format} {bad}");
        }
        assert!(fits("color", "anything"));
    }

    #[test]
    fn a_required_field_has_to_be_there() {
        let form = form(r#""a":{"type":"string"},"b":{"type":"string"}"#, r#""b""#);
        let answer = serde_json::from_str(r#"{"a":"x","more":1}"#).unwrap();
        let error = form.check(&answer).unwrap_err();
        assert_eq!((error.field.as_str(), error.source), ("b", FieldError::Missing));
    }
}
