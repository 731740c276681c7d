//! A comparison of a column with constants, as the codes that satisfy it.

use std::cmp::Ordering;

use hedgerow_data::{Attribute, Decimal, Domain, nearest, quoted_list};
use hedgerow_protocols::query::CodeSet;

use super::error::AskError;

/// How a column is compared with a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `=`
    Equal,
    /// `<>`
    Unequal,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

impl Operator {
    const fn text(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "<>",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }

    /// The operator with its sides exchanged.
    pub(super) const fn turned(self) -> Self {
        match self {
            Self::Below => Self::Above,
            Self::AtMost => Self::AtLeast,
            Self::Above => Self::Below,
            Self::AtLeast => Self::AtMost,
            equal => equal,
        }
    }

    const fn accepts(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

/// The codes of a column that compare so with a constant. The missing value is among none of them.
pub(super) fn compared(
    attribute: &Attribute,
    operator: Operator,
    constant: &str,
) -> Result<CodeSet, AskError> {
    let domain = &attribute.domain;
    // Of numbers and days the missing value has the last code; of categories it is a value without text.
    let values = match domain {
        Domain::Category(_) => domain.size(),
        _ => domain.size() - u32::from(domain.missing_code().is_some()),
    };
    let present = |codes: CodeSet| match domain.missing_code() {
        Some(missing) => codes.without(missing),
        None => codes,
    };
    if matches!(operator, Operator::Equal | Operator::Unequal) {
        let code = value_of(attribute, constant)?;
        let equal = CodeSet::new([(code, code)]);
        return Ok(match operator {
            Operator::Equal => equal,
            _ => present(equal.complement(values)),
        });
    }
    // How many values are below the constant, and how many are at most the constant.
    let (below, at_most) = match domain {
        Domain::Integer(numbers) => {
            let constant = Number::of(constant).ok_or_else(|| no_value(attribute, constant))?;
            let order = |code: u32| constant.order_of(numbers.value(code));
            (
                first(values, |code| order(code).is_ge()),
                first(values, |code| order(code).is_gt()),
            )
        }
        Domain::Decimal(decimals) => {
            let order = |code: u32| {
                let value = decimals.value(code);
                match Decimal::parse(constant.trim()) {
                    Some(constant) => Some(value.cmp(&constant)),
                    // An exponent, or more digits than a decimal has.
                    None => {
                        let value: f64 = value.to_string().parse().ok()?;
                        Some(value.total_cmp(&(number(constant)? + 0.0)))
                    }
                }
            };
            // What is no number compares with no value, so neither with the first.
            order(0).ok_or_else(|| no_value(attribute, constant))?;
            (
                first(values, |code| order(code).is_some_and(Ordering::is_ge)),
                first(values, |code| order(code).is_some_and(Ordering::is_gt)),
            )
        }
        Domain::Date(days) => {
            // A day is its first moment, so that a day lies before its own noon.
            let moment = constant.parse::<jiff::civil::DateTime>();
            let moment = moment.map_err(|_| no_value(attribute, constant))?;
            let at = |code: u32| days.day(code).to_datetime(jiff::civil::Time::midnight());
            (
                first(values, |code| at(code) >= moment),
                first(values, |code| at(code) > moment),
            )
        }
        Domain::Category(_) if domain.is_ordered() => {
            let code = value_of(attribute, constant)?;
            (code, code + 1)
        }
        _ => {
            let name = &attribute.name;
            let node = match domain.taxonomy().filter(|tree| tree.height() > 1) {
                Some(tree) => {
                    let parent = tree.parent(tree.leaf(0)).unwrap_or(tree.root());
                    format!(", or under({name}, '{}')", tree.label(parent))
                }
                None => String::new(),
            };
            let (operator, some) = (operator.text(), domain.label(0));
            return Err(AskError::Meaningless {
                comparison: format!("{name} {operator} {constant}"),
                why: format!("the values of `{name}` have no order"),
                instead: format!("{name} = '{some}', {name} IN ('{some}', …){node} have one"),
            });
        }
    };
    let ranges = [
        (0, below, Ordering::Less),
        (below, at_most, Ordering::Equal),
        (at_most, values, Ordering::Greater),
    ];
    let accepted = ranges
        .into_iter()
        .filter(|(from, to, order)| from < to && operator.accepts(*order));
    let codes = CodeSet::new(accepted.map(|(from, to, _)| (from, to - 1)));
    Ok(present(codes))
}

/// The code of a value; a node's label is no value.
pub(super) fn value_of(attribute: &Attribute, constant: &str) -> Result<u32, AskError> {
    let domain = &attribute.domain;
    let whole = match domain {
        // `55.0` is 55.
        Domain::Integer(_) => number(constant)
            .filter(|number| number.fract() == 0.0 && number.abs() < 2f64.powi(53))
            .map(|number| format!("{number:.0}")),
        Domain::Decimal(_) => Some(constant.trim().to_owned()),
        _ => None,
    };
    let text = whole.as_deref().unwrap_or(constant);
    let code = domain.encode(text.as_bytes());
    if let Some(code) = code.filter(|code| domain.missing_code() != Some(*code)) {
        return Ok(code);
    }
    if let Some(tree) = domain.taxonomy()
        && tree.find(constant).is_some()
    {
        let name = &attribute.name;
        return Err(AskError::Meaningless {
            comparison: format!("{name} = '{constant}'"),
            why: format!("`{constant}` stands for several values of `{name}`"),
            instead: format!("under({name}, '{constant}') asks for all of them"),
        });
    }
    Err(no_value(attribute, constant))
}

/// The codes that stand under a node of the column's taxonomy.
pub(super) fn under(attribute: &Attribute, label: &str) -> Result<CodeSet, AskError> {
    let name = &attribute.name;
    let Some(tree) = attribute.domain.taxonomy() else {
        let some = attribute.domain.label(0);
        return Err(AskError::Meaningless {
            comparison: format!("under({name}, '{label}')"),
            why: format!("`{name}` has no taxonomy"),
            instead: format!("{name} = '{some}', or BETWEEN"),
        });
    };
    match tree.find(label) {
        Some(node) => Ok(CodeSet::new([tree.interval(node)])),
        None => {
            let near = nearest(label, tree.labels(), 3);
            Err(AskError::NoValue {
                value: label.to_owned(),
                column: name.clone(),
                domain: String::from("the values and nodes of its taxonomy"),
                hint: hint(&near),
            })
        }
    }
}

/// The codes whose labels match a pattern of SQL: `%` is any text, `_` any character.
pub(super) fn like(
    attribute: &Attribute,
    pattern: &str,
    escape: Option<char>,
    folds: bool,
) -> Result<CodeSet, AskError> {
    let domain = &attribute.domain;
    let Domain::Category(_) = domain else {
        let (name, some) = (&attribute.name, domain.label(0));
        return Err(AskError::Meaningless {
            comparison: format!("{name} LIKE '{pattern}'"),
            why: format!("`{name}` holds {}, not text", domain.describe()),
            instead: format!("{name} = {some}, or BETWEEN"),
        });
    };
    let fold = |text: &str| match folds {
        true => text.to_lowercase(),
        false => text.to_owned(),
    };
    let pattern = steps(&fold(pattern), escape);
    let matching = (0..domain.size())
        .filter(|code| domain.missing_code() != Some(*code))
        .filter(|code| is_like(&fold(&domain.label(*code)), &pattern));
    Ok(CodeSet::new(matching.map(|code| (code, code))))
}

/// A step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Text,
    Any,
    One(char),
}

fn steps(pattern: &str, escape: Option<char>) -> Vec<Pattern> {
    let mut characters = pattern.chars();
    let mut steps = Vec::new();
    while let Some(character) = characters.next() {
        steps.push(match character {
            character if Some(character) == escape => match characters.next() {
                Some(next) => Pattern::One(next),
                None => Pattern::One(character),
            },
            '%' => Pattern::Text,
            '_' => Pattern::Any,
            character => Pattern::One(character),
        });
    }
    steps.dedup_by(|next, last| *next == Pattern::Text && *last == Pattern::Text);
    steps
}

/// Whether a text matches: the places of the pattern that the text so far may have come to.
fn is_like(text: &str, pattern: &[Pattern]) -> bool {
    let mut at = vec![false; pattern.len() + 1];
    at[0] = true;
    let skip = |at: &mut Vec<bool>| {
        for place in 0..pattern.len() {
            at[place + 1] |= at[place] && pattern[place] == Pattern::Text;
        }
    };
    skip(&mut at);
    for character in text.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for (place, step) in pattern.iter().enumerate().filter(|(place, _)| at[*place]) {
            match step {
                Pattern::Text => next[place] = true,
                Pattern::Any => next[place + 1] = true,
                Pattern::One(expected) => next[place + 1] |= *expected == character,
            }
        }
        skip(&mut next);
        at = next;
    }
    at[pattern.len()]
}

