//! Closures of all quasi-identifiers together: rows of words, attribute by attribute.

use std::cmp::Reverse;

use hedgerow_data::Cell;

use super::cost::UNIT;
use super::shape::Shape;

/// The most closures of an attribute that tells many clusters apart at once.
const MOST_VARIETY: u64 = 64;

/// The fall of a cell's cost from which on an attribute is told apart first.
const MUCH: u64 = (UNIT / 8.0) as u64;

/// All quasi-identifiers' shapes.
pub(crate) struct Shapes<'a> {
    shapes: Vec<Shape<'a>>,
    starts: Vec<usize>,
}

impl<'a> Shapes<'a> {
    pub(crate) fn new(shapes: Vec<Shape<'a>>) -> Self {
        let mut starts = vec![0];
        for shape in &shapes {
            starts.push(starts[starts.len() - 1] + shape.width());
        }
        Self { shapes, starts }
    }

    /// How many quasi-identifiers.
    pub(crate) const fn attributes(&self) -> usize {
        self.shapes.len()
    }

    /// Words of a closure.
    pub(crate) fn width(&self) -> usize {
        self.starts[self.shapes.len()]
    }

    pub(crate) fn shape(&self, attribute: usize) -> &Shape<'a> {
        &self.shapes[attribute]
    }

    /// An attribute's part of a closure.
    pub(crate) fn part<'c>(&self, attribute: usize, closure: &'c [u64]) -> &'c [u64] {
        &closure[self.starts[attribute]..self.starts[attribute + 1]]
    }

    fn part_mut<'c>(&self, attribute: usize, closure: &'c mut [u64]) -> &'c mut [u64] {
        &mut closure[self.starts[attribute]..self.starts[attribute + 1]]
    }

    /// The attributes by how well they tell closures apart, with the number of words of their parts:
    /// attributes with many closures first, but not with so many that hardly two are alike. Before all
    /// others come attributes in which a wider closure may cost much less, since no bound is near until
    /// they are told apart.
    pub(crate) fn by_variety(&self) -> Vec<(usize, usize)> {
        let mut order: Vec<usize> = (0..self.shapes.len()).collect();
        order.sort_by_key(|attribute| {
            let variety = self.shapes[*attribute].variety();
            let is_large = variety > MOST_VARIETY;
            let fall = self.shapes[*attribute].greatest_fall();
            let fall = if fall > MUCH { fall } else { 0 };
            (
                Reverse(fall),
                is_large,
                if is_large {
                    variety
                } else {
                    MOST_VARIETY - variety
                },
            )
        });
        let widths = order.into_iter();
        widths
            .map(|attribute| (attribute, self.shapes[attribute].width()))
            .collect()
    }

    pub(crate) fn of_record(&self, record: &[u32]) -> Vec<u64> {
        let mut closure = vec![0; self.width()];
        for (attribute, code) in record.iter().enumerate() {
            self.shapes[attribute].set_record(*code, self.part_mut(attribute, &mut closure));
        }
        closure
    }

    /// The closure of some records; `None` without records.
    pub(crate) fn of_records<'r>(
        &self,
        records: impl IntoIterator<Item = &'r [u32]>,
    ) -> Option<Vec<u64>> {
        let mut records = records.into_iter();
        let mut closure = self.of_record(records.next()?);
        records.for_each(|record| self.join_record(&mut closure, record));
        Some(closure)
    }

    pub(crate) fn join_record(&self, closure: &mut [u64], record: &[u32]) {
        for (attribute, code) in record.iter().enumerate() {
            let shape = &self.shapes[attribute];
            let part = self.part_mut(attribute, closure);
            if !shape.covers(part, *code) {
                shape.join_value(part, *code);
            }
        }
    }

    /// Together with a value of one attribute.
    pub(crate) fn join_value(&self, attribute: usize, closure: &mut [u64], code: u32) {
        self.shapes[attribute].join_value(self.part_mut(attribute, closure), code);
    }

    pub(crate) fn join(&self, closure: &mut [u64], other: &[u64]) {
        for (attribute, shape) in self.shapes.iter().enumerate() {
            shape.join(
                self.part_mut(attribute, closure),
                self.part(attribute, other),
            );
        }
    }

    /// One attribute's part together with another closure's.
    pub(crate) fn join_part(&self, attribute: usize, closure: &mut [u64], other: &[u64]) {
        self.shapes[attribute].join(
            self.part_mut(attribute, closure),
            self.part(attribute, other),
        );
    }

    pub(crate) fn cost(&self, closure: &[u64]) -> u64 {
        let shapes = self.shapes.iter().enumerate();
        shapes
            .map(|(attribute, shape)| shape.cost(self.part(attribute, closure)))
            .sum()
    }

    /// The cost of one attribute's part.
    pub(crate) fn part_cost(&self, attribute: usize, part: &[u64]) -> u64 {
        self.shapes[attribute].cost(part)
    }

    /// The cost of each part of an attribute together with a value, where a table holds these costs.
    pub(crate) fn costs_with(&self, attribute: usize, code: u32) -> Option<&[u64]> {
        self.shapes[attribute].costs_with(code)
    }

    /// By how much a record's value makes any part of an attribute cheaper at most.
    pub(crate) fn fall(&self, attribute: usize, code: u32) -> u64 {
        self.shapes[attribute].fall(code)
    }

    /// The cost of one attribute's part together with a record's value.
    pub(crate) fn joined_part(&self, attribute: usize, part: &[u64], code: u32) -> u64 {
        self.shapes[attribute].joined_cost(part, code)
    }

    /// The least cost of one attribute's part together with any value.
    pub(crate) fn least_joined_part(&self, attribute: usize, part: &[u64]) -> u64 {
        let shape = &self.shapes[attribute];
        let costs = (0..shape.size()).map(|code| shape.joined_cost(part, code));
        costs.min().unwrap_or(0)
    }

    /// The cost of two parts of one attribute together.
    pub(crate) fn common_part(&self, attribute: usize, one: &[u64], other: &[u64]) -> u64 {
        self.shapes[attribute].common_cost(one, other)
    }

    /// Whether a value may lie in both parts of one attribute.
    pub(crate) fn meet_part(&self, attribute: usize, one: &[u64], other: &[u64]) -> bool {
        self.shapes[attribute].meet(one, other)
    }

    /// Adds, for each of some clusters, the cost of its part in one attribute together with a value.
    pub(crate) fn add_joined_costs(
        &self,
        attribute: usize,
        parts: &[u64],
        code: u32,
        sums: &mut [u64],
    ) {
        let shape = &self.shapes[attribute];
        let parts = parts.chunks_exact(shape.width());
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum += shape.joined_cost(part, code);
        }
    }

    /// The cost of a closure together with a record.
    pub(crate) fn joined_cost(&self, closure: &[u64], record: &[u32]) -> u64 {
        let mut cost = 0;
        for (attribute, shape) in self.shapes.iter().enumerate() {
            cost += shape.joined_cost(self.part(attribute, closure), record[attribute]);
        }
        cost
    }

    /// The cost of two closures together.
    pub(crate) fn common_cost(&self, one: &[u64], other: &[u64]) -> u64 {
        let mut cost = 0;
        for (attribute, shape) in self.shapes.iter().enumerate() {
            cost += shape.common_cost(self.part(attribute, one), self.part(attribute, other));
        }
        cost
    }

    pub(crate) fn covers(&self, closure: &[u64], record: &[u32]) -> bool {
        let mut shapes = self.shapes.iter().enumerate();
        shapes.all(|(attribute, shape)| {
            shape.covers(self.part(attribute, closure), record[attribute])
        })
    }

    /// Whether a record may lie in both.
    pub(crate) fn meet(&self, one: &[u64], other: &[u64]) -> bool {
        let mut shapes = self.shapes.iter().enumerate();
        shapes.all(|(attribute, shape)| {
            shape.meet(self.part(attribute, one), self.part(attribute, other))
        })
    }

    pub(crate) fn cells(&self, closure: &[u64]) -> Vec<Cell> {
        let shapes = self.shapes.iter().enumerate();
        shapes
            .map(|(attribute, shape)| shape.cell(self.part(attribute, closure)))
            .collect()
    }

    /// Puts an attribute's cell into a closure.
    pub(crate) fn put(&self, attribute: usize, cell: &Cell, closure: &mut [u64]) {
        self.shapes[attribute].set_cell(cell, self.part_mut(attribute, closure));
    }

    /// Puts the closure of some values of an attribute into a closure.
    pub(crate) fn put_values(
        &self,
        attribute: usize,
        values: impl IntoIterator<Item = u32>,
        closure: &mut [u64],
    ) {
        let (shape, part) = (&self.shapes[attribute], self.part_mut(attribute, closure));
        let mut values = values.into_iter();
        if let Some(first) = values.next() {
            shape.set_record(first, part);
        }
        for code in values {
            if !shape.covers(part, code) {
                shape.join_value(part, code);
            }
        }
    }

    /// How many questions the published search of an attribute's cell within a closure needs.
    pub(crate) fn looks(&self, attribute: usize, within: &[u64], cell: &Cell) -> u64 {
        let (shape, within) = (&self.shapes[attribute], self.part(attribute, within));
        let mut part = within.to_vec();
        shape.set_cell(cell, &mut part);
        shape.looks(within, &part)
    }

    /// Whether a value lies in the closure of some others.
    pub(crate) fn is_within(
        &self,
        attribute: usize,
        mut values: impl Iterator<Item = u32>,
        code: u32,
    ) -> bool {
        let shape = &self.shapes[attribute];
        let Some(first) = values.next() else {
            return false;
        };
        let mut part = vec![0; shape.width()];
        shape.set_record(first, &mut part);
        shape.covers(&part, code)
            || values.any(|value| {
                if !shape.covers(&part, value) {
                    shape.join_value(&mut part, value);
                }
                shape.covers(&part, code)
            })
    }

    /// The parts of an attribute that are one step narrower than a closure's.
    pub(crate) fn narrower_parts(&self, attribute: usize, closure: &[u64]) -> Vec<Vec<u64>> {
        self.shapes[attribute].narrower(self.part(attribute, closure))
    }

    /// Puts a part of an attribute into a closure.
    pub(crate) fn put_part(&self, attribute: usize, part: &[u64], closure: &mut [u64]) {
        self.part_mut(attribute, closure).copy_from_slice(part);
    }

    /// Whether a peer's words are a closure.
    pub(crate) fn is_closure(&self, words: &[u64]) -> bool {
        let mut shapes = self.shapes.iter().enumerate();
        shapes.all(|(attribute, shape)| shape.is_closure(self.part(attribute, words)))
    }

    /// All closures that are one step narrower in one attribute.
    pub(crate) fn narrower(&self, closure: &[u64]) -> Vec<Vec<u64>> {
        let shapes = self.shapes.iter().enumerate();
        let narrower = shapes.flat_map(|(attribute, shape)| {
            let parts = shape.narrower(self.part(attribute, closure)).into_iter();
            parts.map(move |part| {
                let mut narrow = closure.to_vec();
                self.part_mut(attribute, &mut narrow).copy_from_slice(&part);
                narrow
            })
        });
        narrower.collect()
    }
}
