//! The `[accept]` table of a drafted `site.toml`: each rule that the study needs, what it means in plain
//! words, and the rule itself behind a `#`.

use hedgerow_data::document::quoted;
use hedgerow_data::{Attribute, Role, Study};
use hedgerow_node::accept::{Needed, Value, needed};
use hedgerow_node::agreement::Agreement;
use hedgerow_privacy::Model;
use hedgerow_smc::{Security, What};

use super::comment;
use crate::study::disclosures;
use crate::study::explained::{besides, explained};
use crate::study::ready::Ready;
use crate::study::shown::plain::{self, Outcome};
use crate::words::NO_RELEASE;

/// The table, with what the study needs behind a `#`.
pub(super) fn accept(agreement: &Agreement, place: usize, ready: &Ready) -> String {
    let (study, security) = (&agreement.study, ready.run.security);
    let disclosed = disclosures(ready);
    let outcome = Outcome::of(study, &ready.run);
    let mut text = String::from("[accept]\n");
    for needed in needed(agreement, place, security, &disclosed) {
        let Needed { rule, value } = &needed;
        text.push_str(&comment("", &reason(&needed, agreement, ready)));
        match (*rule, value) {
            ("columns", Value::Words(_)) => {
                let own = study.schema_at(place);
                text.push_str(&columns(own.attributes(), outcome));
            }
            ("disclosures", Value::Words(_)) => {
                let lines = disclosed.iter().map(|what| disclosure(*what, security));
                text.push_str(&list(rule, lines));
            }
            // The default is as strong, or weaker.
            ("minimum_m", Value::Bound(bound)) if bound != "0" => {
                text.push_str(&format!("{rule} = {bound}\n"));
            }
            (_, Value::Words(words)) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                text.push_str(&format!("#{rule} = [{}]\n", words.join(", ")));
            }
            (_, Value::Bound(bound)) => text.push_str(&format!("#{rule} = {bound}\n")),
        }
    }
    text.push_str(&comment("", "How many runs these rows may be in, whatever the study, and that they are the same rows each time: from two releases that differ by one person a reader subtracts one from the other and has that person. With rerun = \"ask\" the officer decides, run by run."));
    text.push_str("runs = 1\nrerun = \"same rows\"\n");
    let sites = study.sites.len();
    if !ready.is_vertical() && (sites == 2 || security == Security::Hardened) {
        text.push_str(&comment("", "maximum_share = 0.5 would refuse a run in which one site brings more than half of all records: a site may find a person whom it surrounds with its own records."));
    }
    text.push_str(&gate(study));
    text.push_str(&query(agreement, place));
    text
}

/// A list of lines, each with its reason above it.
fn list(rule: &str, lines: impl Iterator<Item = String>) -> String {
    format!("{rule} = [\n{}]\n", lines.collect::<String>())
}

/// The columns, with what becomes of those of a role above the first of them.
fn columns(columns: &[Attribute], outcome: Outcome) -> String {
    let mut told = None;
    let lines = columns.iter().map(|column| {
        let is_told = told.replace(column.role) == Some(column.role);
        let (role, becomes) = (column.role.name(), plain::role(column.role, outcome));
        let why = match is_told {
            true => String::new(),
            false => comment("  ", &format!("{role}: {becomes}.")),
        };
        format!("{why}  #{},\n", quoted(&column.name))
    });
    list("columns", lines)
}

/// A disclosure, and above it who learns it, what a peer could work out, and what allows it.
fn disclosure(what: What, security: Security) -> String {
    let mut text = String::new();
    let mut say = |words: String| text.push_str(&comment("  ", &words));
    if let Some(said) = explained(what) {
        say(format!(
            "To {}: {}",
            said.learners.words(security),
            said.tells
        ));
        say(format!("What a peer could work out: {}", said.reveals));
    }
    say(format!("Allowed by: {}.", what.allowed_by()));
    text.push_str(&format!("  #{},\n", quoted(what.name())));
    text
}

