//! The client's side of a conversation in the stateful era.

mod handle;
mod handshake;
mod session;

pub use self::{
    handle::{ClientHandle, ClientPhase},
    handshake::{HandshakeError, Negotiated},
    session::ClientSession,
};
