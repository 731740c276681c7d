//! The requirement: a conjunction of privacy models, as the study's `[require]` table or a file or line
//! of its own states it. A requirement that cannot be met is refused here, with a hint about what could
//! be met.

mod read;
mod stated;

use std::path::Path;

use hedgerow_data::document::{Document, DocumentError};
use hedgerow_data::study::Partition;
use hedgerow_data::{Role, Schema, Study};
use serde::{Deserialize, Serialize};

use crate::model::Model;

pub use stated::{
    DiversityKind, LikenessKind, SitesKind, Stated, StatedCloseness, StatedDiversity,
    StatedLikeness, StatedSites,
};

/// Why a requirement was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// A key or value of the requirement is wrong.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A line that is no requirement.
    #[error(
        "--against: `{line}` is no requirement\nhint: give a .toml file with a [require] table, or a line such as 'k = 10, l = 3'"
    )]
    NoRequirement {
        /// The line.
        line: String,
    },
    /// A demand the wrong way round.
    #[error("--against: `{demand}` is the wrong way round\nhint: write {instead}")]
    WrongWay {
        /// The demand.
        demand: String,
        /// The demand the right way round.
        instead: String,
    },
    /// The file has no `[require]` table.
    #[error(
        "{file}: there is no [require] table\nhint: state what must hold, e.g. [require] k = 10, or give --against 'k = 10'"
    )]
    Absent {
        /// The file.
        file: String,
    },
}

/// How several sensitive attributes are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sensitive {
    /// Each sensitive attribute on its own (D2PT).
    Each,
    /// All sensitive attributes together as one attribute, their product (MPRIV).
    Product,
    /// Each sensitive attribute on its own, and their product beside them.
    Both,
}

impl Sensitive {
    /// The words of a study.
    pub(crate) const NAMES: [(&'static str, Self); 3] = [
        ("each", Self::Each),
        ("product", Self::Product),
        ("both", Self::Both),
    ];

    /// Whether the product of all sensitive attributes counts.
    pub const fn has_product(self) -> bool {
        matches!(self, Self::Product | Self::Both)
    }

    /// Whether each sensitive attribute counts on its own.
    pub const fn has_each(self) -> bool {
        matches!(self, Self::Each | Self::Both)
    }
}

/// What every class must satisfy.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// The models; all must hold.
    pub models: Vec<Model>,
    /// How many sites may collude.
    pub m: Option<u64>,
    /// How many records at least are printed alike, of a release whose tables only a group joins.
    pub k_printed: Option<u64>,
    /// How several sensitive attributes are looked at.
    pub sensitive: Sensitive,
}

/// What a requirement is checked against: the attributes it may speak of, and the sites.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The sensitive attributes.
    pub sensitive: Vec<ScopeAttribute>,
    /// Names of the quasi-identifiers.
    pub quasi: Vec<String>,
    /// Number of sites, where the study names them.
    pub sites: Option<u64>,
    /// Whether sites hold the same people, so that no record belongs to one site.
    pub is_vertical: bool,
}

/// A sensitive attribute that a requirement may speak of.
#[derive(Debug, Clone)]
pub struct ScopeAttribute {
    /// The attribute's name.
    pub name: String,
    /// The number of the attribute's values.
    pub values: u64,
    /// Whether the values have an order.
    pub is_ordered: bool,
    /// Whether the values have a taxonomy.
    pub has_taxonomy: bool,
}

impl Scope {
    /// The scope of a study.
    pub fn of_study(study: &Study) -> Self {
        let sites = study.sites.len() as u64;
        Self {
            sites: (sites > 0).then_some(sites),
            is_vertical: study.partition == Partition::Vertical,
            ..Self::of_schema(&study.schema)
        }
    }

