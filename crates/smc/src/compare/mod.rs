//! At least: is a sum over all sites at least a public number?
//!
//! `published`: TG12 section 3.2, the permuted hash set, whose length grows with the bound.
//! `hardened`: with three sites or more, a dealer's distributed comparison function (Boyle et
//! al., EUROCRYPT 2021) evaluated on the masked sum; with two sites, a garbled comparator. Three
//! rounds however many comparisons; the cost follows the public bound on the sums. Of comparisons
//! in groups, whether one of each group holds, and not which, takes a fourth round
//! ([`Party::any_at_least`]), of three sites or more.
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

use crate::draft::Draft;
use crate::error::{Error, OwnConfig, OwnData};
use crate::ideal;
use crate::ledger::{Sealed, To, What};
use crate::network::Site;
use crate::party::{Engine, Party};
use crate::settings::{RoleChoice, Security};
use crate::wire::{self, Primitive};
pub(crate) use dealt::{Evaluated, Lane, Summand, evaluate};

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
    /// `bound` is public, at most 2^62, and no sum may exceed it: a number of records, say. Small bounds
    /// are cheap. A sum above the bound gives a wrong answer. After an error all answers are false.
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

    /// As [`Party::at_least`], of sums that leave sites out: `without` says for each comparison which of
    /// the `coalitions` is left out. With spread roles, the sites of a coalition have the roles in the
    /// coalition's comparisons.
    pub async fn at_least_without(
        &mut self,
        what: What,
        bound: u64,
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
            bound,
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
        let mut asking = self.asking(what, &[])?.word(bound);
        asking = asking.words(thresholds.iter().copied());
        if !is_spread {
            let asked = asking.finish();
            let sealed = self
                .sealed_at_least(Primitive::AtLeast, asked, &question, answers)
                .await?;
            let caveat = self.compare_caveat().map(|caveat| match caveat {
                ROLES => LEFT_OUT,
                other => other,
            });
            self.open(what, Primitive::AtLeast, To::All, caveat, sealed);
            return Ok(());
        }
        // Comparisons with the same roles go one after the other.
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|&place| without[place]);
        let turned = |numbers: &[u64]| order.iter().map(|&place| numbers[place]).collect();
        let (counts, thresholds): (Vec<u64>, Vec<u64>) = (turned(counts), turned(thresholds));
        let question = Question {
            bound,
            counts: &counts,
            thresholds: &thresholds,
        };
        let mut groups: Vec<(&[Site], usize)> = Vec::with_capacity(coalitions.len());
        for stretch in order.chunk_by(|&one, &other| without[one] == without[other]) {
            let coalition = coalitions.get(without[stretch[0]] as usize);
            groups.push((coalition.map_or(&[], Vec::as_slice), stretch.len()));
        }
        for (coalition, count) in &groups {
            let sites = coalition.iter().map(|site| site.index() as u64);
            asking = asking.words(sites).word(*count as u64);
        }
        let asked = asking.finish();
        let mut found = vec![false; order.len()];
        let sealed = self
            .sealed_in_lanes(Primitive::AtLeast, asked, &question, &groups, &mut found)
            .await?;
        self.open(what, Primitive::AtLeast, To::All, Some(SPREAD), sealed);
        for (place, answer) in order.into_iter().zip(found) {
            answers[place] = answer;
        }
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
        let all: [(&[Site], usize); 1] = [(&[], question.counts.len())];
        self.sealed_in_lanes(primitive, asked, question, &all, answers)
            .await
    }

    /// The answers of comparisons in groups, each with the sites that get its roles and the number of
    /// its comparisons, which stand one after the other.
    async fn sealed_in_lanes<'a>(
        &mut self,
        primitive: Primitive,
        asked: u64,
        question: &Question<'_>,
        groups: &[(&[Site], usize)],
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
                        let mut from = 0;
                        let lane = |(without, count): &(&[Site], usize)| {
                            let places = from..from + count;
                            from = places.end;
                            let roles = joined.roles_without(without);
                            Lane { roles, places }
                        };
                        let lanes: Vec<Lane> = groups.iter().map(lane).collect();
                        dealt::compare(joined, question, &lanes, drafted).await?;
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

/// Sums to compare with thresholds.
pub(crate) struct Question<'q> {
    /// The greatest value that a sum may have.
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
