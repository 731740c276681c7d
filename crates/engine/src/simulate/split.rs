//! Which site holds which row: dealt out by a rule, or named by a column of the table.

use hedgerow_data::{Codes, Domain, Role, Schema, Table, TextTable, nearest, quoted_list};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;

use super::refused::SplitRefused;
use super::{counts, uneven};
use crate::words::count;

/// How rows are dealt to sites.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Deal {
    /// Rows go to the sites in turn.
    #[default]
    RoundRobin,
    /// Rows go to the sites at random, by the seed.
    Random,
    /// Rows that are equal in these columns lie at one site, so that a site is a region.
    Columns(Vec<String>),
    /// Rows are dealt in the order of the quasi-identifiers, so that sites hold different people.
    Sorted,
    /// Rows go to the sites at random, by the seed, and the sites are unlike in size: the sizes are those
    /// of an exponential distribution (MPRIV section V.A).
    Exponential,
    /// Every value of a column that occurs has an equal share of the sites, and within it every band of
    /// another column, whose values are whole numbers; rows of one band go to its sites in turn (JX09
    /// section 5.2, with city and age).
    Bands {
        /// The column whose values share the sites.
        column: String,
        /// The column of the bands.
        within: String,
        /// The numbers at which the second band and those that follow begin, ascending.
        at: Vec<i64>,
    },
}

impl Deal {
    /// The site of each row of a table that is dealt to so many sites, as
    /// [`simulate`](crate::simulate()) deals it.
    ///
    /// # Errors
    /// The rule speaks of columns that the table does not have, or cannot be dealt by.
    pub fn owners(&self, table: &Table, sites: usize, seed: u64) -> Result<Vec<u32>, SplitRefused> {
        if sites == 0 {
            return Err(SplitRefused::NoSites);
        }
        let dealer = Dealer::new(self, sites, seed, table.schema())?;
        Ok(dealer.owners(table).owners)
    }
}

/// Who owns the rows of a table.
#[derive(Debug, Clone)]
pub(crate) struct Owners {
    /// The site of each row.
    pub(crate) owners: Vec<u32>,
    /// What each site is called.
    pub(crate) names: Vec<String>,
}

impl Owners {
    /// How many sites there are.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// The rows of each site, ascending.
    pub(crate) fn rows(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.count()];
        for (row, owner) in self.owners.iter().enumerate() {
            rows[*owner as usize].push(row);
        }
        rows
    }

    /// How many sites have one of these rows.
    pub(crate) fn among(&self, rows: &[(u32, u64)]) -> u64 {
        let owners = rows.iter().map(|(row, _)| self.owners[*row as usize]);
        let mut owners: Vec<u32> = owners.collect();
        owners.sort_unstable();
        owners.dedup();
        owners.len() as u64
    }

    /// The owners of tables of so many rows, one after the other.
    pub(crate) fn of_tables(rows: &[usize]) -> Self {
        let mut owners = Vec::with_capacity(rows.iter().sum());
        for (site, rows) in rows.iter().enumerate() {
            owners.extend(std::iter::repeat_n(site as u32, *rows));
        }
        Self {
            owners,
            names: numbered(rows.len()),
        }
    }

    /// The sites that a column of the table names, in order of appearance.
    pub(crate) fn of_column(text: &TextTable, column: &str) -> Result<Self, SplitRefused> {
        let (table, column_name) = (|| text.file.clone(), || column.to_owned());
        let Some(found) = text.column(column) else {
            let names = text.names.iter().map(String::as_str);
            let hint = match nearest(column, names, 1).first() {
                Some(best) => format!("did you mean `{best}`?"),
                None => format!("the file has {}", quoted_list(&text.names)),
            };
            return Err(SplitRefused::NoColumn {
                table: table(),
                column: column_name(),
                hint,
            });
        };
        if found.dictionary.is_empty() {
            return Err(SplitRefused::NoRecords {
                table: table(),
                column: column_name(),
            });
        }
        let nameless = found
            .dictionary
            .iter()
            .position(|name| name.trim().is_empty());
        if let Some(entry) = nameless {
            return Err(SplitRefused::Nameless {
                table: table(),
                line: text.line(found.first_place[entry]),
                column: column_name(),
            });
        }
        Ok(Self {
            owners: found.codes.clone(),
            names: found
                .dictionary
                .iter()
                .map(|name| (**name).into())
                .collect(),
        })
    }
}

