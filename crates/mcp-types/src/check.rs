//! Rules that the schema can't say, for values that we make and for ones that came in.

use crate::{
    content::{Audience, ResourceContents},
    form::PrimitiveSchemaDefinition as FormField,
    generated::{
        base::{Annotations, ContentBlock, Role},
        elicitation::{
            ElicitRequestParams, ElicitRequestUrlParams, RequestedSchema, StringFormat,
            UrlElicitationRequiredData,
        },
        roots::Root,
        sampling::{
            CreateMessageRequestParams, ModelPreferences, SamplingMessage,
            SamplingMessageContentBlock,
        },
        tools::Tool,
    },
    names::{Base64, InvalidToolName, ResourceUri},
};

/// A value whose rules go beyond its shape.
///
/// Reading is lenient: it takes every value of the right shape. Who makes a value, or has to
/// refuse one, asks here.
///
/// This is an **open** trait: implement it for your own messages.
pub trait Check {
    /// Whether the value keeps the rules of 2025-11-25.
    ///
    /// # Errors
    ///
    /// [`Invalid`] names the first rule that is broken.
    fn check(&self) -> Result<(), Invalid>;
}

/// A rule that a value breaks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A number has to lie between 0 and 1.
    #[error("`{member}` lies between 0 and 1, and isn't {value}")]
    Range {
        /// The member.
        member: &'static str,
        /// Its value.
        value: f64,
    },
    /// An audience is no role.
    #[error("an audience is `user` or `assistant`, not `{0}`")]
    Audience(String),
    /// A URI is none.
    #[error("{0:?} is no URI")]
    Uri(ResourceUri),
    /// A root isn't a file.
    #[error("the URI of a root starts with `file://`, and isn't {0:?}")]
    RootScheme(ResourceUri),
    /// A URL to send the person to is none.
    #[error("{0:?} is no URL to send a person to")]
    Url(String),
    /// A media type is none.
    #[error("{0:?} is no media type")]
    MimeType(String),
    /// A resource inside of a result doesn't say its media type.
    #[error("an embedded resource says its media type")]
    MimeTypeMissing,
    /// Data is no base64.
    #[error("the data is no base64")]
    Base64(#[from] crate::names::InvalidBase64),
    /// A tool's name breaks the rules.
    #[error("a tool's name breaks the rules")]
    ToolName(#[from] InvalidToolName),
    /// A tool's schema isn't one of an object.
    #[error("the `{member}` of a tool has the type `object`")]
    SchemaType {
        /// Which schema.
        member: &'static str,
    },
    /// A field of a form is no primitive one.
    #[error("the field `{0}` is no text, number, boolean or choice")]
    Field(String),
    /// A field of a form has a format that forms don't have.
    #[error("the field `{0}` has an unknown format")]
    Format(String),
    /// A field that has to be filled in isn't in the form.
    #[error("the form has no field `{0}`, which it requires")]
    RequiredField(String),
    /// A URL elicitation has no id.
    #[error("an elicitation by URL has an id")]
    ElicitationId,
    /// The error that sends a person to a URL says none.
    #[error("there is at least one elicitation")]
    NoElicitation,
    /// A message holds what its speaker doesn't say.
    #[error("message {0}: tool uses are the model's, tool results the person's")]
    Speaker(usize),
    /// A message mixes tool results with other content.
    #[error("message {0}: tool results stand alone")]
    MixedResults(usize),
    /// A tool result answers no use of the message before.
    #[error("message {0}: the result of {1:?} has no use in the message before it")]
    NoSuchUse(usize, String),
    /// A use of a tool isn't answered by the next message.
    #[error("message {0}: the use {1:?} has no result in the message after it")]
    NoResult(usize, String),
}

fn in_range(member: &'static str, value: Option<f64>) -> Result<(), Invalid> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => Err(Invalid::Range { member, value }),
        _ => Ok(()),
    }
}

fn uri(uri: &ResourceUri) -> Result<(), Invalid> {
    if uri.is_conforming() { Ok(()) } else { Err(Invalid::Uri(uri.clone())) }
}

/// `type/subtype`, maybe with parameters.
fn mime_type(text: &str) -> Result<(), Invalid> {
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    match essence.split_once('/') {
        Some((kind, subtype)) if token(kind) && token(subtype) => Ok(()),
        _ => Err(Invalid::MimeType(text.to_owned())),
    }
}

fn base64(data: &Base64) -> Result<(), Invalid> {
    data.decode().map(drop).map_err(Invalid::from)
}

