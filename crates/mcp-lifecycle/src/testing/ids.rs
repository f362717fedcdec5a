use std::sync::atomic::{AtomicU64, Ordering};

use crate::v1::{IdSource, NoRandomness};

/// Ids from a seed: the same ones in each run. Anybody can guess them.
#[derive(Debug)]
pub struct SeededIds(AtomicU64);

impl SeededIds {
    /// A source that starts with `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// Eight bytes more (SplitMix64, by Steele, Lea and Flood).
    fn next(&self) -> [u8; 8] {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let mut z = self.0.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    }
}

impl IdSource for SeededIds {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        for chunk in bytes.chunks_mut(8) {
            chunk.iter_mut().zip(self.next()).for_each(|(byte, random)| *byte = random);
        }
        Ok(())
    }
}
