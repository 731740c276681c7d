//! The published ring sums: TG12 Algorithm 1, and JX08 section 4.2.
//!
//! Sites pass a running total along the ring. In TG12 every site adds a random mask in a first lap and
//! takes it off in a second; the last site of the second lap sees the sum, so a pivot is last. In JX08
//! only the first site of the ring that was drawn for the run masks and sees the sum, so a pivot is first.
//! The paper's sum is modulo a bound of the sum; here all sums are modulo 2^64, which no sum reaches. Both are safe against one site (TG12
//! Proposition 8.1) and fall to the two neighbours of a site, who subtract what went in from what came
//! out: `tests/it/security.rs` shows the attack.
//!
//! # Discloses
//! The sums; to two colluding neighbours the summand of the site between them.

use super::masked::encode;
use crate::error::Error;
use crate::network::Site;
use crate::party::Joined;
use crate::random::Generator;
use crate::wire::{self, bytes_for};

impl Joined {
    pub(super) async fn ring_sum(
        &mut self,
        generator: &mut Generator,
        two_passes: bool,
        pivot: Option<Site>,
        values: &mut [u64],
    ) -> Result<(), Error> {
        let around = match two_passes {
            true => self.listed(),
            false => self.drawn(),
        };
        let starter = match pivot {
            None => around.first,
            Some(pivot) if two_passes => Site::new(((pivot.index() + 1) % self.sites) as u16),
            Some(pivot) => pivot,
        };
        let first = self.me == starter;
        let masks = masks(generator, values.len(), u64::MAX, first || two_passes);
        let shift = |values: &mut [u64], sign: fn(u64, u64) -> u64| {
            values
                .iter_mut()
                .zip(&masks)
                .for_each(|(value, &mask)| *value = sign(*value, mask));
        };
        shift(values, u64::wrapping_add);
        if !first {
            let previous = around.previous;
            let message = self.link.receive(previous, values.len() * 8).await?;
            let totals = wire::unpack(&message, values.len(), 8);
            let totals = totals.map_err(|source| self.link.invalid(previous, source))?;
            values
                .iter_mut()
                .zip(totals)
                .for_each(|(value, sum)| *value = value.wrapping_add(sum));
        }
        self.link.send(around.next, &encode(values))?;
        if first || two_passes {
            self.receive_into(around.previous, values).await?;
            shift(values, u64::wrapping_sub);
        }
        if two_passes && pivot != Some(self.me) {
            self.link.send(around.next, &encode(values))?;
            if first && pivot.is_none() {
                self.receive_into(around.previous, values).await?;
            }
        }
        match pivot {
            None if first => self.link.broadcast(&encode(values))?,
            None => self.receive_into(starter, values).await?,
            Some(pivot) if pivot == self.me => {}
            Some(_) => values.fill(0),
        }
        Ok(())
    }
}

/// TG12 Algorithm 2, steps 1 to 8: the ring sum modulo `modulus` up to one step before its end.
/// Leaves sum + mask at site m - 2, the mask at site m - 1, and zeros at the others.
pub(crate) async fn apart(
    joined: &mut Joined,
    generator: &mut Generator,
    modulus: u64,
    values: &mut [u64],
) -> Result<(), Error> {
    let (place, sites) = (joined.me.index(), joined.sites);
    let width = bytes_for(u64::BITS - (modulus - 1).leading_zeros()).max(1);
    let masks = masks(generator, values.len(), modulus - 1, true);
    let add = |left: u64, right: u64| {
        ((u128::from(left) + u128::from(right)) % u128::from(modulus)) as u64
    };
    for (value, &mask) in values.iter_mut().zip(&masks) {
        *value = add(*value % modulus, mask);
    }
    if place > 0 {
        let totals = receive(joined, width, modulus, values.len()).await?;
        values
            .iter_mut()
            .zip(totals)
            .for_each(|(value, total)| *value = add(*value, total));
    }
    send(joined, width, values)?;
    if place < sites - 1 {
        let totals = receive(joined, width, modulus, values.len()).await?;
        for ((value, total), mask) in values.iter_mut().zip(totals).zip(&masks) {
            *value = add(total, modulus - mask);
        }
        if place < sites - 2 {
            send(joined, width, values)?;
            values.fill(0);
        }
    } else {
        values.copy_from_slice(&masks);
    }
    Ok(())
}

fn send(joined: &mut Joined, width: usize, values: &[u64]) -> Result<(), Error> {
    let mut message = Vec::with_capacity(values.len() * width);
    wire::pack(values.iter().copied(), width, &mut message);
    joined.link.send(joined.next(), &message)
}

async fn receive(
    joined: &mut Joined,
    width: usize,
    modulus: u64,
    count: usize,
) -> Result<Vec<u64>, Error> {
    let previous = joined.previous();
    let message = joined.link.receive(previous, count * width).await?;
    let values = wire::unpack(&message, count, width).map(Iterator::collect::<Vec<u64>>);
    let values = values.map_err(|source| joined.link.invalid(previous, source))?;
    match values.iter().position(|&value| value >= modulus) {
        Some(index) => Err(joined
            .link
            .invalid(previous, wire::WireError::Range { index })),
        None => Ok(values),
    }
}

/// A uniform mask up to `largest` for each value, or zeros.
fn masks(generator: &mut Generator, count: usize, largest: u64, random: bool) -> Vec<u64> {
    let mut mask = || match (random, largest.checked_add(1)) {
        (false, _) => 0,
        (true, Some(bound)) => generator.below(bound),
        (true, None) => generator.next_u64(),
    };
    (0..count).map(|_| mask()).collect()
}