/// Why a rule is needed, in plain words.
fn reason(needed: &Needed, agreement: &Agreement, ready: &Ready) -> String {
    let security = ready.run.security;
    let (study, requirement) = (&agreement.study, &agreement.requirement);
    let sensitive = plain::sensitive(&study.schema, requirement);
    let of = |is_meant: &dyn Fn(&Model) -> bool| {
        let models = requirement.models.iter().filter(|model| is_meant(model));
        let said: Vec<String> = models
            .map(|model| plain::of_model(model, &sensitive))
            .collect();
        format!("The study demands: {}.", said.join("; "))
    };
    match needed.rule {
        "minimum_k" => of(&|model| matches!(model, Model::KAnonymity { .. })),
        "minimum_l" => of(&|model| {
            matches!(
                model,
                Model::DistinctDiversity { .. }
                    | Model::FrequencyDiversity { .. }
                    | Model::EntropyDiversity { .. }
                    | Model::RecursiveDiversity { .. }
            )
        }),
        "maximum_t" => of(&|model| matches!(model, Model::Closeness { .. })),
        "maximum_alpha" => of(&|model| matches!(model, Model::Alpha { .. })),
        "maximum_beta" => of(&|model| matches!(model, Model::Likeness { .. })),
        "maximum_delta" => of(&|model| matches!(model, Model::DeltaDisclosure { .. })),
        "minimum_site_diversity" => of(&|model| {
            matches!(
                model,
                Model::SiteDiversity { .. } | Model::SiteSpread { .. }
            )
        }),
        "minimum_m" => {
            let said = plain::of_coalitions(study, requirement).unwrap_or_default();
            format!("Sites that work together against the others: {said}.")
        }
        "models" => String::from("What a study must require to be accepted here."),
        "algorithms" => format!(
            "How groups are found: {}.",
            plain::algorithm(study.algorithm, study.partition)
        ),
        "security" => format!("How sites compute together: {}.", plain::security(security)),
        "columns" => {
            String::from("This site's columns that the study uses, and what becomes of each.")
        }
        "disclosures" => {
            let mut said = String::from(
                "What a run may show to other sites beyond the release. Raw rows never leave a site.",
            );
            let level = (security, ready.run.roles);
            let besides = besides(study.sites.len(), level, &disclosures(ready));
            for more in besides
                .into_iter()
                .chain(study.is_virtual().then_some(NO_RELEASE))
            {
                said.push_str(&format!(" Besides: {more}."));
            }
            said
        }
        rule => format!("The study needs {rule}."),
    }
}

/// The limits of the study's gate. They close nothing to this study, and so are not behind a `#`.
fn gate(study: &Study) -> String {
    let Some(gate) = &study.gate else {
        return String::new();
    };
    let mut text = String::from("\n");
    text.push_str(&comment("", "The known attacks are tried on a release before any site signs it, and no more of its records may fall to each than this. A study that lets more fall, or does not try an attack that stands here, is refused."));
    text.push_str("[accept.gate]\n");
    for (attack, limit) in gate.limits() {
        text.push_str(&format!("{attack} = {}\n", limit.number()));
    }
    text
}

/// The questions that this site could answer, where the study allows any.
fn query(agreement: &Agreement, place: usize) -> String {
    let study = &agreement.study;
    let Some(query) = &study.query else {
        return String::new();
    };
    let listed = |words: Vec<&str>| {
        let words: Vec<String> = words.into_iter().map(quoted).collect();
        words.join(", ")
    };
    let sites = study.sites.iter().map(|site| site.name.as_str()).collect();
    let answers = query.answers.iter().map(|answer| answer.name()).collect();
    let own = study.schema_at(place);
    let columns = own.attributes().iter();
    let columns = columns.filter(|column| column.role != Role::Identifier);
    let columns = columns.map(|column| column.name.as_str()).collect();
    let mut text = String::from("\n");
    text.push_str(&comment("", "Questions about the table that the sites hold together: who may ask, for what, and about which columns. Without these lines this site answers none, and the run goes on all the same. Whoever asks learns totals over all sites' records; a question about few people can tell of one of them."));
    text.push_str(&format!(
        "[accept.query]\n#from = [{}]\n#answers = [{}]\n#columns = [{}]\n",
        listed(sites),
        listed(answers),
        listed(columns)
    ));
    text
}
