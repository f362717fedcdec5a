/// What a peer may ask of the decoder. Each limit has an error of its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one frame; 16 MiB by default.
    pub frame_bytes: usize,
    /// How deep arrays and objects may be nested in a frame, the envelope (and the batch around
    /// it) included; 64 by default. Less than 1 counts as 1, and more than 127 as 127, since
    /// `serde_json` stops there.
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

    /// Sets [`depth`](Self::depth).
    #[must_use]
    pub const fn with_depth(mut self, levels: usize) -> Self {
        self.depth = levels;
        self
    }

    /// The depth that is in force.
    pub(crate) const fn max_depth(&self) -> usize {
        match self.depth {
            0 => 1,
            1..=127 => self.depth,
            _ => 127,
        }
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
