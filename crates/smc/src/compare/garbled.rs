//! Comparison of two sites: a garbled comparator.
//!
//! x0 + x1 >= t exactly if x0 >= t - x1. Site 0 garbles the comparator of Kolesnikov, Sadeghi
//! and Schneider (CANS 2009), one gate per bit, with half gates (Zahur, Rosulek and Evans,
//! EUROCRYPT 2015); site 1 gets the labels of its bits by correlated oblivious transfer,
//! evaluates, and tells the answer. Site 0's own bits cost nothing: to xor a wire with a bit that
//! the garbler knows is to rename its labels.
//!
//! Three rounds; 64 bytes per bit and comparison.
//!
//! # Discloses
//! One bit per comparison. Site 1 sees labels of which it knows one per wire; site 0 sees the
//! chooser's side of the transfers.

use super::{Question, bits_of};
use crate::block::Permutation;
use crate::error::Error;
use crate::network::Site;
use crate::party::Joined;
use crate::random::{Bound, Generator};
use crate::transfer::{Batch, Chooser, Sender, Transfer, Tweaks, pads};
use crate::wire::{self, WireError};

/// Comparisons that go through the hash together.
const LANES: usize = 16;

/// Comparisons of one part. All parts are under way at once, so they cost no rounds; a part fits
/// the cache.
const PART: usize = 2048;

pub(crate) async fn compare(
    joined: &mut Joined,
    generator: &mut Generator,
    question: &Question<'_>,
    answers: &mut [bool],
) -> Result<(), Error> {
    let (garbler, evaluator) = (Site::new(0), Site::new(1));
    let bound = joined.link.bound();
    let bits = bits_of(question.greatest());
    let circuits = |part: usize, count: usize| Circuit::new(bits, count, bound, part);
    match joined.transfer.as_deref() {
        Some(Transfer::Sender(transfer)) => {
            for (part, counts) in parts(question.counts).enumerate() {
                let circuit = circuits(part, counts.len());
                let length = Sender::message_bytes(circuit.gates());
                let message = joined.link.receive(evaluator, length).await?;
                let reply = circuit.garble(transfer, generator, &message, counts);
                let reply = reply.map_err(|source| joined.link.invalid(evaluator, source))?;
                joined.link.send(evaluator, &reply)?;
            }
            joined.receive_answers(evaluator, answers).await
        }
        Some(Transfer::Chooser(transfer)) => {
            let needs: Vec<u64> = question
                .counts
                .iter()
                .enumerate()
                .map(|(index, &count)| question.threshold(index).saturating_sub(count))
                .collect();
            let mut rows = Vec::with_capacity(needs.len().div_ceil(PART));
            for (part, needs) in parts(&needs).enumerate() {
                let circuit = circuits(part, needs.len());
                let (message, own) = circuit.choose(transfer, needs);
                joined.link.send(garbler, &message)?;
                rows.push((message, own));
            }
            let none = answers.is_empty().then(<&mut [bool]>::default);
            let answered = answers.chunks_mut(PART).chain(none);
            let asked = parts(&needs).zip(answered).zip(rows);
            for (part, ((needs, answers), rows)) in asked.enumerate() {
                let circuit = circuits(part, needs.len());
                let reply = joined.link.receive(garbler, circuit.reply_bytes()).await?;
                let result = circuit.evaluate(rows, &reply, needs, answers);
                result.map_err(|source| joined.link.invalid(garbler, source))?;
            }
            joined
                .link
                .send(garbler, &wire::pack_bits(answers.iter().copied()))
        }
        None => unreachable!("two sites prepare their transfers when they join"),
    }
}

/// The parts of a batch. No comparison at all is one empty part, so that both sites hear of the
/// question.
fn parts(numbers: &[u64]) -> impl Iterator<Item = &[u64]> {
    let empty = numbers.is_empty().then_some(numbers);
    numbers.chunks(PART).chain(empty)
}

/// The public shape of a batch of comparators.
struct Circuit {
    count: usize,
    bits: usize,
    batch: Batch,
    gates: Permutation,
    transfers: Permutation,
}

impl Circuit {
    fn new(bits: u32, count: usize, bound: Bound, part: usize) -> Self {
        Self {
            count,
            bits: bits as usize,
            batch: Batch {
                bound,
                part: part as u32,
            },
            gates: Permutation::new(1),
            transfers: Permutation::new(0),
        }
    }

    const fn gates(&self) -> usize {
        self.count * self.bits
    }

    /// First carry, one transfer word and two table words per gate, one bit per answer.
    const fn reply_bytes(&self) -> usize {
        16 + self.gates() * 48 + self.count.div_ceil(8)
    }

    /// The tweaks of all hashes: they follow from the evaluator's message and from the garbler's first
    /// label, so that labels that were drawn anew come under other pads.
    fn tweaks(&self, message: &[u8], first: &[u8]) -> Tweaks {
        let bound = self.batch.bound.and(first);
        Batch {
            bound,
            ..self.batch
        }
        .tweaks(message)
    }

    /// The evaluator asks for the labels of its bits, lowest bit first.
    fn choose(&self, transfer: &Chooser, needs: &[u64]) -> (Vec<u8>, Vec<u128>) {
        let bits = self.bits;
        let choices = (0..self.gates()).map(|gate| needs[gate / bits] >> (gate % bits) & 1 == 1);
        transfer.choose(self.batch, choices)
    }

