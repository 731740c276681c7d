//! `hedgerow simulate`: all sites of a study in one process, with exact counts of what they send.

use std::path::PathBuf;
use std::time::Instant;

use hedgerow_data::Table;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::study::{self, Security};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_smc::memory::{LinkModel, Simulation};
use hedgerow_smc::{MAXIMUM_SITES, Settings};

use crate::anonymize::{SEED, refuse_provider};
use crate::baselines::Baselines;
use crate::error::CliError;
use crate::joint::{Brought, Joint, Ready, probe, see_people};
use crate::manifest::{self, Account};
use crate::opened::Opened;
use crate::output::{Answer, talk, thousands};
use crate::plan::Draws;
use crate::progress::Bar;
use crate::shared::Groups;
use crate::split::{Deal, Sites, Split, columns_at, own_order};
use crate::summary::{Cost, OfSites, Summary};

/// How the table is spread over the sites.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Partition {
    /// Different people, same columns.
    Horizontal,
    /// Same people, different columns.
    Vertical,
}

/// Run all sites in one process and count rounds, messages and bytes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow simulate --study study.toml --sites 5 --out release patients.csv
  hedgerow simulate --study study.toml --sites 5 --split column --by zip --independent patients.csv
  hedgerow simulate --study study.toml --provider-column site --out release pooled.csv
  hedgerow simulate --study study.toml --partition vertical --columns 'age,sex|zip,disease' people.csv")]
pub(crate) struct Arguments {
    /// The study: attributes, requirement, algorithm.
    #[arg(long)]
    study: PathBuf,
    /// The table of all sites together.
    table: PathBuf,
    /// Number of sites among which the rows are split.
    #[arg(long)]
    sites: Option<usize>,
    /// Whether sites hold different people or the same ones; the study's own where it is not given.
    #[arg(long, value_enum)]
    partition: Option<Partition>,
    /// The columns of each site of a vertical study, beside the identifiers: "age,sex|zip,disease".
    /// A name with a comma or a bar can only stand in the study.
    #[arg(long, value_name = "COLUMNS", conflicts_with_all = ["sites", "provider_column", "by"])]
    columns: Option<String>,
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
    let opened = Opened::open(&arguments.study)?;
    let wanted = match opened.study.partition {
        study::Partition::Horizontal => Partition::Horizontal,
        study::Partition::Vertical => Partition::Vertical,
    };
    if arguments.partition.is_some_and(|said| said != wanted) {
        let (said, written) = match wanted {
            Partition::Horizontal => ("vertical", "horizontal"),
            Partition::Vertical => ("horizontal", "vertical"),
        };
        return Err(CliError::Usage(format!(
            "--partition is {said}, the study says partition = \"{written}\"\nhint: a release is of its study; write partition = \"{said}\" there"
        )));
    }
    match wanted {
        Partition::Horizontal => horizontal(arguments, opened),
        Partition::Vertical => vertical(arguments, opened),
    }
}

/// What a simulated run ended with.
struct Ran {
    /// What each site has.
    joints: Vec<Joint>,
    ledger: Vec<serde_json::Value>,
    cost: Cost,
}

/// Runs all sites, each with what it brings.
fn simulate(
    ready: &Ready,
    seed: u64,
    count: usize,
    bring: impl Fn(usize) -> Brought + Sync,
) -> Result<Ran, CliError> {
    // Small domains are searched in one step.
    let settings = match ready.study.security {
        Security::Hardened => Settings {
            fan_out: 128,
            ..Settings::hardened()
        },
        Security::Published => Settings::published(),
    };
    let bar = Bar::steps();
    let draws = Draws::Simulated(seed);
    let simulation = Simulation::new(count, seed)
        .settings(settings)
        .model(LinkModel::WAN);
    let began = Instant::now();
    let outcome = simulation.run(|mut party| {
        let (bring, bar, draws) = (&bring, &bar, &draws);
        async move {
            let site = party.me().index();
            let brought = bring(site);
            let each_step = |step| {
                if site == 0 {
                    bar.step(step);
                }
            };
            let owners = (Owner::Site(site as u32), count);
            let joint = ready
                .take_part(&mut party, &brought, owners, draws, each_step)
                .await?;
            Ok::<_, hedgerow_protocols::Error>((joint, party.calls(), party.ledger().summary()))
        }
    });
    let protocol_seconds = began.elapsed().as_secs_f64();
    let (traffic, elapsed) = (outcome.traffic.clone(), outcome.elapsed);
    let values = outcome.into_values()?;
    let Some((_, calls, ledger)) = values.first() else {
        return Err(CliError::Usage(String::from("a run needs a site")));
    };
    Ok(Ran {
        ledger: manifest::ledger(ledger),
        cost: Cost {
            rounds: u64::from(traffic.rounds),
            messages: traffic.messages(),
            bytes: traffic.bytes(),
            smc_calls: *calls,
            protocol_seconds,
            wan_seconds: Some(elapsed.as_secs_f64()),
            ..Cost::default()
        },
        joints: values.into_iter().map(|(joint, ..)| joint).collect(),
    })
}

fn refuse_many(count: usize) -> Result<(), CliError> {
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
    Ok(())
}

