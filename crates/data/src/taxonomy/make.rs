//! Taxonomies made rather than read: numbers grouped by widths, codes grouped by their prefixes.

use super::draft::Draft;
use super::{ROOT, Taxonomy, TaxonomyError};

/// The most values an attribute may have: tables of counts are as long.
pub const MOST_VALUES: u32 = 10_000_000;

/// Why a taxonomy could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// A width that is no multiple of the width before it.
    #[error(
        "width {width} is not a multiple of {previous}, so its groups would cross\nhint: each width must be a multiple of the one before, e.g. 5,10,20"
    )]
    Widths {
        /// The width that does not fit.
        width: String,
        /// The width before it.
        previous: String,
    },
    /// A width below the step between values.
    #[error("width {0} is too small, expected more than one value in a group")]
    TooNarrow(String),
    /// The range is empty or too wide.
    #[error("the range {least}..{greatest} holds {count} values, expected 1 to {most}")]
    Range {
        /// Least value.
        least: i64,
        /// Greatest value.
        greatest: i64,
        /// How many values that is.
        count: i128,
        /// The most that is allowed.
        most: u32,
    },
    /// Zero characters per level.
    #[error("a prefix step of 0 removes nothing, expected 1 or more characters a level")]
    PrefixStep,
    /// The values do not make a tree.
    #[error(transparent)]
    Taxonomy(#[from] TaxonomyError),
}

/// Integers from `least` to `greatest` in steps of `step`, grouped into intervals of each width.
pub fn integer_widths(
    least: i64,
    greatest: i64,
    step: i64,
    widths: &[i64],
) -> Result<Taxonomy, MakeError> {
    number_widths([least, greatest], step, widths, &|number| {
        number.to_string()
    })
}

/// Numbers of a range in steps, grouped into intervals of each width, whose text is that of a whole number
/// of units.
pub(crate) fn number_widths(
    [least, greatest]: [i64; 2],
    step: i64,
    widths: &[i64],
    text: &dyn Fn(i64) -> String,
) -> Result<Taxonomy, MakeError> {
    let count = (i128::from(greatest) - i128::from(least)) / i128::from(step.max(1)) + 1;
    if count < 1 || count > i128::from(MOST_VALUES) {
        return Err(MakeError::Range {
            least,
            greatest,
            count,
            most: MOST_VALUES,
        });
    }
    let mut previous = step;
    for width in widths {
        if *width <= previous {
            return Err(MakeError::TooNarrow(text(*width)));
        }
        if width % previous != 0 {
            return Err(MakeError::Widths {
                width: text(*width),
                previous: text(previous),
            });
        }
        previous = *width;
    }
    // The last value of the steps, which may lie below `greatest` and so fits its type.
    let last = nth(least, step, count as i64 - 1);
    let mut draft = Draft::new("integers");
    draft.set_root(ROOT, 1)?;
    for index in 0..count as i64 {
        let value = nth(least, step, index);
        let groups = widths.iter().rev().map(|width| {
            let from_least = i128::from(value) - i128::from(least);
            let start = nth(least, *width, (from_least / i128::from(*width)) as i64);
            let end = start.saturating_add(width - step).min(last);
            if start == end {
                text(start)
            } else {
                format!("[{}-{}]", text(start), text(end))
            }
        });
        let mut path: Vec<String> = groups.collect();
        path.push(text(value));
        draft.add_path(path.iter().map(String::as_str), index as u64 + 1)?;
    }
    Ok(draft.lay_out()?)
}

/// `least + index * step`, which fits though the product may not.
fn nth(least: i64, step: i64, index: i64) -> i64 {
    (i128::from(least) + i128::from(step) * i128::from(index)) as i64
}

/// Codes such as ZIP or ICD, grouped by ever shorter prefixes, `step` characters a level. Where
/// all codes are equally long a removed character shows as `*` (`123**`); otherwise one `*` stands
/// for the rest.
pub fn prefixes<S: AsRef<str>>(values: &[S], step: usize) -> Result<Taxonomy, MakeError> {
    if step == 0 {
        return Err(MakeError::PrefixStep);
    }
    Ok(Taxonomy::from_paths(
        ROOT,
        &prefix_paths(values, step),
        "prefixes",
    )?)
}

/// The labels of [`prefixes`] from just below the root down to each value.
pub(super) fn prefix_paths<S: AsRef<str>>(values: &[S], step: usize) -> Vec<Vec<String>> {
    let lengths = || values.iter().map(|value| value.as_ref().chars().count());
    let longest = lengths().max().unwrap_or(0);
    let is_even = lengths().all(|length| length == longest);
    let path = |value: &str| {
        let length = value.chars().count();
        let mut path: Vec<String> = Vec::new();
        // A prefix node for every whole number of steps removed from the longest code, so that
        // codes of different lengths share their prefixes.
        for kept in (1..longest).filter(|kept| (longest - kept).is_multiple_of(step)) {
            if kept > length || (is_even && kept == length) {
                break;
            }
            let mut label: String = value.chars().take(kept).collect();
            let stars = if is_even { length - kept } else { 1 };
            label.extend(std::iter::repeat_n('*', stars));
            path.push(label);
        }
        path.push(value.to_owned());
        path
    };
    values.iter().map(|value| path(value.as_ref())).collect()
}
