//! Sum of vectors in Z_2^64.
//!
//! `published`: the ring sums of TG12 Algorithm 1 (two passes, every site masks) and of JX08
//! section 4.2 (one mask), in [`ring`](self). Two colluding neighbours on the ring learn the site
//! between them.
//! `hardened`: vectors masked pairwise so that the masks cancel in the sum (Bonawitz et al., CCS
//! 2017, without dropouts), one round, or two messages a site and two rounds or more ([`crate::paths`]): any
//! m - 2 colluding sites learn nothing beyond the sum, and of many sites as many as [`crate::masking`] says.
//!
//! A sum that is known to be small may be taken modulo a smaller power of two, in fewer bytes
//! ([`Party::narrow_sum_to`]).
//!
//! # Discloses
//! The sums, to all sites or to one. With two sites a sum tells each the other's summand; no protocol
//! can hide that, and the ledger says so.

#[cfg(test)]
mod attack;
mod masked;
mod ring;

use masked::WIDEST;
pub(crate) use masked::{add_masks, encode};
pub(crate) use ring::apart;

use crate::draft::Draft;
use crate::error::{Error, OwnConfig};
use crate::ideal;
use crate::ledger::{Sealed, To, What};
use crate::network::Site;
use crate::party::{Engine, Party};
use crate::settings::{Ring, Security};
use crate::wire::{Primitive, bytes_for};

/// In the ledger of every sum between two sites.
const TWO_SITES: &str = "with two sites a sum tells each site the other's summand";
/// In the ledger of every published sum.
const NEIGHBOURS: &str = "the two neighbours of a site on the ring can learn its summand together";

impl Party {
    /// Replaces `values` by their sums over all sites, modulo 2^64; every site learns the sums. After an
    /// error all values are zero.
    pub async fn sum(&mut self, what: What, values: &mut [u64]) -> Result<(), Error> {
        self.sum_for(what, None, WIDEST, values).await
    }

    /// As [`Party::sum`], but only `pivot` learns the sums; at the others `values` becomes zero.
    pub async fn sum_to(
        &mut self,
        what: What,
        pivot: Site,
        values: &mut [u64],
    ) -> Result<(), Error> {
        self.narrow_sum_to(what, pivot, u64::MAX, values).await
    }

    /// As [`Party::sum_to`], where every sum is known to be at most `most`: modulo the smallest power of
    /// 256 above `most`, so that the hardened form sends no more bytes for each number than that takes.
    /// A sum that is larger after all loses its high bytes.
    pub async fn narrow_sum_to(
        &mut self,
        what: What,
        pivot: Site,
        most: u64,
        values: &mut [u64],
    ) -> Result<(), Error> {
        if pivot.index() >= self.sites {
            return Err(Error::OwnConfig(OwnConfig::NoSuchSite { site: pivot }));
        }
        let width = bytes_for(u64::BITS - most.leading_zeros()).max(1);
        self.sum_for(what, Some(pivot), width, values).await
    }

    async fn sum_for(
        &mut self,
        what: What,
        pivot: Option<Site>,
        width: usize,
        values: &mut [u64],
    ) -> Result<(), Error> {
        self.calls += 1;
        if self.sites == 1 {
            return Ok(());
        }
        let asking = self
            .asking(what, &[])?
            .word(values.len() as u64)
            .word(pivot.map_or(u64::MAX, |pivot| pivot.index() as u64));
        let asked = match width {
            WIDEST => asking.finish(),
            width => asking.word(width as u64).finish(),
        };
        let sealed = self
            .sealed_narrow_sum(Primitive::Sum, asked, pivot, width, values)
            .await?;
        let to = pivot.map_or(To::All, To::Site);
        let caveat = self.sum_caveat();
        self.open(what, Primitive::Sum, to, caveat, sealed);
        Ok(())
    }

    /// The sealed sums, for a primitive that is built on them and opens them under its own name.
    pub(crate) async fn sealed_sum<'a>(
        &mut self,
        primitive: Primitive,
        asked: u64,
        pivot: Option<Site>,
        values: &'a mut [u64],
    ) -> Result<Sealed<&'a mut [u64]>, Error> {
        self.sealed_narrow_sum(primitive, asked, pivot, WIDEST, values)
            .await
    }

    /// The sealed sums modulo 2^(8 `width`).
    async fn sealed_narrow_sum<'a>(
        &mut self,
        primitive: Primitive,
        asked: u64,
        pivot: Option<Site>,
        width: usize,
        values: &'a mut [u64],
    ) -> Result<Sealed<&'a mut [u64]>, Error> {
        let low_bytes = u64::MAX >> (u64::BITS - 8 * width as u32);
        match &mut self.engine {
            Engine::Alone => Ok(Sealed::new(values)),
            Engine::Ideal(chair) => {
                let answer = chair
                    .ask(primitive, asked, values.to_vec(), ideal::sum)
                    .await?;
                if pivot.is_none_or(|pivot| pivot == self.me) {
                    let answer = answer.iter().map(|sum| sum & low_bytes);
                    values
                        .iter_mut()
                        .zip(answer)
                        .for_each(|(value, sum)| *value = sum);
                } else {
                    values.fill(0);
                }
                Ok(Sealed::new(values))
            }
            Engine::Joined(joined) => {
                joined.link.begin(primitive, asked)?;
                let mut draft = Draft::new(values);
                match self.settings.security {
                    Security::Hardened => {
                        let sum = joined.masked_sum(&self.settings, pivot, width, &mut draft);
                        sum.await?;
                    }
                    Security::Published => {
                        let two_passes = self.settings.ring == Ring::TwoPasses;
                        joined
                            .ring_sum(&mut self.generator, two_passes, pivot, &mut draft)
                            .await?;
                    }
                }
                draft.iter_mut().for_each(|sum| *sum &= low_bytes);
                if pivot.is_none() {
                    joined.link.opened_words(&draft);
                }
                Ok(draft.seal())
            }
        }
    }

    pub(crate) fn sum_caveat(&self) -> Option<&'static str> {
        match self.settings.security {
            _ if self.sites == 2 => Some(TWO_SITES),
            Security::Published => Some(NEIGHBOURS),
            Security::Hardened => None,
        }
    }
}
