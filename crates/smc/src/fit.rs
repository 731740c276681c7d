//! Whether opened numbers are possible: a check by a site that knows its own numbers and the public
//! totals.
//!
//! A sum is opened modulo 2^64 and does not show which site added what. But parts make up a whole, all
//! sites together have no fewer records than this site alone, and a whole is bounded: a site checks
//! opened numbers before it counts, allocates or cuts by them. Who told a number that all are to know
//! ([`Party::tell_each`]) is known, and named.
//!
//! # Discloses
//! Nothing.

use crate::error::Error;
use crate::ledger::What;
use crate::network::Site;
use crate::party::Party;

impl Party {
    /// From now on, a joint table of more records than this cannot be.
    pub const fn limit_records(&mut self, most: u64) {
        self.most_records = most;
    }

    /// Ends the run where all sites together have more records than this site takes part with.
    pub fn accept_records(&self, what: What, records: u64) -> Result<(), Error> {
        if records <= self.most_records {
            return Ok(());
        }
        Err(Error::TooManyRecords {
            question: self.calls(),
            what: what.name(),
            records,
            most: self.most_records,
        })
    }

    /// The error for numbers of the last question that do not fit together.
    pub fn misfit(&self, what: What, problem: &'static str) -> Error {
        Error::Misfit {
            question: self.calls(),
            what: what.name(),
            problem,
        }
    }

    /// Ends the run where the numbers of the last question do not fit together.
    pub fn fit(&self, what: What, fits: bool, problem: &'static str) -> Result<(), Error> {
        if fits {
            Ok(())
        } else {
            Err(self.misfit(what, problem))
        }
    }

    /// The error for numbers that a site told in the last question and that cannot be that site's.
    pub fn misfit_of(&self, peer: Site, what: What, problem: &'static str) -> Error {
        Error::Told {
            peer,
            question: self.calls(),
            what: what.name(),
            problem,
        }
    }

    /// Ends the run where the numbers that a site told in the last question cannot be that site's.
    pub fn fit_told(
        &self,
        peer: Site,
        what: What,
        fits: bool,
        problem: &'static str,
    ) -> Result<(), Error> {
        if fits {
            Ok(())
        } else {
            Err(self.misfit_of(peer, what, problem))
        }
    }
}
