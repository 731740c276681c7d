//! The `[[attribute]]` tables of a study: name, role, and one of the forms of a domain.

use jiff::civil::Date;

use super::{Mistakes, Open, StudyError};
use crate::attribute::{Attribute, Recode, Role, Schema};
use crate::decimal::{Decimal, written};
use crate::document::{DocumentError, Section};
use crate::domain::{Domain, MOST_VALUES};
use crate::nearest::quoted_list;
use crate::number_format::NumberFormat;
use crate::spelling::{self, Spelling};
use crate::taxonomy::{MakeError, Taxonomy, TaxonomyError, integer_widths, number_widths};

pub(super) fn schema(root: &Section<'_>, open: &Open<'_>) -> Result<Schema, StudyError> {
    let mut attributes: Vec<Attribute> = Vec::new();
    let mut mistakes = Mistakes::default();
    let mut names: Vec<String> = Vec::new();
    for section in root.sections("attribute")? {
        let read = attribute(&section, &names, open);
        names.extend(section.string("name").ok().flatten());
        attributes.extend(mistakes.note(read));
    }
    mistakes.end()?;
    Ok(Schema::new(attributes))
}

/// One attribute; `names` are those of the attributes before.
fn attribute(
    section: &Section<'_>,
    names: &[String],
    open: &Open<'_>,
) -> Result<Attribute, StudyError> {
    // A misspelled key is reported as such before the missing key is.
    KEYS.iter().for_each(|key| {
        section.has(key);
    });
    section.finish()?;
    let name = section.required_name()?;
    if names.contains(&name) {
        let message = format!("two attributes are named `{name}`");
        return Err(section.wrong("name", message).into());
    }
    let role = section
        .word("role", &Role::NAMES)?
        .ok_or_else(|| section.missing("role"))?;
    let (domain, spelling) = domain(section, &name, role, open)?;
    let recode = section.word("recode", &Recode::NAMES)?;
    if recode.is_some() && role != Role::Quasi {
        let message = "`attribute.recode` is for quasi-identifiers; other columns are released verbatim or not at all";
        return Err(section.wrong("recode", message).into());
    }
    let publish_unique = section.boolean("publish_unique")?;
    if publish_unique.is_some() && role != Role::Other {
        let message = "`attribute.publish_unique` is for role = \"other\": of all columns only these are published as they are without a requirement";
        return Err(section.wrong("publish_unique", message).into());
    }
    Ok(Attribute {
        name,
        role,
        domain,
        spelling,
        recode,
        publish_unique: publish_unique.unwrap_or(false),
    })
}

/// The keys of an attribute, whatever its form.
const KEYS: [&str; 13] = [
    "name",
    "role",
    "type",
    "range",
    "format",
    "step",
    "widths",
    "values",
    "ordered",
    "taxonomy",
    "missing",
    "recode",
    "publish_unique",
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Integer,
    Decimal,
    Date,
    Boolean,
    Text,
}

fn domain(
    section: &Section<'_>,
    name: &str,
    role: Role,
    open: &Open<'_>,
) -> Result<(Domain, Spelling), StudyError> {
    let kinds = [
        ("integer", Kind::Integer),
        ("decimal", Kind::Decimal),
        ("date", Kind::Date),
        ("boolean", Kind::Boolean),
        ("text", Kind::Text),
    ];
    let kind = section.word("type", &kinds)?;
    let missing = section.texts("missing")?;
    refuse_other_forms(section, kind)?;
    let domain = match kind {
        Some(Kind::Integer) => {
            let domain = integers(section, open, missing.is_some())?;
            return with_missing(section, domain, numbers(section)?, missing);
        }
        Some(Kind::Decimal) => {
            let domain = decimals(section, open, missing.is_some())?;
            return with_missing(section, domain, numbers(section)?, missing);
        }
        Some(Kind::Date) => {
            let (domain, spelling) = dates(section)?;
            return with_missing(section, domain, spelling, missing);
        }
        Some(Kind::Boolean) => {
            let domain = truth(section, missing.as_deref())?;
            return with_missing(section, domain, Spelling::truth(), missing);
        }
        Some(Kind::Text) => text(section, name, role)?,
        None if section.has("values") || section.has("taxonomy") => {
            categories(section, name, open)?
        }
        None => text(section, name, role)?,
    };
    with_missing(section, domain, Spelling::default(), missing)
}

