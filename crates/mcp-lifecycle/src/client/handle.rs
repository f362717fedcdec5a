use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use mcp_jsonrpc::{RawJson, Response};
use mcp_types::{InitializeRequestParams, InitializeResult, Method, Revision};

use super::handshake::{self, HandshakeError, Negotiated};
use crate::gate::{Declared, GateError, Outbound};
use crate::{ClientProfile, negotiate};

/// The client's view of a conversation with one server: what was negotiated, and what may be
/// sent. Shared with the [`ClientSession`](super::ClientSession) that a driver owns.
///
/// Cheap to clone; reading takes no lock.
#[derive(Clone)]
pub struct ClientHandle(Arc<Shared>);

struct Shared {
    profile: ClientProfile,
    phase: AtomicU8,
    /// Set before the phase becomes [`ClientPhase::Operating`], and never again.
    negotiated: OnceLock<Arc<Negotiated>>,
}

/// Where a conversation with a server stands.
///
/// ```text
///        hello             accept
/// Fresh ──────▶ Greeting ─────────▶ Operating
///                   └── any failure, or close ──▶ Closed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientPhase {
    /// Nothing was sent.
    Fresh,
    /// `initialize` was sent, and not answered yet.
    Greeting,
    /// The handshake is over.
    Operating,
    /// The conversation is over.
    Closed,
}

impl ClientPhase {
    const fn as_u8(self) -> u8 {
        match self {
            Self::Fresh => 0,
            Self::Greeting => 1,
            Self::Operating => 2,
            Self::Closed => 3,
        }
    }

    const fn from_u8(phase: u8) -> Self {
        match phase {
            0 => Self::Fresh,
            1 => Self::Greeting,
            2 => Self::Operating,
            // Nothing else is ever stored.
            _ => Self::Closed,
        }
    }
}

impl ClientHandle {
    /// A conversation that has not begun.
    #[must_use]
    pub fn new(profile: ClientProfile) -> Self {
        let phase = AtomicU8::new(ClientPhase::Fresh.as_u8());
        Self(Arc::new(Shared { profile, phase, negotiated: OnceLock::new() }))
    }

    /// Begins: the parameters of `initialize`, which is the first message that is sent. It asks
    /// for the newest revision that we speak, and is readable by all of them.
    ///
    /// # Errors
    ///
    /// [`HandshakeError::NothingToOffer`] when we speak no revision with a handshake,
    /// [`HandshakeError::OutOfTurn`] when the handshake was begun before.
    pub fn hello(&self) -> Result<InitializeRequestParams, HandshakeError> {
        let profile = &self.0.profile;
        let revision = self.offered()?;
        if !self.moved(ClientPhase::Fresh, ClientPhase::Greeting) {
            return Err(HandshakeError::OutOfTurn);
        }
        Ok(InitializeRequestParams::new(
            revision.as_str(),
            profile.capabilities.clone(),
            profile.info.clone(),
        ))
    }

    /// The server has answered `initialize`. On success `notifications/initialized` has to be
    /// sent next; on failure the connection has to be closed, and nothing sent.
    ///
    /// # Errors
    ///
    /// Why there is nothing to talk about with this server.
    pub fn conclude(&self, response: &Response) -> Result<Arc<Negotiated>, HandshakeError> {
        self.greeting()?;
        match &response.outcome {
            Ok(result) => self.conclude_with(result),
            Err(error) => {
                let requested = self.offered()?;
                self.failed(HandshakeError::refused(error.clone(), requested))
            }
        }
    }

