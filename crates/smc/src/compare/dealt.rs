//! Comparison by a dealer: three sites with roles, drawn per run.
//!
//! The judge deals: it draws a mask r from streams that it shares with holder and keeper, half from each,
//! and gives both the keys of the function (z < r) on the low bits. Every site sends holder and keeper its
//! summand, under masks that cancel over all sites; the judge adds r to its own. So both know z = x - t + r
//! modulo 2^(bits + 1) after one round, and evaluate: the sign of x - t is the sign of z, xor that of r, xor
//! the borrow, which is that function. Before they send their shares of the bit to all, in the second
//! round, they flip both by a common random bit, so that the dealer, who knows the keys, learns nothing
//! about z from a share. The random bit follows from z and the dealer's words, too: another z or other
//! words give another bit. A site that tells holder and keeper different numbers gets random answers.
//!
//! Comparisons may have roles and bounds of their own ([`Lane`]): all lanes go through the same two
//! rounds, in one message for each pair of sites and round.
//!
//! After Boyle et al. (EUROCRYPT 2021), section 5; the trust is that of TG12's hash comparison.
//!
//! # Discloses
//! One bit per comparison. To two colluding sites with roles the sums of their lane.

use std::collections::HashMap;

use super::Question;
use super::function::{Comparison, Secret};
use crate::error::Error;
use crate::network::Site;
use crate::party::{Joined, Roles};
use crate::random::{Bound, Keystream, Purpose};
use crate::sum::add_masks;
use crate::wire::{self, bytes_for};

/// Comparisons that have the same roles and bounds of the same number of bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lane {
    /// Who has which role.
    pub(crate) roles: Roles,
    /// Bits of a sum.
    pub(crate) bits: u32,
    /// The places of the comparisons.
    pub(crate) places: Vec<usize>,
}

impl Lane {
    /// Every comparison in the lane of its roles and bits, the lanes by their first comparison. Sites say
    /// even without comparisons that they ask the same: one lane, of the `drawn` roles.
    pub(crate) fn all(
        question: &Question<'_>,
        drawn: Roles,
        roles_of: impl Fn(usize) -> Roles,
    ) -> Vec<Self> {
        let mut lanes: Vec<Self> = Vec::new();
        let mut numbers: HashMap<([Site; 3], u32), usize> = HashMap::new();
        for place in 0..question.counts.len() {
            let (roles, bits) = (roles_of(place), question.bits(place));
            let number = *numbers.entry((roles.sites(), bits)).or_insert(lanes.len());
            if number == lanes.len() {
                lanes.push(Self {
                    roles,
                    bits,
                    places: Vec::new(),
                });
            }
            lanes[number].places.push(place);
        }
        if lanes.is_empty() {
            lanes.push(Self {
                roles: drawn,
                bits: 1,
                places: Vec::new(),
            });
        }
        lanes
    }
}

/// Compares; the lanes cover all comparisons.
pub(crate) async fn compare(
    joined: &mut Joined,
    question: &Question<'_>,
    lanes: Vec<Lane>,
    answers: &mut [bool],
) -> Result<(), Error> {
    let Evaluated { tables, shares, .. } = evaluate(joined, question, lanes).await?;
    // The places of which a site has shares, where it has any tables.
    let held_by = |site: Site| -> Option<Vec<usize>> {
        let mut own = tables
            .iter()
            .filter(|table| table.roles.hold_shares(site))
            .peekable();
        own.peek()?;
        Some(own.flat_map(|table| table.places.iter().copied()).collect())
    };
    if let Some(own) = held_by(joined.me) {
        let message = wire::pack_bits(own.iter().map(|place| shares[*place]));
        joined.link.broadcast(&message)?;
    }
    for (answer, share) in answers.iter_mut().zip(&shares) {
        *answer = *share;
    }
    let peers: Vec<Site> = joined.peers().collect();
    for peer in peers {
        let Some(theirs) = held_by(peer) else {
            continue;
        };
        let mut others = vec![false; theirs.len()];
        joined.receive_answers(peer, &mut others).await?;
        for (place, other) in theirs.into_iter().zip(others) {
            answers[place] ^= other;
        }
    }
    Ok(())
}

/// What a site has when the functions are evaluated and no answer is opened.
pub(crate) struct Evaluated {
    pub(crate) tables: Vec<Table>,
    /// Of each table, at holder and keeper, the masked sums that both have seen.
    pub(crate) sums: Vec<Vec<u64>>,
    /// Of each table, the dealer's words: at holder and keeper.
    pub(crate) words: Vec<Vec<u8>>,
    /// At holder and keeper, this site's shares of the answers; elsewhere unset.
    pub(crate) shares: Vec<bool>,
}

