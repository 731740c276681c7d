//! The day of a release, in universal time: of a run between sites the day that all sites agree on, of
//! a release that is made in one place today. `SOURCE_DATE_EPOCH`, seconds since 1970, stands in for the
//! clock where the bytes of a release must be the same on another day (reproducible-builds.org).

use std::time::SystemTime;

use jiff::Span;
use jiff::civil::{Date, date};

/// The variable of the environment that stands in for the clock.
const CLOCK: &str = "SOURCE_DATE_EPOCH";

/// A day by its number since 1970, as manifests write it: `2026-01-31`.
pub(crate) fn written(day: u32) -> String {
    let first = date(1970, 1, 1);
    let span = Span::new().try_days(i64::from(day));
    // A number beyond the calendar is written as the calendar's last day.
    let day = span.and_then(|span| first.checked_add(span));
    day.unwrap_or(Date::MAX).to_string()
}

/// Today, in days since 1970.
pub(crate) fn today() -> u32 {
    let said = std::env::var(CLOCK).ok();
    let said = said.and_then(|seconds| seconds.parse::<u64>().ok());
    let seconds = said.unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.unwrap_or_default().as_secs()
    });
    u32::try_from(seconds / 86_400).unwrap_or(u32::MAX)
}

/// Whether a text is a day as manifests write it.
pub(crate) fn is_day(text: &str) -> bool {
    text.parse::<Date>()
        .is_ok_and(|day| day.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_as_people_write_them() {
        assert_eq!(written(0), "1970-01-01");
        assert_eq!(written(20_484), "2026-01-31");
        assert_eq!(written(u32::MAX), "9999-12-31");
        assert!(is_day(&written(20_484)) && is_day(&written(u32::MAX)));
        for text in [
            "",
            "2026-1-31",
            "2026-02-30",
            "2026-01-31T00:00",
            "20260131",
        ] {
            assert!(!is_day(text), "{text}");
        }
    }
}
