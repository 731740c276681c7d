//! What a report says, before it is set as HTML or as text.

use hedgerow_data::Cell;
use hedgerow_data::files::HOW_FRAGMENTS_JOIN;
use hedgerow_data::study::Algorithm;

use super::contents::Contents;
use super::own::Before;
use super::risk_curve::RiskCurve;
use super::sizes::Sizes;
use crate::gate::Gated;
use crate::release::manifest::{Manifest, Shared};
use crate::study::opened::Opened;
use crate::study::written::Telling;
use crate::verify::{Seen, Verdict as Verified, text};
use crate::words::{count, thousands};

/// Everything a report says.
pub(super) struct Facts {
    pub(super) study: String,
    pub(super) algorithm: &'static str,
    pub(super) security: &'static str,
    /// Whether nothing was published.
    pub(super) is_virtual: bool,
    pub(super) report: Verified,
    pub(super) sizes: Sizes,
    pub(super) curve: RiskCurve,
    pub(super) contents: Contents,
    /// The rows that the release is compared with.
    pub(super) before: Option<Before>,
    /// Columns whose cells tell more than classes have in common.
    pub(super) telling: Vec<Telling>,
    /// What attacks found, where they were tried.
    pub(super) gate: Option<Gated>,
}

/// How the loss of a clustering fell.
pub(super) struct Fall {
    pub(super) measure: &'static str,
    pub(super) iterations: String,
    /// Why the iterations ended, in words.
    pub(super) ended: &'static str,
    pub(super) published_calls: u64,
    /// Each step, the clusters there were after it, and the mean loss of a cell.
    pub(super) rows: Vec<(String, String, f64)>,
}

/// One line of the table of requirements.
pub(super) struct Demand {
    pub(super) key: &'static str,
    pub(super) name: String,
    pub(super) required: String,
    pub(super) achieved: String,
    /// Whether the model passed; `None` where nothing is required.
    pub(super) holds: Option<bool>,
    /// The worst class, or the words that stand in its place.
    pub(super) worst: String,
    /// Whether a release can show the model.
    pub(super) is_seen: bool,
}

impl Facts {
    pub(super) fn new(
        opened: &Opened,
        report: Verified,
        seen: &Seen,
        before: Option<Before>,
    ) -> Self {
        let study = &opened.study;
        Self {
            study: study.name.clone(),
            algorithm: study.algorithm.name(),
            security: opened.run.security.name(),
            is_virtual: study.is_virtual(),
            sizes: Sizes::of(&report.sizes),
            curve: RiskCurve::of(&report.sizes),
            contents: Contents::of(opened, seen, before.as_ref()),
            report,
            before,
            telling: telling(opened, seen),
            gate: None,
        }
    }

    /// What is required, and then what else was measured.
    pub(super) fn demands(&self) -> Vec<Demand> {
        let named = self.report.found.models.named();
        let mut demands: Vec<Demand> = named
            .iter()
            .map(|(key, model)| {
                let (required, achieved) = text::numbers(key, model);
                let worst = model.worst_class.as_ref();
                let is_seen = worst.is_some();
                let mut name = text::label(key, model);
                if *key == "k" && self.report.found.models.k_printed.is_some() {
                    name.push_str(text::OF_GROUPS);
                }
                Demand {
                    key,
                    name,
                    required: in_words(&required),
                    achieved: if is_seen {
                        achieved
                    } else {
                        String::from("cannot be seen")
                    },
                    holds: model.holds,
                    worst: worst.map_or(String::new(), text::class),
                    is_seen,
                }
            })
            .collect();
        if let Some(check) = &self.report.manifest {
            let attested = check.attested.iter().map(|model| (model, true));
            let unseen = check.unseen.iter().map(|model| (model, false));
            demands.extend(attested.chain(unseen).map(|(model, is_attested)| Demand {
                key: model.model,
                name: text::title(model.model).to_owned(),
                required: model.words.clone(),
                achieved: String::from(match is_attested {
                    true => "attested by all sites",
                    false => "cannot be seen",
                }),
                holds: Some(is_attested),
                worst: String::from(match self.is_virtual {
                    true => "nothing is published that shows it",
                    false => "a release does not show sites",
                }),
                is_seen: false,
            }));
        }
        demands.sort_by_key(|demand| demand.holds.is_none());
        demands
    }

