//! How often rows are written: each once, or each as often as a count says. A chunk of records begins in the middle
//! of a row where the row stands for more records than are left in the chunk before.

/// Which rows are written, and how often each.
#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    /// So many, each once.
    Once(usize),
    /// Each as often as this says.
    Times(&'a [u64]),
}

/// Where a chunk begins: a row, and how often the row is written before.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub(super) row: usize,
    before: u64,
}

impl Rows<'_> {
    /// Where chunks of so many records begin.
    pub(super) fn starts(self, chunk: usize) -> Vec<Start> {
        match self {
            Self::Once(rows) => {
                let rows = (0..rows).step_by(chunk);
                rows.map(|row| Start { row, before: 0 }).collect()
            }
            Self::Times(counts) => {
                let mut starts = Vec::new();
                // Records until the next chunk begins.
                let mut until = 0;
                for (row, count) in counts.iter().enumerate() {
                    while until < *count {
                        starts.push(Start { row, before: until });
                        until += chunk as u64;
                    }
                    until -= *count;
                }
                starts
            }
        }
    }
}

impl Start {
    /// The row of each record of the chunk, which has at most so many.
    pub(super) fn records(
        self,
        counts: &[u64],
        chunk: usize,
    ) -> impl Iterator<Item = usize> + Clone + '_ {
        // No row is needed more often than the chunk has records.
        let times = move |row: usize, count: u64| {
            std::iter::repeat_n(row, count.min(chunk as u64) as usize)
        };
        let rest = counts.iter().enumerate().skip(self.row + 1);
        let rest = rest.flat_map(move |(row, count)| times(row, *count));
        let first = times(self.row, counts[self.row] - self.before);
        first.chain(rest).take(chunk)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Chunks behind each other are all rows, each as often as its count says, and all but the last are full.
        #[test]
        fn chunks_are_all_records_in_order(counts in proptest::collection::vec(0u64..40, 0..20), chunk in 1usize..12) {
            let rows = counts.iter().enumerate();
            let all: Vec<usize> = rows.flat_map(|(row, count)| std::iter::repeat_n(row, *count as usize)).collect();
            let starts = Rows::Times(&counts).starts(chunk);
            let chunks: Vec<Vec<usize>> = starts.iter().map(|start| start.records(&counts, chunk).collect()).collect();
            let expected: Vec<Vec<usize>> = all.chunks(chunk).map(<[usize]>::to_vec).collect();
            prop_assert_eq!(chunks, expected);
        }
    }
}
