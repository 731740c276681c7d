//! What an attack found: records at risk, the control, the interval, the verdict, the worst classes.

use serde::Serialize;

use crate::attack::Attack;
use crate::interval::{Interval, clopper_pearson};

/// What became of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// More falls than the limit allows.
    Falls,
    /// No more falls than the limit allows.
    Holds,
    /// The interval straddles the limit.
    CannotTell,
    /// Input is missing.
    NotTried,
    /// There is nothing in the release that the attack could use.
    Nothing,
    /// The attack has no limit: what falls is told.
    Told,
}

impl Verdict {
    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Falls => "FALLS",
            Self::Holds => "holds",
            Self::CannotTell => "cannot tell",
            Self::NotTried => "not tried",
            Self::Nothing => "nothing to attack",
            Self::Told => "told",
        }
    }

    /// Whether the verdict speaks for a release.
    pub fn passes(self) -> bool {
        matches!(self, Self::Holds | Self::Nothing | Self::Told)
    }
}

/// One attack and what came of it. The JSON keys are a contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The attack.
    pub attack: Attack,
    /// Who attacks, and with what.
    pub attacker: &'static str,
    /// What became of it.
    pub verdict: Verdict,
    /// What setting makes the attack weaker, where it falls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub helps: Option<&'static str>,
    /// Why the attack was not tried, or has nothing to attack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// What was counted.
    #[serde(flatten)]
    pub measured: Option<Measured>,
}

/// What an attack counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Records at risk.
    pub at_risk: u64,
    /// Records that were attacked.
    pub of: u64,
    /// The share at risk.
    pub share: f64,
    /// Where the share lies: the share itself where all records were counted, a 95 % interval where they
    /// are a sample.
    pub interval: Interval,
    /// The same attack where there is nothing to learn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// The share beyond the control.
    pub advantage: Interval,
    /// The share beyond the control that may be at risk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// What is at risk, in words.
    pub falls: String,
    /// The classes with most records at risk.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worst: Vec<Worst>,
}

/// The same attack where there is nothing to learn: what the population teaches anyway.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Control {
    /// Where the attack was tried.
    pub on: &'static str,
    /// The share that is at risk there.
    pub share: f64,
    /// Where that share lies.
    pub interval: Interval,
}

/// A class with records at risk, as the release writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Worst {
    /// The class's quasi-identifiers as written, `name = cell`.
    pub class: Vec<String>,
    /// Records of the class.
    pub records: u64,
    /// Records of the class at risk.
    pub at_risk: u64,
}

impl Control {
    /// A share that is expected by computation.
    pub(crate) fn expected(on: &'static str, share: f64) -> Self {
        Self {
            on,
            share,
            interval: Interval::exact(share),
        }
    }

    /// A share that was counted on a sample.
    pub(crate) fn counted(on: &'static str, found: u64, tried: u64) -> Self {
        Self {
            on,
            share: share(found, tried),
            interval: clopper_pearson(found, tried),
        }
    }
}

/// What is counted, before a limit is held against it.
pub(crate) struct Count {
    pub(crate) at_risk: u64,
    pub(crate) of: u64,
    /// Whether the records that were attacked are a sample of those the verdict is about.
    pub(crate) is_sample: bool,
    pub(crate) falls: String,
}

impl Finding {
    /// What was counted, held against a limit.
    pub(crate) fn of(
        attack: Attack,
        count: Count,
        control: Option<Control>,
        limit: Option<f64>,
        worst: Vec<Worst>,
    ) -> Self {
        let interval = match count.is_sample {
            true => clopper_pearson(count.at_risk, count.of),
            false => Interval::exact(share(count.at_risk, count.of)),
        };
        Self::within(attack, count, interval, control, limit, worst)
    }

    /// The same where the share lies in this interval.
    pub(crate) fn within(
        attack: Attack,
        count: Count,
        interval: Interval,
        control: Option<Control>,
        limit: Option<f64>,
        worst: Vec<Worst>,
    ) -> Self {
        let part = share(count.at_risk, count.of);
        let nothing = Interval::exact(0.0);
        let advantage = interval.without(control.as_ref().map_or(nothing, |one| one.interval));
        let verdict = match limit {
            None => Verdict::Told,
            Some(limit) if advantage.low > limit => Verdict::Falls,
            Some(limit) if advantage.high <= limit => Verdict::Holds,
            Some(_) => Verdict::CannotTell,
        };
        Self {
            attack,
            attacker: attack.attacker(),
            verdict,
            helps: (verdict == Verdict::Falls).then(|| attack.helps()),
            because: None,
            measured: Some(Measured {
                at_risk: count.at_risk,
                of: count.of,
                share: part,
                interval,
                control,
                advantage,
                limit,
                falls: count.falls,
                worst,
            }),
        }
    }

    /// An attack whose input is missing.
    pub(crate) fn not_tried(attack: Attack, needs: &str) -> Self {
        Self::without(attack, Verdict::NotTried, format!("needs {needs}"))
    }

    /// An attack that has nothing to attack in this release.
    pub(crate) fn nothing(attack: Attack, because: &str) -> Self {
        Self::without(attack, Verdict::Nothing, because.to_owned())
    }

    /// The same finding with no better verdict than this one, and the reason.
    pub(crate) fn at_best(mut self, verdict: Verdict, because: &str) -> Self {
        self.verdict = verdict;
        self.helps = None;
        self.because = Some(because.to_owned());
        self
    }

    /// The one of two findings of an attack that speaks more against the release: what falls of one attribute
    /// is not made good by another of which more falls to anybody.
    pub(crate) fn worse(self, other: Self) -> Self {
        let weight = |one: &Self| {
            let severity = match one.verdict {
                Verdict::Falls => 2,
                Verdict::CannotTell => 1,
                _ => 0,
            };
            let advantage = one.measured.as_ref().map(|found| found.advantage.high);
            (severity, advantage.unwrap_or(f64::NEG_INFINITY))
        };
        let (own, others) = (weight(&self), weight(&other));
        let is_worse = others
            .0
            .cmp(&own.0)
            .then(others.1.total_cmp(&own.1))
            .is_gt();
        if is_worse { other } else { self }
    }

    fn without(attack: Attack, verdict: Verdict, because: String) -> Self {
        Self {
            attack,
            attacker: attack.attacker(),
            verdict,
            helps: None,
            because: Some(because),
            measured: None,
        }
    }
}

/// A part of a whole; nothing of nothing is nothing.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        _ => part as f64 / whole as f64,
    }
}
