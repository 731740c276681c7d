//! `hedgerow anonymize`: one table, one party; the same protocol as between many.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hedgerow_data::files::{Others, read_table};
use hedgerow_data::study::Algorithm;
use hedgerow_privacy::{Model, Requirement};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_smc::{Party, Seed, Settings};

use crate::convergence::Step;
use crate::error::CliError;
use crate::joint::{Brought, Joint, Ready, probe};
use crate::manifest::{self, Account};
use crate::output::Answer;
use crate::plan::Draws;
use crate::progress::Bar;
use crate::split::Sites;
use crate::summary::{Cost, OfSites, Summary};

/// The seed of a run that is given none.
pub(crate) const SEED: u64 = 1;

/// Anonymize one table: the protocol with one party.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow anonymize --study study.toml patients.csv --out release
  hedgerow anonymize --study study.toml --provider-column site pooled.csv --out release")]
pub(crate) struct Arguments {
    /// The study: attributes, requirement, algorithm.
    #[arg(long)]
    study: PathBuf,
    /// The table.
    table: PathBuf,
    /// The column that names each record's site, where that makes a difference.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
    /// The same seed gives the same release, where the algorithm draws at random.
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// The folder of the release.
    #[arg(long, value_name = "DIR", default_value = "release")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let started = Instant::now();
    let column = arguments.provider_column.as_deref();
    let sites = match column {
        Some(column) => Some(Sites::of_column(&arguments.table, column)?),
        None => None,
    };
    let ready = Ready::open(
        &arguments.study,
        sites.as_ref().map(|sites| sites.count() as u64),
    )?;
    if ready.is_vertical() {
        refuse_provider(column)?;
    } else if sites.is_none() {
        refuse_sites(&arguments.study, &ready.requirement)?;
    }
    let table = read_table(
        &arguments.table,
        &ready.study.schema,
        &Others::but(column),
        &Bar::reading(&arguments.table),
    )?;
    let brought = ready.bring(table, &arguments.table.display().to_string())?;
    probe(&arguments.out, &ready.study)?;
    let (owner, count) = match &sites {
        Some(sites) => (Owner::Column(&sites.owners), sites.count()),
        None => (Owner::Site(0), 1),
    };
    let bar = Bar::steps();
    let began = Instant::now();
    let owners = (owner, count);
    let (joint, smc_calls) = one_party(&ready, &brought, owners, arguments.seed, |step| {
        bar.step(step);
    })?;
    let protocol_seconds = began.elapsed().as_secs_f64();
    drop(bar);
    let of_sites = match (&sites, &joint.partition, &brought) {
        (Some(sites), Some(partition), Brought::People(columns)) => {
            let classes = partition.classes.iter();
            let classes = classes.map(|class| partition.rows(class));
            ready.of_sites(columns, sites, &joint.release, classes)
        }
        _ => OfSites::default(),
    };
    let (published, _) = ready.publish(&joint.release, &arguments.out)?;
    let cost = Cost {
        smc_calls,
        seconds: started.elapsed().as_secs_f64(),
        protocol_seconds,
        ..Cost::default()
    };
    let ledger = Vec::new();
    let account = Account {
        published: &published,
        sites: count,
        of_sites,
        ledger: &ledger,
        cost: &cost,
        convergence: joint.convergence.as_ref(),
        shared: ready.shared(joint.groups, 1),
    };
    manifest::write_unsigned(&ready, &account)?;
    // Cuts draw nothing.
    let draws = matches!(
        ready.study.algorithm,
        Algorithm::Clustering | Algorithm::D2pt
    );
    let seed = draws.then_some(arguments.seed);
    let summary = Summary::new(&ready, &published, count, seed, cost, ledger, of_sites);
    let summary = summary.converged(joint.convergence).grouped(joint.groups);
    Ok(summary.answer())
}

/// Where sites hold the same people, a record is of all of them.
pub(crate) fn refuse_provider(column: Option<&str>) -> Result<(), CliError> {
    match column {
        Some(_) => Err(CliError::Usage(String::from(
            "--provider-column is for horizontal studies: the sites of this one hold the same people\nhint: leave it out",
        ))),
        None => Ok(()),
    }
}

/// A table of one site cannot meet what speaks of several.
fn refuse_sites(study: &Path, requirement: &Requirement) -> Result<(), CliError> {
    let of_sites = |model: &&Model| matches!(model, Model::SiteDiversity { l, .. } if *l > 1);
    let model = requirement.models.iter().find(of_sites);
    let m = requirement.m.filter(|m| *m > 0);
    match model
        .map(Model::to_string)
        .or(m.map(|m| format!("m = {m}")))
    {
        Some(model) => Err(CliError::Usage(format!(
            "{}: {model} speaks of sites, and the table does not say whose its records are\nhint: give --provider-column, the column that names each record's site",
            study.display()
        ))),
        None => Ok(()),
    }
}

/// The protocol with one party, which asks nobody; also how often it would have asked. The owners
/// of the rows draw as they would in a simulation with this seed.
pub(crate) fn one_party(
    ready: &Ready,
    brought: &Brought,
    owners: (Owner<'_>, usize),
    seed: u64,
    each_step: impl FnMut(Step),
) -> Result<(Joint, u64), hedgerow_protocols::Error> {
    // What a party of one sends nobody, it draws all the same: numbers of groups, an order of people.
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(seed, 0));
    let draws = Draws::Simulated(seed);
    let run = ready.take_part(&mut party, brought, owners, &draws, each_step);
    let joint = pollster::block_on(run)?;
    Ok((joint, party.calls()))
}
