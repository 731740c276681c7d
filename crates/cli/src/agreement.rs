//! `hedgerow study new`, `sign` and `show`: what sites agree to, and who has.

use std::io::Write as _;
use std::path::PathBuf;

use hedgerow::data::files::{FileError, OutputFile};
use hedgerow::data::study;
use hedgerow::node::agreement::{Agreement, Standing};
use hedgerow::node::identity::Secret;
use hedgerow::smc::RoleChoice;
use hedgerow::words::{NO_RELEASE, aligned};
use hedgerow::{Draft, Study, StudyRefused};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::Answer;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow study new study.toml
  hedgerow study new --vertical study.toml")]
pub(crate) struct NewArguments {
    /// The file to make; one that is there is kept.
    study: PathBuf,
    /// A study of sites that hold different columns of the same people.
    #[arg(long)]
    vertical: bool,
}

#[derive(clap::Args)]
#[command(
    after_help = "The signature goes into a file beside the study, STUDY.sig. Sites send each other theirs in any\nway and put them together with cat.\nExample: hedgerow study sign --key north.key study.toml"
)]
pub(crate) struct SignArguments {
    /// This site's secret key.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The study.
    study: PathBuf,
}

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 every site has signed, 1 one has not, 2 the study is not sound.\nExample: hedgerow study show study.toml"
)]
pub(crate) struct ShowArguments {
    /// The study.
    study: PathBuf,
}

pub(crate) fn new(arguments: &NewArguments) -> Result<Answer, CliError> {
    let path = &arguments.study;
    if path.exists() {
        let study = path.clone();
        return Err(StudyRefused::Kept { study }.into());
    }
    let mut file = OutputFile::create(path)?;
    let draft = Study::draft(match arguments.vertical {
        true => Draft::Vertical,
        false => Draft::Horizontal,
    });
    file.write_all(draft.as_bytes())
        .map_err(|error| FileError::Unwritable {
            file: path.display().to_string(),
            reason: error.to_string(),
        })?;
    file.finish()?;
    let text = format!(
        "{}: a study to begin with\nhint: fill in sites and attributes, then hedgerow study check {0}\n",
        path.display()
    );
    Ok(Answer::new(text, &json!({ "study": path }), true))
}

pub(crate) fn sign(arguments: &SignArguments) -> Result<Answer, CliError> {
    let study = Study::open(&arguments.study)?;
    let agreement = study.agreement()?;
    // A study that cannot be run is not signed.
    study.see_runnable()?;
    let secret = Secret::open(&arguments.key)?;
    let place = agreement.sign(&secret)?;
    let site = &agreement.study.sites[place].name;
    let standings = agreement.standings()?;
    let text = format!(
        "signed for `{site}`: {}\n{}",
        agreement.hash,
        table(&agreement, &standings)
    );
    Ok(Answer::new(text, &value(&agreement, &standings), true))
}

pub(crate) fn show(arguments: &ShowArguments) -> Result<Answer, CliError> {
    let opened = Study::open(&arguments.study)?;
    let agreement = opened.agreement()?;
    let standings = agreement.standings()?;
    let is_signed = standings.iter().all(|one| *one == Standing::Signed);
    let mut text = format!(
        "study `{}`\nhash {}\n{}",
        agreement.study.name,
        agreement.hash,
        table(&agreement, &standings)
    );
    text.push_str(&holders(&agreement.study));
    let mut shown = value(&agreement, &standings);
    if let Some(parent) = agreement.parent() {
        text.push_str(&format!("a new version of {parent}\n"));
        shown["parent"] = json!(parent.to_string());
    }
    if opened.settings().roles == RoleChoice::Spread {
        text.push_str("roles in questions that leave sites out are spread over sites\n");
        shown["roles"] = json!(RoleChoice::Spread.name());
    }
    if let Some(audit) = &agreement.study.audit {
        let auditor = match &audit.auditor {
            Some(key) => format!("; the auditor is {key}"),
            None => String::new(),
        };
        text.push_str(&format!(
            "journals are kept for {} days after a run, for audits{auditor}\n",
            audit.days
        ));
        shown["audit"] = json!({ "days": audit.days, "auditor": audit.auditor });
    }
    if agreement.study.is_virtual() {
        text.push_str("nothing is published: each site keeps its own rows of a virtual database\n");
        shown["release"] = json!(agreement.study.release.name());
    }
    if let Some(query) = &agreement.study.query {
        let answers: Vec<&str> = query.answers.iter().map(|kind| kind.name()).collect();
        text.push_str(&format!(
            "sites may ask each other for {}, as each accepts\n",
            answers.join(" and ")
        ));
        shown["query"] = json!({ "answers": answers });
    }
    opened.see_runnable()?;
    let disclosed = opened.discloses()?;
    let rows: Vec<Vec<String>> = disclosed
        .iter()
        .map(|what| vec![format!("  {}", what.name()), what.allowed_by().to_owned()])
        .collect();
    text.push_str("each site may learn\n");
    if agreement.study.is_virtual() {
        text.push_str(&format!("  ({NO_RELEASE})\n"));
    }
    text.push_str(&aligned(&rows));
    shown["requires"] = json!(agreement.requirement);
    shown["discloses"] = disclosed
        .iter()
        .map(|what| json!({ "what": what.name(), "allowed_by": what.allowed_by() }))
        .collect();
    Ok(Answer::new(text, &shown, is_signed))
}

/// Which site holds which columns of the same people, a line for each.
fn holders(study: &hedgerow::data::Study) -> String {
    let Some(split) = &study.split else {
        return String::new();
    };
    let sites = study.sites.iter().enumerate();
    let line = |(place, site): (usize, &study::Site)| {
        let columns = split.names(&study.schema, place).join(", ");
        format!("`{}` holds {columns}\n", site.name)
    };
    sites.map(line).collect()
}

fn table(agreement: &Agreement, standings: &[Standing]) -> String {
    let sites = agreement.study.sites.iter().zip(standings);
    let rows: Vec<Vec<String>> = sites
        .map(|(site, standing)| vec![format!("  {}", site.name), standing.text().to_owned()])
        .collect();
    aligned(&rows)
}

fn value(agreement: &Agreement, standings: &[Standing]) -> Value {
    let sites = agreement.study.sites.iter().zip(standings);
    let sites: Vec<Value> = sites
        .map(|(site, standing)| {
            json!({ "name": site.name, "key": site.key, "signed": *standing == Standing::Signed,
                    "standing": standing.text() })
        })
        .collect();
    json!({ "study": agreement.study.name, "hash": agreement.hash.to_string(), "sites": sites })
}
