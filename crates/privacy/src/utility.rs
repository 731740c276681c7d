//! Utility: how much a release still says.
//!
//! LM and EM as TG12 section 2.2 defines them, NCP and GCP, discernibility (JX08 equation 11, over
//! classes), average class size. All are means over cells; each is also given by attribute.

use hedgerow_data::{Cell, Domain, GeneralizedColumn};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::classes::Classes;

/// Losses of a release; fractions from 0 (nothing lost) to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Utility {
    /// LM (TG12 equations 1 and 2).
    pub lm: f64,
    /// EM in bits (TG12 equations 3 to 5), where the original table is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub em: Option<f64>,
    /// NCP of the table (GCP), over the declared domains.
    pub ncp: f64,
    /// NCP over the values present in the original table, where it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ncp_present: Option<f64>,
    /// Sum of squared class sizes.
    pub discernibility: u64,
    /// Discernibility over n squared.
    pub normalized_discernibility: f64,
    /// Records per class.
    pub average_class_size: f64,
    /// Average class size over k.
    pub c_avg: f64,
    /// Relative query error, where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_error: Option<crate::query_error::QueryError>,
    /// Losses of each quasi-identifier, by name in JSON.
    #[serde(serialize_with = "by_name", deserialize_with = "named")]
    pub attributes: Vec<AttributeUtility>,
}

/// Losses of one quasi-identifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttributeUtility {
    /// The attribute's name, the key in JSON.
    #[serde(skip)]
    pub name: String,
    /// LM.
    pub lm: f64,
    /// EM in bits, where the original table is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub em: Option<f64>,
    /// NCP over the declared domain.
    pub ncp: f64,
    /// NCP over the values present, where the original table is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ncp_present: Option<f64>,
}

fn by_name<S: Serializer>(
    attributes: &[AttributeUtility],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        attributes
            .iter()
            .map(|attribute| (&attribute.name, attribute)),
    )
}

/// Losses by attribute name, in the order in which they are written.
fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<AttributeUtility>, D::Error> {
    struct Named;
    impl<'de> Visitor<'de> for Named {
        type Value = Vec<AttributeUtility>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("the losses of each quasi-identifier by its name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all: Vec<AttributeUtility> = Vec::new();
            while let Some((name, losses)) = map.next_entry::<String, AttributeUtility>()? {
                all.push(AttributeUtility { name, ..losses });
            }
            Ok(all)
        }
    }
    deserializer.deserialize_map(Named)
}

/// A quasi-identifier of a release and, where it is known, how often each value occurs in the
/// original table.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// The quasi-identifier's name.
    pub name: &'a str,
    /// The quasi-identifier's domain.
    pub domain: &'a Domain,
    /// The quasi-identifier's cells.
    pub column: &'a GeneralizedColumn,
    /// How many records each row stands for; one each where there are no counts.
    pub counts: Option<&'a [u64]>,
    /// Counts of the original table by value code.
    pub original: Option<&'a [u64]>,
}

