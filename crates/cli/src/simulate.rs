//! `hedgerow simulate`: all sites of a study in one process, with exact counts of what they send.

use std::path::PathBuf;
use std::time::Instant;

use hedgerow_data::files::{Others, read_table, read_text};
use hedgerow_data::study::Security;
use hedgerow_privacy::utility::Utility;
use hedgerow_privacy::verify::Measure;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_smc::Settings;
use hedgerow_smc::memory::{LinkModel, Simulation};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::CliError;
use crate::joint::{Joint, Published, Ready};
use crate::output::{Answer, aligned, count, thousands};
use crate::progress::Bar;

/// Run all sites in one process and count rounds, messages and bytes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow simulate --study study.toml --sites 5 --out release patients.csv
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
    /// The column that names each record's site.
    #[arg(long, value_name = "COLUMN", conflicts_with = "sites")]
    provider_column: Option<String>,
    /// The same seed gives the same run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder of the release.
    #[arg(long, value_name = "DIR", default_value = "release")]
    out: PathBuf,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Split {
    /// In turn.
    RoundRobin,
    /// At random, from the seed.
    Random,
    /// By the quasi-identifiers, so that sites hold different people.
    Sorted,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let started = Instant::now();
    let owners = match &arguments.provider_column {
        Some(column) => Some(provider(arguments, column)?),
        None => None,
    };
    let sites = match (&owners, arguments.sites) {
        (Some((_, sites)), _) => *sites,
        (None, Some(sites)) if sites > 0 => sites,
        _ => {
            return Err(CliError::Usage(String::from(
                "--sites is 0, expected 1 or more",
            )));
        }
    };
    let ready = Ready::open(&arguments.study, Some(sites as u64))?;
    let others = Others::but(arguments.provider_column.as_deref());
    let table = read_table(
        &arguments.table,
        &ready.study.schema,
        &others,
        &Bar::reading(&arguments.table),
    )?;
    let owners = match owners {
        Some((owners, _)) => owners,
        None => split(arguments, &ready, &table, sites),
    };
    let rows_of: Vec<Vec<usize>> = (0..sites)
        .map(|site| {
            (0..table.rows())
                .filter(|row| owners[*row] as usize == site)
                .collect()
        })
        .collect();

    // Small domains are searched in one step.
    let settings = match ready.study.security {
        Security::Hardened => Settings {
            fan_out: 128,
            ..Settings::hardened()
        },
        Security::Published => Settings::published(),
    };
    let bar = Bar::waves();
    let simulation = Simulation::new(sites, arguments.seed)
        .settings(settings)
        .model(LinkModel::WAN);
    let outcome = simulation.run(|mut party| {
        let (ready, rows_of, table, bar) = (&ready, &rows_of, &table, &bar);
        async move {
            let site = party.me().index();
            let columns = ready.columns(table, rows_of[site].iter().copied());
            let each_wave = |wave, open| {
                if site == 0 {
                    bar.wave(wave, open);
                }
            };
            let joint = ready
                .take_part(
                    &mut party,
                    &columns,
                    Owner::Site(site as u32),
                    sites,
                    each_wave,
                )
                .await?;
            Ok::<_, hedgerow_protocols::Error>((joint, party.calls(), party.ledger().summary()))
        }
    });
    drop(bar);
    let (traffic, elapsed) = (outcome.traffic.clone(), outcome.elapsed);
    let values = outcome.into_values()?;
    // Every site has the same release, made from the same numbers.
    let Some((joint, calls, ledger)) = values.first() else {
        return Err(CliError::Usage(String::from("a run needs a site")));
    };
    let published = ready.publish(&joint.release, &arguments.out)?;
    let sites_in = |class: usize| {
        let has_rows = |(joint, ..): &&(Joint, _, _)| {
            let partition = &joint.partition;
            !partition.rows(&partition.classes[class]).is_empty()
        };
        values.iter().filter(has_rows).count() as u64
    };
    let diversity = (0..joint.partition.classes.len()).map(sites_in).min();
    let cost = Cost {
        rounds: u64::from(traffic.rounds),
        messages: traffic.messages(),
        bytes: traffic.bytes(),
        smc_calls: *calls,
        seconds: started.elapsed().as_secs_f64(),
        wan_seconds: Some(elapsed.as_secs_f64()),
    };
    let ledger = ledger
        .iter()
        .map(|line| json!({ "what": line.what, "to": line.to, "values": line.values, "allowed_by": line.allowed_by }))
        .collect();
    Ok(Summary::new(
        &ready,
        &published,
        sites,
        Some(arguments.seed),
        cost,
        ledger,
        diversity,
    )
    .answer())
}

/// The site of each row, from a column, and how many there are.
fn provider(arguments: &Arguments, column: &str) -> Result<(Vec<u32>, usize), CliError> {
    let text = read_text(
        &arguments.table,
        &[column.to_owned()],
        &Bar::reading(&arguments.table),
    )?;
    let found = text.column(column).ok_or_else(|| {
        CliError::Usage(format!(
            "{}:1: there is no column `{column}`",
            arguments.table.display()
        ))
    })?;
    Ok((found.codes.clone(), found.dictionary.len()))
}

