//! m-privacy against one who has everybody's rows: every model, with several sensitive attributes
//! and sites whose records are unlike each other's.
//!
//! What is recounted here shares nothing with the run: all coalitions, one by one, on raw rows; the
//! models as their papers define them, in whole numbers where the definition has no logarithm; and
//! the cuts of Mondrian, made by hand.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::{Cell, Codes, Column, Recode, Role, Schema, Study, Table};
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::m_privacy::{Strategy, WEIGHT_OF_DIVERSITY};
use hedgerow_protocols::Error;
use hedgerow_protocols::clustering::{CountsChoice, Stop};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::clustering::{self, Loss, cluster};
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::cover::Writing;
use hedgerow_protocols::horizontal::mondrian::{Choice, Plan, partition};
use hedgerow_protocols::horizontal::requirement::Demands;
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Security, Seed, Settings};
use proptest::prelude::*;

use crate::runs::{Run, mixed, requirement};
use crate::tables::{own_rows, plan, share};

/// A record as it was collected.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Raw {
    site: u32,
    quasi: [u32; 2],
    sensitive: [u32; 3],
}

/// Values of the quasi-identifiers, and of the sensitive attributes: words, numbers, and leaves of a
/// tree of two pairs.
const QUASI: [u32; 2] = [100, 12];
const SENSITIVE: [u32; 3] = [3, 4, 4];
const TREE: &str = "a;X;*\nb;X;*\nc;Y;*\nd;Y;*\n";

fn table_of(rows: &[Raw]) -> (Arc<Schema>, Table) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("drug.csv"), TREE).unwrap();
    let text = "[study]\nname = \"skewed\"\npartition = \"horizontal\"\n\
                [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\n\
                [[attribute]]\nname = \"ward\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 11]\n\
                [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"u\", \"v\", \"w\"]\n\
                [[attribute]]\nname = \"grade\"\nrole = \"sensitive\"\ntype = \"integer\"\nrange = [0, 3]\n\
                [[attribute]]\nname = \"drug\"\nrole = \"sensitive\"\ntaxonomy = \"drug.csv\"\n";
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, folder.path()).unwrap().schema;
    let column = |size: u32, pick: &dyn Fn(&Raw) -> u32| {
        let mut codes = Codes::for_size(size);
        rows.iter().for_each(|row| codes.push(pick(row)));
        Column::Coded(codes)
    };
    let mut columns = Vec::new();
    for (place, size) in QUASI.iter().enumerate() {
        columns.push(column(*size, &|row| row.quasi[place]));
    }
    for (place, size) in SENSITIVE.iter().enumerate() {
        columns.push(column(*size, &|row| row.sensitive[place]));
    }
    (schema.clone(), Table::new(schema, columns))
}

/// Records of which half are the first site's, and in which the third site has other diseases than
/// the others, and elsewhere.
fn skewed(numbers: &[u64], sites: u32) -> Vec<Raw> {
    let record = |number: &u64| {
        let part = |at: u32| (number >> (8 * at)) as u32 & 0xff;
        let site = (part(0) | 1 << 7).trailing_zeros().min(sites - 1);
        let is_odd = site == 2 && part(1) % 4 != 0;
        Raw {
            site,
            quasi: [
                if is_odd { part(2) % 30 } else { part(2) % 100 },
                part(3) % 12,
            ],
            sensitive: [
                if is_odd { 2 } else { part(4) % 3 },
                // Falling, and risen where the disease is another.
                if is_odd {
                    3
                } else {
                    part(5).trailing_zeros().min(3)
                },
                (part(6) % 4).max(site % 2),
            ],
        }
    };
    numbers.iter().map(record).collect()
}

/// What a model asks, as its paper has it; fractions as numerator and denominator.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Records(usize),
    Share(i128, i128),
    Distinct(usize),
    /// No value more frequent than one in so many.
    Frequency(i128, i128),
    Entropy(f64),
    Recursive {
        c: i128,
        l: usize,
    },
    Close(i128, i128, Distance),
    Gain(i128, i128),
    CappedGain,
    Disclosure(f64),
    Sites(usize),
}

/// A requirement as it is written, what it asks, and whether a run decides it exactly where there are
/// colluders, and not by a stronger rule.
struct Demand {
    line: &'static str,
    asked: &'static [Asked],
    is_exact: bool,
}

const fn exact(line: &'static str, asked: &'static [Asked]) -> Demand {
    Demand {
        line,
        asked,
        is_exact: true,
    }
}

const fn by_more(line: &'static str, asked: &'static [Asked]) -> Demand {
    Demand {
        line,
        asked,
        is_exact: false,
    }
}

