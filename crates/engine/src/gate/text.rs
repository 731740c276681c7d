//! What attacks found, for people.

use hedgerow_gate::{Finding, Verdict};

use super::Gated;
use crate::words::{aligned, count, percent, thousands};

/// The table of attacks, and what is to be said of those that fall.
pub(crate) fn text(gated: &Gated) -> String {
    let mut text = format!("{}: {}\n", headline(gated), gated.release.display());
    let heads = [
        "attack",
        "attacker",
        "what falls",
        "share",
        "control",
        "limit",
        "verdict",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    rows.extend(gated.attacks.iter().map(row));
    text.push_str(&aligned(&rows));
    for finding in gated
        .attacks
        .iter()
        .filter(|one| one.verdict == Verdict::Falls)
    {
        text.push_str(&fallen(finding));
    }
    if !gated.skipped.is_empty() {
        let names: Vec<&str> = gated.skipped.iter().map(|one| one.name()).collect();
        text.push_str(&format!("left out: {}\n", names.join(", ")));
    }
    text
}

/// The verdict on all attacks.
pub(crate) fn headline(gated: &Gated) -> String {
    let ended = |verdict, words: &str| match gated.ended(verdict) {
        0 => None,
        number => Some(format!(
            "{} {words}",
            count(number as u64, "attack", "attacks")
        )),
    };
    let parts = [
        ended(Verdict::Falls, "above the limit"),
        ended(Verdict::CannotTell, "with too few records to tell"),
        ended(Verdict::NotTried, "not tried"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match (gated.holds, gated.ended(Verdict::Falls)) {
        (true, _) => String::from("HOLDS"),
        (false, 0) => format!("NOT SHOWN: {}", parts.join(", ")),
        (false, _) => format!("FALLS: {}", parts.join(", ")),
    }
}

/// The limit of an attack, in words.
pub(crate) fn limit(finding: &Finding) -> String {
    let limit = finding.measured.as_ref().and_then(|found| found.limit);
    limit.map_or_else(String::new, percent)
}

/// The control of an attack, in words.
pub(crate) fn control(finding: &Finding) -> String {
    let found = finding.measured.as_ref();
    let control = found.and_then(|found| found.control.as_ref());
    control.map_or_else(String::new, |control| percent(control.share))
}

fn row(finding: &Finding) -> Vec<String> {
    let (falls, share) = match &finding.measured {
        Some(found) => (found.falls.clone(), percent(found.share)),
        None => (finding.because.clone().unwrap_or_default(), String::new()),
    };
    let verdict = match (&finding.because, finding.measured.is_some()) {
        (Some(because), true) => format!("{}: {because}", finding.verdict.words()),
        _ => finding.verdict.words().to_owned(),
    };
    vec![
        finding.attack.name().to_owned(),
        finding.attacker.to_owned(),
        falls,
        share,
        control(finding),
        limit(finding),
        verdict,
    ]
}

/// The worst class of an attack that falls, and what would help.
fn fallen(finding: &Finding) -> String {
    let worst = finding
        .measured
        .iter()
        .flat_map(|found| &found.worst)
        .next();
    let worst = worst.map_or_else(String::new, |worst| {
        format!(
            "; worst class: {}; {} of {} at risk",
            worst.class.join(", "),
            thousands(worst.at_risk),
            count(worst.records, "record", "records")
        )
    });
    let helps = finding.helps.unwrap_or_default();
    format!("{}{worst}\nhint: {helps}\n", finding.attack.name())
}
