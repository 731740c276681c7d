//! A class broken down by sites, and what a coalition leaves of it (MPRIV section II): the data of
//! [m-privacy](crate::m_privacy). A coalition that owns the whole class leaves nobody to protect and
//! breaks nothing.

use crate::counts::Counts;
use crate::model::{ClassView, Model, TableView};

/// One class, broken down by the sites that have records in it.
#[derive(Debug, Clone)]
pub struct Members {
    /// Records of each site.
    sizes: Vec<u64>,
    attributes: Vec<Attribute>,
}

#[derive(Debug, Clone)]
struct Attribute {
    /// The values that occur, ascending.
    values: Vec<u32>,
    /// Site by site, the count of each value.
    counts: Vec<u64>,
}

impl Members {
    /// A class's records: the site of each, and its value of each sensitive attribute.
    pub fn new<'a>(sites: &[u32], attributes: impl IntoIterator<Item = &'a [u32]>) -> Self {
        Self::weighed(sites, attributes, |_| 1)
    }

    /// The same of counted rows, each of which stands for so many records of one site.
    ///
    /// # Panics
    /// If there is not one count for each row: that is a mistake in the calling code.
    pub fn counted<'a>(
        sites: &[u32],
        attributes: impl IntoIterator<Item = &'a [u32]>,
        counts: &[u64],
    ) -> Self {
        assert_eq!(sites.len(), counts.len());
        Self::weighed(sites, attributes, |row| counts[row])
    }

    fn weighed<'a>(
        sites: &[u32],
        attributes: impl IntoIterator<Item = &'a [u32]>,
        records: impl Fn(usize) -> u64,
    ) -> Self {
        let mut present = sites.to_vec();
        present.sort_unstable();
        present.dedup();
        // Sites are taken from `present`, so each is found there.
        let place = |site: u32| present.binary_search(&site).unwrap_or(0);
        let mut sizes = vec![0; present.len()];
        for (row, site) in sites.iter().enumerate() {
            sizes[place(*site)] += records(row);
        }
        let attributes = attributes.into_iter().map(|codes| {
            let mut values = codes.to_vec();
            values.sort_unstable();
            values.dedup();
            let mut counts = vec![0; present.len() * values.len()];
            for (row, (site, code)) in sites.iter().zip(codes).enumerate() {
                let column = values.binary_search(code).unwrap_or(0);
                counts[place(*site) * values.len() + column] += records(row);
            }
            Attribute { values, counts }
        });
        Self {
            attributes: attributes.collect(),
            sizes,
        }
    }

    /// Sites with records in the class.
    pub fn sites(&self) -> usize {
        self.sizes.len()
    }

    /// Records of each site.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Number of sensitive attributes.
    pub fn attributes(&self) -> usize {
        self.attributes.len()
    }

    /// The values of one sensitive attribute that occur in one site's records, ascending.
    pub fn values(&self, attribute: usize, site: usize) -> impl Iterator<Item = u32> {
        let places = self.places(attribute, site);
        places.map(move |place| self.attributes[attribute].values[place])
    }

    /// As [`Self::values`], each value by its place among all values that occur in the class.
    pub(crate) fn places(&self, attribute: usize, site: usize) -> impl Iterator<Item = usize> {
        let counts = self.attributes[attribute].site(site).iter().enumerate();
        counts
            .filter(|(_, count)| **count > 0)
            .map(|(place, _)| place)
    }

    /// Whether the records of these sites alone satisfy the models. Without records there is
    /// nobody to protect.
    pub fn hold(
        &self,
        sites: impl Iterator<Item = usize>,
        models: &[Model],
        table: &TableView<'_>,
    ) -> bool {
        let mut stays = vec![false; self.sites()];
        sites.for_each(|site| stays[site] = true);
        let gone = (0..self.sites()).filter(|site| !stays[*site]);
        !Remainder::of(self, models, table).is_broken_without(gone)
    }
}

impl Attribute {
    fn site(&self, site: usize) -> &[u64] {
        &self.counts[site * self.values.len()..(site + 1) * self.values.len()]
    }
}

/// What is left of a class while one coalition after the other is taken out. From one coalition to the
/// next, only the sites in which the two differ are counted again.
pub(crate) struct Remainder<'a> {
    members: &'a Members,
    models: &'a [Model],
    table: &'a TableView<'a>,
    /// The coalition, its sites ascending.
    gone: Vec<usize>,
    size: u64,
    /// The places of the class's sites, and how many records are left of each.
    places: Vec<u32>,
    sites: Vec<u64>,
    left: Vec<Vec<u64>>,
}

