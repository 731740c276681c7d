//! The attacks that sites count together. What a site adds is the crate `gate`'s business, how sites sum it the
//! protocols'.

use std::collections::HashMap;

use hedgerow_data::study::Share;
use hedgerow_gate::together::{
    Common, InCommon, Part, crowd, found_at_ends, found_in_common, found_left, found_nothing,
    intersections, left_below, not_tried, sizes,
};
use hedgerow_gate::{Attack, Ends, Finding, Known, Ordered, Rare, Subject, rank};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::attacked::{
    self, ALONE, AT_ENDS, COMMON, CROWDED, JOINED, STEPS, by_one, by_two, enough, ranked,
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
        let (ordered, rank) = (Ordered::of(subject), rank(records, subject.k()));
        let (Some(rank), false) = (rank, ordered.is_empty()) else {
            return Ok(found_at_ends(subject, &[], &ordered, limit));
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
        let (mut rare, mut lacking) = (Vec::new(), Vec::new());
        for (of, ends) in found {
            match ends.and_then(|(least, greatest)| Rare::beyond(*of, least, greatest)) {
                Some(found) => rare.push(found),
                None => lacking.push(*of),
            }
        }
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
        Ok(found_at_ends(subject, &counted, &lacking, limit))
    }

    /// What a site gets below k of others' records.
    pub(super) async fn one_site(
        &self,
        party: &mut Party,
        limit: Option<f64>,
    ) -> Result<Finding, Error> {
        let own = self.taken.iter().map(|taken| self.left(taken));
        // A site that does not know its own records' classes says the worst.
        let own = own.max().unwrap_or(u64::from(Share::MILLION));
        let greatest = match party.sites() {
            1 if self.taken.len() < 2 => {
                let because = "one party has all records";
                return Ok(found_nothing(Attack::OneSite, because));
            }
            1 => own,
            _ => by_one(party, own).await?,
        };
        let greatest = (greatest, false);
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
        let pairs = sites * (sites - 1) / 2;
        let left = if party.sites() == 1 {
            let pairs = self.taken.iter().enumerate().flat_map(|(place, one)| {
                let others = self.taken[place + 1..].iter();
                others.map(move |other| one.iter().zip(other).map(|(one, other)| one + other))
            });
            let left = pairs.map(|both| self.left(&both.collect::<Vec<u64>>()));
            (left.max().unwrap_or(0), false)
        } else if pairs * (sizes.len() + STEPS.len() + 1) > MOST_PAIRED {
            return Ok(not_tried(
                Attack::TwoSites,
                "fewer pairs of sites, or fewer classes",
            ));
        } else {
            // Sites of a run have rows of their own alone; a site that does not know their classes has none left
            // for others.
            let none = vec![0; sizes.len()];
            let own = self.taken.first().unwrap_or(&none);
            let limit = u64::from(limit.millionths());
            let step = by_two(party, (own, sizes.as_slice()), self.subject.k(), limit);
            (step.await?, true)
        };
        let limit = Some(limit.number());
        Ok(found_left(Attack::TwoSites, self.subject, left, limit))
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
        let InCommon {
            classes,
            people,
            placed,
        } = self.part.in_common().unwrap_or_else(|| InCommon {
            classes: vec![Vec::new(); releases.len()],
            people: Vec::new(),
            placed: releases
                .iter()
                .map(|one| vec![0; sizes(one).len()])
                .collect(),
        });
        let places: HashMap<&[u32], usize> = groups
            .iter()
            .enumerate()
            .map(|(place, group)| (group.as_slice(), place))
            .collect();
        let mut in_group = vec![0; groups.len()];
        let mut in_class = vec![0; placed[0].len()];
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
        let is_common = enough(party, COMMON, &in_group, &vec![k; groups.len()]).await?;
        let is_class = enough(party, ALONE, &placed[0], &vec![k; placed[0].len()]).await?;
        // Whether an earlier class has more people put into it beside an intersection than leave k for that.
        let mut beside = Vec::with_capacity(groups.len() * self.known.earlier.len());
        let mut thresholds = Vec::with_capacity(beside.capacity());
        let mut is_small = vec![false; groups.len()];
        for (number, earlier) in self.known.earlier.iter().enumerate() {
            let published = sizes(earlier);
            for (place, (group, own)) in groups.iter().zip(&in_group).enumerate() {
                let class = group[number + 1] as usize;
                beside.push(placed[number + 1][class] - own);
                // Of a class with fewer than k records all know that no k of them are anywhere.
                let crowd = crowd(published[class], k);
                is_small[place] |= crowd.is_none();
                thresholds.push(crowd.unwrap_or(1));
            }
        }
        let is_crowded = enough(party, CROWDED, &beside, &thresholds).await?;
        let may_be_few = |place: usize| {
            let mut crowded = is_crowded.chunks(groups.len().max(1));
            !is_common[place] || is_small[place] || crowded.any(|bits| bits[place])
        };
        let of_groups = |is_counted: &dyn Fn(usize) -> bool| -> u64 {
            let own = in_group.iter().enumerate();
            own.filter(|(place, _)| is_counted(*place))
                .map(|(_, own)| own)
                .sum()
        };
        let alone = in_class.iter().zip(&is_class);
        let own = [
            of_groups(&|place| !is_common[place]),
            of_groups(&may_be_few),
            people.iter().sum(),
            alone
                .filter(|(_, is_class)| !**is_class)
                .map(|(own, _)| own)
                .sum(),
        ];
        let sums = attacked::sums(party, JOINED, &own, subject.records()).await?;
        let [at_risk, may_be, of, alone] = [sums[0], sums[1], sums[2], sums[3]];
        let fits = at_risk <= may_be && may_be <= of && alone <= of;
        party.fit(JOINED, fits, "more records in few than in all releases")?;
        let common = Common {
            at_risk,
            may_be,
            of,
            alone,
        };
        Ok(found_in_common(subject, common, limit))
    }

    /// The share of others' records that are left in classes of fewer than k, in millionths, rounded up.
    fn left(&self, taken: &[u64]) -> u64 {
        let (at_risk, of) = left_below(self.subject, taken);
        let millionths = u128::from(at_risk) * u128::from(Share::MILLION);
        // At most a million.
        millionths.div_ceil(u128::from(of.max(1))) as u64
    }
}
