//! At least: is a sum over all sites at least a public number?
//!
//! `published`: TG12 section 3.2, the permuted hash set, whose length grows with the bound.
//! `hardened`: with three sites or more, a dealer's distributed comparison function (Boyle et
//! al., EUROCRYPT 2021) evaluated on the masked sum, in two rounds; with two sites, a garbled comparator,
//! in three; however many comparisons. The cost of each comparison follows the public bound on its own
//! sum ([`Bounds`]). Of comparisons in groups, whether one of each group holds, and not which, takes one
//! more round ([`Party::any_at_least`]), of three sites or more.
//!
//! Guarantee: a single site learns one bit per comparison and nothing else. Of three or more
//! sites, two of the three with roles, colluding, learn the sums but not the summands of others.
//!
//! # Sums that leave sites out
//! m-privacy compares what is left of a class without the sites of a coalition
//! ([`Party::at_least_without`]). The sums of the whole class are opened anyway, so two sites that have
//! roles in all such comparisons learn together, from the differences, what *every* site holds: with
//! five sites a pair recovers the counts of all. With four sites or more a study may spread the roles
//! instead ([`RoleChoice::Spread`]): in a comparison that leaves sites out, those sites themselves have
//! as many roles as they can. A site that is left out already knows the whole and its own part, so with
//! a partner it learns nothing new. Of a comparison without one site only the two others with roles
//! learn something, together: the counts of the site that is left out. They are neighbours in an order
//! drawn for the run, so each pair of sites learns, of all comparisons without one site, the counts of
//! at most one other site; with four sites, where one count gives away the last, the pairs are two
//! halves, and two pairs of the six learn anything. Of a comparison without two sites the third role
//! goes to another site for each pair. A construction in which no pair learns anything would need a
//! dealer that three sites play together, at several times the bytes; rotation costs frames, and no
//! round.
//!
//! # Discloses
//! One bit per comparison, to all sites. With two sites the bit bounds the other's summand, in
//! any protocol.

mod any;
mod dealt;
mod function;
pub(crate) mod garbled;
mod published;

use std::ops::Range;

use crate::draft::Draft;
use crate::error::{Error, OwnConfig, OwnData};
use crate::ideal;
use crate::ledger::{Sealed, To, What};
use crate::network::Site;
use crate::party::{Engine, Party};
use crate::settings::{RoleChoice, Security};
use crate::wire::{self, Primitive};
pub(crate) use dealt::{Evaluated, Lane, evaluate};

/// In the ledger of every comparison between two sites.
const TWO_SITES: &str = "with two sites the answer and one's own summand bound the other's";
/// In the ledger of every hardened one between three sites or more.
const ROLES: &str = "two of the three sites with roles can learn the sums together";
/// In the ledger of comparisons that leave sites out, with three sites that have all roles.
const LEFT_OUT: &str = "two of the three sites with roles can learn the sums together, and from sums \
                        that leave out one site each the counts of every site";
/// In the ledger of comparisons that leave sites out, with roles that are spread.
const SPREAD: &str = "two sites that both have roles in a comparison can learn its sum together: of \
                      comparisons that leave out one site, the counts of at most one other site \
                      (with four sites, of both others)";
/// In the ledger of every published comparison.
const NEIGHBOURS: &str = "the two neighbours of a site on the ring can learn its summand together";

