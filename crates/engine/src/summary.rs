//! The summary of a run: what came of it and what it cost, for people and as JSON.

use std::path::PathBuf;

use hedgerow_data::Recode;
use hedgerow_privacy::utility::Utility;
use hedgerow_protocols::horizontal::mondrian::Partition;
use hedgerow_protocols::vertical::d2pt::{Attempt, Compared};
use hedgerow_smc::exposure::LossOfPrivacy;
use hedgerow_smc::settings::Shape;
use serde::Serialize;

use crate::exposure;
use crate::joint::{Convergence, Groups, TriedAttack};
use crate::release::achieved::{Achieved, OfSites};
use crate::release::cost::Cost;
use crate::release::manifest::Disclosed;
use crate::release::published::Published;
use crate::simulate::baselines::Baselines;
use crate::study::ready::Ready;
use crate::words::{NO_RELEASE, aligned, count, percent, thousands};

/// The summary of a run: its keys in JSON are a contract, its [`Display`](std::fmt::Display) is for
/// people.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The study's name.
    pub study: String,
    /// How classes were found.
    pub algorithm: &'static str,
    /// The security level.
    pub security: &'static str,
    /// Records of the release.
    pub records: u64,
    /// Sites of the run.
    pub sites: usize,
    /// The paths of what all sites sent to all, where these were not from each to each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<&'static str>,
    /// The seed, where one was given that makes a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Classes or groups of the release.
    pub classes: u64,
    /// People whom a site wrote as `*` in all its columns: of a simulation any site, else this one.
    pub suppressed: u64,
    /// How often sites that hold the same people synchronized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synchronizations: Option<u32>,
    /// What came of each synchronization, in turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub synchronizing: Vec<Synchronization>,
    /// Coalitions that were checked, where colluders are withstood; a part that sums decide counts as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<u64>,
    /// What every class satisfies, by model.
    pub achieved: Achieved,
    /// What was lost.
    pub utility: Utility,
    /// The attacks that the study limits, and what came of them before anybody signed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<TriedAttack>,
    /// What the run cost.
    pub cost: Cost,
    /// How the loss of a clustering fell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
    /// What no clusters of k records of this table lose less than, in the measure of the convergence: every
    /// record in the cheapest cell that k records fall into, as if they need not choose the same. Where one
    /// party has all records; no release has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_loss: Option<f64>,
    /// What another algorithm would have lost of the same records, where the caller asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<Instead>,
    /// The loss of privacy that the transcript of a simulated run at the published level shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_of_privacy: Option<LossOfPrivacy>,
    /// What each site learned at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ledger: Vec<Disclosed>,
    /// What the same rows lose in other hands, where the caller asked for baselines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baselines: Option<Baselines>,
    /// The folder of the release, where one was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<PathBuf>,
    /// Of a virtual database, the folder of what all sites know: its classes, with their sizes.
    #[serde(rename = "virtual", skip_serializing_if = "Option::is_none")]
    pub known: Option<PathBuf>,
    /// Where the local anonymized data sets are: a folder of all, of a simulation that was to write them;
    /// this site's file, of a run between sites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<PathBuf>,
    /// Whether the release satisfies the requirement.
    #[serde(skip)]
    pub holds: bool,
    /// How quasi-identifiers are written.
    #[serde(skip)]
    pub recode: Recode,
}

impl Summary {
    pub(crate) fn new(
        ready: &Ready,
        published: &Published,
        sites: usize,
        seed: Option<u64>,
        cost: Cost,
        ledger: Vec<Disclosed>,
        of_sites: OfSites,
    ) -> Self {
        let verdict = &published.verdict;
        Self {
            study: ready.study.name.clone(),
            algorithm: ready.study.algorithm.name(),
            security: ready.run.security.name(),
            records: verdict.records,
            sites,
            shape: ready.shape_but_mesh(sites).map(Shape::name),
            seed,
            classes: verdict.classes,
            suppressed: 0,
            synchronizations: None,
            synchronizing: Vec::new(),
            checks: None,
            achieved: Achieved::of(verdict, of_sites),
            utility: published.utility.clone(),
            gate: published.gate.clone(),
            cost,
            convergence: None,
            least_loss: None,
            instead: None,
            loss_of_privacy: None,
            ledger,
            baselines: None,
            release: (!ready.study.is_virtual()).then(|| published.folder.clone()),
            known: ready.study.is_virtual().then(|| published.folder.clone()),
            local: None,
            holds: verdict.holds.unwrap_or(true) && of_sites.hold(&ready.requirement),
            recode: published.recode,
        }
    }

    /// With how the loss fell on the way.
    pub(crate) fn converged(mut self, convergence: Option<Convergence>) -> Self {
        self.convergence = convergence;
        self
    }

    /// With what no clusters lose less than.
    pub(crate) fn bounded(mut self, least_loss: Option<f64>) -> Self {
        self.least_loss = least_loss;
        self
    }

    /// With what another algorithm would have lost.
    pub(crate) fn instead(mut self, instead: Option<Instead>) -> Self {
        self.instead = instead;
        self
    }

    /// With the loss of privacy that the transcript shows.
    pub(crate) fn exposed(mut self, loss: Option<LossOfPrivacy>) -> Self {
        self.loss_of_privacy = loss;
        self
    }

    /// With where the local anonymized data sets are.
    pub(crate) fn kept_locally(mut self, path: Option<PathBuf>) -> Self {
        self.local = path;
        self
    }

    /// With how many coalitions were checked on the way.
    pub(crate) fn checked(mut self, partition: Option<&Partition>) -> Self {
        let checks = partition.map(|partition| partition.checks);
        self.checks = checks.filter(|checks| *checks > 0);
        self
    }