impl<T: Check> Check for Option<T> {
    fn check(&self) -> Result<(), Invalid> {
        self.as_ref().map_or(Ok(()), T::check)
    }
}

impl<T: Check> Check for Vec<T> {
    fn check(&self) -> Result<(), Invalid> {
        self.iter().try_for_each(T::check)
    }
}

impl Check for Annotations {
    fn check(&self) -> Result<(), Invalid> {
        for audience in self.audience.iter().flatten() {
            if let Audience::Other(other) = audience {
                return Err(Invalid::Audience(other.clone()));
            }
        }
        in_range("priority", self.priority)
    }
}

impl Check for ModelPreferences {
    fn check(&self) -> Result<(), Invalid> {
        in_range("costPriority", self.cost_priority)?;
        in_range("speedPriority", self.speed_priority)?;
        in_range("intelligencePriority", self.intelligence_priority)
    }
}

impl Check for ResourceContents {
    fn check(&self) -> Result<(), Invalid> {
        uri(self.uri())?;
        self.mime_type().map_or(Ok(()), mime_type)?;
        match self {
            Self::Text(_) => Ok(()),
            Self::Blob(contents) => base64(&contents.blob),
        }
    }
}

impl Check for ContentBlock {
    fn check(&self) -> Result<(), Invalid> {
        match self {
            Self::Text(content) => content.annotations.check(),
            Self::Image(content) => {
                base64(&content.data)?;
                mime_type(&content.mime_type)?;
                content.annotations.check()
            }
            Self::Audio(content) => {
                base64(&content.data)?;
                mime_type(&content.mime_type)?;
                content.annotations.check()
            }
            Self::ResourceLink(link) => {
                uri(&link.uri)?;
                link.mime_type.as_deref().map_or(Ok(()), mime_type)?;
                link.annotations.check()
            }
            Self::Resource(content) => {
                content.resource.check()?;
                if content.resource.mime_type().is_none() {
                    return Err(Invalid::MimeTypeMissing);
                }
                content.annotations.check()
            }
            Self::Unknown(_) => Ok(()),
        }
    }
}

impl Check for Root {
    fn check(&self) -> Result<(), Invalid> {
        let file = self.uri.as_str().get(..7).is_some_and(|s| s.eq_ignore_ascii_case("file://"));
        if file { uri(&self.uri) } else { Err(Invalid::RootScheme(self.uri.clone())) }
    }
}

impl Check for Tool {
    fn check(&self) -> Result<(), Invalid> {
        crate::names::ToolName::try_new(self.name.as_str())?;
        if !self.input_schema.is_object_schema() {
            return Err(Invalid::SchemaType { member: "inputSchema" });
        }
        match &self.output_schema {
            Some(schema) if !schema.is_object_schema() => {
                Err(Invalid::SchemaType { member: "outputSchema" })
            }
            _ => Ok(()),
        }
    }
}

impl Check for RequestedSchema {
    fn check(&self) -> Result<(), Invalid> {
        for (name, field) in self.properties.iter() {
            match field {
                FormField::Unknown(_) => return Err(Invalid::Field(name.to_owned())),
                FormField::String(field) => {
                    if let Some(StringFormat::Other(_)) = &field.format {
                        return Err(Invalid::Format(name.to_owned()));
                    }
                }
                _ => {}
            }
        }
        match self.required.iter().flatten().find(|name| !self.properties.contains(name)) {
            Some(name) => Err(Invalid::RequiredField(name.clone())),
            None => Ok(()),
        }
    }
}

impl Check for ElicitRequestUrlParams {
    fn check(&self) -> Result<(), Invalid> {
        if self.elicitation_id.is_none() {
            return Err(Invalid::ElicitationId);
        }
        let target = ResourceUri::new(self.url.as_str());
        let has_host = self
            .url
            .split_once("://")
            .is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with(['/', '?', '#']));
        if target.is_conforming() && has_host {
            Ok(())
        } else {
            Err(Invalid::Url(self.url.clone()))
        }
    }
}

impl Check for ElicitRequestParams {
    fn check(&self) -> Result<(), Invalid> {
        match self {
            Self::Form(params) => params.requested_schema.check(),
            Self::Url(params) => params.check(),
        }
    }
}

impl Check for UrlElicitationRequiredData {
    fn check(&self) -> Result<(), Invalid> {
        if self.elicitations.is_empty() {
            return Err(Invalid::NoElicitation);
        }
        self.elicitations.check()
    }
}

impl Check for CreateMessageRequestParams {
    fn check(&self) -> Result<(), Invalid> {
        self.model_preferences.check()?;
        conversation(&self.messages)
    }
}

