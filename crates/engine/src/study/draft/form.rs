//! Which values a column may have according to a draft: the form of its domain, made of what its values
//! look like. Every value of the column is in the domain; with `--share` every value that enough records
//! have.

use hedgerow_data::profile::{DayFormat, Kind, Profile, Value, are_icd_codes};
use hedgerow_data::taxonomy::{self, ROOT};
use hedgerow_data::{
    Decimal, Domain, MOST_VALUES, NumberFormat, Role, Spelling, Taxonomy, quoted_list,
};
use jiff::civil::Date;

use crate::words::{count, thousands};

/// The form of a domain, as a study writes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// Any text.
    Text,
    /// Numbers of a range, in units of the last digit behind the point: integers have none. Tables may spell
    /// them in a format of their own.
    Numbers {
        digits: u8,
        format: Option<NumberFormat>,
        range: (i64, i64),
        step: i64,
        widths: Vec<i64>,
        missing: Vec<String>,
        taxonomy: Option<Taxonomy>,
    },
    /// Days of a range, which tables spell in a format of their own.
    Days {
        range: (Date, Date),
        format: Option<String>,
        missing: Vec<String>,
    },
    /// A list of values.
    Values { values: Vec<String> },
    /// Values with levels above them.
    Tree { tree: Taxonomy, ordered: bool },
}

/// A form, with what is to be said of it.
pub(super) struct Formed {
    pub(super) form: Form,
    /// What the form is made of, in words for a comment.
    pub(super) notes: Vec<String>,
    /// What a person must decide.
    pub(super) todo: Option<String>,
    /// What the form tells whoever reads the draft about the table.
    pub(super) tells: String,
}

/// How forms are made.
#[derive(Clone, Copy)]
pub(super) struct Making {
    pub(super) role: Role,
    /// Whether the column holds codes whatever its values look like, because its name says so.
    pub(super) is_code: bool,
    /// With `--share`: values that fewer records have are left out.
    pub(super) least_records: Option<u64>,
}

/// What is said of days that could be read in two ways.
const SWAPPED: &str = "doubt: day and month may stand the other way round";

/// More values than these go into a file of their own.
const LISTED: usize = 30;

/// And longer ones.
const LONGEST_LISTED: usize = 60;

/// Numbers with more values than these have no levels: trees of them are large, ranges serve as well.
const MOST_LEVELED: i64 = 100_000;

/// Whether a value can be one of a domain; `*` and what a release writes in quotes cannot.
pub(super) fn is_sayable(text: &str) -> bool {
    text != ROOT && !text.starts_with("[\"") && !text.starts_with("{\"")
}

/// Whether values may be codes that a name says they are: short, and none of them below zero.
pub(super) fn may_be_codes(profile: &Profile) -> bool {
    let is_short = |text: &str| (2..=12).contains(&text.chars().count()) && !text.starts_with('-');
    profile.values.iter().all(|value| is_short(&value.text))
        && !matches!(profile.kind, Kind::Days(_))
}

/// The form for a column whose values can all be said.
pub(super) fn form(profile: &Profile, making: Making) -> Formed {
    let Some(least) = making.least_records else {
        return of_kind(profile, making);
    };
    let is_frequent = |value: &&Value| value.records >= least;
    let kept =
        |values: &[Value]| -> Vec<Value> { values.iter().filter(is_frequent).cloned().collect() };
    // A usual text for a missing value tells nothing of anybody.
    let missing = match profile.has_stray {
        true => kept(&profile.missing),
        false => profile.missing.clone(),
    };
    let all = Profile {
        missing: missing.clone(),
        ..profile.clone()
    };
    let frequent = Profile {
        values: kept(&profile.values),
        missing,
        ..profile.clone()
    };
    // A range is rounded, and names no value.
    let ranged = of_kind(&all, making);
    let is_range = matches!(ranged.form, Form::Numbers { .. } | Form::Days { .. });
    let (mut formed, left_out) = match is_range {
        true => (ranged, 0),
        false => (
            of_kind(&frequent, making),
            profile.values.len() - frequent.values.len(),
        ),
    };
    let left_out = left_out + profile.missing.len() - frequent.missing.len();
    if matches!(formed.form, Form::Tree { .. } | Form::Values { .. }) {
        formed.tells = format!(
            "{} that {} or more have",
            count(frequent.values.len() as u64, "value", "values"),
            count(least, "record", "records")
        );
    }
    if left_out > 0 {
        formed.notes.push(format!(
            "values that fewer than {} have are left out: rows with other values need a value list decided by people",
            count(least, "record", "records")
        ));
        formed.todo = Some(String::from("the values that sites may have besides these"));
    }
    formed
}

