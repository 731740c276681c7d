//! How a study writes its quasi-identifiers in the end, and what readers are told by it of who is in a table
//! and who is not: sets name every value of a class, and a tight range ends at somebody's value.

use hedgerow_data::study::{Algorithm, Partition};
use hedgerow_data::{Attribute, Recode, Role, Schema, Study, quoted_list};
use hedgerow_gate::{Attack, Finding, Verdict};
use hedgerow_protocols::RunSettings;
use hedgerow_protocols::horizontal::cover::Covers;

use crate::gate::Gated;
use crate::words::percent;

/// How a quasi-identifier is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// As a node of its taxonomy.
    Node,
    /// As a range whose ends nobody's value decides.
    Range,
    /// As a range from the least value that occurs to the greatest.
    TightRange,
    /// As the set of the values that occur.
    Set,
}

impl How {
    /// The name in comparisons.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Range => "range",
            Self::TightRange => "tight range",
            Self::Set => "set",
        }
    }

    /// What an attribute is written as in the end.
    pub(crate) fn of(attribute: &Attribute, recode: Recode, is_box: bool) -> Self {
        match (recode, attribute.domain.taxonomy()) {
            (Recode::Node, Some(_)) => Self::Node,
            // What cuts leave, and a box around a cluster, is an interval of values, however many of them occur.
            _ if is_box => Self::Range,
            (Recode::Set, _) => Self::Set,
            (Recode::Node, None) | (Recode::Range, _) => Self::TightRange,
        }
    }
}

/// Whether classes are written wider than what occurs in them.
pub(crate) fn is_box(study: &Study, run: &RunSettings) -> bool {
    study.partition == Partition::Horizontal && run.top_down.covers == Covers::Box
}

/// The quasi-identifiers of a schema.
pub(crate) fn quasi(schema: &Schema) -> impl Iterator<Item = &Attribute> {
    let attributes = schema.attributes().iter();
    attributes.filter(|attribute| attribute.role == Role::Quasi)
}

/// What was measured on Adult (k = 10, three sites, eight columns written alike), in hundredths: of people who
/// are like nobody else, how many of those who are not in the table a class covers, where it covers all who
/// are; and how many of the rarest ages end a class or stand in a set. `scripts/attacks.py` measures it.
struct OnAdult {
    strangers: u32,
    ends: u32,
}

/// Columns whose cells tell more than classes have in common.
#[derive(Debug, Clone)]
pub(crate) struct Telling {
    how: How,
    /// Their names.
    pub(crate) columns: Vec<String>,
    is_clustered: bool,
    can_be_box: bool,
}

impl Telling {
    /// The columns of a study that tell more: sets first.
    pub(crate) fn of(study: &Study, run: &RunSettings) -> Vec<Self> {
        // D2Pt writes levels, and nothing of a virtual database is published.
        if study.algorithm == Algorithm::D2pt || study.is_virtual() {
            return Vec::new();
        }
        let is_box = is_box(study, run);
        let all = [How::Set, How::TightRange].map(|how| {
            let written = quasi(&study.schema).filter(|attribute| {
                // Of two values, a class has one or both, as nodes say too.
                let is_told = attribute.domain.size() > 2;
                is_told && How::of(attribute, attribute.recode_or(run.recode), is_box) == how
            });
            Self {
                how,
                columns: written.map(|attribute| attribute.name.clone()).collect(),
                is_clustered: study.algorithm == Algorithm::Clustering,
                can_be_box: study.partition == Partition::Horizontal,
            }
        });
        all.into_iter()
            .filter(|one| !one.columns.is_empty())
            .collect()
    }

    /// Whether the columns are written as sets.
    pub(crate) fn is_of_sets(&self) -> bool {
        self.how == How::Set
    }

    const fn on_adult(&self) -> OnAdult {
        let (strangers, ends) = match (self.how, self.is_clustered) {
            (How::Set, false) => (44, 100),
            (How::Set, true) => (36, 100),
            (_, false) => (79, 79),
            (_, true) => (72, 63),
        };
        OnAdult { strangers, ends }
    }

    /// The columns and how they are written.
    fn subject(&self) -> String {
        let names = quoted_list(&self.columns);
        match (self.columns.len(), self.how) {
            (1, How::Set) => format!("{names} is written as sets of the values that occur"),
            (_, How::Set) => format!("{names} are written as sets of the values that occur"),
            (1, _) => format!("{names} is written as ranges that end at somebody's values"),
            _ => format!("{names} are written as ranges that end at somebody's values"),
        }
    }

    /// What speaks against this way of writing, measured elsewhere.
    fn elsewhere(&self) -> String {
        let found = self.on_adult();
        format!(
            "on the Adult table at k = 10, with all columns written so by {}, classes covered 100 % of the people of the table who are like nobody else and {} % of such people who are not in it, so that whoever asks who is in it gains {:.2} of 1; and {} % of the rarest ages {}",
            if self.is_clustered {
                "clusters"
            } else {
                "cuts"
            },
            found.strangers,
            f64::from(100 - found.strangers) / 100.0,
            found.ends,
            match self.how {
                How::Set => "stood there exactly",
                _ => "ended a class",
            }
        )
    }

    /// The warning before a run.
    pub(crate) fn warning(&self) -> String {
        let instead = match self.can_be_box {
            true => {
                "write covers = \"box\" in [algorithm], or give the columns taxonomies and recode = \"node\""
            }
            false => "give the columns taxonomies and recode = \"node\"",
        };
        format!("{}: {}\nhint: {instead}", self.subject(), self.elsewhere())
    }

    /// What is said of a release: by its own figures where attacks on it were tried.
    pub(crate) fn said(&self, gated: Option<&Gated>) -> Said {
        let tried = |attack| gated?.attacks.iter().find(|one| one.attack == attack);
        let (membership, ends) = (tried(Attack::Membership), tried(Attack::Ends));
        let mut figures = Vec::new();
        if let Some(found) = membership.and_then(|one| one.measured.as_ref()) {
            let control = found.control.as_ref().map_or(0.0, |control| control.share);
            figures.push(format!(
                "classes of this release cover {} of its people who are like nobody else and {} of such people who are not in it, so that whoever asks who is in it gains {:.2} of 1",
                percent(found.share),
                percent(control),
                (found.share - control).max(0.0)
            ));
        }
        if let Some(found) = ends.and_then(|one| one.measured.as_ref()) {
            figures.push(format!("of its {}: {}", found.falls, percent(found.share)));
        }
        let holds = |found: Option<&Finding>| {
            found.is_some_and(|one| matches!(one.verdict, Verdict::Holds | Verdict::Nothing))
        };
        if figures.is_empty() {
            figures.push(self.elsewhere());
        }
        Said {
            is_warning: !(holds(membership) && holds(ends)),
            words: format!("{}: {}", self.subject(), figures.join("; ")),
        }
    }
}

/// What a report says of columns that tell more than classes have in common.
pub(crate) struct Said {
    /// Whether it is a warning: attacks did not show that little falls.
    pub(crate) is_warning: bool,
    /// The columns, how they are written, and what was measured.
    pub(crate) words: String,
}