/// Refuses a key that belongs to another form of attribute, since such a mistake must not pass in
/// silence.
fn refuse_other_forms(section: &Section<'_>, kind: Option<Kind>) -> Result<(), DocumentError> {
    let (form, fitting): (&str, &[&str]) = match kind {
        Some(Kind::Integer) => (
            "type = \"integer\"",
            &["range", "format", "step", "widths", "taxonomy", "missing"],
        ),
        Some(Kind::Decimal) => (
            "type = \"decimal\"",
            &["range", "format", "step", "widths", "taxonomy", "missing"],
        ),
        Some(Kind::Date) => ("type = \"date\"", &["range", "format", "missing"]),
        Some(Kind::Boolean) => ("type = \"boolean\"", &["missing"]),
        Some(Kind::Text) => ("type = \"text\"", &[]),
        None if section.has("taxonomy") => {
            ("a taxonomy", &["taxonomy", "values", "ordered", "missing"])
        }
        None if section.has("values") => ("values", &["values", "ordered", "missing"]),
        None => return Ok(()),
    };
    let always = ["name", "role", "type", "recode", "publish_unique"];
    let stranger = KEYS
        .iter()
        .find(|key| section.has(key) && !always.contains(key) && !fitting.contains(key));
    match stranger {
        None => Ok(()),
        Some(key) => {
            let message = format!("`attribute.{key}` does not go with {form}");
            Err(section.wrong(key, message))
        }
    }
}

fn integers(
    section: &Section<'_>,
    open: &Open<'_>,
    has_missing: bool,
) -> Result<Domain, StudyError> {
    let range = section
        .integers("range")?
        .ok_or_else(|| section.missing("range"))?;
    let [least, greatest] = range.as_slice() else {
        return Err(section
            .wrong(
                "range",
                "`attribute.range` needs two numbers: [least, greatest]",
            )
            .into());
    };
    let step = section.integer("step")?.unwrap_or(1);
    let domain = Domain::integer(*least, *greatest, step).ok_or_else(|| {
        let message = format!(
            "`attribute.range` [{least}, {greatest}] in steps of {step} is no range of 1 to {MOST_VALUES} values\nhint: the first number is the least, a step is 1 or more; a larger step makes fewer values"
        );
        section.wrong("range", message)
    })?;
    let widths = section.integers("widths")?;
    let made = widths.map(|widths| integer_widths(*least, *greatest, step, &widths));
    with_levels(section, open, domain, made, has_missing)
}

/// How tables write the numbers of an attribute.
fn numbers(section: &Section<'_>) -> Result<Spelling, StudyError> {
    let Some(example) = section.string("format")? else {
        return Ok(Spelling::default());
    };
    let format = NumberFormat::of_example(&example).ok_or_else(|| {
        let message = format!(
            "`attribute.format`: `{example}` does not show how numbers are written\nhint: write 1234.5 as the table does: \"1234,5\", \"1,234.5\", \"1.234,5\", \"1 234,5\" or \"1'234.5\"; without the 5 where numbers are whole"
        );
        section.wrong("format", message)
    })?;
    Ok(Spelling::numbers(format))
}

fn decimals(
    section: &Section<'_>,
    open: &Open<'_>,
    has_missing: bool,
) -> Result<Domain, StudyError> {
    let range = section
        .decimals("range")?
        .ok_or_else(|| section.missing("range"))?;
    let [least, greatest] = range.as_slice() else {
        let message = "`attribute.range` needs two numbers: [least, greatest]";
        return Err(section.wrong("range", message).into());
    };
    let step = section.decimal("step")?.ok_or_else(|| {
        let message = "`attribute.step` is missing\nhint: step = 0.1 says that values have one digit behind the point";
        section.wrong_section(message)
    })?;
    let domain = Domain::decimal(*least, *greatest, step).ok_or_else(|| {
        let message = format!(
            "`attribute.range` [{least}, {greatest}] in steps of {step} is no range of 1 to {MOST_VALUES} values\nhint: the first number is the least, the step is above 0 and has all digits of the range behind its point"
        );
        section.wrong("range", message)
    })?;
    let (Some(widths), Domain::Decimal(decimals)) = (section.decimals("widths")?, &domain) else {
        return with_levels(section, open, domain, None, has_missing);
    };
    let units = |width: &Decimal| {
        let wrong = || {
            let message = format!("width {width} has more digits behind the point than the step");
            section.wrong("widths", format!("`attribute.widths`: {message}"))
        };
        width.units(step.digits()).ok_or_else(wrong)
    };
    let widths = widths.iter().map(units).collect::<Result<Vec<_>, _>>()?;
    let ends = [0, domain.size() - 1].map(|code| decimals.units(code));
    let text = |units| written(units, step.digits());
    let made = number_widths(ends, decimals.step_units(), &widths, &text);
    with_levels(section, open, domain, Some(made), has_missing)
}

