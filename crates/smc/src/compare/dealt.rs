//! Comparison by a dealer: three sites with roles, drawn per run.
//!
//! Holder and keeper hold the masked sum y = x - t modulo 2^(bits + 1) apart. The judge deals: it
//! shares a mask r with each of them by halves, and gives both the keys of the function
//! (z < r) on the low bits. Holder and keeper exchange their shares of z = y + r and evaluate: the
//! sign of y is the sign of z, xor that of r, xor the borrow, which is that function. Before they
//! send their shares of the bit to all they flip both by a common random bit, so that the dealer,
//! who knows the keys, learns nothing about z from a share.
//!
//! After Boyle et al. (EUROCRYPT 2021), section 5; the trust is that of TG12's hash comparison.
//!
//! # Discloses
//! One bit per comparison. To two colluding sites with roles the sums.

use super::Question;
use super::function::{Comparison, Secret};
use crate::error::Error;
use crate::network::Site;
use crate::party::{Joined, Roles};
use crate::random::Purpose;
use crate::sum::add_masks;
use crate::wire::{self, bytes_for};

pub(super) async fn compare(
    joined: &mut Joined,
    question: &Question<'_>,
    answers: &mut [bool],
) -> Result<(), Error> {
    let (me, roles) = (joined.me, joined.roles());
    let mut values = question.counts.to_vec();
    add_masks(joined, Purpose::ApartMask, &mut values);
    let table = Table::new(question, roles);
    if me == roles.holder {
        for peer in joined.peers().filter(|&peer| peer != roles.keeper) {
            let others = table.receive(joined, peer, values.len()).await?;
            values
                .iter_mut()
                .zip(others)
                .for_each(|(value, other)| *value = value.wrapping_add(other));
        }
        for (index, value) in values.iter_mut().enumerate() {
            *value = value.wrapping_sub(question.threshold(index));
        }
    }
    if me != roles.holder && me != roles.keeper {
        table.send(joined, roles.holder, &values)?;
    }
    if me == roles.judge {
        table.deal(joined, values.len())?;
    }
    if me == roles.holder {
        let share = table.evaluate(joined, roles.keeper, values).await?;
        table.open(joined, &share, answers).await
    } else if me == roles.keeper {
        let share = table.evaluate(joined, roles.holder, values).await?;
        table.open(joined, &share, answers).await
    } else {
        table.watch(joined, answers).await
    }
}

/// What is public about a comparison.
struct Table {
    roles: Roles,
    /// Bits of a sum; shares have one more, for the sign.
    bits: u32,
    comparison: Comparison,
}

impl Table {
    fn new(question: &Question<'_>, roles: Roles) -> Self {
        let bits = question.bits();
        Self {
            roles,
            bits,
            comparison: Comparison::new(bits),
        }
    }

    const fn mask(&self) -> u64 {
        u64::MAX >> (63 - self.bits)
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

    async fn receive(
        &self,
        joined: &mut Joined,
        from: Site,
        count: usize,
    ) -> Result<Vec<u64>, Error> {
        let bytes = joined
            .link
            .receive(from, count * bytes_for(self.bits + 1))
            .await?;
        let values = wire::unpack_below(&bytes, count, self.bits + 1);
        values.map_err(|source| joined.link.invalid(from, source))
    }

    /// The judge's part: keys from streams it shares with each of the two, and corrections.
    fn deal(&self, joined: &mut Joined, count: usize) -> Result<(), Error> {
        let secrets = self.secrets(joined, joined.link.call(), count);
        let mut message = Vec::with_capacity(count * self.comparison.words() * 16);
        wire::pack_blocks(self.comparison.deal(&secrets), &mut message);
        joined.link.send(self.roles.holder, &message)?;
        joined.link.send(self.roles.keeper, &message)
    }

    /// What the judge shares with holder and keeper for one call, without a message.
    fn secrets(&self, joined: &Joined, call: u32, count: usize) -> Vec<Secret> {
        let mut left = joined.pair(self.roles.holder).stream(Purpose::Dealer, call);
        let mut right = joined.pair(self.roles.keeper).stream(Purpose::Dealer, call);
        (0..count)
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

    /// Holder's and keeper's part: z is opened between them, then evaluated.
    async fn evaluate(
        &self,
        joined: &mut Joined,
        partner: Site,
        mut values: Vec<u64>,
    ) -> Result<Vec<bool>, Error> {
        let call = joined.link.call();
        let mut dealt = joined.pair(self.roles.judge).stream(Purpose::Dealer, call);
        let mut roots = Vec::with_capacity(values.len());
        for value in &mut values {
            *value = value.wrapping_add(dealt.word());
            roots.push(dealt.block());
        }
        self.send(joined, partner, &values)?;
        let theirs = self.receive(joined, partner, values.len()).await?;
        for (value, other) in values.iter_mut().zip(theirs) {
            *value = value.wrapping_add(other) & self.mask();
        }
        let count = values.len() * self.comparison.words();
        let bytes = joined.link.receive(self.roles.judge, count * 16).await?;
        let words = wire::unpack_blocks(&bytes, count).map(Iterator::collect::<Vec<u128>>);
        let words = words.map_err(|source| joined.link.invalid(self.roles.judge, source))?;

        let low: Vec<u64> = values
            .iter()
            .map(|value| value & (self.mask() >> 1))
            .collect();
        let holds = joined.me == self.roles.holder;
        let mut share = self.comparison.evaluate(!holds, &roots, &words, &low);
        let mut hide = joined.pair(partner).stream(Purpose::Opening, call);
        for (share, value) in share.iter_mut().zip(values) {
            // The holder adds the sign of z, and 1: at least is the opposite of below.
            *share ^= (hide.byte() & 1 == 1) ^ (holds && value >> self.bits == 0);
        }
        Ok(share)
    }

    async fn open(
        &self,
        joined: &mut Joined,
        share: &[bool],
        answers: &mut [bool],
    ) -> Result<(), Error> {
        joined
            .link
            .broadcast(&wire::pack_bits(share.iter().copied()))?;
        let partner = if joined.me == self.roles.holder {
            self.roles.keeper
        } else {
            self.roles.holder
        };
        joined.receive_answers(partner, answers).await?;
        answers
            .iter_mut()
            .zip(share)
            .for_each(|(answer, share)| *answer ^= share);
        Ok(())
    }

    async fn watch(&self, joined: &mut Joined, answers: &mut [bool]) -> Result<(), Error> {
        joined.receive_answers(self.roles.holder, answers).await?;
        let mut share = vec![false; answers.len()];
        joined
            .receive_answers(self.roles.keeper, &mut share)
            .await?;
        answers
            .iter_mut()
            .zip(share)
            .for_each(|(answer, share)| *answer ^= share);
        Ok(())
    }
}

#[cfg(test)]
#[path = "attack.rs"]
mod attack;