/// Utility of a release with these quasi-identifiers and classes; `k` is the demanded one.
pub fn utility(quasi: &[Measured<'_>], classes: &Classes, k: u64) -> Utility {
    let attributes: Vec<AttributeUtility> = quasi.iter().map(attribute).collect();
    let mean = |pick: &dyn Fn(&AttributeUtility) -> Option<f64>| {
        let losses: Option<Vec<f64>> = attributes.iter().map(pick).collect();
        losses.map(|losses| losses.iter().sum::<f64>() / losses.len().max(1) as f64)
    };
    let records = classes.records();
    let discernibility: u64 = classes.sizes().map(|size| size * size).sum();
    let average = records as f64 / classes.count() as f64;
    Utility {
        lm: mean(&|attribute| Some(attribute.lm)).unwrap_or(0.0),
        em: mean(&|attribute| attribute.em),
        ncp: mean(&|attribute| Some(attribute.ncp)).unwrap_or(0.0),
        ncp_present: mean(&|attribute| attribute.ncp_present),
        discernibility,
        normalized_discernibility: discernibility as f64 / (records as f64).powi(2),
        average_class_size: average,
        c_avg: average / k as f64,
        query_error: None,
        attributes,
    }
}

fn attribute(measured: &Measured<'_>) -> AttributeUtility {
    let column = measured.column;
    // Rows per cell, so that each distinct cell is measured once.
    let mut rows = vec![0u64; column.cells.len()];
    for (row, code) in column.codes.iter().enumerate() {
        rows[*code as usize] += measured.counts.map_or(1, |counts| counts[row]);
    }
    let records = rows.iter().sum::<u64>() as f64;
    let mean = |loss: &dyn Fn(&Cell) -> f64| {
        let cells = column
            .cells
            .iter()
            .zip(&rows)
            .filter(|(_, rows)| **rows > 0);
        cells
            .map(|(cell, rows)| loss(cell) * *rows as f64)
            .sum::<f64>()
            / records
    };
    AttributeUtility {
        name: measured.name.to_owned(),
        lm: mean(&|cell| lm(cell, measured.domain)),
        em: measured
            .original
            .map(|counts| mean(&|cell| conditional_entropy(cell, counts))),
        ncp: mean(&|cell| ncp(cell, measured.domain)),
        ncp_present: measured.original.map(|counts| {
            let present = Present::new(measured.domain, counts);
            mean(&|cell| present.ncp(cell))
        }),
    }
}

/// LM of a cell: (|B| - 1) / (|A| - 1).
pub fn lm(cell: &Cell, domain: &Domain) -> f64 {
    match domain.size() {
        0 | 1 => 0.0,
        size => f64::from(cell.count() - 1) / f64::from(size - 1),
    }
}

/// NCP of a cell: width of the interval over that of the domain where values have an order and no
/// taxonomy; otherwise leaves over leaves, and 0 for a single value.
pub fn ncp(cell: &Cell, domain: &Domain) -> f64 {
    if cell.count() == 1 {
        return 0.0;
    }
    match domain {
        Domain::Integer(_) | Domain::Date(_) => {
            let (least, greatest) = cell.bounds();
            f64::from(greatest - least) / f64::from(domain.size() - 1)
        }
        _ => f64::from(cell.count()) / f64::from(domain.size()),
    }
}

/// EM of a cell: the entropy of the attribute given that the value lies in the cell.
pub fn conditional_entropy(cell: &Cell, original: &[u64]) -> f64 {
    let (least, greatest) = cell.bounds();
    let inside = (least..=greatest)
        .filter(|code| cell.contains(*code))
        .map(|code| original[code as usize] as f64)
        .filter(|count| *count > 0.0);
    let (mut total, mut weighted) = (0.0, 0.0);
    for count in inside {
        total += count;
        weighted += count * count.log2();
    }
    if total == 0.0 {
        0.0
    } else {
        (total.log2() - weighted / total).max(0.0)
    }
}

/// NCP over the values present in a table: for numbers, the spread of the values under the cell over the
/// spread of all values in the table; for other values, (present under the cell - 1) / (present - 1).
#[derive(Debug, Clone, Copy)]
pub struct Present<'a> {
    domain: &'a Domain,
    counts: &'a [u64],
    whole: f64,
}

impl<'a> Present<'a> {
    /// The measure for a table in which each value occurs as often as `counts` says.
    pub fn new(domain: &'a Domain, counts: &'a [u64]) -> Self {
        let mut present = Self {
            domain,
            counts,
            whole: 1.0,
        };
        let size = domain.size();
        present.whole = if size == 0 {
            0.0
        } else {
            present.extent(&Cell::Interval(0, size - 1))
        };
        present
    }

    /// Whether values are numbers, whose spread counts.
    pub fn is_spread(&self) -> bool {
        self.domain.size() > 0 && number(self.domain, 0).is_some()
    }

    /// NCP of a cell.
    pub fn ncp(&self, cell: &Cell) -> f64 {
        if self.whole <= 0.0 {
            0.0
        } else {
            self.extent(cell) / self.whole
        }
    }

    /// For each value, where the last present one up to it stands between the first (0) and the last
    /// (1): the NCP of an interval of present values is the difference of its ends' places.
    pub fn places(&self) -> Vec<f64> {
        let mut first = None;
        let (mut seen, mut place) = (0.0, 0.0);
        let place_of = |(code, count): (u32, &u64)| {
            if *count > 0 && self.whole > 0.0 {
                let extent = match number(self.domain, code) {
                    Some(value) => value - *first.get_or_insert(value),
                    None => seen,
                };
                seen += 1.0;
                place = extent / self.whole;
            }
            place
        };
        (0..).zip(self.counts).map(place_of).collect()
    }

