//! The privacy officer's word about a run.
//!
//! The word goes into the site's memory, which a node looks at while it waits, so that the word works
//! beside a node; where nobody is at work, a refusal is carried out here.

use hedgerow_node::journal::{Journal, JournalError};
use hedgerow_node::rerun::Rerun;

use super::Site;
use super::due::require_due;
use super::refused::SiteRefused;
use crate::error::Error;

/// Who carries out a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CarriedOut {
    /// A process of this site is at work, and goes on with the run or tells the peers.
    ByProcess,
    /// No process is at work at this site: an approved run begins when somebody asks for it, a refusal
    /// was told to the peers that could be reached.
    Here,
}

impl Site {
    /// Lets this site's rows be in a run that waits for the privacy officer's word, or will be asked for. A refusal
    /// cannot be taken back; an approval can, by [`Site::refuse`], until the run begins.
    pub fn approve(&self, number: u32) -> Result<CarriedOut, Error> {
        let part = self.part()?;
        require_due(&part.site.data, &part.versions()?, number)?;
        if part.site.accept.rerun != Rerun::Ask {
            return Err(SiteRefused::NoWordCounts.into());
        }
        if !part.memory.decide(&part.mark(number), true)? {
            return Err(SiteRefused::TurnedDown { run: number }.into());
        }
        Ok(match Journal::is_held(&part.site.data)? {
            true => CarriedOut::ByProcess,
            false => CarriedOut::Here,
        })
    }

    /// Keeps this site out of a run; the run's number is not used again.
    pub async fn refuse(&self, number: u32) -> Result<CarriedOut, Error> {
        let part = self.part()?;
        require_due(&part.site.data, &part.versions()?, number)?;
        if part.runs()?.iter().any(|entry| entry.number == number) {
            return Err(SiteRefused::HasBegun { run: number }.into());
        }
        part.memory.decide(&part.mark(number), false)?;
        match part.journal() {
            Ok(journal) => match part.turn_down(number, journal).await {
                Error::Refused { .. } => Ok(CarriedOut::Here),
                error => Err(error),
            },
            // The process at work waits for the officer's word, or will hear it before the run begins.
            Err(Error::Journal(JournalError::Busy { .. })) => Ok(CarriedOut::ByProcess),
            Err(error) => Err(error),
        }
    }
}
