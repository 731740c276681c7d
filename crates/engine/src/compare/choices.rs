//! The choices that are compared: the study with other lines of `[algorithm]`, those that write the same once.

use std::sync::Arc;

use hedgerow_data::Recode;
use hedgerow_data::study::Algorithm;
use hedgerow_protocols::RunSettings;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::mondrian::TopDown;
use serde::Serialize;

use crate::error::Error;
use crate::study::Study;
use crate::study::algorithm::{Wanted, lines, rewritten};
use crate::study::opened::Opened;
use crate::study::written::{How, is_box, quasi};

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
    /// The range that a class is written as covering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covers: Option<&'static str>,
    /// How each quasi-identifier is written, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Writes>,
    /// Whether the study says so itself.
    pub own: bool,
    /// `[algorithm]` of the study with this choice; empty where there should be no such study.
    pub lines: String,
}

/// How a quasi-identifier is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Writes {
    /// The attribute.
    pub attribute: String,
    /// `node`, `range` (as cuts leave it), `tight range` (from the least value that occurs to the greatest) or `set`.
    pub how: &'static str,
    /// Whether the order of the values means something, so that a range of them does.
    pub ordered: bool,
}

impl Writes {
    /// How much is told of which values occur in a class: nodes and the ranges that cuts leave are the same
    /// whoever is in the class, a tight range ends at somebody's value, a set names each value.
    fn tells(&self) -> u8 {
        match self.how {
            "set" => 2,
            "tight range" => 1,
            _ => 0,
        }
    }

    fn is_range_without_order(&self) -> bool {
        self.how.ends_with("range") && !self.ordered
    }

    /// Whether readers are told no more, and nothing that says less, than by another way to write the attribute.
    fn is_within(&self, other: &Self) -> bool {
        self.tells() <= other.tells()
            && (other.is_range_without_order() || !self.is_range_without_order())
    }
}

fn writes(opened: &Opened) -> Vec<Writes> {
    let written = quasi(&opened.study.schema).zip(Way::of(opened).written);
    let written = written.map(|(attribute, how)| Writes {
        attribute: attribute.name.clone(),
        how: how.name(),
        // Two values are a range in either order.
        ordered: attribute.domain.is_ordered() || attribute.domain.size() <= 2,
    });
    written.collect()
}

impl Choice {
    /// Whether every quasi-identifier is written so that it tells no more than by another choice.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let mut both = self.writes.iter().zip(&other.writes);
        self.writes.len() == other.writes.len() && both.all(|(one, other)| one.is_within(other))
    }

    /// How much the choice tells of all attributes together.
    pub(super) fn tells(&self) -> u32 {
        self.writes.iter().map(|one| u32::from(one.tells())).sum()
    }

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

/// What the choices of a study are, in the order in which they are tried: the study's own, then cuts, which take
/// little time, then clusters.
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
    all.sort_by_key(|candidate| {
        let is_search = candidate.choice.algorithm == Algorithm::Clustering.name();
        (!candidate.choice.own, is_search)
    });
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
            let mut choice = choice(&opened, lines);
            let study = match too_large(&opened, &way) {
                Some(why) => {
                    choice.lines.clear();
                    Err(Hindered::Unfit(why))
                }
                None => Ok(Study {
                    opened: Arc::new(opened),
                }),
            };
            Candidate { choice, study }
        }
        Err(error) => {
            let choice = Choice {
                algorithm: wanted.algorithm.name(),
                recode: recode.name(),
                same: Vec::new(),
                covers: Some(wanted.covers.name()),
                writes: Vec::new(),
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
    Choice {
        algorithm: algorithm.name(),
        recode: opened.run.recode.name(),
        same: Vec::new(),
        covers: Some(opened.run.top_down.covers.name()),
        writes: writes(opened),
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
    written: Vec<How>,
}

impl Way {
    fn of(opened: &Opened) -> Self {
        let algorithm = opened.study.algorithm;
        let mut settings = opened.run;
        let is_box = is_box(&opened.study, &opened.run);
        let written = quasi(&opened.study.schema)
            .map(|attribute| How::of(attribute, attribute.recode_or(settings.recode), is_box));
        let written: Vec<How> = written.collect();
        if algorithm == Algorithm::Clustering {
            // A node of a cluster is the same, however wide ranges are.
            settings.top_down = TopDown::default();
        }
        Self {
            algorithm,
            written,
            settings: RunSettings {
                recode: Recode::default(),
                ..settings
            },
        }
    }
}

/// Why sets are not written of so many values. What the study says itself of an attribute stays.
fn too_large(opened: &Opened, way: &Way) -> Option<String> {
    let mut written = quasi(&opened.study.schema).zip(&way.written);
    let (attribute, _) = written.find(|(attribute, how)| {
        **how == How::Set
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
