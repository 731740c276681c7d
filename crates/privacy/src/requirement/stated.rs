//! A requirement as data: the keys of a `[require]` table, for manifests, which state what a release
//! was made to satisfy so that programs read it without parsing words.

use hedgerow_data::document::quoted;
use serde::{Deserialize, Serialize, Serializer};

use super::{Requirement, Sensitive};
use crate::closeness::Distance;
use crate::model::{Model, SiteSupport, Spread};
use crate::ratio::Ratio;

/// What a requirement demands, key by key, each in its long form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Least class size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// Least number of records that are printed alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k_printed: Option<u64>,
    /// Greatest frequency of a sensitive value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Diversity of sensitive values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<StatedDiversity>,
    /// Closeness to the whole table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t: Option<StatedCloseness>,
    /// Likeness to the whole table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<StatedLikeness>,
    /// Delta-disclosure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// Sites behind every class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_diversity: Option<StatedSites>,
    /// Sites that may collude.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m: Option<u64>,
    /// How several sensitive attributes are looked at.
    pub sensitive: Sensitive,
}

/// The kind of diversity that is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiversityKind {
    /// Distinct values.
    Distinct,
    /// Entropy.
    Entropy,
    /// The most frequent value (TG12).
    Frequency,
    /// Recursive (c,l)-diversity.
    Recursive,
}

/// Diversity of sensitive values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedDiversity {
    /// l
    pub at_least: f64,
    /// The kind of diversity.
    pub kind: DiversityKind,
    /// c, of the recursive kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c: Option<f64>,
}

/// Closeness to the whole table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedCloseness {
    /// t
    pub at_most: f64,
    /// The ground distance; each attribute's own where the requirement names no distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
}

/// The kind of likeness that is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LikenessKind {
    /// Relative gain.
    Basic,
    /// Relative gain, capped by -ln p.
    Enhanced,
}

/// Likeness to the whole table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedLikeness {
    /// beta
    pub at_most: f64,
    /// The kind of likeness.
    pub kind: LikenessKind,
}

/// The kind of site diversity that is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SitesKind {
    /// Sites with records in the class (JX09 equation 1).
    Class,
    /// Sites that support every generalized value of the class (TG12 6.2).
    Taxonomy,
    /// Entropy of sites in the class (JX09 section 3).
    Entropy,
    /// Recursive (c,l)-diversity of sites in the class (JX09 section 3).
    Recursive,
}

impl SitesKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Taxonomy => "taxonomy",
            Self::Entropy => "entropy",
            Self::Recursive => "recursive",
        }
    }
}

/// Sites behind every class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedSites {
    /// l
    #[serde(serialize_with = "whole_where_it_is")]
    pub at_least: f64,
    /// The kind of site diversity.
    pub kind: SitesKind,
    /// c, of the recursive kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c: Option<f64>,
    /// The attributes that may betray a site; all quasi-identifiers where the requirement names no
    /// attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<String>>,
}

/// A number of sites is written as a whole number; the entropy kind may have a fraction.
fn whole_where_it_is<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    // The numbers of requirements are far below 2^53.
    if number.fract() == 0.0 {
        serializer.serialize_u64(*number as u64)
    } else {
        serializer.serialize_f64(*number)
    }
}

