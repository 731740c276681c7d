//! Which values a column may have according to a draft: the form of its domain, made of what its values
//! look like. Every value of the column is in the domain; with `--share` every value that enough records
//! have.

mod days;
mod numbers;

use hedgerow_data::profile::{Kind, Profile, Value, are_icd_codes};
use hedgerow_data::taxonomy::{self, ROOT};
use hedgerow_data::{NumberFormat, Role, Taxonomy, quoted_list, truth};
use jiff::civil::Date;

use crate::words::{count, thousands};
use days::{days, other_days};
use numbers::{listed_numbers, ranged};

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
    Values {
        values: Vec<String>,
        /// Where several texts stand for a missing value, all of them; the first is one of the values.
        missing: Vec<String>,
    },
    /// Values with levels above them.
    Tree {
        tree: Taxonomy,
        ordered: bool,
        /// As of a list.
        missing: Vec<String>,
    },
    /// Yes and no, in any of the usual words.
    Truth { missing: Vec<String> },
}

impl Form {
    /// A list or a tree with several texts for a missing value, the first of which is one of its values.
    pub(super) fn with_missing(mut self, texts: Vec<String>) -> Self {
        if let Self::Values { missing, .. } | Self::Tree { missing, .. } = &mut self {
            *missing = texts;
        }
        self
    }
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

/// More values than these go into a file of their own.
const LISTED: usize = 30;

/// And longer ones.
const LONGEST_LISTED: usize = 60;

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
        return of_range(profile, making).unwrap_or_else(|| of_list(profile, making));
    };
    let is_frequent = |value: &&Value| value.records >= least;
    let kept =
        |values: &[Value]| -> Vec<Value> { values.iter().filter(is_frequent).cloned().collect() };
    // A usual text for a missing value tells nothing of anybody.
    let missing = match profile.has_stray {
        true => kept(&profile.missing),
        false => profile.missing.clone(),
    };
    let lacking = profile.missing.len() - missing.len();
    let all = Profile {
        missing: missing.clone(),
        ..profile.clone()
    };
    // A range is rounded, and names no value. The frequent values alone never make one: a range says of all
    // values where they lie.
    let ranged = of_range(&all, making).filter(|_| profile.present() >= least);
    let (mut formed, left_out) = match ranged {
        Some(ranged) => (ranged, lacking),
        None => {
            let frequent = Profile {
                values: kept(&profile.values),
                ..all
            };
            let left_out = profile.values.len() - frequent.values.len();
            if frequent.values.is_empty() && left_out > 0 {
                return text();
            }
            let mut listed = of_list(&frequent, making);
            listed.tells = format!(
                "{} that {} or more have",
                count(frequent.values.len() as u64, "value", "values"),
                count(least, "record", "records")
            );
            (listed, left_out + lacking)
        }
    };
    if left_out > 0 {
        formed.notes.push(format!(
            "values that fewer than {} have are left out: rows with other values need a value list decided by people",
            count(least, "record", "records")
        ));
        formed.todo = Some(String::from("the values that sites may have besides these"));
    }
    formed
}

/// A form that names none of the values: a range of numbers or days, or yes and no; `None` where none holds
/// all values.
fn of_range(profile: &Profile, making: Making) -> Option<Formed> {
    match profile.kind {
        _ if making.is_code => None,
        Kind::Integers { .. } if profile.values.len() > 2 => ranged(profile, making),
        Kind::Numbers { .. } => ranged(profile, making),
        Kind::Days(format) => days(profile, format, making),
        _ => truths(profile, making),
    }
}

