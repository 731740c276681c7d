//! Whether one of several comparisons holds, and not which: the disjunction alone is opened.
//!
//! The comparisons of a group are evaluated as [`Party::at_least`] evaluates them, up to the point where
//! holder and keeper have each a share of every answer. An answer is the xor of the two shares, so no
//! comparison of the group holds exactly if the two rows of shares are equal. Each of the two sends the
//! judge a digest of its row under a key that the judge does not have; the judge sees digests that are
//! equal or not, and tells all sites which.
//!
//! The papers have no such primitive, so the published level asks it in the same form.
//!
//! # Discloses
//! One bit per group, to all sites. To two colluding sites with roles the sums.

use subtle::ConstantTimeEq;

use super::dealt::{Evaluated, Lane, evaluate};
use super::{Bounds, Question, ROLES};
use crate::draft::Draft;
use crate::error::{Error, OwnConfig};
use crate::ideal;
use crate::ledger::{Sealed, To, What};
use crate::party::{Engine, Joined, Party};
use crate::random::Purpose;
use crate::wire::{self, Primitive};

/// Bytes of a digest on the wire.
const DIGEST: usize = 16;

impl Party {
    /// Sets each answer to whether, of a group of comparisons, one holds: whether the sum of all sites'
    /// `counts` is at least the threshold in one place of the group. `groups` has for each answer how many
    /// comparisons are its own; they stand one after the other.
    ///
    /// `bounds` as in [`Party::at_least`]. Three sites or more, or one. After an error all answers are false.
    pub async fn any_at_least(
        &mut self,
        what: What,
        bounds: impl Into<Bounds<'_>>,
        counts: &[u64],
        thresholds: &[u64],
        groups: &[usize],
        answers: &mut [bool],
    ) -> Result<(), Error> {
        self.calls += 1;
        let question = Question {
            bounds: bounds.into(),
            counts,
            thresholds,
        };
        let grouped = groups
            .iter()
            .fold(0usize, |all, group| all.saturating_add(*group));
        question.check(grouped)?;
        if groups.len() != answers.len() {
            let (left, right) = (groups.len(), answers.len());
            return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
        }
        if self.sites == 1 {
            join(&question, question.counts, groups, answers);
            return Ok(());
        }
        if self.sites == 2 {
            return Err(Error::OwnConfig(OwnConfig::Disjunction));
        }
        let asked = self
            .asking(what, &[])?
            .words(question.bounds.words())
            .words(thresholds.iter().copied())
            .words(groups.iter().map(|group| *group as u64))
            .finish();
        let sealed = match &mut self.engine {
            Engine::Alone => {
                join(&question, question.counts, groups, answers);
                Sealed::new(answers)
            }
            Engine::Ideal(chair) => {
                let own = question.counts.to_vec();
                let sums = chair
                    .ask(Primitive::AtLeast, asked, own, ideal::sum)
                    .await?;
                join(&question, &sums, groups, answers);
                Sealed::new(answers)
            }
            Engine::Joined(joined) => {
                joined.link.begin(Primitive::AtLeast, asked)?;
                let mut draft = Draft::new(answers);
                disjoin(joined, &question, groups, &mut draft).await?;
                joined.link.opened(&wire::pack_bits(draft.iter().copied()));
                draft.seal()
            }
        };
        self.open(what, Primitive::AtLeast, To::All, Some(ROLES), sealed);
        Ok(())
    }
}

/// The disjunctions of one who knows the sums.
fn join(question: &Question<'_>, sums: &[u64], groups: &[usize], answers: &mut [bool]) {
    let mut pairs = sums.iter().zip(question.thresholds);
    for (answer, group) in answers.iter_mut().zip(groups) {
        let own = pairs.by_ref().take(*group);
        *answer = own.fold(false, |any, (sum, least)| any | (sum >= least));
    }
}

async fn disjoin(
    joined: &mut Joined,
    question: &Question<'_>,
    groups: &[usize],
    answers: &mut [bool],
) -> Result<(), Error> {
    let roles = joined.roles();
    let lanes = Lane::all(question, roles, |_| roles);
    let evaluated = evaluate(joined, question, lanes).await?;
    if joined.me == roles.holder || joined.me == roles.keeper {
        let digests = digests(joined, &evaluated, groups);
        joined.link.send(roles.judge, &digests)?;
    }
    if joined.me != roles.judge {
        return joined.receive_answers(roles.judge, answers).await;
    }
    let length = groups.len() * DIGEST;
    let left = joined.link.receive(roles.holder, length).await?;
    let right = joined.link.receive(roles.keeper, length).await?;
    let pairs = left.chunks_exact(DIGEST).zip(right.chunks_exact(DIGEST));
    for (answer, (left, right)) in answers.iter_mut().zip(pairs) {
        *answer = !bool::from(left.ct_eq(right));
    }
    joined
        .link
        .broadcast(&wire::pack_bits(answers.iter().copied()))
}

/// A digest of this site's shares of each group, under a key that holder and keeper have.
fn digests(joined: &Joined, evaluated: &Evaluated, groups: &[usize]) -> Vec<u8> {
    let Evaluated {
        tables,
        sums,
        words,
        shares,
    } = evaluated;
    // All tables have the same roles, and the key follows from what was seen of each.
    let mut key = blake3::Hasher::new_derive_key("hedgerow digest of shares v1");
    for ((table, words), sums) in tables.iter().zip(words).zip(sums) {
        if let Some(partner) = table.partner(joined) {
            let mut common = table.common(joined, partner, Purpose::Digest, sums, words);
            let part: [u8; 32] = std::array::from_fn(|_| common.byte());
            key.update(&part);
        }
    }
    let key = *key.finalize().as_bytes();
    let mut message = Vec::with_capacity(groups.len() * DIGEST);
    let mut shares = shares.iter().copied();
    for (number, group) in groups.iter().enumerate() {
        let own: Vec<bool> = shares.by_ref().take(*group).collect();
        let mut hasher = blake3::Hasher::new_keyed(&key);
        hasher
            .update(&(number as u64).to_le_bytes())
            .update(&wire::pack_bits(own.into_iter()));
        message.extend_from_slice(&hasher.finalize().as_bytes()[..DIGEST]);
    }
    message
}
