//! JX09 Theorem 2 (section 4.3) as a program: with site diversity, the statistics that the theorem
//! lists are all that a site learns beside the release. It follows a ledger with them alone, makes
//! every decision of the run from them, and so knows the name and the number of values of each
//! entry before it is read. What it cannot foretell is a disclosure that is not listed.
//!
//! The list: medians of every attribute in classes of at least 2k records (1), of entropies of sites
//! in the parts of possible cuts only which is greater, and the sizes that they are relative to (2),
//! and whether a part has records of enough sites, which is less than their number (3).

use hedgerow_protocols::horizontal::assembly::VALUES;
use hedgerow_protocols::horizontal::cover::COVERS;
use hedgerow_protocols::horizontal::mondrian::{
    ALL_MEDIANS, CANDIDATES, EVENER, RANGES, RECORDS, REFUSED, SENSITIVE, SITES,
};
use hedgerow_smc::What;

use super::simulator::Line;

/// What all sites agreed on: k and distinct l, site diversity, cuts at strict medians, tight ranges.
pub(crate) struct Agreed {
    pub(crate) attributes: usize,
    /// Values of the sensitive attribute.
    pub(crate) values: usize,
    pub(crate) k: u64,
    /// Distinct l; 1 where none is demanded.
    pub(crate) l: usize,
    pub(crate) alpha: f64,
}

#[derive(Clone)]
struct Region {
    bounds: Vec<(u32, u32)>,
    /// Records, then sensitive counts where l is demanded.
    counts: Vec<u64>,
    refused: Vec<(usize, Option<u32>)>,
}

struct Try {
    region: usize,
    attribute: usize,
    /// The last value of the left part.
    end: u32,
    other_side: Option<u32>,
    parts: [Vec<u64>; 2],
}

/// Reads a ledger to its end, every entry foretold.
struct Reader<'a> {
    rest: &'a [Line],
}

impl<'a> Reader<'a> {
    fn read(&mut self, what: What, count: usize) -> Result<&'a [u64], String> {
        let (line, rest) = self.rest.split_first().ok_or("the ledger ends early")?;
        self.rest = rest;
        if line.what != what || line.values.len() != count {
            return Err(format!(
                "{} values of {}, where {count} of {} are listed",
                line.values.len(),
                line.what.name(),
                what.name()
            ));
        }
        Ok(&line.values)
    }

    /// Reads nothing where nothing is asked.
    fn read_some(&mut self, what: What, count: usize) -> Result<&'a [u64], String> {
        if count == 0 {
            return Ok(&[]);
        }
        self.read(what, count)
    }

    fn read_bits(&mut self, what: What, count: usize) -> Result<&'a [u64], String> {
        let bits = self.read_some(what, count)?;
        let are_bits = bits.iter().all(|bit| *bit < 2);
        are_bits
            .then_some(bits)
            .ok_or(format!("more than bits of {}", what.name()))
    }
}

impl Agreed {
    /// Why a ledger of a run that came to a release is not within the theorem.
    pub(crate) fn follow(&self, ledger: &[Line]) -> Result<(), String> {
        let mut reader = Reader { rest: ledger };
        let mut counts = reader.read(RECORDS, 1)?.to_vec();
        counts.extend_from_slice(reader.read_some(SENSITIVE, self.counted())?);
        let ranges = reader.read(RANGES, 2 * self.attributes)?;
        let root = Region {
            bounds: ranges
                .chunks(2)
                .map(|ends| (ends[0] as u32, ends[1] as u32))
                .collect(),
            counts,
            refused: Vec::new(),
        };
        // The whole table is the first part.
        reader.read_bits(SITES, 1)?;
        let whole: Vec<f64> = (0..self.attributes).map(|a| root.width(a)).collect();
        let (mut open, mut closed) = (vec![root], Vec::new());
        loop {
            let (going, done): (Vec<Region>, Vec<Region>) = open
                .into_iter()
                .partition(|region| region.counts[0] >= 2 * self.k && region.has_candidate());
            closed.extend(done);
            if going.is_empty() {
                break;
            }
            open = self.wave(&mut reader, going, &whole)?;
        }
        closed.sort_by(|a, b| a.bounds.cmp(&b.bounds));
        self.release(&mut reader, &closed)?;
        match reader.rest {
            [] => Ok(()),
            [line, ..] => Err(format!("{} is not listed", line.what.name())),
        }
    }

