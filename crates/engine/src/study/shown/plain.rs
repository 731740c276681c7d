//! What a study demands and does, in plain words with its numbers: for a privacy officer who is no
//! cryptographer, in `study show` and in the comments of a drafted `site.toml`.

use hedgerow_data::study::{Algorithm, Partition};
use hedgerow_data::{Role, Schema, Study};
use hedgerow_privacy::{Model, Requirement, Sensitive, SiteSupport, Spread};
use hedgerow_smc::Security;
use hedgerow_smc::settings::Shape;

use crate::words::{count, short};

/// What every group of a release satisfies, a sentence for each model and one for m.
pub(crate) fn requirement(
    study: &Study,
    requirement: &Requirement,
    outcome: Outcome,
) -> Vec<String> {
    let sensitive = sensitive(&study.schema, requirement);
    let models = requirement.models.iter();
    let in_words = |model: &Model| match (model, outcome) {
        (Model::KAnonymity { k }, Outcome::Restored) => format!(
            "every group of the release has at least {}, who need not look the same (k = {k})",
            people(*k)
        ),
        _ => of_model(model, &sensitive),
    };
    let mut all: Vec<String> = models.map(in_words).collect();
    all.extend(requirement.k_printed.map(|k| {
        format!(
            "every row of the release looks the same as those of at least {} (k_printed = {k})",
            people(k)
        )
    }));
    all.extend(of_coalitions(study, requirement));
    all
}

/// A model in plain words; `sensitive` names the sensitive columns of which it speaks.
pub(crate) fn of_model(model: &Model, sensitive: &str) -> String {
    match model {
        Model::KAnonymity { k } => {
            format!(
                "in every group of the release at least {} look the same (k = {k})",
                people(*k)
            )
        }
        Model::Alpha { alpha } => format!(
            "there is no group in which more than {} % share one value of {sensitive} (alpha = {alpha})",
            round(alpha.to_f64() * 100.0)
        ),
        Model::DistinctDiversity { l } => format!(
            "there is no group in which {sensitive} has fewer than {} (l = {l})",
            count(*l, "value", "different values")
        ),
        Model::FrequencyDiversity { l } => format!(
            "there is no group in which more than 1 in {l} share one value of {sensitive} (l = {l}, by frequency)"
        ),
        Model::EntropyDiversity { l } => format!(
            "there is no group in which the values of {sensitive} are mixed less than {l} equally frequent values are (l = {l}, by entropy)"
        ),
        Model::RecursiveDiversity { c, l } => format!(
            "there is no group in which the most frequent value of {sensitive} has {c} times as many people as all values from number {l} on in order of frequency, or more (l = {l}, recursive, c = {c})"
        ),
        Model::Closeness { t, .. } => format!(
            "there is no group in which the values of {sensitive} are distributed farther than {t} from the whole table, where 0 is the same and 1 as far as can be (t = {t})"
        ),
        Model::Likeness { beta, enhanced } => {
            let (times, more) = (
                round(1.0 + beta.to_f64()),
                match enhanced {
                    true => {
                        ", and values that are frequent in the whole table gain less (enhanced)"
                    }
                    false => "",
                },
            );
            format!(
                "there is no group in which a value of {sensitive} is more than {times} times as frequent as in the whole table{more} (beta = {beta})"
            )
        }
        Model::DeltaDisclosure { delta } => format!(
            "in every group each value of {sensitive} occurs, less than {} times as often, or as rarely, as in the whole table (delta = {delta})",
            round(delta.exp())
        ),
        Model::SiteDiversity {
            l,
            support: SiteSupport::Class,
            ..
        } => format!(
            "in every group there are people of at least {} (site diversity {l})",
            sites(*l)
        ),
        Model::SiteDiversity {
            l,
            support: SiteSupport::Taxonomy,
            ..
        } => format!(
            "every value of the release, and every combination that it writes, fits people of at least {} (site diversity {l}, by taxonomy)",
            sites(*l)
        ),
        Model::SiteSpread {
            spread: Spread::Entropy { l },
            ..
        } => format!(
            "the people of every group are spread over the sites at least as evenly as over {l} equal sites (site diversity {l}, by entropy)"
        ),
        Model::SiteSpread {
            spread: Spread::Recursive { c, l },
            ..
        } => format!(
            "there is no group in which the site with the most people has {c} times as many as all sites from number {l} on, or more (site diversity {l}, recursive, c = {c})"
        ),
        // Models that this list does not know are named as the requirement names them.
        other => other.to_string(),
    }
}

