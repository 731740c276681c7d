//! Which of a class's allowed cuts is made: by width (JX08 section 4.2), by JX09 equation 3, or by
//! fitness (MPRIV section IV).

use super::Choice;
use super::open::{Open, Try};
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
    fn share(&self, class: &Open, attribute: usize) -> f64 {
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

/// The place of the best of one class's allowed cuts. `entropies` has that of each, where the choice
/// needs them.
pub(super) fn best(
    choice: Choice,
    widths: &WholeWidths,
    table: &Table<'_>,
    class: &Open,
    allowed: &[(&Try, &Counted)],
    entropies: &[f64],
) -> Option<usize> {
    let width = |(attempt, _): &(&Try, &Counted)| widths.share(class, attempt.cut.attribute);
    let scores: Vec<(f64, f64)> = match choice {
        Choice::Width => allowed.iter().map(|one| (width(one), 0.0)).collect(),
        Choice::Diversity { alpha } => {
            let greatest = |scores: &mut dyn Iterator<Item = f64>| scores.fold(0.0, f64::max);
            let widest = greatest(&mut allowed.iter().map(width));
            let evenest = greatest(&mut entropies.iter().copied());
            let relative = |score: f64, best: f64| if best > 0.0 { score / best } else { 1.0 };
            let pairs = allowed.iter().zip(entropies);
            let score = |(one, entropy): (&(&Try, &Counted), &f64)| {
                let score = alpha * relative(width(one), widest)
                    + (1.0 - alpha) * relative(*entropy, evenest);
                (score, width(one))
            };
            pairs.map(score).collect()
        }
        Choice::Fitness { weight } => {
            let score = |one: &(&Try, &Counted)| {
                let parts = (0..one.1.parts()).map(|part| table.fitness(one.1, part, weight));
                (parts.fold(f64::INFINITY, f64::min), width(one))
            };
            allowed.iter().map(score).collect()
        }
    };
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
