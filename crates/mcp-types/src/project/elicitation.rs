//! Questions to the person.

use super::{DoesNotFit, Project};
use crate::{
    form::{ElicitValue, PrimitiveSchemaDefinition as Field},
    generated::elicitation::{
        ElicitRequestParams, LegacyTitledEnumSchema, TitledSingleSelectEnumSchema,
    },
    revision::Revision,
};

impl ElicitRequestParams {
    #[expect(clippy::unused_self, reason = "the shape is generated")]
    pub(crate) fn project_by_hand(&mut self, _to: Revision) {}

    pub(crate) fn fits_by_hand(&self, to: Revision) -> Result<(), DoesNotFit> {
        match self {
            _ if !to.has_elicitation() => Err(DoesNotFit::Elicitation { to }),
            Self::Url(_) if !to.has_url_elicitation() => Err(DoesNotFit::UrlElicitation { to }),
            _ => Ok(()),
        }
    }
}

/// Values and names in two lists.
fn legacy(titled: &mut TitledSingleSelectEnumSchema) -> LegacyTitledEnumSchema {
    let (values, names): (Vec<_>, Vec<_>) = std::mem::take(&mut titled.options)
        .into_iter()
        .map(|option| (option.value, option.title))
        .unzip();
    let mut field = LegacyTitledEnumSchema::new(values).with_enum_names(names);
    field.title = titled.title.take();
    field.description = titled.description.take();
    field.extra = std::mem::take(&mut titled.extra);
    field
}

impl Project for Field {
    fn project(&mut self, to: Revision) {
        if !to.has_rich_form_schemas() {
            match self {
                Self::TitledSingleSelect(titled) => *self = legacy(titled).into(),
                Self::SingleSelect(choice) => choice.default = None,
                _ => {}
            }
        }
        match self {
            Self::String(field) => field.project(to),
            Self::Number(field) => field.project(to),
            Self::Boolean(field) => field.project(to),
            Self::SingleSelect(field) => field.project(to),
            Self::TitledSingleSelect(field) => field.project(to),
            Self::MultiSelect(field) => field.project(to),
            Self::TitledMultiSelect(field) => field.project(to),
            Self::LegacyTitled(field) => field.project(to),
            Self::Unknown(_) => {}
        }
    }

    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        match self {
            Self::MultiSelect(_) | Self::TitledMultiSelect(_) if !to.has_rich_form_schemas() => {
                Err(DoesNotFit::MultiSelect { to })
            }
            _ => Ok(()),
        }
    }
}

impl Project for ElicitValue {
    fn project(&mut self, _to: Revision) {}

    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        match self {
            Self::Strings(_) if !to.has_rich_form_schemas() => Err(DoesNotFit::MultiSelect { to }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ElicitRequestFormParams, ElicitRequestUrlParams, RequestedSchema};

    fn form(json: &str) -> RequestedSchema {
        let json = format!(r#"{{"type":"object","properties":{{"f":{json}}}}}"#);
        serde_json::from_str(&json).unwrap()
    }

    // Shows: FC-047
    #[test]
    fn a_titled_choice_becomes_two_lists_and_a_multiple_one_does_not_fit() {
        let mut titled =
            form(r#"{"type":"string","oneOf":[{"const":"a","title":"A"}],"default":"a"}"#);
        assert_eq!(titled.fits(Revision::V2025_06_18), Ok(()));
        titled.project(Revision::V2025_06_18);
        assert_eq!(titled, form(r#"{"type":"string","enum":["a"],"enumNames":["A"]}"#));
        let to = Revision::V2025_06_18;
        for multiple in [
            form(r#"{"type":"array","items":{"type":"string","enum":["a"]}}"#),
            form(r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}"#),
        ] {
            let params: ElicitRequestParams = ElicitRequestFormParams::new("m", multiple).into();
            assert_eq!(params.fits(to), Err(DoesNotFit::MultiSelect { to }));
            assert_eq!(params.fits(Revision::V2025_11_25), Ok(()));
        }
    }

    #[test]
    fn only_defaults_that_the_revision_has_are_sent() {
        let to = Revision::V2025_06_18;
        for (rich, plain) in [
            (r#"{"type":"string","default":"a"}"#, r#"{"type":"string"}"#),
            (r#"{"type":"number","default":1}"#, r#"{"type":"number"}"#),
            (
                r#"{"type":"string","enum":["a"],"default":"a"}"#,
                r#"{"type":"string","enum":["a"]}"#,
            ),
            (r#"{"type":"boolean","default":true}"#, r#"{"type":"boolean","default":true}"#),
        ] {
            let mut schema = form(rich);
            schema.project(to);
            assert_eq!(schema, form(plain));
        }
    }

    #[test]
    fn a_url_goes_only_to_peers_that_know_it() {
        let params: ElicitRequestParams =
            ElicitRequestUrlParams::new("m", "https://example.com").into();
        assert_eq!(params.fits(Revision::V2025_11_25), Ok(()));
        let to = Revision::V2025_06_18;
        assert_eq!(params.fits(to), Err(DoesNotFit::UrlElicitation { to }));
        let to = Revision::V2025_03_26;
        assert_eq!(params.fits(to), Err(DoesNotFit::Elicitation { to }));
    }
}
