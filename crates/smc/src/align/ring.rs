//! The laps of an alignment, with either cipher.
//!
//! # Discloses
//! See [`crate::align`].

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::commutative::{PohligHellmanKey, RistrettoKey};
use crate::error::{Error, Misbehaviour};
use crate::ledger::{To, Values};
use crate::network::Site;
use crate::party::Joined;
use crate::random::Generator;
use crate::wire::{self, WireError};

/// A tag in the form in which tags are compared: BLAKE3 of a ciphertext under all keys, cut to 128 bits.
pub(super) type Tag = [u8; TAG];
pub(super) const TAG: usize = 16;

/// What an alignment showed a site so far, for the ledger.
#[derive(Default)]
pub(super) struct Seen {
    /// How many identifiers each site holds, in the order of the sites.
    pub(super) sizes: Vec<u64>,
    /// Which sites see the tags of all sites, and what the tags tell.
    pub(super) overlaps: Option<(To, Overlaps)>,
}

/// The tags of all sites in one hand.
#[derive(Default)]
pub(super) struct Overlaps {
    /// The number of tags seen.
    seen: usize,
    /// The tags, at a site that saw them.
    tags: Vec<(Site, Vec<Tag>)>,
}

impl Overlaps {
    fn add(&mut self, site: Site, tags: Vec<Tag>) {
        self.seen += tags.len();
        self.tags.push((site, tags));
    }
}

impl Values for Overlaps {
    fn count(&self) -> usize {
        self.seen
    }

    /// For each set of two sites or more that hold tags which no other site holds: the number of
    /// sites, the sites, the number of tags. Nothing at a site that saw no tags.
    fn words(&self) -> Vec<u64> {
        let mut holders: HashMap<Tag, BTreeSet<Site>> = HashMap::new();
        for (site, tags) in &self.tags {
            for tag in tags {
                holders.entry(*tag).or_default().insert(*site);
            }
        }
        let mut sets: BTreeMap<BTreeSet<Site>, u64> = BTreeMap::new();
        for set in holders.into_values().filter(|set| set.len() > 1) {
            *sets.entry(set).or_default() += 1;
        }
        let words = sets.into_iter().flat_map(|(set, tags)| {
            let sites: Vec<u64> = set.iter().map(|site| site.index() as u64).collect();
            [vec![sites.len() as u64], sites, vec![tags]].concat()
        });
        words.collect()
    }
}

impl Joined {
    /// How many identifiers each site holds; every site has said its number before its first lap.
    async fn receive_sizes(
        &mut self,
        own: usize,
        capacity: usize,
        sizes: &mut Vec<u64>,
    ) -> Result<(), Error> {
        for peer in Site::all(self.sites) {
            if peer == self.me {
                sizes.push(own as u64);
                continue;
            }
            let message = self.link.receive(peer, 8).await?;
            let size = wire::unpack(&message, 1, 8).map(|mut words| words.next().unwrap_or(0));
            let size = size.map_err(|source| self.link.invalid(peer, source))?;
            if size > capacity as u64 {
                return Err(self.link.invalid(peer, WireError::Range { index: 0 }));
            }
            sizes.push(size);
        }
        Ok(())
    }

    /// Sends own ciphertexts around the ring; the ciphertexts of every other site pass through `put_on`,
    /// which gets the owner, the ciphertexts and their number. Own ciphertexts return.
    async fn circulate(
        &mut self,
        own: Vec<u8>,
        bytes: usize,
        capacity: usize,
        sizes: &mut Vec<u64>,
        put_on: impl FnMut(Site, &[u8], usize) -> Result<Vec<u8>, WireError>,
    ) -> Result<Vec<u8>, Error> {
        let held = own.len() / bytes;
        self.link.broadcast(&(held as u64).to_le_bytes())?;
        self.link.send(self.next(), &own)?;
        drop(own);
        self.receive_sizes(held, capacity, sizes).await?;
        self.lap(bytes, sizes, put_on).await
    }

