//! JX09 section 3 to the letter: entropy and recursive site diversity, site diversity over the attributes
//! that betray a site, and equation 3 over all candidate cuts. Recounted from the rows.

use std::collections::BTreeMap;

use hedgerow_data::{Recode, Schema, Table};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::mondrian::{Choice, Plan};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Seed, Settings};
use proptest::prelude::*;

use crate::runs::{Joint, Run, Split, census, integers, requirement};
use crate::tables::plan;

const LEVELS: [fn() -> Settings; 2] = [Settings::hardened, Settings::published];

fn run<'a>(
    (schema, table): (&'a std::sync::Arc<Schema>, &'a Table),
    (owners, sites): (&'a [u32], usize),
    plan: Plan<'a>,
    covers: Covers,
) -> Run<'a> {
    Run {
        schema,
        table,
        owners,
        sites,
        plan,
        recode: Recode::Range,
        covers,
    }
}

/// How many records of each site, the most first.
fn of_sites(records: &[usize], owners: &[u32], sites: usize) -> Vec<f64> {
    let count = |site: usize| {
        let own = records
            .iter()
            .filter(|record| owners[**record] as usize == site);
        own.count() as f64
    };
    let mut counts: Vec<f64> = (0..sites).map(count).collect();
    counts.sort_by(|a, b| b.total_cmp(a));
    counts
}

fn entropy_of(counts: &[f64]) -> f64 {
    let all: f64 = counts.iter().sum();
    let shares = counts.iter().map(|count| count / all);
    let terms = shares.filter(|share| *share > 0.0);
    terms.map(|share| -share * share.ln()).sum::<f64>().exp()
}

/// Skewed sites: a few of a table, most of it at one.
fn records() -> impl Strategy<Value = (Vec<Vec<u32>>, Vec<u32>)> {
    let site = prop_oneof![3 => Just(0u32), 2 => 0u32..4, 1 => 3u32..5];
    let record = (prop::collection::vec(0u32..9, 3), site);
    prop::collection::vec(record, 12..90).prop_map(|records| records.into_iter().unzip())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every class of a run is spread over sites as demanded, at both levels, as in one party with
    /// everybody's rows; so is every class by a count of the rows.
    #[test]
    fn classes_are_spread_over_sites((rows, owners) in records(), tenths in 10..25u32, kind in 0..3usize) {
        let sites = 5;
        let (schema, table) = integers(&[9, 9, 9], &rows);
        let l = f64::from(tenths) / 10.0;
        let c = f64::from(tenths) / 4.0;
        let (line, l) = match kind {
            0 => (format!("at_least = {l}, kind = \"entropy\""), l),
            _ => (format!("at_least = {}, kind = \"recursive\", c = {c}", kind + 1), (kind + 1) as f64),
        };
        let demand = requirement(&format!("k = 2, site_diversity = {{ {line} }}, m = 0"), &schema);
        let is_spread = |records: &[usize]| {
            let counts = of_sites(records, &owners, sites);
            match kind {
                0 => entropy_of(&counts) >= l - 1e-8,
                _ => counts[0] < c * counts[l as usize - 1..].iter().sum::<f64>() - 1e-9,
            }
        };
        let everything: Vec<usize> = (0..rows.len()).collect();
        if kind == 2 {
            // Near the bound, a few tables are refused that would hold.
            let counts = of_sites(&everything, &owners, sites);
            let bound = counts[0] / counts[2..].iter().sum::<f64>();
            prop_assume!(bound >= c || bound < c / 2.0);
        }
        let mut classes = Vec::new();
        for settings in LEVELS.map(|settings| settings()) {
            let plan = Plan { choice: Choice::Diversity { alpha: 0.3 }, ..plan(&schema, &demand, false) };
            let run = run((&schema, &table), (&owners, sites), plan, Covers::Tight);
            if !is_spread(&everything) {
                prop_assert!(is_refused(&run, settings));
                continue;
            }
            let (joint, _) = run.together_with(settings);
            run.check(&joint);
            prop_assert!(joint.classes.iter().all(|records| is_spread(records)));
            prop_assert_eq!(&run.alone_with(settings), &joint);
            classes.push(joint.classes.len());
        }
        prop_assert!(classes.iter().all(|count| *count > 0));
    }

    /// Over one attribute that betrays a site: the records written alike in it have their sites, however
    /// few sites a class has; and nothing that was cut otherwise is lost.
    #[test]
    fn what_is_written_alike_where_it_betrays_a_site_has_its_sites(
        (rows, owners) in records(),
        l in 2u64..4,
        is_even in any::<bool>(),
        level in 0..2usize,
    ) {
        let sites = 5;
        let (schema, table) = integers(&[9, 9, 9], &rows);
        let kind = if is_even { "entropy" } else { "class" };
        let all = (0..rows.len()).collect::<Vec<_>>();
        let is_diverse = |records: &[usize]| {
            let counts = of_sites(records, &owners, sites);
            match is_even {
                true => entropy_of(&counts) >= l as f64 / 2.0 - 1e-8,
                false => counts[l as usize - 1] > 0.0,
            }
        };
        prop_assume!(is_diverse(&all));
        let l = if is_even { l as f64 / 2.0 } else { l as f64 };
        let line = format!("k = 2, site_diversity = {{ at_least = {l}, kind = \"{kind}\", attributes = [\"a0\"] }}, m = 0");
        let demand = requirement(&line, &schema);
        let settings = LEVELS[level]();
        let found = |betraying: Option<Vec<bool>>| -> Joint {
            let plan = Plan { betraying, choice: Choice::Diversity { alpha: 0.3 }, ..plan(&schema, &demand, false) };
            let run = run((&schema, &table), (&owners, sites), plan, Covers::Box);
            let (joint, _) = run.together_with(settings);
            // The verifier groups by the text of the attributes that the requirement names.
            run.check(&joint);
            assert_eq!(run.alone_with(settings), joint);
            joint
        };
        let (by_class, by_group) = (found(None), found(Some(vec![true, false, false])));
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (records, cells) in by_group.classes.iter().zip(&by_group.cells) {
            groups.entry(format!("{:?}", cells[0])).or_default().extend(records);
        }
        prop_assert!(groups.values().all(|records| is_diverse(records)));
        // Every class lies within one that is diverse by itself.
        for records in &by_group.classes {
            let is_within = |wider: &Vec<usize>| records.iter().all(|record| wider.contains(record));
            prop_assert!(by_class.classes.iter().any(is_within));
        }
    }
}

