//! Classes: the records that share one generalized quasi-identifier, and their counts.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use rayon::prelude::*;

use crate::counts::Counts;

/// A partition of rows into classes, numbered in order of first appearance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// Class of each row.
    of_row: Vec<u32>,
    /// Rows in class order: those of class c stand at `offsets[c]..offsets[c + 1]`, ascending.
    rows: Vec<u32>,
    offsets: Vec<u32>,
    /// Where rows are counted: the records of each row, and of each class.
    counted: Option<(Vec<u64>, Vec<u64>)>,
}

/// For each class, how often each value of an attribute occurs in it.
#[derive(Debug, Clone)]
pub struct Histograms {
    offsets: Vec<u32>,
    values: Vec<u32>,
    counts: Vec<u64>,
}

impl Classes {
    /// Groups rows by equal codes in all columns. Tables hold fewer than 2^32 rows.
    pub fn group(columns: &[&[u32]], rows: usize) -> Self {
        let mut of_row = vec![0u32; rows];
        let mut count = usize::from(rows > 0);
        for column in columns {
            // Refine: a class splits by the codes that stand in it.
            let mut known: HashMap<u64, u32, BuildHasherDefault<Mix>> = HashMap::default();
            known.reserve(count);
            for (class, code) in of_row.iter_mut().zip(*column) {
                let key = u64::from(*class) << 32 | u64::from(*code);
                let next = known.len() as u32;
                *class = *known.entry(key).or_insert(next);
            }
            count = known.len();
        }
        Self::from_assignment(of_row, count)
    }

    /// Classes by number, each number below `count`.
    pub fn from_assignment(of_row: Vec<u32>, count: usize) -> Self {
        let mut offsets = vec![0u32; count + 1];
        for class in &of_row {
            offsets[*class as usize + 1] += 1;
        }
        for class in 0..count {
            offsets[class + 1] += offsets[class];
        }
        let mut next = offsets.clone();
        let mut rows = vec![0; of_row.len()];
        for (row, class) in of_row.iter().enumerate() {
            let place = &mut next[*class as usize];
            rows[*place as usize] = row as u32;
            *place += 1;
        }
        Self {
            of_row,
            rows,
            offsets,
            counted: None,
        }
    }

    /// The same classes, whose rows stand for so many records each; for one each where there are no counts.
    #[must_use]
    pub fn counted(mut self, counts: Option<&[u64]>) -> Self {
        self.counted = counts.map(|counts| {
            let records = |class: usize| {
                let rows = self.rows(class).iter();
                rows.map(|row| counts[*row as usize]).sum()
            };
            let sizes = (0..self.count()).map(records).collect();
            (counts.to_vec(), sizes)
        });
        self
    }

    /// Number of classes.
    pub fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The class of a row.
    pub fn of_row(&self, row: usize) -> usize {
        self.of_row[row] as usize
    }

    /// The rows of a class, ascending.
    pub fn rows(&self, class: usize) -> &[u32] {
        &self.rows[self.offsets[class] as usize..self.offsets[class + 1] as usize]
    }

    /// Records in a class.
    pub fn size(&self, class: usize) -> u64 {
        match &self.counted {
            Some((_, sizes)) => sizes[class],
            None => self.rows(class).len() as u64,
        }
    }

    /// Records in each class.
    pub fn sizes(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.count()).map(|class| self.size(class))
    }

    /// Records in all classes.
    pub fn records(&self) -> u64 {
        match &self.counted {
            Some((_, sizes)) => sizes.iter().sum(),
            None => self.rows.len() as u64,
        }
    }
}

impl Histograms {
    /// Counts the codes of a column in each class.
    pub fn new(classes: &Classes, codes: &[u32]) -> Self {
        if let Some((counts, _)) = &classes.counted {
            return Self::of_counted(classes, codes, counts);
        }
        let mut sorted: Vec<u32> = classes
            .rows
            .iter()
            .map(|row| codes[*row as usize])
            .collect();
        // Each class's stretch is sorted on its own, so that equal values stand together.
        let mut stretches: Vec<&mut [u32]> = Vec::with_capacity(classes.count());
        let mut rest = sorted.as_mut_slice();
        for class in 0..classes.count() {
            let (stretch, after) = rest.split_at_mut(classes.rows(class).len());
            stretches.push(stretch);
            rest = after;
        }
        stretches
            .par_iter_mut()
            .with_min_len(256)
            .for_each(|stretch| stretch.sort_unstable());

        let mut histograms = Self {
            offsets: vec![0],
            values: Vec::new(),
            counts: Vec::new(),
        };
        for stretch in stretches {
            for run in stretch.chunk_by(|a, b| a == b) {
                histograms.values.push(run[0]);
                histograms.counts.push(run.len() as u64);
            }
            histograms.offsets.push(histograms.values.len() as u32);
        }
        histograms
    }

    /// Counts the codes of a column in each class, of rows that stand for several records each.
    fn of_counted(classes: &Classes, codes: &[u32], counts: &[u64]) -> Self {
        let mut histograms = Self {
            offsets: vec![0],
            values: Vec::new(),
            counts: Vec::new(),
        };
        let mut of_class: Vec<(u32, u64)> = Vec::new();
        for class in 0..classes.count() {
            let rows = classes.rows(class).iter();
            of_class.clear();
            of_class.extend(rows.map(|row| (codes[*row as usize], counts[*row as usize])));
            of_class.sort_unstable_by_key(|(code, _)| *code);
            for run in of_class.chunk_by(|a, b| a.0 == b.0) {
                histograms.values.push(run[0].0);
                histograms
                    .counts
                    .push(run.iter().map(|(_, count)| *count).sum());
            }
            histograms.offsets.push(histograms.values.len() as u32);
        }
        histograms
    }

    /// The counts of a class.
    pub fn class(&self, class: usize) -> Counts<'_> {
        let range = self.offsets[class] as usize..self.offsets[class + 1] as usize;
        Counts::new(&self.values[range.clone()], &self.counts[range])
    }
}

/// A quick hash for keys that no stranger chooses: one multiplication, high bits folded down.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let mixed = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = (mixed as u64) ^ (mixed >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn classes_are_the_distinct_rows(rows in proptest::collection::vec((0..3u32, 0..3u32, 0..2u32, 0..5u32), 0..80)) {
            let column = |pick: fn(&(u32, u32, u32, u32)) -> u32| rows.iter().map(pick).collect::<Vec<_>>();
            let (a, b, c, s) = (column(|r| r.0), column(|r| r.1), column(|r| r.2), column(|r| r.3));
            let classes = Classes::group(&[&a, &b, &c], rows.len());
            let mut naive: BTreeMap<(u32, u32, u32), Vec<u32>> = BTreeMap::new();
            for (index, row) in rows.iter().enumerate() {
                naive.entry((row.0, row.1, row.2)).or_default().push(index as u32);
            }
            prop_assert_eq!(classes.count(), naive.len());
            let histograms = Histograms::new(&classes, &s);
            let mut first = 0;
            for class in 0..classes.count() {
                let members = classes.rows(class);
                let row = rows[members[0] as usize];
                prop_assert_eq!(members, naive[&(row.0, row.1, row.2)].as_slice());
                prop_assert!(class == 0 || members[0] > first, "numbered by first appearance");
                first = members[0];
                let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
                for member in members { *counts.entry(s[*member as usize]).or_default() += 1; }
                prop_assert_eq!(histograms.class(class).iter().collect::<Vec<_>>(), counts.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