impl Party {
    /// Sets each answer to whether the sum of all sites' `counts` is at least the threshold.
    ///
    /// `bounds` are public, at most 2^62, one for all sums or one for each, and no sum may exceed its
    /// bound: a number of records, say. Small bounds are cheap. A sum above its bound gives a wrong answer.
    /// After an error all answers are false.
    pub async fn at_least(
        &mut self,
        what: What,
        bounds: impl Into<Bounds<'_>>,
        counts: &[u64],
        thresholds: &[u64],
        answers: &mut [bool],
    ) -> Result<(), Error> {
        self.calls += 1;
        let question = Question {
            bounds: bounds.into(),
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
            .words(question.bounds.words())
            .words(thresholds.iter().copied())
            .finish();
        let sealed = self
            .sealed_at_least(Primitive::AtLeast, asked, &question, answers)
            .await?;
        let caveat = self.compare_caveat();
        self.open(what, Primitive::AtLeast, To::All, caveat, sealed);
        Ok(())
    }

    /// As [`Party::at_least`], of sums that leave sites out: `without` says for each comparison which of
    /// the `coalitions` is left out. With spread roles, the sites of a coalition have the roles in the
    /// coalition's comparisons.
    pub async fn at_least_without(
        &mut self,
        what: What,
        bounds: impl Into<Bounds<'_>>,
        counts: &[u64],
        thresholds: &[u64],
        (coalitions, without): (&[Vec<Site>], &[u32]),
        answers: &mut [bool],
    ) -> Result<(), Error> {
        let (left, right) = (counts.len(), without.len());
        if left != right {
            return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
        }
        let question = Question {
            bounds: bounds.into(),
            counts,
            thresholds,
        };
        self.calls += 1;
        question.check(answers.len())?;
        if self.sites == 1 {
            question.answer_alone(answers);
            return Ok(());
        }
        let is_spread = self.sites >= 4
            && self.settings.security == Security::Hardened
            && self.settings.roles == RoleChoice::Spread;
        let mut asking = self
            .asking(what, &[])?
            .words(question.bounds.words())
            .words(thresholds.iter().copied());
        if is_spread {
            for coalition in coalitions {
                asking = asking.words(coalition.iter().map(|site| site.index() as u64));
            }
            asking = asking.words(without.iter().map(|number| u64::from(*number)));
        }
        let asked = asking.finish();
        let gone = |place: usize| -> &[Site] {
            let coalition = coalitions.get(without[place] as usize);
            coalition.filter(|_| is_spread).map_or(&[], Vec::as_slice)
        };
        let sealed = self
            .sealed_without(Primitive::AtLeast, asked, &question, gone, answers)
            .await?;
        let caveat = match self.compare_caveat() {
            _ if is_spread => Some(SPREAD),
            Some(ROLES) => Some(LEFT_OUT),
            other => other,
        };
        self.open(what, Primitive::AtLeast, To::All, caveat, sealed);
        Ok(())
    }

    /// The sealed answers, for a primitive that is built on them and opens them under its own name.
    pub(crate) async fn sealed_at_least<'a>(
        &mut self,
        primitive: Primitive,
        asked: u64,
        question: &Question<'_>,
        answers: &'a mut [bool],
    ) -> Result<Sealed<&'a mut [bool]>, Error> {
        self.sealed_without(primitive, asked, question, |_| &[], answers)
            .await
    }

    /// The answers of comparisons, each with the sites that get its roles.
    async fn sealed_without<'a, 'c>(
        &mut self,
        primitive: Primitive,
        asked: u64,
        question: &Question<'_>,
        without: impl Fn(usize) -> &'c [Site],
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
                    (_, Security::Hardened) => {
                        let roles = |place: usize| joined.roles_without(without(place));
                        let lanes = Lane::all(question, joined.roles(), roles);
                        dealt::compare(joined, question, lanes, drafted).await?;
                    }
                    (_, Security::Published) => {
                        published::compare(joined, &mut self.generator, question, drafted).await?;
                    }
                }
                joined.link.opened(&wire::pack_bits(draft.iter().copied()));
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

/// The greatest value that each sum may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds<'b> {
    /// The same for all sums.
    All(u64),
    /// One for each sum.
    Each(&'b [u64]),
}

impl From<u64> for Bounds<'_> {
    fn from(bound: u64) -> Self {
        Self::All(bound)
    }
}

impl<'b> From<&'b [u64]> for Bounds<'b> {
    fn from(bounds: &'b [u64]) -> Self {
        Self::Each(bounds)
    }
}

impl<'b> Bounds<'b> {
    /// The bound of a sum.
    pub(crate) fn at(self, index: usize) -> u64 {
        match self {
            Self::All(bound) => bound,
            Self::Each(bounds) => bounds[index],
        }
    }

    /// The greatest of all bounds.
    fn greatest(self) -> u64 {
        match self {
            Self::All(bound) => bound,
            Self::Each(bounds) => bounds.iter().copied().max().unwrap_or(0),
        }
    }

    /// Refuses bounds that no comparison takes, or that are not as many as the sums.
    pub(crate) fn check(self, sums: usize) -> Result<(), Error> {
        if let Self::Each(bounds) = self
            && bounds.len() != sums
        {
            let (left, right) = (sums, bounds.len());
            return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
        }
        let bound = self.greatest();
        match bound > 1 << 62 {
            true => Err(Error::OwnConfig(OwnConfig::Bound { bound })),
            false => Ok(()),
        }
    }

    fn of(self, places: Range<usize>) -> Self {
        match self {
            Self::All(bound) => Self::All(bound),
            Self::Each(bounds) => Self::Each(&bounds[places]),
        }
    }

    /// What the question says of them.
    pub(crate) fn words(self) -> impl ExactSizeIterator<Item = u64> + 'b {
        let (one, each) = match self {
            Self::All(bound) => (Some(bound), &[][..]),
            Self::Each(bounds) => (None, bounds),
        };
        let count = each.len() + usize::from(one.is_some());
        (0..count).map(move |place| one.unwrap_or_else(|| each[place]))
    }
}

/// Sums to compare with thresholds.
pub(crate) struct Question<'q> {
    /// The greatest values that sums may have.
    pub(crate) bounds: Bounds<'q>,
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
        self.bounds.check(self.counts.len())?;
        let mut counts = self.counts.iter().enumerate();
        match counts.position(|(place, &count)| count > self.bound(place)) {
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

    /// The greatest value that a sum may have.
    fn bound(&self, index: usize) -> u64 {
        self.bounds.at(index)
    }

    /// The greatest of all bounds.
    fn greatest(&self) -> u64 {
        self.bounds.greatest()
    }

    /// Bits that hold a sum, and every threshold up to the first that the sum does not reach.
    fn bits(&self, index: usize) -> u32 {
        bits_of(self.bound(index))
    }

    /// The threshold, brought down to the first that no sum reaches.
    fn threshold(&self, index: usize) -> u64 {
        self.thresholds[index].min(self.bound(index) + 1)
    }
}

/// Bits that hold every number up to the first behind a bound.
const fn bits_of(bound: u64) -> u32 {
    u64::BITS - (bound + 1).leading_zeros()
}
