//! Achieved values of the models that speak of sites, counted by a party with everybody's rows: how many
//! colluding sites its classes withstand, how many sites are behind each, and how many support what is
//! written (TG12 section 6.2). Independent of how the run decided it.

use std::collections::{BTreeMap, HashSet};

use hedgerow_data::{Cell, Codes, Release, ReleaseColumn, Role};
use hedgerow_privacy::closeness::EarthMover;
use hedgerow_privacy::collusion::Members;
use hedgerow_privacy::{Counts, Model, Reference, Spread, TableView, measure};
use hedgerow_protocols::horizontal::SensitiveCodes;
use hedgerow_protocols::horizontal::mondrian::Class;

use super::split::Owners;
use crate::release::achieved::{OfSites, Spread as Achieved};
use crate::study::ready::{Columns, Ready};

/// Rows of a class, with the records that each stands for.
type Weighed = Vec<(u32, u64)>;

/// The classes of a run, with everybody's rows.
pub(crate) struct Parts<'a> {
    /// The rows of each class, and how many of the records of each are in it.
    pub(crate) classes: Vec<Weighed>,
    /// The same classes as the sites know them.
    pub(crate) cut: &'a [Class],
}

impl Ready {
    /// What the classes of a run achieve of the models that speak of sites. A class is its rows;
    /// `columns` are of all rows.
    pub(crate) fn of_sites(
        &self,
        columns: &Columns,
        sites: &Owners,
        release: &Release,
        parts: &Parts<'_>,
    ) -> OfSites {
        let groups = self.groups_of(parts);
        let diversity = match self.support() {
            Some(support) => {
                let quasi = self.study.schema.with_role(Role::Quasi);
                let attributes = support.attributes.iter().map(|place| quasi[*place]);
                let written = attributes.filter_map(|position| {
                    let ReleaseColumn::Generalized(column) = &release.columns()[position] else {
                        return None;
                    };
                    Some(Written {
                        cells: &column.cells,
                        of_row: &column.codes,
                        raw: columns[position].as_ref()?,
                    })
                });
                fewest_supporting(&written.collect::<Vec<_>>(), &sites.owners, sites.count())
            }
            // A site with records in a class stands behind the class.
            None => groups.iter().map(|rows| sites.among(rows)).min(),
        };
        let classes = parts.classes.iter().map(Vec::as_slice);
        OfSites {
            diversity,
            spread: self.spread(sites, &groups),
            withstood: self.withstands(columns, &sites.owners, classes),
        }
    }

    /// The groups of rows that the requirement asks sites of: the classes, or, where cuts decide how the
    /// attributes are written that may betray a site, the classes that these cuts leave alike.
    fn groups_of(&self, parts: &Parts<'_>) -> Vec<Weighed> {
        // Clusters have no bounds.
        let is_cut = parts.cut.len() == parts.classes.len()
            && parts.cut.iter().all(|class| !class.bounds.is_empty());
        let Some(betraying) = self.plan().betraying.filter(|_| is_cut) else {
            return parts.classes.clone();
        };
        let mut groups: BTreeMap<Vec<(u32, u32)>, Weighed> = BTreeMap::new();
        for (class, rows) in parts.cut.iter().zip(&parts.classes) {
            let bounds = class.bounds.iter().zip(&betraying);
            let bounds = bounds.filter(|(_, betrays)| **betrays);
            let bounds = bounds.map(|(bounds, _)| *bounds).collect();
            groups.entry(bounds).or_default().extend(rows);
        }
        groups.into_values().collect()
    }

    /// How evenly the worst group is spread over sites, where that is demanded.
    fn spread(&self, sites: &Owners, groups: &[Weighed]) -> Option<Achieved> {
        let mut models = self.requirement.models.iter();
        let demanded = models.find_map(|model| match model {
            Model::SiteSpread { spread, .. } => Some(*spread),
            _ => None,
        })?;
        let places: Vec<u32> = (0..sites.count() as u32).collect();
        let counts = groups.iter().map(|rows| {
            let mut counts = vec![0u64; places.len()];
            for (row, records) in rows {
                counts[sites.owners[*row as usize] as usize] += records;
            }
            counts
        });
        let counts: Vec<Vec<u64>> = counts.collect();
        let counts = || counts.iter().map(|counts| Counts::new(&places, counts));
        let achieved = match demanded {
            Spread::Entropy { .. } => counts().map(measure::entropy_diversity).reduce(f64::min)?,
            Spread::Recursive { l, .. } => {
                let bounds = counts().map(|counts| measure::recursive_bound(counts, l));
                bounds.max()?.to_f64()
            }
        };
        Some(Achieved {
            is_entropy: matches!(demanded, Spread::Entropy { .. }),
            achieved,
            holds: counts().all(|counts| demanded.holds(counts)),
        })
    }

