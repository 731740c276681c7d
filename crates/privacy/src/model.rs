//! Privacy models: what a requirement demands of a class, decided exactly.

use serde::{Deserialize, Serialize};

use crate::closeness::{Distance, EarthMover};
use crate::counts::{Counts, Reference};
use crate::measure;
use crate::ratio::Ratio;

/// A demand on every class: one privacy model with its numbers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// At least k records.
    KAnonymity {
        /// k
        k: u64,
    },
    /// No sensitive value more frequent than alpha: with k, (alpha,k)-anonymity.
    Alpha {
        /// alpha
        alpha: Ratio,
    },
    /// At least l distinct sensitive values.
    DistinctDiversity {
        /// l
        l: u64,
    },
    /// No sensitive value more frequent than 1/l (TG12).
    FrequencyDiversity {
        /// l
        l: Ratio,
    },
    /// Entropy at least log l.
    EntropyDiversity {
        /// l
        l: Ratio,
    },
    /// r_1 < c (r_l + r_{l+1} + …).
    RecursiveDiversity {
        /// c
        c: Ratio,
        /// l
        l: u64,
    },
    /// Earth mover's distance to the whole table at most t.
    Closeness {
        /// t
        t: Ratio,
        /// The ground distance; each attribute's natural one where the study does not say.
        distance: Option<Distance>,
    },
    /// Relative gain of every value at most beta, and at most -ln p if enhanced.
    Likeness {
        /// beta
        beta: Ratio,
        /// Whether -ln p caps the gain too.
        enhanced: bool,
    },
    /// |ln(q/p)| below delta for every value of the table, so that the class has all of them.
    DeltaDisclosure {
        /// delta
        delta: f64,
    },
    /// Records of at least l sites.
    SiteDiversity {
        /// l
        l: u64,
        /// How sites are counted.
        support: SiteSupport,
        /// The attributes that may betray a site; all quasi-identifiers where the study names no
        /// attributes.
        attributes: Option<Vec<String>>,
    },
    /// Records spread over sites: a stronger kind of l-diversity, with the site of a record as its
    /// sensitive value (JX09 section 3).
    SiteSpread {
        /// The kind, with its numbers.
        spread: Spread,
        /// The attributes that may betray a site; all quasi-identifiers where the study names no
        /// attributes.
        attributes: Option<Vec<String>>,
    },
}

/// How evenly the records of a class are spread over sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Entropy of sites at least log l.
    Entropy {
        /// l
        l: Ratio,
    },
    /// r_1 < c (r_l + r_{l+1} + …), where r_i is how many records the site with the ith most has.
    Recursive {
        /// c
        c: Ratio,
        /// l
        l: u64,
    },
}

impl Spread {
    /// Whether records are spread so, from how many of them each site has.
    pub fn holds(self, sites: Counts<'_>) -> bool {
        match self {
            Self::Entropy { l } => is_diverse_by_entropy(sites, l),
            Self::Recursive { c, l } => measure::recursive_bound(sites, l) < c,
        }
    }

    /// The number that a requirement states: l of entropy, or l beside c.
    pub fn l(self) -> Ratio {
        match self {
            Self::Entropy { l } => l,
            Self::Recursive { l, .. } => Ratio::whole(l),
        }
    }

    /// The kind by its name in studies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entropy { .. } => "entropy",
            Self::Recursive { .. } => "recursive",
        }
    }
}

/// Entropy at least log l, with the slack that logarithms need.
fn is_diverse_by_entropy(counts: Counts<'_>, l: Ratio) -> bool {
    measure::entropy_diversity(counts) >= l.to_f64() * (1.0 - measure::EPSILON)
}

/// What it takes for a site to stand behind a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SiteSupport {
    /// Sites with records in the class (JX09).
    Class,
    /// Sites that support every generalized value of the class, one by one (TG12 6.2).
    Taxonomy,
}

/// What a model sees of a class.
#[derive(Debug, Clone, Copy)]
pub struct ClassView<'a> {
    /// Records.
    pub size: u64,
    /// Counts of each sensitive attribute.
    pub sensitive: &'a [Counts<'a>],
    /// Records of each site, where sites are known.
    pub sites: Option<Counts<'a>>,
}

