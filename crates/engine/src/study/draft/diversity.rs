//! The l that a draft requires, and what it says of it: counted over what sensitive values say, so that a
//! value spelled in several ways counts once, and one that is missing does not count.

use std::collections::BTreeMap;

use hedgerow_data::Decimal;
use hedgerow_data::profile::{Kind, Profile};
use jiff::civil::Date;

use super::form::{Form, folded};

/// The greatest l that a draft proposes.
const MOST_L: u64 = 3;

/// What a value says, however it is spelled.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Fact {
    Number(Decimal),
    Day(Date),
    Truth(bool),
    Text(String),
}

/// How many records have each fact of a sensitive column, the most frequent first.
pub(super) struct Facts {
    records: Vec<u64>,
    /// Records of the values that are told, missing ones among them.
    all: u64,
}

impl Facts {
    /// The facts of a column that a draft tells in this form: with `--share` a list has only the values that
    /// enough records have.
    pub(super) fn of(profile: &Profile, form: &Form, least_records: Option<u64>) -> Self {
        let is_list = matches!(form, Form::Values { .. } | Form::Tree { .. });
        let least = least_records.filter(|_| is_list).unwrap_or(1);
        let told = || profile.values.iter().filter(|value| value.records >= least);
        let mut facts: BTreeMap<Fact, u64> = BTreeMap::new();
        for value in told() {
            let fact = Fact::of(&value.text, profile.kind, form);
            *facts.entry(fact).or_default() += value.records;
        }
        let mut records: Vec<u64> = facts.into_values().collect();
        records.sort_unstable_by(|one, other| other.cmp(one));
        let missing = profile.missing.iter().map(|value| value.records);
        Self {
            all: records.iter().chain(&missing.collect::<Vec<_>>()).sum(),
            records,
        }
    }

    /// Whether no l above 1 can be met.
    pub(super) fn are_poor(&self) -> bool {
        self.records.len() < 2
    }

    /// Whether classes of k records need not grow to have l different facts: so many records are outside the
    /// l - 1 most frequent ones.
    fn are_easy(&self, k: u64, l: u64) -> bool {
        let outside: u64 = self.records.iter().skip(l as usize - 1).sum();
        self.records.len() as u64 >= l && outside * k >= self.all
    }
}

impl Fact {
    fn of(text: &str, kind: Kind, form: &Form) -> Self {
        let fact = match kind {
            _ if matches!(form, Form::Truth { .. }) => {
                hedgerow_data::truth(text.as_bytes()).map(Self::Truth)
            }
            Kind::Integers { .. } => Decimal::parse(text).map(Self::Number),
            Kind::Numbers { format, .. } => format.read(text).map(Self::Number),
            Kind::Days(format) => format.read(text).map(Self::Day),
            _ => None,
        };
        fact.unwrap_or_else(|| Self::Text(folded(text)))
    }
}

/// The l that all sensitive columns allow, and whether it is easy to meet; none of the columns is poor.
pub(super) fn diversity(sensitive: &[Facts], k: u64) -> (u64, bool) {
    let is_easy = |l: u64| sensitive.iter().all(|facts| facts.are_easy(k, l));
    let l = (2..=MOST_L).rev().find(|l| is_easy(*l)).unwrap_or(2);
    (l, is_easy(l))
}
