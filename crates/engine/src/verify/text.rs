//! The verifier's answer as a person reads it: the verdict first.

use std::path::Path;

use hedgerow_privacy::verify::{Measure, ModelVerdict, WorstClass};

use super::check::{Check, Tampered};
use super::{AskedBy, Verdict};
use crate::release::manifest::FILE;
use crate::words::{aligned, cells as words, count, one_line, percent, singled_out, thousands};

/// What k counts where only a group joins the tables of a release.
pub(crate) const OF_GROUPS: &str = " of groups";

pub(super) fn text(path: &Path, report: &Verdict) -> String {
    let verdict = &report.found;
    let is_own_word = report.manifest.iter().any(|check| check.self_described);
    let is_unseen = report.manifest.iter().any(|check| !check.unseen.is_empty());
    let mut text = String::from(match verdict.holds {
        Some(true) if is_own_word && is_unseen => "HOLDS BY ITS OWN WORD, AS FAR AS IT CAN BE SEEN",
        Some(true) if is_own_word => "HOLDS BY ITS OWN WORD",
        Some(true) if is_unseen => "HOLDS AS FAR AS IT CAN BE SEEN",
        Some(true) => "HOLDS",
        Some(false) if verdict.not_shown => "NOT SHOWN",
        Some(false) => "DOES NOT HOLD",
        None => "no requirement given",
    });
    text.push_str(&format!(
        ": {}, {} in {}\n\n",
        path.display(),
        count(verdict.records, "record", "records"),
        count(verdict.classes, "class", "classes"),
    ));

    if let Some(asked) = &report.requirement
        && asked.from == AskedBy::Manifest
    {
        text.push_str(&format!(
            "checked: {}, as {FILE} states it, which is the word of whoever published the release\nhint: give --study to hold the release against the study that its sites signed\n\n",
            one_line(&asked.words.join(", "))
        ));
        text.push_str(&aligned(&report.roles));
        text.push('\n');
    }
    // Findings come before measured numbers.
    let findings = report.manifest.as_ref();
    let findings = findings.filter(|check| !check.findings.is_empty());
    if let Some(check) = findings {
        text.push_str(&manifest(check));
        text.push('\n');
    }
    for name in &verdict.identifiers {
        text.push_str(&format!(
            "column `{name}` is an identifier: nobody in this table is anonymous\nhint: remove the column and ask again\n\n"
        ));
    }
    if !verdict.unexplained.is_empty() {
        text.push_str(&format!(
            "{} no role: what is said of people there is not known, so nothing is shown\nhint: give every column a role, or name in --ignore those that say nothing of anybody\n\n",
            columns_have(&verdict.unexplained)
        ));
    }
    for refusal in verdict.other.refusals() {
        text.push_str(&format!("{refusal}\n\n"));
    }
    for suspect in &verdict.suspects {
        text.push_str(&format!("warning: {suspect}\n\n"));
    }
    for file in &verdict.disordered {
        text.push_str(&format!(
            "{file}: rows of a group do not stand in the order of what is written: their order may say whose they are\n\n"
        ));
    }
    for contradiction in &verdict.contradictions {
        text.push_str(&format!(
            "{}: {}\n\n",
            path.display(),
            one_line(contradiction)
        ));
    }
    let named = verdict.models.named();
    let mut rows = vec![words(["model", "required", "achieved", ""])];
    for (name, model) in &named {
        let mut row = row(name, model);
        if *name == "k" && verdict.models.k_printed.is_some() {
            row[0].push_str(OF_GROUPS);
        }
        rows.push(row);
        if model.attributes.len() > 1 {
            for attribute in &model.attributes {
                rows.push(words([
                    &format!("  {}", attribute.name),
                    "",
                    &attribute.achieved.to_string(),
                    holds(attribute.holds),
                ]));
            }
        }
    }
    for model in report.manifest.iter().flat_map(|check| &check.attested) {
        rows.push(words([&model.words, "", "attested by all sites", "signed"]));
    }
    for tried in report.manifest.iter().flat_map(|check| &check.gate) {
        rows.push(tried.row().to_vec());
    }
    for model in report.manifest.iter().flat_map(|check| &check.unseen) {
        let why = match report.is_virtual {
            true => "decided during the run; nothing is published",
            false => "cannot be seen in a release",
        };
        rows.push(words([&model.words, "", why, "not shown"]));
    }
    text.push_str(&aligned(&rows));

    for (name, model) in named.iter().filter(|(_, model)| model.holds == Some(false)) {
        let why = match &model.worst_class {
            Some(worst) if model.not_shown => {
                format!(
                    "not shown to hold\n  least shown in class: {}",
                    class(worst)
                )
            }
            Some(worst) => failure(model, worst),
            None => String::from(match findings {
                Some(_) => {
                    "cannot be told: a release does not show sites, and what they signed does not hold"
                }
                None => {
                    "cannot be told without the sites\nhint: give --provider-column with the column that names them"
                }
            }),
        };
        text.push_str(&format!("\n{}: {why}\n", title(name)));
    }
    if let Some(words) = printed(report) {
        text.push_str(&format!("\nwarning: {words}\n"));
    }
    for (name, model) in &named {
        if let (Some(strategy), Some(checks)) = (model.verification, model.checks) {
            text.push_str(&format!(
                "\n{}: verified {strategy}, {}\n",
                title(name),
                count(checks, "check", "checks"),
            ));
        }
    }
    if verdict.holds != Some(false)
        && let Some(smallest) = verdict
            .models
            .k
            .as_ref()
            .and_then(|k| k.worst_class.as_ref())
    {
        text.push_str(&format!("\nsmallest class: {}\n", class(smallest)));
    }
    text.push('\n');
    let measured = [
        risk(report),
        reconstruction(report),
        views(report),
        singled_out(&verdict.other),
        utility(report),
    ];
    text.push_str(&aligned(&measured.concat()));
    if let Some(check) = &report.manifest
        && findings.is_none()
    {
        text.push('\n');
        text.push_str(&manifest(check));
    }
    text
}

