use mcp_types::{
    Cursor, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListTasksResult,
    ListToolsResult, Method, Prompt, Resource, ResourceTemplate, Task, Tool,
};
use serde_core::de::DeserializeOwned;

use super::cache::{Caches, Slot};

/// What a server lists: tools, resources, resource templates, prompts, tasks.
///
/// This is a **sealed** trait.
pub trait Listed: sealed::Sealed + Clone + Send + Sync + Sized + 'static {
    /// One page.
    type Page: DeserializeOwned + Send + 'static;

    #[doc(hidden)]
    const METHOD: Method;
    /// The capability that promises to tell of changes.
    #[doc(hidden)]
    const TELLS: &'static str;

    #[doc(hidden)]
    fn open(page: Self::Page) -> (Vec<Self>, Option<Cursor>);
    /// What no two items share.
    #[doc(hidden)]
    fn key(&self) -> &str;
    #[doc(hidden)]
    fn slot(caches: &Caches) -> &Slot<Self>;
    /// A page came whose fetch began when the promises had this version.
    #[doc(hidden)]
    fn note(page: &Self::Page, caches: &Caches, version: u64, limit: usize) {
        let _ = (page, caches, version, limit);
    }
}

#[expect(unnameable_types, reason = "that is what seals the trait above")]
mod sealed {
    pub trait Sealed {}
}

macro_rules! kinds {
    ($(
        $item:ident in $page:ident.$items:ident by $key:ident, $method:ident, $tells:literal,
        $slot:ident $(, $note:item)?;
    )*) => {$(
        impl sealed::Sealed for $item {}

        impl Listed for $item {
            type Page = $page;

            const METHOD: Method = Method::$method;
            const TELLS: &'static str = $tells;

            fn open(page: $page) -> (Vec<Self>, Option<Cursor>) {
                (page.$items, page.next_cursor)
            }

            fn key(&self) -> &str {
                self.$key.as_ref()
            }

            fn slot(caches: &Caches) -> &Slot<Self> {
                &caches.$slot
            }

            $($note)?
        }
    )*};
}

kinds! {
    Tool in ListToolsResult.tools by name, ToolsList, "tools.listChanged", tools,
        fn note(page: &ListToolsResult, caches: &Caches, version: u64, limit: usize) {
            caches.promises.note(version, &page.tools, limit);
        };
    Resource in ListResourcesResult.resources by uri, ResourcesList, "resources.listChanged",
        resources;
    ResourceTemplate in ListResourceTemplatesResult.resource_templates by uri_template,
        ResourcesTemplatesList, "resources.listChanged", templates;
    Prompt in ListPromptsResult.prompts by name, PromptsList, "prompts.listChanged", prompts;
    // Nothing tells of a change: it is fetched each time.
    Task in ListTasksResult.tasks by task_id, TasksList, "tasks.listChanged", tasks;
}