    /// The manifest, where the folder has one that could be read.
    pub(super) fn manifest(&self) -> Option<&Manifest> {
        self.report.manifest.as_ref()?.manifest.as_ref()
    }

    /// The day of the release and the hedgerow that made it, where the manifest says so.
    pub(super) fn made(&self) -> Option<String> {
        let (said, _) = self.manifest()?.statement()?;
        Some(format!(
            "made on {} by hedgerow {}",
            said.date, said.hedgerow
        ))
    }

    fn shared(&self) -> Option<&Shared> {
        self.manifest()?.shared.as_ref()
    }

    /// Where sites hold the same people: which columns each held.
    pub(super) fn holders(&self) -> Vec<(String, String)> {
        let sites = self.shared().into_iter().flat_map(|shared| &shared.sites);
        sites
            .map(|holder| (holder.site.clone(), holder.columns.join(", ")))
            .collect()
    }

    /// How groups of the same people were found, in words.
    pub(super) fn groups(&self) -> Option<String> {
        let shared = self.shared()?;
        if self.study_is_cut() {
            return Some(self.cuts());
        }
        let synchronizer = shared.synchronizer.as_deref()?;
        let times = shared.synchronizations.unwrap_or(0);
        let rule = match synchronizer {
            "merge" => "classes that share a person were joined",
            "fork" => {
                "classes that are the same at every site were set aside, and the sites went on with the others"
            }
            "identity" => "the sites generalized until their classes were the same",
            _ => "people of the same classes at every site are a group, which has k of them",
        };
        let written = match self.is_restored() {
            true => {
                "Quasi-identifiers inside a group are the original ones, so that a row of them may be known as one person's; k and the risks count the people of a group, among whom nothing says whose a sensitive value is"
            }
            false => "All of a group have the same generalized quasi-identifiers",
        };
        Some(format!(
            "The release is {} in {}: a table of quasi-identifiers and one of each other attribute, which nothing joins but the number of a group. The synchronizer was {synchronizer}: {rule}. The sites synchronized {}. {written}; rows of a group stand in the order of what is written. A reader who knows a person's quasi-identifiers may come to a group, and no further; each site knows the group of each of its own people, and so learns what the release says of that group about them. {HOW_FRAGMENTS_JOIN}",
            count(self.report.found.records, "person", "people"),
            count(self.report.found.classes, "group", "groups"),
            count(u64::from(times), "time", "times"),
        ))
    }

    /// Whether sites that hold the same people cut them together.
    fn study_is_cut(&self) -> bool {
        let said = self.manifest().and_then(Manifest::statement);
        said.is_some_and(|(said, _)| said.algorithm == Algorithm::Mondrian.name())
    }

    /// Whether the release is fragments that a group number joins.
    pub(super) fn is_fragmented(&self) -> bool {
        let said = self.manifest().and_then(Manifest::statement);
        let by_groups = self
            .shared()
            .and_then(|shared| shared.synchronizer.as_ref());
        by_groups.is_some() || said.is_some_and(|(said, _)| said.fragments)
    }

    /// How the same people were cut together, in words.
    fn cuts(&self) -> String {
        let joined = match self.is_fragmented() {
            true => format!(
                " The release is fragmented: a table of quasi-identifiers and one of each other attribute, which nothing joins but the number of a group. {HOW_FRAGMENTS_JOIN}"
            ),
            false => String::new(),
        };
        format!(
            "The release is {} in {}, found by cuts: where a class could be cut in two parts that satisfy the requirement, the site with the widest attribute there cut it at its median and told the others who goes left. Who is in which class is known to the sites, of their own people, and not to readers; what a class has in common, and where it was cut, stayed at the site until the release.{joined}",
            count(self.report.found.records, "person", "people"),
            count(self.report.found.classes, "class", "classes"),
        )
    }