/// Numbers with the levels that the attribute gives: those of its widths, which are made already, or those
/// of a file.
fn with_levels(
    section: &Section<'_>,
    open: &Open<'_>,
    domain: Domain,
    made: Option<Result<Taxonomy, MakeError>>,
    has_missing: bool,
) -> Result<Domain, StudyError> {
    let tree = match (made, section.string("taxonomy")?) {
        (None, None) => return Ok(domain),
        (Some(_), Some(_)) => {
            let message =
                "`attribute.widths` and `attribute.taxonomy` both give a taxonomy\nhint: keep one";
            return Err(section.wrong("widths", message).into());
        }
        (Some(made), None) => {
            made.map_err(|error| section.wrong("widths", format!("`attribute.widths`: {error}")))?
        }
        (None, Some(file)) => {
            let tree = open(&file)?;
            refuse_gaps(section, &domain, &tree, &file)?;
            tree
        }
    };
    if has_missing {
        let message = "`attribute.missing` does not go with a taxonomy of numbers\nhint: use taxonomy without type, with the missing value in the file";
        return Err(section.wrong("missing", message).into());
    }
    domain.with_taxonomy(tree).ok_or_else(|| {
        let message = "the taxonomy's leaves are not the numbers of the range in ascending order";
        section.wrong("taxonomy", message).into()
    })
}

/// Refuses a taxonomy that misses values of its range, or has values outside it.
fn refuse_gaps(
    section: &Section<'_>,
    domain: &Domain,
    tree: &Taxonomy,
    file: &str,
) -> Result<(), DocumentError> {
    let gaps = FirstFew::of(
        (0..domain.size())
            .map(|code| domain.label(code))
            .filter(|label| tree.value(label).is_none()),
    );
    let strangers = FirstFew::of(
        tree.values()
            .filter(|label| domain.encode(label.as_bytes()).is_none()),
    );
    let message = if gaps.count > 0 {
        format!(
            "{file} misses {} values of the range: {gaps}\nhint: add a row for each, or narrow the range",
            gaps.count
        )
    } else if strangers.count > 0 {
        format!(
            "{file} has {} values outside the range: {strangers}\nhint: widen the range or remove them",
            strangers.count
        )
    } else {
        return Ok(());
    };
    Err(section.wrong("taxonomy", message))
}

/// The number of values, and the first few to show.
struct FirstFew {
    count: u64,
    shown: Vec<String>,
}

impl FirstFew {
    fn of<S: AsRef<str>>(labels: impl Iterator<Item = S>) -> Self {
        let mut few = Self {
            count: 0,
            shown: Vec::new(),
        };
        for label in labels {
            few.count += 1;
            if few.shown.len() < 3 {
                few.shown.push(label.as_ref().to_owned());
            }
        }
        few
    }
}

impl std::fmt::Display for FirstFew {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.count > 3 { ", …" } else { "" };
        write!(formatter, "{}{more}", quoted_list(&self.shown))
    }
}

/// The values false and true, and the missing value if there is one.
fn truth(section: &Section<'_>, missing: Option<&[String]>) -> Result<Domain, StudyError> {
    let first = missing.and_then(<[String]>::first);
    let values = ["false", "true"]
        .into_iter()
        .chain(first.map(String::as_str));
    let values: Vec<&str> = values.collect();
    if first.is_some_and(|first| is_taken(first) || spelling::truth(first.as_bytes()).is_some()) {
        let message = format!(
            "`attribute.missing` is `{}`, which also means something else here",
            values[2]
        );
        return Err(section.wrong("missing", message).into());
    }
    let tree = Taxonomy::flat(&values, "values")
        .map_err(|error| section.wrong("missing", format!("`attribute.missing`: {error}")))?;
    Ok(Domain::category(tree, false))
}

