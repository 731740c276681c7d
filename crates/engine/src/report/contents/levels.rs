//! How the cells of each quasi-identifier are written: as a value, as a node of which level, as a range or a
//! set, or as everything.

use hedgerow_data::{Cell, Domain, Release, Role};

use super::shown;
use crate::words::count;

/// The examples that are named of each way of writing.
const EXAMPLES: usize = 3;

/// A way of writing a cell, from the finest to the coarsest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Value,
    /// A node so many levels above its deepest value, and the levels of the whole taxonomy.
    Level(u16, u16),
    Range,
    Set,
    Everything,
}

/// The cells of a column that are written in one way.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Level {
    pub(in super::super) name: String,
    /// The most frequent of these cells.
    pub(in super::super) examples: Vec<String>,
    pub(in super::super) records: u64,
    /// How many values such a cell stands for, in the mean over the records.
    pub(in super::super) values: f64,
}

/// The quasi-identifiers of a release, and in which ways each is written.
pub(super) fn levels(release: &Release) -> Vec<(String, Vec<Level>)> {
    let quasi = release.schema().with_role(Role::Quasi).into_iter();
    let found = quasi.filter_map(|position| {
        let attribute = &release.schema().attributes()[position];
        let cells = with_records(release, position)?;
        Some((attribute.name.clone(), of_column(&attribute.domain, cells)))
    });
    found.collect()
}

/// The cells of a generalized column, each with its records.
pub(super) fn with_records(release: &Release, position: usize) -> Option<Vec<(&Cell, u64)>> {
    let column = release.generalized(position)?;
    let mut records = vec![0; column.cells.len()];
    for (row, code) in column.codes.iter().enumerate() {
        records[*code as usize] += release.counts().map_or(1, |counts| counts[row]);
    }
    let cells = column.cells.iter().zip(records);
    Some(cells.filter(|(_, records)| *records > 0).collect())
}

fn of_column(domain: &Domain, mut cells: Vec<(&Cell, u64)>) -> Vec<Level> {
    // The same order of cells whatever file was read.
    cells.sort_by(|(one, of_one), (other, of_other)| of_other.cmp(of_one).then(one.cmp(other)));
    let mut ways: Vec<Way> = cells.iter().map(|(cell, _)| way(domain, cell)).collect();
    let all: Vec<(Way, &Cell, u64)> = ways
        .iter()
        .zip(&cells)
        .map(|(way, (cell, records))| (*way, *cell, *records))
        .collect();
    ways.sort_unstable();
    ways.dedup();
    let level = |way: Way| {
        let own = || all.iter().filter(move |(of, ..)| *of == way);
        let records: u64 = own().map(|(.., records)| records).sum();
        let values = own().map(|(_, cell, records)| f64::from(cell.count()) * *records as f64);
        let examples = own().take(EXAMPLES);
        Level {
            name: name(way),
            examples: examples
                .map(|(_, cell, _)| shown(&domain.write_cell(cell)))
                .collect(),
            records,
            values: values.sum::<f64>() / records.max(1) as f64,
        }
    };
    ways.into_iter().map(level).collect()
}

fn way(domain: &Domain, cell: &Cell) -> Way {
    if cell.count() == 1 {
        return Way::Value;
    }
    if cell.count() == domain.size() {
        return Way::Everything;
    }
    let Cell::Interval(least, greatest) = cell else {
        return Way::Set;
    };
    let tree = domain.taxonomy();
    let node = tree.and_then(|tree| Some((tree, tree.node_of_interval(*least, *greatest)?)));
    match node {
        Some((tree, node)) => Way::Level(tree.node_height(node), tree.height()),
        None => Way::Range,
    }
}

fn name(way: Way) -> String {
    match way {
        Way::Value => String::from("the value itself"),
        Way::Level(level, levels) => format!("taxonomy level {level} of {levels}"),
        Way::Range => String::from("a range"),
        Way::Set => String::from("a set"),
        Way::Everything => String::from("everything (*)"),
    }
}

/// What stands below a cell of a sample row: nothing below a value.
pub(super) fn note(domain: &Domain, cell: &Cell) -> String {
    match way(domain, cell) {
        Way::Value => String::new(),
        Way::Level(level, levels) => format!("level {level} of {levels}"),
        Way::Everything => String::from("everything"),
        Way::Range | Way::Set => count(u64::from(cell.count()), "value", "values"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use hedgerow_data::Taxonomy;

    use super::*;

    #[test]
    fn every_way_of_writing_has_its_records() {
        let tree = Taxonomy::from_rows(
            "flu;lung;inner;*\nasthma;lung;inner;*\nulcer;stomach;inner;*\nburn;skin;outer;*\n",
            "t.csv",
        );
        let domain = Domain::category(tree.unwrap(), false);
        let cells = [
            (Cell::Interval(0, 0), 4),
            (Cell::Interval(3, 3), 5),
            (Cell::Interval(0, 1), 7),
            (Cell::Interval(0, 2), 2),
            (Cell::Interval(1, 3), 1),
            (Cell::set(vec![0, 3]).unwrap(), 6),
            (Cell::Interval(0, 3), 9),
        ];
        let all = of_column(&domain, cells.iter().map(|(c, n)| (c, *n)).collect());
        let said: Vec<(&str, u64, String)> = all
            .iter()
            .map(|level| (level.name.as_str(), level.records, level.examples.join(" ")))
            .collect();
        assert_eq!(
            said,
            [
                ("the value itself", 9, String::from("burn flu")),
                ("taxonomy level 1 of 3", 7, String::from("lung")),
                ("taxonomy level 2 of 3", 2, String::from("inner")),
                ("a range", 1, String::from("[asthma..burn]")),
                ("a set", 6, String::from("{flu|burn}")),
                ("everything (*)", 9, String::from("*")),
            ]
        );
        assert_eq!(all[3].values, 3.0);
    }
}