    /// The largest m, up to the one demanded, that every class withstands; `None` where the requirement
    /// demands no m.
    fn withstands<'c>(
        &self,
        columns: &Columns,
        owners: &[u32],
        classes: impl Iterator<Item = &'c [(u32, u64)]>,
    ) -> Option<u64> {
        let demanded = self.requirement.m?;
        let product = self.product(columns);
        let sensitive = self.sensitive(columns, product.as_ref());
        let reference = |column: &SensitiveCodes<'_>| {
            let mut counts = vec![0; column.size as usize];
            for (row, code) in column.codes.iter().enumerate() {
                counts[code as usize] += columns.counts.as_ref().map_or(1, |counts| counts[row]);
            }
            Reference::new(counts)
        };
        let references: Vec<Reference> = sensitive.iter().map(reference).collect();
        let plan = self.plan();
        let movers = references.iter().zip(&plan.demands.sensitive);
        let view = TableView {
            references: &references,
            movers: movers
                .map(|(table, declared)| EarthMover::new(table, declared.distance, declared.tree))
                .collect(),
        };
        let of_class = |rows: &[(u32, u64)]| {
            let (rows, records): (Vec<u32>, Vec<u64>) = rows.iter().copied().unzip();
            let places = || rows.iter().map(|row| *row as usize);
            let sites: Vec<u32> = places().map(|row| owners[row]).collect();
            let values: Vec<Vec<u32>> = sensitive
                .iter()
                .map(|column| places().map(|row| column.codes.get(row)).collect())
                .collect();
            let members = Members::counted(&sites, values.iter().map(Vec::as_slice), &records);
            let least = members.least_breaking(&self.requirement.models, &view, demanded);
            least.map_or(demanded, |breaking| breaking.saturating_sub(1))
        };
        Some(classes.map(of_class).min().unwrap_or(demanded))
    }
}

/// An attribute that may betray a site: how the release writes it, and its value in every record.
struct Written<'a> {
    cells: &'a [Cell],
    /// The cell of each row of the release.
    of_row: &'a [u32],
    /// The value of each record, whose owner is known.
    raw: &'a Codes,
}

impl Written<'_> {
    /// For each cell, which sites have a record under it.
    fn supporting(&self, owners: &[u32], sites: usize) -> Vec<Vec<bool>> {
        let mut has: Vec<HashSet<u32>> = vec![HashSet::new(); sites];
        for (code, owner) in self.raw.iter().zip(owners) {
            has[*owner as usize].insert(code);
        }
        let of_cell = |cell: &Cell| {
            let has_any = |codes: &HashSet<u32>| codes.iter().any(|code| cell.contains(*code));
            has.iter().map(has_any).collect()
        };
        self.cells.iter().map(of_cell).collect()
    }
}

/// The fewest sites that support what is written in a row: all its cells in these attributes together,
/// hence each cell alone too. `None` where the row has no such cell.
fn fewest_supporting(written: &[Written<'_>], owners: &[u32], sites: usize) -> Option<u64> {
    let supporting = written.iter().map(|one| one.supporting(owners, sites));
    let supporting: Vec<Vec<Vec<bool>>> = supporting.collect();
    let rows = written.iter().map(|one| one.of_row.len()).min()?;
    let row = |row: usize| -> Vec<u32> { written.iter().map(|one| one.of_row[row]).collect() };
    let combinations: HashSet<Vec<u32>> = (0..rows).map(row).collect();
    let count = |cells: &Vec<u32>| {
        let supports = |site: &usize| {
            let mut pairs = cells.iter().zip(&supporting);
            pairs.all(|(cell, of_cell)| of_cell[*cell as usize][*site])
        };
        (0..sites).filter(supports).count() as u64
    };
    combinations.iter().map(count).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(values: &[u32]) -> Codes {
        let mut codes = Codes::for_size(8);
        values.iter().for_each(|value| codes.push(*value));
        codes
    }

    /// After TG12 Table 1: towns and incomes that two hospitals have each, and together one has.
    #[test]
    fn a_combination_that_one_site_supports_is_found() {
        let owners = [0, 0, 1, 1, 2, 2];
        // Site 0 has both, in different records; site 1 the town, site 2 the income.
        let towns = codes(&[4, 0, 4, 1, 2, 3]);
        let incomes = codes(&[0, 6, 1, 2, 6, 3]);
        let cells = [Cell::Interval(4, 4), Cell::Interval(0, 7)];
        let incomes_cells = [Cell::Interval(6, 6), Cell::Interval(0, 7)];
        let fewest = |towns_written: &[u32], incomes_written: &[u32]| {
            let written = [
                Written {
                    cells: &cells,
                    of_row: towns_written,
                    raw: &towns,
                },
                Written {
                    cells: &incomes_cells,
                    of_row: incomes_written,
                    raw: &incomes,
                },
            ];
            fewest_supporting(&written, &owners, 3)
        };
        assert_eq!(fewest(&[1, 1], &[1, 1]), Some(3));
        assert_eq!(fewest(&[0, 1], &[1, 0]), Some(2));
        assert_eq!(fewest(&[0, 1], &[0, 0]), Some(1));
        // A value that nobody has.
        let nobody = Written {
            cells: &[Cell::Interval(5, 5)],
            of_row: &[0],
            raw: &towns,
        };
        assert_eq!(fewest_supporting(&[nobody], &owners, 3), Some(0));
        assert_eq!(fewest_supporting(&[], &owners, 3), None);
    }
}
