//! Which of a class's allowed cuts is made: by width (JX08 section 4.2), or by fitness (MPRIV section
//! IV). The choice by JX09 equation 3 is in `requirement::evenness`, since it speaks of sites.

use hedgerow_privacy::TableView;
use hedgerow_smc::Security;

use super::open::Open;
use crate::horizontal::requirement::{Counted, Table};

/// How wide each attribute is in the whole table.
pub(super) struct WholeWidths {
    whole: Vec<u64>,
    /// As printed (JX08 section 4.2), the width of a range is its greatest value less its least; at the
    /// hardened level it is the number of its values, which tells a range of two from a single value even
    /// where the domain has few.
    printed: u64,
}

impl WholeWidths {
    pub(super) fn of(root: &Open, security: Security) -> Self {
        let printed = u64::from(security == Security::Published);
        let attributes = 0..root.bounds.len();
        Self {
            whole: attributes
                .map(|attribute| root.width(attribute) - printed)
                .collect(),
            printed,
        }
    }

    fn width(&self, class: &Open, attribute: usize) -> u64 {
        class.width(attribute) - self.printed
    }

    /// What is left of the attribute's width in the whole table; nothing of an attribute with one value.
    pub(super) fn share(&self, class: &Open, attribute: usize) -> f64 {
        self.width(class, attribute) as f64 / self.whole[attribute].max(1) as f64
    }

    /// The widest relative to the whole table, of equals the first.
    pub(super) fn widest(
        &self,
        class: &Open,
        attributes: impl Iterator<Item = usize>,
    ) -> Option<usize> {
        attributes.reduce(|best, other| {
            // Shares compared without dividing.
            let (one, two) = (self.width(class, best), self.width(class, other));
            let wider = two * self.whole[best] > one * self.whole[other];
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
        let whole = class(&[(0, 9), (5, 6), (0, 3)]);
        let widths = WholeWidths::of(&whole, Security::Hardened);
        // 5 of 10, 1 of 2, 3 of 4; then the first of equals.
        let cut = class(&[(0, 4), (5, 5), (1, 3)]);
        assert_eq!(widths.widest(&cut, 0..3), Some(2));
        assert_eq!(widths.widest(&cut, 0..2), Some(0));
        assert_eq!(widths.widest(&cut, 0..0), None);
        // As printed: 1/2 of the range of the first, 300/499 of the second; by values 2/3 and 301/500.
        let (whole, part) = (class(&[(0, 2), (0, 499)]), class(&[(0, 1), (0, 300)]));
        let printed = WholeWidths::of(&whole, Security::Published);
        assert_eq!(printed.widest(&part, 0..2), Some(1));
        assert!((printed.share(&part, 1) - 300.0 / 499.0).abs() < 1e-12);
        let counted = WholeWidths::of(&whole, Security::Hardened);
        assert_eq!(counted.widest(&part, 0..2), Some(0));
    }
}
