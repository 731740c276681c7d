//! Sites: their names, and how many of the rows each has.

use super::SyntheticError;

/// The most sites a plan may have.
pub const MOST_SITES: usize = 1 << 16;

const NAMES: [&str; 16] = [
    "north", "south", "east", "west", "harbour", "hill", "lake", "valley", "forest", "river",
    "castle", "market", "bridge", "garden", "island", "meadow",
];

/// The name of a site, counted from 0: `north`, `south`, `east`, `west`, …, `site-17`, `site-18`.
pub fn site_name(index: usize) -> String {
    match NAMES.get(index) {
        Some(name) => String::from(*name),
        None => format!("site-{}", index + 1),
    }
}

/// Rows of each site: at least one, the first sites more than the last, in sum `rows`.
pub(super) fn sizes(rows: u64, sites: usize) -> Result<Vec<u64>, SyntheticError> {
    if rows == 0 {
        return Err(SyntheticError::NoRows);
    }
    if sites == 0 {
        return Err(SyntheticError::NoSites);
    }
    if sites as u64 > rows {
        return Err(SyntheticError::MoreSitesThanRows { sites, rows });
    }
    if sites > MOST_SITES {
        return Err(SyntheticError::TooManySites { sites });
    }
    // Zipf-like: the site at place i has a share in proportion to 1 / (i + 3).
    let shares: Vec<u64> = (3..sites as u64 + 3)
        .map(|place| (1 << 32) / place)
        .collect();
    let total: u64 = shares.iter().sum();
    let free = rows - sites as u64;
    let mut sizes: Vec<u64> = shares
        .iter()
        .map(|share| 1 + (u128::from(free) * u128::from(*share) / u128::from(total)) as u64)
        .collect();
    // Rounding down leaves less than one row for each site.
    let left = (rows - sizes.iter().sum::<u64>()) as usize;
    sizes[..left].iter_mut().for_each(|size| *size += 1);
    Ok(sizes)
}
