//! Every type of the crate by name, behind one face.

use std::any::Any;

use mcp_types::{DoesNotFit, Project, Revision, next::*, *};
use serde::{Serialize, de::DeserializeOwned};

/// A type.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    /// Reads a value.
    pub(crate) read: fn(&str) -> Result<Box<dyn Held>, serde_json::Error>,
    /// Reads a value from a tree, which is another road through serde.
    pub(crate) read_tree: fn(serde_json::Value) -> Result<Box<dyn Held>, serde_json::Error>,
}

/// A value of some type.
pub(crate) trait Held {
    fn write(&self) -> String;
    fn write_tree(&self) -> serde_json::Value;
    fn same(&self, other: &dyn Held) -> bool;
    fn copy(&self) -> Box<dyn Held>;
    fn project(&mut self, to: Revision);
    fn fits(&self, to: Revision) -> Result<(), DoesNotFit>;
    fn as_any(&self) -> &dyn Any;
}

impl<T: Serialize + Clone + PartialEq + Project + 'static> Held for T {
    fn write(&self) -> String {
        serde_json::to_string(self).unwrap()
    }

    fn write_tree(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap()
    }

    fn same(&self, other: &dyn Held) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }

    fn copy(&self) -> Box<dyn Held> {
        Box::new(self.clone())
    }

    fn project(&mut self, to: Revision) {
        Project::project(self, to);
    }

    fn fits(&self, to: Revision) -> Result<(), DoesNotFit> {
        Project::fits(self, to)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A type on which `project` has no work to do.
#[derive(Clone, Debug, PartialEq)]
struct Plain<T>(T);

impl<T> Project for Plain<T> {
    fn project(&mut self, _to: Revision) {}
}

impl<T: Serialize> Serialize for Plain<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Plain<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

fn read<T>(text: &str) -> Result<Box<dyn Held>, serde_json::Error>
where
    T: Held + DeserializeOwned + Send + Sync + 'static,
{
    serde_json::from_str::<T>(text).map(|value| Box::new(value) as Box<dyn Held>)
}

fn read_tree<T>(tree: serde_json::Value) -> Result<Box<dyn Held>, serde_json::Error>
where
    T: Held + DeserializeOwned + Send + Sync + 'static,
{
    serde_json::from_value::<T>(tree).map(|value| Box::new(value) as Box<dyn Held>)
}

macro_rules! subjects {
    ($($name:ident)* ; $($plain:ident)*) => {
        static SUBJECTS: &[Subject] = &[
            $( Subject { name: stringify!($name), read: read::<$name>, read_tree: read_tree::<$name> }, )*
            $( Subject {
                name: stringify!($plain),
                read: read::<Plain<$plain>>,
                read_tree: read_tree::<Plain<$plain>>,
            }, )*
        ];
    };
}

use mcp_jsonrpc::RequestId;

subjects! {
    RequestParams NotificationParams PaginatedRequestParams EmptyResult ProgressNotificationParams
    CancelledNotificationParams Implementation Icon Annotations ContentBlock TextContent
    ImageContent AudioContent ResourceLink EmbeddedResource
    InitializeRequestParams InitializeResult ClientCapabilities ServerCapabilities
    ListToolsResult Tool ToolAnnotations ToolExecution CallToolRequestParams CallToolResult
    ListResourcesResult Resource ListResourceTemplatesResult ResourceTemplate
    ReadResourceRequestParams ReadResourceResult TextResourceContents BlobResourceContents
    SubscribeRequestParams UnsubscribeRequestParams ResourceUpdatedNotificationParams
    ListPromptsResult Prompt PromptArgument GetPromptRequestParams GetPromptResult PromptMessage
    CompleteRequestParams PromptReference ResourceTemplateReference CompleteResult
    SetLevelRequestParams LoggingMessageNotificationParams
    CreateMessageRequestParams SamplingMessage SamplingMessageContentBlock ToolUseContent
    ToolResultContent ModelPreferences ModelHint ToolChoice CreateMessageResult
    ElicitRequestParams ElicitRequestFormParams ElicitRequestUrlParams StringSchema NumberSchema
    BooleanSchema UntitledSingleSelectEnumSchema TitledSingleSelectEnumSchema
    UntitledMultiSelectEnumSchema TitledMultiSelectEnumSchema LegacyTitledEnumSchema
    PrimitiveSchemaDefinition ElicitResult ElicitationCompleteNotificationParams
    ListRootsResult Root
    TaskMetadata Task RelatedTaskMetadata CreateTaskResult GetTaskRequestParams GetTaskResult
    GetTaskPayloadRequestParams GetTaskPayloadResult CancelTaskRequestParams CancelTaskResult
    ListTasksResult TaskStatusNotificationParams
    DiscoverResult InputRequiredResult InputRequest ElicitInput CreateMessageInput ListRootsInput
    InputResponseRequestParams SubscriptionsListenRequestParams SubscriptionsListenResult
    SubscriptionsAcknowledgedNotificationParams SubscriptionFilter
    ;
    Role LoggingLevel TaskStatus Cursor ProgressToken RequestId
}

pub(crate) fn find(name: &str) -> Option<&'static Subject> {
    SUBJECTS.iter().find(|subject| subject.name == name)
}
