use mcp_types::{
    ElicitValue, Number, NumberKind, PrimitiveSchemaDefinition, StringFormat, TitledOption,
};

use super::FieldError;

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// Its name in the answer.
    pub name: String,
    /// Its name for people, where there is one.
    pub title: Option<String>,
    /// What it is about, for people.
    pub description: Option<String>,
    /// Whether an answer without it is none.
    pub required: bool,
    /// What it takes.
    pub kind: FieldKind,
    /// What it holds at first.
    pub default: Option<ElicitValue>,
}

/// What a field takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Text.
    Text {
        /// At least so many characters.
        min_length: Option<u64>,
        /// At most so many characters.
        max_length: Option<u64>,
        /// How it is to look.
        format: Option<StringFormat>,
    },
    /// A number.
    Number {
        /// Whether it has to be a whole one.
        whole: bool,
        /// At least this.
        minimum: Option<Number>,
        /// At most this.
        maximum: Option<Number>,
    },
    /// Yes or no.
    Boolean,
    /// One of some values.
    Choice(
        /// The values.
        Vec<Choice>,
    ),
    /// Some of several values.
    Choices {
        /// The values.
        choices: Vec<Choice>,
        /// At least so many.
        min: Option<u64>,
        /// At most so many.
        max: Option<u64>,
    },
    /// Something that this crate doesn't know. Any value is taken.
    Unknown,
}

/// One of the values that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The value in the answer.
    pub value: String,
    /// What people see.
    pub title: String,
}

impl Choice {
    fn plain(value: &str) -> Self {
        Self { value: value.to_owned(), title: value.to_owned() }
    }

    fn titled(option: &TitledOption) -> Self {
        Self { value: option.value.clone(), title: option.title.clone() }
    }
}

impl Field {
    pub(super) fn of(name: &str, definition: &PrimitiveSchemaDefinition, required: bool) -> Self {
        let (kind, default) = read(definition);
        let (title, description) = texts(definition);
        let mut field = Self {
            name: name.to_owned(),
            title: title.cloned(),
            description: description.cloned(),
            required,
            kind,
            default,
        };
        if let Some(value) = &field.default
            && let Err(error) = field.check(value)
        {
            tracing::warn!(field = name, %error, "the default of a field breaks its own rules");
            field.default = None;
        }
        field
    }

    /// Reads what a person has typed: `true`, `yes` and the like for yes or no, values or
    /// titles for choices (several with commas between). Whether it fits is up to
    /// [`check`](Self::check).
    ///
    /// # Errors
    ///
    /// When it can't be read as what the field takes.
    pub fn read(&self, typed: &str) -> Result<ElicitValue, FieldError> {
        let typed = typed.trim();
        let value = match &self.kind {
            FieldKind::Text { .. } | FieldKind::Unknown => ElicitValue::from(typed),
            FieldKind::Number { .. } => {
                let number = serde_json::from_str::<Number>(typed);
                ElicitValue::Number(number.map_err(|_| FieldError::WrongKind)?)
            }
            FieldKind::Boolean => ElicitValue::Boolean(match &*typed.to_lowercase() {
                "true" | "yes" | "y" | "1" | "on" => true,
                "false" | "no" | "n" | "0" | "off" => false,
                _ => return Err(FieldError::WrongKind),
            }),
            FieldKind::Choice(choices) => ElicitValue::String(find(choices, typed)?),
            FieldKind::Choices { choices, .. } => {
                let parts = typed.split(',').map(str::trim).filter(|part| !part.is_empty());
                ElicitValue::Strings(
                    parts.map(|part| find(choices, part)).collect::<Result<_, _>>()?,
                )
            }
        };
        Ok(value)
    }
}

fn find(choices: &[Choice], typed: &str) -> Result<String, FieldError> {
    let by_value = choices.iter().find(|choice| choice.value == typed);
    by_value
        .or_else(|| choices.iter().find(|choice| choice.title.eq_ignore_ascii_case(typed)))
        .map(|choice| choice.value.clone())
        .ok_or(FieldError::NotOffered)
}

fn read(definition: &PrimitiveSchemaDefinition) -> (FieldKind, Option<ElicitValue>) {
    use PrimitiveSchemaDefinition as Definition;
    let text = |default: &Option<String>| default.clone().map(ElicitValue::String);
    let texts = |default: &Option<Vec<String>>| default.clone().map(ElicitValue::Strings);
    match definition {
        Definition::String(field) => (
            FieldKind::Text {
                min_length: field.min_length,
                max_length: field.max_length,
                format: field.format.clone(),
            },
            text(&field.default),
        ),
        Definition::Number(field) => (
            FieldKind::Number {
                whole: field.kind == NumberKind::Integer,
                minimum: field.minimum.clone(),
                maximum: field.maximum.clone(),
            },
            field.default.clone().map(ElicitValue::Number),
        ),
        Definition::Boolean(field) => (FieldKind::Boolean, field.default.map(ElicitValue::Boolean)),
        Definition::SingleSelect(field) => (
            FieldKind::Choice(field.values.iter().map(|value| Choice::plain(value)).collect()),
            text(&field.default),
        ),
        Definition::TitledSingleSelect(field) => (
            FieldKind::Choice(field.options.iter().map(Choice::titled).collect()),
            text(&field.default),
        ),
        Definition::LegacyTitled(field) => {
            let names = field.enum_names.as_deref().unwrap_or_default();
            let choices = field.values.iter().enumerate().map(|(at, value)| Choice {
                value: value.clone(),
                title: names.get(at).unwrap_or(value).clone(),
            });
            (FieldKind::Choice(choices.collect()), text(&field.default))
        }
        Definition::MultiSelect(field) => (
            FieldKind::Choices {
                choices: field.items.values.iter().map(|value| Choice::plain(value)).collect(),
                min: field.min_items,
                max: field.max_items,
            },
            texts(&field.default),
        ),
        Definition::TitledMultiSelect(field) => (
            FieldKind::Choices {
                choices: field.items.options.iter().map(Choice::titled).collect(),
                min: field.min_items,
                max: field.max_items,
            },
            texts(&field.default),
        ),
        _ => (FieldKind::Unknown, None),
    }
}

/// Title and description.
fn texts(definition: &PrimitiveSchemaDefinition) -> (Option<&String>, Option<&String>) {
    use PrimitiveSchemaDefinition as Definition;
    macro_rules! of {
        ($($kind:ident)*) => {
            match definition {
                $(Definition::$kind(field) => (field.title.as_ref(), field.description.as_ref()),)*
                _ => (None, None),
            }
        };
    }
    of!(String Number Boolean SingleSelect TitledSingleSelect MultiSelect TitledMultiSelect LegacyTitled)
}