/// The one place that says which form of a domain stands for which kind of values. Numbers of too many values
/// stand as categories in their order, in groups by size; so do days in a form that no format of a study reads,
/// under their months and years.
fn of_kind(profile: &Profile, making: Making) -> Formed {
    let missing: Vec<&str> = profile
        .missing
        .iter()
        .map(|value| value.text.as_str())
        .collect();
    if profile.values.is_empty() && missing.is_empty() {
        return text();
    }
    match profile.kind {
        _ if making.is_code => codes(profile, &missing),
        Kind::Integers { .. } if profile.values.len() > 2 => ranged(profile, making)
            .unwrap_or_else(|| listed_numbers(profile, NumberFormat::PLAIN, &missing, making)),
        Kind::Days(format) => {
            days(profile, format, making).unwrap_or_else(|| other_days(profile, format, &missing))
        }
        Kind::Numbers { format, .. } => ranged(profile, making)
            .unwrap_or_else(|| listed_numbers(profile, format, &missing, making)),
        // What is published as it is needs no levels but those that people know.
        Kind::Codes if making.role == Role::Quasi || are_icd_codes(&profile.values) => {
            codes(profile, &missing)
        }
        _ => categories(profile, &missing, making),
    }
}

/// No domain, for columns that no release has.
pub(super) fn text() -> Formed {
    Formed {
        form: Form::Text,
        notes: Vec::new(),
        todo: None,
        tells: String::from("its name"),
    }
}

/// A range of numbers with widths above them; `None` where the range holds too many.
fn ranged(profile: &Profile, making: Making) -> Option<Formed> {
    let read = |number: &dyn Fn(&str) -> Option<Decimal>| -> Option<Vec<Decimal>> {
        let values = profile.values.iter();
        values.map(|value| number(&value.text)).collect()
    };
    let (values, format) = match (read(&Decimal::parse), profile.kind) {
        (Some(values), _) => (values, None),
        (None, Kind::Numbers { format, .. }) => (read(&|text| format.read(text))?, Some(format)),
        (None, _) => return None,
    };
    let digits = values.iter().map(|value| value.digits()).max()?;
    let units = values.iter().map(|value| value.units(digits));
    let units: Vec<i64> = units.collect::<Option<_>>()?;
    let (least, greatest) = (*units.iter().min()?, *units.iter().max()?);
    let missing = texts(&profile.missing);
    let span = i128::from(greatest) - i128::from(least);
    let widths: Vec<i64> = taxonomy::widths(span)
        .into_iter()
        .filter_map(|width| i64::try_from(width).ok())
        .collect();
    let range = match rounded((least, greatest), &widths, making.least_records.is_some()) {
        Some(range) => range,
        // Such a range ends at somebody's value.
        None if making.least_records.is_some() => return None,
        None => (least, greatest),
    };
    let held = i128::from(range.1) - i128::from(range.0) + 1;
    let (range, step) = match held <= i128::from(MOST_VALUES) {
        true => (range, 1),
        false if making.least_records.is_some() => return None,
        false => {
            let step = common_step(&units, least)?;
            let held = span / i128::from(step) + 1;
            (
                (least, greatest),
                (held <= i128::from(MOST_VALUES)).then_some(step)?,
            )
        }
    };
    let mut notes: Vec<String> = format_note(profile).into_iter().collect();
    let is_leveled = making.role == Role::Quasi
        && missing.is_empty()
        && step == 1
        && held <= i128::from(MOST_LEVELED);
    if making.role == Role::Quasi && !is_leveled {
        notes.push(String::from("written as ranges, since there are no widths"));
    }
    notes.extend(missing_note(profile));
    let [low, high, by] = [range.0, range.1, step].map(|units| Decimal::of_units(units, digits));
    // Rounded ends may have more digits than a decimal can.
    if digits > 0 {
        Domain::decimal(low, high, by)?;
    }
    Some(Formed {
        tells: format!("its values lie between {low} and {high}"),
        form: Form::Numbers {
            digits,
            format,
            range,
            step,
            widths: if is_leveled { widths } else { Vec::new() },
            missing,
            taxonomy: None,
        },
        notes,
        todo: None,
    })
}