    /// [`conclude`](Self::conclude), for a result.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn conclude_with(&self, result: &RawJson) -> Result<Arc<Negotiated>, HandshakeError> {
        self.greeting()?;
        match handshake::read(result, self.0.profile.revisions) {
            Ok(result) => self.accept(&result),
            Err(error) => self.failed(error),
        }
    }

    /// [`conclude`](Self::conclude), for a result that was read already.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn accept(&self, result: &InitializeResult) -> Result<Arc<Negotiated>, HandshakeError> {
        self.greeting()?;
        match handshake::settle(result, &self.0.profile) {
            Ok(negotiated) => {
                tracing::debug!(
                    revision = %negotiated.revision, server = %negotiated.server.name, "initialized"
                );
                let negotiated = Arc::clone(self.0.negotiated.get_or_init(|| Arc::new(negotiated)));
                if self.moved(ClientPhase::Greeting, ClientPhase::Operating) {
                    Ok(negotiated)
                } else {
                    // Closed in the meantime.
                    Err(HandshakeError::OutOfTurn)
                }
            }
            Err(error) => self.failed(error),
        }
    }

    /// Ends the conversation: nothing may be sent from here on, and whatever comes is refused,
    /// or ignored.
    pub fn close(&self) {
        self.0.phase.store(ClientPhase::Closed.as_u8(), Ordering::Release);
    }

    /// Where the conversation stands.
    #[must_use]
    pub fn phase(&self) -> ClientPhase {
        ClientPhase::from_u8(self.0.phase.load(Ordering::Acquire))
    }

    /// What was negotiated, once it was.
    #[must_use]
    pub fn negotiated(&self) -> Option<&Arc<Negotiated>> {
        self.0.negotiated.get()
    }

    /// The revision that was negotiated, once it was.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.negotiated().map(|negotiated| negotiated.revision)
    }

    /// What we offer.
    #[must_use]
    pub fn profile(&self) -> &ClientProfile {
        &self.0.profile
    }

    /// Whether `method` may be sent now. To be asked before anything is.
    ///
    /// # Errors
    ///
    /// Why it may not.
    pub fn check(&self, method: Method) -> Result<(), GateError> {
        self.with_outbound(method, |outbound| outbound.check(method))
    }

    /// Whether `method` may be sent now with the wish to be run as a task.
    ///
    /// # Errors
    ///
    /// Why it may not.
    pub fn check_as_task(&self, method: Method) -> Result<(), GateError> {
        self.with_outbound(method, |outbound| outbound.check_as_task(method))
    }

    fn with_outbound(
        &self,
        method: Method,
        check: impl FnOnce(Outbound<'_>) -> Result<(), GateError>,
    ) -> Result<(), GateError> {
        let ours = Declared::Client(&self.0.profile.capabilities);
        match (self.phase(), self.negotiated()) {
            (ClientPhase::Operating, Some(negotiated)) => {
                let theirs = Declared::Server(&negotiated.capabilities);
                check(Outbound::new(negotiated.revision, ours, theirs))
            }
            (ClientPhase::Closed, _) => Err(GateError::Closed),
            (ClientPhase::Fresh | ClientPhase::Greeting | ClientPhase::Operating, _) => {
                match method {
                    Method::Ping | Method::Initialize => Ok(()),
                    _ => Err(GateError::TooEarly { method }),
                }
            }
        }
    }

    /// Whether the answer to `initialize` is waited for.
    fn greeting(&self) -> Result<(), HandshakeError> {
        if self.phase() == ClientPhase::Greeting { Ok(()) } else { Err(HandshakeError::OutOfTurn) }
    }

    fn offered(&self) -> Result<Revision, HandshakeError> {
        let spoken = self.0.profile.revisions;
        negotiate::offer(spoken).ok_or(HandshakeError::NothingToOffer { spoken })
    }

    fn failed<T>(&self, error: HandshakeError) -> Result<T, HandshakeError> {
        tracing::debug!(%error, "the handshake failed");
        self.close();
        Err(error)
    }

    fn moved(&self, from: ClientPhase, to: ClientPhase) -> bool {
        let phase = &self.0.phase;
        phase
            .compare_exchange(from.as_u8(), to.as_u8(), Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

impl fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientHandle")
            .field("phase", &self.phase())
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}
