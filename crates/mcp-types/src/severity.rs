//! How serious log messages are.

use crate::LoggingLevel;

impl LoggingLevel {
    /// How serious: 0 for `debug` to 7 for `emergency`.
    #[must_use]
    pub const fn severity(self) -> u8 {
        match self {
            Self::Debug => 0,
            Self::Info => 1,
            Self::Notice => 2,
            Self::Warning => 3,
            Self::Error => 4,
            Self::Critical => 5,
            Self::Alert => 6,
            Self::Emergency => 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::LoggingLevel;

    #[test]
    fn levels_are_ordered_from_debug_to_emergency() {
        assert!(LoggingLevel::Debug < LoggingLevel::Info);
        assert!(LoggingLevel::Error < LoggingLevel::Critical);
        assert!(LoggingLevel::Critical < LoggingLevel::Emergency);
        assert_eq!(LoggingLevel::Emergency.severity(), 7);
    }
}