impl std::fmt::Display for Tampered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&unreadable(self))
    }
}

impl std::error::Error for Tampered {}

/// A folder whose files cannot be understood, and are not what was signed.
fn unreadable(tampered: &Tampered) -> String {
    format!(
        "DOES NOT HOLD: {}\n\n{}  {}\n",
        tampered.release.display(),
        manifest(&tampered.manifest),
        tampered.error
    )
}

fn manifest(check: &Check) -> String {
    let mut text = match (check.findings.is_empty(), &check.account) {
        (true, Some(site)) if check.self_described => format!(
            "manifest: the release is what it says; ledger, cost and report.html are what `{site}` sealed, by the key that stands there\n"
        ),
        (true, Some(site)) => format!(
            "manifest: signed by all sites of the study, and the release is what they signed; ledger, cost and report.html are what `{site}` sealed\n"
        ),
        (true, None) => String::from("manifest: not signed; the release is what it says\n"),
        (false, _) => String::from("MANIFEST DOES NOT HOLD\n"),
    };
    for finding in &check.findings {
        text.push_str(&format!("  {finding}\n"));
    }
    for what in &check.not_shown {
        text.push_str(&format!("  not shown without the study: {what}\n"));
    }
    let mut rows = Vec::new();
    if let Some(hash) = &check.study_hash {
        rows.push(words(["  study", hash]));
    }
    if let Some(run) = check.run {
        rows.push(words(["  run", &run.to_string()]));
    }
    for signature in &check.signatures {
        let site = format!("  {}", signature.site);
        let audited = match check.audited.contains(&signature.site) {
            true => "audited: as it should be",
            false => "",
        };
        rows.push(words([&site, &signature.key, signature.standing, audited]));
    }
    text.push_str(&aligned(&rows));
    text
}

fn row(name: &str, model: &ModelVerdict) -> Vec<String> {
    let (required, achieved) = numbers(name, model);
    words([&label(name, model), &required, &achieved, standing(model)])
}

/// The standing of a demand in one word.
fn standing(model: &ModelVerdict) -> &'static str {
    match model.not_shown {
        true => "not shown",
        false => holds(model.holds),
    }
}

