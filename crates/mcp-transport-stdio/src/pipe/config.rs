use mcp_jsonrpc::Limits;

/// What a link over pipes accepts, and how much it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipeConfig {
    /// What is accepted from the peer. A line over [`Limits::frame_bytes`] is skipped.
    pub limits: Limits,
    /// Bytes of one message to the peer; 16 MiB by default. A longer one is
    /// [refused](mcp_jsonrpc::link::v1::LinkError::Refused).
    pub outgoing_bytes: usize,
    /// Bytes that wait to be written before the link has no room; 256 KiB by default, exceeded
    /// by one message at most.
    pub high_water: usize,
    /// What becomes of a line that is no message.
    pub noise: OnNoise,
}

/// What becomes of a line that is no message, and of which not even an id can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnNoise {
    /// It is reported as [`Incoming::Malformed`](mcp_jsonrpc::link::v1::Incoming::Malformed),
    /// and so gets an answer: for a server, whose client sends nothing but messages.
    #[default]
    Report,
    /// It is logged, counted and skipped: for a client, since servers, and what starts them,
    /// print to their stdout.
    Skip,
}

impl PipeConfig {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            limits: Limits::new(),
            outgoing_bytes: 16 * 1024 * 1024,
            high_water: 256 * 1024,
            noise: OnNoise::Report,
        }
    }

    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets [`outgoing_bytes`](Self::outgoing_bytes).
    #[must_use]
    pub const fn with_outgoing_bytes(mut self, bytes: usize) -> Self {
        self.outgoing_bytes = bytes;
        self
    }

    /// Sets [`high_water`](Self::high_water); at least one byte.
    #[must_use]
    pub const fn with_high_water(mut self, bytes: usize) -> Self {
        self.high_water = if bytes == 0 { 1 } else { bytes };
        self
    }

    /// Sets [`noise`](Self::noise).
    #[must_use]
    pub const fn with_noise(mut self, noise: OnNoise) -> Self {
        self.noise = noise;
        self
    }
}

impl Default for PipeConfig {
    fn default() -> Self {
        Self::new()
    }
}
