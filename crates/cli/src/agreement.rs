//! `hedgerow study new`, `sign` and `show`: what sites agree to, and who has.

use std::io::Write as _;
use std::path::PathBuf;

use hedgerow::data::files::{FileError, OutputFile};
use hedgerow::node::agreement::{Agreement, Standing};
use hedgerow::node::identity::Secret;
use hedgerow::words::aligned;
use hedgerow::{Draft, Signing, Site, Study, StudyRefused};
use serde_json::{Value, json};

use crate::error::{CliError, Usage};
use crate::output::{Answer, remark};
use crate::progress::Terminal;
use crate::runtime::block_on;

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
    after_help = "The signature goes into a file beside the study, STUDY.sig. Sites send each other theirs in any\nway and put them together with cat.\nExit codes: 0 signed, 1 the site does not accept the study and it is not signed, 2 bad input.\nExamples:\n  hedgerow study sign --site site.toml\n  hedgerow study sign --key north.key study.toml"
)]
pub(crate) struct SignArguments {
    /// This site's secret key; the one that --site names, if not given.
    #[arg(long, value_name = "FILE", required_unless_present = "site")]
    key: Option<PathBuf>,
    /// This site's file: a study that it does not accept is not signed.
    #[arg(long, value_name = "FILE")]
    site: Option<PathBuf>,
    /// The study; the one that --site names, if not given.
    #[arg(required_unless_present = "site")]
    study: Option<PathBuf>,
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
    let open = |path| Site::open(path).map(|site| site.observer(Terminal::default()));
    let site = arguments.site.as_ref().map(open).transpose()?;
    let file = site.as_ref().map(Site::file);
    let path = arguments.study.as_ref();
    let path = path
        .or(file.map(|file| &file.study))
        .ok_or(Usage::NoStudyToSign)?;
    let key = arguments.key.as_ref();
    let key = key
        .or(file.map(|file| &file.key))
        .ok_or(Usage::NoKeyToSign)?;
    let study = Study::open(path)?;
    let agreement = study.agreement()?;
    // A study that cannot be run is not signed.
    study.see_runnable()?;
    let secret = Secret::open(key)?;
    let name = match &site {
        Some(site) => {
            let own = &site.file().key;
            if secret.public() != Secret::open(own)?.public() {
                let (key, site) = (key.clone(), own.clone());
                return Err(Usage::TwoKeys { key, site }.into());
            }
            let stopped = || Err(CliError::Stopped("stopped before everything was looked at"));
            let hash = agreement.hash.to_string();
            match block_on(site.sign(Some(path), Some(&hash)), stopped)? {
                Signing::Signed { site, .. } => site,
                Signing::NotAccepted(found) => {
                    let text = format!("not signed\n{found}");
                    let value = json!({ "signed": false, "check": found });
                    return Ok(Answer::new(text, &value, false));
                }
            }
        }
        None => {
            remark(
                "note: nobody has looked whether this site accepts the study, and a run would be refused if not\nhint: --site site.toml looks before it signs; hedgerow site check only looks",
            );
            let place = agreement.sign(&secret)?;
            agreement.study.sites[place].name.clone()
        }
    };
    let standings = agreement.standings()?;
    let text = format!(
        "signed for `{name}`: {}\n{}",
        agreement.hash,
        table(&agreement, &standings)
    );
    let mut value = value(&agreement, &standings);
    value["signed"] = json!(true);
    value["tested"] = json!(site.is_some());
    Ok(Answer::new(text, &value, true))
}

pub(crate) fn show(arguments: &ShowArguments) -> Result<Answer, CliError> {
    let opened = Study::open(&arguments.study)?;
    let agreement = opened.agreement()?;
    let standings = agreement.standings()?;
    let is_signed = standings.iter().all(|one| *one == Standing::Signed);
    let shown = opened.shown()?;
    let mut text = format!(
        "study `{}`\nhash {}\n{}",
        agreement.study.name,
        agreement.hash,
        table(&agreement, &standings)
    );
    let mut value = value(&agreement, &standings);
    if let (Value::Object(value), Value::Object(more)) = (&mut value, json!(shown)) {
        value.extend(more);
    }
    if let Some(parent) = agreement.parent() {
        text.push_str(&format!("a new version of {parent}\n"));
        value["parent"] = json!(parent.to_string());
    }
    text.push_str(&shown.to_string());
    Ok(Answer::new(text, &value, is_signed))
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
