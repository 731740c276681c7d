//! Hospitals: where each lies, how far its patients come, whom it treats and for what.

use super::geography;

/// The peculiarities of a hospital.
#[derive(Clone, Copy)]
pub(super) struct Profile {
    pub(super) at: (i64, i64),
    /// How far patients come; 2 is a local hospital, 8 one of national rank.
    pub(super) reach: u64,
    /// How many children, adults and old people come, against the usual 4.
    pub(super) ages: [u64; 3],
    /// Letters of chapters that come three times as often.
    pub(super) strong: &'static str,
    /// Letters of chapters that come a quarter as often.
    pub(super) weak: &'static str,
}

const fn p(
    at: (i64, i64),
    reach: u64,
    ages: [u64; 3],
    strong: &'static str,
    weak: &'static str,
) -> Profile {
    Profile {
        at,
        reach,
        ages,
        strong,
        weak,
    }
}

/// The hospitals that have a name, in the order of their names.
#[rustfmt::skip]
const PROFILES: [Profile; 16] = [
    p((6, 9), 6, [4, 4, 4], "IC", ""),
    p((6, 3), 5, [7, 4, 3], "OPJ", "C"),
    p((9, 6), 5, [3, 4, 6], "MI", "OP"),
    p((2, 6), 4, [3, 5, 4], "FG", "OPH"),
    p((3, 11), 4, [4, 5, 3], "SK", ""),
    p((2, 7), 3, [2, 3, 8], "MRI", "OP"),
    p((11, 6), 3, [5, 4, 4], "ON", "C"),
    p((2, 2), 3, [4, 4, 5], "JK", "F"),
    p((4, 4), 3, [1, 6, 3], "FE", "SPO"),
    p((6, 1), 4, [4, 4, 4], "KN", ""),
    p((5, 6), 8, [3, 4, 5], "CDG", "R"),
    p((5, 7), 3, [4, 6, 3], "SRA", "M"),
    p((6, 6), 5, [9, 3, 2], "PHA", "I"),
    p((7, 6), 3, [4, 5, 3], "OLN", ""),
    p((0, 11), 2, [4, 4, 4], "SR", "CF"),
    p((8, 2), 3, [2, 4, 7], "IJE", "OP"),
];

/// The profile of a site, counted from 0.
pub(super) fn profile(site: usize) -> Profile {
    if let Some(profile) = PROFILES.get(site) {
        return *profile;
    }
    // Hospitals beyond the named ones take the speciality of one named hospital and the patients of
    // another.
    let [one, other] = [site, site / PROFILES.len()].map(|pick| PROFILES[pick % PROFILES.len()]);
    Profile {
        at: geography::any_place(site),
        reach: 2 + site as u64 % 5,
        strong: one.strong,
        ..other
    }
}

impl Profile {
    /// How often a chapter comes, against the usual 4.
    pub(super) fn chapter(&self, label: &str) -> u64 {
        let letter = &label[..1];
        if self.strong.contains(letter) {
            12
        } else if self.weak.contains(letter) {
            1
        } else {
            4
        }
    }

    /// How often an age comes, against the usual 4.
    pub(super) fn age(&self, age: usize) -> u64 {
        self.ages[usize::from(age >= 18) + usize::from(age >= 65)]
    }
}