    /// The way around the ring once own ciphertexts are sent and the number of each site's is known.
    pub(super) async fn lap(
        &mut self,
        bytes: usize,
        sizes: &[u64],
        mut put_on: impl FnMut(Site, &[u8], usize) -> Result<Vec<u8>, WireError>,
    ) -> Result<Vec<u8>, Error> {
        let (next, previous) = (self.next(), self.previous());
        for hop in 1..=self.sites {
            let owner = Site::new(((self.me.index() + self.sites - hop) % self.sites) as u16);
            // At most the capacity, with which this product was checked.
            let count = sizes[owner.index()] as usize;
            let message = self.link.receive(previous, count * bytes).await?;
            if owner == self.me {
                return Ok(message);
            }
            let encrypted = put_on(owner, &message, count);
            let encrypted = encrypted.map_err(|source| self.link.invalid(previous, source))?;
            self.link.send(next, &encrypted)?;
        }
        unreachable!("after m hops a site's own set has returned")
    }

    pub(super) async fn align_published(
        &mut self,
        generator: &mut Generator,
        capacity: usize,
        identifiers: &[&[u8]],
        seen: &mut Seen,
    ) -> Result<Vec<usize>, Error> {
        let key = PohligHellmanKey::new(generator);
        let width = PohligHellmanKey::BYTES;
        let (order, shuffled) = shuffled(generator, identifiers);
        let put_on = |_, bytes: &[u8], count| key.encrypt_again(bytes, count);
        let first = key.encrypt(&shuffled);
        let own = self
            .circulate(first, width, capacity, &mut seen.sizes, put_on)
            .await?;
        let tags = tags_of(&own, width);
        self.link.broadcast(&sorted(&tags).concat())?;
        let ordered = self.common_tags(To::All, &tags, seen).await?;
        self.link.opened(&ordered.concat());
        Ok(placed(&order, &places(&tags, &ordered)))
    }

    pub(super) async fn align_hardened(
        &mut self,
        generator: &mut Generator,
        capacity: usize,
        identifiers: &[&[u8]],
        seen: &mut Seen,
    ) -> Result<Vec<usize>, Error> {
        let width = RistrettoKey::BYTES;
        let comparer = self.comparer();
        let (key, blind) = (RistrettoKey::new(generator), RistrettoKey::new(generator));
        let (order, shuffled) = shuffled(generator, identifiers);
        // The place in the lap at which each of the comparer's identifiers stood.
        let mut stood: Vec<usize> = Vec::new();
        let shuffles = self.next() == comparer;
        let put_on = |owner, bytes: &[u8], count| {
            let mut encrypted = key.encrypt_again(bytes, count)?;
            if shuffles && owner == comparer {
                stood = (0..count).collect();
                generator.shuffle(&mut stood);
                encrypted = stood
                    .iter()
                    .flat_map(|&at| &encrypted[at * width..(at + 1) * width])
                    .copied()
                    .collect();
            }
            Ok(encrypted)
        };
        let first = blind.encrypt(&shuffled);
        let own = self
            .circulate(first, width, capacity, &mut seen.sizes, put_on)
            .await?;
        let own = key
            .in_place_of(&blind)
            .encrypt_again(&own, identifiers.len());
        let own = own.map_err(|source| self.link.invalid(self.previous(), source))?;
        let tags = tags_of(&own, width);
        drop(own);
        if self.me == comparer {
            let common = self.compare_tags(&tags, seen).await?;
            return Ok(placed(&order, &common));
        }
        self.link.send(comparer, &sorted(&tags).concat())?;
        let overlaps = Overlaps {
            seen: seen.sizes.iter().sum::<u64>() as usize,
            tags: Vec::new(),
        };
        seen.overlaps = Some((To::Site(comparer), overlaps));
        let ordered = self.receive_common(comparer, &seen.sizes).await?;
        self.link.opened(&ordered.concat());
        if shuffles {
            self.tell_places(comparer, &stood, ordered.len()).await?;
        }
        let common = places(&tags, &ordered);
        if common.len() != ordered.len() {
            return Err(self.link.misbehaved(comparer, Misbehaviour::Inconsistent));
        }
        Ok(placed(&order, &common))
    }

