//! The algorithm of a study by its name, and how its releases are written: both decide which files a
//! release has and which rules of sites apply. The `protocols` crate reads the other keys of
//! `[algorithm]`.

use super::Partition;
use crate::attribute::Recode;
use crate::document::{DocumentError, Section};
use crate::nearest::quoted_list;

/// How classes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Top-down cuts, of different people or of the same people at every site.
    #[default]
    Mondrian,
    /// Sequential clustering.
    Clustering,
    /// Top-down cuts with the provider as one more attribute.
    ProviderAware,
    /// Vertical two-party anonymization, for any number of sites.
    D2pt,
}

impl Algorithm {
    /// All algorithms, by their names in studies.
    pub const NAMES: [(&'static str, Self); 4] = [
        Self::Mondrian.named(),
        Self::Clustering.named(),
        Self::ProviderAware.named(),
        Self::D2pt.named(),
    ];

    /// Whether classes are found by top-down cuts.
    pub const fn cuts(self) -> bool {
        matches!(self, Self::Mondrian | Self::ProviderAware)
    }

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mondrian => "mondrian",
            Self::Clustering => "clustering",
            Self::ProviderAware => "provider-aware",
            Self::D2pt => "d2pt",
        }
    }

    const fn named(self) -> (&'static str, Self) {
        (self.name(), self)
    }
}

/// The algorithms of a horizontal study.
const HORIZONTAL: [(&str, Algorithm); 3] = [
    Algorithm::Mondrian.named(),
    Algorithm::Clustering.named(),
    Algorithm::ProviderAware.named(),
];

/// The algorithms for vertical studies, the default first.
const VERTICAL: [(&str, Algorithm); 3] = [
    Algorithm::D2pt.named(),
    Algorithm::Clustering.named(),
    Algorithm::Mondrian.named(),
];

/// What decides which files a release has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) algorithm: Algorithm,
    /// How a class is written where an attribute does not name a recoding of its own.
    pub(super) recode: Recode,
    /// Whether releases are fragmented.
    pub(super) fragments: bool,
}

/// Reads `algorithm.name`, an algorithm for the partition, the first where the study names none;
/// `algorithm.recode`, which has no meaning for D2Pt; and `algorithm.fragments`, which is for cuts of the
/// same people: D2Pt's releases are always fragmented.
pub(super) fn read(root: &Section<'_>, partition: Partition) -> Result<Written, DocumentError> {
    let (here, elsewhere): (&[_], &[_]) = match partition {
        Partition::Horizontal => (&HORIZONTAL, &VERTICAL),
        Partition::Vertical => (&VERTICAL, &HORIZONTAL),
    };
    let Some(section) = root.section("algorithm")? else {
        let algorithm = here[0].1;
        return Ok(Written {
            algorithm,
            recode: Recode::default(),
            fragments: algorithm == Algorithm::D2pt,
        });
    };
    if let Some(name) = section.string("name")?
        && let Some((name, _)) = elsewhere.iter().find(|(other, _)| *other == name)
        && here.iter().all(|(own, _)| own != name)
    {
        let other = match partition {
            Partition::Horizontal => Partition::Vertical,
            Partition::Vertical => Partition::Horizontal,
        };
        let message = format!(
            "`algorithm.name` is `{name}`, which is for {} studies\nhint: {} ones have {}",
            other.name(),
            partition.name(),
            quoted_list(here.iter().map(|(own, _)| own))
        );
        return Err(section.wrong("name", message));
    }
    let algorithm = section.word("name", here)?.unwrap_or(here[0].1);
    let recode = match algorithm {
        Algorithm::D2pt => None,
        _ => section.word("recode", &Recode::NAMES)?,
    };
    let fragments = match (algorithm, partition) {
        (Algorithm::D2pt, _) => true,
        (Algorithm::Mondrian, Partition::Vertical) => {
            section.boolean("fragments")?.unwrap_or(false)
        }
        // Whose key it is, the protocols say.
        _ => false,
    };
    Ok(Written {
        algorithm,
        recode: recode.unwrap_or_default(),
        fragments,
    })
}