    /// The scope of a schema, sites unknown.
    pub fn of_schema(schema: &Schema) -> Self {
        let named = |role| {
            schema
                .with_role(role)
                .into_iter()
                .map(|index| &schema.attributes()[index])
        };
        Self {
            sensitive: named(Role::Sensitive)
                .map(|attribute| ScopeAttribute {
                    name: attribute.name.clone(),
                    values: u64::from(attribute.domain.size()),
                    is_ordered: attribute.domain.is_ordered(),
                    has_taxonomy: attribute.domain.taxonomy().is_some(),
                })
                .collect(),
            quasi: named(Role::Quasi)
                .map(|attribute| attribute.name.clone())
                .collect(),
            sites: None,
            is_vertical: false,
        }
    }
}

impl Requirement {
    /// The `[require]` table of a study.
    pub fn of_study(study: &Study) -> Result<Self, RequirementError> {
        let requirement = Self::of_document(study.document(), &Scope::of_study(study))?;
        requirement.see_that_m_is_said(study)?;
        requirement.see_that_sites_can_tell(study)?;
        requirement.see_that_print_differs(study)?;
        Ok(requirement)
    }

    /// Refuses a k of what is printed where k counts just that: in a release of one table, or of none.
    pub fn see_that_print_differs(&self, study: &Study) -> Result<(), RequirementError> {
        match study.document().root().section("require")? {
            Some(section) if self.k_printed.is_some() && !study.is_fragmented() => {
                let message = "`require.k_printed` is for releases of several tables, where k counts the records of a group: in one table k counts what is printed\nhint: write k";
                Err(section.wrong("k_printed", message).into())
            }
            _ => Ok(()),
        }
    }

    /// Refuses what a horizontal study of three sites or more requires if it does not say m. A site that
    /// puts its own records around another person's record can subtract them and read the rest of the
    /// class. Whether that is acceptable must be said by the sites that sign, so m may not be left out.
    pub fn see_that_m_is_said(&self, study: &Study) -> Result<(), RequirementError> {
        let scope = Scope::of_study(study);
        let has_coalitions = !scope.is_vertical && scope.sites.is_some_and(|sites| sites > 2);
        match study.document().root().section("require")? {
            Some(section) if has_coalitions && self.m.is_none() => {
                let message = "`require.m` is missing: three sites or more say from how many of them, who put what they know together, the others are safe\nhint: write m = 1, or m = 0 if no site has to be safe from another";
                Err(section.wrong_section(message).into())
            }
            _ => Ok(()),
        }
    }

    /// Refuses what sites cannot decide without showing how many records each of them has: how evenly
    /// records are spread over the sites that some coalition leaves. How many records a coalition leaves
    /// is hidden, and the evenness of hidden counts in a hidden total is no sum over sites.
    fn see_that_sites_can_tell(&self, study: &Study) -> Result<(), RequirementError> {
        let is_spread = |model: &&Model| matches!(model, Model::SiteSpread { .. });
        let colludes = self.m.is_some_and(|m| m > 0);
        match (
            study.document().root().section("require")?,
            self.models.iter().find(is_spread),
        ) {
            (Some(section), Some(model)) if colludes => {
                let message = format!(
                    "{model} cannot be held against colluders: what is left without them would have to be counted site by site\nhint: write m = 0, or site_diversity of kind \"class\""
                );
                Err(section.wrong("m", message).into())
            }
            _ => Ok(()),
        }
    }

    /// The `[require]` table of a file.
    pub fn of_document(document: &Document, scope: &Scope) -> Result<Self, RequirementError> {
        let section = document.root().section("require")?;
        let section = section.ok_or_else(|| RequirementError::Absent {
            file: document.file().display().to_string(),
        })?;
        read::read(&section, scope)
    }

    /// A requirement on one line, such as `k = 10, l = 3` or `k >= 10, t <= 0.2`.
    pub fn of_line(line: &str, scope: &Scope) -> Result<Self, RequirementError> {
        let text = format!("require = {{ {} }}", equated(line)?);
        let document = Document::parse(text, Path::new("--against")).map_err(|_| {
            RequirementError::NoRequirement {
                line: line.to_owned(),
            }
        })?;
        let root = document.root();
        root.has("require");
        root.finish()?;
        Self::of_document(&document, scope)
    }