    fn counted(&self) -> usize {
        if self.l > 1 { self.values } else { 0 }
    }

    fn wave(
        &self,
        reader: &mut Reader<'_>,
        open: Vec<Region>,
        whole: &[f64],
    ) -> Result<Vec<Region>, String> {
        let mut tries = self.tries(reader, &open)?;
        let width = 1 + self.counted();
        let sizes = reader.read(CANDIDATES, tries.len() * width)?;
        for (attempt, left) in tries.iter_mut().zip(sizes.chunks(width)) {
            let all = open[attempt.region].counts.iter().zip(left);
            let right: Option<Vec<u64>> = all.map(|(all, left)| all.checked_sub(*left)).collect();
            let right = right.ok_or("a part is larger than its class")?;
            attempt.parts = [left.to_vec(), right];
        }
        let mut is_allowed: Vec<bool> = tries
            .iter()
            .map(|attempt| attempt.parts.iter().all(|part| self.holds(part)))
            .collect();
        let asked = is_allowed.iter().filter(|allowed| **allowed).count();
        let bits = reader.read_bits(SITES, 2 * asked)?;
        let asked = is_allowed.iter_mut().filter(|allowed| **allowed);
        for (allowed, bits) in asked.zip(bits.chunks(2)) {
            *allowed = bits == [1, 1];
        }
        let chosen = self.chosen(reader, &open, whole, &tries, &is_allowed)?;

        let mut in_vain = Vec::new();
        for place in (0..tries.len()).filter(|place| !is_allowed[*place]) {
            let attempt = &tries[place];
            let [left, right] = &attempt.parts;
            in_vain.extend([place as u64, u64::from(attempt.end), left[0], right[0]]);
            in_vain.extend(left[1..].iter().chain(&right[1..]));
        }
        if reader.read_some(REFUSED, in_vain.len())? != in_vain {
            return Err("the note on refused cuts says something else".into());
        }
        let mut next = Vec::new();
        for (region, (mut class, choice)) in open.into_iter().zip(chosen).enumerate() {
            let Some(attempt) = choice.map(|place: usize| &tries[place]) else {
                for attempt in tries.iter().filter(|attempt| attempt.region == region) {
                    class
                        .refused
                        .retain(|(other, _)| *other != attempt.attribute);
                    class.refused.push((attempt.attribute, attempt.other_side));
                }
                next.push(class);
                continue;
            };
            let (least, greatest) = class.bounds[attempt.attribute];
            let sides = [(least, attempt.end), (attempt.end + 1, greatest)];
            for (side, counts) in sides.into_iter().zip(&attempt.parts) {
                let mut bounds = class.bounds.clone();
                bounds[attempt.attribute] = side;
                next.push(Region {
                    bounds,
                    counts: counts.clone(),
                    refused: Vec::new(),
                });
            }
        }
        Ok(next)
    }

    /// Every attribute not tried yet, at one median each; where all were, the medians' other sides.
    fn tries(&self, reader: &mut Reader<'_>, open: &[Region]) -> Result<Vec<Try>, String> {
        let fresh: usize = open.iter().map(|region| region.untried().count()).sum();
        let mut medians = reader.read_some(ALL_MEDIANS, fresh)?.iter();
        let mut tries = Vec::new();
        for (place, region) in open.iter().enumerate() {
            let mut add = |attribute, end, other_side| {
                tries.push(Try {
                    region: place,
                    attribute,
                    end,
                    other_side,
                    parts: [Vec::new(), Vec::new()],
                });
            };
            for attribute in region.untried() {
                let (least, greatest) = region.bounds[attribute];
                let median = *medians.next().ok_or("a median is missing")? as u32;
                if !(least..=greatest).contains(&median) {
                    return Err(format!("{median} is no median of {least} to {greatest}"));
                }
                let is_last = median == greatest;
                let other_side = (!is_last).then_some(median);
                add(attribute, median - u32::from(is_last), other_side);
            }
            if region.untried().next().is_none() {
                let sides = region.second_sides();
                sides.for_each(|(attribute, median)| add(attribute, median - 1, None));
            }
        }
        Ok(tries)
    }

