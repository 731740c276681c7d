//! Greatest: which site has the greatest number, and not what any number is. Of equal numbers the first
//! site's counts.
//!
//! Two sites: a transfer of the row of all answers (`transferred`), or, where numbers are long, a garbled
//! comparator ([`crate::compare`]). Three sites or more: every pair is compared by a dealer, as a sum is with a
//! threshold, up to the point where holder and keeper have a share of each answer; a site is the first
//! whom nobody beats exactly if the two rows of shares of its comparisons are equal, which the judge sees
//! on digests under a key that it does not have, as in [`Party::any_at_least`].
//!
//! The papers have no such primitive, so the published level asks it in the same form.
//!
//! Three rounds. Between two sites, 16 bytes for each bit of a number and a bit for each number that there can
//! be; among more, about 16 bytes for each bit beyond six, twice, for each pair of sites.
//!
//! A site that tells holder and keeper different numbers makes the last contender win, as a site does that
//! claims a number which it does not have.
//!
//! # Discloses
//! The site, to all sites. To two colluding sites with roles, the differences of numbers.

mod transferred;

use subtle::ConstantTimeEq;

use crate::compare::{Bounds, Evaluated, Lane, Question, evaluate, garbled};
use crate::draft::Draft;
use crate::error::{Error, OwnConfig, OwnData};
use crate::ledger::{Sealed, To, What};
use crate::network::Site;
use crate::party::{Engine, Joined, Party};
use crate::random::Purpose;
use crate::wire::{self, Primitive, bytes_for};

/// Bytes of a digest on the wire.
const DIGEST: usize = 8;
/// In the ledger of every such question between two sites.
const TWO_SITES: &str = "with two sites the answer and one's own number bound the other's";
/// In the ledger of every one between three sites or more.
const ROLES: &str =
    "two of the three sites with roles can learn the differences of numbers together";

impl Party {
    /// Sets each answer to the site with the greatest value, of the sites that `contend`, ascending; of
    /// equals the first. The values of other sites do not count.
    ///
    /// `bound` is public, below 2^62, and no value may exceed it. Small bounds are cheap. After an error
    /// all answers are zero.
    pub async fn greatest(
        &mut self,
        what: What,
        bound: u64,
        contend: &[Site],
        values: &[u64],
        answers: &mut [u64],
    ) -> Result<(), Error> {
        self.calls += 1;
        if values.len() != answers.len() {
            let (left, right) = (values.len(), answers.len());
            return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
        }
        if bound >= 1 << 62 {
            return Err(Error::OwnConfig(OwnConfig::Bound { bound }));
        }
        if let Some(index) = values.iter().position(|value| *value > bound) {
            return Err(Error::OwnData(OwnData::AboveBound { index }));
        }
        let known = contend.iter().find(|site| site.index() >= self.sites);
        if let Some(site) = known {
            return Err(Error::OwnConfig(OwnConfig::NoSuchSite { site: *site }));
        }
        if contend.len() < 2 {
            // Known without a question.
            let only = contend.first().map_or(0, |site| site.index() as u64);
            answers.fill(only);
            return Ok(());
        }
        let asked = self
            .asking(what, &[])?
            .word(bound)
            .word(values.len() as u64)
            .words(contend.iter().map(|site| site.index() as u64))
            .finish();
        let sealed = match &mut self.engine {
            Engine::Alone => Sealed::new(answers),
            Engine::Ideal(chair) => {
                let first = |inputs: &[Vec<u64>]| {
                    let of = |place: usize| {
                        let sites = contend.iter().copied();
                        let best = sites.reduce(|best, other| {
                            let (one, two) =
                                (inputs[best.index()][place], inputs[other.index()][place]);
                            if two > one { other } else { best }
                        });
                        best.map_or(0, |best| best.index() as u64)
                    };
                    (0..inputs[0].len()).map(of).collect::<Vec<u64>>()
                };
                let own = values.to_vec();
                let found = chair.ask(Primitive::Greatest, asked, own, first).await?;
                answers.copy_from_slice(&found);
                Sealed::new(answers)
            }
            Engine::Joined(joined) => {
                joined.link.begin(Primitive::Greatest, asked)?;
                let mut draft = Draft::new(answers);
                if joined.sites == 2 {
                    let mut is_first = vec![false; values.len()];
                    if transferred::is_cheap(bound) {
                        transferred::compare(joined, bound, values, &mut is_first).await?;
                    } else {
                        let generator = &mut self.generator;
                        let counts = as_counts(joined.me, bound, values);
                        let thresholds = vec![bound; values.len()];
                        let question = Question {
                            bounds: Bounds::All(bound),
                            counts: &counts,
                            thresholds: &thresholds,
                        };
                        garbled::compare(joined, generator, &question, &mut is_first).await?;
                    }
                    let second = is_first.iter().map(|is_first| u64::from(!is_first));
                    draft
                        .iter_mut()
                        .zip(second)
                        .for_each(|(answer, site)| *answer = site);
                } else {
                    among(joined, bound, contend, values, &mut draft).await?;
                }
                joined.link.opened_words(&draft);
                draft.seal()
            }
        };
        let caveat = if self.sites == 2 { TWO_SITES } else { ROLES };
        self.open(what, Primitive::Greatest, To::All, Some(caveat), sealed);
        Ok(())
    }
}

