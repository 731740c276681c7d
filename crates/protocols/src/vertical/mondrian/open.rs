//! A class that may still be cut: its people, whom all sites know, and the cut that this site proposes.
//!
//! # Discloses
//! Nothing by itself.

use hedgerow_smc::Site;

use super::super::own::OwnColumn;
use super::checks::Checks;
use super::scale::Scale;

/// What a site goes by when it proposes a cut.
pub(super) struct Own<'a> {
    /// This site's quasi-identifiers.
    pub(super) quasi: &'a [OwnColumn<'a>],
    /// The place of each among all quasi-identifiers of the study.
    pub(super) places: Vec<usize>,
    pub(super) scale: Scale,
    pub(super) checks: Checks<'a>,
    pub(super) k: u64,
}

/// An open class.
pub(super) struct Open {
    /// Its people by their places in the common order, ascending.
    pub(super) people: Vec<u32>,
    /// For each of this site's quasi-identifiers, how many of its cuts were tried: at the median, with
    /// the records at the median on the left, then on the right.
    tried: Vec<u8>,
    /// The cut that this site proposes; `None` where it has none left, or has not looked yet.
    proposed: Option<Proposed>,
    has_looked: bool,
    /// What each site has told of the class, which is bounded.
    of_sites: Vec<OfSite>,
}

/// Cuts of one site.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfSite {
    /// How often the site cut on the way to the class.
    pub(super) cuts: u64,
    /// How many of its cuts of the class were refused.
    pub(super) refused: u64,
}

/// A cut of this site: the people whose code is at most `end` go left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Proposed {
    attribute: usize,
    end: u32,
    tried: u8,
    rank: u64,
}

impl Open {
    /// Everybody, where this site has so many quasi-identifiers.
    pub(super) fn new(people: Vec<u32>, quasi: usize, sites: usize) -> Self {
        Self {
            people,
            tried: vec![0; quasi],
            proposed: None,
            has_looked: false,
            of_sites: vec![OfSite::default(); sites],
        }
    }

    pub(super) fn into_people(self) -> Vec<u32> {
        self.people
    }

    /// Whether the class has people for two parts.
    pub(super) fn may_be_cut(&self, k: u64) -> bool {
        self.people.len() as u64 >= 2 * k.max(1)
    }

    /// The rank of the cut that this site proposes; 0 if it has none.
    pub(super) fn rank(&self) -> u64 {
        self.proposed.map_or(0, |proposed| proposed.rank)
    }

    /// Whether each person goes left by this site's proposal; nobody does if it has none.
    pub(super) fn goes_left<'o>(&'o self, own: &'o Own<'_>) -> impl Iterator<Item = bool> + 'o {
        self.people.iter().map(move |person| {
            self.proposed
                .is_some_and(|Proposed { attribute, end, .. }| {
                    own.quasi[attribute].codes[*person as usize] <= end
                })
        })
    }

    /// What a site has told of the class.
    pub(super) fn of_site(&self, site: Site) -> OfSite {
        self.of_sites[site.index()]
    }

    /// Notes that a site's proposal was refused, and drops it where it was this site's.
    pub(super) fn refuse(&mut self, site: Site, me: Site) {
        self.of_sites[site.index()].refused += 1;
        if site != me {
            return;
        }
        if let Some(Proposed {
            attribute, tried, ..
        }) = self.proposed.take()
        {
            self.tried[attribute] = tried;
            self.has_looked = false;
        }
    }

    /// The two parts of a site's cut.
    pub(super) fn into_parts(mut self, site: Site, goes_left: &[bool]) -> [Self; 2] {
        self.of_sites[site.index()].cuts += 1;
        self.of_sites.iter_mut().for_each(|of| of.refused = 0);
        let part = |is_left: bool| {
            let both = self.people.iter().zip(goes_left);
            let people = both.filter(|(_, left)| **left == is_left);
            let people = people.map(|(person, _)| *person).collect();
            Self {
                of_sites: self.of_sites.clone(),
                ..Self::new(people, self.tried.len(), 0)
            }
        };
        [part(true), part(false)]
    }

    /// Looks for this site's best cut: the widest quasi-identifier that has one whose parts have k people
    /// and satisfy what is demanded of this site's own sensitive attributes.
    pub(super) fn look(&mut self, own: &Own<'_>) {
        if self.has_looked {
            return;
        }
        self.has_looked = true;
        let mut widest: Vec<(u64, usize)> = (0..own.quasi.len())
            .filter_map(|attribute| {
                let (least, greatest) = self.range(own, attribute)?;
                let width = u64::from(greatest - least) + 1;
                let rank = own.scale.rank(own.places[attribute], width);
                (width > 1).then_some((rank, attribute))
            })
            .collect();
        widest.sort_unstable();
        let cuts = widest.into_iter().rev();
        self.proposed = cuts
            .filter_map(|(rank, attribute)| self.cut(own, attribute, rank))
            .next();
    }

    fn codes<'o>(
        &'o self,
        own: &'o Own<'_>,
        attribute: usize,
    ) -> impl Iterator<Item = u32> + Clone + 'o {
        let codes = &own.quasi[attribute].codes;
        self.people.iter().map(|person| codes[*person as usize])
    }

    /// The least and the greatest code of a quasi-identifier.
    fn range(&self, own: &Own<'_>, attribute: usize) -> Option<(u32, u32)> {
        let codes = self.codes(own, attribute);
        codes.clone().min().zip(codes.max())
    }

    /// The next cut of a quasi-identifier that this site may propose.
    fn cut(&self, own: &Own<'_>, attribute: usize, rank: u64) -> Option<Proposed> {
        let mut codes: Vec<u32> = self.codes(own, attribute).collect();
        let middle = codes.len().div_ceil(2) - 1;
        let (_, median, _) = codes.select_nth_unstable(middle);
        let median = *median;
        let (least, greatest) = self.range(own, attribute)?;
        // With its records on the left, if others are above it; then on the right, if others are below it.
        let on_the_left = (median < greatest).then_some((1, median));
        let on_the_right = (least < median).then(|| (2, median - 1));
        let sides = [on_the_left, on_the_right].into_iter().flatten();
        let left = sides.filter(|(tried, _)| *tried > self.tried[attribute]);
        left.map(|(tried, end)| Proposed {
            attribute,
            end,
            tried,
            rank,
        })
        .find(|cut| self.is_allowed(own, cut))
    }

    fn is_allowed(&self, own: &Own<'_>, cut: &Proposed) -> bool {
        let goes_left = self.codes(own, cut.attribute).map(|code| code <= cut.end);
        let goes_left: Vec<bool> = goes_left.collect();
        has_k(&goes_left, own.k) && own.checks.hold(&self.people, |place| goes_left[place])
    }
}

/// Whether both parts of a cut have at least k people.
pub(super) fn has_k(goes_left: &[bool], k: u64) -> bool {
    let left = goes_left.iter().filter(|left| **left).count();
    let least = left.min(goes_left.len() - left) as u64;
    least >= k.max(1)
}
