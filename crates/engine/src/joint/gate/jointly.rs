//! The attacks that sites count together. What a site adds is the crate `gate`'s business, how sites sum it the
//! protocols'.

use std::collections::HashMap;

use hedgerow_data::study::Share;
use hedgerow_gate::together::{
    Part, found_at_ends, found_in_common, found_left, found_nothing, intersections, left_below,
    not_tried, sizes,
};
use hedgerow_gate::{Attack, Ends, Finding, Known, Ordered, Rare, Subject, rank};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::attacked::{
    self, AT_ENDS, JOINED, by_one, by_two, enough, ranked,
};
use hedgerow_smc::Party;

/// The most intersections of classes that are asked about.
const MOST_INTERSECTIONS: usize = 1 << 18;
/// The most classes, times pairs of sites, that are asked about.
const MOST_PAIRED: usize = 1 << 21;

/// A site's part in the joint counts.
pub(super) struct Jointly<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) known: &'a Known<'a>,
    pub(super) part: Part<'a>,
    /// For each site whose rows are here, its records of each class.
    pub(super) taken: Vec<Vec<u64>>,
}

impl Jointly<'_> {
    /// Rare values that end their class.
    pub(super) async fn ends(
        &self,
        party: &mut Party,
        limit: Option<f64>,
    ) -> Result<Finding, Error> {
        let subject = self.subject;
        let records = subject.records();
        let (ordered, rank) = (Ordered::of(subject), rank(records));
        let (Some(rank), false) = (rank, ordered.is_empty()) else {
            return Ok(found_at_ends(subject, &[], limit));
        };
        let values: Vec<u32> = ordered.iter().map(|one| one.values).collect();
        let ranked = ranked(
            party,
            (rank, records),
            &values,
            |at, value| self.part.at_most(ordered[at], value),
            |at, value| self.part.at_least(ordered[at], value),
        );
        let ranked = ranked.await?;
        let found = ordered.iter().zip(ranked);
        let rare: Vec<Rare> = found
            .filter_map(|(of, ends)| {
                let (least, greatest) = ends?;
                Rare::beyond(*of, least, greatest)
            })
            .collect();
        let own: Vec<u64> = rare
            .iter()
            .flat_map(|rare| self.part.ends(*rare).own)
            .collect();
        let sums = attacked::sums(party, AT_ENDS, &own, records).await?;
        let mut counted = Vec::with_capacity(rare.len());
        for (rare, sums) in rare.iter().zip(sums.chunks_exact(4)) {
            let own = [sums[0], sums[1], sums[2], sums[3]];
            // Those whose class ends there are among those who have a rare value.
            let fits = own[0] <= own[1] && own[2] <= own[3] && own[1] + own[3] <= records;
            party.fit(AT_ENDS, fits, "more ends of classes than rare values")?;
            counted.push(Ends {
                rare: *rare,
                own,
                strangers: [0; 4],
            });
        }
        Ok(found_at_ends(subject, &counted, limit))
    }

    /// What a site gets below k of others' records.
    pub(super) async fn one_site(
        &self,
        party: &mut Party,
        limit: Option<f64>,
    ) -> Result<Finding, Error> {
        let own = self.taken.iter().map(|taken| self.left(taken));
        let own = own.max().unwrap_or(0);
        let greatest = match party.sites() {
            1 if self.taken.len() < 2 => {
                let because = "one party has all records";
                return Ok(found_nothing(Attack::OneSite, because));
            }
            1 => own,
            _ => by_one(party, own).await?,
        };
        Ok(found_left(Attack::OneSite, self.subject, greatest, limit))
    }

    /// What two sites get below k of others' records.
    pub(super) async fn two_sites(
        &self,
        party: &mut Party,
        limit: Share,
    ) -> Result<Finding, Error> {
        let sites = party.sites().max(self.taken.len());
        if sites < 3 {
            let because = "there is no third site whose records two could lay bare";
            return Ok(found_nothing(Attack::TwoSites, because));
        }
        let sizes = sizes(self.subject);
        let millionths = if party.sites() == 1 {
            let pairs = self.taken.iter().enumerate().flat_map(|(place, one)| {
                let others = self.taken[place + 1..].iter();
                others.map(move |other| one.iter().zip(other).map(|(one, other)| one + other))
            });
            let left = pairs.map(|both| self.left(&both.collect::<Vec<u64>>()));
            left.max().unwrap_or(0)
        } else if sites * (sites - 1) / 2 * sizes.len() > MOST_PAIRED {
            return Ok(not_tried(
                Attack::TwoSites,
                "fewer pairs of sites, or fewer classes",
            ));
        } else {
            // Sites of a run have rows of their own alone.
            let own = self.taken.first().map_or(&[][..], Vec::as_slice);
            let limit = u64::from(limit.millionths());
            by_two(party, (own, sizes.as_slice()), self.subject.k(), limit).await?
        };
        let limit = Some(limit.number());
        Ok(found_left(
            Attack::TwoSites,
            self.subject,
            millionths,
            limit,
        ))
    }

    /// Records that share their classes in all releases with fewer than k.
    pub(super) async fn two_releases(
        &self,
        party: &mut Party,
        limit: Option<f64>,
    ) -> Result<Finding, Error> {
        let subject = self.subject;
        let releases: Vec<&Subject<'_>> = std::iter::once(subject)
            .chain(&self.known.earlier)
            .collect();
        let Some(groups) = intersections(&releases, MOST_INTERSECTIONS) else {
            let needs = "releases whose classes have fewer intersections";
            return Ok(not_tried(Attack::TwoReleases, needs));
        };
        let none = || (vec![Vec::new(); releases.len()], Vec::new());
        let (classes, people) = self.part.classes_in_all().unwrap_or_else(none);
        let places: HashMap<&[u32], usize> = groups
            .iter()
            .enumerate()
            .map(|(place, group)| (group.as_slice(), place))
            .collect();
        let mut in_group = vec![0; groups.len()];
        let mut in_class = vec![0; sizes(subject).len()];
        let mut group = Vec::with_capacity(releases.len());
        for (row, people) in people.iter().enumerate() {
            group.clear();
            group.extend(classes.iter().map(|column| column[row]));
            // Classes that cover one row overlap.
            if let Some(place) = places.get(group.as_slice()) {
                in_group[*place] += people;
            }
            in_class[group[0] as usize] += people;
        }
        let k = subject.k();
        let own: Vec<u64> = in_group.iter().chain(&in_class).copied().collect();
        let is_enough = enough(party, k, &own).await?;
        let few = |from: usize, own: &[u64]| -> u64 {
            let bits = &is_enough[from..];
            let few = own.iter().zip(bits).filter(|(_, is_enough)| !**is_enough);
            few.map(|(own, _)| own).sum()
        };
        let own = [
            few(0, &in_group),
            people.iter().sum(),
            few(in_group.len(), &in_class),
        ];
        let sums = attacked::sums(party, JOINED, &own, subject.records()).await?;
        let [at_risk, of, alone] = [sums[0], sums[1], sums[2]];
        let fits = at_risk <= of && alone <= of;
        party.fit(JOINED, fits, "more records in few than in all releases")?;
        Ok(found_in_common(subject, [at_risk, of, alone], limit))
    }

    /// The share of others' records that are left in classes of fewer than k, in millionths, rounded up.
    fn left(&self, taken: &[u64]) -> u64 {
        let (at_risk, of) = left_below(self.subject, taken);
        let millionths = u128::from(at_risk) * u128::from(Share::MILLION);
        // At most a million.
        millionths.div_ceil(u128::from(of.max(1))) as u64
    }
}