/// What a model knows of the whole table: for each sensitive attribute its counts and distance.
#[derive(Debug, Clone)]
pub struct TableView<'a> {
    /// Counts of each sensitive attribute.
    pub references: &'a [Reference],
    /// Prepared distances, one for each sensitive attribute.
    pub movers: Vec<EarthMover<'a>>,
}

impl Model {
    /// Whether a class satisfies the model. A class without records has nobody to protect.
    pub fn holds(&self, class: &ClassView<'_>, table: &TableView<'_>) -> bool {
        if class.size == 0 {
            return true;
        }
        let each = |check: &dyn Fn(Counts<'_>) -> bool| {
            class.sensitive.iter().all(|counts| check(*counts))
        };
        let each_with_table = |check: &dyn Fn(Counts<'_>, &Reference) -> bool| {
            let pairs = class.sensitive.iter().zip(table.references);
            pairs
                .into_iter()
                .all(|(counts, reference)| check(*counts, reference))
        };
        match self {
            Self::KAnonymity { k } => class.size >= *k,
            Self::Alpha { alpha } => each(&|counts| measure::max_frequency(counts) <= *alpha),
            Self::DistinctDiversity { l } => each(&|counts| measure::distinct(counts) >= *l),
            Self::FrequencyDiversity { l } => {
                each(&|counts| measure::frequency_diversity(counts) >= *l)
            }
            Self::EntropyDiversity { l } => each(&|counts| is_diverse_by_entropy(counts, *l)),
            Self::RecursiveDiversity { c, l } => {
                each(&|counts| measure::recursive_bound(counts, *l) < *c)
            }
            Self::Closeness { t, .. } => {
                let pairs = class.sensitive.iter().zip(&table.movers);
                pairs
                    .into_iter()
                    .all(|(counts, mover)| mover.distance(*counts) <= *t)
            }
            Self::Likeness { beta, enhanced } => each_with_table(&|counts, reference| {
                measure::greatest_gain(counts, reference) <= *beta
                    && (!enhanced || measure::gains_within_cap(counts, reference))
            }),
            Self::DeltaDisclosure { delta } => each_with_table(&|counts, reference| {
                measure::disclosure(counts, reference) < *delta
            }),
            // Where sites are not known, the class counts as having none.
            Self::SiteDiversity { l, .. } => {
                let is_of_enough = |sites| measure::distinct(sites) >= *l;
                *l <= 1 || class.sites.is_some_and(is_of_enough)
            }
            Self::SiteSpread { spread, .. } => class.sites.is_some_and(|sites| spread.holds(sites)),
        }
    }

    /// Whether the model speaks of the sites behind a class, which a release does not show.
    pub const fn speaks_of_sites(&self) -> bool {
        matches!(self, Self::SiteDiversity { .. } | Self::SiteSpread { .. })
    }

    /// The model's key in verdicts.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::KAnonymity { .. } => "k",
            Self::Alpha { .. } => "alpha",
            Self::DistinctDiversity { .. } => "l_distinct",
            Self::FrequencyDiversity { .. } => "l_frequency",
            Self::EntropyDiversity { .. } => "l_entropy",
            Self::RecursiveDiversity { .. } => "l_recursive",
            Self::Closeness { .. } => "t",
            Self::Likeness {
                enhanced: false, ..
            } => "beta_basic",
            Self::Likeness { enhanced: true, .. } => "beta_enhanced",
            Self::DeltaDisclosure { .. } => "delta",
            Self::SiteDiversity { .. } | Self::SiteSpread { .. } => "site_diversity",
        }
    }

    /// Whether the model demands records of more than one site.
    pub fn demands_sites(&self) -> bool {
        match self {
            Self::SiteDiversity { l, .. } => *l > 1,
            Self::SiteSpread { spread, .. } => spread.l() > Ratio::whole(1),
            _ => false,
        }
    }

    /// Whether a class that satisfies the model still does when records are added. Only then may
    /// m-privacy look at the largest coalitions alone.
    pub fn is_monotone(&self) -> bool {
        matches!(
            self,
            Self::KAnonymity { .. } | Self::DistinctDiversity { .. } | Self::SiteDiversity { .. }
        )
    }
}
