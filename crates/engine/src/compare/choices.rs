//! The choices that are compared: the study with other lines of `[algorithm]`, those that write the same once.

use std::sync::Arc;

use hedgerow_data::study::Algorithm;
use hedgerow_data::{Attribute, Recode, Role, Schema};
use hedgerow_protocols::RunSettings;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::mondrian::TopDown;
use serde::Serialize;

use crate::error::Error;
use crate::study::Study;
use crate::study::algorithm::{Wanted, lines, rewritten};
use crate::study::opened::Opened;

/// The most values of a quasi-identifier that are written as sets here: a set of more says little to readers.
const MOST_VALUES_OF_SETS: u32 = 1_000;

/// What a study may say in `[algorithm]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// How classes are found, as studies name it.
    pub algorithm: &'static str,
    /// How classes are written.
    pub recode: &'static str,
    /// Recodings that would write the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<&'static str>,
    /// Of cuts, the range that a class is written as covering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covers: Option<&'static str>,
    /// Whether classes are written as ranges of values that have no order, which say little to readers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unordered: bool,
    /// Whether the study says so itself.
    pub own: bool,
    /// `[algorithm]` of the study with this choice.
    pub lines: String,
}

impl Choice {
    /// The choice in words, such as `mondrian, node`.
    pub fn words(&self) -> String {
        let covers = match self.covers {
            Some("box") => ", covers box",
            _ => "",
        };
        format!("{}, {}{covers}", self.algorithm, self.recode)
    }
}

/// A choice, and the study with it.
pub(super) struct Candidate {
    pub(super) choice: Choice,
    /// Why there is no such study, or why it is not run.
    pub(super) study: Result<Study, Hindered>,
}

/// Why a choice is no candidate.
pub(super) enum Hindered {
    /// No study can say so.
    Refused(String),
    /// A study could, and should not.
    Unfit(String),
}

/// What the choices of a study are, in the order in which they are tried: cuts, which take little time, before
/// clusters, and the study's own among its kind first.
pub(super) fn candidates(study: &Study, has_sites: bool) -> Vec<Candidate> {
    let own = Candidate {
        choice: Choice {
            own: true,
            ..choice(&study.opened, lines(&study.opened))
        },
        study: Ok(study.clone()),
    };
    let mut all = vec![own];
    for wanted in wanted(has_sites) {
        add(&mut all, &study.opened, wanted);
    }
    all.sort_by_key(|candidate| candidate.choice.algorithm == Algorithm::Clustering.name());
    all
}

/// Every algorithm, with every recoding. Cuts between sites are for tables of several sites.
fn wanted(has_sites: bool) -> Vec<Wanted> {
    let algorithms = [
        Algorithm::Mondrian,
        Algorithm::ProviderAware,
        Algorithm::Clustering,
    ];
    let is_fit = |algorithm: &Algorithm| *algorithm != Algorithm::ProviderAware || has_sites;
    let mut all = Vec::new();
    for algorithm in algorithms.into_iter().filter(is_fit) {
        for covers in [Covers::Tight, Covers::Box] {
            if covers == Covers::Box && algorithm == Algorithm::Clustering {
                continue;
            }
            all.extend(Recode::NAMES.map(|(_, recode)| Wanted {
                algorithm,
                recode: Some(recode),
                covers,
            }));
        }
    }
    all
}

