//! Whether this site would take part in a run of a study, asked before anybody signs: everything that a run
//! would refuse at its gate, all at once, with the lines of `site.toml` to change.
//!
//! The study's signatures are told and not demanded. What only a run can find out is not looked at: whether
//! peers can be reached, how many records all sites have together, and whether a port is free.

mod lines;
mod told;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::Table;
use hedgerow_node::accept::{Mend, Refusal};
use hedgerow_node::agreement::{Agreement, Standing};
use hedgerow_node::journal::JournalError;
use hedgerow_node::memory::{Memory, Print};
use hedgerow_node::rerun::Verdict;
use hedgerow_node::site::SiteFile;
use hedgerow_node::source::digest;
use serde::Serialize;

use super::Site;
use super::acceptance::Admission;
use super::due::{due, require_due};
use super::part::warn;
use super::past::{Leave, Past};
use super::refused::SiteRefused;
use super::up::NodeStatus;
use super::ways::{hub_of, listens_at, way_to};
use crate::error::Error;
use crate::study::ready::{Ready, see_fit};
use crate::words::count;

/// Whether a site would take part in a run of a study. Its [`Display`](std::fmt::Display) is for people, its
/// JSON for machines.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SiteCheck {
    /// The site's file.
    pub file: PathBuf,
    /// The site's name.
    pub site: String,
    /// The study's name.
    pub study: String,
    /// The study's hash.
    pub hash: String,
    /// Whether the site would take part.
    pub accepted: bool,
    /// Everything that speaks against it.
    pub faults: Vec<SiteFault>,
    /// What to know, though it is no fault.
    pub notes: Vec<String>,
    /// The records that the site would bring, where they could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The sites that have not signed the study as it is.
    pub unsigned: Vec<String>,
}

/// Something that would keep a site out of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SiteFault {
    /// What it is about: `study`, `site`, `key`, `address`, `rows`, `runs`, or a rule such as
    /// `accept.minimum_k`.
    pub about: String,
    /// What is wrong, and what to do.
    pub why: String,
    /// The lines of the site's file that would accept the study.
    pub lines: Vec<SiteLine>,
    /// The same as `why`, where `why` may name a value of a record.
    #[serde(skip)]
    plain: Option<String>,
}

/// A line of a site's file that would accept a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SiteLine {
    /// What is to be done with it.
    pub change: Change,
    /// The line's number, from 1; nothing where the line is to be added to `[accept]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The last line, where the rule stands on several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<usize>,
    /// What stands there then: the whole line, or a word of a list; of a rule that is taken away, its key.
    pub text: String,
}

/// What is to be done with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Change {
    /// The `#` before it is taken away.
    Uncomment,
    /// The line says something else now, without a `#`.
    Rewrite,
    /// A word is added to the list that begins there, or a line to `[accept]`.
    Add,
    /// The rule is taken away.
    Remove,
    /// The rule has a value that a person must know.
    Choose,
}

impl Site {
    /// Whether this site would take part in a run of the study that its file names, or of another, before
    /// anybody has signed. Rows are read, and nothing is written or sent.
    ///
    /// Files that cannot be read as what they are, the site's own and the study, are errors; everything
    /// else that is wrong is a fault, and all faults are told at once.
    pub async fn check(&self, study: Option<&Path>) -> Result<SiteCheck, Error> {
        let site = &self.file;
        warn(site, &self.observer);
        let path = study.unwrap_or(&site.study);
        let agreement = Arc::new(Agreement::open(path)?);
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let mut look = Look {
            admission: Admission {
                path: &self.path,
                site,
                agreement: &agreement,
            },
            text: &text,
            faults: Vec::new(),
            notes: Vec::new(),
        };
        if study.is_some() && !is_named(site, &agreement) {
            look.notes.push(format!(
                "{} names {}, which is not this study: a run would be of that one",
                self.path.display(),
                site.study.display()
            ));
        }
        if NodeStatus::has_older_file(site)? {
            look.notes.push(format!(
                "this site's node goes by {} as it was before a change: send the node SIGHUP, and it reads the file anew",
                self.path.display()
            ));
        }
        look.at_peers();
        let records = match look.admission.place() {
            Ok(place) => look.at(place, &agreement).await,
            Err(error) => {
                look.fault("site", &error);
                None
            }
        };
        let standings = agreement.standings().unwrap_or_default();
        let sites = agreement.study.sites.iter().zip(standings);
        let unsigned = sites.filter(|(_, standing)| *standing != Standing::Signed);
        Ok(SiteCheck {
            site: site.name.clone(),
            study: agreement.study.name.clone(),
            hash: agreement.hash.to_string(),
            accepted: look.faults.is_empty(),
            faults: look.faults,
            notes: look.notes,
            records,
            unsigned: unsigned.map(|(site, _)| site.name.clone()).collect(),
            file: self.path.clone(),
        })
    }
}

/// Whether the site's file names this very study.
fn is_named(site: &SiteFile, agreement: &Agreement) -> bool {
    let named = Agreement::open(&site.study);
    named.is_ok_and(|named| named.hash == agreement.hash)
}

/// A look at everything, which goes on whatever it finds.
struct Look<'a> {
    admission: Admission<'a>,
    /// The text of the site's file.
    text: &'a str,
    faults: Vec<SiteFault>,
    notes: Vec<String>,
}

