//! The gate before a run: whether this site's rows may be in it, by the site's rules and its memory of
//! earlier runs, or by the word of its privacy officer.

use std::time::Duration;

use hedgerow_node::End;
use hedgerow_node::journal::Journal;
use hedgerow_node::memory::{Earlier, Print};
use hedgerow_node::rerun::Verdict;

use super::part::Part;
use super::past::Leave;
use super::refused::SiteRefused;
use super::standing::Board;
use crate::error::Error;
use crate::observe::Notice;

/// How often a run that waits for the officer looks for a decision.
const POLLING: Duration = Duration::from_millis(250);

impl Part {
    /// The journal, if the run may begin or go on with these rows. Where the privacy officer decides,
    /// the call waits for the officer's word, however long that takes.
    pub(super) async fn permit(
        &self,
        number: u32,
        print: &Print,
        held: Option<Journal>,
        board: &Board,
    ) -> Result<Journal, Error> {
        let journal = |held: Option<Journal>| held.map_or_else(|| self.journal(), Ok);
        let verdict = match self.past().leave(number, print)? {
            // A run that has begun passed this gate then.
            Leave::Begun(_) => return journal(held),
            Leave::TurnedDown => return Err(self.turn_down(number, journal(held)?).await),
            Leave::By(verdict) => verdict,
        };
        let mark = self.mark(number);
        match verdict {
            Verdict::Goes => journal(held),
            Verdict::Refused(refusal) => Err(SiteRefused::Rerun(refusal).into()),
            Verdict::Asks(why) => {
                let journal = journal(held)?;
                self.memory.asks(&mark, print, &why)?;
                board.asking(&why);
                self.observer.notice(Notice::Asking { run: number, why });
                loop {
                    tokio::time::sleep(POLLING).await;
                    match self.memory.decision(&mark)? {
                        None => {}
                        Some(word) if word.is_approved => break,
                        Some(_) => return Err(self.turn_down(number, journal).await),
                    }
                }
                self.observer.notice(Notice::Approved { run: number });
                board.going_on();
                Ok(journal)
            }
        }
    }

    /// Whether rows may be sent, by what other runs did until now.
    pub(super) fn may_send(
        &self,
        number: u32,
        print: &Print,
    ) -> Result<impl FnOnce(&[Earlier]) -> bool + Send + use<>, Error> {
        let (accept, print) = (self.site.accept.clone(), print.clone());
        let gate = self.agreement.study.gate.clone();
        let word = self.memory.decision(&self.mark(number))?;
        // Runs that only the journal knows were looked at before; nothing is added to them meanwhile.
        let known = self.memory.earlier(&self.mark(number), &print)?.len();
        let all = self.past().earlier(&self.mark(number), &print)?;
        let unknown: Vec<Earlier> = all.iter().skip(known).cloned().collect();
        Ok(move |earlier: &[Earlier]| {
            let mut earlier = [earlier, &unknown].concat();
            // A release that came since nobody has looked at.
            for one in &mut earlier {
                let seen = all
                    .iter()
                    .find(|seen| (seen.hash, seen.number) == (one.hash, one.number));
                one.has_release = seen.is_some_and(|seen| seen.has_release);
            }
            match accept.rerun(number, &print, &earlier, gate.as_ref()) {
                Verdict::Goes => true,
                Verdict::Asks(_) => word.is_some_and(|word| word.allows(&print, &earlier)),
                Verdict::Refused(_) => false,
            }
        })
    }

    /// Takes no part in a run, now or later, and tells the peers.
    pub(crate) async fn turn_down(&self, number: u32, journal: Journal) -> Error {
        let renounced = self.renounce(&journal, number);
        drop(journal);
        if let Err(error) = renounced {
            return error;
        }
        self.decline(number, End::GivenUp).await;
        Error::Refused { run: number }
    }

    /// Enters a run in which this site never has a part.
    pub(crate) fn renounce(&self, journal: &Journal, number: u32) -> Result<(), Error> {
        // A study has at most 1,000 sites that can run.
        let place = (self.place, self.keys.len() as u16);
        journal.renounce(self.agreement.hash, number, place)?;
        Ok(self.memory.answered(&self.mark(number))?)
    }
}
