//! Overlaps: how do the sites' classes of the same records cut each other?
//!
//! D2PT sections 2.3 and 3.5, for any number of sites. Records stand in the common order of an
//! alignment. Each site's records go once around the ring, class by class, and everyone puts on a
//! fresh key; under all keys equal records have equal tags. The sites publish their classes as sets
//! of tags, and each counts for itself how many tags lie in each combination of classes.
//!
//! `published`: with the exponentiation cipher; ciphertexts come back in the order in which they were
//! sent, so a site can tell which of its records lie in which class of another. `hardened`: on
//! ristretto255, and every site shuffles the ciphertexts that pass through it, inside each class. A site
//! knows its own tags only class by class, hence how others cut a class but not where. Classes stand in
//! a meaningless order that their owner draws.
//!
//! m + 1 rounds; 32 m + 16 (m - 1) bytes for each record at each site.
//!
//! # Discloses
//! To all sites, how many records lie in each combination of classes, hence the sizes of classes.

use std::collections::{BTreeMap, HashMap};

use crate::commutative::{PohligHellmanKey, RistrettoKey};
use crate::error::{Error, Misbehaviour, OwnData, check_capacity};
use crate::ledger::{Sealed, Values, What};
use crate::network::Site;
use crate::party::{Engine, Joined, Party};
use crate::random::Generator;
use crate::wire::{self, Primitive, WireError};

use super::ring::{TAG, Tag, tags_of};

/// In the ledger of a published call.
const IN_ORDER: &str = "a site learns which of its records lie in which class of another";
/// In the ledger of a hardened call of three sites or more.
const POOLED: &str = "sites that put their classes together learn how the others' classes cut what theirs have in common";

/// How the sites' classes cut each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overlaps {
    /// How many classes each site has; 0 for a site without classes.
    pub classes: Vec<u32>,
    /// The combinations that occur, ascending: a class of each site (0 for a site without classes), and
    /// how many records lie in all of them.
    pub cells: Vec<(Vec<u32>, u64)>,
    /// For each of this site's classes, its number in `cells`.
    pub own: Vec<u32>,
}

impl Values for Overlaps {
    fn count(&self) -> usize {
        self.cells.len()
    }

    fn words(&self) -> Vec<u64> {
        let cells = self.cells.iter();
        cells
            .flat_map(|(classes, records)| {
                let classes = classes.iter().map(|class| u64::from(*class));
                classes.chain([*records]).collect::<Vec<u64>>()
            })
            .collect()
    }
}

impl Party {
    /// How many of the `records` that all sites hold in one common order lie in each combination of
    /// classes. `class_of` has the class of each record, numbered from 0 without gaps; it is empty
    /// at a site that brings no classes.
    pub async fn overlaps(
        &mut self,
        what: What,
        records: usize,
        class_of: &[u32],
    ) -> Result<Overlaps, Error> {
        self.calls += 1;
        if !class_of.is_empty() && class_of.len() != records {
            let (found, capacity) = (class_of.len(), records);
            return Err(Error::OwnData(OwnData::AboveCapacity { found, capacity }));
        }
        let count = class_of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count.min(records)];
        for (record, class) in class_of.iter().enumerate() {
            let Some(members) = members.get_mut(*class as usize) else {
                return Err(Error::OwnData(OwnData::OutsideDomain { index: record }));
            };
            members.push(record as u32);
        }
        if let Some(index) = members.iter().position(Vec::is_empty) {
            return Err(Error::OwnData(OwnData::OutsideDomain { index }));
        }
        let listing = Listing::new(&mut self.generator, &members);
        if self.sites == 1 {
            return Ok(listing.overlaps(vec![listing.class_of(records)]));
        }
        let asked = self.asking(what, &[])?.word(records as u64).finish();
        check_capacity(self.sites, records, 0, Some(PohligHellmanKey::BYTES))?;
        let published = self.is_published();
        let caveat = match (published, self.sites) {
            (true, _) => Some(IN_ORDER),
            (false, 2) => None,
            (false, _) => Some(POOLED),
        };
        let begun = self.begin(what, Primitive::Align, caveat, records);
        let found = match &mut self.engine {
            Engine::Alone => Vec::new(),
            Engine::Ideal(chair) => {
                let own = listing.class_of(records);
                let all = chair.ask(Primitive::Align, asked, own, <[_]>::to_vec);
                all.await?.to_vec()
            }
            Engine::Joined(joined) => {
                joined.link.begin(Primitive::Align, asked)?;
                let found = joined
                    .tagged(&mut self.generator, published, records, &listing)
                    .await?;
                for class_of in &found {
                    let classes: Vec<u64> = class_of.iter().map(|&class| class.into()).collect();
                    joined.link.opened_words(&classes);
                }
                found
            }
        };
        let sealed = Sealed::new(listing.overlaps(found));
        Ok(self.ledger.finish(begun, sealed))
    }
}

/// A site's classes in the order in which it lists them.
struct Listing {
    /// The records, class by class, in an order of their own.
    records: Vec<u32>,
    /// How many ciphertexts each class has.
    sizes: Vec<u64>,
    /// For each class as it was given, its place in the list.
    place: Vec<u32>,
}