/// The first round: all but the opening of answers.
pub(crate) async fn evaluate(
    joined: &mut Joined,
    question: &Question<'_>,
    lanes: Vec<Lane>,
) -> Result<Evaluated, Error> {
    let mut masked = question.counts.to_vec();
    add_masks(joined, Purpose::ApartMask, &mut masked);
    let tables: Vec<Table> = lanes
        .into_iter()
        .enumerate()
        .map(|(number, lane)| Table::new(number, lane))
        .collect();
    let mut words: Vec<Vec<u8>> = vec![Vec::new(); tables.len()];
    for (table, words) in tables.iter().zip(&mut words) {
        if joined.me == table.roles.judge {
            *words = table.deal(joined, &mut masked);
        }
    }
    give(joined, &tables, &words, &masked)?;

    let mut sums: Vec<Vec<u64>> = tables
        .iter()
        .map(|table| table.own(joined, question, &masked))
        .collect();
    gather(joined, &tables, &mut words, &mut sums).await?;
    let mut shares = vec![false; masked.len()];
    for ((table, words), sums) in tables.iter().zip(&words).zip(&sums) {
        table.evaluate(joined, words, sums, &mut shares)?;
    }
    Ok(Evaluated {
        tables,
        sums,
        words,
        shares,
    })
}

/// Sends every holder and keeper this site's masked summands of its tables, with the words of the tables
/// for which this site deals.
fn give(
    joined: &mut Joined,
    tables: &[Table],
    words: &[Vec<u8>],
    masked: &[u64],
) -> Result<(), Error> {
    let peers: Vec<Site> = joined.peers().collect();
    for peer in peers {
        let mut message = Vec::new();
        let mut is_due = false;
        for (table, words) in tables.iter().zip(words) {
            if table.roles.hold_shares(peer) {
                is_due = true;
                let summands = table.places.iter().map(|place| masked[*place]);
                let summands = summands.map(|summand| summand & table.mask());
                wire::pack(summands, bytes_for(table.bits + 1), &mut message);
                message.extend_from_slice(words);
            }
        }
        if is_due {
            joined.link.send(peer, &message)?;
        }
    }
    Ok(())
}

/// Adds what the others gave to the sums of this site's tables, and takes the dealers' words.
async fn gather(
    joined: &mut Joined,
    tables: &[Table],
    words: &mut [Vec<u8>],
    sums: &mut [Vec<u64>],
) -> Result<(), Error> {
    let me = joined.me;
    let own: Vec<usize> = (0..tables.len())
        .filter(|number| tables[*number].roles.hold_shares(me))
        .collect();
    if own.is_empty() {
        return Ok(());
    }
    let peers: Vec<Site> = joined.peers().collect();
    for peer in peers {
        let lengths: Vec<(usize, usize)> = own
            .iter()
            .map(|number| tables[*number].lengths(peer))
            .collect();
        let length = lengths.iter().map(|(summands, words)| summands + words);
        let message = joined.link.receive(peer, length.sum()).await?;
        let mut rest = message.as_slice();
        for (number, lengths) in own.iter().zip(lengths) {
            let (summands, behind) = rest.split_at(lengths.0);
            let (dealt, behind) = behind.split_at(lengths.1);
            rest = behind;
            let table = &tables[*number];
            let others = wire::unpack_below(summands, table.places.len(), table.bits + 1);
            let others = others.map_err(|source| joined.link.invalid(peer, source))?;
            for (sum, other) in sums[*number].iter_mut().zip(others) {
                *sum = sum.wrapping_add(other) & table.mask();
            }
            if peer == table.roles.judge {
                words[*number] = dealt.to_vec();
            }
        }
    }
    Ok(())
}

/// What is public about the comparisons of a lane.
pub(crate) struct Table {
    /// Its number: the two of a pair may have several lanes with different roles.
    number: u32,
    roles: Roles,
    places: Vec<usize>,
    /// Bits of a sum; shares have one more, for the sign.
    bits: u32,
    comparison: Comparison,
}

impl Table {
    fn new(number: usize, lane: Lane) -> Self {
        let Lane {
            roles,
            bits,
            places,
        } = lane;
        Self {
            // There are fewer lanes than comparisons of a call.
            number: number as u32,
            roles,
            places,
            bits,
            comparison: Comparison::new(bits),
        }
    }

