//! What a release achieves: what the release itself shows and, where everybody's rows are at hand, what
//! is true of sites.

use hedgerow_privacy::verify::{Measure, ModelVerdict, Verdict};
use hedgerow_privacy::{Model, Requirement};
use serde::{Deserialize, Serialize};

use super::ordered::Ordered;
use crate::words::thousands;

/// Achieved values of the models that speak of sites, where one party has everybody's rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfSites {
    /// Sites behind the class with the fewest.
    pub(crate) diversity: Option<u64>,
    /// How evenly the worst class is spread over sites, where that is demanded.
    pub(crate) spread: Option<Spread>,
    /// Colluding sites that every class withstands, up to the number demanded.
    pub(crate) withstood: Option<u64>,
}

/// How evenly records are spread over sites: what the worst class achieves, and whether every class holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    /// Whether it is the entropy kind; the recursive kind otherwise.
    pub(crate) is_entropy: bool,
    /// The least 2^H, or the greatest c that is not enough.
    pub(crate) achieved: f64,
    /// Whether every class is spread as demanded.
    pub(crate) holds: bool,
}

/// What a release achieves, as the summary of a run and its manifest have it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Achieved {
    /// Records of the smallest class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// Of a release whose tables only a group joins: the fewest records that are printed alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k_printed: Option<u64>,
    /// Distinct sensitive values of the class with the fewest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l_distinct: Option<u64>,
    /// Least entropy diversity of a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l_entropy: Option<f64>,
    /// Greatest distance of a class from the table, for each sensitive attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t: Option<Ordered<f64>>,
    /// Sites behind the class with the fewest, where somebody could see sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_diversity: Option<u64>,
    /// Least entropy diversity of sites of a class, where it was demanded and somebody could see sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_entropy: Option<f64>,
    /// For recursive diversity of sites, the c above which every class holds, where it was demanded and
    /// somebody could see sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_recursive: Option<f64>,
    /// Colluding sites that every class withstands, where somebody could see sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m: Option<u64>,
}

impl Achieved {
    /// What a verdict found, and what is known of sites.
    pub(crate) fn of(verdict: &Verdict, of_sites: OfSites) -> Self {
        let models = &verdict.models;
        let number = |model: &Option<ModelVerdict>| model.as_ref().map(|model| model.achieved);
        let t = models.t.as_ref().map(|t| {
            let each = t.attributes.iter();
            let each = each
                .filter_map(|attribute| Some((attribute.name.clone(), real(attribute.achieved)?)));
            each.collect()
        });
        let spread = |is_entropy| {
            let of_kind = of_sites
                .spread
                .filter(|spread| spread.is_entropy == is_entropy);
            let achieved = of_kind.map(|spread| spread.achieved);
            achieved.filter(|achieved| achieved.is_finite())
        };
        Self {
            k: number(&models.k).and_then(whole),
            k_printed: number(&models.k_printed).and_then(whole),
            l_distinct: number(&models.l_distinct).and_then(whole),
            l_entropy: number(&models.l_entropy).and_then(real),
            t,
            site_diversity: of_sites.diversity,
            site_entropy: spread(true),
            site_recursive: spread(false),
            m: of_sites.withstood,
        }
    }
}

impl Achieved {
    /// What is achieved, by the names that people know.
    pub(crate) fn rows(&self) -> Vec<[String; 2]> {
        let whole = |name: &str, number: Option<u64>| {
            number.map(|number| [name.to_owned(), thousands(number)])
        };
        let real = |name: &str, number: Option<f64>| {
            number.map(|number| [name.to_owned(), format!("{number:.4}")])
        };
        let t = self.t.as_ref().map(|t| {
            let each = t
                .iter()
                .map(|(name, distance)| format!("{name} {distance:.4}"));
            [
                String::from("t-closeness"),
                each.collect::<Vec<_>>().join(", "),
            ]
        });
        let groups = match self.k_printed {
            Some(_) => "k-anonymity of groups",
            None => "k-anonymity",
        };
        let rows = [
            whole(groups, self.k),
            whole("k of what is printed", self.k_printed),
            whole("distinct l-diversity", self.l_distinct),
            real("entropy l-diversity", self.l_entropy),
            t,
            whole("site diversity", self.site_diversity),
            real("entropy site diversity", self.site_entropy),
            real("recursive site diversity, c", self.site_recursive),
            whole("m-privacy, m", self.m),
        ];
        rows.into_iter().flatten().collect()
    }
}

fn whole(measure: Measure) -> Option<u64> {
    match measure {
        Measure::Whole(number) => Some(number),
        _ => None,
    }
}

fn real(measure: Measure) -> Option<f64> {
    let number = match measure {
        Measure::Whole(number) => number as f64,
        Measure::Fraction(ratio) => ratio.to_f64(),
        Measure::Real(number) => number,
        Measure::Unknown => return None,
    };
    Some(number).filter(|number| number.is_finite())
}

impl OfSites {
    /// Whether the achieved values that speak of sites meet the requirement.
    pub(crate) fn hold(&self, requirement: &Requirement) -> bool {
        let l = requirement.models.iter().filter_map(|model| match model {
            Model::SiteDiversity { l, .. } => Some(*l),
            _ => None,
        });
        self.diversity
            .is_none_or(|sites| l.max().is_none_or(|l| sites >= l))
            && self.spread.is_none_or(|spread| spread.holds)
            && self
                .withstood
                .is_none_or(|m| requirement.m.is_none_or(|demanded| m >= demanded))
    }
}
