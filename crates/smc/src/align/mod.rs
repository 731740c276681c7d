//! Align: which of a site's own records do all sites hold, and in which common order?
//!
//! Multi-party set intersection by commutative encryption (Agrawal, Evfimievski and Srikant,
//! SIGMOD 2003; Vaidya and Clifton 2005 for many sites). Each site's identifiers go once around
//! the ring, and everyone puts on its key; equal identifiers become equal tags, and the order of
//! the tags is the common order.
//!
//! `published`: with the exponentiation cipher; every site publishes its tags. `hardened`: on
//! ristretto255. A site's own identifiers travel under a blind that only it can take off, so nobody else
//! sees its tags; one site, drawn per run, compares all tags and tells which are common. That site's own
//! identifiers come back shuffled by its predecessor, so it cannot tell which of its records another
//! site holds; the predecessor tells it which of its records are common.
//!
//! Guarantee: a single site learns its common records; the comparing site also how many tags any sets of
//! sites share. The comparing site together with another site learns which of the other site's records
//! each site holds, and together with its predecessor the same of its own records.
//!
//! # Discloses
//! The number of identifiers of each site to all; the common records to each site about its own;
//! to the comparing site (published: to all) the sizes of all overlaps.

mod overlaps;
mod ring;

use std::collections::HashSet;

use crate::commutative::PohligHellmanKey;
use crate::error::{Error, OwnData, check_capacity};
use crate::ledger::{Sealed, To, What};
use crate::party::{Engine, Party};
use crate::wire::Primitive;
pub use overlaps::Overlaps;
use ring::Seen;

/// How many identifiers each site has.
pub const SIZES: What = What::new(
    "number of identifiers of each site",
    "every alignment shows it",
);
/// How many records sites share, as encrypted identifiers tell it.
pub const OVERLAPS: What = What::new(
    "encrypted identifiers, hence sizes of overlaps",
    "every alignment shows it",
);

/// In the ledger of a hardened alignment.
const COMPARER: &str = "the comparing site and another can learn together which of that other's records each site holds";
/// In the ledger of a published alignment.
const PUBLIC_TAGS: &str = "every site learns which of its records each other site holds";

impl Party {
    /// Fills `common` with the places of this site's records that all sites hold, in an order
    /// that is the same at every site. Identifiers must not repeat, and no site has more of them
    /// than the agreed capacity.
    pub async fn align(
        &mut self,
        what: What,
        capacity: usize,
        identifiers: &[&[u8]],
        common: &mut Vec<usize>,
    ) -> Result<(), Error> {
        self.calls += 1;
        common.clear();
        if self.sites == 1 {
            common.extend(0..identifiers.len());
            return Ok(());
        }
        if identifiers.len() > capacity {
            let found = identifiers.len();
            return Err(Error::OwnData(OwnData::AboveCapacity { found, capacity }));
        }
        let mut seen = HashSet::with_capacity(identifiers.len());
        if let Some(index) = identifiers
            .iter()
            .position(|identifier| !seen.insert(*identifier))
        {
            return Err(Error::OwnData(OwnData::Duplicate { index }));
        }
        let asked = self
            .asking(what, &[SIZES, OVERLAPS])?
            .word(capacity as u64)
            .finish();
        // The longer ciphertexts of both levels.
        let bytes = Some(PohligHellmanKey::BYTES);
        check_capacity(self.sites, capacity, 0, bytes)?;
        let (published, by) = (self.is_published(), Primitive::Align);
        match &mut self.engine {
            Engine::Alone => {}
            Engine::Ideal(chair) => {
                let own: Vec<Vec<u8>> = identifiers
                    .iter()
                    .map(|identifier| identifier.to_vec())
                    .collect();
                let (counts, ordered) = &*chair
                    .ask(Primitive::Align, asked, own, intersection)
                    .await?;
                let sizes = Sealed::new(counts.clone());
                let place =
                    |identifier: &Vec<u8>| identifiers.iter().position(|own| own == identifier);
                common.extend(ordered.iter().filter_map(place));
                self.open(SIZES, by, To::All, None, sizes);
            }
            Engine::Joined(joined) => {
                joined.link.begin(Primitive::Align, asked)?;
                let mut seen = Seen::default();
                let aligned = if published {
                    joined
                        .align_published(&mut self.generator, capacity, identifiers, &mut seen)
                        .await
                } else {
                    joined
                        .align_hardened(&mut self.generator, capacity, identifiers, &mut seen)
                        .await
                };
                // What a site saw is entered, even where the alignment failed later.
                let Seen { sizes, overlaps } = seen;
                if !sizes.is_empty() {
                    self.open(SIZES, by, To::All, None, Sealed::new(sizes));
                }
                if let Some((to, overlaps)) = overlaps {
                    self.open(OVERLAPS, by, to, None, Sealed::new(overlaps));
                }
                *common = aligned?;
            }
        }
        let caveat = match (published, self.sites) {
            (_, 2) => None,
            (true, _) => Some(PUBLIC_TAGS),
            (false, _) => Some(COMPARER),
        };
        let places: Vec<u64> = common.iter().map(|&place| place as u64).collect();
        self.open(what, by, To::Owner, caveat, Sealed::new(places));
        Ok(())
    }
}

/// The ideal answer: the number of each site's identifiers, and the common identifiers.
fn intersection(inputs: &[Vec<Vec<u8>>]) -> (Vec<u64>, Vec<Vec<u8>>) {
    let sizes = inputs.iter().map(|input| input.len() as u64).collect();
    let mut common: Vec<Vec<u8>> = inputs[0].clone();
    for input in &inputs[1..] {
        let held: HashSet<&Vec<u8>> = input.iter().collect();
        common.retain(|identifier| held.contains(identifier));
    }
    common.sort_unstable();
    (sizes, common)
}
