//! `hedgerow demo`: the main job end to end with nothing installed. Four invented hospitals, each
//! with a key, rows and a node process of its own, publish one table over real connections; or a
//! clinic, a laboratory and an insurer publish what they know about the same patients.
//!
//! Whatever happens, nothing is left running: nodes end when this process does, in whatever way,
//! because their stdin ends with it.

mod folder;
mod hospitals;
mod postgres;
mod processes;
mod question;
mod told;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hedgerow::{
    Alone, Questions, Release, Site, Standing, State, Study, Table, Verdict, alone as site_alone,
};
use serde_json::Value;

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
  hedgerow demo
  hedgerow demo --vertical --remove")]
pub(crate) struct Arguments {
    /// Keep everything in this folder, to look at; in hedgerow-demo if not given.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Leave nothing.
    #[arg(long, conflicts_with = "keep")]
    remove: bool,
    /// Records of all hospitals together, or patients of the institutions.
    #[arg(long, default_value_t = 2000)]
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
    let folder = match arguments.remove {
        true => folder::Folder::temporary(),
        false => folder::Folder::kept(arguments.keep.as_deref()),
    }?;
    let stopped = || Err(CliError::Stopped("stopped; nothing is left running"));
    block_on(demo(arguments, &folder), stopped)
}

async fn demo(arguments: &Arguments, folder: &folder::Folder) -> Result<Answer, CliError> {
    let started = Instant::now();
    let (who, they) = match arguments.vertical {
        true => (
            "a clinic, a laboratory and an insurer know different things about the same patients",
            "all three",
        ),
        false => (
            "four hospitals have records of different patients, and may not show them to each other",
            "all four",
        ),
    };
    remark(who);
    let town = Town::build(folder.path(), arguments.rows, arguments.vertical)?;
    remark(&format!(
        "each has made a secret key, has read the study (every class satisfies {}), and has signed it",
        town.requires()?
    ));
    let mut servers = Vec::new();
    let mut uses_postgres = false;
    if arguments.postgres {
        match postgres::Programs::find() {
            Ok(programs) => {
                remark("a PostgreSQL is started for each, with its records");
                for (place, hospital) in town.hospitals.iter().enumerate() {
                    let schema = town.study.declared().schema_at(place);
                    servers.push(programs.serve(hospital, &schema).await?);
                }
                uses_postgres = true;
            }
            Err(why) => remark(&format!("no PostgreSQL: {why}; rows are read from files")),
        }
    }
    remark(&format!(
        "starting a node for each; the nodes know each other by their keys and speak TLS 1.3 on loopback;\n{they} are asked to run the study"
    ));
    let mut nodes = Vec::new();
    for hospital in &town.hospitals {
        nodes.push(Child::node(hospital)?);
    }
    let standings = together(&town, &mut nodes).await?;
    remark("each node has written the release and the signatures of all");
    let answers = match arguments.vertical {
        true => None,
        false => {
            remark("asking all four a question; their nodes answer with totals, and no row moves");
            Some(question::together(&town).await?)
        }
    };
    drop(nodes);
    drop(servers);

    remark(&format!(
        "checking the release of {they}, and what each would have had alone"
    ));
    let joint = check(&town)?;
    let alone = alone(&town)?;
    let told = told::Told {
        town: &town,
        folder,
        joint: &joint,
        alone: &alone,
        standings: &standings,
        uses_postgres,
        seconds: started.elapsed().as_secs_f64(),
    };
    match answers {
        Some(answers) => told.hospitals(&question::Asked::beside(&town, &answers, &alone)?),
        None => told.institutions(),
    }
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

/// Records of each hospital, and what the hospital would achieve alone; nothing for an institution that knows no
/// quasi-identifier.
type AloneOf = (u64, Option<Result<Alone, String>>);

fn alone(town: &Town) -> Result<Vec<AloneOf>, CliError> {
    let of = |hospital: &Hospital| {
        let Some(study) = &hospital.alone else {
            return Ok((hospital.people, None));
        };
        let (records, alone) = site_alone(&Study::open(study)?, &Table::file(hospital.rows()))?;
        Ok((records, Some(alone)))
    };
    town.hospitals.iter().map(of).collect()
}
