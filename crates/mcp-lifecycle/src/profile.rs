//! What a side offers.

use mcp_types::{ClientCapabilities, Implementation, ServerCapabilities};

use crate::RevisionSet;

/// What a server offers to every client.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The revisions that it speaks; every one with a handshake by default.
    pub revisions: RevisionSet,
    /// What it can do. A request that takes a capability which isn't here is refused.
    pub capabilities: ServerCapabilities,
    /// What becomes of methods that no revision has.
    pub unknown_methods: UnknownMethods,
}

/// What becomes of a method that no revision of the protocol has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownMethods {
    /// A request is answered by `-32601`, a notification ignored.
    #[default]
    Refuse,
    /// The service gets it: for proxies, and for methods of one's own.
    Serve,
}

impl Profile {
    /// A server with these capabilities.
    #[must_use]
    pub fn new(capabilities: ServerCapabilities) -> Self {
        Self { capabilities, ..Self::default() }
    }

    /// Sets the revisions that it speaks.
    #[must_use]
    pub fn with_revisions(mut self, revisions: impl Into<RevisionSet>) -> Self {
        self.revisions = revisions.into();
        self
    }

    /// Sets what becomes of methods that no revision has.
    #[must_use]
    pub const fn with_unknown_methods(mut self, unknown_methods: UnknownMethods) -> Self {
        self.unknown_methods = unknown_methods;
        self
    }
}

/// What a client offers to its server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClientProfile {
    /// What it is.
    pub info: Implementation,
    /// The revisions that it speaks; every one with a handshake by default.
    pub revisions: RevisionSet,
    /// What it can do. A request that takes a capability which isn't here is refused.
    pub capabilities: ClientCapabilities,
    /// Capabilities that it can't do without, such as `tools`: with a server that lacks one the
    /// handshake fails.
    pub required: Vec<&'static str>,
    /// What becomes of methods that no revision has.
    pub unknown_methods: UnknownMethods,
}

impl ClientProfile {
    /// A client that can do nothing for its server.
    #[must_use]
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            revisions: RevisionSet::default(),
            capabilities: ClientCapabilities::new(),
            required: Vec::new(),
            unknown_methods: UnknownMethods::default(),
        }
    }

    /// Sets what it can do.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets the revisions that it speaks.
    #[must_use]
    pub fn with_revisions(mut self, revisions: impl Into<RevisionSet>) -> Self {
        self.revisions = revisions.into();
        self
    }

    /// Adds a capability of the server that it can't do without, such as `tools` or
    /// `resources.subscribe`.
    #[must_use]
    pub fn with_required(mut self, capability: &'static str) -> Self {
        self.required.push(capability);
        self
    }

    /// Sets what becomes of methods that no revision has.
    #[must_use]
    pub const fn with_unknown_methods(mut self, unknown_methods: UnknownMethods) -> Self {
        self.unknown_methods = unknown_methods;
        self
    }
}
