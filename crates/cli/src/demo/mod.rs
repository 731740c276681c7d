//! `hedgerow demo`: the main job end to end with nothing installed. Four invented hospitals, each
//! with a key, rows and a node process of its own, publish one table over real connections; or a
//! clinic, a laboratory and an insurer publish what they know about the same patients.
//!
//! Whatever happens, nothing is left running: nodes end when this process does, in whatever way,
//! because their stdin ends with it.

mod hospitals;
mod postgres;
mod processes;
mod shared;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hedgerow_data::files::{Others, read_table};
use hedgerow_node::identity::{Purpose, from_hex};
use hedgerow_node::run::statement_digest;
use serde_json::{Value, json};

use crate::baselines::Alone;
use crate::error::CliError;
use crate::joint::Published;
use crate::manifest;
use crate::output::{Answer, aligned, count, talk, thousands};
use crate::part::Part;
use crate::run::{block_on, ring};
use crate::standing::{Standing, State};
use hospitals::{Hospital, Town};
use processes::{Child, Lines};

/// A run that takes longer than this is given up.
const LONGEST: Duration = Duration::from_secs(600);

/// See it work: four invented hospitals, or three institutions that know the same patients, real
/// encrypted connections, one joint release, verified.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow demo --keep demo
  hedgerow demo --vertical")]
pub(crate) struct Arguments {
    /// Keep everything in this folder, to look at.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Records of all hospitals together, or patients of the institutions.
    #[arg(long, default_value_t = 3000)]
    rows: u64,
    /// Three institutions that know different things about the same patients.
    #[arg(long)]
    vertical: bool,
    /// Give each hospital a PostgreSQL of its own, where one is installed.
    #[arg(long)]
    postgres: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    // The folder goes last, when nobody is at work in it.
    let folder = hospitals::Folder::new(arguments.keep.as_deref())?;
    let stopped = || {
        Err(CliError::Usage(String::from(
            "stopped; nothing is left running",
        )))
    };
    block_on(demo(arguments, &folder), stopped)
}

async fn demo(arguments: &Arguments, folder: &hospitals::Folder) -> Result<Answer, CliError> {
    let started = Instant::now();
    talk(match arguments.vertical {
        true => {
            "making a clinic, a laboratory and an insurer that know the same patients, with keys, and a study that all three sign"
        }
        false => {
            "making four hospitals with their own records and keys, and a study that all four sign"
        }
    });
    let town = Town::build(folder.path(), arguments.rows, arguments.vertical)?;
    let mut servers = Vec::new();
    let mut uses_postgres = false;
    if arguments.postgres {
        match postgres::Programs::find() {
            Ok(programs) => {
                talk("starting a PostgreSQL for each");
                for (place, hospital) in town.hospitals.iter().enumerate() {
                    let schema = town.ready.study.schema_at(place);
                    servers.push(programs.serve(hospital, &schema).await?);
                }
                uses_postgres = true;
            }
            Err(why) => talk(&format!("no PostgreSQL: {why}; rows are read from files")),
        }
    }
    talk("starting a node for each; they speak TLS 1.3 on loopback");
    let mut nodes = Vec::new();
    for hospital in &town.hospitals {
        nodes.push(Child::node(hospital)?);
    }
    let standings = together(&town, &mut nodes).await?;
    drop(nodes);
    drop(servers);

    if arguments.vertical {
        talk("checking the release at each");
        let joint = check(&town)?;
        let seconds = started.elapsed().as_secs_f64();
        let answer = shared::Told {
            town: &town,
            joint: &joint,
            answers: &standings,
            uses_postgres,
            seconds,
        };
        return Ok(answer.answer(folder));
    }
    talk("checking the release at each hospital, and what each would have had alone");
    let joint = check(&town)?;
    let alone = alone(&town)?;
    let cost = Cost::sum(&standings);
    let seconds = started.elapsed().as_secs_f64();
    let ledger = standings[0]["ledger"].clone();
    let rows: Vec<Value> = town
        .hospitals
        .iter()
        .zip(&alone)
        .map(|(hospital, (records, alone))| match alone {
            Ok(alone) => json!({ "site": hospital.name, "records": records, "alone": alone }),
            Err(fails) => {
                json!({ "site": hospital.name, "records": records, "cannot_publish": fails })
            }
        })
        .collect();
    let mut value = json!({
        "holds": true,
        "records": joint.verdict.records,
        "sites": rows,
        "together": { "classes": joint.verdict.classes, "ncp": joint.utility.ncp },
        "cost": { "rounds": cost.rounds, "messages": cost.messages, "bytes": cost.bytes },
        "ledger": ledger,
        "postgres": uses_postgres,
        "seconds": seconds,
    });
    if arguments.keep.is_some() {
        value["release"] = json!(town.hospitals[0].release());
    }
    let text = text(&town, &alone, &joint, &cost, &value, folder);
    Ok(Answer::new(text, &value, true))
}

