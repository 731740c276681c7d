//! The gate in a run: the attacks that the study's `[gate]` limits are tried on the release before any site
//! signs it. A release to which more falls than a limit allows is signed by nobody and published nowhere.

use hedgerow_data::Release;
use hedgerow_data::study::Share;
use hedgerow_gate::{Attack, Finding, Known, Limits, Measured, Subject, Verdict, attack};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::gate::Demanded;
use crate::study::ready::Ready;
use crate::words::{one_line, percent};

/// An attack that a run tried on its release, as the manifest tells it. Shares have six digits, so that all
/// sites sign the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
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
pub(crate) struct Gated {
    /// Each attack that the study limits, with its limit.
    findings: Vec<(Share, Finding)>,
}

impl Ready {
    /// Tries the attacks that the study limits on a release.
    pub(crate) fn gate(&self, release: &Release) -> Gated {
        let Some(gate) = &self.study.gate else {
            return Gated {
                findings: Vec::new(),
            };
        };
        let demanded = Demanded::of_requirement(&self.requirement, &self.study.schema);
        let subject = demanded.subject_of(release);
        let known = Known::default();
        let tried = gate.limits().filter_map(|(name, limit)| {
            // The names of a study are those of attacks.
            let one = Attack::named(name)?;
            let limits = Limits::default().with(one, limit.number());
            Some((limit, attack(one, &subject, &known, &limits)))
        });
        Gated {
            findings: tried.collect(),
        }
    }
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
    pub(crate) fn tried(&self) -> Vec<Tried> {
        let tried = |(limit, finding): &(Share, Finding)| {
            let measured = finding.measured.as_ref();
            let control = measured.and_then(|found| found.control.as_ref());
            Tried {
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

impl Tried {
    /// Whether this is what a study's limit asks for.
    pub(crate) fn keeps(&self, attack: &str, limit: Share) -> bool {
        self.attack == attack && self.is_passed() && self.limit == limit.number()
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
            one_line(verdict),
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