    /// The site that compares, drawn from the run's public randomness.
    fn comparer(&self) -> Site {
        let word = u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|at| self.session[at]));
        Site::new((word % self.sites as u64) as u16)
    }

    /// The tags that all sites hold, in their order; for who gets the others' tags.
    async fn common_tags(
        &mut self,
        to: To,
        own: &[Tag],
        seen: &mut Seen,
    ) -> Result<Vec<Tag>, Error> {
        let Seen { sizes, overlaps } = seen;
        let (_, overlaps) = overlaps.insert((to, Overlaps::default()));
        overlaps.add(self.me, own.to_vec());
        let mut common: HashSet<Tag> = own.iter().copied().collect();
        for peer in self.peers() {
            let theirs = self.receive_tags(peer, sizes).await?;
            let held: HashSet<&Tag> = theirs.iter().collect();
            common.retain(|tag| held.contains(tag));
            overlaps.add(peer, theirs);
        }
        Ok(sorted(&common.into_iter().collect::<Vec<_>>()))
    }

    /// The comparer's part: it knows its own tags only in its predecessor's order.
    async fn compare_tags(&mut self, tags: &[Tag], seen: &mut Seen) -> Result<Vec<usize>, Error> {
        let ordered = self.common_tags(To::Site(self.me), tags, seen).await?;
        self.link.opened(&ordered.concat());
        self.link.broadcast(&(ordered.len() as u64).to_le_bytes())?;
        self.link.broadcast(&ordered.concat())?;
        let shuffler = self.previous();
        let shuffled = places(tags, &ordered);
        let mut message = Vec::with_capacity(shuffled.len() * 8);
        wire::pack(shuffled.iter().map(|&place| place as u64), 8, &mut message);
        self.link.send(shuffler, &message)?;
        self.receive_places(shuffler, shuffled.len(), tags.len())
            .await
    }

    /// The predecessor's part: the places at which the common identifiers of the comparer stood.
    async fn tell_places(
        &mut self,
        comparer: Site,
        stood: &[usize],
        count: usize,
    ) -> Result<(), Error> {
        let asked = self.receive_places(comparer, count, stood.len()).await?;
        let mut message = Vec::with_capacity(count * 8);
        wire::pack(
            asked.iter().map(|&place| stood[place] as u64),
            8,
            &mut message,
        );
        self.link.send(comparer, &message)
    }

    async fn receive_places(
        &mut self,
        peer: Site,
        count: usize,
        below: usize,
    ) -> Result<Vec<usize>, Error> {
        let message = self.link.receive(peer, count * 8).await?;
        let places =
            wire::unpack(&message, count, 8).map(|words| words.map(|word| word as usize).collect());
        let places: Vec<usize> = places.map_err(|source| self.link.invalid(peer, source))?;
        let mut named = HashSet::with_capacity(places.len());
        match places
            .iter()
            .position(|&place| place >= below || !named.insert(place))
        {
            Some(index) => Err(self.link.invalid(peer, WireError::Range { index })),
            None => Ok(places),
        }
    }

    async fn receive_tags(&mut self, peer: Site, sizes: &[u64]) -> Result<Vec<Tag>, Error> {
        let message = self
            .link
            .receive(peer, sizes[peer.index()] as usize * TAG)
            .await?;
        Ok(message.as_chunks::<TAG>().0.to_vec())
    }

    async fn receive_common(&mut self, comparer: Site, sizes: &[u64]) -> Result<Vec<Tag>, Error> {
        let message = self.link.receive(comparer, 8).await?;
        let count = wire::unpack(&message, 1, 8).map(|mut words| words.next().unwrap_or(0));
        let count = count.map_err(|source| self.link.invalid(comparer, source))?;
        if count > sizes.iter().copied().min().unwrap_or(0) {
            return Err(self.link.invalid(comparer, WireError::Range { index: 0 }));
        }
        let message = self.link.receive(comparer, count as usize * TAG).await?;
        let tags = message.as_chunks::<TAG>().0;
        if !tags.is_sorted_by(|left, right| left < right) {
            return Err(self.link.misbehaved(comparer, Misbehaviour::Inconsistent));
        }
        Ok(tags.to_vec())
    }
}