/// The one place that says which list or tree stands for which kind of values. Numbers stand as categories in
/// their order, in groups by size; so do days, under their months and years.
fn of_list(profile: &Profile, making: Making) -> Formed {
    if profile.values.is_empty() && profile.missing.is_empty() {
        return text();
    }
    // Of several texts for a missing value a release writes the first, which stands among the values.
    let mut missing = profile.missing.clone();
    missing.sort_by_key(|value| value.text.trim().is_empty());
    let profile = &Profile {
        missing: missing.iter().take(1).cloned().collect(),
        ..profile.clone()
    };
    let aside: Vec<&str> = missing.iter().take(1).map(|value| &*value.text).collect();
    let mut formed = match profile.kind {
        _ if making.is_code => codes(profile, &aside),
        Kind::Integers { .. } if profile.values.len() > 2 => {
            listed_numbers(profile, NumberFormat::PLAIN, &aside, making)
        }
        Kind::Days(format) => other_days(profile, format, &aside),
        Kind::Numbers { format, .. } => listed_numbers(profile, format, &aside, making),
        // What is published as it is needs no levels but those that people know.
        Kind::Codes if making.role == Role::Quasi || are_icd_codes(&profile.values) => {
            codes(profile, &aside)
        }
        _ => categories(profile, &aside, making),
    };
    if missing.len() > 1 {
        formed.form = formed.form.with_missing(texts(&missing));
    }
    formed
        .notes
        .extend(missing_notes(&missing, profile.has_stray));
    formed.notes.extend(alike_note(profile, making));
    formed
}

/// A text without what people overlook: capital letters, and spaces around it.
pub(super) fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Where texts differ only in what people overlook, the doubt.
fn alike_note(profile: &Profile, making: Making) -> Option<String> {
    if !matches!(profile.kind, Kind::Texts | Kind::Codes | Kind::Booleans) {
        return None;
    }
    let mut texts: Vec<String> = profile
        .values
        .iter()
        .map(|value| folded(&value.text))
        .collect();
    texts.sort_unstable();
    texts.dedup();
    let more = match making.role {
        Role::Sensitive => "; l counts such values once",
        _ => "",
    };
    (texts.len() < profile.values.len()).then(|| {
        format!("doubt: values that differ only in capital letters or in spaces around them may be one value{more}")
    })
}

/// Yes and no, however tables spell them; `None` where a value is neither, or where all say the same: whether
/// no is the other value, nobody knows then.
fn truths(profile: &Profile, making: Making) -> Option<Formed> {
    // 0 and 1 are numbers too, and stand as they are.
    if matches!(profile.kind, Kind::Integers { .. }) {
        return None;
    }
    let mut records = [0; 2];
    for value in &profile.values {
        records[usize::from(truth(value.text.as_bytes())?)] += value.records;
    }
    let least = making.least_records.unwrap_or(1);
    if records.iter().any(|records| *records < least) {
        return None;
    }
    let mut missing = texts(&profile.missing);
    missing.sort_by_key(|text| text.trim().is_empty());
    let mut notes = vec![String::from("yes and no: a release writes true and false")];
    notes.extend(missing_notes(&profile.missing, profile.has_stray));
    Some(Formed {
        form: Form::Truth { missing },
        notes,
        todo: None,
        tells: String::from("its values say yes or no"),
    })
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
    let notes = vec![String::from(
        "codes, put together by the characters they begin with",
    )];
    Formed {
        tells: listed(profile),
        form: Form::Tree {
            tree,
            ordered: false,
            missing: Vec::new(),
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
            missing: Vec::new(),
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
        notes: Vec::new(),
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
            missing: Vec::new(),
        },
        _ => Form::Values {
            values,
            missing: Vec::new(),
        },
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

/// What is taken for a missing value, in words, and the doubt where not all of it is usual.
fn missing_notes(missing: &[Value], has_stray: bool) -> Vec<String> {
    if missing.is_empty() {
        return Vec::new();
    }
    let written = format!("missing values are written {}", quoted_list(texts(missing)));
    let doubt = "doubt: not all texts for missing values are usual ones";
    let doubt = has_stray.then(|| doubt.to_owned());
    std::iter::once(written).chain(doubt).collect()
}