/// The first code that a rising condition accepts.
fn first(values: u32, accepts: impl Fn(u32) -> bool) -> u32 {
    let (mut from, mut to) = (0, values);
    while from < to {
        let middle = from + (to - from) / 2;
        match accepts(middle) {
            true => to = middle,
            false => from = middle + 1,
        }
    }
    from
}

/// A number that a column is compared with. Whole numbers are compared as such: not all of them have a
/// floating-point number of their own.
#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    fn of(text: &str) -> Option<Self> {
        match text.trim().parse() {
            Ok(whole) => Some(Self::Whole(whole)),
            Err(_) => number(text).map(Self::Real),
        }
    }

    /// How a value compares with the number.
    fn order_of(self, value: i64) -> Ordering {
        match self {
            Self::Whole(whole) => value.cmp(&whole),
            Self::Real(real) => (value as f64).total_cmp(&(real + 0.0)),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|number| number.is_finite())
}

fn no_value(attribute: &Attribute, constant: &str) -> AskError {
    let domain = &attribute.domain;
    AskError::NoValue {
        value: constant.chars().take(60).collect(),
        column: attribute.name.clone(),
        domain: domain.describe(),
        hint: hint(&domain.nearest(constant)),
    }
}

fn hint(near: &[String]) -> String {
    match near.is_empty() {
        true => String::new(),
        false => format!("\nhint: the nearest are {}", quoted_list(near)),
    }
}
