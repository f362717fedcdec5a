use super::Server;
use super::offer::{must, put};

impl Server {
    /// Takes over what another server offers: its tools and prompts under names that begin with
    /// `prefix`, its resources, templates and completions as they are, since URIs say where they
    /// belong. Its handlers keep the other server's state.
    ///
    /// What the other server is, who it grants what, and its page size don't come along: this
    /// server's hold. A label that something of the other needs has to be granted by this one.
    /// What is added to the other server later is not seen here.
    ///
    /// ```
    /// use mcp_server::Server;
    ///
    /// let weather = Server::new("weather", "1.0.0").tool("today", || async { "sun" });
    /// let news = Server::new("news", "1.0.0").tool("today", || async { "nothing new" });
    /// let both = Server::new("morning", "1.0.0")
    ///     .mount("weather.", &weather)
    ///     .mount("news.", &news);
    /// ```
    ///
    /// # Panics
    ///
    /// When a name or a URI is taken, and when the other server has layers: they would not stand
    /// before what they were meant to protect.
    #[must_use]
    pub fn mount(mut self, prefix: &str, other: &Self) -> Self {
        assert!(other.inner.layers.is_empty(), "a server with layers can't be mounted");
        let from = &other.inner;
        let inner = self.edit();
        let (ours, theirs) = (&mut inner.offers, from.offers);
        ours.tools |= theirs.tools;
        ours.resources |= theirs.resources;
        ours.subscriptions |= theirs.subscriptions;
        ours.prompts |= theirs.prompts;
        ours.completions |= theirs.completions;
        ours.logging |= theirs.logging;
        for tool in from.tools.items() {
            must(put(inner.tools.add(tool.mounted(prefix, &from.state))));
        }
        for prompt in from.prompts.items() {
            must(put(inner.prompts.add(prompt.mounted(prefix, &from.state))));
        }
        for resource in from.resources.items() {
            must(put(inner.resources.add(resource.mounted(&from.state))));
        }
        for template in from.templates.items() {
            must(put(inner.templates.add(template.mounted(&from.state))));
        }
        for ((kind, target, name), completer) in &from.completers {
            let target =
                if *kind == "prompt" { format!("{prefix}{target}") } else { target.clone() };
            inner.completers.insert((kind, target, name.clone()), completer.clone());
        }
        self
    }
}
