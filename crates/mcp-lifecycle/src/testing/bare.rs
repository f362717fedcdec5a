use std::sync::Arc;

use mcp_jsonrpc::service::v1::{Inbound, Replies, Reply, Service};
use mcp_jsonrpc::{ErrorObject, Outgoing};
use mcp_types::{Implementation, InitializeResult, Method};

use crate::v1::McpService;
use crate::{PeerFacts, Profile};

/// A server that does what every server has to, and answers everything else by `{}`: for tests
/// of what carries messages.
#[derive(Clone, Debug)]
pub struct BareServer {
    profile: Arc<Profile>,
}

impl BareServer {
    /// A server that declares `profile`, and can do nothing of it.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile: Arc::new(profile) }
    }
}

impl McpService for BareServer {
    fn profile(&self) -> Arc<Profile> {
        Arc::clone(&self.profile)
    }
}

impl Service for BareServer {
    async fn call(&self, inbound: Inbound, _replies: Replies) -> Reply {
        let Some(id) = inbound.id() else { return Reply::Silent };
        if *inbound.method() != Method::Initialize.as_str() {
            return Reply::Response(Outgoing::result_raw(id.clone(), b"{}"));
        }
        let Some(facts) = PeerFacts::of(&inbound.extensions) else {
            return Reply::error(id, &ErrorObject::internal("nothing is known about the client"));
        };
        let mut capabilities = self.profile.capabilities.clone();
        mcp_types::Project::project(&mut capabilities, facts.caller.revision);
        let info = Implementation::new("bare", "0");
        let result = InitializeResult::new(facts.caller.revision.as_str(), capabilities, info);
        Reply::result(id, &result)
    }
}
