//! What was found out about a release: the verifier's verdict, and what attacks bring down.

use hedgerow::attacks::{Finding, Verdict as Outcome};
use hedgerow::privacy::verify::ModelVerdict;
use hedgerow::words::{count, percent, thousands};
use hedgerow::{Gated, Verdict};
use maud::{Markup, html};

use crate::html::parts::{Tone, badge, told};
use crate::jobs::{Found, Job};

/// Lines of the verifier's text.
const LINES: usize = 200;

/// The verdict of the verifier, who trusts nothing about how the release was made.
pub(super) fn verdict(job: &Job) -> Markup {
    html! {
        section aria-labelledby="verdict" {
            h2 #verdict { "Verdict" }
            @match job {
                Job::Running => p { (badge(Tone::Wait, "being checked")) " Every class of the release is counted anew." },
                Job::Failed(why) => div.said.bad { (told(why)) },
                Job::Done(found) => @if let Found::Verdict { verdict, is_by_study } = &**found { (models(verdict, *is_by_study)) },
            }
        }
    }
}

fn models(verdict: &Verdict, is_by_study: bool) -> Markup {
    let found = &verdict.found;
    let head = match found.holds {
        Some(true) if is_by_study => "holds",
        Some(true) => "holds by its own word",
        Some(false) if found.not_shown => "not shown",
        Some(false) => "does not hold",
        None => "nothing is required",
    };
    let check = verdict.manifest.as_ref();
    html! {
        p {
            (badge(Tone::of(verdict.holds()), head)) " "
            (count(found.records, "record", "records")) " in " (count(found.classes, "class", "classes")) "."
            @if !is_by_study { " The release is not of the study that this site has now, so keys and demands are what the folder says." }
        }
        @if let Some(check) = check {
            @for finding in &check.findings { div.said.bad { (told(finding)) } }
        }
        div.scroll tabindex="0" role="region" aria-labelledby="verdict" {
            table {
                thead { tr { th scope="col" { "Model" } th.number scope="col" { "Required" } th.number scope="col" { "Achieved" } th scope="col" { "Result" } } }
                tbody {
                    @for (name, model) in found.models.named() { (row(name, model)) }
                    @for demand in check.iter().flat_map(|check| &check.attested) {
                        tr { th scope="row" { (demand.words) } td.number {} td.number { "signed by all sites" } td { (badge(Tone::Good, "attested")) } }
                    }
                    @for demand in check.iter().flat_map(|check| &check.unseen) {
                        tr { th scope="row" { (demand.words) } td.number {} td.number { "cannot be seen in a release" } td { (badge(Tone::Wait, "not shown")) } }
                    }
                }
            }
        }
        p.quiet {
            "The person most at risk is found with a chance of " (percent(verdict.risk.prosecutor.max))
            ", an average person of " (percent(verdict.risk.prosecutor.mean)) "."
        }
        @if let Some(check) = check.filter(|check| !check.signatures.is_empty()) {
            p.quiet {
                @if check.signed { "Every site of the study has signed, with the keys of the study." }
                @else { "Signatures: " @for one in &check.signatures { (one.site) " " (one.standing) "; " } }
            }
        }
        details #text {
            summary { "As hedgerow verify says it" }
            pre tabindex="0" { (shortened(&verdict.to_string())) }
        }
    }
}

/// The first lines of a long text.
fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    match lines.len() {
        all if all > LINES => format!(
            "{}\n… and {} more lines",
            lines[..LINES].join("\n"),
            all - LINES
        ),
        _ => text.to_owned(),
    }
}

fn row(name: &str, model: &ModelVerdict) -> Markup {
    let required = model.required.map(|required| required.to_string());
    html! {
        tr {
            th scope="row" { (title(name)) }
            td.number { (required.unwrap_or_default()) }
            td.number { (model.achieved.to_string()) }
            td { @match model.holds {
                Some(true) => (badge(Tone::Good, "holds")),
                Some(false) if model.not_shown => (badge(Tone::Wait, "not shown")),
                Some(false) => (badge(Tone::Bad, "does not hold")),
                None => span.quiet { "measured" },
            } }
        }
    }
}

fn title(name: &str) -> &str {
    match name {
        "k" => "k-anonymity",
        "alpha" => "(α,k)-anonymity",
        "l_distinct" => "distinct l-diversity",
        "l_entropy" => "entropy l-diversity",
        "l_frequency" => "frequency l-diversity",
        "l_recursive" => "recursive (c,l)-diversity",
        "t" => "t-closeness",
        "beta_basic" => "basic β-likeness",
        "beta_enhanced" => "enhanced β-likeness",
        "delta" => "δ-disclosure",
        "delta_present" => "δ-disclosure of present values",
        "site_diversity" => "site diversity",
        "site_entropy" => "entropy site diversity",
        "site_recursive" => "recursive site diversity",
        "m" => "m-privacy",
        other => other,
    }
}

/// What attacks bring down.
pub(super) fn gate(job: Option<&Job>) -> Markup {
    html! {
        section aria-labelledby="gate" {
            h2 #gate { "Gate" }
            @match job {
                None => p.quiet { "The known attacks were not tried from this page yet." },
                Some(Job::Running) => p { (badge(Tone::Wait, "being attacked")) " This may take a while." },
                Some(Job::Failed(why)) => div.said.bad { (told(why)) },
                Some(Job::Done(found)) => @if let Found::Gate(gated) = &**found { (attacks(gated)) },
            }
        }
    }
}

fn attacks(gated: &Gated) -> Markup {
    let fallen = gated
        .attacks
        .iter()
        .filter(|one| one.verdict == Outcome::Falls)
        .count();
    let open = gated
        .attacks
        .iter()
        .filter(|one| !one.verdict.passes())
        .count()
        - fallen;
    html! {
        p {
            @if fallen > 0 { (badge(Tone::Bad, "falls")) " " (count(fallen as u64, "attack brings", "attacks bring")) " down more than the limit allows." }
            @else if open > 0 { (badge(Tone::Wait, "not all tried")) " No attack that was tried brings down more than its limit allows; " (count(open as u64, "attack", "attacks")) " could not be tried or cannot tell." }
            @else { (badge(Tone::Good, "holds")) " Every attack was tried, and none brings down more than its limit allows." }
        }
        div.scroll tabindex="0" role="region" aria-labelledby="gate" {
            table.small.wide {
                thead { tr { th scope="col" { "Attack" } th scope="col" { "Attacker" } th.number scope="col" { "At risk" } th scope="col" { "Result" } } }
                tbody { @for finding in &gated.attacks { (attack(finding)) } }
            }
        }
    }
}

fn attack(finding: &Finding) -> Markup {
    let tone = match finding.verdict {
        Outcome::Falls => Tone::Bad,
        Outcome::CannotTell | Outcome::NotTried => Tone::Wait,
        Outcome::Holds | Outcome::Nothing => Tone::Good,
        Outcome::Told => Tone::Plain,
    };
    let words = finding.verdict.words().to_lowercase();
    html! {
        tr {
            th scope="row" { (finding.attack.name()) }
            td { (finding.attacker) @if let Some(because) = &finding.because { br; small { (because) } } }
            td.number { @if let Some(measured) = &finding.measured {
                (thousands(measured.at_risk)) " of " (thousands(measured.of)) br; small { (measured.falls) }
            } }
            td { (badge(tone, &words)) }
        }
    }
}