/// The range rounded outward, so that groups begin where people expect it and the ends are nobody's;
/// `None` where a rounded end is no number of a study.
fn rounded((least, greatest): (i64, i64), widths: &[i64], is_shared: bool) -> Option<(i64, i64)> {
    let grid = match widths {
        [_, second, ..] => *second,
        [first] => *first,
        [] => 1,
    };
    let grid = i128::from(grid.max(if is_shared { 5 } else { 1 }));
    let widest = i128::from(widths.last().copied().unwrap_or(1)).max(grid);
    let (low, high) = (i128::from(least), i128::from(greatest));
    let start = match (0..widest).contains(&low) && grid > 1 {
        true => 0,
        false => low.div_euclid(grid) * grid,
    };
    let end = start + ((high - start).div_euclid(grid) + 1) * grid - 1;
    Some((i64::try_from(start).ok()?, i64::try_from(end).ok()?))
}

/// The greatest step from the least value that meets all values.
fn common_step(values: &[i64], least: i64) -> Option<i64> {
    let mut step = 0u128;
    for value in values {
        let (mut one, mut other) = (
            step,
            (i128::from(*value) - i128::from(least)).unsigned_abs(),
        );
        while other != 0 {
            (one, other) = (other, one % other);
        }
        step = one;
    }
    i64::try_from(step).ok().filter(|step| *step > 0)
}

/// Numbers as categories in their order, in groups by their size.
fn listed_numbers(
    profile: &Profile,
    format: NumberFormat,
    missing: &[&str],
    making: Making,
) -> Formed {
    let values = profile.values.iter();
    let values = values.map(|value| Some((value.text.as_str(), format.read(&value.text)?)));
    let values: Option<Vec<(&str, Decimal)>> = values.collect();
    let tree = values.map(|values| taxonomy::by_number(&values, missing));
    let Some(Ok(tree)) = tree else {
        return categories(profile, missing, making);
    };
    let mut notes = vec![String::from(
        "numbers, listed as they are and put together by size",
    )];
    if making.role == Role::Sensitive {
        notes.push(String::from(
            "published as they are: coarser values tell less",
        ));
    }
    notes.extend(missing_note(profile));
    Formed {
        tells: listed(profile),
        form: Form::Tree {
            tree,
            ordered: missing.is_empty(),
        },
        notes,
        todo: None,
    }
}