/// Sites that nobody named.
fn numbered(sites: usize) -> Vec<String> {
    (0..sites).map(|site| site.to_string()).collect()
}

/// A rule that deals the rows of a table to so many sites.
pub(crate) struct Dealer<'a> {
    deal: &'a Deal,
    /// The columns of [`Deal::Columns`] and [`Deal::Bands`], by position.
    by: Vec<usize>,
    /// The band of each code, for [`Deal::Bands`].
    bands: Vec<usize>,
    sites: usize,
    seed: u64,
    schema: &'a Schema,
}

impl<'a> Dealer<'a> {
    /// Sees that the rule can deal rows of this schema.
    pub(crate) fn new(
        deal: &'a Deal,
        sites: usize,
        seed: u64,
        schema: &'a Schema,
    ) -> Result<Self, SplitRefused> {
        let by = match deal {
            Deal::Columns(by) if by.is_empty() => return Err(SplitRefused::ByNothing),
            Deal::Columns(by) => by
                .iter()
                .map(|name| ordered(schema, name))
                .collect::<Result<_, _>>()?,
            Deal::Bands { column, within, .. } => {
                vec![ordered(schema, column)?, ordered(schema, within)?]
            }
            Deal::RoundRobin | Deal::Random | Deal::Sorted | Deal::Exponential => Vec::new(),
        };
        let bands = match (deal, &by[..]) {
            (Deal::Bands { within, at, .. }, [_, position]) => {
                if at.is_empty() || !at.is_sorted() {
                    return Err(SplitRefused::AtNothing);
                }
                let domain = &schema.attributes()[*position].domain;
                uneven::bands(domain, at).map_err(|value| SplitRefused::NoNumber {
                    column: within.clone(),
                    value,
                })?
            }
            _ => Vec::new(),
        };
        Ok(Self {
            deal,
            by,
            bands,
            sites,
            seed,
            schema,
        })
    }

    /// Deals the rows, each as one record.
    pub(crate) fn owners(&self, table: &Table) -> Owners {
        let mut owners = vec![0; table.rows()];
        self.deal(table, None, |row, site, _| owners[row] = site);
        Owners {
            owners,
            names: numbered(self.sites),
        }
    }

    /// Deals the records that rows stand for: the rows of each site, ascending, with how many of the records
    /// of each are the site's. A row takes room at each site that has some of its records, and no more room
    /// the more these are.
    ///
    /// Sites have the records that they have where each is dealt by itself in the order of the rows; at
    /// random they have as many, drawn by the same law and not by the same draws ([`counts`]).
    pub(crate) fn counted(&self, table: &Table, counts: &[u64]) -> Vec<Vec<(usize, u64)>> {
        let mut rows = vec![Vec::new(); self.sites];
        self.deal(table, Some(counts), |row, site, records| {
            rows[site as usize].push((row, records));
        });
        rows.iter_mut().for_each(|rows| rows.sort_unstable());
        rows
    }

    /// Gives each row's records to sites: to each site at most once of a row.
    fn deal(&self, table: &Table, counts: Option<&[u64]>, mut give: impl FnMut(usize, u32, u64)) {
        let rows = table.rows();
        let records = |row: usize| counts.map_or(1, |counts| counts[row]);
        let all: u64 = counts.map_or(rows as u64, |counts| counts.iter().sum());
        match self.deal {
            Deal::RoundRobin => {
                let mut before = 0;
                for row in 0..rows {
                    for (site, share) in uneven::in_turn(before, self.sites, records(row)) {
                        give(row, site as u32, share);
                    }
                    before += records(row);
                }
            }
            Deal::Random | Deal::Exponential => {
                let sizes = match self.deal {
                    Deal::Random => self.even(all),
                    _ => uneven::exponential(all as usize, self.sites),
                };
                match counts {
                    None => self.in_stretches(&self.shuffled(rows), &sizes, (&records, &mut give)),
                    Some(counts) => counts::at_random(counts, &sizes, self.seed, give),
                }
            }
            Deal::Sorted => {
                let order = sorted(table, &self.schema.with_role(Role::Quasi));
                self.in_stretches(&order, &self.even(all), (&records, &mut give));
            }
            Deal::Columns(_) => {
                let order = sorted(table, &self.by);
                let columns = coded(table, &self.by);
                let is_alike = |a: &usize, b: &usize| {
                    columns.iter().all(|codes| codes.get(*a) == codes.get(*b))
                };
                let groups: Vec<&[usize]> = order.chunk_by(is_alike).collect();
                let sizes = groups.iter().map(|group| {
                    let records = group.iter().map(|row| records(*row));
                    records.sum::<u64>() as usize
                });
                let sizes: Vec<usize> = sizes.collect();
                for (group, site) in groups.iter().zip(stretches(&sizes, self.sites)) {
                    group.iter().for_each(|row| give(*row, site, records(*row)));
                }
            }
            Deal::Bands { at, .. } => {
                // Both columns have codes: that was seen to.
                if let [first, second] = coded(table, &self.by)[..] {
                    let band = |code: u32| self.bands[code as usize];
                    let bands = (at.len() + 1, band);
                    uneven::nested((first, second), self.sites, bands, records, give);
                }
            }
        }
    }