impl<'a> Remainder<'a> {
    pub(crate) fn of(members: &'a Members, models: &'a [Model], table: &'a TableView<'a>) -> Self {
        let attributes = members.attributes.iter();
        Self {
            members,
            models,
            table,
            gone: (0..members.sites()).collect(),
            size: 0,
            places: (0..members.sites() as u32).collect(),
            sites: vec![0; members.sites()],
            left: attributes
                .map(|attribute| vec![0; attribute.values.len()])
                .collect(),
        }
    }

    /// Whether the class breaks one of the models when the records of these sites are taken out.
    pub(crate) fn is_broken_without(&mut self, sites: impl IntoIterator<Item = usize>) -> bool {
        let mut gone: Vec<usize> = sites.into_iter().collect();
        gone.sort_unstable();
        let before = std::mem::take(&mut self.gone);
        let is_in = |site: &usize, coalition: &[usize]| coalition.binary_search(site).is_ok();
        for site in before.iter().filter(|site| !is_in(site, &gone)) {
            self.put_back(*site);
        }
        for site in gone.iter().filter(|site| !is_in(site, &before)) {
            self.take(*site);
        }
        self.gone = gone;
        self.is_broken()
    }

    fn is_broken(&self) -> bool {
        let attributes = self.members.attributes.iter().zip(&self.left);
        let counts: Vec<Counts<'_>> = attributes
            .map(|(attribute, left)| Counts::new(&attribute.values, left))
            .collect();
        let view = ClassView {
            size: self.size,
            sensitive: &counts,
            sites: Some(Counts::new(&self.places, &self.sites)),
        };
        !self
            .models
            .iter()
            .all(|model| model.holds(&view, self.table))
    }

    fn take(&mut self, site: usize) {
        self.size -= self.members.sizes[site];
        self.sites[site] = 0;
        for (attribute, left) in self.members.attributes.iter().zip(&mut self.left) {
            left.iter_mut()
                .zip(attribute.site(site))
                .for_each(|(left, count)| *left -= count);
        }
    }

    fn put_back(&mut self, site: usize) {
        self.size += self.members.sizes[site];
        self.sites[site] = self.members.sizes[site];
        for (attribute, left) in self.members.attributes.iter().zip(&mut self.left) {
            left.iter_mut()
                .zip(attribute.site(site))
                .for_each(|(left, count)| *left += count);
        }
    }
}

