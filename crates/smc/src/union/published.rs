//! The published union: JX08 Algorithm 5, and the naive union of section 5.1 beside it.
//!
//! The leader is the site with the largest of random numbers, found by the secure maximum. It
//! adds random items and starts the lap; after the lap it takes them out and sends the result
//! around once more. The number of random items is public, so its successor can tell from the
//! length of the list who leads. In the naive union the first site of the ring leads, which all know, and
//! adds nothing.
//!
//! # Discloses
//! The union to all; to each site the list as it left its predecessor: see [`super::loss`].

use super::Items;
use crate::error::{Error, OwnConfig};
use crate::exposure::Lists;
use crate::ledger::Word;
use crate::network::Site;
use crate::order::End;
use crate::party::{Engine, Joined, Party};
use crate::settings::Uniting;
use crate::wire::{self, Primitive, WireError};

/// The range of random numbers by which a leader is found: so large that no two numbers are equal.
const TICKETS: u64 = 1 << 62;

type List = Vec<Vec<u8>>;

impl Party {
    /// The union; `passed` becomes the list that came from the predecessor.
    pub(super) async fn union_on_a_ring(
        &mut self,
        asked: u64,
        shape: &Items<'_>,
        own: List,
        passed: &mut Option<List>,
    ) -> Result<List, Error> {
        let (leads, random) = match self.settings.union {
            Uniting::Secure => (self.draws_highest(asked).await?, self.settings.decoys),
            Uniting::Naive => (self.ring().and_then(<[Site]>::first) == Some(&self.me), 0),
        };
        let decoys: List = if leads {
            (0..random)
                .map(|_| (shape.decoy)(&mut self.generator))
                .collect()
        } else {
            List::new()
        };
        if let Some(odd) = decoys.iter().find(|decoy| decoy.len() != shape.width) {
            let (found, width) = (odd.len(), shape.width);
            return Err(Error::OwnConfig(OwnConfig::DecoyWidth { found, width }));
        }
        let longest = self.sites * shape.capacity + self.settings.decoys;
        let Engine::Joined(joined) = &mut self.engine else {
            return Ok(own);
        };
        joined.link.begin(Primitive::Union, asked)?;
        let held = self.witness.is_some().then(|| own.clone());
        let united = if leads {
            let start = sorted(own.into_iter().chain(decoys.iter().cloned()));
            joined.send_list(&start)?;
            let seen = joined.receive_list(shape.width, longest).await?;
            let mut united = passed.insert(seen).clone();
            for decoy in &decoys {
                if let Ok(place) = united.binary_search(decoy) {
                    united.remove(place);
                }
            }
            joined.send_list(&united)?;
            joined.receive_list(shape.width, longest).await?;
            united
        } else {
            let seen = joined.receive_list(shape.width, longest).await?;
            let seen = passed.insert(seen);
            joined.send_list(&sorted(seen.iter().cloned().chain(own)))?;
            let united = joined.receive_list(shape.width, longest).await?;
            joined.send_list(&united)?;
            united
        };
        if let Some((witness, held)) = self.witness.as_mut().zip(held) {
            witness.unions.push(Lists {
                held: words(&held),
                seen: words(passed.as_deref().unwrap_or_default()),
                united: words(&united),
                leads,
                random,
                domain: shape.domain,
            });
        }
        Ok(united)
    }

    /// Whether this site drew the highest of random numbers, and so leads.
    async fn draws_highest(&mut self, asked: u64) -> Result<bool, Error> {
        let ticket = self.generator.below(TICKETS);
        let mut highest = [Some(ticket)];
        self.probabilistic_extremes(asked, |_| (End::High, 0..=TICKETS - 1), &mut highest)
            .await?;
        Ok(highest[0] == Some(ticket))
    }
}

impl Joined {
    fn send_list(&mut self, list: &List) -> Result<(), Error> {
        let next = self.drawn().next;
        self.link.send(next, &(list.len() as u64).to_le_bytes())?;
        self.link.send(next, &list.concat())
    }

    async fn receive_list(&mut self, width: usize, longest: usize) -> Result<List, Error> {
        let previous = self.drawn().previous;
        let message = self.link.receive(previous, 8).await?;
        let count = wire::unpack(&message, 1, 8).map(|mut words| words.next().unwrap_or(0));
        let count = count.map_err(|source| self.link.invalid(previous, source))?;
        if count > longest as u64 {
            return Err(self.link.invalid(previous, WireError::Range { index: 0 }));
        }
        let message = self.link.receive(previous, count as usize * width).await?;
        if width == 0 {
            return Ok(vec![Vec::new(); count as usize]);
        }
        Ok(sorted(message.chunks_exact(width).map(<[u8]>::to_vec)))
    }
}

/// Items as a witness writes them down: as words that differ where items do, sorted.
fn words(items: &[Vec<u8>]) -> Vec<u64> {
    let word = |item: &Vec<u8>| match item.len() {
        // All items have one width, so these bytes tell them apart.
        ..=8 => item
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
        _ => item.word(),
    };
    let mut words: Vec<u64> = items.iter().map(word).collect();
    words.sort_unstable();
    words
}

fn sorted(items: impl Iterator<Item = Vec<u8>>) -> List {
    let mut items: List = items.collect();
    items.sort_unstable();
    items
}
