//! How many colluding sites the classes of a run withstand, counted by one who has everybody's rows:
//! independent of how the run decided it.

use hedgerow_privacy::closeness::EarthMover;
use hedgerow_privacy::collusion::Members;
use hedgerow_privacy::{Reference, TableView};
use hedgerow_protocols::horizontal::SensitiveCodes;

use crate::joint::{Columns, Ready};
use crate::split::Sites;
use crate::summary::OfSites;

impl Ready {
    /// What the classes of a run achieve that speaks of sites. A class is its rows; `columns` are of
    /// all rows.
    pub(crate) fn of_sites<'c>(
        &self,
        columns: &Columns,
        sites: &Sites,
        classes: impl Iterator<Item = &'c [u32]> + Clone,
    ) -> OfSites {
        // Who has records in a class supports what is written for it; others may too, and where that
        // was seen to, there are as many as were asked for.
        let supporting = self.support().map_or(0, |support| support.sites);
        let in_classes = classes.clone().map(|rows| sites.among(rows)).min();
        OfSites {
            diversity: in_classes.map(|least| least.max(supporting)),
            withstood: self.withstands(columns, &sites.owners, classes),
        }
    }

    /// The largest m, up to the one demanded, that every class withstands; `None` where none is
    /// demanded.
    fn withstands<'c>(
        &self,
        columns: &Columns,
        owners: &[u32],
        classes: impl Iterator<Item = &'c [u32]>,
    ) -> Option<u64> {
        let demanded = self.requirement.m?;
        let product = self.product(columns);
        let sensitive = self.sensitive(columns, product.as_ref());
        let reference = |column: &SensitiveCodes<'_>| {
            let mut counts = vec![0; column.size as usize];
            column
                .codes
                .iter()
                .for_each(|code| counts[code as usize] += 1);
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
        let of_class = |rows: &[u32]| {
            let sites: Vec<u32> = rows.iter().map(|row| owners[*row as usize]).collect();
            let values: Vec<Vec<u32>> = sensitive
                .iter()
                .map(|column| {
                    rows.iter()
                        .map(|row| column.codes.get(*row as usize))
                        .collect()
                })
                .collect();
            let members = Members::new(&sites, values.iter().map(Vec::as_slice));
            let least = members.least_breaking(&self.requirement.models, &view, demanded);
            least.map_or(demanded, |breaking| breaking.saturating_sub(1))
        };
        Some(classes.map(of_class).min().unwrap_or(demanded))
    }
}
