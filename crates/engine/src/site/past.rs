//! What this site's rows were in before, by its memory and its journal, and whether they may be in one more
//! run: looked at before a run, and before a study is signed.

use hedgerow_node::agreement::{Agreement, StudyHash};
use hedgerow_node::journal::{Entry, Journal};
use hedgerow_node::memory::{Earlier, Mark, Memory, Print};
use hedgerow_node::rerun::Verdict;
use hedgerow_node::site::SiteFile;

use super::folder::table_folder;
use super::refused::SiteRefused;
use crate::error::Error;
use crate::joint::gate::{self, Beside};
use crate::study::ready::Ready;

/// The most runs that the gate of one more looks back at.
const MOST_RUNS: u32 = 1 << 16;

/// A site's past in a study, in all its versions.
pub(super) struct Past<'a> {
    pub(super) site: &'a SiteFile,
    pub(super) agreement: &'a Agreement,
    pub(super) memory: &'a Memory,
}

/// Whether a run may begin with certain rows.
pub(super) enum Leave {
    /// The run has begun with rows of this digest, which were looked at then.
    Begun(Vec<u8>),
    /// The officer has refused the run.
    TurnedDown,
    /// The site's rules say yes, no, or that the officer decides; the officer's word is counted in.
    By(Verdict),
}

impl Past<'_> {
    /// The runs of this study, in all its versions, in the journal.
    pub(super) fn runs(&self) -> Result<Vec<Entry>, Error> {
        let versions = self.versions()?;
        let mut entries = Journal::look(&self.site.data)?;
        entries.retain(|entry| versions.contains(&entry.study));
        Ok(entries)
    }

    /// This study and those that it is a new version of, as far as this site knows them.
    pub(super) fn versions(&self) -> Result<Vec<StudyHash>, Error> {
        let (study, parent) = (self.agreement.hash, self.agreement.parent());
        Ok(Journal::versions(&self.site.data, study, parent)?)
    }

    /// A run of this study in the memory.
    pub(super) fn mark(&self, number: u32) -> Mark {
        Mark {
            site: self.site.name.clone(),
            study: self.agreement.hash,
            number,
        }
    }

    /// The runs that these rows, or others of their source, were in: what the memory knows, and what the
    /// journal has of this study that the memory does not know, as runs of unknown rows. (A memory that
    /// was left behind with an old key would otherwise let anything through.)
    pub(super) fn earlier(&self, mark: &Mark, print: &Print) -> Result<Vec<Earlier>, Error> {
        let mut earlier = self.memory.earlier(mark, print)?;
        for entry in self.runs()? {
            let own = Mark {
                study: entry.study,
                number: entry.number,
                ..mark.clone()
            };
            let is_known = own == *mark || self.memory.has_begun(&own)?;
            let learned = Journal::learned(&self.site.data, entry.study, entry.number)?;
            let is_released = entry.is_over && !entry.is_given_up;
            if !is_known && (is_released || !learned.is_empty()) {
                earlier.push(Earlier {
                    study: self.agreement.study.name.clone(),
                    number: entry.number,
                    begun: entry.started,
                    how: Some(format!("not in {}", self.site.memory.display())),
                    hash: entry.study,
                    records: None,
                    is_same_rows: false,
                    has_release: false,
                });
            }
        }
        self.with_releases(earlier)
    }

    /// Earlier runs, with whether each has a release of this study here.
    pub(super) fn with_releases(&self, mut earlier: Vec<Earlier>) -> Result<Vec<Earlier>, Error> {
        let versions = self.versions()?;
        for one in &mut earlier {
            let folder = table_folder(&self.site.data, one.number, &self.agreement.study);
            one.has_release = one.how.as_deref() == Some("released")
                && versions.contains(&one.hash)
                && folder.exists();
        }
        Ok(earlier)
    }

    /// What the gate of a run lays beside the run's release: the releases of all runs before.
    pub(super) fn beside(&self, number: u32, ready: &Ready) -> Result<Beside, Error> {
        let asked = ready.asked();
        if !asked.two_releases && !asked.newcomers {
            return Ok(Beside::default());
        }
        // All sites count the runs before alike; nobody has so many.
        if number > MOST_RUNS {
            return Ok(Beside {
                earlier: vec![gate::Earlier::Unreadable],
            });
        }
        let runs = self.runs()?;
        let earlier = (1..number).map(|before| {
            let entry = runs.iter().find(|entry| entry.number == before);
            match entry.map(|entry| (entry.is_over, entry.is_given_up)) {
                Some((_, true)) => gate::Earlier::Lacking,
                Some((true, false)) => {
                    let folder = table_folder(&self.site.data, before, &self.agreement.study);
                    gate::Earlier::of_folder(&folder, before, ready)
                }
                // The journal does not say how the run ended.
                Some((false, false)) | None => gate::Earlier::Unreadable,
            }
        });
        Ok(Beside {
            earlier: earlier.collect(),
        })
    }

    /// Whether a run may begin with these rows.
    pub(super) fn leave(&self, number: u32, print: &Print) -> Result<Leave, Error> {
        let mut runs = self.runs()?.into_iter();
        if let Some(begun) = runs.find(|entry| entry.number == number) {
            return Ok(Leave::Begun(begun.rows));
        }
        let mark = self.mark(number);
        if self.memory.has_begun(&mark)? {
            return Err(Error::Site(SiteRefused::JournalLost {
                data: self.site.data.clone(),
                run: number,
            }));
        }
        let earlier = self.earlier(&mark, print)?;
        let gate = self.agreement.study.gate.as_ref();
        let verdict = self.site.accept.rerun(number, print, &earlier, gate);
        let word = self.memory.decision(&mark)?;
        if word.is_some_and(|word| !word.is_approved) {
            return Ok(Leave::TurnedDown);
        }
        let is_approved = word.is_some_and(|word| word.allows(print, &earlier));
        Ok(Leave::By(match verdict {
            Verdict::Asks(_) if is_approved => Verdict::Goes,
            other => other,
        }))
    }
}
