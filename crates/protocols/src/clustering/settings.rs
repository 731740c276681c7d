//! How clusters are found (TG12), as `[algorithm]` of a study says.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_privacy::Ratio;
use hedgerow_smc::Security;

use super::Stop;

/// The most random starts.
const MOST_STARTS: i64 = 100;
/// The greatest effort that a study may ask for.
const MOST_EFFORT: i64 = 10_000;
/// The greatest bound on iterations that a study may say.
const MOST_ITERATIONS: i64 = 1_000_000;

/// The keys of `[algorithm]` that speak of clusters in horizontal studies; who asks for hidden counts is told
/// more ([`CountsChoice::Hidden`]).
pub(crate) const CLUSTERING_KEYS: [&str; 10] = [
    "start",
    "split",
    "starts",
    "loss",
    "iterations",
    "least_gain",
    "counts",
    "blur",
    "finish",
    "effort",
];

/// How clusters are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusteringSettings {
    /// Records of a cluster at the start, as a share of k.
    pub start: f64,
    /// Records above which a cluster is split, as a share of k.
    pub split: f64,
    /// Random starts, of which the best is kept.
    pub starts: u32,
    /// The loss that clustering keeps small.
    pub loss: Loss,
    /// The most iterations over all records; `None` where the security level decides.
    pub iterations: Option<u32>,
    /// Iterations end when one lowers the loss by no more than this share of it; `None` where the security
    /// level decides.
    pub least_gain: Option<Ratio>,
    /// Whether the sensitive counts of clusters are opened on the way.
    pub counts: CountsChoice,
    /// Whether a site looks at a random share of its records in each turn, which blurs how many records
    /// the site has.
    pub blur: bool,
    /// Whether clusters are refined beyond the published end.
    pub finish: bool,
    /// How long clusters are refined: at twice the effort, about twice as long.
    pub effort: u32,
    /// In vertical studies, the most that a site adds to or takes off each change of its loss before the
    /// sites' changes are summed, as a share of the loss of a cell.
    pub noise: f64,
}

impl Default for ClusteringSettings {
    fn default() -> Self {
        Self {
            start: 0.5,
            split: 1.5,
            starts: 1,
            loss: Loss::Ncp,
            iterations: None,
            least_gain: None,
            counts: CountsChoice::Opened,
            blur: false,
            finish: true,
            effort: 10,
            noise: 0.0,
        }
    }
}

impl ClusteringSettings {
    /// Reads the keys of `[algorithm]` that speak of clusters.
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, DocumentError> {
        let defaults = Self::default();
        let start = section.number("start")?.unwrap_or(defaults.start);
        if !(start > 0.0 && start <= 1.0) {
            let message = format!(
                "`algorithm.start` is {start}, expected a share of k above 0 and up to 1\nhint: clusters start with 0.5 times k records unless it says otherwise"
            );
            return Err(section.wrong("start", message));
        }
        let split = section.number("split")?.unwrap_or(defaults.split);
        if !(split >= 1.0 && split.is_finite()) {
            let message = format!(
                "`algorithm.split` is {split}, expected a number of 1 or more\nhint: clusters above 1.5 times k records are split unless it says otherwise"
            );
            return Err(section.wrong("split", message));
        }
        let starts = section.integer("starts")?;
        let starts = starts.unwrap_or(i64::from(defaults.starts));
        if !(1..=MOST_STARTS).contains(&starts) {
            let message = format!(
                "`algorithm.starts` is {starts}, expected a number from 1 to {MOST_STARTS}"
            );
            return Err(section.wrong("starts", message));
        }
        let effort = section.integer("effort")?;
        let effort = effort.unwrap_or(i64::from(defaults.effort));
        if !(1..=MOST_EFFORT).contains(&effort) {
            let message = format!(
                "`algorithm.effort` is {effort}, expected a number from 1 to {MOST_EFFORT}\nhint: 10 unless it says otherwise; twice the effort takes about twice the time"
            );
            return Err(section.wrong("effort", message));
        }
        let noise = section.number("noise")?.unwrap_or(defaults.noise);
        if !(0.0..=1.0).contains(&noise) {
            let message = format!(
                "`algorithm.noise` is {noise}, expected a share of the loss of a cell from 0 to 1\nhint: 0 adds none"
            );
            return Err(section.wrong("noise", message));
        }
        let loss = section.word("loss", &Loss::NAMES)?;
        let counts = section.word("counts", &CountsChoice::NAMES)?;
        Ok(Self {
            start,
            split,
            // At most 100.
            starts: starts as u32,
            loss: loss.unwrap_or(defaults.loss),
            iterations: iterations(section)?,
            least_gain: least_gain(section)?,
            counts: counts.unwrap_or(defaults.counts),
            blur: section.boolean("blur")?.unwrap_or(defaults.blur),
            finish: section.boolean("finish")?.unwrap_or(defaults.finish),
            // At most 10,000.
            effort: effort as u32,
            noise,
        })
    }

    /// When iterations end at a level.
    pub fn stop(&self, security: Security) -> Stop {
        let by_level = Stop::at(security);
        Stop {
            iterations: self.iterations.or(by_level.iterations),
            least_gain: self.least_gain.unwrap_or(by_level.least_gain),
        }
    }
}

fn iterations(section: &Section<'_>) -> Result<Option<u32>, DocumentError> {
    let Some(iterations) = section.integer("iterations")? else {
        return Ok(None);
    };
    if !(1..=MOST_ITERATIONS).contains(&iterations) {
        let message = format!(
            "`algorithm.iterations` is {iterations}, expected a number from 1 to {MOST_ITERATIONS}\nhint: without it, iterations end after 20 at the hardened level, and when no record moves at the published level"
        );
        return Err(section.wrong("iterations", message));
    }
    // At most a million.
    Ok(Some(iterations as u32))
}

fn least_gain(section: &Section<'_>) -> Result<Option<Ratio>, DocumentError> {
    let Some(share) = section.number("least_gain")? else {
        return Ok(None);
    };
    let is_share = (0.0..=1.0).contains(&share);
    match Ratio::from_decimal(share).filter(|_| is_share) {
        Some(share) => Ok(Some(share)),
        None => {
            let message = format!(
                "`algorithm.least_gain` is {share}, expected a share of the loss from 0 to 1\nhint: with 0, iterations go on until no record moves"
            );
            Err(section.wrong("least_gain", message))
        }
    }
}

/// What sites see of the sensitive counts of clusters on the way to a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountsChoice {
    /// The counts (TG12 section 6.1).
    Opened,
    /// Whether clusters satisfy the demands on them, and nothing else (TG12 section 8.2.2).
    Hidden,
}

impl CountsChoice {
    /// Both choices, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] =
        [("opened", Self::Opened), ("hidden", Self::Hidden)];
}

/// A loss that is a sum over cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Values of the cell over values of the domain (TG12 equation 1).
    Lm,
    /// Values of the cell over values of the domain that occur in the table; for numbers, their spread.
    Ncp,
    /// Entropy of the value, given the cell (TG12 equation 3).
    Em,
}

impl Loss {
    /// All losses, by their names in studies.
    pub const NAMES: [(&'static str, Self); 3] = [
        (Self::Ncp.name(), Self::Ncp),
        (Self::Lm.name(), Self::Lm),
        (Self::Em.name(), Self::Em),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lm => "lm",
            Self::Ncp => "ncp",
            Self::Em => "em",
        }
    }
}