/// Two sites' numbers as the comparator takes them: their sum reaches the bound exactly if the first is at
/// least the second.
fn as_counts(me: Site, bound: u64, values: &[u64]) -> Vec<u64> {
    let count = |value: &u64| match me.index() {
        0 => *value,
        _ => bound - value,
    };
    values.iter().map(count).collect()
}

/// The pairs of contenders, by their places.
fn pairs(contenders: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..contenders).flat_map(move |one| (one + 1..contenders).map(move |other| (one, other)))
}

/// Three sites or more.
async fn among(
    joined: &mut Joined,
    bound: u64,
    contend: &[Site],
    values: &[u64],
    answers: &mut [u64],
) -> Result<(), Error> {
    let me = contend.iter().position(|site| *site == joined.me);
    // The difference of each pair, as a number with a sign: the dealer's comparison is with zero.
    let mut counts = Vec::with_capacity(values.len() * pairs(contend.len()).count());
    for value in values {
        counts.extend(pairs(contend.len()).map(|(one, other)| match me {
            Some(me) if me == one => *value,
            Some(me) if me == other => value.wrapping_neg(),
            _ => 0,
        }));
    }
    let thresholds = vec![0; counts.len()];
    let question = Question {
        bounds: Bounds::All(bound),
        counts: &counts,
        thresholds: &thresholds,
    };
    let roles = joined.roles();
    let lanes = Lane::all(&question, roles, |_| roles);
    let evaluated = evaluate(joined, &question, lanes).await?;
    // That nobody beats the last follows where somebody beats each of the others.
    let looked_at = contend.len() - 1;
    if joined.me == roles.holder || joined.me == roles.keeper {
        let is_holder = joined.me == roles.holder;
        let digests = digests(joined, &evaluated, contend.len(), is_holder);
        joined.link.send(roles.judge, &digests)?;
    }
    let width = bytes_for(u64::BITS - (joined.sites as u64 - 1).leading_zeros());
    if joined.me != roles.judge {
        let message = joined
            .link
            .receive(roles.judge, answers.len() * width)
            .await?;
        let words = wire::unpack(&message, answers.len(), width);
        let words = words.map_err(|source| joined.link.invalid(roles.judge, source))?;
        for (index, (answer, word)) in answers.iter_mut().zip(words).enumerate() {
            if contend.iter().all(|site| site.index() as u64 != word) {
                let source = wire::WireError::Range { index };
                return Err(joined.link.invalid(roles.judge, source));
            }
            *answer = word;
        }
        return Ok(());
    }
    let length = answers.len() * looked_at * DIGEST;
    let left = joined.link.receive(roles.holder, length).await?;
    let right = joined.link.receive(roles.keeper, length).await?;
    let rows = left.chunks_exact(looked_at * DIGEST);
    let rows = rows.zip(right.chunks_exact(looked_at * DIGEST));
    for (answer, (left, right)) in answers.iter_mut().zip(rows) {
        let each = left.chunks_exact(DIGEST).zip(right.chunks_exact(DIGEST));
        let mut unbeaten = each.zip(contend);
        let first = unbeaten.find(|((left, right), _)| bool::from(left.ct_eq(right)));
        let first = first.map_or(contend[looked_at], |(_, site)| *site);
        *answer = first.index() as u64;
    }
    let mut message = Vec::with_capacity(answers.len() * width);
    wire::pack(answers.iter().copied(), width, &mut message);
    joined.link.broadcast(&message)
}

/// For each question and each contender but the last, a digest of this site's shares of who beats the
/// contender, under a key that holder and keeper have.
fn digests(joined: &Joined, evaluated: &Evaluated, contenders: usize, is_holder: bool) -> Vec<u8> {
    let mut message = Vec::new();
    let seen = evaluated.words.iter().zip(&evaluated.sums);
    for (table, (words, sums)) in evaluated.tables.iter().zip(seen) {
        let Some(partner) = table.partner(joined) else {
            continue;
        };
        let mut common = table.common(joined, partner, Purpose::Digest, sums, words);
        let key: [u8; 32] = std::array::from_fn(|_| common.byte());
        let of_question = pairs(contenders).count();
        for (question, shares) in evaluated.shares.chunks_exact(of_question).enumerate() {
            for contender in 0..contenders - 1 {
                let beaten = pairs(contenders).zip(shares);
                let beaten = beaten.filter_map(|((one, other), share)| match contender {
                    // The first of a pair is beaten where it is not at least the other.
                    _ if contender == one => Some(share ^ is_holder),
                    _ if contender == other => Some(*share),
                    _ => None,
                });
                let beaten: Vec<bool> = beaten.collect();
                let mut hasher = blake3::Hasher::new_keyed(&key);
                hasher
                    .update(&(question as u64).to_le_bytes())
                    .update(&(contender as u64).to_le_bytes())
                    .update(&wire::pack_bits(beaten.into_iter()));
                message.extend_from_slice(&hasher.finalize().as_bytes()[..DIGEST]);
            }
        }
    }
    message
}
