//! Comparison by a dealer: three sites with roles, drawn per run.
//!
//! Holder and keeper hold the masked sum y = x - t modulo 2^(bits + 1) apart. The judge deals: it shares
//! a mask r with each of them by halves, and gives both the keys of the function (z < r) on the low
//! bits. Holder and keeper exchange their shares of z = y + r and evaluate: the sign of y is the sign of
//! z, xor that of r, xor the borrow, which is that function. Before they send their shares of the bit to
//! all they flip both by a common random bit, so that the dealer, who knows the keys, learns nothing
//! about z from a share. The random bit follows from z and the dealer's words, too: another z or other
//! words give another bit.
//!
//! Comparisons may have roles of their own ([`Lane`]): all lanes go through the same three rounds.
//!
//! The judge's own summand s goes to the holder like everybody's, or into the keys ([`Summand`]): those of
//! (z < r - s), where z lacks s. Among three sites nobody is left to send a summand, and a round is saved.
//!
//! After Boyle et al. (EUROCRYPT 2021), section 5; the trust is that of TG12's hash comparison.
//!
//! # Discloses
//! One bit per comparison. To two colluding sites with roles the sums of their lane.

use std::ops::Range;

use super::Question;
use super::function::{Comparison, Secret};
use crate::error::Error;
use crate::network::Site;
use crate::party::{Joined, Roles};
use crate::random::{Bound, Keystream, Purpose};
use crate::sum::add_masks;
use crate::wire::{self, bytes_for};

/// Comparisons that stand one after the other and have the same roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lane {
    /// Who has which role.
    pub(crate) roles: Roles,
    /// The places of the comparisons.
    pub(crate) places: Range<usize>,
}

/// What becomes of the judge's own summand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Summand {
    /// The judge sends it to the holder, masked, like every other site.
    Given,
    /// The judge deals keys that have it inside.
    Dealt,
}

/// Compares; the lanes cover all comparisons, in order.
pub(super) async fn compare(
    joined: &mut Joined,
    question: &Question<'_>,
    lanes: &[Lane],
    answers: &mut [bool],
) -> Result<(), Error> {
    let evaluated = evaluate(joined, question, lanes, Summand::Given).await?;
    let Evaluated { tables, shares, .. } = evaluated;
    for table in &tables {
        table.send_shares(joined, &shares)?;
    }
    for table in &tables {
        table.open(joined, &shares, answers).await?;
    }
    Ok(())
}

/// What a site has when the functions are evaluated and no answer is opened.
pub(crate) struct Evaluated {
    pub(crate) tables: Vec<Table>,
    /// At holder and keeper, the masked sums that both have seen.
    pub(crate) values: Vec<u64>,
    /// For each table, the dealer's words: at holder and keeper.
    pub(crate) words: Vec<Vec<u8>>,
    /// At holder and keeper, this site's shares of the answers.
    pub(crate) shares: Vec<bool>,
}

/// The first two rounds: all but the opening of answers.
pub(crate) async fn evaluate(
    joined: &mut Joined,
    question: &Question<'_>,
    lanes: &[Lane],
    summand: Summand,
) -> Result<Evaluated, Error> {
    let mut values = question.counts.to_vec();
    add_masks(joined, Purpose::ApartMask, &mut values);
    let tables: Vec<Table> = lanes
        .iter()
        .enumerate()
        .map(|(number, lane)| Table::new(question, number, lane, summand))
        .collect();
    // Frames of a link come in the order in which they were sent: step by step, lane by lane.
    for table in &tables {
        table.give(joined, &values)?;
    }
    for table in &tables {
        table.deal(joined, &values)?;
    }
    for table in &tables {
        table.gather(joined, question, &mut values).await?;
    }
    for table in &tables {
        table.send_masked(joined, &mut values)?;
    }
    let mut words = Vec::with_capacity(tables.len());
    for table in &tables {
        words.push(table.receive_words(joined).await?);
    }
    let mut shares = vec![false; values.len()];
    for (table, words) in tables.iter().zip(&words) {
        table
            .evaluate(joined, words, &mut values, &mut shares)
            .await?;
    }
    Ok(Evaluated {
        tables,
        values,
        words,
        shares,
    })
}

/// What is public about the comparisons of a lane.
pub(crate) struct Table {
    /// Its number: the two of a pair may have several lanes with different roles.
    number: u32,
    roles: Roles,
    places: Range<usize>,
    /// Bits of a sum; shares have one more, for the sign.
    bits: u32,
    comparison: Comparison,
    summand: Summand,
}

