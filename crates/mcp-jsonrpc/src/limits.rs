/// What a peer may ask of the decoder. Each limit has an error of its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one frame; 16 MiB by default.
    pub frame_bytes: usize,
    /// How deep arrays and objects may be nested in a frame, the envelope included; 64 by
    /// default, 127 at most, since `serde_json` stops there.
    pub depth: usize,
    /// Messages in one batch; 100 by default.
    pub batch: usize,
}

impl Limits {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self { frame_bytes: 16 * 1024 * 1024, depth: 64, batch: 100 }
    }

    /// Sets [`frame_bytes`](Self::frame_bytes).
    #[must_use]
    pub const fn with_frame_bytes(mut self, bytes: usize) -> Self {
        self.frame_bytes = bytes;
        self
    }

    /// Sets [`depth`](Self::depth); more than 127 counts as 127.
    #[must_use]
    pub const fn with_depth(mut self, depth: usize) -> Self {
        self.depth = if depth > 127 { 127 } else { depth };
        self
    }

    /// Sets [`batch`](Self::batch).
    #[must_use]
    pub const fn with_batch(mut self, messages: usize) -> Self {
        self.batch = messages;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