impl Look<'_> {
    fn fault(&mut self, about: &str, why: &dyn std::fmt::Display) {
        self.faults.push(SiteFault {
            about: about.to_owned(),
            why: why.to_string(),
            lines: Vec::new(),
            plain: None,
        });
    }

    fn note<T>(&mut self, about: &str, found: Result<T, Error>) -> Option<T> {
        let note = |error: Error| {
            self.faults.push(SiteFault {
                about: about.to_owned(),
                why: error.to_string(),
                lines: Vec::new(),
                plain: Some(error.without_values()),
            });
        };
        found.map_err(note).ok()
    }

    /// A rule that speaks against the study, with the lines to change.
    fn refusal(&mut self, refusal: &Refusal) {
        self.faults.push(SiteFault {
            about: format!("accept.{}", refusal.rule),
            why: refusal.why.clone(),
            lines: lines::lines(self.text, refusal.rule, &refusal.mend),
            plain: None,
        });
    }

    fn at_peers(&mut self) {
        let found = self.admission.see_peers();
        self.note("address", found);
    }

    /// Looks at everything that a run of the site at this place would refuse; returns the number of its
    /// records.
    async fn at(&mut self, place: usize, agreement: &Arc<Agreement>) -> Option<u64> {
        let (site, study) = (self.admission.site, &agreement.study);
        if let Some(keys) = self.note("study", agreement.keys().map_err(Error::from)) {
            let found = self.admission.secret(&keys[place]);
            self.note("key", found);
        }
        let ready = self.note("study", Ready::of(agreement));
        let hub = ready.as_ref().and_then(hub_of);
        if let Some(ready) = &ready {
            for refusal in self.admission.refusals(place, ready) {
                self.refusal(&refusal);
            }
        }
        if study.sites.len() < 2 {
            self.fault("study", &SiteRefused::Alone);
        }
        self.note("address", listens_at(site, study, place, hub));
        // In a star all others are reached through the hub, and the hub has the leaves call.
        let dialed = |peer: usize| hub.is_none_or(|hub| usize::from(hub) == peer);
        let peers = (0..study.sites.len()).filter(|peer| *peer != place && dialed(*peer));
        for peer in peers {
            self.note("address", way_to(site, study, peer));
        }
        let table = self.rows(place, agreement).await?;
        let records = table.records();
        if let Some(ready) = &ready {
            self.note("rows", ready.see_room(records));
        }
        if records > site.accept.maximum_records() {
            let most = site.accept.maximum_records();
            let why = SiteRefused::TooManyRecords { most, records };
            let why = why.to_string().replacen("accept.maximum_records: ", "", 1);
            let mend = Mend::Choose(String::from("as many as all sites have together, or more"));
            let rule = "maximum_records";
            self.refusal(&Refusal { rule, why, mend });
        }
        let left = self.past(agreement, &table);
        self.note("runs", left);
        if study.query.is_some() && site.accept.query.from.is_empty() {
            self.notes.push(String::from(
                "[accept.query] lists nobody, so this site answers no questions, and none are answered of its records",
            ));
        }
        Some(records)
    }

    /// The site's rows, if they fit the study.
    async fn rows(&mut self, place: usize, agreement: &Agreement) -> Option<Table> {
        let source = &self.admission.site.source;
        let schema = agreement.study.schema_at(place);
        let read = source
            .table(&schema, agreement.study.is_counted(), &())
            .await
            .map_err(Error::from);
        let table = self.note("rows", read)?;
        let fits = see_fit(&agreement.study, &table, &source.name());
        self.note("rows", fits);
        Some(table)
    }

    /// Looks at the runs that these rows were in.
    fn past(&mut self, agreement: &Agreement, table: &Table) -> Result<(), Error> {
        let site = self.admission.site;
        let memory = Memory::at(&site.memory);
        let past = Past {
            site,
            agreement,
            memory: &memory,
        };
        let versions = past.versions()?;
        let due = due(&site.data, &versions);
        require_due(&site.data, &versions, due.number)?;
        let print = match site.memory.exists() {
            true => memory.print(&site.source, table, agreement.study.partition)?,
            // Nothing is remembered yet, and a look makes no memory.
            false => Print {
                source: site.source.identity(),
                bytes: None,
                rows: [0; 32],
                records: table.records(),
            },
        };
        match past.leave(due.number, &print)? {
            Leave::Begun(rows) if rows == digest(table) => self
                .notes
                .push(format!("run {} is under way, with these rows", due.number)),
            Leave::Begun(_) => {
                let changed = JournalError::RowsChanged { run: due.number };
                self.fault("rows", &changed);
            }
            Leave::TurnedDown => {
                self.fault(
                    "runs",
                    &format!("run {} was refused by the officer", due.number),
                );
            }
            Leave::By(Verdict::Goes) => {}
            Leave::By(Verdict::Refused(refusal)) => self.refusal(&refusal),
            Leave::By(Verdict::Asks(why)) => self.notes.push(format!(
                "run {} would wait for the privacy officer: {why}",
                due.number
            )),
        }
        Ok(())
    }
}

impl SiteFault {
    /// What is wrong, and what to do, for pages and files that others read: where a record is wrong, and not what
    /// the record says.
    pub fn without_values(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.why)
    }
}

impl SiteCheck {
    /// How many faults there are, in words.
    fn number(&self) -> String {
        count(self.faults.len() as u64, "reason", "reasons")
    }
}