/// The site of each row, as the split says.
fn split(
    arguments: &Arguments,
    ready: &Ready,
    table: &hedgerow_data::Table,
    sites: usize,
) -> Vec<u32> {
    let mut order: Vec<usize> = (0..table.rows()).collect();
    match arguments.split {
        Split::RoundRobin => return (0..table.rows()).map(|row| (row % sites) as u32).collect(),
        Split::Random => {
            order.shuffle(&mut rand_chacha::ChaCha12Rng::seed_from_u64(arguments.seed));
        }
        Split::Sorted => {
            let quasi = ready.study.schema.with_role(hedgerow_data::Role::Quasi);
            let columns: Vec<_> = quasi
                .iter()
                .filter_map(|position| table.codes(*position))
                .collect();
            order.sort_by_key(|row| {
                columns
                    .iter()
                    .map(|codes| codes.get(*row))
                    .collect::<Vec<u32>>()
            });
        }
    }
    // Equal stretches of the order, one for each site.
    let mut owners = vec![0; table.rows()];
    for (place, row) in order.into_iter().enumerate() {
        owners[row] = (place * sites / table.rows()) as u32;
    }
    owners
}

/// What a run cost.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Cost {
    pub(crate) rounds: u64,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) smc_calls: u64,
    pub(crate) seconds: f64,
    /// What the messages would take between institutions: 30 ms, 100 Mbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wan_seconds: Option<f64>,
}

/// The summary of a run; its keys are a contract.
#[derive(Serialize)]
pub(crate) struct Summary<'a> {
    study: &'a str,
    algorithm: &'static str,
    security: &'static str,
    records: u64,
    sites: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    classes: u64,
    suppressed: u64,
    achieved: Map<String, Value>,
    utility: &'a Utility,
    cost: Cost,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ledger: Vec<Value>,
    release: &'a std::path::Path,
    #[serde(skip)]
    holds: bool,
    #[serde(skip)]
    recode: hedgerow_data::Recode,
}

impl<'a> Summary<'a> {
    pub(crate) fn new(
        ready: &'a Ready,
        published: &'a Published,
        sites: usize,
        seed: Option<u64>,
        cost: Cost,
        ledger: Vec<Value>,
        site_diversity: Option<u64>,
    ) -> Self {
        let verdict = &published.verdict;
        let mut achieved = Map::new();
        let models = [
            ("k", &verdict.models.k),
            ("l_distinct", &verdict.models.l_distinct),
            ("l_entropy", &verdict.models.l_entropy),
        ];
        for (name, model) in models {
            if let Some(model) = model {
                achieved.insert(name.into(), json!(model.achieved));
            }
        }
        if let Some(t) = &verdict.models.t {
            let each = t
                .attributes
                .iter()
                .map(|attribute| (attribute.name.clone(), json!(attribute.achieved)));
            achieved.insert("t".into(), Value::Object(each.collect()));
        }
        if let Some(sites) = site_diversity {
            achieved.insert("site_diversity".into(), json!(Measure::Whole(sites)));
        }
        Self {
            study: &ready.study.name,
            algorithm: crate::study::algorithm(ready.study.algorithm),
            security: crate::study::security(ready.study.security),
            records: verdict.records,
            sites,
            seed,
            classes: verdict.classes,
            suppressed: 0,
            achieved,
            utility: &published.utility,
            cost,
            ledger,
            release: &published.folder,
            holds: verdict.holds.unwrap_or(true),
            recode: published.recode,
        }
    }

    pub(crate) fn answer(self) -> Answer {
        let mut text = format!(
            "{}: {} of {} in {}\n",
            if self.holds {
                "the release holds"
            } else {
                "THE RELEASE DOES NOT HOLD"
            },
            count(self.records, "record", "records"),
            count(self.sites as u64, "site", "sites"),
            count(self.classes, "class", "classes"),
        );
        let mut rows: Vec<Vec<String>> = self
            .achieved
            .iter()
            .map(|(name, value)| vec![format!("  achieved {name}"), value.to_string()])
            .collect();
        let loss = format!(
            "{:.2} % written as {:?}",
            self.utility.ncp * 100.0,
            self.recode
        );
        rows.push(vec![
            String::from("  loss (NCP)"),
            loss.to_lowercase().replace("ncp", "NCP"),
        ]);
        if self.sites > 1 {
            rows.push(vec![String::from("  rounds"), thousands(self.cost.rounds)]);
            rows.push(vec![
                String::from("  messages"),
                thousands(self.cost.messages),
            ]);
            rows.push(vec![String::from("  bytes"), thousands(self.cost.bytes)]);
        }
        if let Some(seconds) = self.cost.wan_seconds {
            rows.push(vec![
                String::from("  between institutions"),
                format!("{seconds:.1} s"),
            ]);
        }
        text.push_str(&aligned(&rows));
        if !self.ledger.is_empty() {
            text.push_str("each site learned\n");
            let lines = self.ledger.iter().map(|line| {
                let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
                vec![
                    format!("  {}", word("what")),
                    format!("{} values", line["values"]),
                    word("allowed_by"),
                ]
            });
            text.push_str(&aligned(&lines.collect::<Vec<_>>()));
        }
        text.push_str(&format!("release: {}\n", self.release.display()));
        let holds = self.holds;
        Answer::new(text, &self, holds)
    }
}
