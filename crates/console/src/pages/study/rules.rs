//! What this site's own rules refuse of the study, before anything is signed.

use hedgerow::words::count;
use hedgerow::{Change, SiteCheck, SiteFault, SiteLine};
use maud::{Markup, html};

use super::again;
use crate::guard::Visit;
use crate::html::parts::{Tone, badge, told};
use crate::jobs::{Found, Job};

/// The section with all that a run would refuse at this site's gate.
pub(super) fn section(job: &Job, visit: &Visit) -> Markup {
    html! {
        section aria-labelledby="rules" {
            h2 #rules { "What this site’s rules say" }
            (outcome(job))
            (again(visit))
        }
    }
}

/// What came of the check.
pub(crate) fn outcome(job: &Job) -> Markup {
    html! {
        @match job {
            Job::Running => p { (badge(Tone::Wait, "being looked at")) " The rules, the key, the addresses, the rows and the earlier runs are held against the study. Nothing is written or sent." },
            Job::Failed(why) => div.said.bad { (told(why)) },
            Job::Done(found) => @if let Found::Check(check) = &**found { (checked(check)) },
        }
    }
}

fn checked(check: &SiteCheck) -> Markup {
    html! {
        p {
            @if check.accepted { (badge(Tone::Good, "accepted")) " This site would take part in a run." }
            @else { (badge(Tone::Bad, "refused")) " This site would not take part in a run, for " (count(check.faults.len() as u64, "reason", "reasons")) "." }
            @if let Some(records) = check.records { " It would bring " (count(records, "record", "records")) "." }
        }
        @if !check.faults.is_empty() {
            ul.faults { @for fault in &check.faults { (told_fault(fault)) } }
            p.quiet { "The lines are in this site’s file, which the privacy officer changes: no page writes its rules." }
        }
        @for note in &check.notes { p.quiet { (note) } }
    }
}

fn told_fault(fault: &SiteFault) -> Markup {
    html! {
        li {
            p { strong { code { (fault.about) } } }
            (told(fault.without_values()))
            @if !fault.lines.is_empty() {
                ul { @for line in &fault.lines { li { (change(line)) ": " code { (line.text) } } } }
            }
        }
    }
}

/// What is to be done with a line of the site's file.
fn change(line: &SiteLine) -> String {
    let what = match (line.change, line.line) {
        (Change::Uncomment, _) => "take the # away",
        (Change::Rewrite, _) => "write",
        (Change::Add, Some(_)) => "add to the list",
        (Change::Add, None) => "add to [accept]",
        (Change::Remove, _) => "take away",
        _ => "set",
    };
    match (line.line, line.last) {
        (Some(first), Some(last)) if line.change != Change::Add => {
            format!("lines {first} to {last}: {what}")
        }
        (Some(first), _) => format!("line {first}: {what}"),
        (None, _) => what.to_owned(),
    }
}