impl From<&Requirement> for Stated {
    fn from(requirement: &Requirement) -> Self {
        let mut stated = Self {
            k: None,
            k_printed: requirement.k_printed,
            alpha: None,
            l: None,
            t: None,
            beta: None,
            delta: None,
            site_diversity: None,
            m: requirement.m,
            sensitive: requirement.sensitive,
        };
        let diversity = |l: Ratio, kind, c: Option<Ratio>| {
            Some(StatedDiversity {
                at_least: l.to_f64(),
                kind,
                c: c.map(Ratio::to_f64),
            })
        };
        for model in &requirement.models {
            match model {
                Model::KAnonymity { k } => stated.k = Some(*k),
                Model::Alpha { alpha } => stated.alpha = Some(alpha.to_f64()),
                Model::DistinctDiversity { l } => {
                    stated.l = diversity(Ratio::whole(*l), DiversityKind::Distinct, None);
                }
                Model::FrequencyDiversity { l } => {
                    stated.l = diversity(*l, DiversityKind::Frequency, None);
                }
                Model::EntropyDiversity { l } => {
                    stated.l = diversity(*l, DiversityKind::Entropy, None);
                }
                Model::RecursiveDiversity { c, l } => {
                    stated.l = diversity(Ratio::whole(*l), DiversityKind::Recursive, Some(*c));
                }
                Model::Closeness { t, distance } => {
                    stated.t = Some(StatedCloseness {
                        at_most: t.to_f64(),
                        distance: *distance,
                    });
                }
                Model::Likeness { beta, enhanced } => {
                    stated.beta = Some(StatedLikeness {
                        at_most: beta.to_f64(),
                        kind: match enhanced {
                            true => LikenessKind::Enhanced,
                            false => LikenessKind::Basic,
                        },
                    });
                }
                Model::DeltaDisclosure { delta } => stated.delta = Some(*delta),
                Model::SiteDiversity {
                    l,
                    support,
                    attributes,
                } => {
                    stated.site_diversity = Some(StatedSites {
                        at_least: Ratio::whole(*l).to_f64(),
                        kind: match support {
                            SiteSupport::Class => SitesKind::Class,
                            SiteSupport::Taxonomy => SitesKind::Taxonomy,
                        },
                        c: None,
                        attributes: attributes.clone(),
                    });
                }
                Model::SiteSpread { spread, attributes } => {
                    let (kind, c) = match spread {
                        Spread::Entropy { .. } => (SitesKind::Entropy, None),
                        Spread::Recursive { c, .. } => (SitesKind::Recursive, Some(*c)),
                    };
                    stated.site_diversity = Some(StatedSites {
                        at_least: spread.l().to_f64(),
                        kind,
                        c: c.map(Ratio::to_f64),
                        attributes: attributes.clone(),
                    });
                }
            }
        }
        stated
    }
}

impl Stated {
    /// The lines of a `[require]` table that says the same.
    pub fn to_toml(&self) -> String {
        let mut lines = Vec::new();
        let mut put = |key: &str, value: Option<String>| {
            lines.extend(value.map(|value| format!("{key} = {value}")));
        };
        put("k", self.k.map(|k| k.to_string()));
        put("k_printed", self.k_printed.map(|k| k.to_string()));
        put("alpha", self.alpha.map(number));
        let l = self.l.as_ref().map(|l| {
            let c =
                l.c.map_or(String::new(), |c| format!(", c = {}", number(c)));
            let kind = match l.kind {
                DiversityKind::Distinct => "distinct",
                DiversityKind::Entropy => "entropy",
                DiversityKind::Frequency => "frequency",
                DiversityKind::Recursive => "recursive",
            };
            format!(
                "{{ at_least = {}, kind = \"{kind}\"{c} }}",
                number(l.at_least)
            )
        });
        put("l", l);
        let t = self.t.as_ref().map(|t| {
            let distance = t.distance.map(|distance| match distance {
                Distance::Equal => ", distance = \"equal\"",
                Distance::Ordered => ", distance = \"ordered\"",
                Distance::Hierarchical => ", distance = \"hierarchical\"",
            });
            format!(
                "{{ at_most = {}{} }}",
                number(t.at_most),
                distance.unwrap_or_default()
            )
        });
        put("t", t);
        let beta = self.beta.as_ref().map(|beta| {
            let kind = match beta.kind {
                LikenessKind::Basic => "basic",
                LikenessKind::Enhanced => "enhanced",
            };
            format!(
                "{{ at_most = {}, kind = \"{kind}\" }}",
                number(beta.at_most)
            )
        });
        put("beta", beta);
        put("delta", self.delta.map(number));
        let sites = self.site_diversity.as_ref().map(|sites| {
            let c = sites.c;
            let c = c.map_or(String::new(), |c| format!(", c = {}", number(c)));
            let names = sites.attributes.as_ref().map(|names| {
                let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                format!(", attributes = [{}]", names.join(", "))
            });
            format!(
                "{{ at_least = {}, kind = \"{}\"{c}{} }}",
                sites.at_least,
                sites.kind.name(),
                names.unwrap_or_default()
            )
        });
        put("site_diversity", sites);
        put("m", self.m.map(|m| m.to_string()));
        let mut words = Sensitive::NAMES.iter();
        let sensitive = words.find(|(_, sensitive)| *sensitive == self.sensitive);
        put(
            "sensitive",
            sensitive.map(|(word, _)| format!("\"{word}\"")),
        );
        lines.join("\n")
    }
}

