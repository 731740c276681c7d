//! `[algorithm]`: how classes are found and written.

use super::Partition;
use crate::attribute::Recode;
use crate::document::{DocumentError, Section};
use crate::nearest::quoted_list;

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
    /// In vertical studies, the most that a site adds to or takes off each change of its loss that it
    /// sums with the others', as a share of the loss of a cell.
    pub noise: f64,
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
            noise: 0.0,
        }
    }
}

/// How a site generalizes its own columns (D2PT section 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anonymizer {
    /// One level up at a time, with the attribute that has the most values.
    #[default]
    Datafly,
    /// The levels that lose least.
    Optimal,
}

/// When classes of all sites make groups (D2PT section 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronizer {
    /// At once: classes that share a person are joined.
    #[default]
    Merge,
    /// When all classes are the same at every site; those that are so earlier are set aside.
    Fork,
    /// When all classes are the same at every site.
    Identity,
    /// When every cut of classes has k people.
    Dpp2ga,
}

impl Synchronizer {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Fork => "fork",
            Self::Identity => "identity",
            Self::Dpp2ga => "dpp2ga",
        }
    }
}

/// How groups of the same people at several sites are found and written (D2PT).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct D2pt {
    /// How a site generalizes.
    pub anonymizer: Anonymizer,
    /// How sites find groups.
    pub synchronizer: Synchronizer,
    /// The share of its records that a site may write as `*` altogether.
    pub suppression: f64,
    /// Whether the release has original quasi-identifiers inside groups.
    pub restore: bool,
}

/// The most random starts.
const MOST_STARTS: i64 = 100;

/// The algorithms of a horizontal study.
const HORIZONTAL: [(&str, Algorithm); 3] = [
    ("mondrian", Algorithm::Mondrian),
    ("clustering", Algorithm::Clustering),
    ("provider-aware", Algorithm::ProviderAware),
];

/// Those of a vertical one, its own first.
const VERTICAL: [(&str, Algorithm); 2] = [
    ("d2pt", Algorithm::D2pt),
    ("clustering", Algorithm::Clustering),
];

/// What `[algorithm]` says.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) name: Algorithm,
    pub(super) recode: Recode,
    pub(super) top_down: TopDown,
    pub(super) clustering: Clustering,
    pub(super) d2pt: D2pt,
}

pub(super) fn algorithm(
    root: &Section<'_>,
    partition: Partition,
) -> Result<Settings, DocumentError> {
    let (here, elsewhere): (&[_], &[_]) = match partition {
        Partition::Horizontal => (&HORIZONTAL, &VERTICAL),
        Partition::Vertical => (&VERTICAL, &HORIZONTAL),
    };
    let mut settings = Settings {
        name: here[0].1,
        ..Settings::default()
    };
    let Some(section) = root.section("algorithm")? else {
        return Ok(settings);
    };
    if let Some(name) = section.string("name")?
        && let Some((name, _)) = elsewhere.iter().find(|(other, _)| *other == name)
        && here.iter().all(|(own, _)| own != name)
    {
        let (kind, other) = match partition {
            Partition::Horizontal => ("horizontal", "vertical"),
            Partition::Vertical => ("vertical", "horizontal"),
        };
        let message = format!(
            "`algorithm.name` is `{name}`, which is for {other} studies\nhint: {kind} ones have {}",
            quoted_list(here.iter().map(|(own, _)| own))
        );
        return Err(section.wrong("name", message));
    }
    settings.name = section.word("name", here)?.unwrap_or(here[0].1);
    if settings.name == Algorithm::D2pt {
        settings.d2pt = d2pt(&section)?;
    } else {
        refuse_d2pt(&section, partition)?;
        settings.recode = recode(&section)?.unwrap_or_default();
        settings.clustering = clustering(&section)?;
        if partition == Partition::Horizontal {
            settings.top_down = top_down(&section)?;
            if section.has("noise") {
                let message = "`algorithm.noise` is for vertical studies: only there are changes of the loss summed\nhint: leave it out; blur = true hides how many records a site has";
                return Err(section.wrong("noise", message));
            }
        } else if section.has("blur") {
            let message = "`algorithm.blur` is for horizontal studies: how many people a site has is known where all have the same\nhint: leave it out";
            return Err(section.wrong("blur", message));
        }
    }
    section.finish()?;
    Ok(settings)
}

fn d2pt(section: &Section<'_>) -> Result<D2pt, DocumentError> {
    let anonymizers = [
        ("datafly", Anonymizer::Datafly),
        ("optimal", Anonymizer::Optimal),
    ];
    let synchronizers = [
        Synchronizer::Merge,
        Synchronizer::Fork,
        Synchronizer::Identity,
        Synchronizer::Dpp2ga,
    ];
    let synchronizers = synchronizers.map(|one| (one.name(), one));
    if section.has("recode") {
        let message = "`algorithm.recode` has no meaning for `d2pt`, which writes nodes of taxonomies\nhint: leave it out; restore = true writes original values inside groups";
        return Err(section.wrong("recode", message));
    }
    let suppression = section.number("suppression")?.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&suppression) {
        let message = format!(
            "`algorithm.suppression` is {suppression}, expected a share of the records from 0 to 1"
        );
        return Err(section.wrong("suppression", message));
    }
    Ok(D2pt {
        anonymizer: section
            .word("anonymizer", &anonymizers)?
            .unwrap_or_default(),
        synchronizer: section
            .word("synchronizer", &synchronizers)?
            .unwrap_or_default(),
        suppression,
        restore: section.boolean("restore")?.unwrap_or(false),
    })
}

/// The keys of D2Pt mean nothing to others.
fn refuse_d2pt(section: &Section<'_>, partition: Partition) -> Result<(), DocumentError> {
    for key in ["anonymizer", "synchronizer", "suppression", "restore"] {
        if section.has(key) {
            let hint = match partition {
                Partition::Horizontal => "which is for vertical studies; leave it out",
                Partition::Vertical => "leave it out, or write name = \"d2pt\"",
            };
            let message = format!("`algorithm.{key}` is for name = \"d2pt\" only\nhint: {hint}");
            return Err(section.wrong(key, message));
        }
    }
    Ok(())
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
    let noise = section.number("noise")?.unwrap_or(defaults.noise);
    if !(0.0..=1.0).contains(&noise) {
        let message = format!(
            "`algorithm.noise` is {noise}, expected a share of the loss of a cell from 0 to 1\nhint: 0 adds none"
        );
        return Err(section.wrong("noise", message));
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
        noise,
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