/// A whole table that is not spread as demanded is refused, with words.
fn is_refused(run: &Run<'_>, settings: Settings) -> bool {
    let rows: Vec<usize> = (0..run.table.rows()).collect();
    let mut party = Party::alone(settings, &Seed::for_site(1, 0));
    let part = run.take_part(&mut party, &rows, Owner::Column(run.owners));
    let error = pollster::block_on(part).unwrap_err();
    let is_it = matches!(&error, Error::Unmeetable { best, .. } if best.contains("too unevenly"));
    is_it && error.to_string().contains("site diversity")
}

/// The first attribute says whose a record is, the second says nothing of it: by the definition the
/// second may be cut wherever the first is written alike, though some parts are of one site.
#[test]
fn attributes_that_betray_no_site_are_cut_on() {
    // Sites by town; a town's years of birth lie apart, so that no cut by year keeps sites together.
    let rows: Vec<Vec<u32>> = (0..40).map(|row| vec![row % 2, row / 4]).collect();
    let owners: Vec<u32> = (0..40).map(|row| row / 20).collect();
    let (schema, table) = integers(&[2, 10], &rows);
    let line = "k = 4, site_diversity = { at_least = 2, attributes = [\"a0\"] }, m = 0";
    let demand = requirement(line, &schema);
    for settings in LEVELS.map(|settings| settings()) {
        let classes = |betraying| {
            let plan = Plan {
                betraying,
                ..plan(&schema, &demand, false)
            };
            let run = run((&schema, &table), (&owners, 2), plan, Covers::Box);
            let (joint, _) = run.together_with(settings);
            run.check(&joint);
            assert_eq!(run.alone_with(settings), joint);
            joint.classes
        };
        // By class: the towns apart, years whole.
        assert_eq!(classes(None).len(), 2);
        let by_group = classes(Some(vec![true, false]));
        assert!(by_group.len() >= 8, "{by_group:?}");
        let of_one_site = |records: &&Vec<usize>| of_sites(records, &owners, 2)[1] == 0.0;
        assert!(by_group.iter().any(|records| of_one_site(&records)));
    }
}