impl Listing {
    fn new(generator: &mut Generator, members: &[Vec<u32>]) -> Self {
        let mut order: Vec<usize> = (0..members.len()).collect();
        generator.shuffle(&mut order);
        let mut place = vec![0; members.len()];
        let mut records = Vec::new();
        for (listed, class) in order.iter().enumerate() {
            place[*class] = listed as u32;
            let from = records.len();
            records.extend_from_slice(&members[*class]);
            generator.shuffle(&mut records[from..]);
        }
        let sizes = order.iter().map(|class| members[*class].len() as u64);
        Self {
            sizes: sizes.collect(),
            records,
            place,
        }
    }

    /// The listed class of each record; empty without classes.
    fn class_of(&self, records: usize) -> Vec<u32> {
        if self.records.is_empty() {
            return Vec::new();
        }
        let mut class_of = vec![0; records];
        let mut from = 0;
        for (listed, size) in self.sizes.iter().enumerate() {
            for record in &self.records[from..from + *size as usize] {
                class_of[*record as usize] = listed as u32;
            }
            from += *size as usize;
        }
        class_of
    }

    /// Counts combinations; each site's classes are given tag by tag, or record by record.
    fn overlaps(&self, class_of: Vec<Vec<u32>>) -> Overlaps {
        let tags = class_of.iter().map(Vec::len).max().unwrap_or(0);
        let mut cells: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for tag in 0..tags {
            let classes = class_of.iter();
            let cell = classes.map(|of| of.get(tag).copied().unwrap_or(0));
            *cells.entry(cell.collect()).or_default() += 1;
        }
        let count = |of: &Vec<u32>| of.iter().max().map_or(0, |last| last + 1);
        Overlaps {
            classes: class_of.iter().map(count).collect(),
            cells: cells.into_iter().collect(),
            own: self.place.clone(),
        }
    }
}

impl Joined {
    /// For each site, the class of each tag, tags in their order.
    async fn tagged(
        &mut self,
        generator: &mut Generator,
        published: bool,
        records: usize,
        own: &Listing,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let names: Vec<[u8; 8]> = own
            .records
            .iter()
            .map(|record| u64::from(*record).to_le_bytes())
            .collect();
        let names: Vec<&[u8]> = names.iter().map(<[u8; 8]>::as_slice).collect();
        if published {
            let key = PohligHellmanKey::new(generator);
            let width = PohligHellmanKey::BYTES;
            let put_on = |_: &[u64], bytes: &[u8], count| key.encrypt_again(bytes, count);
            let first = key.encrypt(&names);
            self.exchange(first, width, records, own, put_on).await
        } else {
            let key = RistrettoKey::new(generator);
            let width = RistrettoKey::BYTES;
            let put_on = |sizes: &[u64], bytes: &[u8], count| {
                let encrypted = key.encrypt_again(bytes, count)?;
                Ok(shuffled_inside(generator, sizes, &encrypted, width))
            };
            let first = key.encrypt(&names);
            self.exchange(first, width, records, own, put_on).await
        }
    }

    /// Own ciphertexts around the ring, then everyone's tags to everyone. `put_on` gets the sizes of
    /// the classes that pass, their ciphertexts and how many there are.
    async fn exchange(
        &mut self,
        first: Vec<u8>,
        width: usize,
        records: usize,
        own: &Listing,
        mut put_on: impl FnMut(&[u64], &[u8], usize) -> Result<Vec<u8>, WireError>,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let mut listed = Vec::with_capacity(own.sizes.len() * 8);
        wire::pack(own.sizes.iter().copied(), 8, &mut listed);
        self.link
            .broadcast(&(own.sizes.len() as u64).to_le_bytes())?;
        self.link.broadcast(&listed)?;
        self.link.send(self.next(), &first)?;
        drop(first);
        let mut sizes: Vec<Vec<u64>> = Vec::with_capacity(self.sites);
        for peer in Site::all(self.sites) {
            sizes.push(if peer == self.me {
                own.sizes.clone()
            } else {
                self.receive_class_sizes(peer, records).await?
            });
        }
        let held: Vec<u64> = sizes.iter().map(|sizes| sizes.iter().sum()).collect();
        let put_on = |owner: Site, bytes: &[u8], count| put_on(&sizes[owner.index()], bytes, count);
        let back = self.lap(width, &held, put_on).await?;
        let own_tags = tags_of(&back, width);
        drop(back);
        let own_tags = sorted_inside(&own.sizes, own_tags);
        self.link.broadcast(&own_tags.concat())?;

        let mut tags: Vec<Vec<Tag>> = Vec::with_capacity(self.sites);
        for (peer, held) in Site::all(self.sites).zip(&held) {
            if peer == self.me {
                tags.push(own_tags.clone());
                continue;
            }
            let message = self.link.receive(peer, *held as usize * TAG).await?;
            tags.push(message.as_chunks::<TAG>().0.to_vec());
        }
        // The first site with classes says which tags exist; all other sites must have the same tags.
        let mut order: Vec<Tag> = tags
            .iter()
            .find(|tags| !tags.is_empty())
            .cloned()
            .unwrap_or_default();
        order.sort_unstable();
        let place: HashMap<&Tag, usize> = order.iter().zip(0..).collect();
        let mut class_of = Vec::with_capacity(self.sites);
        for ((peer, tags), sizes) in Site::all(self.sites).zip(&tags).zip(&sizes) {
            let found = listed_classes(tags, sizes, &place);
            let found = found.ok_or_else(|| self.link.misbehaved(peer, Misbehaviour::Inconsistent));
            class_of.push(found?);
        }
        Ok(class_of)
    }

