use mcp_types::{ClientCapabilities, Method, Revision, ServerCapabilities, Side};

/// What one side has declared.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are two sides")]
pub enum Declared<'a> {
    /// The client.
    Client(&'a ClientCapabilities),
    /// The server.
    Server(&'a ServerCapabilities),
}

impl Declared<'_> {
    /// Whose capabilities these are.
    #[must_use]
    pub const fn side(&self) -> Side {
        match self {
            Self::Client(_) => Side::Client,
            Self::Server(_) => Side::Server,
        }
    }

    /// Whether this side may receive `method`.
    pub(super) const fn receives(&self, method: Method) -> bool {
        method.may_be_sent_by(match self {
            Self::Client(_) => Side::Server,
            Self::Server(_) => Side::Client,
        })
    }

    /// Whether the capability at `path`, such as `resources.subscribe`, is declared. An object
    /// is declared by being there, a flag by being `true`.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        match self {
            Self::Client(capabilities) => capabilities.has(path),
            Self::Server(capabilities) => capabilities.has(path),
        }
    }

    /// Whether this side runs `method` as a task when it is asked to. What it has not declared
    /// it doesn't: a request that asks for it all the same is run as if it hadn't.
    ///
    /// Specification: [task support](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#capability-negotiation).
    #[must_use]
    pub fn runs_as_task(&self, method: Method, revision: Revision) -> bool {
        let path = match (self, method) {
            (Self::Server(_), Method::ToolsCall) => "tasks.requests.tools.call",
            (Self::Client(_), Method::SamplingCreateMessage) => {
                "tasks.requests.sampling.createMessage"
            }
            (Self::Client(_), Method::ElicitationCreate) => "tasks.requests.elicitation.create",
            _ => return false,
        };
        revision.has_core_tasks() && self.has(path)
    }
}

/// In which ways a client lets a server ask its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationModes {
    /// By a form.
    pub form: bool,
    /// By sending the user to a URL.
    pub url: bool,
}

impl ElicitationModes {
    /// What `capabilities` allow in `revision`. A declaration without a mode means forms alone.
    ///
    /// Specification: [elicitation](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities).
    #[must_use]
    pub fn of(capabilities: &ClientCapabilities, revision: Revision) -> Self {
        Self {
            form: revision.has_elicitation() && capabilities.has("elicitation.form"),
            url: revision.has_url_elicitation() && capabilities.has("elicitation.url"),
        }
    }
}
