//! `[algorithm]`: how classes are found and written.

use crate::attribute::Recode;
use crate::document::{DocumentError, Section};

/// How classes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Top-down cuts.
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

pub(super) fn algorithm(root: &Section<'_>) -> Result<(Algorithm, Recode, TopDown), DocumentError> {
    let defaults = TopDown::default();
    let Some(section) = root.section("algorithm")? else {
        return Ok((Algorithm::Mondrian, Recode::Node, defaults));
    };
    let names = [
        ("mondrian", Algorithm::Mondrian),
        ("clustering", Algorithm::Clustering),
        ("provider-aware", Algorithm::ProviderAware),
        ("d2pt", Algorithm::D2pt),
    ];
    let name = section.word("name", &names)?.unwrap_or(Algorithm::Mondrian);
    let recode = recode(&section)?.unwrap_or(Recode::Node);
    let cuts = [("median", Cuts::Median), ("children", Cuts::Children)];
    let medians = [("strict", Medians::Strict), ("relaxed", Medians::Relaxed)];
    let widths = [("box", Widths::Box), ("data", Widths::Data)];
    let covers = [("tight", Covers::Tight), ("box", Covers::Box)];
    let alpha = section.number("alpha")?.unwrap_or(defaults.alpha);
    if !(0.0..=1.0).contains(&alpha) {
        let message = format!("`algorithm.alpha` is {alpha}, expected a number from 0 to 1");
        return Err(section.wrong("alpha", message));
    }
    let top_down = TopDown {
        cuts: section.word("cuts", &cuts)?.unwrap_or(defaults.cuts),
        medians: section
            .word("medians", &medians)?
            .unwrap_or(defaults.medians),
        widths: section.word("widths", &widths)?.unwrap_or(defaults.widths),
        covers: section.word("covers", &covers)?.unwrap_or(defaults.covers),
        alpha,
    };
    section.finish()?;
    Ok((name, recode, top_down))
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