/// What is required of a model and what was achieved, in words.
pub(crate) fn numbers(name: &str, model: &ModelVerdict) -> (String, String) {
    let sign = match name {
        "k" | "k_printed" | "l_distinct" | "l_entropy" | "l_frequency" | "site_diversity"
        | "site_entropy" | "m" => ">=",
        "l_recursive" | "site_recursive" | "delta" => "<",
        _ => "<=",
    };
    // Where rounding would make a failure look like a success, all digits are shown.
    let is_close = model.holds == Some(false)
        && model.required.map(|required| required.to_string()) == Some(model.achieved.to_string());
    let show = |measure: Measure| match is_close {
        true => measure.exact(),
        false => measure.to_string(),
    };
    let required = model.required.map_or(String::new(), |required| {
        format!("{sign} {}", show(required))
    });
    let mut achieved = match model.unbounded {
        Some(why) => String::from(why),
        None => show(model.achieved),
    };
    if model.at_least {
        achieved.push_str(" or more");
    }
    (required, achieved)
}

/// What k says, and what it does not, of a release whose tables only a group joins, where fewer records are
/// printed alike than a group has.
pub(crate) fn printed(found: &Verdict) -> Option<String> {
    let found = &found.found;
    let (groups, printed) = (found.models.k.as_ref()?, found.models.k_printed.as_ref()?);
    let below = printed.failing_records.filter(|below| *below > 0)?;
    let wanted = printed.required.or(groups.required)?;
    Some(format!(
        "{} of {} are printed like fewer than {wanted}, the rarest like {}: whoever knows their quasi-identifiers sees that they are in the table, and in which group. k counts the records of a group, among which nothing says whose a sensitive value is; it does not count rows that are printed alike",
        thousands(below),
        count(found.records, "record", "records"),
        printed.achieved
    ))
}

/// A model's name as people know it.
pub(crate) fn title(name: &str) -> &str {
    match name {
        "k" => "k-anonymity",
        "k_printed" => "k of what is printed",
        "alpha" => "(alpha,k)-anonymity, alpha",
        "l_distinct" => "distinct l-diversity",
        "l_entropy" => "entropy l-diversity",
        "l_frequency" => "frequency l-diversity",
        "l_recursive" => "recursive (c,l)-diversity",
        "t" => "t-closeness",
        "beta_basic" => "basic beta-likeness",
        "beta_enhanced" => "enhanced beta-likeness",
        "delta" => "delta-disclosure privacy",
        "delta_present" => "delta of the values present in a class",
        "site_diversity" => "l-site-diversity",
        "site_entropy" => "entropy l-site-diversity",
        "site_recursive" => "recursive (c,l)-site-diversity",
        "m" => "m-privacy",
        other => other,
    }
}

pub(crate) fn label(name: &str, model: &ModelVerdict) -> String {
    match (name, model.l, model.attributes.as_slice()) {
        ("l_recursive", Some(l), _) => format!("recursive (c,{l})-diversity, c"),
        ("site_recursive", Some(l), _) => format!("recursive (c,{l})-site-diversity, c"),
        ("t", _, [one]) => match one.distance {
            Some(distance) => format!("t-closeness ({distance:?})").to_lowercase(),
            None => title(name).to_owned(),
        },
        _ => title(name).to_owned(),
    }
}

pub(crate) fn holds(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "holds",
        Some(false) => "FAILS",
        None => "",
    }
}

fn failure(model: &ModelVerdict, worst: &WorstClass) -> String {
    format!(
        "fails in {} ({})\n  worst class: {}",
        count(model.failing_classes.unwrap_or(0), "class", "classes"),
        count(model.failing_records.unwrap_or(0), "record", "records"),
        class(worst)
    )
}

pub(crate) fn class(class: &WorstClass) -> String {
    let cells: Vec<String> = class
        .quasi
        .iter()
        .map(|(name, cell)| format!("{name} = {cell}"))
        .collect();
    format!(
        "{}; {}, first at record {}",
        cells.join(", "),
        count(class.size, "record", "records"),
        class.first_record
    )
}

