//! What may cross threads.

use mcp_lifecycle::{
    Caller, ClientHandle, ClientProfile, ClientSession, Deadline, GateError, HandshakeError, Ids,
    KeepAlive, Negotiated, PeerFacts, Profile, ProgressReporter, ProgressTable, Refusal,
    RevisionSet, ServerSession, Session, TimedOut, Timeouts, TraceContext, Unchecked, v1,
};

fn crosses<T: Send + Sync>() {}

#[test]
fn everything_may_cross_threads() {
    crosses::<(Caller, PeerFacts, TraceContext, Profile, ClientProfile, RevisionSet)>();
    crosses::<(ServerSession, ClientSession, ClientHandle, Negotiated, Session)>();
    crosses::<(Timeouts, Deadline, TimedOut, Ids, ProgressTable, ProgressReporter<String>)>();
    crosses::<(KeepAlive, GateError, Refusal, HandshakeError, Unchecked)>();
    crosses::<(Box<dyn v1::Clock>, Box<dyn v1::IdSource>, v1::NoRandomness)>();
    crosses::<(Box<dyn v1::SchemaValidator>, Box<dyn v1::Validator>, v1::SchemaError)>();
}
