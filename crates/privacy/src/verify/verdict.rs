//! What the verifier says, for people and as JSON. The keys are a contract.

use serde::{Serialize, Serializer};

use crate::closeness::Distance;
use crate::identifying::Suspect;
use crate::ratio::Ratio;
use crate::requirement::Sensitive;
use crate::singled_out::SingledOut;

/// A measured number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// A count.
    Whole(u64),
    /// A fraction; one without bound is `null` in JSON.
    Fraction(Ratio),
    /// A logarithm or what follows from one; one without bound is `null` in JSON.
    Real(f64),
    /// Something that the release does not show; `null` in JSON.
    Unknown,
}

/// Everything the verifier found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether the requirement is shown to hold, where a requirement was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// Whether nothing fails, but something is needed for the verdict that the table does not show:
    /// `holds` is false then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_shown: bool,
    /// Records of the release.
    pub records: u64,
    /// Classes of the release.
    pub classes: u64,
    /// Columns that name people by themselves: a release with such a column is not anonymous.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub identifiers: Vec<String>,
    /// Columns without a role, of which it is not known what they say about people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<String>,
    /// Columns that look like identifiers though their role is another.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "in_words")]
    pub suspects: Vec<Suspect>,
    /// What the columns of role `other` single out.
    #[serde(skip_serializing_if = "SingledOut::is_empty")]
    pub other: SingledOut,
    /// Tables of a fragmented release whose rows are not sorted by their contents: the order may say
    /// whose they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disordered: Vec<String>,
    /// What a file of the release says beside its cells that contradicts them or the study, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<String>,
    /// How several sensitive attributes were looked at.
    pub sensitive: Sensitive,
    /// Each model.
    pub models: Models,
}

impl Verdict {
    /// The verdict with the tables whose order of rows may say whose they are.
    #[must_use]
    pub fn with_disorder(mut self, files: Vec<String>) -> Self {
        if !files.is_empty() {
            self.fail();
        }
        self.disordered = files;
        self
    }

    /// The verdict with what a file of the release says beside its cells that contradicts them or the
    /// study.
    #[must_use]
    pub fn with_contradictions(mut self, contradictions: Vec<String>) -> Self {
        if !contradictions.is_empty() {
            self.fail();
        }
        self.contradictions = contradictions;
        self
    }

    /// Lets the verdict fail because something else was found wrong.
    pub fn fail(&mut self) {
        self.holds = Some(false);
        self.not_shown = false;
    }
}

/// The models, each where it applies to the release.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Models {
    /// k-anonymity: least class size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<ModelVerdict>,
    /// Least number of records that are printed alike, of a release whose tables only a group joins: there k
    /// counts the records of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k_printed: Option<ModelVerdict>,
    /// (alpha,k)-anonymity: greatest frequency of a sensitive value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<ModelVerdict>,
    /// Distinct l-diversity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l_distinct: Option<ModelVerdict>,
    /// Entropy l-diversity: least 2^H.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l_entropy: Option<ModelVerdict>,
    /// Frequency l-diversity (TG12).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l_frequency: Option<ModelVerdict>,
    /// Recursive (c,l)-diversity: holds for every c above the achieved one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l_recursive: Option<ModelVerdict>,
    /// t-closeness: greatest earth mover's distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<ModelVerdict>,
    /// Basic beta-likeness: greatest relative gain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta_basic: Option<ModelVerdict>,
    /// Enhanced beta-likeness: the least beta that holds, without bound if a gain exceeds -ln p.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta_enhanced: Option<ModelVerdict>,
    /// Delta-disclosure: greatest |ln(q/p)| over the values of the table, without bound if a class
    /// lacks one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<ModelVerdict>,
    /// Delta-disclosure over the values of the class alone, as pyCANON reports it. It is measured and
    /// cannot be demanded, since it says nothing of the values that a class lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_present: Option<ModelVerdict>,
    /// l-site-diversity (JX09, or by taxonomy as in TG12 where that is demanded).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_diversity: Option<ModelVerdict>,
    /// Entropy l-diversity of sites (JX09 section 3): least 2^H.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_entropy: Option<ModelVerdict>,
    /// Recursive (c,l)-diversity of sites (JX09 section 3): holds for every c above the achieved one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_recursive: Option<ModelVerdict>,
    /// m-privacy (MPRIV): the largest number of colluding sites against which all else holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m: Option<ModelVerdict>,
}

/// One model: the demanded value and the achieved value.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ModelVerdict {
    /// What was demanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<Measure>,
    /// The worst value of all classes.
    pub achieved: Measure,
    /// Whether every class is shown to satisfy the demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// Whether that cannot be told from the table: `holds` is false then, and nothing is known to
    /// fail.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_shown: bool,
    /// Why the achieved value is without bound, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<&'static str>,
    /// Classes that do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_classes: Option<u64>,
    /// Records in the failing classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_records: Option<u64>,
    /// For recursive diversity, the l that c is given for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l: Option<u64>,
    /// For entropy diversity, the whole number below the achieved value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<u64>,
    /// For m-privacy, classes that some coalition owns whole: nobody is left to protect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emptied_classes: Option<u64>,
    /// For m-privacy, the strategy that also verified the classes, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<&'static str>,
    /// How many coalitions it checked, and bounds it evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<u64>,
    /// For m-privacy without a demand: larger coalitions were not tried.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// The first class with the worst value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_class: Option<WorstClass>,
    /// Each sensitive attribute on its own.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_name")]
    pub attributes: Vec<AttributeVerdict>,
}

