//! What a site is willing to take part in: closed by default.
//!
//! The `[accept]` table of `site.toml` is the privacy officer's. A rule that is not there refuses; every
//! refusal names its rule, what the study says and what to write to accept it, and all refusals are
//! reported at once.

mod gate;
mod needed;

use std::fmt;

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::study::{Algorithm, AnswerKind, Gate, Partition};
use hedgerow_privacy::{Model, Ratio, Requirement};
use hedgerow_smc::{Security, What};

use crate::agreement::Agreement;
use crate::strength::{self, Strengths};

pub use gate::attack_of;
pub use needed::{Needed, Value, needed};
pub use strength::bounds;

/// What happens to a run beyond the allowed number, or with changed rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rerun {
    /// The run is refused.
    #[default]
    SameRows,
    /// The officer is asked.
    Ask,
    /// A run with changed rows is let in where the study's gate counts what its release tells beside those before.
    Gate,
}

impl Rerun {
    /// All settings, by their names in site files.
    pub(crate) const NAMES: [(&'static str, Self); 3] = [
        ("same rows", Self::SameRows),
        ("ask", Self::Ask),
        ("gate", Self::Gate),
    ];
}

/// The rules of a site; what is `None` refuses every study.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accept {
    /// The least k.
    pub minimum_k: Option<u64>,
    /// Models that a study must require, by their keys in `[require]`.
    pub models: Option<Vec<String>>,
    /// How strong the models must be: every demanded model but k has a bound here, or the study is
    /// refused.
    strengths: Strengths,
    /// Algorithms that may run.
    pub algorithms: Option<Vec<String>>,
    /// Security levels that may run.
    pub security: Option<Vec<String>>,
    /// Ledger entries that are allowed.
    pub disclosures: Option<Vec<String>>,
    /// Columns that may be used.
    pub columns: Option<Vec<String>>,
    /// How many sites a horizontal study must be safe from, where three or more take part.
    pub minimum_m: Option<u64>,
    /// The largest share of all records that one site may contribute.
    pub maximum_share: Option<Ratio>,
    /// The most records of a joint table.
    pub maximum_records: Option<u64>,
    /// How many runs the rows may be in.
    pub runs: Option<u64>,
    /// What happens to a run beyond the allowed number, or with changed rows.
    pub rerun: Rerun,
    /// How much may fall to the known attacks: a study must let no more fall.
    pub gate: Gate,
    /// Which questions are answered: none where nothing is written.
    pub query: AcceptQuery,
}

/// The questions that a site answers: closed by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcceptQuery {
    /// The sites that may ask, by their names in the study.
    pub from: Vec<String>,
    /// The answers that are given.
    pub answers: Vec<AnswerKind>,
    /// The columns that questions may be about.
    pub columns: Vec<String>,
}

impl AcceptQuery {
    fn read(section: &Section<'_>) -> Result<Self, DocumentError> {
        let query = Self {
            from: section.strings("from")?.unwrap_or_default(),
            answers: AnswerKind::list(section, "answers")?.unwrap_or_default(),
            columns: section.strings("columns")?.unwrap_or_default(),
        };
        section.finish()?;
        Ok(query)
    }
}

/// The keys of `[require]` that name a model.
const MODELS: [&str; 8] = [
    "k",
    "alpha",
    "l",
    "t",
    "beta",
    "delta",
    "site_diversity",
    "m",
];

/// Why a site does not take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rule's key in `site.toml`.
    pub rule: &'static str,
    /// What the rule says, what the study says, and what to write to accept the study.
    pub why: String,
    /// What accepts the study.
    pub mend: Mend,
}

/// What a site would have to write for a rule to accept a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mend {
    /// This value, or these words of a list besides those that are there.
    Set(Value),
    /// A value that a person must know; which, in words.
    Choose(String),
    /// Nothing: the rule cannot hold in the study.
    Remove,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "accept.{}: {}", self.rule, self.why)
    }
}

