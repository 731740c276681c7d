//! How top-down algorithms cut and write, as `[algorithm]` of a study says.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_privacy::m_privacy::WEIGHT_OF_DIVERSITY;

/// Where attributes that have a taxonomy are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cuts {
    /// At the median of leaf order.
    Median,
    /// Into the children of a node.
    Children,
}

impl Cuts {
    /// Both settings, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Median.name(), Self::Median),
        (Self::Children.name(), Self::Children),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Children => "children",
        }
    }
}

/// Where records at the median go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medians {
    /// All records at the median go left or, where that is refused, all go right.
    Strict,
    /// The records at the median are distributed so that the parts are about equal.
    Relaxed,
}

impl Medians {
    /// Both settings, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Strict.name(), Self::Strict),
        (Self::Relaxed.name(), Self::Relaxed),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Relaxed => "relaxed",
        }
    }
}

/// The range from which an attribute's width in a class is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widths {
    /// The range that the cuts leave (JX09), known to all sites.
    Box,
    /// The values that occur (JX08): asked for.
    Data,
}

impl Widths {
    /// Both settings, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Box.name(), Self::Box),
        (Self::Data.name(), Self::Data),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Data => "data",
        }
    }
}

/// Which of a class's possible cuts is made, where the study says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choose {
    /// The widest attribute's (JX08 section 4.2).
    Width,
    /// That whose weaker part is the fittest (MPRIV algorithm 2).
    Fitness,
}

impl Choose {
    /// Both, by the names that studies have for them.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Width.name(), Self::Width),
        (Self::Fitness.name(), Self::Fitness),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Width => "width",
            Self::Fitness => "fitness",
        }
    }
}

/// The keys of `[algorithm]` that speak of cuts alone.
pub(crate) const CUT_KEYS: [&str; 6] = ["cuts", "medians", "widths", "alpha", "choose", "weight"];
/// The key of `[algorithm]` that says how wide classes of different people are written.
pub(crate) const COVERS_KEY: &str = "covers";

/// How top-down algorithms cut and write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopDown {
    /// Where attributes with a taxonomy are cut.
    pub cuts: Cuts,
    /// Where records at the median go; where the study does not say so, strictly to one side, and as JX08
    /// and JX09 print it at the published level.
    pub medians: Option<Medians>,
    /// The ranges from which widths are computed; where the study does not say so, those that the cuts
    /// leave, and as JX08 prints it at the published level.
    pub widths: Option<Widths>,
    /// The range that a class is written as covering.
    pub covers: Covers,
    /// With site diversity, the weight of width against the evenness of sites (JX09 equation 3).
    pub alpha: f64,
    /// Which cut is made; where none is named, it follows from algorithm, level and requirement.
    pub choose: Option<Choose>,
    /// Of fitness, the weight of all that is demanded of sensitive values against size (MPRIV
    /// equation 1).
    pub weight: f64,
}

impl Default for TopDown {
    fn default() -> Self {
        Self {
            cuts: Cuts::Median,
            medians: None,
            widths: None,
            covers: Covers::Tight,
            alpha: 0.3,
            choose: None,
            weight: WEIGHT_OF_DIVERSITY,
        }
    }
}

impl TopDown {
    /// Reads the keys of `[algorithm]` that speak of cuts.
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, DocumentError> {
        let defaults = Self::default();
        let share = |key: &'static str, default: f64| {
            let share = section.number(key)?.unwrap_or(default);
            if !(0.0..=1.0).contains(&share) {
                let message =
                    format!("`algorithm.{key}` is {share}, expected a number from 0 to 1");
                return Err(section.wrong(key, message));
            }
            Ok(share)
        };
        let alpha = share("alpha", defaults.alpha)?;
        let weight = share("weight", defaults.weight)?;
        let cuts = section.word("cuts", &Cuts::NAMES)?;
        let covers = section.word(COVERS_KEY, &Covers::NAMES)?;
        Ok(Self {
            cuts: cuts.unwrap_or(defaults.cuts),
            medians: section.word("medians", &Medians::NAMES)?,
            widths: section.word("widths", &Widths::NAMES)?,
            covers: covers.unwrap_or(defaults.covers),
            alpha,
            choose: section.word("choose", &Choose::NAMES)?,
            weight,
        })
    }
}

/// The range that a class is written as covering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// The values that occur: asked for.
    Tight,
    /// Of cuts, the range that they leave, known to all sites; of clusters, the smallest box of a public grid
    /// around the values that occur.
    Box,
}

impl Covers {
    /// Both settings, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Tight.name(), Self::Tight),
        (Self::Box.name(), Self::Box),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tight => "tight",
            Self::Box => "box",
        }
    }
}