    /// Whether a part satisfies k and l.
    fn holds(&self, part: &[u64]) -> bool {
        let distinct = part[1..].iter().filter(|count| **count > 0).count();
        part[0] > 0 && part[0] >= self.k && (self.l == 1 || distinct >= self.l)
    }

    /// Equation 3: for each class its best allowed try, if it has any. Entropies are not opened: tries
    /// meet in pairs for the evenest, then for the best, and a bit says who wins.
    fn chosen(
        &self,
        reader: &mut Reader<'_>,
        open: &[Region],
        whole: &[f64],
        tries: &[Try],
        is_allowed: &[bool],
    ) -> Result<Vec<Option<usize>>, String> {
        let allowed = |region: usize| -> Vec<usize> {
            let places = 0..tries.len();
            places
                .filter(|place| is_allowed[*place] && tries[*place].region == region)
                .collect()
        };
        let choices: Vec<Vec<usize>> = (0..open.len()).map(allowed).collect();
        let mut left: Vec<Vec<usize>> = Vec::with_capacity(open.len());
        for (region, mut places) in open.iter().zip(choices) {
            let width = |place: &usize| {
                let attribute = tries[*place].attribute;
                region.width(attribute) / whole[attribute]
            };
            // Of equals the widest, of those the first: it stands first, and must be beaten.
            places.sort_by(|a, b| width(b).total_cmp(&width(a)));
            left.push(places);
        }
        let everybody = left.clone();
        // Where width is all or nothing, there is nothing to ask about the other.
        let meetings = match self.alpha {
            1.0 => 0,
            0.0 => 1,
            _ => 2,
        };
        for _ in 0..meetings {
            left.clone_from(&everybody);
            while left.iter().any(|places| places.len() > 1) {
                let pairs = left.iter().map(|places| places.len() / 2).sum();
                let mut second = reader.read_bits(EVENER, pairs)?.iter();
                for places in &mut left {
                    let winner = |pair: &[usize]| match pair {
                        [_, other] if second.next() == Some(&1) => *other,
                        pair => pair[0],
                    };
                    *places = places.chunks(2).map(winner).collect();
                }
            }
        }
        Ok(left.iter().map(|places| places.first().copied()).collect())
    }

    /// The release: cells within what the cuts left, and as many records as they said.
    fn release(&self, reader: &mut Reader<'_>, closed: &[Region]) -> Result<(), String> {
        let cells = reader.read(COVERS, 2 * self.attributes * closed.len())?;
        let values = reader.read(VALUES, self.values * closed.len())?;
        let cells = cells.chunks(2 * self.attributes);
        for ((region, cells), values) in closed.iter().zip(cells).zip(values.chunks(self.values)) {
            let is_within = cells.chunks(2).zip(&region.bounds).all(|(cell, bounds)| {
                u64::from(bounds.0) <= cell[0] && cell[1] <= u64::from(bounds.1)
            });
            if !is_within || values.iter().sum::<u64>() != region.counts[0] {
                return Err("a class of the release is not what the cuts left".into());
            }
        }
        Ok(())
    }
}

impl Region {
    fn width(&self, attribute: usize) -> f64 {
        let (least, greatest) = self.bounds[attribute];
        f64::from(greatest - least) + 1.0
    }

    fn untried(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.bounds.len()).filter(|attribute| {
            let is_tried = self.refused.iter().any(|(other, _)| other == attribute);
            self.bounds[*attribute].0 < self.bounds[*attribute].1 && !is_tried
        })
    }

    fn second_sides(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let sides = self.refused.iter();
        let sides = sides.filter_map(|(attribute, median)| Some((*attribute, (*median)?)));
        sides.filter(|(attribute, median)| self.bounds[*attribute].0 < *median)
    }

    fn has_candidate(&self) -> bool {
        self.untried().next().is_some() || self.second_sides().next().is_some()
    }
}
