//! Requirements in words and as JSON, in the shape in which a study states them.

use std::fmt;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::closeness::Distance;
use crate::model::{Model, SiteSupport, Spread};
use crate::ratio::Ratio;
use crate::requirement::Requirement;

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KAnonymity { k } => write!(formatter, "k = {k}"),
            Self::Alpha { alpha } => write!(formatter, "alpha <= {alpha}"),
            Self::DistinctDiversity { l } => write!(formatter, "distinct l = {l}"),
            Self::FrequencyDiversity { l } => write!(formatter, "frequency l = {l}"),
            Self::EntropyDiversity { l } => write!(formatter, "entropy l = {l}"),
            Self::RecursiveDiversity { c, l } => {
                write!(formatter, "recursive (c,l) = ({c}, {l})")
            }
            Self::Closeness { t, distance: None } => write!(formatter, "t <= {t}"),
            Self::Closeness {
                t,
                distance: Some(distance),
            } => write!(formatter, "t <= {t} ({})", distance.name()),
            Self::Likeness { beta, enhanced } => {
                let kind = if *enhanced { "enhanced" } else { "basic" };
                write!(formatter, "{kind} beta <= {beta}")
            }
            Self::DeltaDisclosure { delta } => write!(formatter, "delta < {delta}"),
            Self::SiteDiversity {
                l,
                support,
                attributes,
            } => {
                write!(formatter, "site diversity {l}")?;
                if *support == SiteSupport::Taxonomy {
                    formatter.write_str(" by taxonomy")?;
                }
                of_attributes(formatter, attributes.as_deref())
            }
            Self::SiteSpread { spread, attributes } => {
                match spread {
                    Spread::Entropy { l } => write!(formatter, "entropy site diversity {l}")?,
                    Spread::Recursive { c, l } => {
                        write!(formatter, "recursive site diversity (c,l) = ({c}, {l})")?;
                    }
                }
                of_attributes(formatter, attributes.as_deref())
            }
        }
    }
}

fn of_attributes(formatter: &mut fmt::Formatter<'_>, names: Option<&[String]>) -> fmt::Result {
    match names {
        Some(names) => write!(formatter, " of {}", names.join(", ")),
        None => Ok(()),
    }
}

impl Distance {
    /// The distance's name in a study.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Ordered => "ordered",
            Self::Hierarchical => "hierarchical",
        }
    }
}

/// The long form of a demand.
#[derive(Default, Serialize)]
struct Long<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<Ratio>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<Ratio>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<Ratio>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<Distance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a [String]>,
}

impl Serialize for Requirement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(k) = self.k_printed {
            map.serialize_entry("k_printed", &k)?;
        }
        for model in &self.models {
            let diversity = |l: Ratio, kind| Long {
                at_least: Some(l),
                kind: Some(kind),
                ..Long::default()
            };
            match model {
                Model::KAnonymity { k } => map.serialize_entry("k", k)?,
                Model::Alpha { alpha } => map.serialize_entry("alpha", alpha)?,
                Model::DistinctDiversity { l } => {
                    map.serialize_entry("l", &diversity(Ratio::whole(*l), "distinct"))?;
                }
                Model::FrequencyDiversity { l } => {
                    map.serialize_entry("l", &diversity(*l, "frequency"))?;
                }
                Model::EntropyDiversity { l } => {
                    map.serialize_entry("l", &diversity(*l, "entropy"))?;
                }
                Model::RecursiveDiversity { c, l } => {
                    let long = Long {
                        c: Some(*c),
                        ..diversity(Ratio::whole(*l), "recursive")
                    };
                    map.serialize_entry("l", &long)?;
                }
                Model::Closeness { t, distance } => {
                    let long = Long {
                        at_most: Some(*t),
                        distance: *distance,
                        ..Long::default()
                    };
                    map.serialize_entry("t", &long)?;
                }
                Model::Likeness { beta, enhanced } => {
                    let long = Long {
                        at_most: Some(*beta),
                        kind: Some(if *enhanced { "enhanced" } else { "basic" }),
                        ..Long::default()
                    };
                    map.serialize_entry("beta", &long)?;
                }
                Model::DeltaDisclosure { delta } => map.serialize_entry("delta", delta)?,
                Model::SiteDiversity {
                    l,
                    support,
                    attributes,
                } => {
                    let kind = match support {
                        SiteSupport::Class => "class",
                        SiteSupport::Taxonomy => "taxonomy",
                    };
                    let long = Long {
                        attributes: attributes.as_deref(),
                        ..diversity(Ratio::whole(*l), kind)
                    };
                    map.serialize_entry("site_diversity", &long)?;
                }
                Model::SiteSpread { spread, attributes } => {
                    let long = Long {
                        c: match spread {
                            Spread::Entropy { .. } => None,
                            Spread::Recursive { c, .. } => Some(*c),
                        },
                        attributes: attributes.as_deref(),
                        ..diversity(spread.l(), spread.name())
                    };
                    map.serialize_entry("site_diversity", &long)?;
                }
            }
        }
        if let Some(m) = self.m {
            map.serialize_entry("m", &m)?;
        }
        map.serialize_entry("sensitive", &self.sensitive)?;
        map.end()
    }
}
