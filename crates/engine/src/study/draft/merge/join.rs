//! Two forms of one column as one that holds what either holds.

use hashbrown::HashMap;
use hedgerow_data::profile::{Kind, Profile, Value};
use hedgerow_data::taxonomy;
use hedgerow_data::{MOST_VALUES, NumberFormat, Taxonomy, quoted_list};

use crate::study::draft::form::Form;
use crate::study::draft::save::in_words;

/// A joined form.
pub(super) struct Joined {
    pub(super) form: Form,
    /// What people should look at.
    pub(super) note: Option<String>,
}

/// What either of two drafts says, where both cannot be true.
type Conflict = (String, String);

/// Joins two forms.
pub(super) fn join(one: &Form, other: &Form) -> Result<Joined, Conflict> {
    let alone = |form| Ok(Joined { form, note: None });
    match (one, other) {
        (Form::Text, Form::Text) => alone(Form::Text),
        (Form::Numbers { .. }, Form::Numbers { .. }) => numbers(one, other).and_then(alone),
        (
            Form::Days {
                range,
                format,
                missing,
            },
            Form::Days {
                range: more,
                format: also_format,
                missing: also,
            },
        ) if format == also_format => alone(Form::Days {
            range: (range.0.min(more.0), range.1.max(more.1)),
            format: format.clone(),
            missing: same_missing(missing, also)?,
        }),
        (Form::Truth { missing }, Form::Truth { missing: also }) => alone(Form::Truth {
            missing: union(missing, also),
        }),
        (
            Form::Tree {
                tree,
                ordered,
                missing,
            },
            Form::Tree {
                tree: more,
                ordered: also,
                missing: also_missing,
            },
        ) => {
            // The first text for a missing value is a value, and the others are read as the first.
            let missing = union(missing, also_missing);
            let others = missing.get(1..).unwrap_or_default();
            let joined = match (without(tree, others), without(more, others)) {
                (Some(tree), Some(more)) => trees((&tree, *ordered), (&more, *also))?,
                (Some(tree), None) => of_tree(tree, *ordered),
                (None, Some(more)) => of_tree(more, *also),
                (None, None) => return Err((in_words(one), in_words(other))),
            };
            Ok(Joined {
                form: joined.form.with_missing(missing),
                ..joined
            })
        }
        _ => Err((in_words(one), in_words(other))),
    }
}

/// The texts of both, each once, those of the first before the others.
fn union(one: &[String], other: &[String]) -> Vec<String> {
    let more = other.iter().filter(|text| !one.contains(text));
    one.iter().chain(more).cloned().collect()
}

/// A tree without some of its values; `None` where no value remains.
fn without(tree: &Taxonomy, texts: &[String]) -> Option<Taxonomy> {
    if !texts.iter().any(|text| tree.value(text).is_some()) {
        return Some(tree.clone());
    }
    let mut paths = tree.paths();
    paths.retain(|path| path.last().is_none_or(|value| !texts.contains(value)));
    Taxonomy::from_paths(tree.label(tree.root()), &paths, "joined").ok()
}

fn of_tree(tree: Taxonomy, ordered: bool) -> Joined {
    Joined {
        form: Form::Tree {
            tree,
            ordered,
            missing: Vec::new(),
        },
        note: None,
    }
}

/// The texts for a missing value, where one of two columns has any or both have the same.
fn same_missing(one: &[String], other: &[String]) -> Result<Vec<String>, Conflict> {
    if one != other && !one.is_empty() && !other.is_empty() {
        let says = |texts: &[String]| format!("with missing = {}", quoted_list(texts));
        return Err((says(one), says(other)));
    }
    let some = if one.is_empty() { other } else { one };
    Ok(some.to_vec())
}

/// A form in units of a further digit behind the point; `None` where these do not fit, or levels would be
/// spelled otherwise.
fn with_digits(form: &Form, wanted: u8) -> Option<Form> {
    let mut form = form.clone();
    if let Form::Numbers {
        digits,
        range,
        step,
        widths,
        taxonomy,
        ..
    } = &mut form
        && *digits != wanted
    {
        let by = 10i64.checked_pow(u32::from(wanted.checked_sub(*digits)?))?;
        let all = [&mut range.0, &mut range.1, step].into_iter();
        for units in all.chain(widths) {
            *units = units.checked_mul(by)?;
        }
        *digits = wanted;
        taxonomy.is_none().then_some(())?;
    }
    Some(form)
}

