//! Which of a class's allowed cuts is made: by width (JX08 section 4.2), or by fitness (MPRIV section
//! IV). The choice by JX09 equation 3 is in `requirement::evenness`, since it speaks of sites.

use hedgerow_privacy::TableView;

use super::open::Open;
use crate::horizontal::requirement::{Counted, Table};

/// How many values of each attribute the whole table spans.
pub(super) struct WholeWidths(Vec<u64>);

impl WholeWidths {
    pub(super) fn of(root: &Open) -> Self {
        Self(
            (0..root.bounds.len())
                .map(|attribute| root.width(attribute))
                .collect(),
        )
    }

    /// Values left of values in all.
    pub(super) fn share(&self, class: &Open, attribute: usize) -> f64 {
        class.width(attribute) as f64 / self.0[attribute] as f64
    }

    /// The widest relative to the whole table, of equals the first.
    pub(super) fn widest(
        &self,
        class: &Open,
        attributes: impl Iterator<Item = usize>,
    ) -> Option<usize> {
        attributes.reduce(|best, other| {
            // Shares compared without dividing.
            let wider = class.width(other) * self.0[best] > class.width(best) * self.0[other];
            if wider { other } else { best }
        })
    }
}

/// The fitness of a cut: that of its weaker part.
pub(super) fn fitness(
    table: &Table<'_>,
    view: &TableView<'_>,
    counted: &Counted,
    weight: f64,
) -> f64 {
    let parts = (0..counted.parts()).map(|part| table.fitness(view, counted, part, weight));
    parts.fold(f64::INFINITY, f64::min)
}

/// The place of the best score; of equal scores the widest cut, then the first.
pub(super) fn best(scores: &[(f64, f64)]) -> Option<usize> {
    (0..scores.len()).reduce(|best, other| {
        let better = scores[other].0.total_cmp(&scores[best].0);
        let better = better.then(scores[other].1.total_cmp(&scores[best].1));
        if better.is_gt() { other } else { best }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::horizontal::rows::Stretch;

    #[test]
    fn width_counts_values_of_the_values_there_are() {
        let class = |bounds: &[(u32, u32)]| {
            Open::new(
                Stretch { start: 0, end: 0 },
                4,
                Vec::new(),
                bounds.to_vec(),
                0,
            )
        };
        let widths = WholeWidths::of(&class(&[(0, 9), (5, 6), (0, 3)]));
        // 5 of 10, 1 of 2, 3 of 4; then the first of equals.
        let cut = class(&[(0, 4), (5, 5), (1, 3)]);
        assert_eq!(widths.widest(&cut, 0..3), Some(2));
        assert_eq!(widths.widest(&cut, 0..2), Some(0));
        assert_eq!(widths.widest(&cut, 0..0), None);
    }
}
