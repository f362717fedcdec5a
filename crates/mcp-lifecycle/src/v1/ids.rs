use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;

/// Makes ids that nobody can guess: of sessions, tasks, elicitations.
///
/// This is an **open** trait: implement it freely. Within `v1`, new methods always come with a
/// default body. It is object-safe.
///
/// # Contract
///
/// The bytes come from a cryptographically secure source, and no two calls share them. (A
/// test's fake is neither, and says so.) Calls don't wait, and may come from several threads.
///
/// The contract, as far as it shows, is proved by `testing::id_source_suite`.
pub trait IdSource: Send + Sync + 'static {
    /// Fills `bytes` at random.
    ///
    /// # Errors
    ///
    /// When the source has none to give; then `bytes` are of no use.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness>;

    /// An id of 128 random bits, as 32 lower-case hexadecimal digits: fit for a header, a URL
    /// and a file name.
    ///
    /// # Errors
    ///
    /// As [`fill`](Self::fill).
    fn id(&self) -> Result<String, NoRandomness> {
        let mut bytes = [0; 16];
        self.fill(&mut bytes)?;
        let mut id = String::with_capacity(32);
        for byte in bytes {
            // Writing to a `String` never fails.
            let _ = write!(id, "{byte:02x}");
        }
        Ok(id)
    }
}

impl<I: IdSource + ?Sized> IdSource for Arc<I> {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        (**self).fill(bytes)
    }

    fn id(&self) -> Result<String, NoRandomness> {
        (**self).id()
    }
}

/// The source of randomness has none to give.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the source of randomness failed")]
pub struct NoRandomness {
    source: Arc<dyn Error + Send + Sync>,
}

impl NoRandomness {
    /// With its cause.
    pub fn new(source: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Arc::new(source) }
    }
}