/// Sites that hold different people.
fn horizontal(arguments: &Arguments, opened: Opened) -> Result<Answer, CliError> {
    let started = Instant::now();
    if arguments.columns.is_some() {
        return Err(CliError::Usage(String::from(
            "--columns is for vertical studies: in this one every site has all columns\nhint: --sites says among how many the rows are split",
        )));
    }
    let named = match &arguments.provider_column {
        Some(column) => Some(Sites::of_column(&arguments.table, column)?),
        None => None,
    };
    let count = match (&named, arguments.sites) {
        (Some(named), _) => named.count(),
        (None, Some(number)) => number,
        (None, None) => {
            return Err(CliError::Usage(String::from(
                "nothing says how many sites there are\nhint: give --sites, or --provider-column with the column that names each record's site",
            )));
        }
    };
    refuse_many(count)?;
    let ready = Ready::new(opened, &arguments.study, Some(count as u64))?;
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
    if count > 2 && ready.requirement.m.is_none() {
        talk(
            "hint: a study that names three sites or more says m, how many of them may collude: m = 1 under [require] keeps each site safe from each other",
        );
    }
    let rows_of = sites.rows();
    probe(&arguments.out, &ready.study)?;

    let ran = simulate(&ready, arguments.seed, count, |site| {
        Brought::People(ready.columns(&table, rows_of[site].iter().copied()))
    })?;
    // Each class with everybody's rows, as nobody in a run sees it.
    let mut classes: Vec<Vec<u32>> = Vec::new();
    for (site, joint) in ran.joints.iter().enumerate() {
        let Some(partition) = &joint.partition else {
            continue;
        };
        classes.resize(partition.classes.len(), Vec::new());
        for (all, class) in classes.iter_mut().zip(&partition.classes) {
            let rows = partition.rows(class).iter();
            all.extend(rows.map(|row| rows_of[site][*row as usize] as u32));
        }
    }
    let columns = ready.columns(&table, 0..table.rows());
    let of_sites = ready.of_sites(&columns, &sites, classes.iter().map(Vec::as_slice));
    let baselines = |joint: &Joint| match arguments.independent {
        true => Baselines::run(&ready, &table, &sites, &joint.release, arguments.seed).map(Some),
        false => Ok(None),
    };
    publish(arguments, &ready, ran, of_sites, started, baselines)
}

/// Sites that hold the same people: each has the identifiers and its own columns, in an order of its
/// own.
fn vertical(arguments: &Arguments, opened: Opened) -> Result<Answer, CliError> {
    let started = Instant::now();
    refuse_provider(arguments.provider_column.as_deref())?;
    if arguments.independent || !arguments.by.is_empty() {
        return Err(CliError::Usage(String::from(
            "--independent and --by are for horizontal studies: a site of this one has no rows to itself\nhint: leave them out",
        )));
    }
    let mut ready = Ready::new(opened, &arguments.study, None)?;
    if let Some(columns) = &arguments.columns {
        ready.split = columns_at(columns, &ready.study.schema)?;
        // Who has them is not who the study says.
        ready.study.split = None;
    } else if ready.study.split.is_none() {
        return Err(CliError::Usage(format!(
            "{}: the study does not say which site holds which column\nhint: give --columns, e.g. --columns 'age,sex|zip,disease', or write columns = [\"…\"] below each [[site]]",
            arguments.study.display()
        )));
    }
    let split = &ready.split;
    let count = split.sites();
    if arguments.sites.is_some_and(|sites| sites != count) {
        return Err(CliError::Usage(format!(
            "--sites does not go with a vertical study, whose columns stand at {}\nhint: leave it out",
            crate::output::count(count as u64, "site", "sites")
        )));
    }
    refuse_many(count)?;
    let table = read_table(
        &arguments.table,
        &ready.study.schema,
        &Others::Refuse,
        &Bar::reading(&arguments.table),
    )?;
    // A site's own order says nothing about the file.
    let name = arguments.table.display().to_string();
    see_people(&ready.study, &table, &name)?;
    probe(&arguments.out, &ready.study)?;
    let ran = simulate(&ready, arguments.seed, count, |site| {
        let schema = split.schema_of(&ready.study.schema, site);
        let order = own_order(table.rows(), arguments.seed, site);
        let columns = schema.attributes().iter().filter_map(|attribute| {
            let position = ready.study.schema.position(&attribute.name)?;
            Some(table.column(position).picked(&order))
        });
        let columns = columns.collect();
        Brought::Columns(Table::new(schema.into(), columns))
    })?;
    publish(arguments, &ready, ran, OfSites::default(), started, |_| {
        Ok(None)
    })
}

/// Publishes what a run ended with: every site has the same release, made from the same numbers.
fn publish(
    arguments: &Arguments,
    ready: &Ready,
    ran: Ran,
    of_sites: OfSites,
    started: Instant,
    baselines: impl FnOnce(&Joint) -> Result<Option<Baselines>, CliError>,
) -> Result<Answer, CliError> {
    let (count, mut cost, ledger) = (ran.joints.len(), ran.cost, ran.ledger);
    // There is one: a run needs a site.
    let joint = &ran.joints[0];
    let published = ready.publish(&joint.release, &arguments.out)?;
    cost.seconds = started.elapsed().as_secs_f64();
    let suppressed = ran.joints.iter().flat_map(|joint| joint.groups);
    let suppressed = suppressed.map(|groups| groups.suppressed).sum();
    let groups = joint.groups.map(|groups| Groups {
        suppressed,
        ..groups
    });
    let account = Account {
        published: &published,
        sites: count,
        of_sites,
        ledger: &ledger,
        cost: &cost,
        convergence: joint.convergence.as_ref(),
        shared: ready.shared(groups, count),
    };
    manifest::write_unsigned(ready, &account)?;
    let baselines = baselines(joint)?;
    let seed = Some(arguments.seed);
    Ok(
        Summary::new(ready, &published, count, seed, cost, ledger, of_sites)
            .converged(joint.convergence.clone())
            .grouped(groups)
            .beside(baselines)
            .answer(),
    )
}
