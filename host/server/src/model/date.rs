//! Moments as the wire shows them.

use std::time::Duration;

use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Iso8601;
use time::macros::format_description;
use time::{Date, OffsetDateTime, PrimitiveDateTime, UtcOffset};

/// UTC, milliseconds, `Z`.
const FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// A day: `2026-01-31`.
const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// Milliseconds since 1970, now.
pub fn now_ms() -> i64 {
    i64::try_from(OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

/// So long after a moment, milliseconds since 1970.
pub fn later(at_ms: i64, by: Duration) -> i64 {
    at_ms.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
}

/// `2026-01-01T10:00:00.000Z` for milliseconds since 1970.
pub fn iso(at_ms: i64) -> String {
    let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(at_ms) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH);
    moment.format(FORMAT).unwrap_or_default()
}

/// The day of a moment, UTC: `2026-01-31`.
pub fn day(at_ms: i64) -> String {
    iso(at_ms).split('T').next().unwrap_or_default().to_owned()
}

/// Whether the text is a day of the calendar in the form `2026-01-31`.
pub fn is_day(text: &str) -> bool {
    text.len() == 10 && Date::parse(text, DAY).is_ok()
}

/// A moment in ISO 8601, in UTC. Without an offset it is one of UTC; without a time of day it
/// is midnight.
pub fn moment(text: &str) -> Option<OffsetDateTime> {
    if let Ok(day) = Date::parse(text, DAY) {
        return Some(day.midnight().assume_utc());
    }
    // In a query string a plus that was not encoded means a space.
    let text = text.replace(' ', "+");
    let moment = OffsetDateTime::parse(&text, &Iso8601::DEFAULT)
        .or_else(|_| PrimitiveDateTime::parse(&text, &Iso8601::DEFAULT).map(PrimitiveDateTime::assume_utc));
    moment.ok()?.checked_to_offset(UtcOffset::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_utc() {
        for (text, at) in [
            ("2026-01-31", "2026-01-31T00:00:00.000Z"),
            ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00.000Z"),
            ("2026-01-31T10:00:00.25", "2026-01-31T10:00:00.250Z"),
            ("2026-01-31T01:00:00+02:00", "2026-01-30T23:00:00.000Z"),
            ("2026-01-31T01:00:00 02:00", "2026-01-30T23:00:00.000Z"),
        ] {
            let read = moment(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(iso((read.unix_timestamp_nanos() / 1_000_000) as i64), at, "{text}");
        }
        for text in ["", "x", "2026-02-30", "2026-13-01", "31.01.2026", "1769817600", "2026-01-31T25:00:00Z"]
        {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn dates_have_milliseconds_and_a_z() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_767_261_600_007), "2026-01-01T10:00:00.007Z");
        assert_eq!(iso(now_ms()).len(), iso(0).len());
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(1_767_225_600_000 - 1), "2025-12-31");
        assert_eq!(day(1_767_225_600_000), "2026-01-01");
        assert!(is_day("2024-02-29"));
        for text in ["2025-02-29", "2025-13-01", "2025-1-01", "+2025-01-01", "2025-01-01 ", "", "today"] {
            assert!(!is_day(text), "{text}");
        }
    }
}
