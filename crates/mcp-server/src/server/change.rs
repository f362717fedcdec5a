use super::Server;
use crate::error::RegisterError;
use crate::list::Listed;
use crate::listeners::Change;
use crate::prompt::PromptEntry;
use crate::resource::{ResourceEntry, TemplateEntry};
use crate::tool::ToolEntry;

/// What changes while the server is serving. Clients are told, as far as they may see what has
/// changed; one that does not read hears of it later, and of changes of one kind once.
impl Server {
    /// Adds a tool while the server is serving. The server must have been given a tool, or
    /// [`dynamic_tools`](Self::dynamic_tools), before, since what it announces can't change.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] when the name is taken, or a schema can't be used.
    pub fn add_tool(&self, tool: ToolEntry) -> Result<(), RegisterError> {
        let tool = self.inner.put_tool(tool)?;
        self.inner.listeners.list_changed(&Change::Tools, tool.needs());
        Ok(())
    }

    /// Removes a tool while the server is serving. Answers whether there was one. Calls that are
    /// under way go on.
    pub fn remove_tool(&self, name: &str) -> bool {
        let Some(tool) = self.inner.tools.remove(name) else { return false };
        self.inner.listeners.list_changed(&Change::Tools, tool.needs());
        true
    }

    /// Adds a resource while the server is serving. The server must have been given one, or
    /// [`dynamic_resources`](Self::dynamic_resources), before.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] when the URI is taken, or none.
    pub fn add_resource(&self, resource: ResourceEntry) -> Result<(), RegisterError> {
        let resource = self.inner.put_resource(resource)?;
        self.inner.listeners.list_changed(&Change::Resources, resource.needs());
        Ok(())
    }

    /// Removes a resource while the server is serving. Answers whether there was one.
    pub fn remove_resource(&self, uri: &str) -> bool {
        let Some(resource) = self.inner.resources.remove(uri) else { return false };
        self.inner.listeners.list_changed(&Change::Resources, resource.needs());
        true
    }

    /// Adds a template while the server is serving; see [`add_resource`](Self::add_resource).
    ///
    /// # Errors
    ///
    /// [`RegisterError`] when there is such a template.
    pub fn add_template(&self, template: TemplateEntry) -> Result<(), RegisterError> {
        let template = self.inner.put_template(template)?;
        self.inner.listeners.list_changed(&Change::Resources, template.needs());
        Ok(())
    }

    /// Removes a template while the server is serving. Answers whether there was one.
    pub fn remove_template(&self, template: &str) -> bool {
        let Some(template) = self.inner.templates.remove(template) else { return false };
        self.inner.listeners.list_changed(&Change::Resources, template.needs());
        true
    }

    /// Adds a prompt while the server is serving. The server must have been given one, or
    /// [`dynamic_prompts`](Self::dynamic_prompts), before.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] when the name is taken.
    pub fn add_prompt(&self, prompt: PromptEntry) -> Result<(), RegisterError> {
        let prompt = self.inner.put_prompt(prompt)?;
        self.inner.listeners.list_changed(&Change::Prompts, prompt.needs());
        Ok(())
    }

    /// Removes a prompt while the server is serving. Answers whether there was one.
    pub fn remove_prompt(&self, name: &str) -> bool {
        let Some(prompt) = self.inner.prompts.remove(name) else { return false };
        self.inner.listeners.list_changed(&Change::Prompts, prompt.needs());
        true
    }

    /// Tells whoever has subscribed to a resource, and may still read it, that it has changed.
    pub fn resource_updated(&self, uri: &str) {
        self.inner.listeners.resource_updated(uri, &self.inner.needs_of(uri));
    }

    /// Tells every client that its lists may have changed: what was granted has.
    pub fn grants_changed(&self) {
        let offers = self.inner.offers;
        let lists = [
            (offers.tools, Change::Tools),
            (offers.resources, Change::Resources),
            (offers.prompts, Change::Prompts),
        ];
        for (_, change) in lists.iter().filter(|(offered, _)| *offered) {
            self.inner.listeners.list_changed(change, &[]);
        }
    }
}