    fn extent(&self, cell: &Cell) -> f64 {
        let (least, greatest) = cell.bounds();
        let mut inside = (least..=greatest)
            .filter(|code| cell.contains(*code) && self.counts[*code as usize] > 0);
        let Some(first) = inside.next() else {
            return 0.0;
        };
        match (number(self.domain, first), inside.clone().next_back()) {
            (_, None) => 0.0,
            (Some(low), Some(last)) => number(self.domain, last).unwrap_or(low) - low,
            (None, Some(_)) => inside.count() as f64,
        }
    }
}

/// The value as a number, for domains of numbers: integers, days, and ordered categories that are
/// integers, as in hierarchy files for ages.
fn number(domain: &Domain, code: u32) -> Option<f64> {
    match domain {
        Domain::Integer(integers) => Some(integers.value(code) as f64),
        Domain::Date(_) => Some(f64::from(code)),
        _ if !domain.is_ordered() => None,
        _ => {
            let number = domain.label(code).parse::<i64>();
            number.ok().map(|number| number as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_data::Taxonomy;

    use super::*;

    #[test]
    fn losses_by_hand() {
        let age = Domain::integer(0, 100, 1).unwrap();
        assert_eq!(lm(&Cell::Interval(20, 39), &age), 0.19);
        assert_eq!(ncp(&Cell::Interval(20, 39), &age), 0.19);
        assert_eq!(ncp(&Cell::set(vec![0, 100]).unwrap(), &age), 1.0);
        assert_eq!(lm(&Cell::set(vec![0, 100]).unwrap(), &age), 0.01);
        let tree = Taxonomy::from_rows("a;X;*\nb;X;*\nc;*\nd;*\n", "t").unwrap();
        let category = Domain::category(tree, false);
        assert_eq!(ncp(&Cell::Interval(0, 1), &category), 0.5);
        assert_eq!(lm(&Cell::Interval(0, 1), &category), 1.0 / 3.0);
        assert_eq!(ncp(&Cell::Interval(2, 2), &category), 0.0);
        let one = Domain::integer(5, 5, 1).unwrap();
        assert_eq!(lm(&Cell::Interval(0, 0), &one), 0.0);
        assert_eq!(ncp(&Cell::Interval(0, 0), &one), 0.0);
    }

    #[test]
    fn entropy_of_a_cell() {
        assert_eq!(
            conditional_entropy(&Cell::Interval(0, 3), &[1, 1, 1, 1]),
            2.0
        );
        assert_eq!(
            conditional_entropy(&Cell::set(vec![0, 3]).unwrap(), &[5, 9, 9, 5]),
            1.0
        );
        assert_eq!(conditional_entropy(&Cell::Interval(1, 1), &[0, 7]), 0.0);
    }

    #[test]
    fn present_values_only() {
        // Ages 1..=100 in the hierarchy, 17..=90 in the table: (39-30)/73.
        let labels: Vec<String> = (1..=100).map(|age| age.to_string()).collect();
        let domain = Domain::category(Taxonomy::flat(&labels, "age").unwrap(), true);
        let counts: Vec<u64> = (1..=100)
            .map(|age| u64::from((17..=90).contains(&age)))
            .collect();
        let present = Present::new(&domain, &counts);
        assert_eq!(present.ncp(&Cell::Interval(29, 38)), 9.0 / 73.0);
        assert_eq!(present.ncp(&Cell::Interval(0, 99)), 1.0);
        assert_eq!(present.ncp(&Cell::Interval(0, 16)), 0.0);
        let places = present.places();
        assert_eq!(places[38] - places[29], 9.0 / 73.0);
        assert_eq!((places[0], places[99]), (0.0, 1.0));
    }

    #[test]
    fn table_measures() {
        let domain = Domain::integer(0, 10, 1).unwrap();
        let column = GeneralizedColumn {
            cells: vec![Cell::Interval(0, 10), Cell::Interval(3, 3)],
            codes: vec![0, 0, 1, 1],
        };
        let classes = Classes::group(&[&column.codes], 4);
        let measured = Measured {
            name: "age",
            domain: &domain,
            column: &column,
            counts: None,
            original: None,
        };
        let utility = utility(&[measured], &classes, 2);
        assert_eq!((utility.lm, utility.ncp), (0.5, 0.5));
        assert_eq!(utility.discernibility, 8);
        assert_eq!(utility.normalized_discernibility, 0.5);
        assert_eq!((utility.average_class_size, utility.c_avg), (2.0, 1.0));
        assert_eq!(utility.em, None);
    }
}
