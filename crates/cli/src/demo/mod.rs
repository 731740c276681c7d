//! `hedgerow demo`: the main job end to end with nothing installed. Four invented hospitals, each
//! with a key, rows and a node process of its own, publish one table over real connections; or a
//! clinic, a laboratory and an insurer publish what they know about the same patients.
//!
//! Whatever happens, nothing is left running: nodes end when this process does, in whatever way,
//! because their stdin ends with it.

mod hospitals;
mod institutions;
mod postgres;
mod processes;
mod question;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hedgerow::words::{aligned, count, thousands};
use hedgerow::{
    Alone, Questions, Release, Site, Standing, State, Table, Verdict, alone as site_alone,
};
use serde_json::{Value, json};

use crate::error::{CliError, DemoError};
use crate::output::{Answer, remark};
use crate::runtime::block_on;
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
    // The folder is removed last, when no process is at work in it.
    let folder = hospitals::Folder::new(arguments.keep.as_deref())?;
    let stopped = || Err(CliError::Stopped("stopped; nothing is left running"));
    block_on(demo(arguments, &folder), stopped)
}

async fn demo(arguments: &Arguments, folder: &hospitals::Folder) -> Result<Answer, CliError> {
    let started = Instant::now();
    remark(match arguments.vertical {
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
                remark("starting a PostgreSQL for each");
                for (place, hospital) in town.hospitals.iter().enumerate() {
                    let schema = town.study.declared().schema_at(place);
                    servers.push(programs.serve(hospital, &schema).await?);
                }
                uses_postgres = true;
            }
            Err(why) => remark(&format!("no PostgreSQL: {why}; rows are read from files")),
        }
    }
    remark("starting a node for each; they speak TLS 1.3 on loopback");
    let mut nodes = Vec::new();
    for hospital in &town.hospitals {
        nodes.push(Child::node(hospital)?);
    }
    let standings = together(&town, &mut nodes).await?;
    let answers = match arguments.vertical {
        true => None,
        false => {
            remark("asking all four a question; their nodes answer with totals, and no row moves");
            Some(question::together(&town).await?)
        }
    };
    drop(nodes);
    drop(servers);

    let Some(answers) = answers else {
        remark("checking the release at each");
        let joint = check(&town)?;
        let seconds = started.elapsed().as_secs_f64();
        let answer = institutions::Told {
            town: &town,
            joint: &joint,
            answers: &standings,
            uses_postgres,
            seconds,
        };
        return answer.answer(folder);
    };
    remark("checking the release at each hospital, and what each would have had alone");
    let joint = check(&town)?;
    let alone = alone(&town)?;
    let asked = question::Asked::beside(&town, &answers, &alone)?;
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
        "records": joint.found.records,
        "sites": rows,
        "together": { "classes": joint.found.classes, "ncp": ncp(&joint) },
        "cost": { "rounds": cost.rounds, "messages": cost.messages, "bytes": cost.bytes },
        "ledger": ledger,
        "question": asked.json(),
        "postgres": uses_postgres,
        "seconds": seconds,
    });
    if arguments.keep.is_some() {
        value["release"] = json!(town.hospitals[0].release());
    }
    let mut text = text(&town, &alone, &joint, &cost, &value)?;
    text.push_str(&asked.text());
    text.push_str(&kept(&town, folder));
    Ok(Answer::new(text, &value, true))
}