const DEMANDS: [Demand; 14] = {
    use Asked::*;
    [
        exact("k = 3", &[Records(3)]),
        exact("k = 2, alpha = 0.7", &[Records(2), Share(7, 10)]),
        exact("k = 2, l = 2", &[Records(2), Distinct(2)]),
        exact(
            "k = 2, l = { at_least = 1.4, kind = \"frequency\" }",
            &[Records(2), Frequency(14, 10)],
        ),
        by_more(
            "k = 2, l = { at_least = 1.6, kind = \"entropy\" }",
            &[Records(2), Entropy(1.6)],
        ),
        exact(
            "k = 2, l = { at_least = 2, kind = \"recursive\", c = 3 }",
            &[Records(2), Recursive { c: 3, l: 2 }],
        ),
        by_more(
            "k = 2, l = { at_least = 3, kind = \"recursive\", c = 9 }",
            &[Records(2), Recursive { c: 9, l: 3 }],
        ),
        exact(
            "k = 2, t = 0.5",
            &[Records(2), Close(5, 10, Distance::Equal)],
        ),
        exact(
            "k = 2, t = 0.35",
            &[Records(2), Close(35, 100, Distance::Ordered)],
        ),
        exact(
            "k = 2, t = 0.4",
            &[Records(2), Close(4, 10, Distance::Hierarchical)],
        ),
        exact("k = 2, beta = 2", &[Records(2), Gain(2, 1)]),
        by_more(
            "k = 2, beta = { at_most = 2, kind = \"enhanced\" }",
            &[Records(2), Gain(2, 1), CappedGain],
        ),
        by_more("k = 2, delta = 1.5", &[Records(2), Disclosure(1.5)]),
        exact("k = 2, site_diversity = 2", &[Records(2), Sites(2)]),
    ]
};

impl Demand {
    /// The ground distance of every sensitive attribute.
    fn distance(&self) -> Distance {
        let close = |asked: &Asked| match asked {
            Asked::Close(_, _, distance) => Some(*distance),
            _ => None,
        };
        self.asked.iter().find_map(close).unwrap_or(Distance::Equal)
    }

    /// Whether a class of the table satisfies this whichever m sites take their records out.
    fn withstands(&self, class: &[&Raw], table: &[Raw], sites: u32, m: u32) -> bool {
        let mut coalitions = (0..1u32 << sites).filter(|gone| gone.count_ones() <= m);
        coalitions.all(|gone| {
            let left = class.iter().filter(|row| gone >> row.site & 1 == 0);
            let left: Vec<&Raw> = left.copied().collect();
            left.is_empty() || self.asked.iter().all(|asked| asked.holds(&left, table))
        })
    }
}

impl Asked {
    fn holds(self, class: &[&Raw], table: &[Raw]) -> bool {
        match self {
            Self::Records(least) => class.len() >= least,
            Self::Sites(least) => {
                let mut sites: Vec<u32> = class.iter().map(|row| row.site).collect();
                sites.sort_unstable();
                sites.dedup();
                sites.len() >= least
            }
            _ => (0..SENSITIVE.len()).all(|place| {
                let counted = |rows: &mut dyn Iterator<Item = &Raw>| {
                    let mut counts = vec![0i128; SENSITIVE[place] as usize];
                    rows.for_each(|row| counts[row.sensitive[place] as usize] += 1);
                    counts
                };
                let own = counted(&mut class.iter().copied());
                self.holds_of(place, &own, &counted(&mut table.iter()))
            }),
        }
    }