impl Accept {
    /// Reads the `[accept]` table.
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, DocumentError> {
        let minimum_k = whole(section, "minimum_k", 1)?;
        let models = words(section, "models", &MODELS)?;
        let accept = Self {
            minimum_k,
            strengths: strength::read(section, models.as_deref())?,
            models,
            algorithms: words(
                section,
                "algorithms",
                &Algorithm::NAMES.map(|(name, _)| name),
            )?,
            security: words(section, "security", &Security::NAMES.map(|(name, _)| name))?,
            disclosures: section.strings("disclosures")?,
            columns: section.strings("columns")?,
            minimum_m: whole(section, "minimum_m", 0)?,
            maximum_share: share(section)?,
            maximum_records: whole(section, "maximum_records", 1)?,
            runs: whole(section, "runs", 1)?,
            rerun: section.word("rerun", &Rerun::NAMES)?.unwrap_or_default(),
            gate: match section.section("gate")? {
                Some(section) => gate::read(&section)?,
                None => Gate::default(),
            },
            query: match section.section("query")? {
                Some(section) => AcceptQuery::read(&section)?,
                None => AcceptQuery::default(),
            },
        };
        section.finish()?;
        Ok(accept)
    }

    /// Every rule that speaks against a study whose run has this level of security and may disclose
    /// these things, from the view of the site at this place, which answers for its own columns only.
    pub fn refusals(
        &self,
        agreement: &Agreement,
        site: usize,
        security: Security,
        disclosures: &[What],
    ) -> Vec<Refusal> {
        let study = &agreement.study;
        let mut refusals = Vec::new();
        let needed = needed(agreement, site, security, disclosures);
        let mut refuse = |rule, why| {
            let needed = needed.iter().find(|needed| needed.rule == rule);
            // Only rules that no study needs are not among those that are.
            let mend = needed.map_or(Mend::Remove, |needed| Mend::Set(self.lacks(needed)));
            refusals.push(Refusal { rule, why, mend });
        };

        let k = agreement.requirement.k();
        match self.minimum_k {
            None => refuse("minimum_k", format!("is not set; the study has k = {k}")),
            Some(least) if k < least => {
                refuse(
                    "minimum_k",
                    format!("is {least}; the study has only k = {k}"),
                );
            }
            Some(_) => {}
        }
        let m = agreement.requirement.m.unwrap_or(0);
        let has_coalitions = needed::has_coalitions(agreement);
        if has_coalitions && m < self.minimum_m() {
            let why = format!("is {}; the study has only m = {m}", self.minimum_m());
            refuse("minimum_m", why);
        }
        if let Some(share) = self.maximum_share
            && study.partition == Partition::Horizontal
        {
            let sites = study.sites.len() as u64;
            if has_coalitions && security == Security::Published {
                let why =
                    format!("is {share}, which sites cannot ask about at the published level");
                refuse("maximum_share", why);
            } else if share < Ratio::new(1, u128::from(sites)) {
                let why = format!(
                    "is {}; one of {sites} sites brings 1 in {sites} of all records or more, so no run could end",
                    share.to_f64()
                );
                refuse("maximum_share", why);
            }
        }
        let required = models(&agreement.requirement);
        match &self.models {
            None => refuse(
                "models",
                format!("is not set; the study requires {}", list(&required)),
            ),
            Some(demanded) => {
                let lacking: Vec<&str> = demanded
                    .iter()
                    .map(String::as_str)
                    .filter(|model| !required.contains(model))
                    .collect();
                if !lacking.is_empty() {
                    refuse(
                        "models",
                        format!(
                            "demands {}, which the study does not require",
                            list(&lacking)
                        ),
                    );
                }
            }
        }
        // Where no models are demanded yet, those that the study requires will be.
        let demanded = self.models.clone().unwrap_or_else(|| {
            let required = required.iter();
            required.map(|model| (*model).to_owned()).collect()
        });
        let weak = strength::refusals(&self.strengths, &demanded, &agreement.requirement);
        weak.into_iter().for_each(|(rule, why)| refuse(rule, why));
        let mut allow = |rule, allowed: &Option<Vec<String>>, used: &[&str]| {
            let why = match allowed {
                None => format!("is not set; the study uses {}", list(used)),
                Some(allowed) => {
                    let allows = |word: &&str| allowed.iter().any(|allowed| allowed == *word);
                    let others: Vec<&str> =
                        used.iter().copied().filter(|word| !allows(word)).collect();
                    if others.is_empty() {
                        return;
                    }
                    format!("does not allow {}", list(&others))
                }
            };
            refuse(rule, why);
        };
        allow("algorithms", &self.algorithms, &[study.algorithm.name()]);
        allow("security", &self.security, &[security.name()]);
        let names: Vec<&str> = disclosures.iter().map(What::name).collect();
        allow("disclosures", &self.disclosures, &names);
        let own = study.schema_at(site);
        let columns: Vec<&str> = own
            .attributes()
            .iter()
            .map(|attribute| attribute.name.as_str())
            .collect();
        allow("columns", &self.columns, &columns);
        refusals.extend(gate::refusals(&self.gate, study.gate.as_ref()));
        refusals
    }

