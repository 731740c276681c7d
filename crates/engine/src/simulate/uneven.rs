//! Sites as unlike each other as the papers' were: sizes of an exponential distribution (MPRIV
//! section V.A), and a share of the sites for each region and each band of ages (JX09 section 5.2).

use hedgerow_data::{Codes, Domain};

/// How many of the rows each site has: the sizes are the quantiles of an exponential distribution, the
/// smallest first, and no site is empty where there are rows enough.
pub(super) fn exponential(rows: usize, sites: usize) -> Vec<usize> {
    let quantile = |site: usize| -(1.0 - (site as f64 + 0.5) / sites as f64).ln();
    let total: f64 = (0..sites).map(quantile).sum();
    // One row for each site first, the rest by size.
    let first = usize::from(rows >= sites);
    let rest = (rows - first * sites) as f64;
    let mut sizes = Vec::with_capacity(sites);
    let (mut reached, mut given) = (0.0, 0);
    for site in 0..sites {
        reached += quantile(site);
        let upto = match site + 1 == sites {
            true => rest as usize,
            false => (reached / total * rest).round() as usize,
        };
        sizes.push(first + upto - given);
        given = upto;
    }
    sizes
}

/// Gives each row's records to sites: every value of the first column that occurs has an equal share of the
/// sites, and within it every band of the second column; records of one band go to the band's sites in turn.
/// `band` says in which of `bands` bands a code of the second column is.
pub(super) fn nested(
    (first, second): (&Codes, &Codes),
    sites: usize,
    (bands, band): (usize, impl Fn(u32) -> usize),
    records: impl Fn(usize) -> u64,
    mut give: impl FnMut(usize, u32, u64),
) {
    let mut values: Vec<u32> = first.iter().collect();
    values.sort_unstable();
    values.dedup();
    // How many records each band of each value has had so far.
    let mut turns = vec![0; values.len() * bands];
    for (row, (value, code)) in first.iter().zip(second.iter()).enumerate() {
        let (value, band) = (values.partition_point(|other| *other < value), band(code));
        let (from, count) = share(sites, values.len(), value);
        let (start, held) = share(count, bands, band);
        let turn = &mut turns[value * bands + band];
        for (site, share) in in_turn(*turn, held, records(row)) {
            give(row, (from + start + site) as u32, share);
        }
        *turn += records(row);
    }
}

/// How many of some records each site has that has some, where records go to so many sites in turn and
/// `before` of them went already.
pub(super) fn in_turn(
    before: u64,
    sites: usize,
    records: u64,
) -> impl Iterator<Item = (usize, u64)> {
    let sites = sites as u64;
    let first = 0..records.min(sites);
    first.map(move |turn| {
        let site = (before + turn) % sites;
        (site as usize, (records - turn).div_ceil(sites))
    })
}

/// Where the share of one of `parts` parts begins, and how many it has. Where there are fewer sites than
/// parts, several parts have the same site.
fn share(sites: usize, parts: usize, part: usize) -> (usize, usize) {
    let from = part * sites / parts;
    let to = (part + 1) * sites / parts;
    (from, (to - from).max(1))
}

/// The bands of a column's codes, where its values are whole numbers: for each code how many of these
/// bounds it reaches. The first value that is no number where there is one.
pub(super) fn bands(domain: &Domain, bounds: &[i64]) -> Result<Vec<usize>, String> {
    let codes = 0..domain.size();
    codes
        .map(|code| {
            let label = domain.label(code);
            let value: i64 = label.parse().map_err(|_| label.into_owned())?;
            Ok(bounds.iter().filter(|bound| value >= **bound).count())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The sites of single records in three bands.
    fn owners(columns: (&Codes, &Codes), sites: usize, band: impl Fn(u32) -> usize) -> Vec<u32> {
        let mut owners = Vec::new();
        nested(
            columns,
            sites,
            (3, band),
            |_| 1,
            |_, site, _| owners.push(site),
        );
        owners
    }

    proptest! {
        #[test]
        fn records_in_turn_are_dealt_one_by_one(before in 0u64..30, sites in 1usize..9, records in 0u64..60) {
            let mut found = vec![0; sites];
            for (site, share) in in_turn(before, sites, records) {
                prop_assert!(found[site] == 0 && share > 0);
                found[site] = share;
            }
            let mut expected = vec![0; sites];
            (before..before + records).for_each(|turn| expected[turn as usize % sites] += 1);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn exponential_sizes_rise_and_add_up(rows in 0usize..5_000, sites in 1usize..=250) {
            let sizes = exponential(rows, sites);
            prop_assert_eq!(sizes.len(), sites);
            prop_assert_eq!(sizes.iter().sum::<usize>(), rows);
            prop_assert!(rows < sites || sizes.iter().all(|size| *size > 0));
            // Rounding moves a size by one at most.
            prop_assert!(sizes.windows(2).all(|pair| pair[0] <= pair[1] + 1), "{:?}", sizes);
        }

        #[test]
        fn a_band_stays_within_its_sites(
            rows in proptest::collection::vec((0u32..6, 0u32..90), 1..400),
            sites in 1usize..=120,
        ) {
            let (mut first, mut second) = (Codes::for_size(6), Codes::for_size(90));
            for (value, code) in &rows {
                first.push(*value);
                second.push(*code);
            }
            let band = |code: u32| usize::from(code >= 25) + usize::from(code >= 56);
            let owners = owners((&first, &second), sites, band);
            prop_assert!(owners.iter().all(|owner| (*owner as usize) < sites));
            // With a site for each band of each value, no site has rows of two bands or two values.
            if sites >= 18 {
                for (place, owner) in owners.iter().enumerate() {
                    for other in 0..place {
                        if owners[other] == *owner {
                            prop_assert_eq!(rows[other].0, rows[place].0);
                            prop_assert_eq!(band(rows[other].1), band(rows[place].1));
                        }
                    }
                }
            }
        }
    }

    /// JX09 section 5.2 with 18 nodes: three for each city, one for each band of ages.
    #[test]
    fn cities_and_ages_have_their_sites() {
        let (mut city, mut age) = (Codes::for_size(6), Codes::for_size(91));
        for (of_city, of_age) in [(0, 24), (0, 25), (0, 55), (0, 56), (5, 90), (5, 17)] {
            city.push(of_city);
            age.push(of_age);
        }
        // Two cities occur: nine sites each.
        let band = |code: u32| usize::from(code >= 25) + usize::from(code >= 56);
        assert_eq!(owners((&city, &age), 18, band), [0, 3, 4, 6, 15, 9]);
        assert_eq!(owners((&city, &age), 6, band), [0, 1, 1, 2, 5, 3]);
        assert_eq!(owners((&city, &age), 1, band), [0; 6]);
    }

    #[test]
    fn exponential_sizes_of_ten_sites() {
        // Quantiles of 0.05, 0.15 and so on: 0.05, 0.16, 0.29, 0.43, 0.60, 0.80, 1.05, 1.39, 1.90, 3.00.
        let sizes = exponential(10_000, 10);
        assert_eq!(sizes, [54, 169, 299, 446, 620, 827, 1087, 1435, 1963, 3100]);
    }
}
