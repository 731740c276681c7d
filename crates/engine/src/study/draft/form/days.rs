//! Days of a column: a range of days in a format of a study, or the days that occur under months and years.

use hedgerow_data::profile::{DayFormat, Profile};
use hedgerow_data::{Role, Spelling, taxonomy};
use jiff::civil::Date;

use super::{Form, Formed, Making, flat, listed, missing_notes, texts};

/// What is said of days that could be read in two ways.
const SWAPPED: &str = "doubt: day and month may stand the other way round";

/// Days that span more years than these are rounded to decades.
const MANY_YEARS: i16 = 20;

/// A range of days; `None` where no format of a study reads them.
pub(super) fn days(profile: &Profile, format: DayFormat, making: Making) -> Option<Formed> {
    let first = format.read(&profile.values.first()?.text)?;
    let last = format.read(&profile.values.last()?.text)?;
    let range = match making.least_records {
        Some(_) => rounded_days((first, last))?,
        None => (first, last),
    };
    let (range, spelled) = match format.is_iso() {
        true => (range, None),
        false => {
            let texts = || profile.values.iter().map(|value| value.text.as_str());
            let spelled = format.of_study(texts)?;
            let reads = |range: &(Date, Date)| Spelling::days(&spelled, (*range).into()).is_ok();
            let range = [range, within_century(range)?].into_iter().find(reads)?;
            (range, Some(spelled))
        }
    };
    let mut notes = Vec::new();
    if format.has_time() {
        notes.push(String::from("the time of day is left out"));
    }
    if format.is_ambiguous() {
        notes.push(String::from(SWAPPED));
    }
    if making.role == Role::Quasi {
        notes.push(String::from("written as ranges of days"));
    }
    notes.extend(missing_notes(&profile.missing, profile.has_stray));
    Some(Formed {
        tells: format!("its days lie between {} and {}", range.0, range.1),
        form: Form::Days {
            range,
            format: spelled,
            missing: texts(&profile.missing),
        },
        notes,
        todo: None,
    })
}

/// The days rounded outward to decades, or to five years where they span twenty years at most, as numbers are
/// rounded to groups: a single year would be told by whoever alone has a day in it. No end is the first or
/// the last day itself, but where the calendar of a study ends.
fn rounded_days((first, last): (Date, Date)) -> Option<(Date, Date)> {
    let grid = match last.year() - first.year() > MANY_YEARS {
        true => 10,
        false => 5,
    };
    let before = first.yesterday().unwrap_or(first).year();
    let after = last.tomorrow().unwrap_or(last).year();
    let start = (before.div_euclid(grid) * grid).max(0);
    let end = (after.div_euclid(grid) * grid + grid - 1).min(9999);
    Some((Date::new(start, 1, 1).ok()?, Date::new(end, 12, 31).ok()?))
}

/// The part of a range that years of two digits can say.
fn within_century((first, last): (Date, Date)) -> Option<(Date, Date)> {
    let least = Date::new(1969, 1, 1).ok()?;
    let greatest = Date::new(2068, 12, 31).ok()?;
    Some((first.max(least), last.min(greatest)))
}

/// Days in other forms as categories in their order, under months and years.
pub(super) fn other_days(profile: &Profile, format: DayFormat, missing: &[&str]) -> Formed {
    let values = profile.values.iter();
    let values = values.map(|value| Some((value.text.as_str(), format.read(&value.text)?)));
    let values: Option<Vec<(&str, Date)>> = values.collect();
    let tree = values.map(|values| taxonomy::by_day(&values, format.has_time(), missing));
    let Some(Ok(tree)) = tree else {
        return flat(profile);
    };
    let mut notes = vec![format!(
        "days as {}, listed as they are, in months and years",
        format.pattern()
    )];
    if format.is_ambiguous() {
        notes.push(String::from(SWAPPED));
    }
    Formed {
        tells: listed(profile),
        form: Form::Tree {
            tree,
            ordered: missing.is_empty(),
            missing: Vec::new(),
        },
        notes,
        todo: None,
    }
}
