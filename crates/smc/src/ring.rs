//! The ring of sites, as JX08 section 4.1 has it: "nodes are mapped to a ring topology randomly".
//!
//! The order of the ring follows from the run's public randomness, to which every site commits itself
//! before it sees that of the others ([`crate::join`]), so no site chooses its neighbours or who starts.
//! The first site of the drawn order starts whatever goes around: JX08's sum with one mask, its extremes,
//! and the naive union. TG12 and D2PT number their sites and say nothing of chance: their rings follow the
//! study's list.
//!
//! # Discloses
//! Nothing: the order is drawn without a look at the data.

use crate::network::Site;
use crate::party::Joined;
use crate::random::{Generator, Seed};

/// A site's place on a ring: its neighbours, and the two ends of a lap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) next: Site,
    pub(crate) previous: Site,
    /// The site that starts a lap.
    pub(crate) first: Site,
    /// The site that ends a lap.
    pub(crate) last: Site,
}

/// All sites in the order of the ring of a run with this public randomness.
pub(crate) fn draw(sites: usize, session: &[u8; 32]) -> Vec<Site> {
    let mut order: Vec<Site> = Site::all(sites).collect();
    let seed = Seed::new(blake3::derive_key("hedgerow ring of sites v1", session));
    Generator::new(&seed).shuffle(&mut order);
    order
}

impl Joined {
    /// This site's place on the ring that was drawn for the run.
    pub(crate) fn drawn(&self) -> Around {
        let (ring, sites) = (&self.ring, self.ring.len());
        // Every site is on the ring.
        let place = ring.iter().position(|site| *site == self.me).unwrap_or(0);
        Around {
            next: ring[(place + 1) % sites],
            previous: ring[(place + sites - 1) % sites],
            first: ring[0],
            last: ring[sites - 1],
        }
    }

    /// This site's place on the ring in the order of the study's list.
    pub(crate) fn listed(&self) -> Around {
        Around {
            next: self.next(),
            previous: self.previous(),
            first: Site::new(0),
            last: Site::new(self.sites as u16 - 1),
        }
    }

    pub(crate) fn next(&self) -> Site {
        Site::new(((self.me.index() + 1) % self.sites) as u16)
    }

    pub(crate) fn previous(&self) -> Site {
        Site::new(((self.me.index() + self.sites - 1) % self.sites) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_site_starts_and_every_pair_are_neighbours_about_equally_often() {
        const RUNS: u32 = 4_000;
        let mut starts = [0u32; 4];
        let mut pairs = [[0u32; 4]; 4];
        for run in 0..RUNS {
            let mut session = [0; 32];
            session[..4].copy_from_slice(&run.to_le_bytes());
            let ring = draw(4, &session);
            starts[ring[0].index()] += 1;
            for place in 0..4 {
                pairs[ring[place].index()][ring[(place + 1) % 4].index()] += 1;
            }
        }
        // Five standard deviations of 1,000 and of 4,000 / 3.
        assert!(
            starts.iter().all(|count| count.abs_diff(RUNS / 4) < 140),
            "{starts:?}"
        );
        for (site, followed) in pairs.iter().enumerate() {
            for (next, count) in followed
                .iter()
                .enumerate()
                .filter(|(next, _)| *next != site)
            {
                assert!(
                    count.abs_diff(RUNS / 3) < 150,
                    "{site} before {next}: {count}"
                );
            }
        }
    }
}
