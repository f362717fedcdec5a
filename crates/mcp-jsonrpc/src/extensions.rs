use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

/// Values by their type: facts that one layer leaves for another.
///
/// Empty ones cost nothing. A set may stand on a shared one, for example an exchange's on its
/// session's: then a value is looked up first here, then there.
#[derive(Clone, Default)]
pub struct Extensions {
    own: Vec<(TypeId, Arc<dyn Any + Send + Sync>)>,
    shared: Option<Arc<Self>>,
}

impl Extensions {
    /// An empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { own: Vec::new(), shared: None }
    }

    /// An empty set on top of a shared one.
    #[must_use]
    pub const fn on(shared: Arc<Self>) -> Self {
        Self { own: Vec::new(), shared: Some(shared) }
    }

    /// Puts a value in; answers whether this replaced one of this set's own.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) -> bool {
        self.insert_arc(Arc::new(value))
    }

    /// Puts a shared value in; answers whether this replaced one of this set's own.
    pub fn insert_arc<T: Send + Sync + 'static>(&mut self, value: Arc<T>) -> bool {
        let key = TypeId::of::<T>();
        let value: Arc<dyn Any + Send + Sync> = value;
        match self.own.iter_mut().find(|(known, _)| *known == key) {
            Some((_, slot)) => {
                *slot = value;
                true
            }
            None => {
                // There are seldom more than two, and a session keeps its own for long.
                if self.own.len() == self.own.capacity() {
                    self.own.reserve_exact(2);
                }
                self.own.push((key, value));
                false
            }
        }
    }

    /// Takes the value of type `T` out of this set's own. A shared one stays where it is.
    pub(crate) fn remove<T: Send + Sync + 'static>(&mut self) -> Option<Arc<T>> {
        let at = self.own.iter().position(|(known, _)| *known == TypeId::of::<T>())?;
        self.own.swap_remove(at).1.downcast().ok()
    }

    /// The value of type `T`, if there is one.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.find(TypeId::of::<T>()).and_then(|value| value.downcast_ref())
    }

    /// The value of type `T`, to be kept.
    #[must_use]
    pub fn get_arc<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.find(TypeId::of::<T>()).and_then(|value| Arc::clone(value).downcast().ok())
    }

    fn find(&self, key: TypeId) -> Option<&Arc<dyn Any + Send + Sync>> {
        match self.own.iter().find(|(known, _)| *known == key) {
            Some((_, value)) => Some(value),
            None => self.shared.as_deref().and_then(|shared| shared.find(key)),
        }
    }
}

/// Says how many values there are; what they are is nobody's business.
impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = self.shared.as_ref().map_or(0, |shared| shared.own.len());
        write!(f, "Extensions({} + {shared})", self.own.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_value_hides_the_shared_one() {
        let mut shared = Extensions::new();
        shared.insert(1u8);
        shared.insert("session");
        let mut own = Extensions::on(Arc::new(shared));
        assert!(!own.insert(2u8));
        assert_eq!((own.get::<u8>(), own.get::<&str>()), (Some(&2), Some(&"session")));
        assert!(own.insert(3u8));
        assert_eq!(own.get_arc::<u8>().as_deref(), Some(&3));
        assert_eq!(own.get::<u64>(), None);
    }
}
