//! The gate in a run: the attacks that the study's `[gate]` limits are tried on the release before any site
//! signs it. A release to which more falls than a limit allows is signed by nobody and published nowhere.
//!
//! What needs the release alone, every site finds by itself; what needs the rows of all sites they count together
//! (`jointly.rs`, by the protocols of `horizontal::attacked`). Either way all sites come to the same numbers.

mod earlier;
mod jointly;

use hedgerow_data::study::Share;
use hedgerow_data::{Cell, Release, Role};
use hedgerow_gate::together::{Part, classes_by_cells, found_nothing, not_tried, sizes};
use hedgerow_gate::{Attack, Finding, Known, Limits, Measured, Rows, Subject, Verdict, attack};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::attacked::{Asked, have_all};
use hedgerow_smc::Party;
use serde::{Deserialize, Serialize};

use super::Joint;
use crate::error::Error;
use crate::gate::Demanded;
use crate::study::ready::{Contribution, Ready};
use crate::words::{one_line, percent};
use jointly::Jointly;

/// An attack that a run tried on its release, as the manifest tells it. Shares have six digits, so that all
/// sites sign the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriedAttack {
    /// The attack.
    pub attack: String,
    /// `holds`, or `nothing` where the release has nothing that the attack could use.
    pub verdict: String,
    /// The share of records that may fall, beyond the control.
    pub limit: f64,
    /// The share that falls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The share that falls to the same attack where there is nothing to learn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<f64>,
}

/// What the gate of a run found.
#[derive(Default)]
pub(crate) struct Gated {
    /// Each attack that the study limits, with its limit.
    findings: Vec<(Share, Finding)>,
}

/// What attackers are taken to have beside a release and its rows.
#[derive(Default)]
pub(crate) struct Beside {
    /// The releases of earlier runs, in the order of the runs.
    pub(crate) earlier: Vec<Earlier>,
}

/// The releases of earlier runs that every site has; nothing where the sites do not all have the same.
pub(crate) struct Before<'e>(Option<Vec<&'e Release>>);

impl Before<'_> {
    /// Refuses a run whose gate would lack an earlier release: before others have the run's rows.
    pub(crate) fn see(&self) -> Result<(), Error> {
        match self.0 {
            Some(_) => Ok(()),
            None => Err(Error::HeldBack {
                reasons: vec![format!("the gate needs {ALL_RELEASES}")],
            }),
        }
    }
}

/// What the attacks on several releases need.
const ALL_RELEASES: &str = "the releases of all earlier runs at every site";

/// An earlier run, as this site knows it.
pub(crate) enum Earlier {
    /// The run ended here without a release.
    Lacking,
    /// The run's release.
    Has(Release),
    /// The run's release is here and cannot be read as a release of this study.
    Unreadable,
}

impl Ready {
    /// The attacks that the study limits and that sites count together.
    pub(crate) fn asked(&self) -> Asked {
        let limits = |attack: Attack| {
            let gate = self.study.gate.as_ref();
            gate.is_some_and(|gate| gate.limit(attack.name()).is_some())
        };
        Asked {
            ends: limits(Attack::Ends),
            one_site: limits(Attack::OneSite),
            two_sites: limits(Attack::TwoSites),
            two_releases: limits(Attack::TwoReleases),
            newcomers: limits(Attack::Newcomers),
        }
    }

