use std::io;

/// A rule that a URL broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// Neither `https`, nor `http` within loopback.
    #[error("only https is allowed, and http within loopback")]
    Scheme,
    /// There is no host.
    #[error("the URL has no host")]
    Host,
    /// There is a user name or a password in it.
    #[error("the URL has a user name")]
    User,
    /// It stands for an address that nothing may be fetched from.
    #[error("the host has an address that nothing may be fetched from")]
    Address,
    /// It leads further inwards than where it came from.
    #[error("the host is further inwards than the server that named it")]
    Inwards,
    /// A redirect leaves `https`, or its host without it.
    #[error("the redirect leaves https")]
    Downgrade,
    /// It is too long.
    #[error("the URL is too long")]
    TooLong,
}

/// A document can't be fetched, or a request not be made.
///
/// Hosts are shown; queries never are.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL breaks a rule: nothing was sent.
    #[error("{host} may not be reached")]
    Refused {
        /// The URL's host.
        host: String,
        /// The rule.
        #[source]
        rule: Rule,
    },
    /// The host has no address, or none that we could find.
    #[error("the address of {host} can't be found")]
    Resolve {
        /// The host.
        host: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// No connection could be made.
    #[error("{host} can't be reached")]
    Connect {
        /// The host.
        host: String,
        /// The cause, of the address tried last.
        #[source]
        source: io::Error,
    },
    /// The connection broke.
    #[error("the connection to {host} broke")]
    Broken {
        /// The host.
        host: String,
        /// The cause.
        #[source]
        source: hyper::Error,
    },
    /// It took too long.
    #[error("{host} took too long to answer")]
    TimedOut {
        /// The host.
        host: String,
    },
    /// The answer is too large.
    #[error("the answer of {host} is larger than {limit} bytes")]
    TooLarge {
        /// The host.
        host: String,
        /// The limit that was in force, in bytes.
        limit: usize,
    },
    /// There were more redirects than are followed; none is for anything but a document.
    #[error("{host} redirects where no redirect is followed")]
    Redirected {
        /// The host that redirects.
        host: String,
        /// The host that it redirects to.
        to: Option<String>,
    },
    /// The request can't be written down, or the roots of trust can't be read.
    #[error("the request can't be made")]
    Unmade {
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl FetchError {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::Broken { .. }
            | Self::TimedOut { .. } => true,
            Self::Refused { .. }
            | Self::TooLarge { .. }
            | Self::Redirected { .. }
            | Self::Unmade { .. } => false,
        }
    }
}
