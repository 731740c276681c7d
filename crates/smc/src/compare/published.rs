//! The published threshold: TG12 section 3.2, the permuted hash set.
//!
//! A ring sum up to one step before its end; then site m - 1 sends the hashes of all masked sums
//! that reach the threshold, permuted, to site 0, and site m - 2 the hash of the masked sum. The
//! set is as long as the bound minus the threshold: the paper means it for sums of m bits.
//!
//! # Discloses
//! One bit per comparison; to two colluding neighbours on the ring the summands of the site
//! between them; to site 0 together with site m - 2 or m - 1 the sums.

use subtle::{Choice, ConstantTimeEq};

use super::Question;
use crate::bits::{hash, new_key, receive_key};
use crate::error::{Error, OwnConfig};
use crate::network::Site;
use crate::party::Joined;
use crate::random::Generator;
use crate::sum::apart;
use crate::wire;

/// Bytes of a hash on the wire.
const HASH: usize = 16;
/// Longest sets in all, in hashes.
const LONGEST: u64 = 1 << 22;

pub(super) async fn compare(
    joined: &mut Joined,
    generator: &mut Generator,
    question: &Question<'_>,
    answers: &mut [bool],
) -> Result<(), Error> {
    let modulus = question.bound + 1;
    let size = |index: usize| modulus - question.threshold(index);
    let hashes = (0..answers.len()).map(size).fold(0, u64::saturating_add);
    if hashes > LONGEST {
        return Err(Error::OwnConfig(OwnConfig::HashSets { hashes }));
    }
    let mut values = question.counts.to_vec();
    apart(joined, generator, modulus, &mut values).await?;

    let judge = Site::new(0);
    let last = Site::new(joined.sites as u16 - 1);
    let before_last = Site::new(joined.sites as u16 - 2);
    if joined.me == last {
        let key = new_key(generator);
        joined.link.send(before_last, &key)?;
        let mut message = Vec::with_capacity(hashes as usize * HASH);
        for (index, mask) in values.iter().enumerate() {
            let sums = question.threshold(index)..modulus;
            let mut set: Vec<[u8; HASH]> = sums
                .map(|sum| hash(&key, index, (sum + mask) % modulus))
                .collect();
            generator.shuffle(&mut set);
            message.extend(set.iter().flatten());
        }
        joined.link.send(judge, &message)?;
    } else if joined.me == before_last {
        let key = receive_key(joined, last).await?;
        let message: Vec<u8> = values
            .iter()
            .enumerate()
            .flat_map(|(index, &value)| hash(&key, index, value))
            .collect();
        joined.link.send(judge, &message)?;
    }
    if joined.me == judge {
        let sums = joined
            .link
            .receive(before_last, answers.len() * HASH)
            .await?;
        let sets = joined.link.receive(last, hashes as usize * HASH).await?;
        let mut rest = sets.as_slice();
        for (index, (answer, sum)) in answers.iter_mut().zip(sums.chunks_exact(HASH)).enumerate() {
            let (set, behind) = rest.split_at(size(index) as usize * HASH);
            rest = behind;
            let found = |found: Choice, member: &[u8]| found | member.ct_eq(sum);
            *answer = set.chunks_exact(HASH).fold(Choice::from(0), found).into();
        }
        joined
            .link
            .broadcast(&wire::pack_bits(answers.iter().copied()))
    } else {
        joined.receive_answers(judge, answers).await
    }
}
