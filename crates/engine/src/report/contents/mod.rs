//! What stands in a release, for the page: sample rows, how each quasi-identifier is written, how the values
//! of each column are distributed, classes that nearly all have one sensitive value, and what columns give
//! away that are published as they are.

pub(super) mod bins;
mod dominated;
mod levels;
mod others;
mod sample;
mod spread;

pub(super) use dominated::Dominated;
pub(super) use levels::Level;
pub(super) use others::OtherColumn;
pub(super) use sample::SampleTable;
pub(super) use spread::Spread;

use hedgerow_data::{Domain, Role};

use super::own::Before;
use crate::study::opened::Opened;
use crate::verify::Seen;

/// The most characters of a value that a page shows.
const LONGEST_VALUE: usize = 60;

/// What stands in a release.
pub(super) struct Contents {
    /// The columns of the study, with what the release does with them.
    pub(super) columns: Vec<ColumnFacts>,
    pub(super) samples: Vec<SampleTable>,
    /// For each quasi-identifier, how often it is written in which way.
    pub(super) levels: Vec<(String, Vec<Level>)>,
    pub(super) spreads: Vec<Spread>,
    pub(super) dominated: Vec<Dominated>,
    pub(super) others: Vec<OtherColumn>,
}

/// A column of the study in words.
pub(super) struct ColumnFacts {
    pub(super) name: String,
    pub(super) role: &'static str,
    pub(super) values: String,
    pub(super) released: String,
}

impl Contents {
    /// What stands in a release that was read; `before` has the rows to compare the release with.
    pub(super) fn of(opened: &Opened, seen: &Seen, before: Option<&Before>) -> Self {
        Self {
            columns: columns(opened),
            samples: sample::samples(seen, opened.study.is_virtual()),
            levels: levels::levels(&seen.release),
            spreads: spread::spreads(&seen.release, before),
            dominated: dominated::dominated(seen),
            others: others::others(seen),
        }
    }
}

/// The columns of a study, and what becomes of each in the release.
fn columns(opened: &Opened) -> Vec<ColumnFacts> {
    let study = &opened.study;
    let is_virtual = study.is_virtual();
    let attributes = study.schema.attributes().iter();
    let facts = attributes.map(|attribute| {
        let (role, released) = match attribute.role {
            Role::Quasi => {
                let recode = attribute.recode_or(study.recode);
                let way = match (recode, attribute.domain.taxonomy().is_some()) {
                    (hedgerow_data::Recode::Node, true) => "generalized to nodes of the taxonomy",
                    (hedgerow_data::Recode::Set, _) => "generalized to sets of values",
                    _ => "generalized to ranges",
                };
                ("quasi-identifier: others may know it", way)
            }
            Role::Sensitive if is_virtual => ("sensitive", "not published"),
            Role::Sensitive => ("sensitive", "as it is"),
            Role::Other if is_virtual => ("other", "not published"),
            Role::Other => ("other", "as it is"),
            Role::Identifier => ("identifier", "left out"),
        };
        ColumnFacts {
            name: attribute.name.clone(),
            role,
            values: match attribute.role {
                // What a release does not have, its description does not say either.
                Role::Identifier => String::new(),
                _ => values(&attribute.domain),
            },
            released: released.to_owned(),
        }
    });
    facts.collect()
}

/// The values of a domain in words.
fn values(domain: &Domain) -> String {
    let described = match domain {
        Domain::Category(_) => format!("{} values", domain.size()),
        _ => domain.describe(),
    };
    match domain.taxonomy().map(hedgerow_data::Taxonomy::height) {
        // A taxonomy of one level says nothing but `*`.
        Some(levels) if levels > 1 => format!("{described}; a taxonomy of {levels} levels"),
        _ => described,
    }
}

/// A value as a page shows it.
fn shown(text: &str) -> String {
    match text.chars().count() {
        0 => String::from("(empty)"),
        letters if letters > LONGEST_VALUE => {
            text.chars().take(LONGEST_VALUE - 1).chain(['…']).collect()
        }
        _ => text.to_owned(),
    }
}
