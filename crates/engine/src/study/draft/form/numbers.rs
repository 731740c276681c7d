//! Numbers of a column: a range with widths above it, or the numbers that occur, put together by size.

use hedgerow_data::profile::{Kind, Profile};
use hedgerow_data::{Decimal, Domain, MOST_VALUES, NumberFormat, Role, taxonomy};

use super::{Form, Formed, Making, categories, listed, missing_notes, texts};

/// Sensitive numbers of a range with more values than these are listed.
const MOST_COUNTED: i128 = 10_000;

/// Numbers with more values than these have no levels: trees of them are large, ranges serve as well.
const MOST_LEVELED: i64 = 100_000;

/// A range of numbers with widths above them; `None` where the range holds too many, or too many to be counted in
/// every class.
pub(super) fn ranged(profile: &Profile, making: Making) -> Option<Formed> {
    let read = |number: &dyn Fn(&str) -> Option<Decimal>| -> Option<Vec<Decimal>> {
        let values = profile.values.iter();
        values.map(|value| number(&value.text)).collect()
    };
    let format = match profile.kind {
        Kind::Numbers { format, .. } => format,
        _ => NumberFormat::PLAIN,
    };
    let plain = match format == NumberFormat::PLAIN {
        true => read(&Decimal::parse),
        false => None,
    };
    let (values, format) = match plain {
        Some(values) => (values, None),
        None => (read(&|text| format.read(text))?, Some(format)),
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
    // A run counts every sensitive value in every class: the values that occur are fewer.
    let values = (i128::from(range.1) - i128::from(range.0)) / i128::from(step) + 1;
    let is_fine = making.role == Role::Sensitive && values > MOST_COUNTED;
    if is_fine && making.least_records.is_none() {
        return None;
    }
    let mut notes: Vec<String> = format_note(profile).into_iter().collect();
    let is_leveled = making.role == Role::Quasi
        && missing.is_empty()
        && step == 1
        && held <= i128::from(MOST_LEVELED);
    if making.role == Role::Quasi && !is_leveled {
        notes.push(String::from("written as ranges, since there are no widths"));
    }
    notes.extend(missing_notes(&profile.missing, profile.has_stray));
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

/// The range rounded outward, so that groups begin where people expect it; `None` where a rounded end is no
/// number of a study. What is shared has no end that is the least or the greatest value, but for 0, which
/// is an end whichever small value is the least.
fn rounded((least, greatest): (i64, i64), widths: &[i64], is_shared: bool) -> Option<(i64, i64)> {
    let grid = match widths {
        [_, second, ..] => *second,
        [first] => *first,
        [] => 1,
    };
    let grid = i128::from(grid.max(if is_shared { 5 } else { 1 }));
    let widest = i128::from(widths.last().copied().unwrap_or(1)).max(grid);
    let (low, high) = (i128::from(least), i128::from(greatest));
    let beyond = i128::from(is_shared);
    let start = match (0..widest).contains(&low) && grid > 1 {
        true => 0,
        false => (low - beyond).div_euclid(grid) * grid,
    };
    let high = high + beyond;
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
pub(super) fn listed_numbers(
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
