//! `[algorithm]`: how classes are found and written.

use crate::attribute::Recode;
use crate::document::{DocumentError, Section};

/// How classes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Top-down cuts.
    #[default]
    Mondrian,
    /// Sequential clustering.
    Clustering,
    /// Top-down cuts with the provider as one more attribute.
    ProviderAware,
    /// Vertical two-party anonymization, for any number of sites.
    D2pt,
}

/// Where top-down algorithms cut an attribute that has a taxonomy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cuts {
    /// At the median of leaf order.
    Median,
    /// Into the children of a node.
    Children,
}

/// Where records at the median go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medians {
    /// All to one side.
    Strict,
    /// To both, so that the parts are about equal.
    Relaxed,
}

/// What the width of an attribute in a class is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widths {
    /// What the cuts leave of it.
    Box,
    /// The values that occur.
    Data,
}

/// What a class is written as covering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// The values that occur.
    Tight,
    /// What the cuts leave.
    Box,
}

/// How top-down algorithms cut and write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopDown {
    /// Where attributes with a taxonomy are cut.
    pub cuts: Cuts,
    /// Where records at the median go.
    pub medians: Medians,
    /// What widths are taken from.
    pub widths: Widths,
    /// What a class is written as covering.
    pub covers: Covers,
    /// With site diversity, the weight of width against the evenness of sites (JX09 equation 3).
    pub alpha: f64,
}

impl Default for TopDown {
    fn default() -> Self {
        Self {
            cuts: Cuts::Median,
            medians: Medians::Strict,
            widths: Widths::Box,
            covers: Covers::Tight,
            alpha: 0.3,
        }
    }
}

/// What sequential clustering keeps small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The normalized certainty penalty, over the values that occur.
    Ncp,
    /// LM, over the values declared.
    Lm,
    /// The entropy measure.
    Em,
}

/// How clusters are found (TG12).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clustering {
    /// Records of a cluster at the start, as a share of k.
    pub start: f64,
    /// Records above which a cluster is split, as a share of k.
    pub split: f64,
    /// Random starts, of which the best is kept.
    pub starts: u32,
    /// What is kept small.
    pub loss: Loss,
    /// Whether a site looks at a random share of its records in each turn, which blurs how many it
    /// has.
    pub blur: bool,
    /// Whether clusters are refined beyond the published end.
    pub finish: bool,
}

impl Default for Clustering {
    fn default() -> Self {
        Self {
            start: 0.5,
            split: 1.5,
            starts: 1,
            loss: Loss::Ncp,
            blur: false,
            finish: true,
        }
    }
}

/// The most random starts.
const MOST_STARTS: i64 = 100;

/// What `[algorithm]` says.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) name: Algorithm,
    pub(super) recode: Recode,
    pub(super) top_down: TopDown,
    pub(super) clustering: Clustering,
}

pub(super) fn algorithm(root: &Section<'_>) -> Result<Settings, DocumentError> {
    let Some(section) = root.section("algorithm")? else {
        return Ok(Settings::default());
    };
    let names = [
        ("mondrian", Algorithm::Mondrian),
        ("clustering", Algorithm::Clustering),
        ("provider-aware", Algorithm::ProviderAware),
        ("d2pt", Algorithm::D2pt),
    ];
    let settings = Settings {
        name: section.word("name", &names)?.unwrap_or_default(),
        recode: recode(&section)?.unwrap_or_default(),
        top_down: top_down(&section)?,
        clustering: clustering(&section)?,
    };
    section.finish()?;
    Ok(settings)
}

fn top_down(section: &Section<'_>) -> Result<TopDown, DocumentError> {
    let defaults = TopDown::default();
    let cuts = [("median", Cuts::Median), ("children", Cuts::Children)];
    let medians = [("strict", Medians::Strict), ("relaxed", Medians::Relaxed)];
    let widths = [("box", Widths::Box), ("data", Widths::Data)];
    let covers = [("tight", Covers::Tight), ("box", Covers::Box)];
    let alpha = section.number("alpha")?.unwrap_or(defaults.alpha);
    if !(0.0..=1.0).contains(&alpha) {
        let message = format!("`algorithm.alpha` is {alpha}, expected a number from 0 to 1");
        return Err(section.wrong("alpha", message));
    }
    Ok(TopDown {
        cuts: section.word("cuts", &cuts)?.unwrap_or(defaults.cuts),
        medians: section
            .word("medians", &medians)?
            .unwrap_or(defaults.medians),
        widths: section.word("widths", &widths)?.unwrap_or(defaults.widths),
        covers: section.word("covers", &covers)?.unwrap_or(defaults.covers),
        alpha,
    })
}

fn clustering(section: &Section<'_>) -> Result<Clustering, DocumentError> {
    let defaults = Clustering::default();
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
        let message =
            format!("`algorithm.starts` is {starts}, expected a number from 1 to {MOST_STARTS}");
        return Err(section.wrong("starts", message));
    }
    let losses = [("ncp", Loss::Ncp), ("lm", Loss::Lm), ("em", Loss::Em)];
    Ok(Clustering {
        start,
        split,
        // At most 100.
        starts: starts as u32,
        loss: section.word("loss", &losses)?.unwrap_or(defaults.loss),
        blur: section.boolean("blur")?.unwrap_or(defaults.blur),
        finish: section.boolean("finish")?.unwrap_or(defaults.finish),
    })
}

pub(super) fn recode(section: &Section<'_>) -> Result<Option<Recode>, DocumentError> {
    section.word(
        "recode",
        &[
            ("node", Recode::Node),
            ("range", Recode::Range),
            ("set", Recode::Set),
        ],
    )
}