    /// Sees, before a run tells anything else, which earlier releases all sites have for the gate to lay beside the
    /// run's own.
    pub(crate) async fn look_back<'e>(
        &self,
        party: &mut Party,
        beside: &'e Beside,
    ) -> Result<Before<'e>, hedgerow_protocols::Error> {
        let asked = self.asked();
        Ok(Before(match asked.two_releases || asked.newcomers {
            true => agreed(party, &beside.earlier).await?,
            false => Some(Vec::new()),
        }))
    }

    /// Tries the attacks that the study limits on a release, together with all sites of the run.
    pub(crate) async fn gate(
        &self,
        party: &mut Party,
        (joint, contribution): (&Joint, &Contribution),
        owner: Owner<'_>,
        Before(agreed): &Before<'_>,
    ) -> Result<Gated, hedgerow_protocols::Error> {
        let Some(gate) = &self.study.gate else {
            return Ok(Gated::default());
        };
        let demanded = Demanded::of_requirement(&self.requirement, &self.study.schema);
        let subject = demanded.subject_of(&joint.release);
        let before = agreed.iter().flatten();
        let known = Known {
            own: self.own_rows(contribution),
            holdout: None,
            earlier: before.map(|one| demanded.subject_of(one)).collect(),
        };
        let jointly = Jointly {
            subject: &subject,
            known: &known,
            part: Part::new(&subject, &known),
            taken: self.taken(&subject, joint, owner),
        };
        let nothing = Known::default();
        let mut findings = Vec::new();
        for (name, share) in gate.limits() {
            // The names of a study are those of attacks.
            let Some(one) = Attack::named(name) else {
                continue;
            };
            let limit = Some(share.number());
            let needs_earlier = matches!(one, Attack::TwoReleases | Attack::Newcomers);
            let finding = match one {
                _ if needs_earlier && agreed.is_none() => not_tried(one, ALL_RELEASES),
                _ if needs_earlier && known.earlier.is_empty() => {
                    found_nothing(one, "no run of the study before this one has a release")
                }
                Attack::Ends => jointly.ends(party, limit).await?,
                Attack::OneSite => jointly.one_site(party, limit).await?,
                Attack::TwoSites => jointly.two_sites(party, share).await?,
                Attack::TwoReleases => jointly.two_releases(party, limit).await?,
                _ => {
                    let limits = Limits::default().with(one, share.number());
                    let known = if needs_earlier { &known } else { &nothing };
                    attack(one, &subject, known, &limits)
                }
            };
            findings.push((share, finding));
        }
        Ok(Gated { findings })
    }

    /// This site's rows, as attacks take them; nothing where sites hold the same people.
    fn own_rows(&self, contribution: &Contribution) -> Option<Rows> {
        let Contribution::People(columns) = contribution else {
            return None;
        };
        let of_role = |role| -> Vec<Vec<u32>> {
            let positions = self.study.schema.with_role(role).into_iter();
            let coded = positions.filter_map(|position| columns[position].as_ref());
            coded.map(|codes| codes.iter().collect()).collect()
        };
        Some(Rows::of_codes(
            of_role(Role::Quasi),
            of_role(Role::Sensitive),
            columns.counts.clone(),
        ))
    }

    /// For each site whose rows are here, its records of each class of the release.
    fn taken(&self, subject: &Subject<'_>, joint: &Joint, owner: Owner<'_>) -> Vec<Vec<u64>> {
        let (Some(partition), Some(written)) = (&joint.partition, &joint.opened.classes) else {
            return Vec::new();
        };
        let sites = match owner {
            Owner::Site(_) => 1,
            Owner::Column(owners) => owners.iter().max().map_or(0, |most| *most as usize + 1),
        };
        let places = classes_by_cells(subject);
        let mut taken = vec![vec![0; sizes(subject).len()]; sites];
        for (class, (cells, _)) in partition.classes.iter().zip(written) {
            let cells: Vec<&Cell> = cells.iter().collect();
            // A release has every class of its run; of one that has not, nobody knows whose records are where.
            let Some(place) = places.get(&cells) else {
                return Vec::new();
            };
            for (row, records) in partition.counted_rows(class) {
                let site = match owner {
                    Owner::Site(_) => 0,
                    Owner::Column(owners) => owners[row as usize] as usize,
                };
                taken[site][*place] += records;
            }
        }
        taken
    }
}

/// The releases of earlier runs that every site has, if the sites agree on all of them.
async fn agreed<'e>(
    party: &mut Party,
    earlier: &'e [Earlier],
) -> Result<Option<Vec<&'e Release>>, hedgerow_protocols::Error> {
    let has = earlier.iter().map(|one| matches!(one, Earlier::Has(_)));
    let lacks = earlier.iter().map(|one| matches!(one, Earlier::Lacking));
    let bits: Vec<bool> = has.chain(lacks).collect();
    let all = have_all(party, &bits).await?;
    let (all_have, all_lack) = all.split_at(earlier.len());
    let mut found = Vec::new();
    for (one, said) in earlier.iter().zip(all_have.iter().zip(all_lack)) {
        match (one, said) {
            (Earlier::Has(release), (true, _)) => found.push(release),
            (Earlier::Lacking, (_, true)) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(found))
}

