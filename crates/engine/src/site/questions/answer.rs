//! An answer as a node gives it to its front ends: JSON in which cells are codes, and fractions the bits of
//! their numbers, so that nothing is rounded.

use hedgerow_data::Cell;
use hedgerow_protocols::query::{Answered, Found, Group, Measured, Truth};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Written {
    Totals(Vec<(Vec<WrittenCell>, Vec<WrittenTotal>)>),
    Rows(Vec<(Vec<WrittenCell>, WrittenTruth)>),
}

/// The ends of an interval, or the codes of a set.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenCell {
    Interval { from: u32, to: u32 },
    Set(Vec<u32>),
}

/// Low, high, and the bits of estimate and error.
type WrittenTotal = (i64, i64, u64, u64);
/// Certain, possible, and the bits of the share.
type WrittenTruth = (bool, bool, u64);

/// Writes an answer.
pub(super) fn encode(answered: &Answered) -> Vec<u8> {
    let cells = |cells: &[Cell]| cells.iter().map(cell).collect();
    let written = match answered {
        Answered::Totals(groups) => {
            let group =
                |group: &Group| (cells(&group.key), group.totals.iter().map(total).collect());
            Written::Totals(groups.iter().map(group).collect())
        }
        Answered::Rows(rows) => {
            let row = |row: &Found| {
                let Truth {
                    certain,
                    possible,
                    share,
                } = row.truth;
                (cells(&row.cells), (certain, possible, share.to_bits()))
            };
            Written::Rows(rows.iter().map(row).collect())
        }
    };
    // Lists of numbers can always be written.
    serde_json::to_vec(&written).unwrap_or_default()
}

/// Reads an answer; `None` where the bytes are none.
pub(super) fn decode(bytes: &[u8]) -> Option<Answered> {
    let cells = |cells: Vec<WrittenCell>| cells.into_iter().map(read_cell).collect();
    Some(match serde_json::from_slice(bytes).ok()? {
        Written::Totals(groups) => {
            let group = |(key, totals): (Vec<WrittenCell>, Vec<WrittenTotal>)| Group {
                key: cells(key),
                totals: totals.into_iter().map(read_total).collect(),
            };
            Answered::Totals(groups.into_iter().map(group).collect())
        }
        Written::Rows(rows) => {
            let row = |(written, truth): (Vec<WrittenCell>, WrittenTruth)| Found {
                cells: cells(written),
                truth: Truth {
                    certain: truth.0,
                    possible: truth.1,
                    share: f64::from_bits(truth.2),
                },
            };
            Answered::Rows(rows.into_iter().map(row).collect())
        }
    })
}

fn cell(cell: &Cell) -> WrittenCell {
    match cell {
        Cell::Interval(from, to) => WrittenCell::Interval {
            from: *from,
            to: *to,
        },
        Cell::Set(codes) => WrittenCell::Set(codes.to_vec()),
    }
}

fn read_cell(cell: WrittenCell) -> Cell {
    match cell {
        WrittenCell::Interval { from, to } => Cell::Interval(from, to),
        WrittenCell::Set(codes) => Cell::Set(codes.into()),
    }
}

fn total(total: &Measured) -> WrittenTotal {
    let Measured {
        low,
        estimate,
        high,
        error,
    } = *total;
    (low, high, estimate.to_bits(), error.to_bits())
}

fn read_total((low, high, estimate, error): WrittenTotal) -> Measured {
    Measured {
        low,
        estimate: f64::from_bits(estimate),
        high,
        error: f64::from_bits(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_they_are_written() {
        let totals = Answered::Totals(vec![Group {
            key: vec![Cell::Interval(3, 9), Cell::Set([1, 4].into())],
            totals: vec![Measured {
                low: i64::MIN,
                estimate: 0.1 + 0.2,
                high: 7,
                error: 1e-300,
            }],
        }]);
        let rows = Answered::Rows(vec![Found {
            cells: vec![Cell::Interval(0, 0)],
            truth: Truth {
                certain: false,
                possible: true,
                share: 1.0 / 3.0,
            },
        }]);
        for answered in [totals, rows, Answered::Totals(Vec::new())] {
            assert_eq!(decode(&encode(&answered)), Some(answered));
        }
        assert_eq!(decode(b"{\"totals\":[[[],[1]]]}"), None);
    }
}
