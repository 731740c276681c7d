//! Taxonomies proposed for the values of a column: numbers in groups of ever greater width, days in
//! months and years, codes by their prefixes, categories by how frequent they are. Values that stand
//! aside, such as missing ones, hang right below the root.

use jiff::civil::Date;

use super::draft::Draft;
use super::make::prefix_paths;
use super::{ROOT, Taxonomy, TaxonomyError};
use crate::decimal::Decimal;
use crate::profile::Value;

/// Years above this many are grouped by decades.
const MANY_YEARS: i16 = 20;

/// Below these shares of the records, one in so many, categories are put together.
const RARE: [u64; 3] = [20, 100, 1000];

impl Taxonomy {
    /// A tree of paths, each from just below the root down to a value; `name` is what errors call it.
    pub fn from_paths<S: AsRef<str>>(
        root: &str,
        paths: &[Vec<S>],
        name: &str,
    ) -> Result<Self, TaxonomyError> {
        let mut draft = Draft::new(name);
        draft.set_root(root, 1)?;
        for (index, path) in paths.iter().enumerate() {
            draft.add_path(path.iter().map(AsRef::as_ref), index as u64 + 1)?;
        }
        draft.lay_out()
    }

    /// The labels from just below the root down to each value, in leaf order.
    pub fn paths(&self) -> Vec<Vec<String>> {
        let path = |leaf| {
            let mut labels = Vec::new();
            let mut node = leaf;
            while let Some(above) = self.parent(node) {
                labels.push(self.label(node).to_owned());
                node = above;
            }
            labels.reverse();
            labels
        };
        (0..self.leaf_count())
            .map(|code| path(self.leaf(code)))
            .collect()
    }
}

/// Codes by their prefixes, a character a level.
pub fn by_prefix(values: &[&str], aside: &[&str]) -> Result<Taxonomy, TaxonomyError> {
    tree(prefix_paths(values, 1), aside)
}

/// Numbers, given by size, in groups of these widths.
pub fn by_number(values: &[(&str, Decimal)], aside: &[&str]) -> Result<Taxonomy, TaxonomyError> {
    let digits = values.iter().map(|(_, number)| number.digits()).max();
    let digits = digits.unwrap_or(0);
    let units: Vec<i128> = values
        .iter()
        .map(|(_, number)| number.scaled(digits))
        .collect();
    let span = match (units.first(), units.last()) {
        (Some(first), Some(last)) => last - first,
        _ => 0,
    };
    let widths = widths(span);
    let paths = values.iter().zip(&units).map(|((text, _), units)| {
        let groups = widths.iter().rev().map(|width| {
            let start = units.div_euclid(*width) * width;
            let [start, end] = [start, start + width].map(|end| text_of(end, digits));
            format!("{start} to under {end}")
        });
        let mut path: Vec<String> = groups.collect();
        path.push((*text).to_owned());
        path
    });
    tree(paths.collect(), aside)
}

/// Units of a digit behind the point as text, without zeros at the end of the fraction.
fn text_of(units: i128, digits: u8) -> String {
    let unit = 10i128.pow(u32::from(digits));
    let (sign, size) = if units < 0 {
        ("-", -units)
    } else {
        ("", units)
    };
    let fraction = format!("{:0width$}", size % unit, width = usize::from(digits));
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{}", size / unit),
        fraction => format!("{sign}{}.{fraction}", size / unit),
    }
}

/// Days, given in their order, in months and years, and in decades where they span many years; times
/// of day also in days.
pub fn by_day(
    values: &[(&str, Date)],
    has_time: bool,
    aside: &[&str],
) -> Result<Taxonomy, TaxonomyError> {
    let years = match (values.first(), values.last()) {
        (Some((_, first)), Some((_, last))) => last.year() - first.year(),
        _ => 0,
    };
    let paths = values.iter().map(|(text, day)| {
        let mut path = Vec::new();
        if years > MANY_YEARS {
            path.push(format!("{}s", day.year().div_euclid(10) * 10));
        }
        path.push(format!("year {:04}", day.year()));
        path.push(format!("month {:04}-{:02}", day.year(), day.month()));
        if has_time {
            path.push(format!("day {day}"));
        }
        path.push((*text).to_owned());
        path
    });
    tree(paths.collect(), aside)
}

/// Categories by how frequent they are: the rarer a value, the deeper it stands. `None` where no two
/// values are rare enough to be put together.
pub fn by_frequency(values: &[Value], aside: &[&str]) -> Result<Option<Taxonomy>, TaxonomyError> {
    let records: u64 = values.iter().map(|value| value.records).sum();
    let is_rare = |value: &Value, one_in: u64| value.records * one_in < records;
    let mut bands: Vec<u64> = Vec::new();
    let mut above = values.len();
    for one_in in RARE {
        let below = values.iter().filter(|value| is_rare(value, one_in)).count();
        // A group of all that are above it says nothing, and one of a single value hides nothing.
        if below > 1 && below < above {
            bands.push(one_in);
            above = below;
        }
    }
    if bands.is_empty() {
        return Ok(None);
    }
    let mut sorted: Vec<&Value> = values.iter().collect();
    sorted.sort_by(|one, other| {
        let by_records = other.records.cmp(&one.records);
        by_records.then_with(|| one.text.cmp(&other.text))
    });
    let paths = sorted.iter().map(|value| {
        let around = bands.iter().filter(|one_in| is_rare(value, **one_in));
        let around = around.map(|one_in| match one_in {
            20 => String::from("under 5 % each"),
            100 => String::from("under 1 % each"),
            _ => String::from("under 0.1 % each"),
        });
        let mut path: Vec<String> = around.collect();
        path.push(value.text.clone());
        path
    });
    tree(paths.collect(), aside).map(Some)
}

