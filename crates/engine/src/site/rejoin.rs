//! `hedgerow run rejoin`: for a site whose data folder was lost, or that is new in a study which has had
//! runs. The peers' nodes say which run is due.
//!
//! A lost folder cannot be restored: the seed of a run under way is gone, so that run is given up, by
//! this site first and then by all; and which runs the rows were in is not known any more, unless the
//! site's memory was kept, so that by `accept.rerun` the next run is refused, or the officer is asked.

use hedgerow_node::End;
use hedgerow_node::knock::Due;
use hedgerow_node::memory::How;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Site;
use super::part::Part;
use super::refused::SiteRefused;
use crate::error::Error;

/// How a site came back that lost its data folder, for people by [`Display`](std::fmt::Display) and as
/// JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejoined {
    /// The last run that was lost with the folder; 0 if no run was lost.
    pub lost: u32,
    /// The run that was under way and cannot go on.
    pub given_up: Option<u32>,
    /// Whether the memory knows which rows were in the lost runs.
    pub are_rows_known: Option<bool>,
}

impl Site {
    /// Finds the next run after the data folder was lost, or for a site that is new in a study. The nodes
    /// of all other sites must be running.
    pub async fn rejoin(&self) -> Result<Rejoined, Error> {
        rejoin(&self.part()?).await
    }
}

impl Rejoined {
    /// The run that is due.
    pub const fn next(&self) -> u32 {
        self.lost.saturating_add(1)
    }
}

impl std::fmt::Display for Rejoined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let next = self.next();
        match self.lost {
            0 => {
                return f
                    .write_str("no run was lost: run 1 is due\nhint: hedgerow run begins it\n");
            }
            1 => f.write_str("run 1 was lost with the data folder\n")?,
            last => writeln!(f, "runs 1 to {last} were lost with the data folder")?,
        }
        if let Some(run) = self.given_up {
            write!(
                f,
                "run {run} is under way and cannot go on without what was lost: it is given up here\nhint: have the others give it up too with hedgerow run --abandon --number {run}\n"
            )?;
        }
        if self.are_rows_known == Some(false) {
            write!(
                f,
                "which rows were in them is not known any more, so by accept.rerun the next run is refused or the privacy officer is asked\nhint: write rerun = \"ask\", and hedgerow run approve {next} --site …\n"
            )?;
        }
        writeln!(f, "run {next} is due")
    }
}

impl Serialize for Rejoined {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = json!({ "lost": self.lost, "next": self.next() });
        if let Some(known) = self.are_rows_known {
            value["given_up"] = Value::from(self.given_up);
            value["rows_known"] = known.into();
        }
        value.serialize(serializer)
    }
}

async fn rejoin(part: &Part) -> Result<Rejoined, Error> {
    if let Some(last) = part.runs()?.iter().map(|entry| entry.number).max() {
        let data = part.site.data.clone();
        return Err(SiteRefused::JournalThere { data, last }.into());
    }
    let answers = ask(part).await?;
    let last_of = |due: &Due| match due.is_under_way {
        true => due.number,
        false => due.number.saturating_sub(1),
    };
    let lasts = || answers.iter().map(|(_, due)| last_of(due));
    let (least, last) = (lasts().min().unwrap_or(0), lasts().max().unwrap_or(0));
    // A run may have begun, or ended, at some of the peers only.
    if last - least > 1 {
        let said: Vec<String> = answers
            .iter()
            .map(|(name, due)| format!("`{name}` has had {}", last_of(due)))
            .collect();
        return Err(SiteRefused::Disagreement { said }.into());
    }
    if last == 0 {
        return Ok(Rejoined {
            lost: 0,
            given_up: None,
            are_rows_known: None,
        });
    }
    let study = part.agreement.hash;
    let mut known = 0;
    for version in part.versions()? {
        known += part.memory.entered(&part.site.name, version)?;
    }
    let journal = part.journal()?;
    if known < last {
        let (site, name) = (&part.site.name, &part.agreement.study.name);
        let source = part.site.source.identity();
        part.memory.loses(site, study, name, &source)?;
    }
    journal.lose(study, last)?;
    part.renounce(&journal, last)?;
    part.memory.ends(&part.mark(last), How::GivenUp)?;
    drop(journal);
    let is_under_way = answers
        .iter()
        .any(|(_, due)| due.is_under_way && due.number == last);
    if is_under_way {
        part.decline(last, End::GivenUp).await;
    }
    Ok(Rejoined {
        lost: last,
        given_up: is_under_way.then_some(last),
        are_rows_known: Some(known >= last),
    })
}

/// Asks every peer's node which run is due.
async fn ask(part: &Part) -> Result<Vec<(String, Due)>, Error> {
    let door = part.door();
    let (mut answers, mut silent) = (Vec::new(), Vec::new());
    for (peer, name) in part.peers() {
        match door.ask(peer, &part.address(peer)?).await {
            Ok(due) => answers.push((name.to_owned(), due)),
            Err(error) => silent.push(format!("`{name}` {error}")),
        }
    }
    if silent.is_empty() {
        return Ok(answers);
    }
    Err(SiteRefused::Silent { silent }.into())
}
