//! `hedgerow audit`: does a site's part in a run again, from its journal, its rows and its seed, and says
//! whether every frame was as it should be. With the key of the auditor whom the study names, the outcome
//! is signed and lies beside the release.
//!
//! # Discloses
//! To whoever types it: nothing but the outcome. It reads rows, seed and journal of the site.

use std::path::{Path, PathBuf};

use hedgerow_node::identity::Secret;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Answer, talk};
use crate::part::Part;
use crate::run::block_on;

pub(crate) mod outcome;

/// Do a site's part in a run again and say whether it was as it should be.
#[derive(clap::Args)]
#[command(
    after_help = "A study that says audit = \"90 days\" has every site keep its journal for so long. The command runs at the\nsite, with its files: peers see nothing. Exit codes: 0 as it should be, 1 not, 2 it cannot be told.\nExamples:\n  hedgerow audit --site site.toml --run 1\n  hedgerow audit --site site.toml --run 1 --auditor auditor.key"
)]
pub(crate) struct Arguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// Which run of the study.
    #[arg(long, value_name = "N")]
    run: u32,
    /// The secret key of the auditor whom the study names: signs the outcome.
    #[arg(long, value_name = "FILE")]
    auditor: Option<PathBuf>,
    /// Where the signed outcome goes, if not into the folder of the release.
    #[arg(long, value_name = "FILE", requires = "auditor")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let part = Part::open(&arguments.site)?;
    let auditor = arguments.auditor.as_deref();
    let auditor = auditor.map(|path| auditor_of(&part, path)).transpose()?;
    let stopped = || {
        Err(CliError::Usage(String::from(
            "the audit was stopped before its end",
        )))
    };
    let found = block_on(part.audit(arguments.run), stopped)?;
    let (study, site) = (part.agreement.hash, part.site.name.clone());
    let mut statement = outcome::statement(study, arguments.run, &site, &found);
    let mut text = match &found.finding {
        None if found.release.is_some() => format!(
            "run {} at `{site}`: as it should be\n{} frames follow from rows, seed and what was received, and every peer signed for them\n",
            arguments.run, found.frames
        ),
        None => format!(
            "run {} at `{site}`: as it should be, up to where it ended\n{} frames follow from rows, seed and what was received; the run came to no release, so no peer signed for them\n",
            arguments.run, found.frames
        ),
        Some(finding) => format!(
            "run {} at `{site}`: NOT as it should be\n{finding}\n{} frames before it are as they should be\n",
            arguments.run, found.frames
        ),
    };
    if let Some(secret) = auditor {
        outcome::sign(&mut statement, &secret);
        let folder = part.folder(arguments.run);
        let path = match &arguments.out {
            Some(path) => path.clone(),
            None if folder.is_dir() => folder.join(outcome::file_of(&site)),
            None => {
                return Err(CliError::Usage(format!(
                    "{}: is not there, so the outcome has no place beside the release\nhint: --out FILE says where it goes",
                    folder.display()
                )));
            }
        };
        outcome::write(&path, &statement)?;
        text.push_str(&format!("signed: {}\n", path.display()));
    } else if part
        .agreement
        .study
        .audit
        .as_ref()
        .is_some_and(|audit| audit.auditor.is_some())
    {
        talk(
            "hint: others believe the word of the auditor whom the study names: --auditor KEY signs it",
        );
    }
    let value: Value = json!(statement);
    Ok(Answer::new(text, &value, found.finding.is_none()))
}

/// The auditor's key, if the study names it.
fn auditor_of(part: &Part, path: &Path) -> Result<Secret, CliError> {
    let secret = Secret::open(path)?;
    let study = &part.agreement.study;
    let named = study.audit.as_ref().and_then(|audit| audit.auditor.clone());
    match named {
        Some(named) if named == secret.public().to_string() => Ok(secret),
        Some(named) => Err(CliError::Usage(format!(
            "{}: is not the key of the study's auditor\nhint: the study names {named}, this key is {}",
            path.display(),
            secret.public()
        ))),
        None => Err(CliError::Usage(format!(
            "{}: the study names no auditor\nhint: write auditor = \"{}\" below [study], and have all sites sign it",
            study.name,
            secret.public()
        ))),
    }
}