fn risk(report: &Verdict) -> Vec<Vec<String>> {
    let risk = &report.risk;
    let mut rows = vec![
        words(["risk", "", "", ""]),
        words([
            "  prosecutor, highest",
            "",
            &format!("{:.4}", risk.prosecutor.max),
            "",
        ]),
        words([
            "  prosecutor, mean",
            "",
            &format!("{:.4}", risk.prosecutor.mean),
            "",
        ]),
        words(["  marketer", "", &format!("{:.4}", risk.marketer), ""]),
    ];
    for above in &risk.prosecutor.above {
        let name = format!("  records above {}", above.threshold);
        rows.push(words([&name, "", &percent(above.share), ""]));
    }
    if let Some(journalist) = &risk.journalist
        && let Some(max) = journalist.max
    {
        rows.push(words([
            "  journalist, highest",
            "",
            &format!("{max:.4}"),
            "",
        ]));
    } else if let Some(journalist) = &risk.journalist {
        let uncovered = count(journalist.uncovered, "record", "records");
        let note = format!("cannot be told: {uncovered} not in the population");
        rows.push(words(["  journalist", "", &note, ""]));
    }
    if let Some(before) = risk.uniqueness.before {
        rows.push(words(["  unique before", "", &percent(before), ""]));
    }
    rows.push(words(["  unique", "", &percent(risk.uniqueness.after), ""]));
    rows
}

/// What fragments tell together, two sensitive attributes at a time.
fn reconstruction(report: &Verdict) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for pair in &report.reconstruction {
        let [one, other] = &pair.attributes;
        rows.push(words([
            &format!("{one} and {other} put together"),
            "",
            "",
            "",
        ]));
        let mut row = |name: &str, value: String| rows.push(words([name, "", &value, ""]));
        row("  pairs by group", thousands(pair.joined));
        row("  of nobody", thousands(pair.phantoms));
        row("  certain", count(pair.certain, "person", "people"));
        if let Some(found) = &pair.against_original {
            row("  right, most likely pairs", percent(found.likely));
            row("  right, by chance", percent(found.by_chance));
        }
    }
    rows
}

fn views(report: &Verdict) -> Vec<Vec<String>> {
    let Some(views) = &report.views else {
        return Vec::new();
    };
    let title = format!("{} views of the same table together", views.views);
    let mut rows = vec![
        words([&title, "", "", ""]),
        words(["  hyperedges", "", &large(views.hyperedges), ""]),
        words([
            "  possible records of a hyperedge, fewest",
            "",
            &large(views.fewest_choices),
            "",
        ]),
    ];
    match (views.matchings, views.worlds, views.certain) {
        (Some(matchings), Some(worlds), Some(certain)) => rows.extend([
            words(["  perfect matchings", "", &large(matchings), ""]),
            words(["  possible worlds", "", &thousands(worlds), ""]),
            words([
                "  records in every possible world",
                "",
                &thousands(certain as u64),
                "",
            ]),
        ]),
        _ => rows.push(words([
            "  perfect matchings",
            "",
            "too many to be counted",
            "",
        ])),
    }
    rows
}

/// A count that may be larger than any integer.
fn large(number: f64) -> String {
    match number < 1e15 {
        true => thousands(number as u64),
        false => format!("{number:.3e}"),
    }
}

fn columns_have(names: &[String]) -> String {
    let list = hedgerow_data::quoted_list(names);
    match names.len() {
        1 => format!("column {list} has"),
        _ => format!("columns {list} have"),
    }
}

fn utility(report: &Verdict) -> Vec<Vec<String>> {
    let Some(utility) = &report.utility else {
        return Vec::new();
    };
    let mut rows = vec![
        words(["utility", "", "", ""]),
        words(["  loss (LM)", "", &percent(utility.lm), ""]),
        words(["  loss (NCP)", "", &percent(utility.ncp), ""]),
    ];
    if let Some(present) = utility.ncp_present {
        rows.push(words([
            "  loss (NCP, present values)",
            "",
            &percent(present),
            "",
        ]));
    }
    if let Some(em) = utility.em {
        rows.push(words(["  loss (EM), bits", "", &format!("{em:.4}"), ""]));
    }
    if let Some(error) = &utility.query_error {
        rows.push(words(["  query error, mean", "", &percent(error.mean), ""]));
    }
    rows.push(words([
        "  average class size",
        "",
        &format!("{:.2}", utility.average_class_size),
        "",
    ]));
    rows.push(words([
        "  discernibility, normalized",
        "",
        &format!("{:.4}", utility.normalized_discernibility),
        "",
    ]));
    for attribute in &utility.attributes {
        let name = format!("  loss (LM) of {}", attribute.name);
        rows.push(words([&name, "", &percent(attribute.lm), ""]));
    }
    rows
}