/// Adds a choice, unless one that writes the same is there.
fn add(all: &mut Vec<Candidate>, own: &Opened, wanted: Wanted) {
    let recode = wanted.recode.unwrap_or_default();
    let candidate = match rewritten(own, wanted) {
        Ok((opened, lines)) => {
            let way = Way::of(&opened);
            let same = all.iter_mut().find(|other| {
                let other = other.study.as_ref().ok();
                other.is_some_and(|other| Way::of(&other.opened) == way)
            });
            if let Some(Candidate { choice, .. }) = same {
                if choice.recode != recode.name() && !choice.same.contains(&recode.name()) {
                    choice.same.push(recode.name());
                }
                return;
            }
            let choice = choice(&opened, lines);
            let study = match too_large(&opened, &way) {
                Some(why) => Err(Hindered::Unfit(why)),
                None => Ok(Study {
                    opened: Arc::new(opened),
                }),
            };
            Candidate { choice, study }
        }
        Err(error) => {
            let is_cut = wanted.algorithm != Algorithm::Clustering;
            let choice = Choice {
                algorithm: wanted.algorithm.name(),
                recode: recode.name(),
                same: Vec::new(),
                covers: is_cut.then_some(wanted.covers.name()),
                unordered: false,
                own: false,
                lines: String::new(),
            };
            let study = Err(Hindered::Refused(reason(&error)));
            Candidate { choice, study }
        }
    };
    all.push(candidate);
}

fn choice(opened: &Opened, lines: String) -> Choice {
    let algorithm = opened.study.algorithm;
    let is_cut = algorithm != Algorithm::Clustering;
    Choice {
        algorithm: algorithm.name(),
        recode: opened.run.recode.name(),
        same: Vec::new(),
        covers: is_cut.then_some(opened.run.top_down.covers.name()),
        unordered: quasi(&opened.study.schema)
            .zip(Way::of(opened).recodes)
            .any(|(attribute, recode)| {
                recode == Recode::Range
                    && !attribute.domain.is_ordered()
                    && attribute.domain.size() > 2
            }),
        own: false,
        lines,
    }
}

/// Why a choice is refused, without the place in a study that nobody wrote, and without the hints for it.
pub(super) fn reason(error: &Error) -> String {
    let text = match error {
        Error::Document(hedgerow_data::document::DocumentError::Invalid { message, .. }) => {
            message.clone()
        }
        other => other.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

/// Everything that decides what a study writes, but for what all choices have in common.
#[derive(PartialEq)]
struct Way {
    algorithm: Algorithm,
    settings: RunSettings,
    recodes: Vec<Recode>,
}

impl Way {
    fn of(opened: &Opened) -> Self {
        let algorithm = opened.study.algorithm;
        let mut settings = opened.run;
        if algorithm == Algorithm::Clustering {
            settings.top_down = TopDown::default();
        }
        let is_box = algorithm != Algorithm::Clustering && settings.top_down.covers == Covers::Box;
        let recodes = quasi(&opened.study.schema)
            .map(|attribute| written(attribute, attribute.recode_or(settings.recode), is_box));
        Self {
            algorithm,
            recodes: recodes.collect(),
            settings: RunSettings {
                recode: Recode::default(),
                ..settings
            },
        }
    }
}

fn quasi(schema: &Schema) -> impl Iterator<Item = &Attribute> {
    let attributes = schema.attributes().iter();
    attributes.filter(|attribute| attribute.role == Role::Quasi)
}

/// The recoding that a class of an attribute is written by in the end.
fn written(attribute: &Attribute, recode: Recode, is_box: bool) -> Recode {
    let recode = match recode {
        // What cuts leave is an interval of values, however many of them occur.
        Recode::Set if is_box => Recode::Range,
        other => other,
    };
    match (recode, attribute.domain.taxonomy()) {
        (Recode::Node, None) => Recode::Range,
        (recode, _) => recode,
    }
}

/// Why sets are not written of so many values. What the study says itself of an attribute stays.
fn too_large(opened: &Opened, way: &Way) -> Option<String> {
    let mut written = quasi(&opened.study.schema).zip(&way.recodes);
    let (attribute, _) = written.find(|(attribute, recode)| {
        **recode == Recode::Set
            && attribute.recode.is_none()
            && attribute.domain.size() > MOST_VALUES_OF_SETS
    })?;
    Some(format!(
        "`{}` has {} values, and sets of more than {} say little to readers",
        attribute.name,
        crate::words::thousands(attribute.domain.size().into()),
        crate::words::thousands(MOST_VALUES_OF_SETS.into()),
    ))
}