/// The largest coalition size up to which all coalitions of a class with so many sites are worth
/// trying when nobody demanded a certain m.
pub fn affordable(sites: usize) -> u64 {
    const MOST: f64 = 20_000.0;
    let mut coalitions = 1.0;
    let mut tried = 1.0;
    for size in 1..sites {
        coalitions *= (sites - size + 1) as f64 / size as f64;
        tried += coalitions;
        if tried > MOST {
            return size as u64 - 1;
        }
    }
    sites.saturating_sub(1) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::closeness::{Distance, EarthMover};
    use crate::counts::Reference;
    use crate::model::{SiteSupport, Spread};
    use crate::ratio::Ratio;

    fn spread(spread: Spread) -> Model {
        Model::SiteSpread {
            spread,
            attributes: None,
        }
    }

    fn models() -> Vec<Vec<Model>> {
        let entropy = Model::EntropyDiversity { l: Ratio::whole(2) };
        let close = Model::Closeness {
            t: Ratio::new(3, 10),
            distance: None,
        };
        let diverse = Model::DistinctDiversity { l: 2 };
        let sites = Model::SiteDiversity {
            l: 2,
            support: SiteSupport::Class,
            attributes: None,
        };
        vec![
            vec![Model::KAnonymity { k: 3 }],
            vec![diverse.clone()],
            vec![Model::KAnonymity { k: 2 }, diverse],
            vec![entropy],
            vec![close],
            vec![Model::FrequencyDiversity {
                l: Ratio::new(3, 2),
            }],
            vec![Model::RecursiveDiversity {
                c: Ratio::whole(2),
                l: 2,
            }],
            vec![Model::Likeness {
                beta: Ratio::whole(1),
                enhanced: true,
            }],
            vec![Model::DeltaDisclosure { delta: 1.0 }],
            vec![sites],
            vec![spread(Spread::Entropy {
                l: Ratio::new(3, 2),
            })],
            vec![spread(Spread::Recursive {
                c: Ratio::new(3, 2),
                l: 3,
            })],
        ]
    }

    #[test]
    fn the_smallest_breaking_coalition_of_a_non_monotone_model() {
        // Sites A: x x x, B: y, C: y y. Two equally frequent values are fine, and so is what A and
        // B leave... but without A only y is left: one value.
        let members = Members::new(&[0, 0, 0, 1, 2, 2], [&[0, 0, 0, 1, 1, 1][..]]);
        let references = [Reference::new(vec![3, 3])];
        let table = TableView {
            references: &references,
            movers: vec![EarthMover::new(&references[0], Distance::Equal, None)],
        };
        let model = [Model::EntropyDiversity { l: Ratio::whole(2) }];
        assert_eq!(members.least_breaking(&model, &table, 2), Some(1));
    }

    #[test]
    fn monotone_models_need_not_try_every_coalition() {
        // 60 sites with one record each of 30 values: eight of them are 2.5 thousand million
        // coalitions, and not one can bring two values below two.
        let sites: Vec<u32> = (0..60).collect();
        let codes: Vec<u32> = (0..60).map(|record| record % 30).collect();
        let members = Members::new(&sites, [codes.as_slice()]);
        let references = [Reference::new(vec![2; 30])];
        let table = TableView {
            references: &references,
            movers: vec![EarthMover::new(&references[0], Distance::Equal, None)],
        };
        let models = [
            Model::KAnonymity { k: 2 },
            Model::DistinctDiversity { l: 2 },
        ];
        assert_eq!(members.least_breaking(&models, &table, 8), None);
    }

    #[test]
    fn trying_everything_has_a_limit() {
        assert_eq!(affordable(1), 0);
        assert_eq!(affordable(10), 9);
        assert_eq!(affordable(100), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Counted rows are the records that they stand for.
        #[test]
        fn counted_rows_are_their_records(rows in proptest::collection::vec((0..5u32, 0..3u32, 1..40u64), 0..12)) {
            let sites: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let codes: Vec<u32> = rows.iter().map(|row| row.1).collect();
            let counts: Vec<u64> = rows.iter().map(|row| row.2).collect();
            let singly = |of: &[u32]| -> Vec<u32> {
                let each = of.iter().zip(&counts);
                each.flat_map(|(code, count)| vec![*code; *count as usize]).collect()
            };
            let counted = Members::counted(&sites, [&codes[..]], &counts);
            let single = Members::new(&singly(&sites), [&singly(&codes)[..]]);
            prop_assert_eq!(format!("{counted:?}"), format!("{single:?}"));
        }

        /// Against brute force over all subsets of sites, whatever the model.
        #[test]
        fn agrees_with_brute_force(records in proptest::collection::vec((0..5u32, 0..3u32), 1..16), rest in proptest::collection::vec(0..5u64, 3)) {
            let sites: Vec<u32> = records.iter().map(|record| record.0 * 7).collect();
            let codes: Vec<u32> = records.iter().map(|record| record.1).collect();
            let mut totals = rest.clone();
            for code in &codes { totals[*code as usize] += 1; }
            let references = [Reference::new(totals)];
            let table = TableView {
                references: &references,
                movers: vec![EarthMover::new(&references[0], Distance::Equal, None)],
            };
            let members = Members::new(&sites, [codes.as_slice()]);
            for models in models() {
                let mut expected = None;
                for coalition in 0u32..32 {
                    let size = coalition.count_ones() as u64;
                    let left: Vec<&(u32, u32)> = records.iter().filter(|record| coalition >> record.0 & 1 == 0).collect();
                    let mut counts = vec![0u64; 3];
                    for record in &left { counts[record.1 as usize] += 1; }
                    let mut of_sites = vec![0u64; 5];
                    for record in &left { of_sites[record.0 as usize] += 1; }
                    let view = ClassView {
                        size: left.len() as u64,
                        sensitive: &[Counts::new(&[0, 1, 2], &counts)],
                        sites: Some(Counts::new(&[0, 1, 2, 3, 4], &of_sites)),
                    };
                    if !models.iter().all(|model| model.holds(&view, &table)) && expected.is_none_or(|best| size < best) {
                        expected = Some(size);
                    }
                }
                prop_assert_eq!(members.least_breaking(&models, &table, 5), expected, "{:?}", models);
                // A limit hides larger coalitions, and only those.
                for limit in 0..5 {
                    prop_assert_eq!(members.least_breaking(&models, &table, limit), expected.filter(|size| *size <= limit));
                }
            }
        }
    }
}
