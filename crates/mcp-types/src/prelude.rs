//! What the generated files use.

pub(crate) use mcp_jsonrpc::RequestId;

pub(crate) use crate::{
    content::{Audience, ResourceContents, SamplingContent, UnknownContent},
    form::{ElicitValue, Number, PrimitiveSchemaDefinition},
    generated::{
        base::*, completion::*, elicitation::*, lifecycle::*, logging::*, prompts::*, resources::*,
        roots::*, sampling::*, tasks::*, tools::*,
    },
    json::{Extra, JsonObject, JsonValue, OrderedMap},
    json_schema::JsonSchema,
    meta::Meta,
    names::{
        Base64, Cursor, ElicitationId, IconUri, ProgressToken, ResourceUri, TaskId, Timestamp,
        ToolName, UriTemplate,
    },
    project::{DoesNotFit, Project},
    revision::Revision,
    wire::{object, texts, union},
};
