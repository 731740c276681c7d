//! Sites of the census: how the people of each part of the country differ.

use super::countries::Country;

/// The peculiarities of a site, each against the usual 4.
#[derive(Clone, Copy)]
pub(super) struct Profile {
    /// The young and the old.
    young: u64,
    old: u64,
    /// People born in other countries, and the continent that most of them come from.
    foreign: u64,
    continent: &'static str,
    /// The highly educated.
    pub(super) learned: u64,
    /// Classes of occupations: office, service, hands.
    work: [u64; 3],
}

const fn p(
    [young, old]: [u64; 2],
    foreign: u64,
    continent: &'static str,
    learned: u64,
    work: [u64; 3],
) -> Profile {
    Profile {
        young,
        old,
        foreign,
        continent,
        learned,
        work,
    }
}

const PROFILES: [Profile; 8] = [
    p([4, 4], 4, "Europe", 4, [4, 4, 4]),
    p([6, 3], 8, "Asia", 6, [6, 4, 2]),
    p([3, 6], 2, "Europe", 3, [3, 4, 6]),
    p([5, 3], 6, "America", 4, [4, 6, 4]),
    p([3, 5], 1, "Europe", 2, [2, 4, 8]),
    p([8, 2], 7, "Asia", 9, [8, 5, 1]),
    p([4, 4], 9, "Africa", 3, [3, 7, 4]),
    p([2, 8], 2, "Oceania", 4, [4, 5, 3]),
];

/// The profile of a site, counted from 0.
pub(super) fn profile(site: usize) -> Profile {
    // Each further eight sites take the schooling and work of another site.
    let other = PROFILES[(site + site / PROFILES.len() * 3) % PROFILES.len()];
    Profile {
        learned: other.learned,
        work: other.work,
        ..PROFILES[site % PROFILES.len()]
    }
}

impl Profile {
    /// How many people of an age a site has, against the usual 4.
    pub(super) fn age(&self, age: u64) -> u64 {
        match age {
            ..35 => self.young,
            35..60 => 4,
            _ => self.old,
        }
    }

    /// How many people from a country a site has, against the usual 4.
    pub(super) fn country(&self, country: &Country) -> u64 {
        match country.continent {
            _ if country.people > 1000 => 4,
            continent if continent == self.continent => 2 * self.foreign,
            _ => self.foreign,
        }
    }

    /// How many people with a class of occupations a site has, against the usual 4.
    pub(super) fn occupation(&self, class: &str) -> u64 {
        let [office, service, hands] = self.work;
        match class {
            "office" => office,
            "service" => service,
            _ => hands,
        }
    }
}