/// Recursive and entropy diversity of a real distribution of sizes, at sites of exponential size.
#[test]
fn unequal_sites_of_a_census() {
    let (schema, table) = census(1_500);
    let sites = 6;
    let owners = Split::Exponential.owners(&schema, &table, sites);
    for line in [
        "at_least = 2.5, kind = \"entropy\"",
        "at_least = 3, kind = \"recursive\", c = 4",
        "at_least = 2, kind = \"recursive\", c = 1.5",
    ] {
        let demand = requirement(
            &format!("k = 5, site_diversity = {{ {line} }}, m = 0"),
            &schema,
        );
        let run = run(
            (&schema, &table),
            (&owners, sites),
            plan(&schema, &demand, false),
            Covers::Tight,
        );
        let joint = run.together();
        run.check(&joint);
        assert!(
            joint.classes.len() > 20,
            "{line}: {} classes",
            joint.classes.len()
        );
    }
}

/// What sites cannot tell without showing counts is refused before anything is asked.
#[test]
fn spread_and_colluders_are_refused() {
    let rows: Vec<Vec<u32>> = (0..12).map(|row| vec![row % 3]).collect();
    let owners: Vec<u32> = (0..12).map(|row| row % 3).collect();
    let (schema, table) = integers(&[3], &rows);
    let line = "k = 2, site_diversity = { at_least = 2, kind = \"entropy\" }, m = 1";
    let demand = requirement(line, &schema);
    let plan = plan(&schema, &demand, false);
    let run = run((&schema, &table), (&owners, 3), plan, Covers::Tight);
    let ran = Simulation::new(3, 7).run(|mut party| {
        let run = &run;
        async move {
            let site = party.me().index();
            let rows: Vec<usize> = (site..12).step_by(3).collect();
            run.take_part(&mut party, &rows, Owner::Site(site as u32))
                .await
        }
    });
    for error in ran.results {
        let error = error.unwrap_err();
        assert!(
            matches!(error, Error::SpreadWithColluders { .. }),
            "{error}"
        );
    }
}

/// Equation 3 as the paper prints it, in a Mondrian of its own: the classes of a table, from its rows.
struct Printed<'a> {
    rows: &'a [Vec<u32>],
    owners: &'a [u32],
    sites: usize,
    k: usize,
    l: usize,
    /// alpha in 4096ths, as it is agreed on.
    alpha: i64,
    whole: Vec<f64>,
}