impl Gated {
    /// Refuses a release to which more falls than a limit allows, or of which that cannot be told.
    pub(crate) fn see(&self) -> Result<(), Error> {
        let failed = self.findings.iter();
        let failed = failed.filter(|(_, finding)| !finding.verdict.passes());
        let reasons: Vec<String> = failed.map(|(_, finding)| reason(finding)).collect();
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(Error::HeldBack { reasons }),
        }
    }

    /// The attacks as the manifest tells them.
    pub(crate) fn tried(&self) -> Vec<TriedAttack> {
        let tried = |(limit, finding): &(Share, Finding)| {
            let measured = finding.measured.as_ref();
            let control = measured.and_then(|found| found.control.as_ref());
            TriedAttack {
                attack: finding.attack.name().to_owned(),
                verdict: match finding.verdict {
                    Verdict::Nothing => String::from("nothing"),
                    _ => String::from("holds"),
                },
                limit: limit.number(),
                share: measured.map(share),
                control: control.map(|control| rounded(control.share)),
            }
        };
        self.findings.iter().map(tried).collect()
    }
}

impl TriedAttack {
    /// Whether this is what a study's limit asks for: no more falls, beyond the control, than the limit allows.
    pub(crate) fn keeps(&self, attack: &str, limit: Share) -> bool {
        let (share, control) = (self.share.unwrap_or(0.0), self.control.unwrap_or(0.0));
        let are_shares = [share, control].iter().all(|one| (0.0..=1.0).contains(one));
        // Shares are rounded up, and controls to the nearest millionth.
        let most = limit.number() + control + 2.0 / f64::from(Share::MILLION);
        self.attack == attack
            && self.is_passed()
            && self.limit == limit.number()
            && are_shares
            && share <= most
    }

    /// Whether the verdict speaks for the release.
    pub(crate) fn is_passed(&self) -> bool {
        matches!(self.verdict.as_str(), "holds" | "nothing")
    }

    /// The attack, its limit, what falls, and the verdict: a row of a table.
    pub(crate) fn row(&self) -> [String; 4] {
        let falls = match (self.share, self.control) {
            (None, _) => String::new(),
            (Some(share), None) => percent(share),
            (Some(share), Some(control)) => {
                format!("{} ({} anyway)", percent(share), percent(control))
            }
        };
        let verdict = match self.verdict.as_str() {
            "nothing" => "nothing to attack",
            verdict => verdict,
        };
        // A manifest may have been written by anybody.
        [
            format!("attack {}", one_line(&self.attack)),
            format!("at most {}", percent(self.limit)),
            falls,
            one_line(verdict).into_owned(),
        ]
    }
}

/// The share at risk, rounded up.
fn share(found: &Measured) -> f64 {
    let million = u128::from(Share::MILLION);
    let millionths = (u128::from(found.at_risk) * million).div_ceil(u128::from(found.of.max(1)));
    millionths as f64 / million as f64
}

fn rounded(share: f64) -> f64 {
    let million = f64::from(Share::MILLION);
    (share * million).round() / million
}

/// Why the gate holds a release back: the attack, what falls and what may, and what setting would help.
fn reason(finding: &Finding) -> String {
    let name = finding.attack.name();
    let because = finding.because.as_deref().unwrap_or_default();
    let Some(found) = &finding.measured else {
        return format!("{name}: {because}");
    };
    let limit = percent(found.limit.unwrap_or_default());
    let allowed = match &found.control {
        None => format!("the study's [gate] allows {limit}"),
        Some(control) => format!(
            "the study's [gate] allows {limit} more than the {} that fall anyway ({})",
            percent(control.share),
            control.on
        ),
    };
    let told = match (finding.verdict, because) {
        (Verdict::Falls, _) => String::new(),
        (_, "") => String::from("; too few records to tell"),
        (_, because) => format!("; {because}"),
    };
    format!(
        "{name}: {}: {}; {allowed}{told}\n  hint: {}",
        found.falls,
        percent(share(found)),
        finding.attack.helps()
    )
}