    /// The sizes of a peer's classes, which hold all its records; empty for a peer without classes.
    async fn receive_class_sizes(&mut self, peer: Site, records: usize) -> Result<Vec<u64>, Error> {
        let message = self.link.receive(peer, 8).await?;
        let count = wire::unpack(&message, 1, 8).map(|mut words| words.next().unwrap_or(0));
        let count = count.map_err(|source| self.link.invalid(peer, source))?;
        if count > records as u64 {
            return Err(self.link.invalid(peer, WireError::Range { index: 0 }));
        }
        let count = count as usize;
        let message = self.link.receive(peer, count * 8).await?;
        let sizes = wire::unpack(&message, count, 8).map(Iterator::collect);
        let sizes: Vec<u64> = sizes.map_err(|source| self.link.invalid(peer, source))?;
        let total = sizes
            .iter()
            .try_fold(0u64, |sum, size| sum.checked_add(*size));
        let is_whole = total == Some(if count == 0 { 0 } else { records as u64 });
        match sizes.iter().position(|size| *size == 0) {
            Some(index) => Err(self.link.invalid(peer, WireError::Range { index })),
            None if !is_whole => Err(self.link.misbehaved(peer, Misbehaviour::Inconsistent)),
            None => Ok(sizes),
        }
    }
}

/// The class of each tag, by the place of the tag; `None` if tags repeat or are not the known tags.
fn listed_classes(tags: &[Tag], sizes: &[u64], place: &HashMap<&Tag, usize>) -> Option<Vec<u32>> {
    const NONE: u32 = u32::MAX;
    if tags.is_empty() {
        return Some(Vec::new());
    }
    let classes = sizes.iter().zip(0u32..);
    let classes = classes.flat_map(|(size, class)| std::iter::repeat_n(class, *size as usize));
    let mut class_of = vec![NONE; place.len()];
    for (tag, class) in tags.iter().zip(classes) {
        let at = &mut class_of[*place.get(tag)?];
        if *at != NONE {
            return None;
        }
        *at = class;
    }
    (!class_of.contains(&NONE)).then_some(class_of)
}

/// Ciphertexts in an order of this site's own inside each class.
fn shuffled_inside(
    generator: &mut Generator,
    sizes: &[u64],
    ciphertexts: &[u8],
    width: usize,
) -> Vec<u8> {
    let mut order: Vec<usize> = (0..ciphertexts.len() / width).collect();
    let mut rest = order.as_mut_slice();
    for size in sizes {
        let (class, after) = rest.split_at_mut(*size as usize);
        generator.shuffle(class);
        rest = after;
    }
    order
        .iter()
        .flat_map(|&at| &ciphertexts[at * width..(at + 1) * width])
        .copied()
        .collect()
}

fn sorted_inside(sizes: &[u64], mut tags: Vec<Tag>) -> Vec<Tag> {
    let mut rest = tags.as_mut_slice();
    for size in sizes {
        let (class, after) = rest.split_at_mut(*size as usize);
        class.sort_unstable();
        rest = after;
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::super::ring::tests::{SITES, assert_shuffled, generator, moved, sets};
    use super::*;
    use crate::memory::Simulation;
    use crate::settings::Settings;

    /// A site gets its own records back in an order that the others made: it cannot tell which tag
    /// of a class is which record.
    #[test]
    fn own_records_come_back_shuffled_inside_their_class() {
        let (count, width) = (150usize, RistrettoKey::BYTES);
        let seed = 3;
        let simulation = Simulation::new(SITES, seed).settings(Settings::hardened());
        let outcome = simulation.recording().run(|mut party| async move {
            let what = What::new("overlaps", "the test");
            party.overlaps(what, count, &vec![0; count]).await
        });
        let members = [(0..count as u32).collect::<Vec<u32>>()];
        let keys: Vec<RistrettoKey> = (0..SITES)
            .map(|site| {
                let mut own = generator(Settings::hardened(), seed, site);
                Listing::new(&mut own, &members);
                RistrettoKey::new(&mut own)
            })
            .collect();
        for site in 0..SITES {
            let sent = sets(&outcome, (site + 1) % SITES, count, width).swap_remove(0);
            let others = (0..SITES).filter(|other| *other != site);
            let under_all = others.fold(sent, |ciphertexts, other| {
                let more = keys[other].encrypt_again(&ciphertexts, count);
                more.expect("points")
            });
            let back = sets(&outcome, site, count, width)
                .pop()
                .expect("it came back");
            let order = moved(&under_all, &back, width);
            assert_shuffled(&order, &format!("class of site {site}"));
        }
    }
}