impl Printed<'_> {
    fn parts(&self, records: &[usize], attribute: usize, end: u32) -> [Vec<usize>; 2] {
        let (left, right) = records
            .iter()
            .partition(|record| self.rows[**record][attribute] <= end);
        [left, right]
    }

    /// Equation 2, rounded to millionths for each site and part as sites add it.
    fn entropy(&self, parts: &[Vec<usize>; 2]) -> i64 {
        let terms = parts.iter().flat_map(|part| {
            let shares = of_sites(part, self.owners, self.sites).into_iter();
            shares.map(|count| count / part.len() as f64)
        });
        let terms = terms.filter(|share| *share > 0.0);
        terms
            .map(|share| (-share * share.ln() * f64::from(1 << 20)).round() as i64)
            .sum()
    }

    fn is_allowed(&self, parts: &[Vec<usize>; 2]) -> bool {
        parts.iter().all(|part| {
            let counts = of_sites(part, self.owners, self.sites);
            part.len() >= self.k && counts[self.l - 1] > 0.0
        })
    }

    fn classes(&self, records: Vec<usize>, bounds: Vec<(u32, u32)>, found: &mut Vec<Vec<usize>>) {
        let open = |attribute: &usize| bounds[*attribute].0 < bounds[*attribute].1;
        let attributes: Vec<usize> = (0..bounds.len()).filter(open).collect();
        if records.len() < 2 * self.k {
            found.push(records);
            return;
        }
        let median = |attribute: usize| {
            let mut values: Vec<u32> = records
                .iter()
                .map(|record| self.rows[*record][attribute])
                .collect();
            values.sort_unstable();
            values[values.len().div_ceil(2) - 1]
        };
        // First every attribute with its median on the left, then on the right.
        let sides: [Vec<(usize, u32)>; 2] = [
            attributes
                .iter()
                .map(|a| (*a, median(*a).min(bounds[*a].1 - 1)))
                .collect(),
            attributes
                .iter()
                .filter(|a| bounds[**a].0 < median(**a) && median(**a) < bounds[**a].1)
                .map(|a| (*a, median(*a) - 1))
                .collect(),
        ];
        for cuts in sides {
            let tried: Vec<(usize, u32, [Vec<usize>; 2])> = cuts
                .into_iter()
                .map(|(attribute, end)| (attribute, end, self.parts(&records, attribute, end)))
                .collect();
            let Some(best) = self.best(&tried, &bounds) else {
                continue;
            };
            let (attribute, end, [left, right]) = &tried[best];
            for (part, side) in [
                (left, (bounds[*attribute].0, *end)),
                (right, (end + 1, bounds[*attribute].1)),
            ] {
                let mut bounds = bounds.clone();
                bounds[*attribute] = side;
                self.classes(part.clone(), bounds, found);
            }
            return;
        }
        found.push(records);
    }

    /// The allowed cut with the best score, whose maxima are over all cuts; of equals the widest, then the
    /// first.
    fn best(
        &self,
        tried: &[(usize, u32, [Vec<usize>; 2])],
        bounds: &[(u32, u32)],
    ) -> Option<usize> {
        let width = |attribute: usize| {
            let (least, greatest) = bounds[attribute];
            f64::from(greatest - least) / self.whole[attribute]
        };
        let widest = tried
            .iter()
            .map(|(attribute, ..)| width(*attribute))
            .fold(0.0, f64::max);
        let most = tried.iter().map(|(.., parts)| self.entropy(parts)).max()?;
        let score = |place: usize| {
            let (attribute, _, parts) = &tried[place];
            let range = (width(*attribute) / widest * 4096.0).round() as i64;
            // Both shares over the common denominator 4096 max(e).
            self.alpha * range * most + (4096 - self.alpha) * 4096 * self.entropy(parts)
        };
        let allowed = (0..tried.len()).filter(|place| self.is_allowed(&tried[*place].2));
        allowed.reduce(|best, next| {
            let is_better = score(next) > score(best)
                || (score(next) == score(best) && width(tried[next].0) > width(tried[best].0));
            if is_better { next } else { best }
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn equation_3_is_over_all_candidate_cuts((rows, owners) in records(), alpha in 0..=10u32, l in 2..4usize) {
        let sites = 5;
        let (schema, table) = integers(&[9, 9, 9], &rows);
        let everything: Vec<usize> = (0..rows.len()).collect();
        prop_assume!(of_sites(&everything, &owners, sites)[l - 1] > 0.0);
        let alpha = f64::from(alpha) / 10.0;
        let bounds: Vec<(u32, u32)> = (0..3)
            .map(|attribute| {
                let values = rows.iter().map(|row| row[attribute]);
                (values.clone().min().unwrap(), values.max().unwrap())
            })
            .collect();
        let printed = Printed {
            rows: &rows,
            owners: &owners,
            sites,
            k: 2,
            l,
            alpha: (alpha * 4096.0).round() as i64,
            whole: bounds.iter().map(|(least, greatest)| f64::from(greatest - least)).collect(),
        };
        let mut expected = Vec::new();
        printed.classes(everything, bounds, &mut expected);
        expected.sort_unstable();
        let demand = requirement(&format!("k = 2, site_diversity = {l}, m = 0"), &schema);
        let plan = Plan { choice: Choice::Diversity { alpha }, ..plan(&schema, &demand, false) };
        let run = run((&schema, &table), (&owners, sites), plan, Covers::Tight);
        let (joint, _) = run.together_with(Settings::published());
        let mut classes = joint.classes;
        classes.sort_unstable();
        prop_assert_eq!(classes, expected);
    }
}
