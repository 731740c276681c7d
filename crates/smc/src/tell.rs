//! One site tells all others numbers that all are to know, or each site does: one message to each, one
//! round; or, where each does in a star or a tree, through the hub ([`crate::paths`]).
//!
//! The numbers are for every site, so nothing hides them from a site; what hides them from strangers is
//! the network. Every site enters what it heard among what all have seen opened, so that sites that were
//! told different numbers find out by the next frame.
//!
//! # Discloses
//! The numbers, to all sites.

use crate::draft::Draft;
use crate::error::{Error, OwnConfig, OwnData};
use crate::ideal;
use crate::ledger::{Sealed, To, What};
use crate::network::Site;
use crate::party::{Engine, Party};
use crate::paths::Paths;
use crate::sum::encode;
use crate::wire::{self, Primitive, WireError};

impl Party {
    /// Replaces `values` at every site by the values of the site `teller`. After an error all values
    /// are zero.
    pub async fn tell(
        &mut self,
        what: What,
        teller: Site,
        values: &mut [u64],
    ) -> Result<(), Error> {
        if teller.index() >= self.sites {
            return Err(Error::OwnConfig(OwnConfig::NoSuchSite { site: teller }));
        }
        self.calls += 1;
        if self.sites == 1 {
            return Ok(());
        }
        let asked = self
            .asking(what, &[])?
            .word(values.len() as u64)
            .word(teller.index() as u64)
            .finish();
        if self.me != teller {
            values.fill(0);
        }
        let sealed = match &mut self.engine {
            Engine::Alone => Sealed::new(values),
            Engine::Ideal(chair) => {
                let told = chair.ask(Primitive::Tell, asked, values.to_vec(), ideal::sum);
                values.copy_from_slice(&told.await?);
                Sealed::new(values)
            }
            Engine::Joined(joined) => {
                joined.link.begin(Primitive::Tell, asked)?;
                let mut draft = Draft::new(values);
                if joined.me == teller {
                    joined.link.broadcast(&encode(&draft))?;
                } else {
                    let message = joined.link.receive(teller, draft.len() * 8).await?;
                    let words = wire::unpack(&message, draft.len(), 8);
                    let words = words.map_err(|source| joined.link.invalid(teller, source))?;
                    draft
                        .iter_mut()
                        .zip(words)
                        .for_each(|(value, word)| *value = word);
                }
                joined.link.opened_words(&draft);
                draft.seal()
            }
        };
        self.open(what, Primitive::Tell, To::All, None, sealed);
        Ok(())
    }

    /// Every site tells all others its own numbers, in as many bits as each takes: `bits` has, for each
    /// site, the bits of each of its numbers, from 1 to 64. Returns the numbers of all sites, one site's
    /// after the other's.
    pub async fn tell_each(
        &mut self,
        what: What,
        bits: &[Vec<u8>],
        own: &[u64],
    ) -> Result<Vec<u64>, Error> {
        self.calls += 1;
        let (me, sites) = (self.me.index(), self.sites);
        if bits.len() != sites || bits[me].len() != own.len() {
            let (left, right) = (bits.get(me).map_or(0, Vec::len), own.len());
            return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
        }
        let mut sized = own.iter().zip(&bits[me]);
        if let Some(index) = sized.position(|(number, bits)| !fits(*number, *bits)) {
            return Err(Error::OwnData(OwnData::AboveBound { index }));
        }
        if sites == 1 {
            return Ok(own.to_vec());
        }
        let mut asking = self.asking(what, &[])?;
        for bits in bits {
            asking = asking.words(bits.iter().map(|bits| u64::from(*bits)));
        }
        let asked = asking.finish();
        let told = match &mut self.engine {
            Engine::Alone => own.to_vec(),
            Engine::Ideal(chair) => {
                let told = chair.ask(Primitive::Tell, asked, own.to_vec(), <[Vec<u64>]>::concat);
                told.await?.to_vec()
            }
            Engine::Joined(joined) => {
                joined.link.begin(Primitive::Tell, asked)?;
                let paths = Paths::of(&self.settings, joined.me, sites);
                let length = |site: Site| bytes(&bits[site.index()]);
                let said = paths.gather(&mut joined.link, packed(own, &bits[me]), length);
                let said = said.await?;
                let mut told = Vec::with_capacity(bits.iter().map(Vec::len).sum());
                for (site, (message, bits)) in Site::all(sites).zip(said.iter().zip(bits)) {
                    let numbers = unpacked(message, bits);
                    let numbers = numbers
                        .map_err(|source| joined.link.invalid(paths.heard_from(site), source));
                    told.extend(numbers?);
                }
                joined.link.opened_words(&told);
                told
            }
        };
        Ok(self.open(what, Primitive::Tell, To::All, None, Sealed::new(told)))
    }
}

/// Whether a number has at most so many bits.
const fn fits(number: u64, bits: u8) -> bool {
    bits >= 1 && bits <= 64 && u64::BITS - number.leading_zeros() <= bits as u32
}

/// Bytes of numbers of so many bits each, without gaps.
fn bytes(bits: &[u8]) -> usize {
    let bits: usize = bits.iter().map(|bits| usize::from(*bits)).sum();
    bits.div_ceil(8)
}

/// Numbers one after the other, lowest bit first.
fn packed(numbers: &[u64], bits: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(bytes(bits));
    let (mut held, mut count) = (0u128, 0u32);
    for (number, bits) in numbers.iter().zip(bits) {
        held |= u128::from(*number) << count;
        count += u32::from(*bits);
        while count >= 8 {
            message.push(held as u8);
            held >>= 8;
            count -= 8;
        }
    }
    if count > 0 {
        message.push(held as u8);
    }
    message
}

/// The numbers of a message; the bits behind the last must be 0.
fn unpacked(message: &[u8], bits: &[u8]) -> Result<Vec<u64>, WireError> {
    wire::exactly(message, bytes(bits))?;
    let mut numbers = Vec::with_capacity(bits.len());
    let (mut held, mut count) = (0u128, 0u32);
    let mut rest = message.iter();
    for bits in bits {
        let bits = u32::from(*bits);
        while count < bits {
            held |= u128::from(rest.next().copied().unwrap_or_default()) << count;
            count += 8;
        }
        numbers.push((held & (u128::MAX >> (u128::BITS - bits))) as u64);
        held >>= bits;
        count -= bits;
    }
    match held {
        0 => Ok(numbers),
        _ => Err(WireError::Padding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_width_come_back_and_nothing_hides_behind_them() {
        let bits = [1, 64, 3, 7, 1, 33, 64, 2];
        let numbers = [1, u64::MAX, 5, 0, 1, 1 << 32, 7, 3];
        let message = packed(&numbers, &bits);
        assert_eq!(message.len(), 175usize.div_ceil(8));
        assert_eq!(unpacked(&message, &bits).unwrap(), numbers);
        let mut more = message.clone();
        *more.last_mut().unwrap() |= 1 << 7;
        assert_eq!(unpacked(&more, &bits), Err(WireError::Padding));
        assert!(unpacked(&message[1..], &bits).is_err());
        assert!(fits(3, 2) && !fits(4, 2) && !fits(0, 0) && fits(u64::MAX, 64) && !fits(0, 65));
    }
}