    /// With how groups of the same people were found.
    pub(crate) fn grouped(mut self, groups: Option<Groups>) -> Self {
        if let Some(groups) = groups {
            let hidden = groups.suppressed.iter().filter(|hides| **hides);
            self.suppressed = hidden.count() as u64;
            self.synchronizations = Some(groups.synchronizations);
            self.synchronizing = groups.attempts.iter().map(Synchronization::of).collect();
        }
        self
    }

    /// The summary with the baselines of the same rows in other hands.
    pub(crate) fn beside(mut self, baselines: Option<Baselines>) -> Self {
        self.baselines = baselines;
        self
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{}: {} of {} in {}\n",
            match (self.holds, &self.known) {
                (true, None) => "the release holds",
                (true, Some(_)) => "the virtual database holds as far as it is shown",
                (false, None) => "THE RELEASE DOES NOT HOLD",
                (false, Some(_)) => "THE VIRTUAL DATABASE DOES NOT HOLD",
            },
            count(self.records, "record", "records"),
            count(self.sites as u64, "site", "sites"),
            match self.synchronizations {
                Some(_) => count(self.classes, "group", "groups"),
                None => count(self.classes, "class", "classes"),
            },
        );
        let achieved = self.achieved.rows().into_iter();
        let mut rows: Vec<Vec<String>> = achieved
            .map(|[name, value]| vec![format!("  {name}"), value])
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
        for tried in &self.gate {
            let [attack, limit, falls, verdict] = tried.row();
            let falls = [falls, verdict, limit].into_iter();
            let told: Vec<String> = falls.filter(|words| !words.is_empty()).collect();
            rows.push(vec![format!("  {attack}"), told.join(", ")]);
        }
        if let Some(times) = self.synchronizations {
            rows.push(vec![String::from("  synchronizations"), times.to_string()]);
        }
        if self.synchronizing.len() > 1 {
            let times = self.synchronizing.iter().zip(1..);
            rows.extend(times.map(|(one, time)| vec![format!("    {time}"), one.words()]));
        }
        if let Some(checks) = self.checks {
            rows.push(vec![String::from("  coalition checks"), thousands(checks)]);
        }
        if self.suppressed > 0 {
            let written = format!("{} written as *", thousands(self.suppressed));
            rows.push(vec![String::from("  suppressed"), written]);
        }
        if self.cost.rounds > 0 {
            if let Some(shape) = self.shape {
                rows.push(vec![String::from("  shape"), shape.to_owned()]);
            }
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
            if let Some(least) = self.least_loss {
                text.push_str(&format!(
                    "  no classes of k records lose less than {}\n",
                    percent(least)
                ));
            }
        }
        if let Some(instead) = &self.instead {
            text.push_str(&format!(
                "  cut top-down (name = \"{}\"), the same records would lose {} (NCP)\n",
                instead.algorithm,
                percent(instead.ncp)
            ));
        }
        if !self.ledger.is_empty() {
            text.push_str("each site learned at most\n");
            if self.known.is_some() {
                text.push_str(&format!("  ({NO_RELEASE})\n"));
            }
            let lines = self.ledger.iter().map(|line| {
                vec![
                    format!("  {}", line.what),
                    format!("{} values", line.values),
                    line.allowed_by.clone(),
                ]
            });
            text.push_str(&aligned(&lines.collect::<Vec<_>>()));
        }
        if let Some(loss) = &self.loss_of_privacy {
            text.push_str("loss of privacy to the next site on the ring (JX08)\n");
            let rows = exposure::rows(loss).into_iter();
            let rows = rows.map(|[what, value]| vec![format!("  {what}"), value]);
            text.push_str(&aligned(&rows.collect::<Vec<_>>()));
        }
        if let Some(baselines) = &self.baselines {
            text.push_str(&baselines.text());
        }
        if let Some(release) = &self.release {
            text.push_str(&format!("release: {}\n", release.display()));
        }
        if let Some(known) = &self.known {
            text.push_str(&format!(
                "nothing is published; what all sites know, classes with their sizes: {}\n",
                known.display()
            ));
        }
        if let Some(local) = &self.local {
            text.push_str(&format!("local anonymized data: {}\n", local.display()));
        }
        if self.synchronizations.is_some() && self.classes == 1 && self.sites > 1 {
            text.push_str(
                "hint: everybody is in one group; a weaker requirement, another synchronizer, name = \"mondrian\" or name = \"clustering\" may tell more\n",
            );
        }
        text
    }
}

/// What another algorithm would have lost of the same records, at one party.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Instead {
    /// The algorithm, as studies name it.
    pub algorithm: &'static str,
    /// The loss of its release (NCP).
    pub ncp: f64,
}

/// A time when sites that hold the same people compared their classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Synchronization {
    /// The classes of the site whose summary this is.
    pub classes: u64,
    /// The groups that were set aside by then.
    pub aside: u64,
    /// `not yet` where the classes made no groups, `refused` where their groups did not satisfy the
    /// requirement at every site, `groups` where they did.
    pub outcome: &'static str,
}

impl Synchronization {
    fn of(attempt: &Attempt) -> Self {
        Self {
            classes: attempt.classes as u64,
            aside: attempt.aside as u64,
            outcome: match attempt.outcome {
                Compared::NotYet => "not yet",
                Compared::Refused => "refused",
                Compared::Groups => "groups",
            },
        }
    }

    fn words(&self) -> String {
        let aside = match self.aside {
            0 => String::new(),
            aside => format!(", {} set aside", count(aside, "group", "groups")),
        };
        let classes = count(self.classes, "class", "classes");
        format!("{classes} here{aside}: {}", self.outcome)
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}
