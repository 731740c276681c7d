//! At least: is a sum over all sites at least a public number?
//!
//! `published`: TG12 section 3.2, the permuted hash set, whose length grows with the bound.
//! `hardened`: with three sites or more, a dealer's distributed comparison function (Boyle et
//! al., EUROCRYPT 2021) evaluated on the masked sum; with two sites, a garbled comparator. Three
//! rounds however many comparisons; the cost follows the public bound on the sums.
//!
//! Guarantee: a single site learns one bit per comparison and nothing else. Of three or more
//! sites, two of the three with roles, colluding, learn the sums but not the summands of others.
//!
//! # Discloses
//! One bit per comparison, to all sites. With two sites the bit bounds the other's summand, in
//! any protocol.

mod dealt;
mod function;
mod garbled;
mod published;

use crate::draft::Draft;
use crate::error::{Error, OwnConfig, OwnData};
use crate::ideal;
use crate::ledger::{Sealed, To, What};
use crate::party::{Engine, Party};
use crate::settings::Security;
use crate::wire::Primitive;

/// In the ledger of every comparison between two sites.
const TWO_SITES: &str = "with two sites the answer and one's own summand bound the other's";
/// In the ledger of every hardened one between three sites or more.
const ROLES: &str = "two of the three sites with roles can learn the sums together";
/// In the ledger of every published comparison.
const NEIGHBOURS: &str = "the two neighbours of a site on the ring can learn its summand together";

impl Party {
    /// Sets each answer to whether the sum of all sites' `counts` is at least the threshold.
    ///
    /// `bound` is public, at most 2^62, and no sum is above it: a number of records, say. Small
    /// bounds are cheap. A sum above it gives a wrong answer. After
    /// an error all answers are false.
    pub async fn at_least(
        &mut self,
        what: What,
        bound: u64,
        counts: &[u64],
        thresholds: &[u64],
        answers: &mut [bool],
    ) -> Result<(), Error> {
        self.calls += 1;
        let question = Question {
            bound,
            counts,
            thresholds,
        };
        question.check(answers.len())?;
        if self.sites == 1 {
            question.answer_alone(answers);
            return Ok(());
        }
        let asked = self
            .asking(what, &[])?
            .word(bound)
            .words(thresholds.iter().copied())
            .finish();
        let sealed = self
            .sealed_at_least(Primitive::AtLeast, asked, &question, answers)
            .await?;
        let caveat = self.compare_caveat();
        self.open(what, Primitive::AtLeast, To::All, caveat, sealed);
        Ok(())
    }

    /// The answers, for a primitive that is built on them and opens them under its own name.
    pub(crate) async fn sealed_at_least<'a>(
        &mut self,
        primitive: Primitive,
        asked: u64,
        question: &Question<'_>,
        answers: &'a mut [bool],
    ) -> Result<Sealed<&'a mut [bool]>, Error> {
        match &mut self.engine {
            Engine::Alone => {
                question.answer_alone(answers);
                Ok(Sealed::new(answers))
            }
            Engine::Ideal(chair) => {
                let sums = chair
                    .ask(primitive, asked, question.counts.to_vec(), ideal::sum)
                    .await?;
                let pairs = sums.iter().zip(question.thresholds);
                answers
                    .iter_mut()
                    .zip(pairs)
                    .for_each(|(answer, (sum, least))| *answer = sum >= least);
                Ok(Sealed::new(answers))
            }
            Engine::Joined(joined) => {
                joined.link.begin(primitive, asked)?;
                let mut draft = Draft::new(answers);
                let drafted = &mut draft;
                match (joined.sites, self.settings.security) {
                    (2, _) => {
                        garbled::compare(joined, &mut self.generator, question, drafted).await?
                    }
                    (_, Security::Hardened) => dealt::compare(joined, question, drafted).await?,
                    (_, Security::Published) => {
                        published::compare(joined, &mut self.generator, question, drafted).await?;
                    }
                }
                Ok(draft.seal())
            }
        }
    }

    pub(crate) fn compare_caveat(&self) -> Option<&'static str> {
        match self.settings.security {
            _ if self.sites == 2 => Some(TWO_SITES),
            Security::Published => Some(NEIGHBOURS),
            Security::Hardened => Some(ROLES),
        }
    }
}

/// Sums to compare with thresholds.
pub(crate) struct Question<'q> {
    /// No sum is above it.
    pub(crate) bound: u64,
    /// This site's summands.
    pub(crate) counts: &'q [u64],
    /// The public numbers.
    pub(crate) thresholds: &'q [u64],
}

impl Question<'_> {
    pub(crate) fn check(&self, answers: usize) -> Result<(), Error> {
        for right in [self.thresholds.len(), answers] {
            if right != self.counts.len() {
                let left = self.counts.len();
                return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
            }
        }
        if self.bound > 1 << 62 {
            return Err(Error::OwnConfig(OwnConfig::Bound { bound: self.bound }));
        }
        match self.counts.iter().position(|&count| count > self.bound) {
            Some(index) => Err(Error::OwnData(OwnData::AboveBound { index })),
            None => Ok(()),
        }
    }

    fn answer_alone(&self, answers: &mut [bool]) {
        let pairs = self.counts.iter().zip(self.thresholds);
        answers
            .iter_mut()
            .zip(pairs)
            .for_each(|(answer, (count, least))| *answer = count >= least);
    }

    /// Bits that hold every sum, and every threshold up to the first that no sum reaches.
    const fn bits(&self) -> u32 {
        u64::BITS - (self.bound + 1).leading_zeros()
    }

    /// The threshold, brought down to the first that no sum reaches.
    fn threshold(&self, index: usize) -> u64 {
        self.thresholds[index].min(self.bound + 1)
    }
}
