//! `hedgerow study new`, `sign` and `show`: what sites agree to, and who has.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::files::{FileError, OutputFile};
use hedgerow_node::agreement::{Agreement, Standing};
use hedgerow_node::identity::Secret;
use hedgerow_smc::RoleChoice;
use serde_json::{Value, json};

use crate::disclosures::disclosures;
use crate::error::CliError;
use crate::joint::Ready;
use crate::output::{Answer, aligned};

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

/// A study to begin with: sound as it is, and to be changed.
const TEMPLATE: &str = r#"# What all sites agree to. Every site signs this file and the files it names, byte for byte.
[study]
name = "my-study"
partition = "horizontal"            # different people, same columns

# One for each site, in an order that all agree on.
# [[site]]
# name = "north"
# address = "north.example.org:7401"
# key = "ed25519:..."               # as hedgerow keygen prints it

# One for each column. Quasi-identifiers are what others may know about a person.
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 120]

[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]

# What every class of the release must satisfy.
[require]
k = 10
l = 2
# m = 1                             # for three sites or more: it holds if one turns on the others
"#;

/// The same for sites that hold different columns.
const VERTICAL: &str = r#"# What all sites agree to. Every site signs this file and the files it names, byte for byte.
[study]
name = "my-study"
partition = "vertical"              # the same people, different columns

# One for each site, in an order that all agree on, with the columns that it holds.
[[site]]
name = "clinic"
# address = "clinic.example.org:7401"
# key = "ed25519:..."               # as hedgerow keygen prints it
columns = ["age", "disease"]

[[site]]
name = "insurer"
# address = "insurer.example.org:7401"
# key = "ed25519:..."
columns = ["zip", "tariff"]

# Says who is who. Every site has it, and it is never released.
[[attribute]]
name = "number"
role = "identifier"

# One for each column. Quasi-identifiers are what others may know about a person.
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 119]
widths = [10, 20, 40]

[[attribute]]
name = "zip"
role = "quasi"
values = ["12345", "12346", "12350"]

[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]

[[attribute]]
name = "tariff"
role = "sensitive"
values = ["basic", "full"]

# What makes different ways to write an identifier the same.
[identity]
case = "fold"                       # keep | fold
spaces = "trim"                     # keep | trim | collapse | remove
zeros = "keep"                      # keep | strip: leading ones

# What every group of the release must satisfy.
[require]
k = 10
l = 2

[algorithm]
name = "d2pt"                       # d2pt | clustering
anonymizer = "datafly"              # datafly | optimal
synchronizer = "merge"              # merge | fork | identity | dpp2ga
"#;

pub(crate) fn new(arguments: &NewArguments) -> Result<Answer, CliError> {
    let path = &arguments.study;
    if path.exists() {
        return Err(CliError::Usage(format!(
            "{}: is there already and is kept\nhint: choose another name",
            path.display()
        )));
    }
    let mut file = OutputFile::create(path)?;
    let template = match arguments.vertical {
        true => VERTICAL,
        false => TEMPLATE,
    };
    file.write_all(template.as_bytes())
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
    let agreement = Arc::new(Agreement::open(&arguments.study)?);
    // What cannot be run is not signed.
    Ready::of(&agreement)?;
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
    let agreement = Arc::new(Agreement::open(&arguments.study)?);
    let ready = Ready::of(&agreement)?;
    let standings = agreement.standings()?;
    let is_signed = standings.iter().all(|one| *one == Standing::Signed);
    let mut text = format!(
        "study `{}`\nhash {}\n{}",
        agreement.study.name,
        agreement.hash,
        table(&agreement, &standings)
    );
    text.push_str(&crate::study::holders(&agreement.study));
    let mut shown = value(&agreement, &standings);
    if let Some(parent) = agreement.parent() {
        text.push_str(&format!("a new version of {parent}\n"));
        shown["parent"] = json!(parent.to_string());
    }
    if ready.run.roles == RoleChoice::Spread {
        text.push_str("roles in questions that leave sites out are spread over sites\n");
        shown["roles"] = json!(ready.run.roles.name());
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
    let rows: Vec<Vec<String>> = disclosures(&ready)
        .iter()
        .map(|what| vec![format!("  {}", what.name()), what.allowed_by().to_owned()])
        .collect();
    text.push_str("each site may learn\n");
    text.push_str(&aligned(&rows));
    shown["requires"] = json!(agreement.requirement);
    shown["discloses"] = disclosures(&ready)
        .iter()
        .map(|what| json!({ "what": what.name(), "allowed_by": what.allowed_by() }))
        .collect();
    Ok(Answer::new(text, &shown, is_signed))
}

/// How it stands with the signatures of a study, if it has any: for `study check`. The second says
/// whether none of them is void or forged.
pub(crate) fn signatures(path: &Path) -> Result<Option<(String, bool)>, CliError> {
    let mut beside = path.to_owned().into_os_string();
    beside.push(".sig");
    if !Path::new(&beside).exists() {
        return Ok(None);
    }
    let agreement = Agreement::open(path)?;
    let standings = agreement.standings()?;
    let wrong = |one: &Standing| matches!(one, Standing::Void | Standing::Forged);
    let is_sound = !standings.iter().any(wrong);
    Ok(Some((table(&agreement, &standings), is_sound)))
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