/// Widths that divide a span of so many units into groups that people like, each twice as wide as the
/// width before it. None for a span that is narrow anyway.
pub fn widths(span: i128) -> Vec<i128> {
    let least = span / 20;
    let mut unit = 1i128;
    while unit * 10 <= least {
        unit *= 10;
    }
    let nice = [1, 2, 5, 10].map(|few| few * unit);
    // People count in fives rather than in twos where that leaves groups enough.
    let is_enough = |width: i128| width != 2 * unit || span < 30 * unit;
    let first = nice
        .into_iter()
        .find(|width| *width >= least.max(2) && is_enough(*width));
    let doubled = std::iter::successors(first, |width| Some(width * 2));
    doubled.take_while(|width| width * 4 <= span * 3).collect()
}

fn tree(mut paths: Vec<Vec<String>>, aside: &[&str]) -> Result<Taxonomy, TaxonomyError> {
    paths.extend(aside.iter().map(|text| vec![(*text).to_owned()]));
    Taxonomy::from_paths(ROOT, &paths, "proposal")
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    fn rows(tree: &Taxonomy) -> Vec<String> {
        tree.to_rows().lines().map(str::to_owned).collect()
    }

    #[test]
    fn numbers_in_groups() {
        let texts = ["-0.5", "2", "9.75", "40"];
        let values: Vec<(&str, Decimal)> = texts
            .iter()
            .map(|text| (*text, Decimal::parse(text).unwrap()))
            .collect();
        assert_eq!(
            rows(&by_number(&values, &["NA"]).unwrap()),
            [
                "-0.5;-5 to under 0;-10 to under 0;-20 to under 0;*",
                "2;0 to under 5;0 to under 10;0 to under 20;*",
                "9.75;5 to under 10;0 to under 10;0 to under 20;*",
                "40;40 to under 45;40 to under 50;40 to under 60;*",
                "NA;*"
            ]
        );
    }

    #[test]
    fn days_in_months_and_years() {
        let values = [
            ("01.02.2023", date(2023, 2, 1)),
            ("31.01.2024", date(2024, 1, 31)),
        ];
        assert_eq!(
            rows(&by_day(&values, false, &[]).unwrap()),
            [
                "01.02.2023;month 2023-02;year 2023;*",
                "31.01.2024;month 2024-01;year 2024;*"
            ]
        );
        let values = [("a", date(1950, 2, 1)), ("b", date(2024, 1, 31))];
        assert_eq!(
            rows(&by_day(&values, true, &["?"]).unwrap()),
            [
                "a;day 1950-02-01;month 1950-02;year 1950;1950s;*",
                "b;day 2024-01-31;month 2024-01;year 2024;2020s;*",
                "?;*"
            ]
        );
    }

    #[test]
    fn rare_categories_together() {
        let value = |text: &str, records| Value {
            text: text.into(),
            records,
        };
        let mut values = vec![
            value("a", 900),
            value("b", 90),
            value("c", 6),
            value("d", 4),
        ];
        assert_eq!(
            rows(&by_frequency(&values, &["?"]).unwrap().unwrap()),
            [
                "a;*",
                "b;*",
                "c;under 5 % each;*",
                "d;under 5 % each;*",
                "?;*"
            ]
        );
        values.truncate(2);
        assert_eq!(by_frequency(&values, &[]).unwrap(), None);
    }

    #[test]
    fn widths_that_people_like() {
        assert_eq!(widths(74), [5, 10, 20, 40]);
        assert_eq!(widths(15), [2, 4, 8]);
        assert_eq!(widths(49), [5, 10, 20]);
        assert_eq!(widths(100_000), [5_000, 10_000, 20_000, 40_000]);
        assert_eq!(widths(2), Vec::<i128>::new());
        assert_eq!(widths(-1), Vec::<i128>::new());
    }

    proptest! {
        #[test]
        fn trees_come_back_from_their_paths_and_files(paths in prop::collection::vec(prop::collection::vec("[a-d]", 1..4), 1..9)) {
            if let Ok(tree) = Taxonomy::from_paths(ROOT, &paths, "t") {
                let again: Vec<Vec<String>> = tree.paths();
                prop_assert_eq!(&Taxonomy::from_paths(ROOT, &again, "t").unwrap(), &tree);
                prop_assert_eq!(&Taxonomy::from_rows(&tree.to_rows(), "t").unwrap(), &tree);
            }
        }
    }
}
