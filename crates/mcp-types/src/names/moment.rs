//! A moment of the system's clock as a text.

use std::time::{Duration, SystemTime};

use super::text::Timestamp;

impl From<SystemTime> for Timestamp {
    /// The moment in UTC, to the millisecond: RFC 3339, such as `2025-11-25T10:30:00.000Z`.
    ///
    /// Moments outside of the years 1970 to 9999, which that format can't say or nobody means,
    /// become the nearest one inside.
    fn from(moment: SystemTime) -> Self {
        let since = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let since = since.min(LAST);
        let (seconds, millis) = (since.as_secs(), since.subsec_millis());
        let (days, second) = (seconds / DAY, seconds % DAY);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        Self::from(format!(
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
        ))
    }
}

const DAY: u64 = 86_400;

/// The last millisecond of the year 9999.
const LAST: Duration = Duration::from_millis(253_402_300_799_999);

/// Year, month and day of the Gregorian calendar, from the days since 1970-01-01.
///
/// Counted in years that begin in March, so that the leap day is the last of its year.
const fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    // From 0000-03-01 on.
    let days = days + 719_468;
    let (era, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / (DAYS_OF_400_YEARS - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + later, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> String {
        Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_millis(millis)).as_str().to_owned()
    }

    // Shows: TASK-042, TASK-043
    #[test]
    fn moments_are_written_as_rfc_3339_has_it() {
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(at(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(951_868_800_000), "2000-03-01T00:00:00.000Z");
        assert_eq!(at(1_709_164_800_001), "2024-02-29T00:00:00.001Z");
        assert_eq!(at(1_764_066_600_000), "2025-11-25T10:30:00.000Z");
        assert_eq!(at(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(at(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
        assert_eq!(at(u64::MAX / 2), "9999-12-31T23:59:59.999Z");
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(Timestamp::from(before), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 1..366 * 300 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > last {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
            assert_eq!(date(days), (year, month, day));
        }
    }
}
