//! A time as people type it.

use std::time::Duration;

use jiff::SignedDuration;

/// A time such as `10s`, `2m` or `1h 30m`.
pub(crate) fn time(words: &str) -> Result<Duration, String> {
    let time = words.parse::<SignedDuration>();
    let time = time.ok().and_then(|time| Duration::try_from(time).ok());
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| String::from("expected a time above nothing, such as 10s, 2m or 1h 30m"))
}
