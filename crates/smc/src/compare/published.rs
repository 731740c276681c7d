//! The published threshold: TG12 section 3.2, the permuted hash set.
//!
//! A ring sum up to one step before its end; then site m - 1 sends the hashes of all masked sums
//! that reach the threshold, permuted, to site 0, and site m - 2 the hash of the masked sum. The
//! set is as long as the bound minus the threshold: the paper means it for sums of m bits. Comparisons
//! whose sets are too long together go one lot after the other.
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
/// The most hashes of the sets that are sent together.
const LONGEST: u64 = 1 << 22;

pub(super) async fn compare(
    joined: &mut Joined,
    generator: &mut Generator,
    question: &Question<'_>,
    answers: &mut [bool],
) -> Result<(), Error> {
    let mut from = 0;
    for lot in lots(question)? {
        let places = from..from + lot;
        from += lot;
        let some = Question {
            bounds: question.bounds.of(places.clone()),
            counts: &question.counts[places.clone()],
            thresholds: &question.thresholds[places.clone()],
        };
        compare_some(joined, generator, &some, &mut answers[places]).await?;
    }
    Ok(())
}

/// How many comparisons each lot has: as many as their sets allow.
fn lots(question: &Question<'_>) -> Result<Vec<usize>, Error> {
    let mut lots = Vec::new();
    let (mut lot, mut together) = (0, 0);
    for index in 0..question.counts.len() {
        let hashes = question.greatest() + 1 - question.threshold(index);
        if hashes > LONGEST {
            return Err(Error::OwnConfig(OwnConfig::HashSets { hashes }));
        }
        if together + hashes > LONGEST {
            lots.push(std::mem::take(&mut lot));
            together = 0;
        }
        lot += 1;
        together += hashes;
    }
    // All sites take part in a question, also in one without comparisons.
    lots.push(lot);
    Ok(lots)
}

async fn compare_some(
    joined: &mut Joined,
    generator: &mut Generator,
    question: &Question<'_>,
    answers: &mut [bool],
) -> Result<(), Error> {
    let modulus = question.greatest() + 1;
    let size = |index: usize| modulus - question.threshold(index);
    let hashes: u64 = (0..answers.len()).map(size).sum();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lots_are_as_large_as_their_sets_allow() {
        let counts = [0; 7];
        let half = LONGEST / 2;
        // Sets of half the most, of all of it, of one, and of none.
        let thresholds = [
            half + 1,
            half + 1,
            half + 1,
            1,
            LONGEST,
            LONGEST + 1,
            9 * LONGEST,
        ];
        let question = Question {
            bounds: LONGEST.into(),
            counts: &counts,
            thresholds: &thresholds,
        };
        assert_eq!(lots(&question).unwrap(), [2, 1, 1, 3]);
        let nothing = Question {
            bounds: 1.into(),
            counts: &[],
            thresholds: &[],
        };
        assert_eq!(lots(&nothing).unwrap(), [0]);
        let too_long = Question {
            bounds: LONGEST.into(),
            counts: &[0],
            thresholds: &[0],
        };
        assert!(lots(&too_long).is_err());
    }
}