/// A domain and its spelling with a missing value of these texts: releases write the first.
fn with_missing(
    section: &Section<'_>,
    mut domain: Domain,
    spelling: Spelling,
    missing: Option<Vec<String>>,
) -> Result<(Domain, Spelling), StudyError> {
    let Some(texts) = missing else {
        return Ok((domain, spelling));
    };
    let wrong = |message: String| Err(section.wrong("missing", message).into());
    let Some(first) = texts.first() else {
        return wrong(String::from("`attribute.missing` is empty"));
    };
    if matches!(domain, Domain::Text) {
        return wrong(String::from(
            "`attribute.missing` does not go with text, which is kept as it is",
        ));
    }
    let is_category = matches!(domain, Domain::Category(_));
    if is_category && !spelling.is_truth() && domain.encode(first.as_bytes()).is_none() {
        return wrong(format!(
            "`attribute.missing` begins with `{first}`, which is none of the values\nhint: list it among the values or in the taxonomy; further texts are read as the first"
        ));
    }
    for (place, text) in texts.iter().enumerate() {
        if texts[..place].contains(text) {
            return wrong(format!("`attribute.missing` lists `{text}` twice"));
        }
        let is_first_of_categories = is_category && place == 0;
        let is_value =
            spelling.encode(&domain, text.as_bytes()).is_some() && !is_first_of_categories;
        let is_label = domain.read_cell(text).is_ok() && !is_first_of_categories;
        if is_value || is_label || (place == 0 && !is_category && is_taken(text)) {
            return wrong(format!(
                "`attribute.missing` is `{text}`, which also means something else here"
            ));
        }
    }
    if !is_category {
        domain = domain.with_missing(first.clone());
    }
    let code = domain.encode(first.as_bytes()).unwrap_or(0);
    let spelling = spelling.with_missing(&texts, code);
    Ok((domain, spelling))
}

/// Whether text that a release would write means something else there.
fn is_taken(text: &str) -> bool {
    text == "*" || text.starts_with("[\"")
}

fn dates(section: &Section<'_>) -> Result<(Domain, Spelling), StudyError> {
    let wrong = |what: &str| {
        let message = format!("{what}\nhint: range = [\"2024-01-01\", \"2024-12-31\"]");
        section.wrong("range", message)
    };
    let range = section
        .dates("range")?
        .ok_or_else(|| section.missing("range"))?;
    let [first, last] = range.as_slice() else {
        return Err(wrong("`attribute.range` needs two days: [first, last]").into());
    };
    let day = |text: &String| {
        // A time of day would be dropped: a day is ten characters.
        let parsed = text.parse::<Date>().ok().filter(|_| text.len() == 10);
        parsed.ok_or_else(|| wrong(&format!("`{text}` is no day")))
    };
    let ends = [day(first)?, day(last)?];
    let domain = Domain::date(ends[0], ends[1]).ok_or_else(|| {
        wrong(&format!(
            "`attribute.range` runs backwards: {first}, {last}"
        ))
    })?;
    let spelling = match section.string("format")? {
        Some(format) => Spelling::days(&format, ends)
            .map_err(|error| section.wrong("format", format!("`attribute.format`: {error}")))?,
        None => Spelling::default(),
    };
    Ok((domain, spelling))
}

fn categories(section: &Section<'_>, name: &str, open: &Open<'_>) -> Result<Domain, StudyError> {
    let ordered = section.boolean("ordered")?.unwrap_or(false);
    let tree = match (section.strings("values")?, section.string("taxonomy")?) {
        (Some(_), Some(_)) => {
            let message = format!(
                "attribute `{name}` has both values and a taxonomy\nhint: the taxonomy's leaves are its values; keep one of the two"
            );
            return Err(section.wrong("values", message).into());
        }
        (Some(values), None) => {
            for (place, value) in values.iter().enumerate() {
                if values[..place].contains(value) {
                    let message = format!("`attribute.values` lists `{value}` twice");
                    return Err(section.wrong("values", message).into());
                }
                if value == "*" {
                    let message = "`*` stands for all values and cannot be one of them";
                    return Err(section.wrong("values", message).into());
                }
            }
            Taxonomy::flat(&values, "values").map_err(|error| match error {
                TaxonomyError::Empty { .. } => {
                    section.wrong("values", "`attribute.values` is empty")
                }
                other => section.wrong("values", format!("`attribute.values`: {other}")),
            })?
        }
        (None, Some(file)) => open(&file)?,
        (None, None) => return Err(section.missing("values").into()),
    };
    Ok(Domain::category(tree, ordered))
}

fn text(section: &Section<'_>, name: &str, role: Role) -> Result<Domain, StudyError> {
    if matches!(role, Role::Quasi | Role::Sensitive) {
        let message = format!(
            "attribute `{name}` has no domain\nhint: give it one: type = \"integer\", \"decimal\" or \"date\" with range, type = \"boolean\", values = [\"…\"], or taxonomy = \"file.csv\""
        );
        return Err(section.wrong_section(message).into());
    }
    Ok(Domain::Text)
}