    /// For one sensitive attribute: counts in the class and in the table.
    fn holds_of(self, place: usize, own: &[i128], whole: &[i128]) -> bool {
        let (size, total): (i128, i128) = (own.iter().sum(), whole.iter().sum());
        let most = own.iter().copied().max().unwrap_or(0);
        let present = || own.iter().filter(|count| **count > 0);
        let mut gains = own.iter().zip(whole).filter(|(_, whole)| **whole > 0);
        match self {
            Self::Share(n, d) => most * d <= n * size,
            Self::Distinct(least) => present().count() >= least,
            Self::Frequency(n, d) => most * n <= d * size,
            Self::Entropy(least) => {
                let shares = present().map(|count| *count as f64 / size as f64);
                let entropy: f64 = shares.map(|share| -share * share.ln()).sum();
                entropy >= least.ln() - 1e-9
            }
            Self::Recursive { c, l } => {
                let mut counts = own.to_vec();
                counts.sort_unstable_by(|a, b| b.cmp(a));
                counts[0] < c * counts[l - 1..].iter().sum::<i128>()
            }
            Self::Close(n, d, distance) => {
                // How much more of each value there is than its share: times size and total.
                let more: Vec<i128> = own
                    .iter()
                    .zip(whole)
                    .map(|(own, whole)| own * total - whole * size)
                    .collect();
                let (moved, scale) = moved(place, &more, whole, distance);
                moved * d <= n * scale * size * total
            }
            Self::Gain(n, d) => gains.all(|(own, whole)| own * total * d <= (d + n) * whole * size),
            Self::CappedGain => gains.all(|(own, whole)| {
                let (q, p) = (*own as f64 / size as f64, *whole as f64 / total as f64);
                (q - p) / p <= -p.ln() + 1e-9
            }),
            // A value that is not there has no finite logarithm.
            Self::Disclosure(delta) => gains.all(|(own, whole)| {
                let (q, p) = (*own as f64 / size as f64, *whole as f64 / total as f64);
                (q / p).ln().abs() < delta + 1e-9
            }),
            Self::Records(_) | Self::Sites(_) => true,
        }
    }
}

/// What it costs to move what is too much to where there is too little, and over what (Li, Li and
/// Venkatasubramanian 2007, section 4).
fn moved(place: usize, more: &[i128], whole: &[i128], distance: Distance) -> (i128, i128) {
    match distance {
        Distance::Hierarchical if place == 2 => {
            let over = |extras: &[i128]| {
                let above: i128 = extras.iter().filter(|extra| **extra > 0).sum();
                let below: i128 = extras.iter().filter(|extra| **extra < 0).sum();
                above.min(-below)
            };
            let pairs = [more[0] + more[1], more[2] + more[3]];
            // Below X and Y at height 1, below the root at height 2.
            (over(&more[..2]) + over(&more[2..]) + 2 * over(&pairs), 2)
        }
        Distance::Ordered => {
            let there = more.iter().zip(whole).filter(|(_, whole)| **whole > 0);
            let there: Vec<i128> = there.map(|(more, _)| *more).collect();
            let mut carried = 0;
            let steps = there.iter().map(|more| {
                carried += more;
                carried.abs()
            });
            (steps.sum(), (there.len() as i128 - 1).max(1))
        }
        _ => (more.iter().filter(|more| **more > 0).sum(), 1),
    }
}

/// Mondrian by hand: strict medians, the widest attribute first, the site last of all where sites are
/// cut too. Classes as sorted places of records.
struct ByHand<'a> {
    rows: &'a [Raw],
    demand: &'a Demand,
    k: usize,
    m: u32,
    sites: u32,
    cuts_sites: bool,
}

impl ByHand<'_> {
    fn value(&self, row: usize, attribute: usize) -> u32 {
        let raw = &self.rows[row];
        raw.quasi.get(attribute).copied().unwrap_or(raw.site)
    }

    fn classes(&self) -> Option<Vec<Vec<usize>>> {
        let everybody: Vec<usize> = (0..self.rows.len()).collect();
        if !self.holds(&everybody) {
            return None;
        }
        let range = |attribute: usize| {
            let values = everybody.iter().map(|row| self.value(*row, attribute));
            (values.clone().min().unwrap(), values.max().unwrap())
        };
        let mut bounds: Vec<(u32, u32)> = (0..QUASI.len()).map(range).collect();
        if self.cuts_sites {
            bounds.push((0, self.sites - 1));
        }
        let whole: Vec<u32> = bounds.iter().map(|(from, to)| to - from + 1).collect();
        let mut found = Vec::new();
        let mut open = vec![(everybody, bounds)];
        while let Some((class, bounds)) = open.pop() {
            match self.cut(&class, &bounds, &whole) {
                Some(parts) => open.extend(parts),
                None => found.push(class),
            }
        }
        found.sort();
        Some(found)
    }

    fn holds(&self, class: &[usize]) -> bool {
        let class: Vec<&Raw> = class.iter().map(|row| &self.rows[*row]).collect();
        self.demand
            .withstands(&class, self.rows, self.sites, self.m)
    }

    #[allow(clippy::type_complexity)]
    fn cut(
        &self,
        class: &[usize],
        bounds: &[(u32, u32)],
        whole: &[u32],
    ) -> Option<Vec<(Vec<usize>, Vec<(u32, u32)>)>> {
        if class.len() < 2 * self.k {
            return None;
        }
        let width = |attribute: usize| bounds[attribute].1 - bounds[attribute].0 + 1;
        let mut order: Vec<usize> = (0..QUASI.len()).collect();
        // Stable: of equals the first.
        order.sort_by(|a, b| (width(*b) * whole[*a]).cmp(&(width(*a) * whole[*b])));
        order.extend(self.cuts_sites.then_some(QUASI.len()));
        for attribute in order.into_iter().filter(|attribute| width(*attribute) > 1) {
            let mut values: Vec<u32> = class
                .iter()
                .map(|row| self.value(*row, attribute))
                .collect();
            values.sort_unstable();
            let median = values[values.len().div_ceil(2) - 1];
            let (least, greatest) = bounds[attribute];
            let mut ends = Vec::new();
            if median < greatest {
                ends.push(median);
            }
            if least < median {
                ends.push(median - 1);
            }
            for end in ends {
                let (left, right): (Vec<usize>, Vec<usize>) = class
                    .iter()
                    .partition(|row| self.value(**row, attribute) <= end);
                let is_cut = !left.is_empty() && !right.is_empty();
                if is_cut && self.holds(&left) && self.holds(&right) {
                    let with = |bound: (u32, u32)| {
                        let mut bounds = bounds.to_vec();
                        bounds[attribute] = bound;
                        bounds
                    };
                    return Some(vec![
                        (left, with((least, end))),
                        (right, with((end + 1, greatest))),
                    ]);
                }
            }
        }
        None
    }
}