/// A number with a point or an exponent, as TOML has fractions.
fn number(number: f64) -> String {
    format!("{number:?}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hedgerow_data::document::Document;
    use proptest::prelude::*;

    use super::super::{Scope, ScopeAttribute};
    use super::*;

    fn scope() -> Scope {
        Scope {
            sensitive: vec![ScopeAttribute {
                name: String::from("disease"),
                values: 100,
                is_ordered: true,
                has_taxonomy: true,
            }],
            quasi: ["age", "say \"zip\"\n"].map(String::from).into(),
            sites: Some(5),
            is_vertical: false,
        }
    }

    proptest! {
        /// What is stated, through JSON, demands the same.
        #[test]
        fn a_requirement_comes_back_from_what_is_stated(
            k in 1u64..500,
            alpha in prop::option::of(1u32..1000),
            l in prop::option::of((1u32..30, 0..4usize)),
            t in prop::option::of((0u32..1000, 0..4usize)),
            beta in prop::option::of((1u32..5000, any::<bool>())),
            delta in prop::option::of(1u32..1000),
            sites in prop::option::of((10u32..51, 0..4usize, any::<bool>())),
            m in prop::option::of(0u64..5),
            sensitive in prop::option::of(0..3usize),
            k_printed in prop::option::of(1u64..50),
        ) {
            let thousandths = |parts: u32| f64::from(parts) / 1000.0;
            let mut line = format!("k = {k}");
            let mut put = |text: String| line.push_str(&format!(", {text}"));
            if let Some(alpha) = alpha {
                put(format!("alpha = {}", thousandths(alpha)));
            }
            if let Some((l, kind)) = l {
                let kinds = ["distinct", "entropy", "frequency", "recursive"];
                let c = if kind == 3 { ", c = 2.5" } else { "" };
                put(format!("l = {{ at_least = {l}, kind = \"{}\"{c} }}", kinds[kind]));
            }
            if let Some((t, distance)) = t {
                let words = ["", ", distance = \"equal\"", ", distance = \"ordered\"", ", distance = \"hierarchical\""];
                put(format!("t = {{ at_most = {}{} }}", thousandths(t), words[distance]));
            }
            if let Some((beta, is_enhanced)) = beta {
                let kind = if is_enhanced { "enhanced" } else { "basic" };
                put(format!("beta = {{ at_most = {}, kind = \"{kind}\" }}", thousandths(beta)));
            }
            if let Some(delta) = delta {
                put(format!("delta = {}", thousandths(delta)));
            }
            if let Some((tenths, kind, is_named)) = sites {
                let kind = ["class", "taxonomy", "entropy", "recursive"][kind];
                let l = if kind == "entropy" { f64::from(tenths) / 10.0 } else { f64::from(tenths / 10) };
                let c = if kind == "recursive" { ", c = 1.5" } else { "" };
                let names = if is_named { ", attributes = [\"say \\\"zip\\\"\\n\"]" } else { "" };
                put(format!("site_diversity = {{ at_least = {l}, kind = \"{kind}\"{c}{names} }}"));
            }
            if let Some(m) = m {
                put(format!("m = {m}"));
            }
            if let Some(k) = k_printed {
                put(format!("k_printed = {k}"));
            }
            if let Some(place) = sensitive {
                put(format!("sensitive = \"{}\"", Sensitive::NAMES[place].0));
            }
            let requirement = Requirement::of_line(&line, &scope()).unwrap();
            let stated = Stated::from(&requirement);
            let json = serde_json::to_string(&stated).unwrap();
            let again: Stated = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&again, &stated);
            let text = format!("[require]\n{}\n", again.to_toml());
            let document = Document::parse(text, Path::new("manifest.json")).unwrap();
            prop_assert_eq!(Requirement::of_document(&document, &scope()).unwrap(), requirement);
        }
    }

    #[test]
    fn a_key_that_is_none_is_named() {
        let error = serde_json::from_str::<Stated>(r#"{ "k": 2, "kk": 3, "sensitive": "each" }"#);
        assert!(error.unwrap_err().to_string().contains("`kk`"));
        let error = serde_json::from_str::<Stated>(r#"{ "k": 2 }"#);
        assert!(error.unwrap_err().to_string().contains("`sensitive`"));
    }
}
