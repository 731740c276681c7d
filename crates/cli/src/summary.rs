//! The summary of a run: what came of it and what it cost, for people and as JSON.

use hedgerow_privacy::utility::Utility;
use hedgerow_privacy::verify::{Measure, Verdict};
use hedgerow_privacy::{Model, Requirement};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::baselines::Baselines;
use crate::convergence::Convergence;
use crate::joint::{Published, Ready};
use crate::output::{Answer, aligned, count, thousands};
use crate::shared::Groups;

/// What a run cost.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Cost {
    pub(crate) rounds: u64,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) smc_calls: u64,
    pub(crate) seconds: f64,
    /// Of these the protocol's own: cuts, covers and the joint release, of tables in memory.
    pub(crate) protocol_seconds: f64,
    /// What the messages would take between institutions: 30 ms, 100 Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wan_seconds: Option<f64>,
}

/// What is achieved that speaks of sites, where one has everybody's rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfSites {
    /// Sites behind the class with the fewest.
    pub(crate) diversity: Option<u64>,
    /// Colluding sites that every class withstands, up to the number demanded.
    pub(crate) withstood: Option<u64>,
}

/// What a release achieves, as the summary of a run and its manifest have it.
pub(crate) fn achieved(verdict: &Verdict, of_sites: OfSites) -> Map<String, Value> {
    let mut achieved = Map::new();
    let models = [
        ("k", &verdict.models.k),
        ("l_distinct", &verdict.models.l_distinct),
        ("l_entropy", &verdict.models.l_entropy),
    ];
    for (name, model) in models {
        if let Some(model) = model {
            achieved.insert(name.into(), json!(model.achieved));
        }
    }
    if let Some(t) = &verdict.models.t {
        let each = t
            .attributes
            .iter()
            .map(|attribute| (attribute.name.clone(), json!(attribute.achieved)));
        achieved.insert("t".into(), Value::Object(each.collect()));
    }
    let of_sites = [
        ("site_diversity", of_sites.diversity),
        ("m", of_sites.withstood),
    ];
    for (name, value) in of_sites {
        if let Some(value) = value {
            achieved.insert(name.into(), json!(Measure::Whole(value)));
        }
    }
    achieved
}

/// The summary of a run; its keys are a contract.
#[derive(Serialize)]
pub(crate) struct Summary<'a> {
    study: &'a str,
    algorithm: &'static str,
    security: &'static str,
    records: u64,
    sites: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    classes: u64,
    suppressed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    synchronizations: Option<u32>,
    achieved: Map<String, Value>,
    utility: &'a Utility,
    cost: Cost,
    #[serde(skip_serializing_if = "Option::is_none")]
    convergence: Option<Convergence>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ledger: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baselines: Option<Baselines>,
    release: &'a std::path::Path,
    #[serde(skip)]
    holds: bool,
    #[serde(skip)]
    recode: hedgerow_data::Recode,
}

impl OfSites {
    /// Whether what is known of sites is what is required.
    fn hold(&self, requirement: &Requirement) -> bool {
        let l = requirement.models.iter().filter_map(|model| match model {
            Model::SiteDiversity { l, .. } => Some(*l),
            _ => None,
        });
        self.diversity
            .is_none_or(|sites| l.max().is_none_or(|l| sites >= l))
            && self
                .withstood
                .is_none_or(|m| requirement.m.is_none_or(|demanded| m >= demanded))
    }
}

impl<'a> Summary<'a> {
    pub(crate) fn new(
        ready: &'a Ready,
        published: &'a Published,
        sites: usize,
        seed: Option<u64>,
        cost: Cost,
        ledger: Vec<Value>,
        of_sites: OfSites,
    ) -> Self {
        let verdict = &published.verdict;
        Self {
            study: &ready.study.name,
            algorithm: ready.study.algorithm.name(),
            security: ready.run.security.name(),
            records: verdict.records,
            sites,
            seed,
            classes: verdict.classes,
            suppressed: 0,
            synchronizations: None,
            achieved: achieved(verdict, of_sites),
            utility: &published.utility,
            cost,
            convergence: None,
            ledger,
            baselines: None,
            release: &published.folder,
            holds: verdict.holds.unwrap_or(true) && of_sites.hold(&ready.requirement),
            recode: published.recode,
        }
    }

    /// With how the loss fell on the way.
    pub(crate) fn converged(mut self, convergence: Option<Convergence>) -> Self {
        self.convergence = convergence;
        self
    }

    /// With how groups of the same people were found.
    pub(crate) fn grouped(mut self, groups: Option<Groups>) -> Self {
        if let Some(groups) = groups {
            self.suppressed = groups.suppressed as u64;
            self.synchronizations = Some(groups.synchronizations);
        }
        self
    }

    /// With what the same rows lose in other hands beside it.
    pub(crate) fn beside(mut self, baselines: Option<Baselines>) -> Self {
        self.baselines = baselines;
        self
    }

    pub(crate) fn answer(self) -> Answer {
        let mut text = format!(
            "{}: {} of {} in {}\n",
            if self.holds {
                "the release holds"
            } else {
                "THE RELEASE DOES NOT HOLD"
            },
            count(self.records, "record", "records"),
            count(self.sites as u64, "site", "sites"),
            match self.synchronizations {
                Some(_) => count(self.classes, "group", "groups"),
                None => count(self.classes, "class", "classes"),
            },
        );
        let mut rows: Vec<Vec<String>> = self
            .achieved
            .iter()
            .map(|(name, value)| vec![format!("  achieved {name}"), value.to_string()])
            .collect();
        let loss = format!(
            "{:.2} % written as {:?}",
            self.utility.ncp * 100.0,
            self.recode
        );
        rows.push(vec![
            String::from("  loss (NCP)"),
            loss.to_lowercase().replace("ncp", "NCP"),
        ]);
        if let Some(times) = self.synchronizations {
            rows.push(vec![String::from("  synchronizations"), times.to_string()]);
        }
        if self.suppressed > 0 {
            let written = format!("{} written as *", thousands(self.suppressed));
            rows.push(vec![String::from("  suppressed"), written]);
        }
        if self.cost.rounds > 0 {
            rows.push(vec![String::from("  rounds"), thousands(self.cost.rounds)]);
            rows.push(vec![
                String::from("  messages"),
                thousands(self.cost.messages),
            ]);
            rows.push(vec![String::from("  bytes"), thousands(self.cost.bytes)]);
        }
        if let Some(seconds) = self.cost.wan_seconds {
            rows.push(vec![
                String::from("  between institutions"),
                format!("{seconds:.1} s"),
            ]);
        }
        text.push_str(&aligned(&rows));
        if let Some(convergence) = &self.convergence {
            text.push_str(&convergence.text());
        }
        if !self.ledger.is_empty() {
            text.push_str("each site learned\n");
            let lines = self.ledger.iter().map(|line| {
                let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
                vec![
                    format!("  {}", word("what")),
                    format!("{} values", line["values"]),
                    word("allowed_by"),
                ]
            });
            text.push_str(&aligned(&lines.collect::<Vec<_>>()));
        }
        if let Some(baselines) = &self.baselines {
            text.push_str(&baselines.text());
        }
        text.push_str(&format!("release: {}\n", self.release.display()));
        if self.synchronizations.is_some() && self.classes == 1 && self.sites > 1 {
            text.push_str(
                "hint: everybody is in one group; a weaker requirement, another synchronizer or name = \"clustering\" may tell more\n",
            );
        }
        let holds = self.holds;
        Answer::new(text, &self, holds)
    }
}