/// Identifiers in a random order, so that places in the lap say nothing of places in the table; and that
/// order.
fn shuffled<'i>(
    generator: &mut Generator,
    identifiers: &[&'i [u8]],
) -> (Vec<usize>, Vec<&'i [u8]>) {
    let mut order: Vec<usize> = (0..identifiers.len()).collect();
    generator.shuffle(&mut order);
    let shuffled = order.iter().map(|&place| identifiers[place]).collect();
    (order, shuffled)
}

/// Places in the table of places in the lap.
fn placed(order: &[usize], common: &[usize]) -> Vec<usize> {
    common.iter().map(|&place| order[place]).collect()
}

pub(super) fn tags_of(ciphertexts: &[u8], width: usize) -> Vec<Tag> {
    let tag = |ciphertext: &[u8]| {
        let mut tag = [0; TAG];
        tag.copy_from_slice(&blake3::hash(ciphertext).as_bytes()[..TAG]);
        tag
    };
    ciphertexts.chunks_exact(width).map(tag).collect()
}

fn sorted(tags: &[Tag]) -> Vec<Tag> {
    let mut tags = tags.to_vec();
    tags.sort_unstable();
    tags
}

/// Where the ordered tags stand among a site's own.
fn places(own: &[Tag], ordered: &[Tag]) -> Vec<usize> {
    let at: HashMap<&Tag, usize> = own
        .iter()
        .enumerate()
        .map(|(place, tag)| (tag, place))
        .collect();
    ordered
        .iter()
        .filter_map(|tag| at.get(tag).copied())
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ledger::What;
    use crate::memory::{Outcome, Simulation};
    use crate::party::Engine;
    use crate::settings::Settings;
    use crate::wire::{HEADER_BYTES, Header};

    pub(in crate::align) const SITES: usize = 4;

    fn identifiers(site: usize, count: usize) -> Vec<Vec<u8>> {
        let own = |index: usize| format!("{site} {index}").into_bytes();
        (0..count).map(own).collect()
    }

    /// An alignment of sites without common records; which site compares.
    fn aligned(settings: Settings, seed: u64, count: usize) -> (Outcome<Site, Error>, Site) {
        let simulation = Simulation::new(SITES, seed).settings(settings);
        let outcome = simulation.recording().run(|mut party| async move {
            let own = identifiers(party.me().index(), count);
            let own: Vec<&[u8]> = own.iter().map(Vec::as_slice).collect();
            let what = What::new("places", "the test");
            party.align(what, count, &own, &mut Vec::new()).await?;
            let Engine::Joined(joined) = party.engine else {
                unreachable!("four sites are joined")
            };
            Ok(joined.comparer())
        });
        let comparer = *outcome.results[0].as_ref().expect("no faults");
        (outcome, comparer)
    }

    /// The ciphertexts that a site got from the site before it, set by set: first that site's own, at
    /// last the ciphertexts that return.
    pub(in crate::align) fn sets<T>(
        outcome: &Outcome<T, Error>,
        to: usize,
        count: usize,
        width: usize,
    ) -> Vec<Vec<u8>> {
        let from = (to + SITES - 1) % SITES;
        let view = outcome.view(Site::new(to as u16));
        let sets = view.iter().filter(|frame| {
            let header = Header::decode(&frame.bytes).expect("an honest frame");
            let long = frame.bytes.len() == HEADER_BYTES + count * width;
            frame.from.index() == from && header.call > 0 && long
        });
        sets.map(|frame| frame.bytes[HEADER_BYTES..].to_vec())
            .collect()
    }

    /// A site's own randomness at the beginning of the alignment.
    pub(in crate::align) fn generator(settings: Settings, seed: u64, site: usize) -> Generator {
        let joined = Simulation::new(SITES, seed)
            .settings(settings)
            .run(|party| async move { Ok::<_, Error>(party.generator) });
        joined.into_values().expect("no fault").swap_remove(site)
    }

    /// Where each of `before` stands in `after`.
    pub(in crate::align) fn moved(before: &[u8], after: &[u8], width: usize) -> Vec<usize> {
        let places = before.chunks_exact(width).map(|one| {
            let at = after.chunks_exact(width).position(|other| one == other);
            at.expect("the same ciphertexts in another order")
        });
        places.collect()
    }

    /// The correlation of places before and after, in standard deviations of a uniform order.
    fn correlation(moved: &[usize]) -> f64 {
        let count = moved.len() as f64;
        let middle = (count - 1.0) / 2.0;
        let both = moved.iter().enumerate();
        let covariance: f64 = both
            .map(|(before, &after)| (before as f64 - middle) * (after as f64 - middle))
            .sum();
        covariance / (count * (count * count - 1.0) / 12.0) * (count - 1.0).sqrt()
    }

    /// No place says anything of another: four standard deviations, and few stay where they were
    /// (one on average, Poisson).
    pub(in crate::align) fn assert_shuffled(moved: &[usize], of: &str) {
        let correlation = correlation(moved);
        assert!(correlation.abs() < 4.0, "{of}: {correlation}");
        let stayed = moved.iter().enumerate();
        let stayed = stayed.filter(|(before, after)| before == *after).count();
        assert!(stayed < 8, "{of}: {stayed}");
    }

    #[test]
    fn the_comparing_site_sees_no_order() {
        let (count, width) = (150, RistrettoKey::BYTES);
        for seed in 0..6 {
            let (outcome, comparer) = aligned(Settings::hardened(), seed, count);
            let keys: Vec<(RistrettoKey, RistrettoKey)> = (0..SITES)
                .map(|site| {
                    let mut own = generator(Settings::hardened(), seed, site);
                    (RistrettoKey::new(&mut own), RistrettoKey::new(&mut own))
                })
                .collect();
            for (site, (_, blind)) in keys.iter().enumerate() {
                // The order in which a site sends its table.
                let own = identifiers(site, count);
                let own: Vec<&[u8]> = own.iter().map(Vec::as_slice).collect();
                let sent = sets(&outcome, (site + 1) % SITES, count, width).swap_remove(0);
                let order = moved(&blind.encrypt(&own), &sent, width);
                assert_shuffled(&order, &format!("table of site {site}, run {seed}"));
                if site != comparer.index() {
                    continue;
                }
                // The ciphertexts that the comparing site sent, and those that came back to it.
                let back = sets(&outcome, site, count, width).pop();
                let under_all =
                    (0..SITES)
                        .filter(|&other| other != site)
                        .fold(sent, |ciphertexts, other| {
                            let more = keys[other].0.encrypt_again(&ciphertexts, count);
                            more.expect("points")
                        });
                let order = moved(&under_all, &back.expect("it came back"), width);
                assert_shuffled(&order, &format!("lap of site {site}, run {seed}"));
            }
        }
    }

    #[test]
    fn a_published_alignment_shows_no_order() {
        let (count, width) = (30, PohligHellmanKey::BYTES);
        let (outcome, _) = aligned(Settings::published(), 3, count);
        for site in 0..SITES {
            let own = identifiers(site, count);
            let own: Vec<&[u8]> = own.iter().map(Vec::as_slice).collect();
            let key = PohligHellmanKey::new(&mut generator(Settings::published(), 3, site));
            let sent = sets(&outcome, (site + 1) % SITES, count, width).swap_remove(0);
            let order = moved(&key.encrypt(&own), &sent, width);
            assert_shuffled(&order, &format!("table of site {site}"));
        }
    }
}