    fn garble(
        &self,
        transfer: &Sender,
        generator: &mut Generator,
        message: &[u8],
        counts: &[u64],
    ) -> Result<Vec<u8>, WireError> {
        let mut zeros = transfer.rows(self.batch, message, self.gates())?;
        let mut ones: Vec<u128> = zeros.iter().map(|row| row ^ transfer.offset()).collect();
        let offset = block(generator) | 1;
        let first = block(generator);

        let mut reply = Vec::with_capacity(self.reply_bytes());
        // The first carry is 1, so that equal numbers count as at least.
        wire::pack_blocks([first ^ offset], &mut reply);
        let tweaks = self.tweaks(message, &reply);
        pads(&self.transfers, tweaks, &mut zeros);
        pads(&self.transfers, tweaks, &mut ones);
        wire::pack_blocks(
            zeros
                .iter()
                .zip(&ones)
                .map(|(zero, one)| zero ^ one ^ offset),
            &mut reply,
        );
        let mut decode = Vec::with_capacity(self.count);
        for (chunk, counts) in counts.chunks(LANES).enumerate() {
            let start = chunk * LANES;
            let mut carries = [first; LANES];
            let mut blocks = [0; 4 * LANES];
            let mut tables = vec![0; counts.len() * self.bits * 2];
            for place in 0..self.bits {
                let own = |lane: usize| u128::from(counts[lane] >> place & 1);
                let known = |lane: usize| offset & own(lane).wrapping_neg();
                for (lane, cell) in blocks.chunks_exact_mut(4).take(counts.len()).enumerate() {
                    let left = carries[lane] ^ known(lane);
                    let right = carries[lane] ^ zeros[(start + lane) * self.bits + place];
                    cell.copy_from_slice(&[left, left ^ offset, right, right ^ offset]);
                }
                let inputs = blocks;
                self.hash_gates(tweaks, &mut blocks[..4 * counts.len()], 4, start, place);
                for lane in 0..counts.len() {
                    let [left, right] = [inputs[4 * lane], inputs[4 * lane + 2]];
                    let [h0, h1, h2, h3] = [0, 1, 2, 3].map(|at| blocks[4 * lane + at]);
                    let generator_half = h0 ^ h1 ^ (offset & lowest(right));
                    let evaluator_half = h2 ^ h3 ^ left;
                    let gate = (lane * self.bits + place) * 2;
                    tables[gate] = generator_half;
                    tables[gate + 1] = evaluator_half;
                    let out = h0
                        ^ (generator_half & lowest(left))
                        ^ h2
                        ^ ((evaluator_half ^ left) & lowest(right));
                    carries[lane] = out ^ known(lane);
                }
            }
            wire::pack_blocks(tables, &mut reply);
            decode.extend(carries[..counts.len()].iter().map(|carry| carry & 1 == 1));
        }
        reply.extend(wire::pack_bits(decode.into_iter()));
        Ok(reply)
    }

    fn evaluate(
        &self,
        (message, mut labels): (Vec<u8>, Vec<u128>),
        reply: &[u8],
        needs: &[u64],
        answers: &mut [bool],
    ) -> Result<(), WireError> {
        wire::exactly(reply, self.reply_bytes())?;
        let (first, rest) = reply.split_at(16);
        let tweaks = self.tweaks(&message, first);
        let (transfers, rest) = rest.split_at(self.gates() * 16);
        let (tables, decode) = rest.split_at(self.gates() * 32);
        let first = wire::unpack_blocks(first, 1)?.next().unwrap_or_default();
        pads(&self.transfers, tweaks, &mut labels);
        for (gate, (label, word)) in labels
            .iter_mut()
            .zip(wire::unpack_blocks(transfers, self.gates())?)
            .enumerate()
        {
            let chosen = needs[gate / self.bits] >> (gate % self.bits) & 1;
            *label ^= word & u128::from(chosen).wrapping_neg();
        }
        let tables: Vec<u128> = wire::unpack_blocks(tables, self.gates() * 2)?.collect();
        let decode = wire::unpack_bits(decode, self.count)?;
        for (chunk, answers) in answers.chunks_mut(LANES).enumerate() {
            let start = chunk * LANES;
            let mut carries = [first; LANES];
            let mut blocks = [0; 2 * LANES];
            for place in 0..self.bits {
                for (lane, cell) in blocks.chunks_exact_mut(2).take(answers.len()).enumerate() {
                    let right = carries[lane] ^ labels[(start + lane) * self.bits + place];
                    cell.copy_from_slice(&[carries[lane], right]);
                }
                let inputs = blocks;
                self.hash_gates(tweaks, &mut blocks[..2 * answers.len()], 2, start, place);
                for lane in 0..answers.len() {
                    let [left, right] = [inputs[2 * lane], inputs[2 * lane + 1]];
                    let gate = ((start + lane) * self.bits + place) * 2;
                    carries[lane] = blocks[2 * lane]
                        ^ (tables[gate] & lowest(left))
                        ^ blocks[2 * lane + 1]
                        ^ ((tables[gate + 1] ^ left) & lowest(right));
                }
            }
            for (answer, carry) in answers.iter_mut().zip(&carries) {
                *answer = carry & 1 == 1;
            }
        }
        answers
            .iter_mut()
            .zip(decode)
            .for_each(|(answer, flip)| *answer ^= flip);
        Ok(())
    }

    /// Hashes the labels of one gate in each lane; both labels of a wire share a tweak.
    fn hash_gates(
        &self,
        tweaks: Tweaks,
        blocks: &mut [u128],
        per_lane: usize,
        start: usize,
        place: usize,
    ) {
        let half = per_lane / 2;
        self.gates.tweaked_hash(blocks, |at| {
            let gate = (start + at / per_lane) * self.bits + place;
            tweaks.at(2 * gate + at % per_lane / half)
        });
    }
}

/// All bits set if the lowest bit is set.
const fn lowest(label: u128) -> u128 {
    (label & 1).wrapping_neg()
}

fn block(generator: &mut Generator) -> u128 {
    u128::from(generator.next_u64()) | u128::from(generator.next_u64()) << 64
}