/// The ids of a message's tool uses, or of its tool results.
fn ids(message: Option<&SamplingMessage>, results: bool) -> Vec<&str> {
    let blocks = message.map(|message| message.content.blocks()).unwrap_or_default();
    blocks
        .iter()
        .filter_map(|block| match block {
            SamplingMessageContentBlock::ToolUse(used) if !results => Some(used.id.as_str()),
            SamplingMessageContentBlock::ToolResult(r) if results => Some(r.tool_use_id.as_str()),
            _ => None,
        })
        .collect()
}

/// Each use of a tool is answered by the next message, which holds nothing else.
fn conversation(messages: &[SamplingMessage]) -> Result<(), Invalid> {
    let mut before = None;
    for (at, message) in messages.iter().enumerate() {
        let (used, results) = (ids(Some(message), false), ids(Some(message), true));
        if (!used.is_empty() && message.role != Role::Assistant)
            || (!results.is_empty() && message.role != Role::User)
        {
            return Err(Invalid::Speaker(at));
        }
        if !results.is_empty() && results.len() != message.content.blocks().len() {
            return Err(Invalid::MixedResults(at));
        }
        let wanted = ids(before, false);
        if let Some(id) = results.iter().find(|id| !wanted.contains(id)) {
            return Err(Invalid::NoSuchUse(at, (*id).to_owned()));
        }
        if let Some(id) = wanted.iter().find(|id| !results.contains(id)) {
            return Err(Invalid::NoResult(at.saturating_sub(1), (*id).to_owned()));
        }
        before = Some(message);
    }
    // Uses at the very end have no answer, and can't be sent.
    match ids(before, false).first() {
        Some(id) => Err(Invalid::NoResult(messages.len().saturating_sub(1), (*id).to_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;

    fn check<T: Check + DeserializeOwned>(json: &str) -> Result<(), Invalid> {
        serde_json::from_str::<T>(json).unwrap().check()
    }

    // Shows: RESOURCES-018, SAMPLING-025
    #[test]
    fn weights_lie_between_nought_and_one() {
        for (json, fine) in [("0", true), ("1", true), ("-0.1", false), ("1.5", false)] {
            let made = format!("{{\"priority\":{json}}}");
            assert_eq!(check::<Annotations>(&made).is_ok(), fine, "{json}");
            for member in ["costPriority", "speedPriority", "intelligencePriority"] {
                let made = format!("{{\"{member}\":{json}}}");
                assert_eq!(check::<ModelPreferences>(&made).is_ok(), fine, "{made}");
            }
        }
    }

    // Shows: PROMPTS-010, PROMPTS-011, PROMPTS-012, PROMPTS-013, RESOURCES-029
    #[test]
    fn content_has_data_types_and_uris_that_are_some() {
        for (json, fine) in [
            (r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#, true),
            (r#"{"type":"image","data":"AA=","mimeType":"image/png"}"#, false),
            (r#"{"type":"image","data":"AA==","mimeType":"png"}"#, false),
            (r#"{"type":"audio","data":"AA==","mimeType":"audio/ogg; codecs=opus"}"#, true),
            (r#"{"type":"audio","data":"!","mimeType":"audio/wav"}"#, false),
            (r#"{"type":"resource_link","uri":"no uri","name":"n"}"#, false),
            (
                r#"{"type":"resource","resource":{"uri":"x:y","text":"","mimeType":"text/plain"}}"#,
                true,
            ),
            (r#"{"type":"resource","resource":{"uri":"x:y","text":""}}"#, false),
            (r#"{"type":"resource","resource":{"uri":"x:y","blob":"?","mimeType":"a/b"}}"#, false),
        ] {
            assert_eq!(check::<ContentBlock>(json).is_ok(), fine, "{json}");
        }
    }

    // Shows: ROOTS-007
    #[test]
    fn a_root_is_a_file() {
        assert_eq!(check::<Root>(r#"{"uri":"file:///home/u"}"#), Ok(()));
        assert!(check::<Root>(r#"{"uri":"https://h.example/x"}"#).is_err());
    }

    // Shows: TOOLS-012, TOOLS-017
    #[test]
    fn the_schemas_of_a_tool_are_of_objects() {
        let tool = |input: &str, output: &str| {
            check::<Tool>(&format!(
                r#"{{"name":"t","inputSchema":{input},"outputSchema":{output}}}"#
            ))
        };
        assert_eq!(tool(r#"{"type":"object"}"#, "null"), Ok(()));
        assert_eq!(tool("{}", "null"), Err(Invalid::SchemaType { member: "inputSchema" }));
        assert_eq!(
            tool(r#"{"type":"object"}"#, r#"{"type":"array"}"#),
            Err(Invalid::SchemaType { member: "outputSchema" })
        );
        // Shows: TOOLS-011
        assert!(serde_json::from_str::<Tool>(r#"{"name":"t","inputSchema":null}"#).is_err());
    }

    // Shows: ELICIT-015, ELICIT-017
    #[test]
    fn a_form_is_flat() {
        let form = |field: &str| {
            check::<RequestedSchema>(&format!(
                r#"{{"type":"object","properties":{{"f":{field}}},"required":["f"]}}"#
            ))
        };
        assert_eq!(form(r#"{"type":"string","format":"email"}"#), Ok(()));
        assert_eq!(
            form(r#"{"type":"string","format":"ipv4"}"#),
            Err(Invalid::Format("f".to_owned()))
        );
        for field in [
            r#"{"type":"object","properties":{}}"#,
            r#"{"type":"array","items":{"type":"object"}}"#,
            r##"{"$ref":"#/x"}"##,
        ] {
            assert_eq!(form(field), Err(Invalid::Field("f".to_owned())), "{field}");
        }
        assert_eq!(
            check::<RequestedSchema>(r#"{"type":"object","properties":{},"required":["f"]}"#),
            Err(Invalid::RequiredField("f".to_owned()))
        );
    }

    // Shows: ELICIT-019, ELICIT-020, ELICIT-033, ELICIT-034
    #[test]
    fn a_url_elicitation_has_an_id_and_a_url() {
        let fine =
            r#"{"mode":"url","message":"m","url":"https://a.example/x","elicitationId":"e"}"#;
        assert_eq!(check::<ElicitRequestParams>(fine), Ok(()));
        let bad_url = fine.replace("https://a.example/x", "not a url");
        assert_eq!(
            check::<ElicitRequestParams>(&bad_url),
            Err(Invalid::Url("not a url".to_owned()))
        );
        let no_id = fine.replace(r#","elicitationId":"e""#, "");
        assert_eq!(check::<ElicitRequestParams>(&no_id), Err(Invalid::ElicitationId));
        let data = |list: &str| format!(r#"{{"elicitations":[{list}]}}"#);
        assert_eq!(check::<UrlElicitationRequiredData>(&data(fine)), Ok(()));
        assert_eq!(check::<UrlElicitationRequiredData>(&data("")), Err(Invalid::NoElicitation));
        let form = data(&fine.replace("\"url\",\"m", "\"form\",\"m"));
        assert!(serde_json::from_str::<UrlElicitationRequiredData>(&form).is_err());
        for member in ["message", "url", "mode"] {
            let without = fine.replace(&format!("\"{member}\":"), "\"x\":");
            assert!(serde_json::from_str::<ElicitRequestParams>(&without).is_err(), "{member}");
        }
    }

    // Shows: SAMPLING-011, SAMPLING-014, SAMPLING-035
    #[test]
    fn tool_results_answer_the_message_before_and_stand_alone() {
        const USE: &str = r#"{"type":"tool_use","id":"c1","name":"t","input":{}}"#;
        const RESULT: &str = r#"{"type":"tool_result","toolUseId":"c1","content":[]}"#;
        const TEXT: &str = r#"{"type":"text","text":"a"}"#;
        let talk = |messages: &[(&str, &str)]| {
            let messages: Vec<String> = messages
                .iter()
                .map(|(role, content)| format!(r#"{{"role":"{role}","content":[{content}]}}"#))
                .collect();
            check::<CreateMessageRequestParams>(&format!(
                r#"{{"maxTokens":1,"messages":[{}]}}"#,
                messages.join(",")
            ))
        };
        let mixed = format!("{RESULT},{TEXT}");
        assert_eq!(talk(&[("user", TEXT), ("assistant", USE), ("user", RESULT)]), Ok(()));
        assert_eq!(talk(&[("user", USE)]), Err(Invalid::Speaker(0)));
        assert_eq!(talk(&[("assistant", RESULT)]), Err(Invalid::Speaker(0)));
        assert_eq!(talk(&[("assistant", USE), ("user", &mixed)]), Err(Invalid::MixedResults(1)));
        assert_eq!(talk(&[("user", RESULT)]), Err(Invalid::NoSuchUse(0, "c1".to_owned())));
        assert_eq!(
            talk(&[("assistant", USE), ("user", TEXT)]),
            Err(Invalid::NoResult(0, "c1".to_owned()))
        );
        assert_eq!(talk(&[("assistant", USE)]), Err(Invalid::NoResult(0, "c1".to_owned())));
    }
}