    /// How many sites a horizontal study of three or more must be safe from: one, where nothing is
    /// written.
    pub fn minimum_m(&self) -> u64 {
        self.minimum_m.unwrap_or(1)
    }

    /// How many runs the rows may be in: one, where nothing is written.
    pub fn runs(&self) -> u64 {
        self.runs.unwrap_or(1)
    }

    /// The most records of a joint table: ten million, where nothing is written.
    pub fn maximum_records(&self) -> u64 {
        self.maximum_records.unwrap_or(10_000_000)
    }

    /// Whether a ledger entry of this name is allowed.
    pub fn allows_disclosure(&self, name: &str) -> bool {
        let allowed = self.disclosures.as_ref();
        allowed.is_some_and(|allowed| allowed.iter().any(|allowed| allowed == name))
    }
}

/// The models that a requirement holds, by their keys in `[require]`.
fn models(requirement: &Requirement) -> Vec<&'static str> {
    let name = |model: &Model| match model {
        Model::KAnonymity { .. } => "k",
        Model::Alpha { .. } => "alpha",
        Model::DistinctDiversity { .. }
        | Model::FrequencyDiversity { .. }
        | Model::EntropyDiversity { .. }
        | Model::RecursiveDiversity { .. } => "l",
        Model::Closeness { .. } => "t",
        Model::Likeness { .. } => "beta",
        Model::DeltaDisclosure { .. } => "delta",
        Model::SiteDiversity { .. } | Model::SiteSpread { .. } => "site_diversity",
        // A model that this list does not know satisfies no rule.
        _ => "unknown",
    };
    let collusion = requirement.m.filter(|m| *m > 0).map(|_| "m");
    requirement
        .models
        .iter()
        .map(name)
        .chain(collusion)
        .collect()
}

/// A whole number that is not below a least one.
fn whole(
    section: &Section<'_>,
    key: &'static str,
    least: u64,
) -> Result<Option<u64>, DocumentError> {
    let Some(number) = section.integer(key)? else {
        return Ok(None);
    };
    let found = u64::try_from(number).ok().filter(|found| *found >= least);
    let message = || format!("`accept.{key}` is {number}, expected {least} or more");
    let found = found.ok_or_else(|| section.wrong(key, message()))?;
    Ok(Some(found))
}

/// The largest share of all records that one site may contribute.
fn share(section: &Section<'_>) -> Result<Option<Ratio>, DocumentError> {
    let Some(number) = section.number("maximum_share")? else {
        return Ok(None);
    };
    // Finer shares would not fit the numbers that sites compare.
    let is_share = |share: &Ratio| {
        let (_, denominator) = share.parts();
        Ratio::ZERO < *share && *share <= Ratio::whole(1) && denominator <= 1_000_000
    };
    let found = Ratio::from_decimal(number).filter(is_share);
    let message = format!(
        "`accept.maximum_share` is {number}, expected above 0 and at most 1, with six digits or fewer"
    );
    let found = found.ok_or_else(|| section.wrong("maximum_share", message))?;
    Ok(Some(found))
}

/// A list of words out of a few.
fn words(
    section: &Section<'_>,
    key: &'static str,
    known: &[&str],
) -> Result<Option<Vec<String>>, DocumentError> {
    let found = section.strings(key)?;
    let stranger = found
        .iter()
        .flatten()
        .find(|word| !known.contains(&word.as_str()));
    match stranger {
        None => Ok(found),
        Some(word) => {
            let message = format!(
                "`accept.{key}` lists `{word}`, expected any of {}",
                list(known)
            );
            Err(section.wrong(key, message))
        }
    }
}

fn list(words: &[&str]) -> String {
    hedgerow_data::quoted_list(words)
}
