//! What a report says first: whether the release holds, in which colour, and why.

use hedgerow_data::quoted_list;
use hedgerow_data::study::PARQUET_FILE;

use super::facts::{Demand, Facts};
use crate::study::written::Said;
use crate::verify::text;

/// What is to be said first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Headline {
    /// All that is required holds.
    Holds,
    /// All that is required holds, and still a reader may learn what nobody meant to tell.
    Warned,
    /// Everything visible holds; models that speak of sites cannot be seen, and nobody signed for them.
    Unseen,
    /// Something that is required is neither shown to hold nor to fail.
    NotShown,
    /// Something does not hold.
    Fails,
    /// The study requires nothing.
    Unasked,
}

impl Headline {
    /// What is to be said first about a release.
    pub(super) fn of(facts: &Facts) -> Self {
        let found = &facts.report.found;
        let manifest = facts.report.manifest.as_ref();
        let is_as_said = manifest.is_none_or(|check| check.holds);
        let fails = |demand: &Demand| demand.holds == Some(false);
        match found.holds {
            None => Self::Unasked,
            Some(true) if facts.demands().iter().any(fails) => Self::Unseen,
            Some(true) if !warnings(facts).is_empty() => Self::Warned,
            Some(true) => Self::Holds,
            Some(false) if is_as_said && found.not_shown => Self::NotShown,
            Some(false) => Self::Fails,
        }
    }

    /// The words; a virtual database is no release.
    pub(super) fn words(self, is_virtual: bool) -> &'static str {
        match self {
            Self::Holds if is_virtual => "The virtual database holds.",
            Self::Holds => "The release holds.",
            Self::Warned if is_virtual => "The virtual database holds, with a warning.",
            Self::Warned => "The release holds, with a warning.",
            Self::Unseen if is_virtual => "The virtual database holds as far as it is shown.",
            Self::Unseen => "The release holds as far as it can be seen.",
            Self::NotShown => "It is not shown that the release holds.",
            Self::Fails => "The release does not hold.",
            Self::Unasked => "The study requires nothing.",
        }
    }

    /// The colour, as the style sheet names it.
    pub(super) fn colour(self) -> &'static str {
        match self {
            Self::Holds => "good",
            Self::Warned | Self::Unseen | Self::Unasked => "warn",
            Self::NotShown | Self::Fails => "bad",
        }
    }
}

/// What a requirement does not rule out, and a privacy officer should see before the release goes out: classes
/// that one sensitive value fills, columns that look like identifiers, rows of groups that are printed like few
/// others, and cells that tell who is in the table.
fn warnings(facts: &Facts) -> Vec<String> {
    let dominated = facts.contents.dominated.iter();
    let mut said: Vec<String> = dominated.map(|found| found.words()).collect();
    let suspects = facts.report.found.suspects.iter();
    said.extend(suspects.map(|suspect| {
        let words = suspect.to_string();
        format!("Warning: {}.", words.lines().next().unwrap_or_default())
    }));
    let printed = text::printed(&facts.report);
    said.extend(printed.map(|words| format!("Warning: {words}.")));
    let told = told(facts).filter(|told| told.is_warning);
    said.extend(told.map(|told| format!("Warning: {}.", told.words)));
    said
}

/// What is said of columns whose cells tell more than classes have in common.
fn told(facts: &Facts) -> impl Iterator<Item = Said> {
    let telling = facts.telling.iter();
    telling.map(|one| one.said(facts.gate.as_ref()))
}

/// The reasons for what is said first.
pub(super) fn reasons(facts: &Facts) -> Vec<String> {
    let demands = facts.demands();
    let names = |wanted: &dyn Fn(&&Demand) -> bool| -> String {
        let names: Vec<&str> = demands
            .iter()
            .filter(wanted)
            .map(|demand| demand.name.as_str())
            .collect();
        names.join(", ")
    };
    let found = &facts.report.found;
    let mut said = Vec::new();
    for name in &found.identifiers {
        said.push(format!(
            "Column `{name}` is an identifier: nobody in this table is anonymous."
        ));
    }
    if !found.unexplained.is_empty() {
        said.push(format!(
            "Nobody gave {} a role, so that what is said of people there is not known.",
            quoted_list(&found.unexplained)
        ));
    }
    for refusal in found.other.refusals() {
        let refusal = refusal.to_string();
        let what = refusal.lines().next().unwrap_or_default();
        said.push(format!("The study does not allow this: {what}."));
    }
    said.extend(warnings(facts));
    let harmless = told(facts).filter(|told| !told.is_warning);
    said.extend(harmless.map(|told| format!("In the release, {}.", told.words)));
    for file in &found.disordered {
        said.push(format!(
            "{file}: rows of a group do not stand in the order of what is written, so their order may say whose they are."
        ));
    }
    for contradiction in &found.contradictions {
        said.push(format!("{PARQUET_FILE}: {contradiction}."));
    }
    let failing = names(&|demand| demand.holds == Some(false) && demand.is_seen);
    if !failing.is_empty() {
        said.push(format!("It fails in {failing}."));
    }
    let unseen = names(&|demand| demand.holds == Some(false) && !demand.is_seen);
    let manifest = facts.report.manifest.as_ref();
    // What sites signed for is of no use where the files are not what they signed.
    if !unseen.is_empty() && manifest.is_none_or(|check| check.findings.is_empty()) {
        said.push(match facts.is_virtual {
            true => format!(
                "Nothing is published: each site keeps its own rows, and this folder has what all sites know of them, classes with their sizes. That the sites satisfied {unseen} was decided by their protocol during the run and is not shown here."
            ),
            false => format!(
                "A release does not show sites, and no sites have signed for {unseen}."
            ),
        });
    }
    if matches!(Headline::of(facts), Headline::Holds | Headline::Warned) {
        let held = names(&|demand| demand.holds == Some(true) && demand.is_seen);
        said.push(format!("Every class satisfies {held}."));
        let attested = names(&|demand| demand.holds == Some(true) && !demand.is_seen);
        if !attested.is_empty() {
            said.push(format!(
                "A release does not show sites; all sites attested to {attested} by signing."
            ));
        }
    }
    said.push(String::from(match manifest {
        None => "The folder has no manifest: nobody has signed this release.",
        Some(check) if !check.findings.is_empty() => {
            "The files are not what the manifest says, or not every site has signed it:"
        }
        Some(check) if check.self_described => {
            "The files are what the manifest says. No study was given, so columns and requirement are the word of whoever published the release, and who signed is not shown."
        }
        Some(check) if check.signed => {
            "All sites of the study signed it, and the files are what they signed."
        }
        Some(_) => {
            "The files are what the manifest says. Nobody has signed it: it was made in one place."
        }
    }));
    said
}