/// Has the hospitals run their study, shows how far each is, and returns what each node says.
async fn together(town: &Town, nodes: &mut [Child]) -> Result<Vec<Value>, CliError> {
    let started = Instant::now();
    let first = Part::open(&town.hospitals[0].site_file())?;
    let mut is_asked = false;
    let mut lines = Lines::new(&town.hospitals);
    loop {
        for node in nodes.iter_mut() {
            node.see_alive()?;
        }
        if started.elapsed() > LONGEST {
            return Err(CliError::Usage(format!(
                "the sites are not done after {} s",
                LONGEST.as_secs()
            )));
        }
        if !is_asked {
            // What `hedgerow run` does at a site whose node waits.
            is_asked = ring(&first, 1).await?;
        }
        let mut done = Vec::new();
        for (place, hospital) in town.hospitals.iter().enumerate() {
            let Some(standing) = Standing::read(&hospital.data(), 1) else {
                continue;
            };
            lines.show(place, &standing);
            if standing.state == State::Failed {
                let words = standing.words();
                return Err(CliError::Usage(format!("{}: {words}", hospital.name)));
            }
            let answer = standing.into_answer();
            done.extend(answer.and_then(|answer| serde_json::from_str(&answer.json).ok()));
        }
        if done.len() == town.hospitals.len() {
            return Ok(done);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Sees that every hospital has the same release, signed by all, and that it holds.
fn check(town: &Town) -> Result<Published, CliError> {
    let wrong = |hospital: &Hospital, what: &str| {
        Err(CliError::Usage(format!(
            "{}: {what}\nhint: this is a mistake in hedgerow; please report it",
            hospital.release().display()
        )))
    };
    let read = |hospital: &Hospital, name: &str| std::fs::read(hospital.release().join(name)).ok();
    let first = &town.hospitals[0];
    for hospital in &town.hospitals {
        for name in town.ready.study.release_files() {
            let found = read(hospital, &name);
            if found.is_none() || found != read(first, &name) {
                return wrong(hospital, "the sites have different releases");
            }
        }
        let manifest = read(hospital, manifest::FILE).unwrap_or_default();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
        if !is_signed(town, &manifest) {
            return wrong(hospital, "the release is not signed by all");
        }
        if town.ready.look(&hospital.release())?.0.verdict.holds != Some(true) {
            return wrong(hospital, "the release does not hold");
        }
    }
    Ok(town.ready.look(&first.release())?.0)
}

fn is_signed(town: &Town, manifest: &Value) -> bool {
    let signed = &manifest["signed"];
    let digest = statement_digest(town.hash, 1, &manifest::statement(signed));
    let mut entries = town.keys.iter().enumerate();
    let is_sound = |(place, key): (usize, &hedgerow_node::identity::PublicKey)| {
        let signature = manifest["signatures"][place]["signature"].as_str();
        let signature = signature.and_then(from_hex);
        signature.is_some_and(|signature| key.verifies(Purpose::Release, &digest, &signature))
    };
    let is_named = |name: &String| {
        let hash = manifest::hash(&town.hospitals[0].release().join(name));
        hash.is_ok_and(|hash| signed["files"][name] == *hash)
    };
    town.ready.study.release_files().iter().all(is_named) && entries.all(is_sound)
}

/// Records of each hospital, and what it would have alone.
type AloneOf = (u64, Result<Alone, String>);

fn alone(town: &Town) -> Result<Vec<AloneOf>, CliError> {
    let mut all = Vec::new();
    for hospital in &town.hospitals {
        let schema = &town.ready.study.schema;
        let table = read_table(&hospital.rows(), schema, &Others::Refuse, &())?;
        all.push((table.rows() as u64, Alone::run(&town.ready, &table)?));
    }
    Ok(all)
}

/// What the run cost all hospitals together.
struct Cost {
    rounds: u64,
    messages: u64,
    bytes: u64,
}

impl Cost {
    fn sum(answers: &[Value]) -> Self {
        let of = |name: &'static str| {
            let each = answers.iter().map(move |answer| &answer["cost"][name]);
            each.map(|cost| cost.as_u64().unwrap_or(0))
        };
        Self {
            rounds: of("rounds").max().unwrap_or(0),
            messages: of("messages").sum(),
            bytes: of("bytes").sum(),
        }
    }
}

fn text(
    town: &Town,
    alone: &[AloneOf],
    joint: &Published,
    cost: &Cost,
    value: &Value,
    folder: &hospitals::Folder,
) -> String {
    let percent = |loss: f64| format!("{:.1} %", loss * 100.0);
    let head = ["hospital", "records", "alone", "together"].map(String::from);
    let mut rows = vec![head.to_vec()];
    for (hospital, (records, alone)) in town.hospitals.iter().zip(alone) {
        rows.push(vec![
            hospital.name.clone(),
            thousands(*records),
            match alone {
                Ok(alone) => format!("loses {}", percent(alone.ncp)),
                Err(fails) => format!("nothing: its records fail {fails}"),
            },
            format!("loses {}", percent(joint.utility.ncp)),
        ]);
    }
    let learned = value["ledger"].as_array().map_or(0, Vec::len);
    let mut text = format!(
        "the release holds: {} of four hospitals in {}, the same at all four and signed by all\n{}",
        count(joint.verdict.records, "record", "records"),
        count(joint.verdict.classes, "class", "classes"),
        aligned(&rows)
    );
    text.push_str(&format!(
        "lost is detail of the quasi-identifiers (NCP); alone, a hospital has no site diversity and no\nprotection from colluding sites; together it requires {}\n",
        town.requires()
    ));
    let is_less =
        |(_, alone): &&AloneOf| matches!(alone, Ok(alone) if alone.ncp < joint.utility.ncp);
    let hospitals = town.hospitals.iter().zip(alone);
    let less: Vec<&str> = hospitals
        .filter(|(_, alone)| is_less(alone))
        .map(|(hospital, _)| hospital.name.as_str())
        .collect();
    if !less.is_empty() {
        text.push_str(&format!(
            "{} loses less alone because less is required of it there; with more records (--rows) what\nseveral have in common outweighs that\n",
            hedgerow_data::quoted_list(&less)
        ));
    }
    text.push_str(&format!(
        "{} rounds, {} messages, {:.1} MB between the nodes; {:.1} s in all\n",
        thousands(cost.rounds),
        thousands(cost.messages),
        cost.bytes as f64 / 1e6,
        value["seconds"].as_f64().unwrap_or(0.0)
    ));
    text.push_str(&format!(
        "each hospital learned {learned} kinds of things beyond its own records, every one allowed by the\nstudy; the manifest lists them with the theorem that allows each\n"
    ));
    text.push_str(&kept(town, folder));
    text
}

fn kept(town: &Town, folder: &hospitals::Folder) -> String {
    let release = town.hospitals[0].release();
    if folder.is_kept() {
        let path = |path: &Path| path.display().to_string();
        format!(
            "release: {}\nreport: {}\nkept: {}\n",
            path(&release),
            path(&release.join("report.html")),
            path(folder.path())
        )
    } else {
        String::from(
            "the folder with keys, rows and releases is removed; hedgerow demo --keep DIR keeps it to look at\n",
        )
    }
}