/// Classes that are written alike are one.
fn as_written(classes: &[Vec<usize>], cells: &[Vec<Cell>]) -> Vec<Vec<usize>> {
    let mut written: Vec<(&[Cell], Vec<usize>)> = Vec::new();
    for (class, cells) in classes.iter().zip(cells) {
        match written.iter_mut().find(|(other, _)| other == cells) {
            Some((_, rows)) => rows.extend(class),
            None => written.push((cells, class.clone())),
        }
    }
    written.into_iter().map(|(_, rows)| rows).collect()
}

#[test]
fn closeness_holds_without_a_skewed_site() {
    let numbers: Vec<u64> = (0..4_000).map(mixed).collect();
    let rows = skewed(&numbers, 3);
    let (schema, table) = table_of(&rows);
    // Two of the three sensitive attributes decide; the third is the tree.
    let demand = &DEMANDS[7];
    let requirement = requirement("k = 5, t = 0.5, m = 1", &schema);
    let owners: Vec<u32> = rows.iter().map(|row| row.site).collect();
    for cuts_sites in [false, true] {
        let run = Run {
            schema: &schema,
            table: &table,
            owners: &owners,
            sites: 3,
            plan: Plan {
                cuts_sites,
                ..plan(&schema, &requirement, false)
            },
            recode: Recode::Range,
            covers: Covers::Tight,
        };
        let joint = run.alone();
        assert!(joint.classes.len() > 30, "{}", joint.classes.len());
        let broken = joint.classes.iter().filter(|class| {
            let class: Vec<&Raw> = class.iter().map(|row| &rows[*row]).collect();
            !demand.withstands(&class, &rows, 3, 1)
        });
        let broken = broken.count();
        assert_eq!(broken, 0, "of {} classes", joint.classes.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// What sites decide that keep their counts to themselves is what one decides who has all rows:
    /// the same cuts allowed and refused where the run decides exactly, and a release that withstands
    /// every coalition always.
    #[test]
    fn mondrian_decides_as_one_who_has_all_rows(
        numbers in proptest::collection::vec(any::<u64>(), 10..70),
        sites in 3..5u32, demand in 0..DEMANDS.len(), m in 1..3u32,
        way in 0..3usize, strategy in 0..6usize, contributors in any::<bool>(),
    ) {
        let rows = skewed(&numbers, sites);
        let (schema, table) = table_of(&rows);
        let demand = &DEMANDS[demand];
        let requirement = requirement(&format!("{}, m = {m}", demand.line), &schema);
        let mut set = plan(&schema, &requirement, false);
        set.demands.sensitive.iter_mut().for_each(|one| one.distance = demand.distance());
        let plan = Plan {
            choice: [Choice::Width, Choice::Width, Choice::Fitness { weight: WEIGHT_OF_DIVERSITY }][way],
            cuts_sites: way > 0,
            demands: Demands { strategy: Strategy::ALL[strategy], contributors, ..set.demands },
            ..set
        };
        let by_hand = ByHand {
            rows: &rows,
            demand,
            k: requirement.k() as usize,
            m,
            sites,
            cuts_sites: way > 0,
        };
        let owners: Vec<u32> = rows.iter().map(|row| row.site).collect();
        let columns = share(&table, 0, 1);
        let all = own_rows(&schema, &columns, Owner::Column(&owners), sites as usize);
        let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
        let alone = pollster::block_on(partition(&mut party, &all, &plan, |_, _| {}));
        let everybody: Vec<usize> = (0..rows.len()).collect();
        match alone {
            Err(Error::Unmeetable { .. }) => {
                prop_assert!(!demand.is_exact || !by_hand.holds(&everybody));
                return Ok(());
            }
            alone => prop_assert!(alone.is_ok() && by_hand.holds(&everybody)),
        }
        let run = Run {
            schema: &schema,
            table: &table,
            owners: &owners,
            sites: sites as usize,
            plan,
            recode: Recode::Range,
            covers: Covers::Tight,
        };
        let joint = run.together();
        for class in as_written(&joint.classes, &joint.cells).iter().chain(&joint.classes) {
            prop_assert!(by_hand.holds(class), "{class:?}");
        }
        if demand.is_exact && way < 2 {
            let mut found = joint.classes.clone();
            found.sort();
            prop_assert_eq!(Some(found), by_hand.classes());
        }
    }
}

fn seeds(site: u32, start: u32) -> Seed {
    Seed::for_site(u64::from(start), site as usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// The same of clusters: what is published withstands every coalition, and nothing is refused
    /// that could be met.
    #[test]
    fn clusters_withstand_what_one_counts_who_has_all_rows(
        numbers in proptest::collection::vec(any::<u64>(), 10..60),
        sites in 3..5u32, demand in 0..DEMANDS.len(), m in 1..3u32, is_refined in any::<bool>(),
    ) {
        let rows = skewed(&numbers, sites);
        let (schema, table) = table_of(&rows);
        let demand = &DEMANDS[demand];
        let requirement = requirement(&format!("{}, m = {m}", demand.line), &schema);
        let mut demands = plan(&schema, &requirement, false).demands;
        demands.sensitive.iter_mut().for_each(|one| one.distance = demand.distance());
        let quasi = schema.with_role(Role::Quasi).into_iter();
        let plan = clustering::Plan {
            writings: quasi
                .map(|index| Writing {
                    domain: &schema.attributes()[index].domain,
                    recode: Recode::Range,
                })
                .collect(),
            loss: Loss::Lm,
            demands,
            support: None,
            start: 0.5,
            split: 1.5,
            starts: 1,
            stop: Stop { iterations: Some(10), ..Stop::at(Security::Hardened) },
            effort: 2,
            used: &|| 0.0,
            finds_least: false,
            is_refined,
            is_printed: false,
            counts: CountsChoice::Opened,
            covers: Covers::Tight,
            is_blurred: false,
            seeds: &seeds,
        };
        let places: Vec<Vec<usize>> = (0..sites)
            .map(|site| (0..rows.len()).filter(|row| rows[*row].site == site).collect())
            .collect();
        let outcome = Simulation::new(sites as usize, 3).run(|mut party| {
            let (schema, table, plan, places) = (&schema, &table, &plan, &places);
            async move {
                let site = party.me().index();
                let columns: Vec<Codes> = (0..schema.attributes().len())
                    .map(|position| {
                        let codes = table.codes(position).unwrap();
                        let mut own = Codes::for_size(schema.attributes()[position].domain.size());
                        places[site].iter().for_each(|row| own.push(codes.get(*row)));
                        own
                    })
                    .collect();
                let own = own_rows(schema, &columns, Owner::Site(site as u32), places.len());
                cluster(&mut party, &own, plan, |_| {}).await
            }
        });
        let everybody: Vec<&Raw> = rows.iter().collect();
        let could_be = demand.withstands(&everybody, &rows, sites, m);
        let found = match outcome.into_values() {
            Err(Error::Unmeetable { .. }) => {
                prop_assert!(!demand.is_exact || !could_be);
                return Ok(());
            }
            found => found.unwrap(),
        };
        prop_assert!(could_be);
        let classes: Vec<Vec<usize>> = (0..found[0].partition.classes.len())
            .map(|class| {
                let sites = found.iter().zip(&places);
                let own = sites.flat_map(|(found, places)| {
                    let own = found.partition.rows(&found.partition.classes[class]);
                    own.iter().map(|row| places[*row as usize])
                });
                own.collect()
            })
            .collect();
        for class in as_written(&classes, &found[0].cells).iter().chain(&classes) {
            let class: Vec<&Raw> = class.iter().map(|row| &rows[*row]).collect();
            prop_assert!(demand.withstands(&class, &rows, sites, m));
        }
    }
}