    /// The demands in words, a phrase for each model.
    pub fn words(&self) -> Vec<String> {
        let models = self.models.iter().map(Model::to_string);
        let m = self.m.map(|m| format!("m = {m}"));
        let printed = self.k_printed.map(|k| format!("k_printed = {k}"));
        models.chain(printed).chain(m).collect()
    }

    /// The demanded k; 1 where no k is demanded.
    pub fn k(&self) -> u64 {
        let ks = self.models.iter().map(|model| match model {
            Model::KAnonymity { k } => *k,
            _ => 1,
        });
        ks.max().unwrap_or(1)
    }

    /// How the sensitive attributes of a schema count: one alone is its own product.
    pub fn sensitive_of(&self, schema: &Schema) -> Sensitive {
        match schema.with_role(Role::Sensitive).len() {
            0 | 1 => Sensitive::Each,
            _ => self.sensitive,
        }
    }
}

/// Demands that are stronger the greater they are; the others are stronger the smaller they are.
const AT_LEAST: [&str; 5] = ["k", "k_printed", "l", "site_diversity", "m"];

/// A line whose demands are written with `=`, as TOML has them: `k >= 5` says the same as `k = 5`.
fn equated(line: &str) -> Result<String, RequirementError> {
    let demand = |demand: &str| {
        let signs = [(">=", ">="), ("≥", ">="), ("<=", "<="), ("≤", "<=")];
        let found = signs
            .iter()
            .find_map(|(sign, way)| demand.split_once(sign).map(|parts| (parts, *way)));
        let Some(((key, value), way)) = found else {
            return Ok(demand.to_owned());
        };
        let right = match AT_LEAST.contains(&key.trim()) {
            true => ">=",
            false => "<=",
        };
        if way != right {
            return Err(RequirementError::WrongWay {
                demand: demand.trim().to_owned(),
                instead: format!("{} {right} {}", key.trim(), value.trim()),
            });
        }
        Ok(format!("{key}={value}"))
    };
    let demands: Result<Vec<String>, RequirementError> = line.split(',').map(demand).collect();
    Ok(demands?.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closeness::Distance;
    use crate::model::SiteSupport;
    use crate::ratio::Ratio;

    fn scope() -> Scope {
        Scope {
            sensitive: vec![ScopeAttribute {
                name: "disease".into(),
                values: 3,
                is_ordered: false,
                has_taxonomy: true,
            }],
            quasi: vec!["age".into(), "zip".into()],
            sites: Some(3),
            is_vertical: false,
        }
    }

    fn line(text: &str) -> Result<Requirement, String> {
        Requirement::of_line(text, &scope()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_example_of_the_product() {
        let text = "[require]\nk = 10\nl = { at_least = 3, kind = \"distinct\" }\nt = { at_most = 0.2, distance = \"hierarchical\" }\nsite_diversity = 2\nm = 1\n";
        let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
        let requirement = Requirement::of_document(&document, &scope()).unwrap();
        assert_eq!(requirement.m, Some(1));
        assert_eq!(
            requirement.models,
            [
                Model::KAnonymity { k: 10 },
                Model::DistinctDiversity { l: 3 },
                Model::Closeness {
                    t: Ratio::new(1, 5),
                    distance: Some(Distance::Hierarchical)
                },
                Model::SiteDiversity {
                    l: 2,
                    support: SiteSupport::Class,
                    attributes: None
                },
            ]
        );
    }

    #[test]
    fn demands_may_say_which_way_they_go() {
        let equal = line("k = 5, l = 2, t = 0.2, alpha = 0.5");
        assert!(equal.is_ok());
        assert_eq!(line("k >= 5, l≥2, t<=0.2, alpha ≤ 0.5"), equal);
        assert_eq!(
            line("k >= 5, l = { at_least = 2, kind = \"entropy\" }"),
            line("k = 5, l = { at_least = 2, kind = \"entropy\" }")
        );
        assert_eq!(
            line("k = 5, t >= 0.2").unwrap_err(),
            "--against: `t >= 0.2` is the wrong way round\nhint: write t <= 0.2"
        );
        assert_eq!(
            line("k <= 5").unwrap_err(),
            "--against: `k <= 5` is the wrong way round\nhint: write k >= 5"
        );
        assert!(line("k > 5").unwrap_err().contains("is no requirement"));
    }

    #[test]
    fn what_cannot_be_met_is_refused_with_what_could_be() {
        let refusal = |text: &str| line(text).unwrap_err();
        assert_eq!(
            refusal("k = 0"),
            "--against:1: `require.k` is 0, expected 1 or more"
        );
        assert_eq!(
            refusal("k = 2, l = 4"),
            "--against:1: `require.l` is 4, but `disease` has only 3 values\nhint: the largest l that can be met is 3"
        );
        assert_eq!(
            refusal("t = 1.5"),
            "--against:1: `require.t` is 1.5, expected from 0 to 1"
        );
        assert_eq!(
            refusal("t = -0.1"),
            "--against:1: `require.t` is -0.1, expected from 0 to 1"
        );
        assert_eq!(
            refusal("site_diversity = 4"),
            "--against:1: `require.site_diversity` is 4, but there are only 3 sites\nhint: the largest value that can be met is 3"
        );
        assert!(refusal("k = 2, m = 3").contains("the largest m is 2"));
        assert_eq!(
            refusal("k = 2, delt = 3"),
            "--against:1: unknown key `delt` in `require`\nhint: did you mean `delta`?"
        );
        assert!(
            refusal("l = { at_least = 2, kind = \"recursive\" }")
                .contains("`require.l.c` is missing")
        );
        assert!(refusal("l = { at_least = 2.5 }").contains("a whole number"));
        assert!(refusal("alpha = 0").contains("above 0 and at most 1"));
        assert!(refusal("m = 1").contains("demands nothing"));
        assert!(
            refusal("site_diversity = { at_least = 2, attributes = [\"disease\"] }")
                .contains("no quasi-identifier")
        );
        let nobody = Requirement::of_line("l = 2", &Scope::default()).unwrap_err();
        assert!(
            nobody
                .to_string()
                .contains("no attribute has role = \"sensitive\"")
        );
    }

    #[test]
    fn sites_that_hold_the_same_people_cannot_be_told_apart_by_them() {
        let text = "[require]\nk = 2\n";
        let refusal = |line: &str| {
            let document = format!("{text}{line}\n");
            let document = Document::parse(document, Path::new("study.toml")).unwrap();
            let mut scope = scope();
            scope.is_vertical = true;
            let twice = scope.sensitive[0].clone();
            scope.sensitive.push(twice);
            Requirement::of_document(&document, &scope)
                .unwrap_err()
                .to_string()
        };
        for (line, key) in [
            ("site_diversity = 2", "site_diversity"),
            ("m = 1", "m"),
            ("sensitive = \"product\"", "sensitive"),
        ] {
            let found = refusal(line);
            assert!(
                found.starts_with(&format!("study.toml:3: `require.{key}` cannot be asked of")),
                "{found}"
            );
            assert!(found.contains("\nhint: "), "{found}");
        }
    }

    #[test]
    fn short_and_long_forms() {
        let requirement = line("l = { at_least = 2.5, kind = \"frequency\" }, beta = { at_most = 2, kind = \"enhanced\" }, delta = 1.5, alpha = 0.5, t = 0.3, sensitive = \"product\"").unwrap();
        assert_eq!(requirement.sensitive, Sensitive::Product);
        assert_eq!(requirement.models.len(), 5);
        assert!(requirement.models.contains(&Model::FrequencyDiversity {
            l: Ratio::new(5, 2)
        }));
        assert!(requirement.models.contains(&Model::Likeness {
            beta: Ratio::whole(2),
            enhanced: true
        }));
    }
}
