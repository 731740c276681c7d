//! A study as `study show` tells it: in plain words first what is demanded, what becomes of each column, what
//! is published, and what is shown to whom on the way; then the requirement and the theorems.

pub(crate) mod plain;
mod told;

use hedgerow_data as data;
use hedgerow_data::study::{Algorithm, AnswerKind, Gate, Partition};
use hedgerow_protocols::{RunSettings, query};
use hedgerow_smc::settings::Shape;
use hedgerow_smc::{RoleChoice, Security, What};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::explained::{besides, explained};
use super::ready::Ready;
use super::{Study, disclosures};
use crate::error::Error;
use plain::Outcome;

/// A study for those who decide about it. Its [`Display`](std::fmt::Display) is for people, its JSON for
/// machines.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Shown {
    /// Who takes part, in a sentence.
    pub sites: String,
    /// What holds in every group of the release, a sentence each.
    pub demands: Vec<String>,
    /// What is published, or kept instead, and who may ask, a sentence each.
    pub published: Vec<String>,
    /// How groups are found, and how sites compute together, a name and a sentence each.
    pub ways: Vec<(&'static str, String)>,
    /// What the security level cannot hide besides.
    pub besides: Option<&'static str>,
    /// What a run may show.
    pub discloses: Vec<What>,
    /// What a question about the sites' table may show, where the study allows questions.
    pub questions: Vec<What>,
    columns: Vec<Column>,
    /// Which site holds which columns, where sites hold different ones.
    holders: Vec<(String, Vec<String>)>,
    requires: String,
    security: Security,
    is_virtual: bool,
    json: Value,
}

/// A column and what becomes of it.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    role: &'static str,
    values: String,
    becomes: &'static str,
}

impl Study {
    /// What the study means for those who decide about it: sites sign what can be shown in this way.
    pub fn shown(&self) -> Result<Shown, Error> {
        let ready = Ready::of(&self.agreement()?)?;
        Ok(Shown::of(&ready))
    }
}