/// A range of days; `None` where no format of a study reads them.
fn days(profile: &Profile, format: DayFormat, making: Making) -> Option<Formed> {
    let first = format.read(&profile.values.first()?.text)?;
    let last = format.read(&profile.values.last()?.text)?;
    // Whole years tell nobody's first or last day.
    let year = |day: Date, month, date| Date::new(day.year(), month, date).unwrap_or(day);
    let range = match making.least_records {
        Some(_) => (year(first, 1, 1), year(last, 12, 31)),
        None => (first, last),
    };
    let spelled = match format.is_iso() {
        true => None,
        false => {
            let texts = || profile.values.iter().map(|value| value.text.as_str());
            let spelled = format.of_study(texts)?;
            Spelling::days(&spelled, range.into()).ok()?;
            Some(spelled)
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
    notes.extend(missing_note(profile));
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

/// Days in other forms as categories in their order, under months and years.
fn other_days(profile: &Profile, format: DayFormat, missing: &[&str]) -> Formed {
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
    notes.extend(missing_note(profile));
    Formed {
        tells: listed(profile),
        form: Form::Tree {
            tree,
            ordered: missing.is_empty(),
        },
        notes,
        todo: None,
    }
}

/// Codes by their prefixes.
fn codes(profile: &Profile, missing: &[&str]) -> Formed {
    let values: Vec<&str> = profile
        .values
        .iter()
        .map(|value| value.text.as_str())
        .collect();
    let Ok(tree) = taxonomy::by_prefix(&values, missing) else {
        return flat(profile);
    };
    let mut notes = vec![String::from(
        "codes, put together by the characters they begin with",
    )];
    notes.extend(missing_note(profile));
    Formed {
        tells: listed(profile),
        form: Form::Tree {
            tree,
            ordered: false,
        },
        notes,
        todo: None,
    }
}

/// Categories: a list, or a proposal of levels by frequency where the role needs levels.
fn categories(profile: &Profile, missing: &[&str], making: Making) -> Formed {
    let needs_levels = making.role == Role::Quasi && profile.values.len() > 3;
    let mut formed = flat(profile);
    if !needs_levels {
        return formed;
    }
    formed.todo = Some(String::from("which values may be written together"));
    // How frequent values are is not told to others.
    if making.least_records.is_none()
        && let Ok(Some(tree)) = taxonomy::by_frequency(&profile.values, missing)
    {
        formed.form = Form::Tree {
            tree,
            ordered: false,
        };
        formed.notes.push(String::from(
            "a proposal: the rarer a value, the deeper it stands",
        ));
    } else {
        formed
            .notes
            .push(String::from("without levels a class has one value, or *"));
    }
    formed
}

/// A list of values without levels.
fn flat(profile: &Profile) -> Formed {
    let values: Vec<String> = profile.texts().map(str::to_owned).collect();
    let form = listed_form(values);
    Formed {
        form,
        notes: missing_note(profile).into_iter().collect(),
        todo: None,
        tells: listed(profile),
    }
}

/// Values without levels, in the study where they are few and short.
pub(super) fn listed_form(values: Vec<String>) -> Form {
    let is_short = values.len() <= LISTED
        && values
            .iter()
            .all(|value| value.chars().count() <= LONGEST_LISTED);
    match Taxonomy::flat(&values, "values") {
        Ok(tree) if !is_short => Form::Tree {
            tree,
            ordered: false,
        },
        _ => Form::Values { values },
    }
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| value.text.clone()).collect()
}

fn listed(profile: &Profile) -> String {
    let values = profile.values.len() as u64;
    match values {
        1 => String::from("its one value"),
        _ => format!("its {} values", thousands(values)),
    }
}

/// Where numbers could be read in two ways, the doubt.
fn format_note(profile: &Profile) -> Option<String> {
    let Kind::Numbers {
        format,
        is_ambiguous: true,
    } = profile.kind
    else {
        return None;
    };
    // No value of the table: a draft may be shown to others.
    let text = format.doubtful()?;
    let taken = format.read(&text)?;
    let other = if taken.digits() == 0 { "1.234" } else { "1234" };
    Some(format!(
        "doubt: `{text}` is taken for {taken}, and may be {other}"
    ))
}

/// What is taken for a missing value, in words.
fn missing_note(profile: &Profile) -> Option<String> {
    let missing: Vec<&str> = profile
        .missing
        .iter()
        .map(|value| value.text.as_str())
        .collect();
    if missing.is_empty() {
        return None;
    }
    let doubt = match profile.has_stray {
        true => "; doubt: not all of these are usual",
        false => "",
    };
    Some(format!(
        "missing values are written {}{doubt}",
        quoted_list(missing)
    ))
}
