//! What one of three sites makes of how evenly cuts are spread over sites (JX09 equation 3): it knows
//! its own counts and the sizes of parts, how the sites' records come about, and tries every split of
//! the class over the other two.
//!
//! From the entropies that the paper opens it nearly always finds the one that is. From the
//! comparisons of the hardened form it must not be right more often than by guessing.

use hedgerow_data::{Codes, Schema, Table};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::mondrian::{Choice, ENTROPIES, EVENER, Plan, partition};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Generator, Seed, Settings};

use crate::runs::requirement;
use crate::tables::{numbers, own_rows, plan};

const TRIALS: u64 = 400;
const RECORDS: usize = 30;
const ATTRIBUTES: usize = 3;

/// How records come about: the share of each site, and of its records that have the second value of
/// each attribute. The inverter knows it.
struct World {
    shares: [f64; 3],
    second: [[f64; ATTRIBUTES]; 3],
}

const EVEN: World = World {
    shares: [0.34, 0.33, 0.33],
    second: [[0.5; ATTRIBUTES]; 3],
};
const SKEWED: World = World {
    shares: [0.3, 0.6, 0.1],
    second: [[0.5, 0.4, 0.6], [0.3, 0.5, 0.7], [0.8, 0.5, 0.2]],
};
/// A site that has little, and that elsewhere.
const APART: World = World {
    shares: [0.2, 0.7, 0.1],
    second: [[0.5, 0.5, 0.5], [0.2, 0.5, 0.7], [0.9, 0.5, 0.3]],
};

/// A class: whose its records are, and which value of each attribute they have.
struct Class {
    records: Vec<(usize, [u32; ATTRIBUTES])>,
}

impl Class {
    fn draw(world: &World, generator: &mut Generator) -> Self {
        let mut chance = |share: f64| (generator.next_u64() as f64) < share * 2f64.powi(64);
        loop {
            let records: Vec<(usize, [u32; ATTRIBUTES])> = (0..RECORDS)
                .map(|_| {
                    let site = match (
                        chance(world.shares[0]),
                        chance(world.shares[1] / (1.0 - world.shares[0])),
                    ) {
                        (true, _) => 0,
                        (false, true) => 1,
                        (false, false) => 2,
                    };
                    (
                        site,
                        std::array::from_fn(|at| u32::from(chance(world.second[site][at]))),
                    )
                })
                .collect();
            let class = Self { records };
            // Every cut is allowed.
            let sizes =
                (0..ATTRIBUTES).flat_map(|at| [0, 1].map(|value| class.count(at, value, None)));
            if sizes.min() >= Some(5) {
                return class;
            }
        }
    }

    /// Records with a value, of a site or of all.
    fn count(&self, attribute: usize, value: u32, site: Option<usize>) -> u64 {
        let records = self.records.iter();
        let fitting = records.filter(|(owner, values)| {
            values[attribute] == value && site.is_none_or(|site| *owner == site)
        });
        fitting.count() as u64
    }
}

/// A way in which the first other site's records may lie in the parts of a cut, how likely it is, and
/// the entropy it gives.
struct Split {
    parts: [u64; 2],
    likely: f64,
    entropy: f64,
}

/// All ways for an attribute, by how many records of the class the site has.
fn splits(world: &World, class: &Class, attribute: usize) -> Vec<Vec<Split>> {
    let mut found: Vec<Vec<Split>> = Vec::new();
    let of_part = |value: u32| {
        let size = class.count(attribute, value, None);
        let own = class.count(attribute, value, Some(0));
        let share = |site: usize| {
            let second = world.second[site][attribute];
            world.shares[site] * if value == 1 { second } else { 1.0 - second }
        };
        let first = share(1) / (share(1) + share(2));
        let others = size - own;
        (0..=others).map(move |count| {
            let likely = binomial(others, count)
                * first.powi(count as i32)
                * (1.0 - first).powi((others - count) as i32);
            let entropy: f64 = [own, count, others - count]
                .into_iter()
                .filter(|count| *count > 0)
                .map(|count| count as f64 / size as f64)
                .map(|share| -share * share.ln())
                .sum();
            (count, likely, entropy)
        })
    };
    for (left, likely_left, left_entropy) in of_part(0) {
        for (right, likely_right, right_entropy) in of_part(1) {
            let total = (left + right) as usize;
            found.resize_with(found.len().max(total + 1), Vec::new);
            found[total].push(Split {
                parts: [left, right],
                likely: likely_left * likely_right,
                entropy: left_entropy + right_entropy,
            });
        }
    }
    found
}

fn binomial(of: u64, some: u64) -> f64 {
    (0..some).fold(1.0, |ways, at| ways * (of - at) as f64 / (at + 1) as f64)
}

/// The likeliest split of the class over the parts of the first attribute, among those that what was
/// opened allows.
fn likeliest(
    of_attribute: &[Vec<Vec<Split>>],
    prior: &[f64],
    is_allowed: &dyn Fn([f64; ATTRIBUTES]) -> bool,
) -> [u64; 2] {
    let mut weights: Vec<([u64; 2], f64)> = Vec::new();
    for total in 0..of_attribute[0].len() {
        for first in &of_attribute[0][total] {
            let mut weight = 0.0;
            for second in of_attribute[1].get(total).into_iter().flatten() {
                for third in of_attribute[2].get(total).into_iter().flatten() {
                    if is_allowed([first.entropy, second.entropy, third.entropy]) {
                        weight += second.likely * third.likely;
                    }
                }
            }
            weights.push((first.parts, first.likely * weight / prior[total].powi(2)));
        }
    }
    let best = weights.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or([0, 0], |(parts, _)| parts)
}

