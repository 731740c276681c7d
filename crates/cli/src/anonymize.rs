//! `hedgerow anonymize`: one table, one party; the same protocol as between many.

use std::path::PathBuf;

use hedgerow_data::files::{Others, read_table};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_smc::{Party, Seed, Settings};

use crate::error::CliError;
use crate::joint::Ready;
use crate::output::Answer;
use crate::progress::Bar;
use crate::simulate::{Cost, Summary};

/// Anonymize one table: the protocol with one party.
#[derive(clap::Args)]
#[command(after_help = "Example: hedgerow anonymize --study study.toml patients.csv --out release")]
pub(crate) struct Arguments {
    /// The study: attributes, requirement, algorithm.
    #[arg(long)]
    study: PathBuf,
    /// The table.
    table: PathBuf,
    /// The folder of the release.
    #[arg(long, value_name = "DIR", default_value = "release")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let started = std::time::Instant::now();
    let ready = Ready::open(&arguments.study, None)?;
    let table = read_table(
        &arguments.table,
        &ready.study.schema,
        &Others::Refuse,
        &Bar::reading(&arguments.table),
    )?;
    let columns = ready.columns(&table, 0..table.rows());
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(0, 0));
    let bar = Bar::waves();
    let joint = pollster::block_on(ready.take_part(
        &mut party,
        &columns,
        Owner::Site(0),
        1,
        |wave, open| {
            bar.wave(wave, open);
        },
    ))?;
    drop(bar);
    let published = ready.publish(&joint.release, &arguments.out)?;
    let cost = Cost {
        smc_calls: party.calls(),
        seconds: started.elapsed().as_secs_f64(),
        ..Cost::default()
    };
    Ok(Summary::new(&ready, &published, 1, None, cost, Vec::new(), None).answer())
}