/// What holds against sites that put together what they know; nothing where sites hold the same people, so
/// that no record belongs to one site.
pub(crate) fn of_coalitions(study: &Study, requirement: &Requirement) -> Option<String> {
    if study.partition == Partition::Vertical || study.sites.len() < 2 {
        return None;
    }
    let (k, m) = (requirement.k(), requirement.m.unwrap_or(0));
    Some(match (study.sites.len(), m) {
        (2, _) => String::from(
            "each of the two sites knows its own people of a group, and so sees a smaller group of the other's: no m can hide that (m does not apply to two sites)",
        ),
        (_, 0) => String::from(
            "a site that takes its own records out of a group may see fewer people there, down to one: nothing is demanded against that (m = 0)",
        ),
        (_, 1) => format!(
            "any 1 site that takes its own records out of a group still sees at least {} of the others there, or nobody, and all of the above holds for them (m = 1)",
            people(k)
        ),
        (_, m) => format!(
            "any {m} sites that put together what they know, and take their records out of a group, still see at least {} of the others there, or nobody, and all of the above holds for them (m = {m})",
            people(k)
        ),
    })
}

/// What comes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// One table.
    Table,
    /// Tables that only the number of a group joins.
    Fragments,
    /// The same, with quasi-identifiers as they are.
    Restored,
    /// Every site keeps its own rows, and is asked.
    Virtual,
}

/// What becomes of a column.
pub(crate) const fn role(role: Role, outcome: Outcome) -> &'static str {
    use Outcome::{Restored, Virtual};
    match (role, outcome) {
        (Role::Quasi, Restored) => {
            "others may know it of a person: published as it is, and only its group beside it"
        }
        (Role::Quasi, Virtual) => {
            "others may know it of a person: shown less exactly, the same for a whole group"
        }
        (Role::Quasi, _) => {
            "others may know it of a person: published less exactly, the same for a whole group"
        }
        (Role::Sensitive, Virtual) => {
            "nobody may learn it of a person: stays at its site, and is counted in groups"
        }
        (Role::Sensitive, _) => {
            "nobody may learn it of a person: published as it is, within its group"
        }
        (Role::Identifier, _) => "names a person: never published",
        (Role::Other, Virtual) => "stays at its site, and may be asked about",
        (Role::Other, _) => "published as it is, within its group",
    }
}