/// What the first site's ledger has under a name, entry by entry.
fn opened(
    schema: &Schema,
    table: &Table,
    class: &Class,
    settings: Settings,
    name: &str,
) -> Vec<Vec<u64>> {
    let requirement = requirement("k = 5", schema);
    let plan = Plan {
        choice: Choice::Diversity { alpha: 0.3 },
        ..plan(schema, &requirement, false)
    };
    let outcome = Simulation::new(3, 11).settings(settings).run(|mut party| {
        let plan = &plan;
        async move {
            party.keep_values();
            let site = party.me().index();
            let columns: Vec<Codes> = (0..ATTRIBUTES + 1)
                .map(|position| {
                    let codes = table.codes(position).unwrap();
                    let mut own = Codes::for_size(2);
                    let rows = 0..class.records.len();
                    let rows = rows.filter(|row| class.records[*row].0 == site);
                    rows.for_each(|row| own.push(codes.get(row)));
                    own
                })
                .collect();
            let own = own_rows(schema, &columns, Owner::Site(site as u32), 3);
            partition(&mut party, &own, plan, |_, _| {}).await?;
            let entries = party.ledger().entries().iter();
            let named = entries.filter(|entry| entry.disclosure.what.name() == name);
            let values = named.map(|entry| entry.recorded.clone().unwrap());
            Ok::<_, Error>(values.collect::<Vec<_>>())
        }
    });
    outcome.into_values().unwrap().swap_remove(0)
}

/// How often the inverter is right by guessing, by comparisons, and by entropies.
fn right(world: &World, seed: u64) -> [u64; 3] {
    let mut generator = Generator::new(&Seed::for_site(seed, 0));
    let mut right = [0; 3];
    for _ in 0..TRIALS {
        let class = Class::draw(world, &mut generator);
        let rows: Vec<Vec<u32>> = class
            .records
            .iter()
            .map(|(_, values)| [values.as_slice(), &[0]].concat())
            .collect();
        let (schema, table) = numbers(&[2; ATTRIBUTES + 1], &rows);
        let of_attribute: Vec<Vec<Vec<Split>>> = (0..ATTRIBUTES)
            .map(|attribute| splits(world, &class, attribute))
            .collect();
        // How many of the others' records are the first one's, before anything is looked at.
        let others = class.records.iter().filter(|(site, _)| *site > 0).count() as u64;
        let first = world.shares[1] / (world.shares[1] + world.shares[2]);
        let prior: Vec<f64> = (0..=others)
            .map(|count| {
                let rest = (others - count) as i32;
                binomial(others, count) * first.powi(count as i32) * (1.0 - first).powi(rest)
            })
            .collect();
        let truth = [0, 1].map(|value| class.count(0, value, Some(1)));

        let guess = likeliest(&of_attribute, &prior, &|_| true);
        // The first two meet, then the winner and the third: first for the evenest, then for the best,
        // which is the same where all are as wide.
        let bits = opened(&schema, &table, &class, Settings::hardened(), EVENER.name());
        let bits: Vec<bool> = bits[..2].iter().map(|entry| entry[0] == 1).collect();
        let by_comparison = likeliest(&of_attribute, &prior, &|entropies| {
            // A quarter of the entropy of equal shares in both parts.
            let clear = 2.0 * 3f64.ln() / 4.0;
            let second = entropies[1] - entropies[0] > clear;
            let winner = if second { entropies[1] } else { entropies[0] };
            second == bits[0] && (entropies[2] - winner > clear) == bits[1]
        });
        let sums = opened(
            &schema,
            &table,
            &class,
            Settings::published(),
            ENTROPIES.name(),
        );
        let sums: Vec<f64> = sums[0]
            .iter()
            .map(|sum| *sum as f64 / f64::from(1u32 << 20))
            .collect();
        let by_entropy = likeliest(&of_attribute, &prior, &|entropies| {
            let pairs = entropies.iter().zip(&sums);
            pairs.fold(true, |all, (one, sum)| all && (one - sum).abs() < 1e-5)
        });
        for (right, found) in right.iter_mut().zip([guess, by_comparison, by_entropy]) {
            *right += u64::from(found == truth);
        }
    }
    right
}

#[test]
fn comparisons_of_evenness_tell_no_counts() {
    for (name, world) in [("even", EVEN), ("skewed", SKEWED), ("apart", APART)] {
        let [guess, by_comparison, by_entropy] = right(&world, 3);
        println!(
            "{name}: of {TRIALS} {guess} by guessing, {by_comparison} by comparisons, {by_entropy} by entropies"
        );
        // Five points.
        assert!(
            by_comparison <= guess + TRIALS / 20,
            "{name}: {guess} {by_comparison}"
        );
        // The inverter is one.
        assert!(
            by_entropy > guess + TRIALS / 5,
            "{name}: {guess} {by_entropy}"
        );
    }
}
