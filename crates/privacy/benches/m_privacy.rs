//! Numbers of privacy checks of the m-privacy strategies (MPRIV section V.B, figures 6 to 8).
//!
//! `cargo bench -p hedgerow-privacy --bench m_privacy` prints, for a group of low fitness (150
//! records) and one of high fitness (750), for 2 to 20 sites and every m, the checks of each
//! strategy; behind the exact one's checks the bounds it evaluated. Totals follow, where each bound
//! counts as a check.
//!
//! As in the paper, 14 sensitive values, k and distinct l, records over sites by an exponential
//! distribution. Its Table II is lost in print: k = 15 is the one its section V.C names; with l = 4
//! and our weight of diversity, average fitness is near the 0.867 and 2.307 that it gives for its
//! two groups at 15 and at 20 sites. There k decides almost every verdict; in the second
//! requirement l does. Sensitive values are distributed as the occupations of Adult (UCI Machine
//! Learning Repository).

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use hedgerow_privacy::collusion::Members;
use hedgerow_privacy::m_privacy::{Sites, Strategy, Verified, verify};
use hedgerow_privacy::{Model, TableView};

/// k and l: near the paper's, and one where diversity decides.
const REQUIREMENTS: [(u64, u64); 2] = [(15, 4), (5, 8)];

/// Records of each occupation in Adult's 45,222.
const OCCUPATIONS: [u64; 14] = [
    6020, 6008, 5984, 5540, 5408, 4808, 2970, 2316, 2046, 1480, 1420, 976, 232, 14,
];

const TABLE: TableView<'_> = TableView {
    references: &[],
    movers: Vec::new(),
};

fn main() {
    // `cargo test --all-targets` runs this binary too, without `--bench`.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let mut totals = Totals::default();
    for (k, l) in REQUIREMENTS {
        for (name, records) in [("low fitness", 150), ("high fitness", 750)] {
            let title = format!("{name}: {records} records, k = {k}, l = {l}");
            let of_group = print_group(&title, records, &models(k, l));
            of_group.print(&title);
            totals.join(&of_group);
        }
    }
    totals.print("all groups");
}

fn print_group(title: &str, records: usize, models: &[Model]) -> Totals {
    let mut totals = Totals::default();
    for sites in 2..=20 {
        let class = group(records, sites);
        let known = Sites::known(&class, models, &TABLE).unwrap();
        print_head(title, sites, known.average_fitness());
        for m in 0..sites as u64 {
            let row =
                Strategy::ALL.map(|strategy| verify(strategy, &class, models, &TABLE, m).unwrap());
            print_row(m, &row);
            totals.add(&row);
        }
    }
    totals
}

fn models(k: u64, l: u64) -> [Model; 2] {
    [Model::KAnonymity { k }, Model::DistinctDiversity { l }]
}

/// A class of so many records over exactly so many sites.
fn group(records: usize, sites: usize) -> Members {
    let mut random = Random(records as u64 * 1_000 + sites as u64);
    let weights: Vec<f64> = (0..sites).map(|_| -(1.0 - random.unit()).ln()).collect();
    let total: f64 = weights.iter().sum();
    // One record for each site, the others by weight.
    let owner = |place: usize, share: f64| {
        if place < sites {
            return place as u32;
        }
        let mut left = share * total;
        let reached = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        reached.unwrap_or(sites - 1) as u32
    };
    let owners: Vec<u32> = (0..records)
        .map(|place| owner(place, random.unit()))
        .collect();
    let values: Vec<u32> = (0..records).map(|_| random.occupation()).collect();
    Members::new(&owners, [&values[..]])
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn occupation(&mut self) -> u32 {
        let mut left = self.next() % OCCUPATIONS.iter().sum::<u64>();
        for (value, count) in OCCUPATIONS.iter().enumerate() {
            if left < *count {
                return value as u32;
            }
            left -= count;
        }
        unreachable!("the remainder is below the sum")
    }
}

fn print_head(title: &str, sites: usize, average_fitness: f64) {
    println!("\n{title}, {sites} sites, average fitness {average_fitness:.3}");
    print!("{:>3} {:<8}", "m", "verdict");
    for strategy in Strategy::ALL {
        print!(" {:>9}", format!("{strategy:?}"));
    }
    println!(" {:>7}", "+bounds");
}

fn print_row(m: u64, row: &[Verified; 6]) {
    let verdict = if row[0].is_private() {
        "private"
    } else {
        "breached"
    };
    print!("{m:>3} {verdict:<8}");
    for verified in row {
        assert_eq!(verified.is_private(), row[0].is_private());
        print!(" {:>9}", verified.checks);
    }
    println!(" {:>7}", row[5].bounds);
}

#[derive(Default)]
struct Totals {
    classes: u64,
    of_strategy: [u64; 6],
    /// The exact strategy's checks alone.
    exact_checks: u64,
    /// Of each class, the fewest that one of the five needed.
    fewest: u64,
}

impl Totals {
    fn add(&mut self, row: &[Verified; 6]) {
        let costs = row.map(|verified| verified.cost());
        self.join(&Self {
            classes: 1,
            of_strategy: costs,
            exact_checks: row[5].checks,
            fewest: costs[..5].iter().copied().min().unwrap(),
        });
    }

    fn join(&mut self, other: &Self) {
        self.classes += other.classes;
        for (total, more) in self.of_strategy.iter_mut().zip(other.of_strategy) {
            *total += more;
        }
        self.exact_checks += other.exact_checks;
        self.fewest += other.fewest;
    }

    fn print(&self, name: &str) {
        println!("\nTotals, {name} ({} verifications):", self.classes);
        for (strategy, total) in Strategy::ALL.iter().zip(self.of_strategy) {
            println!("{:<28} {total:>10}", format!("{strategy:?}"));
        }
        let exact = self.of_strategy[5];
        let best = self.of_strategy[..5].iter().copied().min().unwrap();
        println!("{:<28} {:>10}", "exact, without bounds", self.exact_checks);
        println!("{:<28} {:>10}", "best of five, class by class", self.fewest);
        let ratio = |of: u64| exact as f64 / of as f64;
        println!("exact / best of the five: {:.5}", ratio(best));
        println!("exact / best, class by class: {:.5}", ratio(self.fewest));
    }
}
