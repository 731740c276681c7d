//! Coalitions: sets of the sites of one class (MPRIV section III.A, the nodes of the adversary
//! space), and the order in which those of one size are generated.

use std::fmt;

/// A set of the sites that have records in one class, each named by its place among them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Coalition(u128);

impl Coalition {
    /// The most sites a class may have.
    pub const MOST_SITES: usize = 128;

    /// Nobody: the adversary who only reads the release.
    pub const NOBODY: Self = Self(0);

    /// The first `sites` sites.
    ///
    /// # Panics
    /// If there are more than [`Self::MOST_SITES`].
    pub fn first(sites: usize) -> Self {
        assert!(sites <= Self::MOST_SITES);
        match sites {
            0 => Self::NOBODY,
            _ => Self(u128::MAX >> (Self::MOST_SITES - sites)),
        }
    }

    /// Number of sites.
    pub fn size(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the coalition has no site.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a site is in the coalition.
    pub fn contains(self, site: usize) -> bool {
        site < Self::MOST_SITES && self.0 >> site & 1 == 1
    }

    /// Whether all its sites are in another coalition.
    pub fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The coalition with one more site.
    #[must_use]
    pub fn with(self, site: usize) -> Self {
        Self(self.0 | 1 << site)
    }

    /// The coalition without the sites of another.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The sites that both have.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The sites of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Its sites, ascending.
    pub fn sites(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let site = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(site)
        })
    }
}

impl FromIterator<usize> for Coalition {
    fn from_iter<I: IntoIterator<Item = usize>>(sites: I) -> Self {
        sites.into_iter().fold(Self::NOBODY, Self::with)
    }
}

impl fmt::Debug for Coalition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.sites()).finish()
    }
}

/// All coalitions of one size among some sites, each as its sites, ascending: any number of them, also
/// more than a [`Coalition`] can name. Coalitions of the first sites come first: with sites in
/// descending order of fitness this is MPRIV's order for sub-coalitions, and the order of the
/// complements is MPRIV's order for super-coalitions.
#[derive(Debug, Clone)]
pub(super) struct OfSize {
    sites: usize,
    next: Option<Vec<usize>>,
}

impl OfSize {
    pub(super) fn new(sites: usize, size: usize) -> Self {
        Self {
            sites,
            next: (size <= sites).then(|| (0..size).collect()),
        }
    }

    /// The first site that has room above it moves up, and the sites before it start again.
    fn after(&self, coalition: &[usize]) -> Option<Vec<usize>> {
        let ends = coalition.iter().skip(1).chain([&self.sites]);
        let place = coalition
            .iter()
            .zip(ends)
            .position(|(site, end)| site + 1 < *end)?;
        let mut next = coalition.to_vec();
        next[place] += 1;
        next[..place]
            .iter_mut()
            .zip(0..)
            .for_each(|(site, first)| *site = first);
        Some(next)
    }
}

impl Iterator for OfSize {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let current = self.next.take()?;
        self.next = self.after(&current);
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_coalition_of_a_size_once_and_the_first_sites_first() {
        for sites in 0..=10usize {
            for size in 0..=sites + 1 {
                let all: Vec<Coalition> =
                    OfSize::new(sites, size).map(Coalition::from_iter).collect();
                let expected = (0u128..1 << sites)
                    .filter(|bits| bits.count_ones() as usize == size)
                    .map(Coalition);
                assert!(all.iter().copied().eq(expected), "{sites} {size}");
                assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
            }
        }
    }

    #[test]
    fn as_many_sites_as_there_are_bits_and_more() {
        assert_eq!(OfSize::new(128, 1).count(), 128);
        assert_eq!(OfSize::new(128, 127).count(), 128);
        assert_eq!(OfSize::new(128, 128).count(), 1);
        assert_eq!(OfSize::new(128, 2).count(), 128 * 127 / 2);
        assert_eq!(OfSize::new(300, 2).count(), 300 * 299 / 2);
        let last: Coalition = [126, 127].into_iter().collect();
        assert_eq!(OfSize::new(128, 2).last(), Some(vec![126, 127]));
        assert_eq!(format!("{last:?}"), "{126, 127}");
    }
}