    /// The ledger, where there is a manifest.
    pub(super) fn ledger(&self) -> Option<Vec<super::words::Entry>> {
        let lines = &self.manifest()?.ledger;
        let names: Vec<String> = self.holders().into_iter().map(|(name, _)| name).collect();
        let entry = |line| super::words::Entry::of(line, &names);
        Some(lines.iter().map(entry).collect())
    }

    /// Whether groups have their original quasi-identifiers.
    pub(super) fn is_restored(&self) -> bool {
        self.shared()
            .is_some_and(|shared| shared.restored == Some(true))
    }

    /// The loss of privacy of a simulated run at the published level, where the manifest says it.
    pub(super) fn loss_of_privacy(&self) -> Option<Vec<[String; 2]>> {
        let loss = self.manifest()?.loss_of_privacy.as_ref()?;
        Some(crate::exposure::rows(loss))
    }

    /// How the loss of a clustering fell, where the manifest says it.
    pub(super) fn convergence(&self) -> Option<Fall> {
        let said = self.manifest()?.convergence.as_ref()?;
        let rows = said.steps.iter().filter_map(|step| {
            let (clusters, loss) = step.loss()?;
            Some((step.name(), thousands(clusters as u64), loss))
        });
        Some(Fall {
            measure: said.measure.name(),
            iterations: count(u64::from(said.iterations), "iteration", "iterations"),
            ended: said.ended.words(),
            published_calls: said.published_calls,
            rows: rows.collect(),
        })
    }

    /// What the run cost, in words.
    pub(super) fn cost(&self) -> Vec<(&'static str, String)> {
        let Some(Manifest { cost, .. }) = self.manifest() else {
            return Vec::new();
        };
        let mut rows = vec![
            ("rounds of messages", thousands(cost.rounds)),
            ("messages", thousands(cost.messages)),
            ("bytes sent", thousands(cost.bytes)),
            ("secure computations", thousands(cost.smc_calls)),
        ];
        let times = [
            ("time in all", Some(cost.seconds)),
            ("of these, the protocol", Some(cost.protocol_seconds)),
            (
                "between institutions (30 ms, 100 Mbit/s), estimated",
                cost.wan_seconds,
            ),
        ];
        for (name, seconds) in times {
            let seconds = seconds.filter(|seconds| *seconds > 0.0);
            rows.extend(seconds.map(|seconds| (name, format!("{seconds:.1} s"))));
        }
        rows
    }
}

/// The columns of a release whose cells tell more than classes have in common. A release that describes itself
/// does not say whether its ranges end at somebody's values: there, sets alone are known by their cells.
fn telling(opened: &Opened, seen: &Seen) -> Vec<Telling> {
    let mut telling = Telling::of(&opened.study, &opened.run);
    if opened.is_described {
        let is_set = |cell: &Cell| matches!(cell, Cell::Set(_));
        let has_sets = |name: &str| {
            let position = seen.release.schema().position(name);
            let column = position.and_then(|position| seen.release.generalized(position));
            column.is_some_and(|column| column.cells.iter().any(is_set))
        };
        telling.retain(|one| one.is_of_sets() && one.columns.iter().any(|name| has_sets(name)));
    }
    telling
}

/// A demand without signs; its words stay on one line.
fn in_words(required: &str) -> String {
    let words = [(">= ", "at least "), ("<= ", "at most "), ("< ", "below ")];
    let found = words
        .iter()
        .find_map(|(sign, words)| Some(format!("{words}{}", required.strip_prefix(sign)?)));
    let text = found.unwrap_or_else(|| required.to_owned());
    text.replace(' ', "\u{a0}")
}