fn numbers(one: &Form, other: &Form) -> Result<Form, Conflict> {
    let conflict = || (in_words(one), in_words(other));
    let digits = [one, other].map(|form| match form {
        Form::Numbers { digits, .. } => *digits,
        _ => 0,
    });
    let digits = digits[0].max(digits[1]);
    let one = &with_digits(one, digits).ok_or_else(conflict)?;
    let other = &with_digits(other, digits).ok_or_else(conflict)?;
    let (
        Form::Numbers {
            format,
            range: (low, high),
            step,
            widths,
            missing,
            taxonomy,
            ..
        },
        Form::Numbers {
            format: also_format,
            range: (least, greatest),
            step: also_step,
            widths: also_widths,
            missing: also_missing,
            taxonomy: also_taxonomy,
            ..
        },
    ) = (one, other)
    else {
        return Err((in_words(one), in_words(other)));
    };
    let missing = same_missing(missing, also_missing)?;
    let format = same_format(*format, *also_format)?;
    let range = (*low.min(least), *high.max(greatest));
    let taxonomy = match (taxonomy, also_taxonomy) {
        (None, None) => None,
        // A tree that holds the other range, or is the same, serves both.
        (Some(tree), None) if range == (*low, *high) => Some(tree),
        (None, Some(tree)) if range == (*least, *greatest) => Some(tree),
        (Some(tree), Some(also)) if tree == also => Some(tree),
        _ => return Err((in_words(one), in_words(other))),
    };
    let between = low.abs_diff(*least);
    let step = [step.unsigned_abs(), also_step.unsigned_abs(), between]
        .into_iter()
        .fold(0, divisor);
    let held = (i128::from(range.1) - i128::from(range.0)) / i128::from(step.max(1)) + 1;
    let Some(step) = i64::try_from(step)
        .ok()
        .filter(|_| held <= i128::from(MOST_VALUES))
    else {
        return Err((in_words(one), in_words(other)));
    };
    let widths = match (
        widths == also_widths,
        widths.is_empty() || also_widths.is_empty(),
    ) {
        _ if !missing.is_empty() || taxonomy.is_some() => Vec::new(),
        (true, _) => widths.clone(),
        // Widths of the one whose groups are finer, or of the one that has any.
        (false, true) => widths.iter().chain(also_widths).copied().collect(),
        (false, false) => widths.min(also_widths).clone(),
    };
    Ok(Form::Numbers {
        digits,
        format,
        range,
        step,
        widths,
        missing,
        taxonomy: taxonomy.cloned(),
    })
}

/// The format of numbers that both tables have: all sites of a study spell its numbers in one way.
fn same_format(
    one: Option<NumberFormat>,
    other: Option<NumberFormat>,
) -> Result<Option<NumberFormat>, Conflict> {
    let says = |format: Option<NumberFormat>| {
        let format = format.unwrap_or(NumberFormat::PLAIN);
        format!("numbers as {}", format.example(true))
    };
    match one == other {
        true => Ok(one),
        false => Err((says(one), says(other))),
    }
}

/// The greatest common divisor.
fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

fn trees(
    (one, is_ordered): (&Taxonomy, bool),
    (other, is_also_ordered): (&Taxonomy, bool),
) -> Result<Joined, Conflict> {
    let alone = |tree, ordered| Ok(of_tree(tree, ordered));
    if one == other {
        return alone(one.clone(), is_ordered && is_also_ordered);
    }
    // Trees that are made of their values are made again of all values.
    for made in [by_size, by_day, by_prefix] {
        if made(&[one]).as_ref() == Some(one)
            && made(&[other]).as_ref() == Some(other)
            && let Some(tree) = made(&[one, other])
        {
            return alone(tree, is_ordered && is_also_ordered);
        }
    }
    if is_ordered || is_also_ordered {
        let (values, more) = (values(one), values(other));
        let holds = |all: &[&str], some: &[&str]| {
            let mut all = all.iter();
            some.iter().all(|value| all.any(|held| held == value))
        };
        let ordered = is_ordered && is_also_ordered;
        return if ordered && holds(&values, &more) {
            alone(one.clone(), true)
        } else if ordered && holds(&more, &values) {
            alone(other.clone(), true)
        } else {
            let says = |ordered| match ordered {
                true => String::from("a list of values in an order of its own"),
                false => String::from("a list of values without an order"),
            };
            Err((says(is_ordered), says(is_also_ordered)))
        };
    }
    let (tree, disputed) = united(one, other)?;
    let note = (!disputed.is_empty()).then(|| {
        let shown: Vec<&str> = disputed.iter().take(3).map(String::as_str).collect();
        let more = if disputed.len() > 3 { ", …" } else { "" };
        format!(
            "{} stand elsewhere in the drafts before, and stay there{more}",
            quoted_list(shown)
        )
    });
    Ok(Joined {
        note,
        ..of_tree(tree, false)
    })
}

