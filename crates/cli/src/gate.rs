//! `hedgerow gate`: the known attacks on a release, tried before it goes out.

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow::attacks::Attack;
use hedgerow::{Questions, Release, Report, Study, Suspicion, Table};

use crate::error::CliError;
use crate::output::{Answer, see_replaceable, talk};
use crate::progress::Terminal;

/// Attack a release before it goes out: what each known attack brings down, beside what the same attack
/// brings down where there is nothing to learn.
#[derive(clap::Args)]
#[command(
    after_help = "Attacks: printed, order, owner, certain, skew, product, other, covering, downcoding, membership, ends,
below_k_without_one_site, below_k_without_two_sites, two_releases, newcomers, bayes.
Exit codes: 0 every attack that is not left out by --skip was tried, and no more fell than its limit allows;
1 more fell, or an attack cannot tell or was not tried; 2 bad input.
Examples:
  hedgerow gate release-1 --study study.toml
  hedgerow gate release-1 --study study.toml --own ours.csv --skip membership,bayes,two_releases,newcomers
  hedgerow gate release-2 --study study.toml --own a.csv --own b.csv --holdout others.csv --earlier release-1"
)]
pub(crate) struct Arguments {
    /// The release: a CSV or Parquet file, or a release folder.
    release: PathBuf,
    /// The study it is a release of. Without it, a release folder is taken at its manifest's word.
    #[arg(long)]
    study: Option<PathBuf>,
    /// Rows that are in the release, of one site. May be given several times, once for each site.
    #[arg(long, value_name = "TABLE")]
    own: Vec<PathBuf>,
    /// Rows of people of the same population who are not in the release.
    #[arg(long, value_name = "TABLE")]
    holdout: Option<PathBuf>,
    /// An earlier release of the same study's table. May be given several times.
    #[arg(long, value_name = "RELEASE")]
    earlier: Vec<PathBuf>,
    /// The column of the release that names each record's site.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
    /// Attacks to leave out: you answer for what they would find.
    #[arg(long, value_delimiter = ',', value_parser = attack, value_name = "ATTACKS")]
    skip: Vec<Attack>,
    /// Another limit than the default: the share of records, beyond the control, that may fall, such as
    /// membership=0.1. May be given several times.
    #[arg(long, value_parser = limit, value_name = "ATTACK=SHARE")]
    limit: Vec<(Attack, f64)>,
    /// Write the report of the release, with a chapter of what was found.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// An attack by its name.
fn attack(word: &str) -> Result<Attack, String> {
    Attack::named(word.trim()).ok_or_else(|| {
        let names = Attack::ALL.map(Attack::name);
        format!("expected one of {}", names.join(", "))
    })
}

/// A limit such as `membership=0.1`.
fn limit(word: &str) -> Result<(Attack, f64), String> {
    let (name, share) = word
        .split_once('=')
        .ok_or_else(|| String::from("expected an attack and a share, such as membership=0.1"))?;
    let share: Option<f64> = share.trim().parse().ok();
    match share.filter(|share| (0.0..=1.0).contains(share)) {
        Some(share) => Ok((attack(name)?, share)),
        None => Err(String::from("expected a share from 0 to 1")),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    if let Some(path) = &arguments.report {
        see_replaceable(path, "<!DOCTYPE html>")?;
    }
    let study = arguments.study.as_ref().map(Study::open).transpose()?;
    let mut release = Release::open(&arguments.release)?;
    if let Some(study) = study {
        release = release.with_study(study);
    }
    let suspicion = Suspicion {
        own: arguments.own.iter().map(Table::file).collect(),
        holdout: arguments.holdout.as_ref().map(Table::file),
        earlier: arguments.earlier.clone(),
        provider_column: arguments.provider_column.clone(),
        skip: arguments.skip.clone(),
        limits: arguments.limit.clone(),
        observer: Arc::new(Terminal::default()),
    };
    let gated = hedgerow::gate(&release, &suspicion)?;
    let holds = gated.holds;
    let answer = Answer::of(&gated, holds);
    if let Some(path) = &arguments.report {
        let report = Report::of(&release, &Questions::default())?.with_gate(gated)?;
        report.write(path)?;
        if report.is_for_the_site() {
            talk(&format!(
                "warning: {} has counts of the rows that you gave, which may be of one person: keep it to yourself",
                path.display()
            ));
        }
    }
    Ok(answer)
}
