//! Widths of all sites' quasi-identifiers on one scale, so that they are compared as whole numbers.
//!
//! What is left of an attribute is the share w / W: the values that it ranges over in a class, of those in the
//! whole table. With every W known, all shares that can occur are known, and a share's rank among them,
//! of equals that of the attribute which comes first in the study the highest, is all that sites have to
//! compare. No two attributes have the same rank, so that it makes no difference which of them stand at
//! one site.
//!
//! # Discloses
//! To all sites, W of each quasi-identifier.

use hedgerow_data::Role;
use hedgerow_smc::{Party, Site};

use super::super::own::OwnColumn;
use super::{Plan, WIDTHS};
use crate::error::Error;

/// How many values each quasi-identifier of the study ranges over in the whole table.
pub(super) struct Scale {
    whole: Vec<u64>,
    /// For each site, how often it can cut on the way to a class: each cut takes a value off a range.
    most_cuts: Vec<u64>,
}

impl Scale {
    /// Every site tells the widths of its own quasi-identifiers.
    pub(super) async fn agree(
        party: &mut Party,
        plan: &Plan<'_>,
        quasi: &[OwnColumn<'_>],
    ) -> Result<Self, Error> {
        let all = plan.schema.with_role(Role::Quasi);
        let own: Vec<u64> = quasi
            .iter()
            .map(|column| {
                let least = column.codes.iter().min().copied().unwrap_or(0);
                let greatest = column.codes.iter().max().copied().unwrap_or(0);
                u64::from(greatest - least)
            })
            .collect();
        let held = plan.held();
        let of_sites: Vec<Vec<usize>> = (0..party.sites())
            .map(|site| held.columns_at(party, site, Role::Quasi))
            .collect();
        let size = |position: &usize| plan.schema.attributes()[*position].domain.size();
        let bits: Vec<Vec<u8>> = of_sites
            .iter()
            .map(|columns| columns.iter().map(|at| bits_of(size(at) - 1)).collect())
            .collect();
        let told = party.tell_each(WIDTHS, &bits, &own).await?;
        let mut whole = vec![1; all.len()];
        let mut most_cuts = vec![0; party.sites()];
        let teller = Site::all(party.sites()).zip(&of_sites);
        let teller = teller.flat_map(|(site, columns)| columns.iter().map(move |at| (site, at)));
        for ((site, position), beyond_one) in teller.zip(told) {
            let fits = beyond_one < u64::from(size(position));
            party.fit_told(site, WIDTHS, fits, "a range is wider than its domain")?;
            if let Some(place) = all.iter().position(|one| one == position) {
                whole[place] = beyond_one + 1;
                most_cuts[site.index()] += beyond_one;
            }
        }
        Ok(Self { whole, most_cuts })
    }

    /// The highest rank that there is.
    pub(super) fn highest(&self) -> u64 {
        self.whole.iter().map(|whole| whole - 1).sum()
    }

    /// How often a site can cut on the way to one class.
    pub(super) fn most_cuts(&self, site: Site) -> u64 {
        self.most_cuts[site.index()]
    }

    /// Whether anything can be cut at all.
    pub(super) fn has_cuts(&self) -> bool {
        self.highest() > 0
    }

    /// The rank of a quasi-identifier that ranges over `width` values in a class: how many shares that can
    /// occur, of widths from 2 on, are at most its own, from 1 on.
    pub(super) fn rank(&self, place: usize, width: u64) -> u64 {
        let at_most = |other: usize, whole: u64| {
            // Both are below 2^32.
            let (product, own) = (width * whole, self.whole[place]);
            let widths = match other < place {
                // Of equals the first is the higher.
                true => product.div_ceil(own) - 1,
                false => product / own,
            };
            widths.clamp(1, whole) - 1
        };
        let others = self.whole.iter().enumerate();
        others.map(|(other, whole)| at_most(other, *whole)).sum()
    }
}

/// Bits of numbers up to this one; 1 at least.
pub(super) const fn bits_of(most: u32) -> u8 {
    let bits = u32::BITS - most.leading_zeros();
    if bits == 0 { 1 } else { bits as u8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks are the places of all shares, in the order of shares and, of equals, from the last attribute
    /// to the first.
    #[test]
    fn ranks_are_the_places_of_shares() {
        for whole in [
            vec![10, 2, 4, 1, 10],
            vec![7],
            vec![1, 1],
            vec![3, 74, 16, 7, 5, 2, 41],
        ] {
            let scale = Scale {
                whole,
                most_cuts: Vec::new(),
            };
            let mut all: Vec<(u64, usize)> = Vec::new();
            for (place, whole) in scale.whole.iter().enumerate() {
                all.extend((2..=*whole).map(|width| (width, place)));
            }
            all.sort_by(|(one, at), (other, there)| {
                let shares = (one * scale.whole[*there]).cmp(&(other * scale.whole[*at]));
                shares.then(there.cmp(at))
            });
            for (rank, (width, place)) in (1..).zip(&all) {
                assert_eq!(scale.rank(*place, *width), rank);
            }
            assert_eq!(scale.highest(), all.len() as u64);
            assert_eq!(scale.has_cuts(), !all.is_empty());
        }
        let wide = Scale {
            whole: vec![u64::from(u32::MAX), 3],
            most_cuts: Vec::new(),
        };
        assert_eq!(wide.rank(0, u64::from(u32::MAX)), wide.highest());
        assert_eq!(wide.rank(1, 3), wide.highest() - 1);
        assert_eq!(
            (bits_of(0), bits_of(1), bits_of(255), bits_of(256)),
            (1, 1, 8, 9)
        );
    }
}
