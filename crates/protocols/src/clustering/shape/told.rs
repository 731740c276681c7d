//! A closure as the numbers by which a site tells it: a node's number, the two ends of a range, a bit for
//! each value of a set. Each has a public number of bits.

use super::{Form, Shape, ends, packed};

/// Bits of numbers up to this one; 1 at least.
fn bits_of(most: u64) -> u8 {
    (u64::BITS - most.leading_zeros()).max(1) as u8
}

impl Shape<'_> {
    /// The bits of each number by which a closure is told.
    pub(crate) fn told_bits(&self) -> Vec<u8> {
        let last = bits_of(u64::from(self.size - 1));
        match &self.form {
            Form::Node(tree) => vec![bits_of(tree.nodes() as u64 - 1)],
            Form::Range(_) => vec![last; 2],
            Form::Set => vec![1; self.size as usize],
        }
    }

    /// The numbers by which a closure is told.
    pub(crate) fn told(&self, closure: &[u64]) -> Vec<u64> {
        match &self.form {
            Form::Node(_) => vec![closure[0]],
            Form::Range(_) => {
                let (least, greatest) = ends(closure[0]);
                vec![u64::from(least), u64::from(greatest)]
            }
            Form::Set => {
                let codes =
                    (0..self.size as usize).map(|code| closure[code / 64] >> (code % 64) & 1);
                codes.collect()
            }
        }
    }

    /// The closure that a site told, if it is one.
    pub(crate) fn heard(&self, numbers: &[u64]) -> Option<Vec<u64>> {
        let closure = match (&self.form, numbers) {
            (Form::Node(_), [node]) => vec![*node],
            (Form::Range(_), [least, greatest]) => {
                let end = |number: &u64| u32::try_from(*number).ok();
                vec![packed(end(least)?, end(greatest)?)]
            }
            (Form::Set, bits) if bits.len() == self.size as usize => {
                let mut words = vec![0; self.width()];
                for (code, bit) in bits.iter().enumerate() {
                    words[code / 64] |= bit << (code % 64);
                }
                words
            }
            _ => return None,
        };
        self.is_closure(&closure).then_some(closure)
    }
}