impl Table {
    fn new(question: &Question<'_>, number: usize, lane: &Lane, summand: Summand) -> Self {
        let bits = question.bits();
        Self {
            // There are fewer lanes than comparisons of a call.
            number: number as u32,
            roles: lane.roles,
            places: lane.places.clone(),
            bits,
            comparison: Comparison::new(bits),
            summand,
        }
    }

    const fn mask(&self) -> u64 {
        u64::MAX >> (63 - self.bits)
    }

    fn count(&self) -> usize {
        self.places.len()
    }

    /// The other of holder and keeper, at one of the two.
    pub(crate) fn partner(&self, joined: &Joined) -> Option<Site> {
        match joined.me {
            me if me == self.roles.holder => Some(self.roles.keeper),
            me if me == self.roles.keeper => Some(self.roles.holder),
            _ => None,
        }
    }

    /// Whether a site sends its masked summand to the holder.
    fn gives(&self, site: Site) -> bool {
        let is_dealt = site == self.roles.judge && self.summand == Summand::Dealt;
        !self.roles.hold_shares(site) && !is_dealt
    }

    /// First round: masked summands to the holder.
    fn give(&self, joined: &mut Joined, values: &[u64]) -> Result<(), Error> {
        if self.gives(joined.me) {
            self.send(joined, self.roles.holder, &values[self.places.clone()])?;
        }
        Ok(())
    }

    /// The holder adds up the shares that it was given, and subtracts the thresholds.
    async fn gather(
        &self,
        joined: &mut Joined,
        question: &Question<'_>,
        values: &mut [u64],
    ) -> Result<(), Error> {
        if joined.me != self.roles.holder {
            return Ok(());
        }
        for peer in joined.peers().filter(|&peer| self.gives(peer)) {
            let others = self.receive(joined, peer).await?;
            values[self.places.clone()]
                .iter_mut()
                .zip(others)
                .for_each(|(value, other)| *value = value.wrapping_add(other));
        }
        for place in self.places.clone() {
            values[place] = values[place].wrapping_sub(question.threshold(place));
        }
        Ok(())
    }

    fn send(&self, joined: &mut Joined, to: Site, values: &[u64]) -> Result<(), Error> {
        let width = bytes_for(self.bits + 1);
        let mut message = Vec::with_capacity(values.len() * width);
        wire::pack(
            values.iter().map(|value| value & self.mask()),
            width,
            &mut message,
        );
        joined.link.send(to, &message)
    }

    async fn receive(&self, joined: &mut Joined, from: Site) -> Result<Vec<u64>, Error> {
        let length = self.count() * bytes_for(self.bits + 1);
        let bytes = joined.link.receive(from, length).await?;
        let values = wire::unpack_below(&bytes, self.count(), self.bits + 1);
        values.map_err(|source| joined.link.invalid(from, source))
    }

    /// First round, the judge's part: keys from streams it shares with each of the two, and
    /// corrections.
    fn deal(&self, joined: &mut Joined, values: &[u64]) -> Result<(), Error> {
        if joined.me != self.roles.judge {
            return Ok(());
        }
        let inside = match self.summand {
            Summand::Given => vec![0; self.count()],
            Summand::Dealt => values[self.places.clone()].to_vec(),
        };
        let secrets = self.secrets(joined, &joined.link.bound(), &inside);
        let mut message = Vec::with_capacity(self.count() * self.comparison.words() * 16);
        wire::pack_blocks(self.comparison.deal(&secrets), &mut message);
        joined.link.send(self.roles.holder, &message)?;
        joined.link.send(self.roles.keeper, &message)
    }

    /// The secrets of one call: masks that the judge shares with holder and keeper without a message, less
    /// what of the sums is inside the keys.
    fn secrets(&self, joined: &Joined, bound: &Bound, inside: &[u64]) -> Vec<Secret> {
        let dealt = |site: Site| {
            let pair = joined.pair(site);
            pair.stream(Purpose::Dealer, bound, self.number)
        };
        let mut left = dealt(self.roles.holder);
        let mut right = dealt(self.roles.keeper);
        inside
            .iter()
            .map(|inside| {
                let mask = left.word().wrapping_add(right.word());
                let mask = mask.wrapping_sub(*inside) & self.mask();
                Secret {
                    roots: [left.block(), right.block()],
                    edge: mask & (self.mask() >> 1),
                    flip: mask >> self.bits == 1,
                }
            })
            .collect()
    }