    /// A note for people about sites that were dealt no record: so many sites have some.
    pub(crate) fn note(&self, held: usize) -> Option<String> {
        let empty = self.sites - held;
        let held = held as u64;
        let why = match self.deal {
            Deal::Columns(_) => {
                let names = self.by.iter().map(|at| &self.schema.attributes()[*at].name);
                format!(
                    "rows equal in {} stay at one site, and there are {}",
                    quoted_list(names),
                    count(held, "kind of them", "kinds of them")
                )
            }
            Deal::Bands { column, within, .. } => {
                format!("no row is in the bands of `{column}` and `{within}` that they stand for")
            }
            _ => format!("the table has {}", count(held, "record", "records")),
        };
        (empty > 0).then(|| format!("{empty} of {} sites hold no records: {why}", self.sites))
    }

    /// The rows in an order that the seed gives.
    fn shuffled(&self, rows: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rows).collect();
        order.shuffle(&mut rand_chacha::ChaCha12Rng::seed_from_u64(self.seed));
        order
    }

    /// How many of so many records each site has, where all have about as many.
    fn even(&self, records: u64) -> Vec<usize> {
        let sites = self.sites as u64;
        let upto = |site: u64| (site * records).div_ceil(sites);
        let sizes = (0..sites).map(|site| upto(site + 1) - upto(site));
        sizes.map(|size| size as usize).collect()
    }

    /// Gives stretches of an order of rows, of so many records each, to one site after the other.
    fn in_stretches(
        &self,
        order: &[usize],
        sizes: &[usize],
        (records, give): (&impl Fn(usize) -> u64, &mut impl FnMut(usize, u32, u64)),
    ) {
        let mut rows = order.iter();
        let (mut row, mut left) = (0, 0);
        for (site, size) in (0..).zip(sizes) {
            let mut room = *size as u64;
            while room > 0 {
                if left == 0 {
                    // Sites have no more records than the rows stand for.
                    let Some(next) = rows.next() else { return };
                    (row, left) = (*next, records(*next));
                }
                let share = left.min(room);
                give(row, site, share);
                left -= share;
                room -= share;
            }
        }
    }
}

/// The order in which a simulated site holds the people that it shares with other sites.
pub(crate) fn own_order(rows: usize, seed: u64, site: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    let mut generator = rand_chacha::ChaCha12Rng::seed_from_u64(seed);
    generator.set_stream(site as u64);
    order.shuffle(&mut generator);
    order
}

/// The position of a column whose values have codes to order rows by.
fn ordered(schema: &Schema, name: &str) -> Result<usize, SplitRefused> {
    let (attributes, column) = (schema.attributes(), || name.to_owned());
    let Some(position) = schema.position(name) else {
        let names = attributes.iter().map(|attribute| attribute.name.as_str());
        let hint = match nearest(name, names.clone(), 1).first() {
            Some(best) => format!("did you mean `{best}`?"),
            None => format!("the study has {}", quoted_list(names)),
        };
        return Err(SplitRefused::ByUnknown {
            column: column(),
            hint,
        });
    };
    if attributes[position].domain == Domain::Text {
        return Err(SplitRefused::ByText { column: column() });
    }
    Ok(position)
}

