//! What is measured of a release, by the code of `verify --original`.

use hedgerow_data::files::FileError;
use hedgerow_data::{Role, Table};
use hedgerow_privacy::Requirement;
use hedgerow_privacy::query_error::{Queries, QueryError};
use serde::Serialize;

use crate::error::Error;
use crate::simulate::Outcome;
use crate::study::Study;
use crate::verify::QueryKind;
use crate::verify::read::Read;
use crate::verify::release_file;

/// Random queries that are asked of the table and of every release, the same ones each time.
pub(super) const QUERIES: usize = 1_000;

/// What one choice ends with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measured {
    /// Whether the release satisfies the requirement.
    pub holds: bool,
    /// The detail that is lost (NCP), from 0 to 1.
    pub loss: f64,
    /// The relative error of random queries; nothing, where no query finds a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_error: Option<QueryError>,
    /// The risk that people who are known to be in the release are found there (prosecutor risk).
    pub risk: RiskOf,
    /// How large classes are.
    pub classes: ClassSizes,
    /// The time of the whole work, from reading the table to the release.
    pub seconds: f64,
    /// Whether the search ended because its share of the time was over.
    pub stopped: bool,
    /// The hash of the release, which is the same of releases that are.
    #[serde(skip)]
    pub(super) release: [u8; 32],
}

/// Prosecutor risk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RiskOf {
    /// The risk of the person most at risk.
    pub highest: f64,
    /// The risk of an average person.
    pub average: f64,
}

/// How large classes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ClassSizes {
    /// How many classes there are.
    pub count: u64,
    /// Records of the smallest.
    pub smallest: u64,
    /// Records of the one in the middle, by size.
    pub median: u64,
    /// Records of the largest.
    pub largest: u64,
}

/// How queries are drawn for a study.
pub(super) fn queries(study: &Study) -> Queries {
    let attributes = study.opened.study.schema.with_role(Role::Quasi).len();
    let queries = QueryKind::Jx09.queries(QUERIES, attributes);
    // A query speaks of no more attributes than there are.
    let most = attributes.max(1);
    Queries {
        attributes: (
            queries.attributes.0.min(most),
            queries.attributes.1.min(most),
        ),
        ..queries
    }
}

impl Measured {
    /// What a release shows, read from its file as a stranger reads it.
    pub(super) fn of(
        outcome: &Outcome,
        study: &Study,
        (original, requirement): (&Table, &Requirement),
        stopped: bool,
    ) -> Result<Self, Error> {
        let declared = &study.opened.study;
        let file = release_file(outcome.release.path(), Some(declared), None)?;
        let read = Read::open(&file, declared, &())?;
        let (classes, _) = read.judge(None, &[], None, None)?;
        let asked = (Some(requirement), Some(queries(study)));
        let (risk, utility) = read.beside(declared, &classes, Some(original), asked);
        let mut sizes: Vec<u64> = classes.sizes().collect();
        sizes.sort_unstable();
        let at = |place: usize| sizes.get(place).copied().unwrap_or(0);
        Ok(Self {
            holds: outcome.summary.holds,
            loss: utility.ncp,
            query_error: utility.query_error,
            risk: RiskOf {
                highest: risk.prosecutor.max,
                average: risk.prosecutor.mean,
            },
            classes: ClassSizes {
                count: sizes.len() as u64,
                smallest: at(0),
                median: at(sizes.len() / 2),
                largest: at(sizes.len().saturating_sub(1)),
            },
            seconds: outcome.summary.cost.seconds,
            stopped,
            release: hash(outcome)?,
        })
    }
}

fn hash(outcome: &Outcome) -> Result<[u8; 32], Error> {
    let file = outcome.release.path().join("release.csv");
    let bytes = std::fs::read(&file).map_err(|error| FileError::Unreadable {
        file: file.display().to_string(),
        reason: error.to_string(),
    })?;
    Ok(*blake3::hash(&bytes).as_bytes())
}