    /// Second round, holder's and keeper's part: z is opened between them.
    fn send_masked(&self, joined: &mut Joined, values: &mut [u64]) -> Result<(), Error> {
        let Some(partner) = self.partner(joined) else {
            return Ok(());
        };
        let mut dealt = self.dealt(joined);
        let values = &mut values[self.places.clone()];
        for value in values.iter_mut() {
            *value = value.wrapping_add(dealt.word());
            dealt.block();
        }
        self.send(joined, partner, values)
    }

    /// The stream that the judge shares with holder or keeper.
    fn dealt(&self, joined: &Joined) -> Keystream {
        let pair = joined.pair(self.roles.judge);
        pair.stream(Purpose::Dealer, &joined.link.bound(), self.number)
    }

    /// The judge's corrections, at holder and keeper.
    async fn receive_words(&self, joined: &mut Joined) -> Result<Vec<u8>, Error> {
        if self.partner(joined).is_none() {
            return Ok(Vec::new());
        }
        let length = self.count() * self.comparison.words() * 16;
        joined.link.receive(self.roles.judge, length).await
    }

    /// Holder and keeper evaluate the function on z.
    async fn evaluate(
        &self,
        joined: &mut Joined,
        bytes: &[u8],
        values: &mut [u64],
        shares: &mut [bool],
    ) -> Result<(), Error> {
        let Some(partner) = self.partner(joined) else {
            return Ok(());
        };
        let values = &mut values[self.places.clone()];
        let theirs = self.receive(joined, partner).await?;
        for (value, other) in values.iter_mut().zip(theirs) {
            *value = value.wrapping_add(other) & self.mask();
        }
        let count = values.len() * self.comparison.words();
        let words = wire::unpack_blocks(bytes, count).map(Iterator::collect::<Vec<u128>>);
        let words = words.map_err(|source| joined.link.invalid(self.roles.judge, source))?;
        let mut dealt = self.dealt(joined);
        let roots: Vec<u128> = values
            .iter()
            .map(|_| {
                dealt.word();
                dealt.block()
            })
            .collect();

        let low: Vec<u64> = values
            .iter()
            .map(|value| value & (self.mask() >> 1))
            .collect();
        let holds = joined.me == self.roles.holder;
        let share = self.comparison.evaluate(!holds, &roots, &words, &low);
        let mut hide = self.common(joined, partner, Purpose::Opening, values, bytes);
        let places = shares[self.places.clone()].iter_mut();
        for ((place, share), value) in places.zip(share).zip(values) {
            // The holder adds the sign of z, and 1: at least is the opposite of below.
            *place = share ^ (hide.byte() & 1 == 1) ^ (holds && *value >> self.bits == 0);
        }
        Ok(())
    }

    /// What holder and keeper share and the judge does not: it follows from what both have seen.
    pub(crate) fn common(
        &self,
        joined: &Joined,
        partner: Site,
        purpose: Purpose,
        values: &[u64],
        words: &[u8],
    ) -> Keystream {
        let mut seen = Vec::with_capacity(values.len() * 8);
        wire::pack(values.iter().copied(), 8, &mut seen);
        let bound = joined.link.bound().and(&seen).and(words);
        joined.pair(partner).stream(purpose, &bound, self.number)
    }

    /// Third round: holder and keeper send their shares of the bits to all.
    fn send_shares(&self, joined: &mut Joined, shares: &[bool]) -> Result<(), Error> {
        if self.partner(joined).is_none() {
            return Ok(());
        }
        let shares = shares[self.places.clone()].iter().copied();
        joined.link.broadcast(&wire::pack_bits(shares))
    }

    async fn open(
        &self,
        joined: &mut Joined,
        shares: &[bool],
        answers: &mut [bool],
    ) -> Result<(), Error> {
        let answers = &mut answers[self.places.clone()];
        let mut others = vec![false; answers.len()];
        match self.partner(joined) {
            Some(partner) => {
                joined.receive_answers(partner, answers).await?;
                others.copy_from_slice(&shares[self.places.clone()]);
            }
            None => {
                joined.receive_answers(self.roles.holder, answers).await?;
                joined
                    .receive_answers(self.roles.keeper, &mut others)
                    .await?;
            }
        }
        let both = answers.iter_mut().zip(others);
        both.for_each(|(answer, other)| *answer ^= other);
        Ok(())
    }
}

#[cfg(test)]
#[path = "attack.rs"]
mod attack;
