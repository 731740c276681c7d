//! An invented country: regions, counties, towns and their five-digit zips.
//!
//! The first digit of a zip is the region, the first three are the county, the first four the
//! town; large towns have several zips. Counties lie on a grid, so that hospitals have
//! neighbourhoods.

/// A county: the first three digits of its zips, its place, its people (in thousands), its towns.
struct County {
    prefix: u32,
    at: (i64, i64),
    people: u64,
    towns: u32,
}

/// A zip, its place, and the number of people who live there.
pub(super) struct Zip {
    pub(super) number: u32,
    pub(super) at: (i64, i64),
    pub(super) people: u64,
}

const fn county(prefix: u32, x: i64, y: i64, people: u64, towns: u32) -> County {
    County {
        prefix,
        at: (x, y),
        people,
        towns,
    }
}

#[rustfmt::skip]
const COUNTIES: [County; 38] = [
    // The northern coast, with its port.
    county(101, 3, 11, 820, 9), county(103, 4, 10, 310, 7), county(107, 5, 11, 140, 5),
    county(112, 6, 10, 460, 8), county(118, 8, 11, 120, 5), county(125, 9, 10, 95, 4),
    // The hills of the west.
    county(204, 1, 8, 210, 6), county(209, 2, 7, 90, 4), county(215, 1, 6, 380, 7),
    county(221, 2, 5, 110, 5), county(228, 0, 4, 60, 3), county(236, 1, 3, 75, 4),
    // The centre, with the capital.
    county(300, 5, 6, 1900, 10), county(301, 6, 6, 1200, 10), county(305, 5, 7, 540, 8),
    county(308, 6, 7, 430, 8), county(314, 7, 6, 350, 7), county(322, 5, 5, 290, 7),
    county(331, 7, 7, 160, 5), county(347, 4, 8, 130, 5),
    // The lakes of the east.
    county(402, 10, 6, 610, 9), county(406, 11, 7, 180, 6), county(413, 9, 8, 150, 5),
    county(419, 11, 5, 105, 5), county(427, 9, 5, 240, 6), county(438, 10, 3, 85, 4),
    // The plains of the south.
    county(503, 6, 1, 700, 9), county(508, 5, 2, 270, 6), county(511, 7, 2, 230, 6),
    county(517, 4, 1, 120, 5), county(524, 8, 1, 115, 5), county(539, 6, 3, 190, 6),
    // The valleys of the south-west, and the islands.
    county(601, 2, 1, 330, 7), county(606, 3, 3, 145, 5), county(614, 1, 1, 70, 4),
    county(622, 3, 4, 100, 4), county(685, 0, 11, 30, 3), county(690, 11, 11, 25, 3),
];

/// All zips, in ascending order.
pub(super) fn zips() -> Vec<Zip> {
    let mut zips = Vec::new();
    for county in &COUNTIES {
        for town in 0..county.towns {
            // The largest town has eight zips, the second four, villages one.
            let parts = (8 / (town + 1)).max(1);
            for part in 0..parts {
                // Not every number in a row is in use.
                let last = (3 * part + 2 * town + 1) % 10;
                zips.push(Zip {
                    number: county.prefix * 100 + town * 10 + last,
                    at: county.at,
                    people: 10_000 * county.people / u64::from((town + 1) * (parts + 2 * part)),
                });
            }
        }
    }
    zips.sort_by_key(|zip| zip.number);
    zips
}

/// Where a hospital lies whose place is not chosen by hand.
pub(super) fn any_place(index: usize) -> (i64, i64) {
    COUNTIES[index * 11 % COUNTIES.len()].at
}

/// How many of a zip's people go to a hospital, in proportion: fewer the farther the hospital is, but
/// never zero.
pub(super) fn patients(zip: &Zip, hospital: (i64, i64), reach: u64) -> u64 {
    let (across, up) = (zip.at.0 - hospital.0, zip.at.1 - hospital.1);
    let distance = (across * across + up * up) as u64;
    zip.people * 100 / (reach * reach + distance * distance) + 1
}