/// Has the hospitals run their study, shows how far each is, and returns what each node says.
async fn together(town: &Town, nodes: &mut [Child]) -> Result<Vec<Value>, CliError> {
    let started = Instant::now();
    let first = Site::open(town.hospitals[0].site_file())?;
    let mut is_asked = false;
    let mut lines = Lines::new(&town.hospitals);
    loop {
        for node in nodes.iter_mut() {
            node.see_alive()?;
        }
        if started.elapsed() > LONGEST {
            let seconds = LONGEST.as_secs();
            return Err(DemoError::TooLong { seconds }.into());
        }
        if !is_asked {
            // What `hedgerow run` does at a site whose node waits.
            is_asked = first.ring(1).await?;
        }
        let mut done = Vec::new();
        for (place, hospital) in town.hospitals.iter().enumerate() {
            let Some(standing) = Standing::read(&hospital.data(), 1) else {
                continue;
            };
            lines.show(place, &standing);
            if standing.state == State::Failed {
                let words = standing.words();
                let name = hospital.name.clone();
                return Err(DemoError::RunFailed { name, words }.into());
            }
            let answer = standing.answer;
            done.extend(answer.and_then(|(_, json, _)| serde_json::from_str(&json).ok()));
        }
        if done.len() == town.hospitals.len() {
            return Ok(done);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Sees that every hospital has the same release, signed by all, and that it holds.
fn check(town: &Town) -> Result<Verdict, CliError> {
    let wrong = |hospital: &Hospital, what: &'static str| {
        let release = hospital.release();
        Err(CliError::Demo(DemoError::Wrong { release, what }))
    };
    let read = |hospital: &Hospital, name: &str| std::fs::read(hospital.release().join(name)).ok();
    let first = &town.hospitals[0];
    let mut verdicts = Vec::new();
    for hospital in &town.hospitals {
        for name in town.study.declared().release_files() {
            let found = read(hospital, &name);
            if found.is_none() || found != read(first, &name) {
                return wrong(hospital, "the sites have different releases");
            }
        }
        let release = Release::open(hospital.release())?.with_study(town.study.clone());
        let verdict = hedgerow::verify(&release, &Questions::default())?;
        if !verdict.manifest.as_ref().is_some_and(|check| check.signed) {
            return wrong(hospital, "the release is not signed by all");
        }
        if verdict.found.holds != Some(true) {
            return wrong(hospital, "the release does not hold");
        }
        verdicts.push(verdict);
    }
    Ok(verdicts.swap_remove(0))
}

/// The detail of quasi-identifiers that a release lost.
fn ncp(verdict: &Verdict) -> f64 {
    verdict.utility.as_ref().map_or(0.0, |utility| utility.ncp)
}

/// Records of each hospital, and what the hospital would achieve alone.
type AloneOf = (u64, Result<Alone, String>);

fn alone(town: &Town) -> Result<Vec<AloneOf>, CliError> {
    let hospitals = town.hospitals.iter();
    let alone = |hospital: &Hospital| site_alone(&town.study, &Table::file(hospital.rows()));
    Ok(hospitals.map(alone).collect::<Result<_, _>>()?)
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
    joint: &Verdict,
    cost: &Cost,
    value: &Value,
) -> Result<String, CliError> {
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
            format!("loses {}", percent(ncp(joint))),
        ]);
    }
    let learned = value["ledger"].as_array().map_or(0, Vec::len);
    let mut text = format!(
        "the release holds: {} of four hospitals in {}, the same at all four and signed by all\n{}",
        count(joint.found.records, "record", "records"),
        count(joint.found.classes, "class", "classes"),
        aligned(&rows)
    );
    text.push_str(&format!(
        "lost is detail of the quasi-identifiers (NCP); alone, a hospital has no site diversity and no\nprotection from colluding sites; together it requires {}\n",
        town.requires()?
    ));
    let is_less = |(_, alone): &&AloneOf| matches!(alone, Ok(alone) if alone.ncp < ncp(joint));
    let hospitals = town.hospitals.iter().zip(alone);
    let less: Vec<&str> = hospitals
        .filter(|(_, alone)| is_less(alone))
        .map(|(hospital, _)| hospital.name.as_str())
        .collect();
    if !less.is_empty() {
        text.push_str(&format!(
            "{} loses less alone because less is required of it there; with more records (--rows) what\nseveral have in common outweighs that\n",
            hedgerow::data::quoted_list(&less)
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
    Ok(text)
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