/// One model on one sensitive attribute.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributeVerdict {
    /// The attribute's name, the key in JSON.
    #[serde(skip)]
    pub name: String,
    /// The worst value of all classes.
    pub achieved: Measure,
    /// For closeness, the ground distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
    /// Whether every class satisfies the demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// The first class with the worst value.
    pub worst_class: WorstClass,
}

/// A class, described by what a reader sees of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstClass {
    /// The class's quasi-identifiers as the release spells them.
    #[serde(serialize_with = "cells_by_name")]
    pub quasi: Vec<(String, String)>,
    /// The class's records.
    pub size: u64,
    /// The class's first record, from 1.
    pub first_record: u64,
}

impl Models {
    /// Names and verdicts of the models that apply.
    pub fn named(&self) -> Vec<(&'static str, &ModelVerdict)> {
        let all = [
            ("k", &self.k),
            ("k_printed", &self.k_printed),
            ("alpha", &self.alpha),
            ("l_distinct", &self.l_distinct),
            ("l_entropy", &self.l_entropy),
            ("l_frequency", &self.l_frequency),
            ("l_recursive", &self.l_recursive),
            ("t", &self.t),
            ("beta_basic", &self.beta_basic),
            ("beta_enhanced", &self.beta_enhanced),
            ("delta", &self.delta),
            ("delta_present", &self.delta_present),
            ("site_diversity", &self.site_diversity),
            ("site_entropy", &self.site_entropy),
            ("site_recursive", &self.site_recursive),
            ("m", &self.m),
        ];
        let present = all
            .into_iter()
            .filter_map(|(name, verdict)| Some((name, verdict.as_ref()?)));
        present.collect()
    }

    /// Whether some class is shown to fail a demand, and whether a demand is not shown to hold.
    pub(super) fn fail_and_unseen(&self) -> (bool, bool) {
        let named = self.named();
        let any = |is_unseen: bool| {
            let mut failing = named.iter().filter(|(_, model)| model.holds == Some(false));
            failing.any(|(_, model)| model.not_shown == is_unseen)
        };
        (any(false), any(true))
    }

    /// Adds the reason to each achieved value that is without bound.
    pub(super) fn explain(&mut self) {
        let explained = [
            (
                &mut self.l_recursive,
                "no c would do: a class has fewer than l values",
            ),
            (
                &mut self.beta_enhanced,
                "no beta would do: a value gains more than -ln p",
            ),
            (
                &mut self.delta,
                "no delta would do: a class lacks a value of the table",
            ),
            (
                &mut self.site_recursive,
                "no c would do: a class has records of fewer than l sites",
            ),
            (
                &mut self.m,
                "no m would do: a class fails though nobody colludes",
            ),
        ];
        for (model, why) in explained {
            if let Some(model) = model {
                model.unbounded = model.achieved.is_unbounded().then_some(why);
            }
        }
    }
}

impl Measure {
    /// Whether no number would be enough.
    pub fn is_unbounded(self) -> bool {
        match self {
            Self::Whole(_) | Self::Unknown => false,
            Self::Fraction(ratio) => ratio.to_f64().is_infinite(),
            Self::Real(number) => number.is_infinite(),
        }
    }

    /// All digits that a floating-point number holds.
    pub fn exact(self) -> String {
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Fraction(ratio) => ratio.to_f64().to_string(),
            Self::Real(number) => number.to_string(),
            Self::Unknown => self.to_string(),
        }
    }
}

impl Default for Measure {
    fn default() -> Self {
        Self::Whole(0)
    }
}

impl std::fmt::Display for Measure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            _ if self.is_unbounded() => formatter.write_str("without bound"),
            Self::Whole(number) => write!(formatter, "{number}"),
            Self::Fraction(ratio) => write!(formatter, "{ratio}"),
            Self::Real(number) => write!(formatter, "{number:.4}"),
            Self::Unknown => formatter.write_str("not shown"),
        }
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(number) => serializer.serialize_u64(*number),
            Self::Fraction(ratio) => ratio.serialize(serializer),
            Self::Real(number) if number.is_finite() => serializer.serialize_f64(*number),
            Self::Real(_) | Self::Unknown => serializer.serialize_none(),
        }
    }
}

fn in_words<S: Serializer>(suspects: &[Suspect], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(suspects.iter().map(ToString::to_string))
}

fn by_name<S: Serializer>(
    attributes: &[AttributeVerdict],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        attributes
            .iter()
            .map(|attribute| (&attribute.name, attribute)),
    )
}

fn cells_by_name<S: Serializer>(
    cells: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(cells.iter().map(|(name, cell)| (name, cell)))
}
