use std::sync::Arc;

use mcp_jsonrpc::service::v1::Service;

use crate::Profile;

/// A [`Service`] that says what it offers, so that a transport can negotiate and gate on its
/// behalf. This is what transports take.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body.
///
/// # Contract
///
/// - [`profile`](Self::profile) is asked once for each peer, when it connects; what it says
///   stays true for that peer.
/// - `initialize` is called like any other request, once the revision was negotiated: the
///   answer is built from the [`PeerFacts`](crate::PeerFacts) in its extensions, and declares
///   exactly the capabilities of the profile, projected onto that revision. `ping` is called in
///   every phase, before the handshake without any facts.
///
/// The contract is proved by `testing::service_suite`.
pub trait McpService: Service {
    /// What is offered.
    fn profile(&self) -> Arc<Profile>;
}

impl<S: McpService> McpService for Arc<S> {
    fn profile(&self) -> Arc<Profile> {
        (**self).profile()
    }
}
