//! Which site holds which row: dealt out by a rule, or named by a column of the table.

use hedgerow_data::{Codes, Domain, Role, Schema, Table, TextTable, nearest, quoted_list};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;

use super::refused::SplitRefused;
use super::uneven;
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

    /// Deals the rows.
    pub(crate) fn owners(&self, table: &Table) -> Owners {
        let rows = table.rows();
        let owners = match self.deal {
            Deal::RoundRobin => (0..rows).map(|row| (row % self.sites) as u32).collect(),
            Deal::Random => self.even(&self.shuffled(rows)),
            Deal::Sorted => self.even(&sorted(table, &self.schema.with_role(Role::Quasi))),
            Deal::Columns(_) => self.regions(table),
            Deal::Exponential => self.exponential(rows),
            Deal::Bands { at, .. } => match coded(table, &self.by)[..] {
                [first, second] => {
                    let band = |code: u32| self.bands[code as usize];
                    uneven::nested((first, second), self.sites, at.len() + 1, band)
                }
                // Both columns have codes: that was seen to.
                _ => Vec::new(),
            },
        };
        Owners {
            owners,
            names: numbered(self.sites),
        }
    }

    /// A note for people about sites that were dealt no record.
    pub(crate) fn note(&self, owners: &Owners) -> Option<String> {
        let empty = owners.rows().iter().filter(|rows| rows.is_empty()).count();
        let held = (self.sites - empty) as u64;
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

    /// Rows at random, as many for each site as an exponential distribution has.
    fn exponential(&self, rows: usize) -> Vec<u32> {
        let mut owners = vec![0; rows];
        let mut order = self.shuffled(rows).into_iter();
        for (site, size) in (0..).zip(uneven::exponential(rows, self.sites)) {
            for row in order.by_ref().take(size) {
                owners[row] = site;
            }
        }
        owners
    }

    /// Equal stretches of an order, one for each site.
    fn even(&self, order: &[usize]) -> Vec<u32> {
        let mut owners = vec![0; order.len()];
        for (place, row) in order.iter().enumerate() {
            owners[*row] = (place * self.sites / order.len()) as u32;
        }
        owners
    }

    /// About equal stretches that cut only where the columns differ.
    fn regions(&self, table: &Table) -> Vec<u32> {
        let order = sorted(table, &self.by);
        let columns = coded(table, &self.by);
        let is_alike =
            |a: &usize, b: &usize| columns.iter().all(|codes| codes.get(*a) == codes.get(*b));
        let groups: Vec<&[usize]> = order.chunk_by(is_alike).collect();
        let sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        let mut owners = vec![0; table.rows()];
        for (group, site) in groups.iter().zip(stretches(&sizes, self.sites)) {
            group.iter().for_each(|row| owners[*row] = site);
        }
        owners
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
    use super::*;

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