impl Shown {
    fn of(ready: &Ready) -> Self {
        let (study, requirement, security) = (&ready.study, &ready.requirement, ready.run.security);
        let discloses = disclosures(ready);
        let outcome = Outcome::of(study, &ready.run);
        let demands = plain::requirement(study, requirement, outcome);
        let columns = columns(ready, outcome);
        let published = plain::published(study, outcome);
        let sites = study.sites.len();
        let besides = besides(sites, (security, ready.run.roles), &discloses);
        let mut ways = vec![
            (
                study.algorithm.name(),
                plain::algorithm(study.algorithm, study.partition).to_owned(),
            ),
            (security.name(), plain::security(security).to_owned()),
        ];
        if ready.run.roles == RoleChoice::Spread {
            ways.push((
                RoleChoice::Spread.name(),
                String::from("roles in questions that leave sites out are spread over sites"),
            ));
        }
        // A mesh of few sites is what everybody expects.
        let network = ready.run.network;
        let shape = network.shape_of(sites);
        let is_said = network.shape.is_some() || shape != Shape::Mesh;
        let shaped = (is_said && security == Security::Hardened).then_some(shape);
        if let Some(shape) = shaped {
            let hub = usize::from(network.hub.unwrap_or(0));
            let hub = study.sites.get(hub).map_or("", |site| site.name.as_str());
            ways.push((shape.name(), plain::shape(shape, hub)));
        }
        let in_json = |what: &What| {
            let mut told = json!({ "what": what.name(), "allowed_by": what.allowed_by() });
            if let Some(said) = explained(*what) {
                told["to"] = json!(said.learners.words(security));
                told["tells"] = json!(said.tells);
                told["reveals"] = json!(said.reveals);
            }
            told
        };
        let answers = study.query.as_ref().map(|query| query.answers.as_slice());
        let questions = of_questions(answers.unwrap_or_default());
        let listed = columns.iter().map(|column| {
            let Column {
                name,
                role,
                values,
                becomes,
            } = column;
            json!({ "name": name, "role": role, "values": values, "becomes": becomes })
        });
        let holders = holders(study);
        let mut json = json!({
            "partition": study.partition.name(),
            "algorithm": study.algorithm.name(),
            "security": security.name(),
            "columns": listed.collect::<Vec<_>>(),
            "demands": demands,
            "published": published,
            "requires": requirement,
            "discloses": discloses.iter().map(in_json).collect::<Vec<_>>(),
        });
        if !holders.is_empty() {
            let held = holders.iter();
            let held = held.map(|(site, columns)| json!({ "site": site, "columns": columns }));
            json["holders"] = held.collect();
        }
        if let Some(said) = besides {
            json["besides"] = json!(said);
        }
        if ready.run.roles == RoleChoice::Spread {
            json["roles"] = json!(RoleChoice::Spread.name());
        }
        if let Some(shape) = shaped {
            json["shape"] = json!(shape.name());
        }
        if let Some(audit) = &study.audit {
            json["audit"] = json!({ "days": audit.days, "auditor": audit.auditor });
        }
        if let Some(gate) = &study.gate {
            json["gate"] = limits(gate);
        }
        if study.is_virtual() {
            json["release"] = json!(study.release.name());
        }
        if let Some(query) = &study.query {
            let answers: Vec<&str> = query.answers.iter().map(|kind| kind.name()).collect();
            let told: Vec<Value> = questions.iter().map(in_json).collect();
            json["query"] = json!({ "answers": answers, "discloses": told });
        }
        let mut requires: Vec<String> =
            requirement.models.iter().map(ToString::to_string).collect();
        requires.extend(requirement.m.map(|m| format!("m = {m}")));
        Self {
            sites: match study.partition {
                Partition::Horizontal => {
                    format!("{sites} sites hold different people, with the same columns")
                }
                Partition::Vertical => {
                    format!("{sites} sites hold the same people, each its own columns")
                }
            },
            demands,
            published,
            ways,
            besides,
            discloses,
            questions,
            columns,
            holders,
            requires: requires.join(", "),
            security,
            is_virtual: study.is_virtual(),
            json,
        }
    }
}

/// The limits of a gate, by attack.
pub(super) fn limits(gate: &Gate) -> Value {
    let limits = gate.limits();
    let limits = limits.map(|(attack, limit)| (attack.to_owned(), json!(limit)));
    Value::Object(limits.collect())
}

/// What questions with these answers may show.
fn of_questions(answers: &[AnswerKind]) -> Vec<What> {
    let shows = |kind: &AnswerKind| match kind {
        AnswerKind::Totals => vec![query::TOTALS],
        AnswerKind::Rows => vec![query::FOUND, query::ROWS],
    };
    answers.iter().flat_map(shows).collect()
}

fn columns(ready: &Ready, outcome: Outcome) -> Vec<Column> {
    let columns = ready.study.schema.attributes().iter();
    let columns = columns.map(|column| Column {
        name: column.name.clone(),
        role: column.role.name(),
        values: column.domain.describe(),
        becomes: plain::role(column.role, outcome),
    });
    columns.collect()
}

/// Which site holds which columns, in the study's order.
fn holders(study: &data::Study) -> Vec<(String, Vec<String>)> {
    let Some(split) = &study.split else {
        return Vec::new();
    };
    let sites = study.sites.iter().enumerate();
    let held = sites.map(|(place, site)| {
        let names = split.names(&study.schema, place).into_iter();
        (site.name.clone(), names.map(str::to_owned).collect())
    });
    held.collect()
}

impl Outcome {
    /// What comes of a run of a study with these settings.
    pub(crate) fn of(study: &data::Study, run: &RunSettings) -> Self {
        let is_restored = study.algorithm == Algorithm::D2pt && run.d2pt.restore;
        match (study.is_virtual(), study.is_fragmented()) {
            (true, _) => Self::Virtual,
            (false, true) if is_restored => Self::Restored,
            (false, true) => Self::Fragments,
            (false, false) => Self::Table,
        }
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}