/// What is published, what is kept, and who may ask, a sentence each.
pub(crate) fn published(study: &Study, outcome: Outcome) -> Vec<String> {
    let mut all = Vec::new();
    all.push(String::from(match outcome {
        Outcome::Table if study.partition == Partition::Vertical => "one table is published, with a row for each person whom all sites know; the study says which site's columns are which",
        Outcome::Table => "one table is published, with a row for each record of all sites; it does not say which site a row comes from",
        Outcome::Fragments => "several tables are published, which only the number of a group joins: which sensitive value belongs to which row of a group they do not say",
        Outcome::Restored => "several tables are published, which only the number of a group joins; quasi-identifiers stand there exactly as they are, and which sensitive value belongs to which of them within a group they do not say",
        Outcome::Virtual => "nothing is published: each site keeps its own rows of a virtual database, and all sites know its groups and how many records each has",
    }));
    if outcome != Outcome::Virtual {
        all.push(String::from(
            "beside it lies what it takes to check it: the study's requirement, the names of the sites, their signatures, and how much each step showed",
        ));
    }
    if let Some(gate) = &study.gate {
        let limits = gate.limits();
        let limits: Vec<String> = limits
            .map(|(attack, limit)| format!("{attack} {}", limit.number()))
            .collect();
        all.push(format!(
            "before any site signs it, known attacks are tried on it; where a larger share of its records falls than this, nothing is published: {}",
            limits.join(", ")
        ));
    }
    if let Some(query) = &study.query {
        let answers: Vec<&str> = query.answers.iter().map(|kind| kind.name()).collect();
        all.push(format!(
            "sites may ask each other for {}, as each accepts",
            answers.join(" and ")
        ));
    }
    if let Some(audit) = &study.audit {
        let auditor = match &audit.auditor {
            Some(key) => format!("; the auditor is {key}"),
            None => String::new(),
        };
        all.push(format!(
            "journals are kept for {} days after a run, for audits{auditor}",
            audit.days
        ));
    }
    all
}

/// How groups are found.
pub(crate) const fn algorithm(algorithm: Algorithm, partition: Partition) -> &'static str {
    match (algorithm, partition) {
        (Algorithm::Mondrian, Partition::Horizontal) => {
            "the whole table is cut in two at a middle value, and each part again, as long as the requirement holds"
        }
        (Algorithm::Mondrian, Partition::Vertical) => {
            "the people are cut in two by the column that varies most, and each part again, as long as the requirement holds"
        }
        (Algorithm::ProviderAware, _) => {
            "the whole table is cut in two, and each part again, where the requirement holds also without the records of colluding sites"
        }
        (Algorithm::Clustering, _) => {
            "records move from group to group, site after site, as long as the release becomes more exact"
        }
        (Algorithm::D2pt, _) => {
            "every site generalizes its own columns, and the sites find groups that all of them have in common"
        }
    }
}

/// What a security level keeps.
pub(crate) const fn security(security: Security) -> &'static str {
    match security {
        Security::Hardened => {
            "all numbers are masked: no single site learns more than is listed here"
        }
        Security::Published => {
            "the protocols as their papers print them, for comparison: they show more on the way, and sites that collude can see a third one's numbers"
        }
    }
}

/// Which way what all sites send to all goes between them.
pub(crate) fn shape(shape: Shape, hub: &str) -> String {
    let hidden = "it sees masked numbers and adds them up, and learns what every site learns";
    match shape {
        Shape::Mesh => String::from("every site sends to every other"),
        Shape::Star => format!("what all sites send to all goes through `{hub}`: {hidden}"),
        Shape::Tree => format!(
            "what all sites send to all goes up a tree to `{hub}` and down again: who passes it on sees masked numbers"
        ),
    }
}

/// The sensitive columns, as a sentence about one of them names them.
pub(crate) fn sensitive(schema: &Schema, requirement: &Requirement) -> String {
    let columns = schema.with_role(Role::Sensitive);
    let columns = columns.into_iter().map(|place| &schema.attributes()[place]);
    let names: Vec<String> = columns
        .map(|column| format!("`{}`", short(&column.name)))
        .collect();
    match names.split_last() {
        None => String::from("the sensitive column"),
        Some((only, [])) => only.clone(),
        Some((last, others)) => {
            let others = others.join(", ");
            match requirement.sensitive_of(schema) {
                Sensitive::Each => format!("{others} or {last}"),
                Sensitive::Product => format!("{others} and {last} taken together"),
                Sensitive::Both => format!("{others}, {last}, or all of them taken together"),
            }
        }
    }
}

fn people(number: u64) -> String {
    count(number, "person", "people")
}

fn sites(number: u64) -> String {
    count(number, "site", "sites")
}

/// A number for people: three digits behind the point at most.
fn round(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
