//! Classes from the view of a site: how many records each has at all sites, and which rows are the
//! site's own.

use super::requirement::Table;

/// A finished class, as all sites know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// For each quasi-identifier, the least and greatest code that the cuts leave; empty where there
    /// were no cuts.
    pub bounds: Vec<(u32, u32)>,
    /// Records of all sites.
    pub size: u64,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A partition of the joint table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The classes, in an order that follows from the cuts alone.
    pub classes: Vec<Class>,
    /// Waves of questions.
    pub waves: u32,
    /// Cuts that were refused.
    pub refused: u64,
    /// Coalitions whose removal was checked.
    pub checks: u64,
    /// Records of the whole table, as the sites opened them.
    pub records: u64,
    /// How often each sensitive value occurs in the whole table, attribute by attribute, where this was
    /// opened.
    pub sensitive: Vec<Vec<u64>>,
    /// This site's rows, class by class.
    pub(super) order: Vec<u32>,
    /// The records of these rows, where rows are counted. A row of which a part is in another class stands
    /// in both.
    pub(super) counts: Option<Vec<u32>>,
}

impl Partition {
    /// This site's rows in a class, ascending.
    pub fn rows(&self, class: &Class) -> &[u32] {
        &self.order[class.start..class.end]
    }

    /// Whether this site's rows are counted.
    pub(super) fn is_counted(&self) -> bool {
        self.counts.is_some()
    }

    /// This site's rows in a class, ascending, and how many of the records of each are in the class.
    pub fn counted_rows(&self, class: &Class) -> impl Iterator<Item = (u32, u64)> + Clone + '_ {
        let place = class.start..class.end;
        let counts = self.counts.as_deref();
        let records = move |at: usize| counts.map_or(1, |counts| u64::from(counts[at]));
        place.map(move |at| (self.order[at], records(at)))
    }

    /// A partition into classes that were found without cuts, with their sizes and this site's rows of
    /// each.
    pub(super) fn of_classes(
        found: Vec<(u64, Vec<u32>)>,
        waves: u32,
        checks: u64,
        table: &Table<'_>,
    ) -> Self {
        let mut order = Vec::new();
        let classes = found.into_iter().map(|(size, rows)| {
            let start = order.len();
            order.extend(rows);
            Class {
                bounds: Vec::new(),
                size,
                start,
                end: order.len(),
            }
        });
        Self {
            classes: classes.collect(),
            waves,
            refused: 0,
            checks,
            records: table.records(),
            sensitive: table.totals(),
            order,
            counts: None,
        }
    }
}
