//! Moments of Arrow as texts: `2026-01-31T10:20:30.5`, whose beginning is the day.

use std::fmt::Write as _;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::TimeUnit;
use jiff::civil::{Date, date};

use super::FileError;

/// What stands behind the day of a moment at midnight.
pub(super) const MIDNIGHT: &str = "T00:00:00";

/// A moment as text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment<'a> {
    text: &'a str,
    /// So many bytes of the text are the day.
    day: usize,
}

impl<'a> Moment<'a> {
    /// A text of a day, and of a time behind a `T`.
    pub(super) fn of(text: &'a str) -> Self {
        let day = text.find('T').unwrap_or(text.len());
        Self { text, day }
    }

    /// Day and time.
    pub(super) fn whole(self) -> &'a str {
        self.text
    }

    /// The day alone.
    pub(super) fn day(self) -> &'a str {
        &self.text[..self.day]
    }

    /// The day where the moment is at midnight, otherwise day and time.
    pub(super) fn shortest(self) -> &'a str {
        match &self.text[self.day..] == MIDNIGHT {
            true => self.day(),
            false => self.whole(),
        }
    }
}

/// Shows each moment of a column of timestamps, with its row.
pub(super) fn each_moment(
    (array, unit): (&dyn Array, TimeUnit),
    each: impl FnMut(usize, Option<Moment<'_>>) -> Result<(), FileError>,
) -> Result<(), FileError> {
    match unit {
        TimeUnit::Second => moments::<TimestampSecondType>(array, 0, each),
        TimeUnit::Millisecond => moments::<TimestampMillisecondType>(array, 3, each),
        TimeUnit::Microsecond => moments::<TimestampMicrosecondType>(array, 6, each),
        TimeUnit::Nanosecond => moments::<TimestampNanosecondType>(array, 9, each),
    }
}

/// Moments whose seconds have so many digits behind the point.
fn moments<T: ArrowPrimitiveType<Native = i64>>(
    array: &dyn Array,
    digits: u32,
    mut each: impl FnMut(usize, Option<Moment<'_>>) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let second = 10_i64.pow(digits);
    let mut text = String::new();
    for (row, moment) in array.as_primitive::<T>().iter().enumerate() {
        let Some(moment) = moment else {
            each(row, None)?;
            continue;
        };
        let (seconds, fraction) = (moment.div_euclid(second), moment.rem_euclid(second));
        let (day, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        text.clear();
        text.push_str(&day_text(day));
        let (hours, minutes, seconds) = (time / 3_600, time / 60 % 60, time % 60);
        // Writing to memory cannot fail.
        let _ = write!(text, "T{hours:02}:{minutes:02}:{seconds:02}");
        if fraction != 0 {
            let _ = write!(text, ".{fraction:00$}", digits as usize);
            text.truncate(text.trim_end_matches('0').len());
        }
        each(row, Some(Moment::of(&text)))?;
    }
    Ok(())
}

/// A day as releases write it. No domain has a day that no calendar has, so an error names the number of such a
/// day.
pub(super) fn day_text(days: i64) -> String {
    match day_since_1970(days) {
        Some(day) => day.to_string(),
        None => format!("{days} days after 1970-01-01"),
    }
}

fn day_since_1970(days: i64) -> Option<Date> {
    date(1970, 1, 1)
        .checked_add(jiff::Span::new().try_days(days).ok()?)
        .ok()
}
