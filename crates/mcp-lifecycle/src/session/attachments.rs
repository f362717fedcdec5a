use std::any::{Any, TypeId};
use std::fmt;
use std::sync::OnceLock;

/// At most [`Attachments::MAX`] values, one of a type, that are put in once and stay.
///
/// A list whose links are set once: no lock, and nothing allocated while it is empty.
#[derive(Default)]
pub(super) struct Attachments {
    first: OnceLock<Box<Node>>,
}

struct Node {
    key: TypeId,
    value: Box<dyn Any + Send + Sync>,
    next: OnceLock<Box<Self>>,
}

/// There are too many attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session takes at most {} attachments", Attachments::MAX)]
#[non_exhaustive]
pub struct TooManyAttachments;

impl Attachments {
    /// A handful of layers, each with one value.
    pub(super) const MAX: usize = 16;

    pub(super) fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let mut slot = &self.first;
        while let Some(node) = slot.get() {
            if node.key == TypeId::of::<T>() {
                return node.value.downcast_ref();
            }
            slot = &node.next;
        }
        None
    }

    pub(super) fn get_or_insert<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce() -> T,
    ) -> Result<&T, TooManyAttachments> {
        if let Some(known) = self.get() {
            return Ok(known);
        }
        let key = TypeId::of::<T>();
        let mut made = Some(Box::new(Node { key, value: Box::new(make()), next: OnceLock::new() }));
        let mut slot = &self.first;
        for _ in 0..Self::MAX {
            if let Some(node) = made.take() {
                // Somebody else may have been faster, with the same type or another.
                made = slot.set(node).err();
            }
            let Some(node) = slot.get() else { break };
            if node.key == key {
                return node.value.downcast_ref().ok_or(TooManyAttachments);
            }
            slot = &node.next;
        }
        Err(TooManyAttachments)
    }

    fn len(&self) -> usize {
        let (mut slot, mut len) = (&self.first, 0);
        while let Some(node) = slot.get() {
            slot = &node.next;
            len += 1;
        }
        len
    }
}

/// Says how many there are; what they are is nobody's business.
impl fmt::Debug for Attachments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attachments({})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_of_a_type() {
        let attachments = Attachments::default();
        assert_eq!(attachments.get::<u8>(), None);
        assert_eq!(attachments.get_or_insert(|| 1u8), Ok(&1));
        assert_eq!(attachments.get_or_insert(|| "a"), Ok(&"a"));
        assert_eq!(attachments.get_or_insert(|| 2u8), Ok(&1));
        assert_eq!(attachments.get::<&str>(), Some(&"a"));
        assert_eq!(format!("{attachments:?}"), "Attachments(2)");
    }

    struct Mark<const N: usize>;

    macro_rules! fill {
        ($attachments:expr, $($n:literal)*) => {
            [$($attachments.get_or_insert(|| Mark::<$n>).is_ok()),*]
        };
    }

    #[test]
    fn there_is_a_bound() {
        let attachments = Attachments::default();
        let put = fill!(attachments, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
        assert_eq!(put.iter().filter(|put| **put).count(), Attachments::MAX);
        assert!(!put[16]);
        assert!(attachments.get_or_insert(|| Mark::<3>).is_ok(), "one that is there is found");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the race is what is tested")]
    fn all_who_race_get_the_same_value() {
        for _ in 0..100 {
            let attachments = std::sync::Arc::new(Attachments::default());
            let threads: Vec<_> = (0..4usize)
                .map(|n| {
                    let attachments = std::sync::Arc::clone(&attachments);
                    std::thread::spawn(move || *attachments.get_or_insert(|| n).unwrap())
                })
                .collect();
            let got: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(got.windows(2).all(|pair| pair[0] == pair[1]), "{got:?}");
            assert_eq!(attachments.len(), 1);
        }
    }
}