    const fn mask(&self) -> u64 {
        u64::MAX >> (63 - self.bits)
    }

    /// The other of holder and keeper, at one of the two.
    pub(crate) fn partner(&self, joined: &Joined) -> Option<Site> {
        match joined.me {
            me if me == self.roles.holder => Some(self.roles.keeper),
            me if me == self.roles.keeper => Some(self.roles.holder),
            _ => None,
        }
    }

    /// How many bytes of summands and of words a peer gives to holder or keeper.
    fn lengths(&self, peer: Site) -> (usize, usize) {
        let count = self.places.len();
        let words = match peer == self.roles.judge {
            true => count * self.comparison.key_bytes(),
            false => 0,
        };
        (count * bytes_for(self.bits + 1), words)
    }

    /// This site's part of the masked sums, less the thresholds, at holder and keeper.
    fn own(&self, joined: &Joined, question: &Question<'_>, masked: &[u64]) -> Vec<u64> {
        if !self.roles.hold_shares(joined.me) {
            return Vec::new();
        }
        let places = self.places.iter();
        places
            .map(|place| masked[*place].wrapping_sub(question.threshold(*place)) & self.mask())
            .collect()
    }

    /// The judge's part: the mask on its summands, and the keys' corrections, from streams that it shares
    /// with each of the two.
    fn deal(&self, joined: &Joined, masked: &mut [u64]) -> Vec<u8> {
        let secrets = self.secrets(joined, &joined.link.bound());
        for (place, secret) in self.places.iter().zip(&secrets) {
            let mask = secret.edge | u64::from(secret.flip) << self.bits;
            masked[*place] = masked[*place].wrapping_add(mask);
        }
        self.comparison.pack(&self.comparison.deal(&secrets))
    }

    /// The secrets that the judge shares with holder and keeper for one call, without a message.
    fn secrets(&self, joined: &Joined, bound: &Bound) -> Vec<Secret> {
        let dealt = |site: Site| {
            let pair = joined.pair(site);
            pair.stream(Purpose::Dealer, bound, self.number)
        };
        let mut left = dealt(self.roles.holder);
        let mut right = dealt(self.roles.keeper);
        let places = self.places.iter();
        places
            .map(|_| {
                let mask = left.word().wrapping_add(right.word()) & self.mask();
                Secret {
                    roots: [left.block(), right.block()],
                    edge: mask & (self.mask() >> 1),
                    flip: mask >> self.bits == 1,
                }
            })
            .collect()
    }

    /// Holder and keeper evaluate the function on z.
    fn evaluate(
        &self,
        joined: &Joined,
        bytes: &[u8],
        sums: &[u64],
        shares: &mut [bool],
    ) -> Result<(), Error> {
        let Some(partner) = self.partner(joined) else {
            return Ok(());
        };
        let words = self.comparison.unpack(bytes, sums.len());
        let words = words.map_err(|source| joined.link.invalid(self.roles.judge, source))?;
        let pair = joined.pair(self.roles.judge);
        let mut dealt = pair.stream(Purpose::Dealer, &joined.link.bound(), self.number);
        let roots: Vec<u128> = sums
            .iter()
            .map(|_| {
                // The half of the mask comes first.
                dealt.word();
                dealt.block()
            })
            .collect();
        let low: Vec<u64> = sums.iter().map(|sum| sum & (self.mask() >> 1)).collect();
        let holds = joined.me == self.roles.holder;
        let share = self.comparison.evaluate(!holds, &roots, &words, &low);
        let mut hide = self.common(joined, partner, Purpose::Opening, sums, bytes);
        for ((place, share), sum) in self.places.iter().zip(share).zip(sums) {
            // The holder adds the sign of z, and 1: at least is the opposite of below.
            shares[*place] = share ^ (hide.byte() & 1 == 1) ^ (holds && sum >> self.bits == 0);
        }
        Ok(())
    }

    /// What holder and keeper share and the judge does not: it follows from what both have seen.
    pub(crate) fn common(
        &self,
        joined: &Joined,
        partner: Site,
        purpose: Purpose,
        sums: &[u64],
        words: &[u8],
    ) -> Keystream {
        let mut seen = Vec::with_capacity(sums.len() * 8);
        wire::pack(sums.iter().copied(), 8, &mut seen);
        let bound = joined.link.bound().and(&seen).and(words);
        joined.pair(partner).stream(purpose, &bound, self.number)
    }
}

#[cfg(test)]
#[path = "attack.rs"]
mod attack;