fn coded<'t>(table: &'t Table, columns: &[usize]) -> Vec<&'t Codes> {
    let columns = columns.iter();
    columns
        .filter_map(|position| table.codes(*position))
        .collect()
}

/// The rows in the order of these columns' codes.
fn sorted(table: &Table, columns: &[usize]) -> Vec<usize> {
    let columns = coded(table, columns);
    let mut order: Vec<usize> = (0..table.rows()).collect();
    order.sort_by(|a, b| {
        let codes = |row: usize| columns.iter().map(move |codes| codes.get(row));
        codes(*a).cmp(codes(*b))
    });
    order
}

/// The site of each group, in order: each site takes at least one group, goes on until the next group
/// would bring it further from its share of the rest, and leaves a group for each site that follows.
/// Where there are fewer groups than sites, the last sites have no group.
fn stretches(groups: &[usize], sites: usize) -> Vec<u32> {
    let mut owners = Vec::with_capacity(groups.len());
    let mut left: usize = groups.iter().sum();
    let mut next = 0;
    for site in 0..sites {
        let after = sites - site - 1;
        let share = left as f64 / (after + 1) as f64;
        let mut held = 0;
        while next < groups.len() {
            let group = groups[next];
            let is_nearer = (share - (held + group) as f64).abs() <= (share - held as f64).abs();
            let leaves_enough = groups.len() - next > after;
            if held > 0 && !(after == 0 || (is_nearer && leaves_enough)) {
                break;
            }
            held += group;
            owners.push(site as u32);
            next += 1;
        }
        left -= held;
    }
    owners
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hedgerow_data::Column;
    use hedgerow_data::Study;
    use hedgerow_data::document::Document;
    use proptest::prelude::*;

    use super::*;

    fn schema() -> Arc<Schema> {
        let text = "[study]\nname = \"dealt\"\npartition = \"horizontal\"\n\
            [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n\
            [[attribute]]\nname = \"city\"\nrole = \"quasi\"\nvalues = [\"a\", \"b\", \"c\"]\n\
            [[attribute]]\nname = \"ill\"\nrole = \"sensitive\"\nvalues = [\"u\", \"v\"]\n";
        let document = Document::parse(text.to_owned(), std::path::Path::new("s.toml")).unwrap();
        Study::read(document, std::path::Path::new("."))
            .unwrap()
            .schema
    }

    fn counted(rows: &[(u32, u32, u32, u64)]) -> Table {
        let schema = schema();
        type Drawn = (u32, u32, u32, u64);
        let column = |size: u32, pick: &dyn Fn(&Drawn) -> u32| {
            let mut codes = Codes::for_size(size);
            rows.iter().for_each(|row| codes.push(pick(row)));
            Column::Coded(codes)
        };
        let columns = vec![
            column(10, &|row| row.0),
            column(3, &|row| row.1),
            column(2, &|row| row.2),
        ];
        let counts = rows.iter().map(|row| row.3).collect();
        Table::counted(schema, columns, counts).unwrap()
    }

    fn deals() -> Vec<Deal> {
        vec![
            Deal::RoundRobin,
            Deal::Sorted,
            Deal::Columns(vec!["city".into()]),
            Deal::Columns(vec!["age".into(), "ill".into()]),
            Deal::Bands {
                column: "city".into(),
                within: "age".into(),
                at: vec![3, 7],
            },
        ]
    }

    proptest! {
        /// Counted rows are dealt as their records are one by one, in the order of the rows; at random, sites
        /// have as many records as at random they would.
        #[test]
        fn counted_rows_are_dealt_as_their_records(
            rows in proptest::collection::vec((0..10u32, 0..3u32, 0..2u32, 1..30u64), 0..25),
            sites in 1..12usize,
            seed in 0..50u64,
        ) {
            let table = counted(&rows);
            let singly = table.clone().expanded();
            let counts: Vec<u64> = rows.iter().map(|row| row.3).collect();
            let row_of = (0..).zip(&counts).flat_map(|(row, count)| vec![row; *count as usize]);
            let row_of: Vec<usize> = row_of.collect();
            let schema = schema();
            for deal in deals() {
                let dealer = Dealer::new(&deal, sites, seed, &schema).unwrap();
                let mut expected = vec![vec![0u64; rows.len()]; sites];
                for (record, site) in dealer.owners(&singly).owners.iter().enumerate() {
                    expected[*site as usize][row_of[record]] += 1;
                }
                let mut found = vec![vec![0u64; rows.len()]; sites];
                for (site, of_site) in dealer.counted(&table, &counts).iter().enumerate() {
                    prop_assert!(of_site.windows(2).all(|pair| pair[0].0 < pair[1].0));
                    of_site.iter().for_each(|(row, records)| found[site][*row] = *records);
                }
                prop_assert_eq!(found, expected, "{:?}", deal);
            }
            for deal in [Deal::Random, Deal::Exponential] {
                let dealer = Dealer::new(&deal, sites, seed, &schema).unwrap();
                let mut expected = vec![0u64; sites];
                dealer.owners(&singly).owners.iter().for_each(|site| expected[*site as usize] += 1);
                let mut of_rows = vec![0u64; rows.len()];
                let dealt = dealer.counted(&table, &counts);
                for (of_site, expected) in dealt.iter().zip(expected) {
                    prop_assert_eq!(of_site.iter().map(|(_, records)| records).sum::<u64>(), expected);
                    of_site.iter().for_each(|(row, records)| of_rows[*row] += records);
                }
                prop_assert_eq!(&of_rows, &counts);
                prop_assert_eq!(dealer.counted(&table, &counts), dealt);
            }
        }
    }

    /// Two rows of two thousand million records each, dealt in no time.
    #[test]
    fn billions_are_dealt_in_rooms_for_rows() {
        let table = counted(&[(1, 0, 0, 2_000_000_000), (7, 2, 1, 2_000_000_001)]);
        let counts = [2_000_000_000, 2_000_000_001];
        let schema = schema();
        for deal in deals().into_iter().chain([Deal::Random, Deal::Exponential]) {
            let dealt = Dealer::new(&deal, 5, 3, &schema)
                .unwrap()
                .counted(&table, &counts);
            assert!(dealt.iter().all(|of_site| of_site.len() <= 2), "{deal:?}");
            let all = dealt.iter().flatten().map(|(_, records)| records);
            assert_eq!(all.sum::<u64>(), 4_000_000_001, "{deal:?}");
        }
    }

    /// Every list of up to six groups of 1, 2 or 7 rows, for every number of sites up to eight.
    #[test]
    fn stretches_keep_groups_whole_and_leave_no_site_empty() {
        let sizes = [1, 2, 7];
        for length in 0..=6u32 {
            for choice in 0..3usize.pow(length) {
                let groups: Vec<usize> = (0..length)
                    .map(|place| sizes[choice / 3usize.pow(place) % 3])
                    .collect();
                for sites in 1..=8 {
                    let owners = stretches(&groups, sites);
                    assert_eq!(owners.len(), groups.len(), "{groups:?} {sites}");
                    assert!(owners.is_sorted(), "{groups:?} {sites}");
                    let mut held = owners.clone();
                    held.dedup();
                    // In order and without gaps, as many as can have a group.
                    let expected: Vec<u32> = (0..groups.len().min(sites) as u32).collect();
                    assert_eq!(held, expected, "{groups:?} {sites}");
                }
            }
        }
    }

    #[test]
    fn stretches_are_about_equal() {
        assert_eq!(stretches(&[1; 9], 3), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(stretches(&[4, 1, 1, 4, 5], 3), [0, 0, 1, 1, 2]);
        assert_eq!(stretches(&[90, 3, 3, 4], 3), [0, 1, 1, 2]);
        // No site is further from an even share than the largest group is large.
        let groups: Vec<usize> = (0..200).map(|place| place * 37 % 11 + 1).collect();
        let owners = stretches(&groups, 7);
        let share = groups.iter().sum::<usize>() as f64 / 7.0;
        for site in 0..7 {
            let of_site = groups
                .iter()
                .zip(&owners)
                .filter(|(_, owner)| **owner == site);
            let held: usize = of_site.map(|(group, _)| group).sum();
            assert!(
                (held as f64 - share).abs() <= 11.0,
                "{site}: {held} of {share}"
            );
        }
    }
}
