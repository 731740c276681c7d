//! The conjunction of two sites: one oblivious transfer per bit.
//!
//! Site 0 offers (0, a), site 1 chooses by b and so gets a b, which is the answer; it tells
//! site 0. TG12 section 3.2 asks for an oblivious string comparison here; this is the transfer
//! from which such comparisons are made (Naor and Pinkas 1999).
//!
//! # Discloses
//! The answers. Site 1 learns a b and not a; site 0 learns a b and not b. Three rounds.

use super::wire;
use crate::block::Permutation;
use crate::error::Error;
use crate::network::Site;
use crate::party::Joined;
use crate::transfer::{Batch, Sender, Transfer, pads};

impl Joined {
    pub(super) async fn transferred_conjunction(&mut self, bits: &mut [bool]) -> Result<(), Error> {
        let permutation = Permutation::new(0);
        let count = bits.len();
        let (sender, chooser) = (Site::new(0), Site::new(1));
        let batch = Batch {
            bound: self.link.bound(),
            part: 0,
        };
        match self.transfer.as_deref() {
            Some(Transfer::Chooser(transfer)) => {
                let (message, mut rows) = transfer.choose(batch, bits.iter().copied());
                self.link.send(sender, &message)?;
                pads(&permutation, batch.tweaks(&message), &mut rows);
                let message = self.link.receive(sender, 2 * count.div_ceil(8)).await?;
                let (zeros, ones) = message.split_at(count.div_ceil(8));
                let decode = |bytes| wire::unpack_bits(bytes, count);
                let zeros = decode(zeros).map_err(|source| self.link.invalid(sender, source))?;
                let ones = decode(ones).map_err(|source| self.link.invalid(sender, source))?;
                for ((bit, row), (zero, one)) in bits.iter_mut().zip(&rows).zip(zeros.zip(ones)) {
                    *bit = (if *bit { one } else { zero }) ^ (row & 1 == 1);
                }
                self.link
                    .send(sender, &wire::pack_bits(bits.iter().copied()))
            }
            Some(Transfer::Sender(transfer)) => {
                let message = self
                    .link
                    .receive(chooser, Sender::message_bytes(count))
                    .await?;
                let rows = transfer.rows(batch, &message, count);
                let mut zeros = rows.map_err(|source| self.link.invalid(chooser, source))?;
                let mut ones: Vec<u128> = zeros.iter().map(|row| row ^ transfer.offset()).collect();
                let tweaks = batch.tweaks(&message);
                pads(&permutation, tweaks, &mut zeros);
                pads(&permutation, tweaks, &mut ones);
                let mut reply = wire::pack_bits(zeros.iter().map(|pad| pad & 1 == 1));
                let ones = ones
                    .iter()
                    .zip(&*bits)
                    .map(|(pad, &bit)| (pad & 1 == 1) ^ bit);
                reply.extend(wire::pack_bits(ones));
                self.link.send(chooser, &reply)?;
                self.receive_answers(chooser, bits).await
            }
            None => unreachable!("two sites prepare their transfers when they join"),
        }
    }
}
