//! What attackers know beside the release: rows of sites, rows of people who are not in the table, earlier
//! releases. Whoever runs the gate brings these to see what others could learn who have them.

use hedgerow_data::{Role, Table};

use crate::subject::Subject;

/// What is brought beside a release.
#[derive(Default)]
pub struct Known<'a> {
    /// Rows that are in the release, of one site or several.
    pub own: Option<Rows>,
    /// Rows of people of the same population who are not in the release.
    pub holdout: Option<Rows>,
    /// Earlier releases of the same table or of a part of its people.
    pub earlier: Vec<Subject<'a>>,
}

/// Rows of people, column by column: a row of a counted table stands for several people who are alike.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// Codes of the quasi-identifiers, in the order of the schema.
    pub(crate) quasi: Vec<Vec<u32>>,
    /// Codes of the sensitive attributes, in the order of the schema.
    pub(crate) sensitive: Vec<Vec<u32>>,
    /// Which of the tables each row is of.
    pub(crate) site: Vec<u32>,
    /// How many people each row stands for; one each where no table is counted.
    pub(crate) counts: Option<Vec<u64>>,
    /// Number of tables.
    pub(crate) sites: usize,
}

impl Rows {
    /// The rows of these tables of one study, each the rows of one site.
    pub fn of(tables: &[Table]) -> Self {
        let mut rows = Self {
            sites: tables.len(),
            ..Self::default()
        };
        for (site, table) in tables.iter().enumerate() {
            let column = |place: &usize| -> Vec<u32> {
                table
                    .codes(*place)
                    .map_or_else(Vec::new, |codes| codes.iter().collect())
            };
            let of_role = |role, into: &mut Vec<Vec<u32>>| {
                let places = table.schema().with_role(role);
                into.resize(places.len(), Vec::new());
                for (place, all) in places.iter().zip(into) {
                    all.extend(column(place));
                }
            };
            of_role(Role::Quasi, &mut rows.quasi);
            of_role(Role::Sensitive, &mut rows.sensitive);
            rows.site
                .extend(std::iter::repeat_n(site as u32, table.rows()));
        }
        if tables.iter().any(|table| table.counts().is_some()) {
            let counts = tables.iter().flat_map(|table| {
                let counts = table.counts();
                (0..table.rows()).map(move |row| counts.map_or(1, |counts| counts[row]))
            });
            rows.counts = Some(counts.collect());
        }
        rows
    }

    /// Number of people.
    pub fn people(&self) -> u64 {
        let counts = self.counts.as_ref();
        counts.map_or(self.len() as u64, |counts| counts.iter().sum())
    }

    /// How many people a row stands for.
    pub(crate) fn weight(&self, row: usize) -> u64 {
        self.counts.as_ref().map_or(1, |counts| counts[row])
    }

    /// Rows of one site, by the codes of quasi-identifiers and of sensitive attributes in the order of the schema,
    /// and by how many people each row stands for, where that is not one.
    pub fn of_codes(
        quasi: Vec<Vec<u32>>,
        sensitive: Vec<Vec<u32>>,
        counts: Option<Vec<u64>>,
    ) -> Self {
        let rows = quasi.first().map_or(0, Vec::len);
        Self {
            quasi,
            sensitive,
            site: vec![0; rows],
            counts,
            sites: 1,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.site.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.site.is_empty()
    }

    /// Whether these are the people of all records of a release, as far as their number shows.
    pub(crate) fn are_all_of(&self, subject: &Subject<'_>) -> bool {
        self.people() == subject.records()
    }
}
