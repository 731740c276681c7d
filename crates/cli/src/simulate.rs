//! `hedgerow simulate`: all sites of a study in one process, with exact counts of what they send.

use std::path::PathBuf;
use std::time::Instant;

use hedgerow_data::files::{Others, read_table};
use hedgerow_data::study::Security;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_smc::memory::{LinkModel, Simulation};
use hedgerow_smc::{MAXIMUM_SITES, Settings};

use crate::anonymize::SEED;
use crate::baselines::Baselines;
use crate::error::CliError;
use crate::joint::{Joint, Ready, probe};
use crate::manifest::{self, Account};
use crate::output::{Answer, talk, thousands};
use crate::plan::Draws;
use crate::progress::Bar;
use crate::split::{Deal, Sites, Split};
use crate::summary::{Cost, Summary};

/// Run all sites in one process and count rounds, messages and bytes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow simulate --study study.toml --sites 5 --out release patients.csv
  hedgerow simulate --study study.toml --sites 5 --split column --by zip --independent patients.csv
  hedgerow simulate --study study.toml --provider-column site --out release pooled.csv")]
pub(crate) struct Arguments {
    /// The study: attributes, requirement, algorithm.
    #[arg(long)]
    study: PathBuf,
    /// The table of all sites together.
    table: PathBuf,
    /// Number of sites among which the rows are split.
    #[arg(long, required_unless_present = "provider_column")]
    sites: Option<usize>,
    /// How the rows are split.
    #[arg(
        long,
        value_enum,
        default_value = "round-robin",
        conflicts_with = "provider_column"
    )]
    split: Split,
    /// The columns of --split column.
    #[arg(
        long,
        value_name = "COLUMN",
        value_delimiter = ',',
        conflicts_with = "provider_column"
    )]
    by: Vec<String>,
    /// Also run each site alone, and one party with all rows, and print what each loses.
    #[arg(long)]
    independent: bool,
    /// The column that names each record's site.
    #[arg(long, value_name = "COLUMN", conflicts_with = "sites")]
    provider_column: Option<String>,
    /// The same seed gives the same run.
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// The folder of the release.
    #[arg(long, value_name = "DIR", default_value = "release")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let started = Instant::now();
    let named = match &arguments.provider_column {
        Some(column) => Some(Sites::of_column(&arguments.table, column)?),
        None => None,
    };
    let count = match (&named, arguments.sites) {
        (Some(named), _) => named.count(),
        // Without a column, clap has seen to it that there is a number.
        (None, number) => number.unwrap_or(0),
    };
    if count == 0 {
        return Err(CliError::Usage(String::from(
            "--sites is 0, expected 1 or more",
        )));
    }
    if count > MAXIMUM_SITES {
        return Err(CliError::Usage(format!(
            "{} sites are too many for one process\nhint: the most is {}",
            thousands(count as u64),
            thousands(MAXIMUM_SITES as u64)
        )));
    }
    let ready = Ready::open(&arguments.study, Some(count as u64))?;
    let deal = Deal::new(
        arguments.split,
        &arguments.by,
        count,
        arguments.seed,
        &ready.study.schema,
    )?;
    let others = Others::but(arguments.provider_column.as_deref());
    let table = read_table(
        &arguments.table,
        &ready.study.schema,
        &others,
        &Bar::reading(&arguments.table),
    )?;
    let sites = named.unwrap_or_else(|| deal.sites(&table));
    if let Some(note) = deal.note(&sites) {
        talk(&note);
    }
    let rows_of = sites.rows();
    probe(&arguments.out)?;

    // Small domains are searched in one step.
    let settings = match ready.study.security {
        Security::Hardened => Settings {
            fan_out: 128,
            ..Settings::hardened()
        },
        Security::Published => Settings::published(),
    };
    let bar = Bar::steps();
    let draws = Draws::Simulated(arguments.seed);
    let simulation = Simulation::new(count, arguments.seed)
        .settings(settings)
        .model(LinkModel::WAN);
    let began = Instant::now();
    let outcome = simulation.run(|mut party| {
        let (ready, rows_of, table, bar, draws) = (&ready, &rows_of, &table, &bar, &draws);
        async move {
            let site = party.me().index();
            let columns = ready.columns(table, rows_of[site].iter().copied());
            let each_step = |step| {
                if site == 0 {
                    bar.step(step);
                }
            };
            let owners = (Owner::Site(site as u32), count);
            let joint = ready
                .take_part(&mut party, &columns, owners, draws, each_step)
                .await?;
            Ok::<_, hedgerow_protocols::Error>((joint, party.calls(), party.ledger().summary()))
        }
    });
    let protocol_seconds = began.elapsed().as_secs_f64();
    drop(bar);
    let (traffic, elapsed) = (outcome.traffic.clone(), outcome.elapsed);
    let values = outcome.into_values()?;
    // Every site has the same release, made from the same numbers.
    let Some((joint, calls, ledger)) = values.first() else {
        return Err(CliError::Usage(String::from("a run needs a site")));
    };
    let published = ready.publish(&joint.release, &arguments.out)?;
    // Each class with everybody's rows, as nobody in a run sees it.
    let rows_in = |class: usize| {
        let of_site = |(site, (joint, ..)): (usize, &(Joint, _, _))| {
            let partition = &joint.partition;
            let rows = partition.rows(&partition.classes[class]).iter();
            rows.map(|row| rows_of[site][*row as usize] as u32)
                .collect::<Vec<u32>>()
        };
        values.iter().enumerate().flat_map(of_site).collect()
    };
    let classes: Vec<Vec<u32>> = (0..joint.partition.classes.len()).map(rows_in).collect();
    let columns = ready.columns(&table, 0..table.rows());
    let of_sites = ready.of_sites(&columns, &sites, classes.iter().map(Vec::as_slice));
    let cost = Cost {
        rounds: u64::from(traffic.rounds),
        messages: traffic.messages(),
        bytes: traffic.bytes(),
        smc_calls: *calls,
        seconds: started.elapsed().as_secs_f64(),
        protocol_seconds,
        wan_seconds: Some(elapsed.as_secs_f64()),
    };
    let ledger = manifest::ledger(ledger);
    let account = Account {
        published: &published,
        sites: count,
        of_sites,
        ledger: &ledger,
        cost: &cost,
    };
    manifest::write_unsigned(&ready, &account)?;
    let baselines = match arguments.independent {
        true => Some(Baselines::run(
            &ready,
            &table,
            &sites,
            &joint.release,
            arguments.seed,
        )?),
        false => None,
    };
    Ok(Summary::new(
        &ready,
        &published,
        count,
        Some(arguments.seed),
        cost,
        ledger,
        of_sites,
    )
    .converged(joint.convergence.clone())
    .beside(baselines)
    .answer())
}
