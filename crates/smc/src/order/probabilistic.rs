//! The published extremes: JX08 Algorithm 3 after Xiong, Chitti and Liu (ICDCS 2005).
//!
//! A running value goes around the ring. A site whose own value is larger puts in a random value between
//! the two with probability p0 d^(r - 1) in lap r, else its own. In the last lap every site puts in its
//! own value, so the answer is exact; the paper leaves a probability of error. The order of the ring and who
//! starts are drawn for the run ([`crate::ring`]).
//!
//! # Discloses
//! The extreme to all; the running values of every lap to the successor on the ring.

use std::ops::RangeInclusive;

use super::End;
use super::search::size_of;
use crate::error::Error;
use crate::exposure::Laps;
use crate::ledger::{Disclosure, Sealed, To, What};
use crate::network::Site;
use crate::party::{Engine, Joined, Party};
use crate::random::Generator;
use crate::ring::Around;
use crate::settings::Probabilistic;
use crate::wire::{self, Primitive, WireError};

/// The running values that a site sees of its predecessors.
pub const RUNNING: What = What::new("running extremes of each lap", "JX08 Algorithm 3");

impl Party {
    /// The extremes of data, whose laps a witness writes down.
    pub(super) async fn extremes_on_a_ring(
        &mut self,
        asked: u64,
        question: impl Fn(usize) -> (End, RangeInclusive<u64>),
        values: &mut [Option<u64>],
    ) -> Result<(), Error> {
        let laps = self.probabilistic_extremes(asked, question, values).await?;
        if let Some(witness) = &mut self.witness {
            witness.extremes.push(laps);
        }
        Ok(())
    }

    /// The extremes, and what this site held and saw.
    pub(crate) async fn probabilistic_extremes(
        &mut self,
        asked: u64,
        question: impl Fn(usize) -> (End, RangeInclusive<u64>),
        values: &mut [Option<u64>],
    ) -> Result<Laps, Error> {
        let mut own = Vec::with_capacity(values.len());
        let mut sizes = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let (end, domain) = question(index);
            let size = size_of(index, &domain)?;
            sizes.push(size);
            // 0 stands for no value; the wanted end of the domain is the largest number.
            own.push(value.map_or(0, |value| match end {
                End::Low => size - (value - domain.start()),
                End::High => value - domain.start() + 1,
            }));
        }
        let laps = self.settings.probabilistic;
        let held = own.clone();
        let mut seen = Vec::new();
        let disclosure = Disclosure {
            what: RUNNING,
            by: Primitive::Extremum,
            to: To::Successor,
            caveat: None,
        };
        let most = (laps.laps.max(1) as usize).saturating_mul(values.len());
        let begun = self.ledger.begin(disclosure, most);
        let mut ended = Ok(());
        if let Engine::Joined(joined) = &mut self.engine {
            joined.link.begin(Primitive::Extremum, asked)?;
            ended = laps_of_maximum(
                joined,
                &mut self.generator,
                laps,
                &sizes,
                &mut own,
                &mut seen,
            )
            .await;
            if ended.is_ok() {
                joined.link.opened_words(&own);
            }
        }
        // What a site saw is entered, however the laps ended.
        let seen = self.ledger.finish(begun, Sealed::new(seen));
        ended?;
        let witnessed = Laps {
            held,
            found: own.clone(),
            seen,
        };
        for (index, (value, found)) in values.iter_mut().zip(own).enumerate() {
            let (end, domain) = question(index);
            let from_start = |place: u64| match end {
                End::Low => domain.end() - (place - 1),
                End::High => domain.start() + (place - 1),
            };
            *value = (found > 0).then(|| from_start(found));
        }
        Ok(witnessed)
    }
}

/// Leaves the maximum of all sites in `own`, and what this site saw in `seen`.
async fn laps_of_maximum(
    joined: &mut Joined,
    generator: &mut Generator,
    laps: Probabilistic,
    sizes: &[u64],
    own: &mut [u64],
    seen: &mut Vec<u64>,
) -> Result<(), Error> {
    let Around {
        next,
        previous,
        first,
        last,
    } = joined.drawn();
    let (count, first_site) = (own.len(), joined.me == first);
    let mut running = vec![0; count];
    let mut probability = laps.start;
    for lap in 1..=laps.laps.max(1) {
        if !(first_site && lap == 1) {
            running = receive(joined, previous, sizes).await?;
            seen.extend_from_slice(&running);
        }
        if lap == laps.laps.max(1) {
            probability = 0.0;
        }
        for (running, &own) in running.iter_mut().zip(&*own) {
            if *running < own {
                let lies = (generator.next_u64() as f64) < probability * 2f64.powi(64);
                *running = if lies {
                    *running + generator.below(own - *running)
                } else {
                    own
                };
            }
        }
        probability *= laps.dampening;
        if !(joined.me == last && lap == laps.laps.max(1)) {
            send(joined, next, &running)?;
        }
    }
    if joined.me == last {
        let mut message = Vec::with_capacity(count * 8);
        wire::pack(running.iter().copied(), 8, &mut message);
        joined.link.broadcast(&message)?;
    } else {
        running = receive(joined, last, sizes).await?;
    }
    own.copy_from_slice(&running);
    Ok(())
}

fn send(joined: &mut Joined, next: Site, values: &[u64]) -> Result<(), Error> {
    let mut message = Vec::with_capacity(values.len() * 8);
    wire::pack(values.iter().copied(), 8, &mut message);
    joined.link.send(next, &message)
}

async fn receive(joined: &mut Joined, from: Site, sizes: &[u64]) -> Result<Vec<u64>, Error> {
    let message = joined.link.receive(from, sizes.len() * 8).await?;
    let values = wire::unpack(&message, sizes.len(), 8).map(Iterator::collect::<Vec<u64>>);
    let values = values.map_err(|source| joined.link.invalid(from, source))?;
    match values
        .iter()
        .zip(sizes)
        .position(|(value, size)| value > size)
    {
        Some(index) => Err(joined.link.invalid(from, WireError::Range { index })),
        None => Ok(values),
    }
}