fn values(tree: &Taxonomy) -> Vec<&str> {
    tree.values().collect()
}

/// The values of all trees, as if they were of one table.
fn profile(trees: &[&Taxonomy]) -> Profile {
    let mut texts: Vec<&str> = trees.iter().flat_map(|tree| tree.values()).collect();
    texts.sort_unstable();
    texts.dedup();
    let value = |text: &str| Value {
        text: text.to_owned(),
        records: 1,
    };
    Profile::of_values(texts.into_iter().map(value).collect())
}

fn aside(profile: &Profile) -> Vec<&str> {
    profile
        .missing
        .iter()
        .map(|value| value.text.as_str())
        .collect()
}

fn by_size(trees: &[&Taxonomy]) -> Option<Taxonomy> {
    let profile = profile(trees);
    let format = match profile.kind {
        Kind::Numbers { format, .. } => format,
        Kind::Integers { .. } => NumberFormat::PLAIN,
        _ => return None,
    };
    let values = profile.values.iter();
    let values = values.map(|value| Some((value.text.as_str(), format.read(&value.text)?)));
    taxonomy::by_number(&values.collect::<Option<Vec<_>>>()?, &aside(&profile)).ok()
}

fn by_day(trees: &[&Taxonomy]) -> Option<Taxonomy> {
    let profile = profile(trees);
    let Kind::Days(format) = profile.kind else {
        return None;
    };
    let values = profile.values.iter();
    let values = values.map(|value| Some((value.text.as_str(), format.read(&value.text)?)));
    let values = values.collect::<Option<Vec<_>>>()?;
    taxonomy::by_day(&values, format.has_time(), &aside(&profile)).ok()
}

fn by_prefix(trees: &[&Taxonomy]) -> Option<Taxonomy> {
    let profile = profile(trees);
    let values: Vec<&str> = profile
        .values
        .iter()
        .map(|value| value.text.as_str())
        .collect();
    taxonomy::by_prefix(&values, &aside(&profile)).ok()
}

/// The first tree with the other's values put in: below the levels that both have, with the levels that
/// only the other has. Values of both stay where the first has them; those that the other has elsewhere
/// are returned.
fn united(one: &Taxonomy, other: &Taxonomy) -> Result<(Taxonomy, Vec<String>), Conflict> {
    // A list is put into the tree of the other, whichever comes first.
    if one.height() == 1 && other.height() > 1 {
        return united(other, one);
    }
    let mut paths = one.paths();
    let mut levels: HashMap<String, Vec<String>> = HashMap::new();
    for path in &paths {
        for end in 1..path.len() {
            let level = || path[..end].to_vec();
            levels.entry(path[end - 1].clone()).or_insert_with(level);
        }
    }
    let mut disputed = Vec::new();
    for path in other.paths() {
        let Some((value, above)) = path.split_last() else {
            continue;
        };
        if let Some(code) = one.value(value) {
            // A list without levels does not say where its values belong.
            if paths[code as usize] != path && !above.is_empty() {
                disputed.push(value.clone());
            }
            continue;
        }
        // The lowest level that is there already brings what is above it along.
        let known = above.iter().rposition(|label| levels.contains_key(label));
        let mut placed = match known {
            Some(place) => levels[&above[place]].clone(),
            None => Vec::new(),
        };
        for label in &above[known.map_or(0, |place| place + 1)..] {
            placed.push(label.clone());
            levels
                .entry(label.clone())
                .or_insert_with(|| placed.clone());
        }
        placed.push(value.clone());
        paths.push(placed);
    }
    let tree = Taxonomy::from_paths(one.label(one.root()), &paths, "joined");
    let tree = tree.map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().next().unwrap_or_default().to_owned();
        (
            String::from("a tree of its own"),
            format!("a tree that does not go with it ({reason})"),
        )
    })?;
    Ok((tree, disputed))
}
