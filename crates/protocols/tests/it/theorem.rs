//! JX09 Theorems 1 and 2 (section 4.3) as tests: what a run's ledgers hold follows from the release
//! (l = 1), or is of the kinds and the number that the paper lists (l > 1, MPRIV).

mod bounds;
mod listed;
mod simulator;

use std::sync::Arc;

use hedgerow_data::{Codes, Recode, Release, Role, Schema, Table};
use hedgerow_privacy::m_privacy;
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::assembly::{VALUES, assemble};
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::cover::{COVERS, Writing, covers};
use hedgerow_protocols::horizontal::mondrian::{
    ALL_MEDIANS, BETWEEN_SITES, CANDIDATES, COALITIONS, Choice, EVENER, MEDIANS, MEDIANS_IN_NODES,
    PARTS, Plan, RANGES, RANGES_IN_NODES, RECORDS, REFUSED, SITES, WITHSTOOD, Widths, partition,
};
use hedgerow_protocols::horizontal::requirement::Demands;
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Settings, To, What};
use proptest::prelude::*;

use crate::tables::{adult, numbers, own_rows, plan, share, small};
use bounds::Bounds;
use listed::Agreed;
use simulator::{Astray, Line, Notes, Public};

/// A run of all sites.
struct Run<'a> {
    schema: &'a Arc<Schema>,
    table: &'a Table,
    plan: &'a Plan<'a>,
    recode: Recode,
    covers: Covers,
    sites: usize,
    /// A name under which the first site lets slip how many records it has, between two steps.
    slip: Option<What>,
}

impl<'a> Run<'a> {
    fn new(schema: &'a Arc<Schema>, table: &'a Table, plan: &'a Plan<'a>, sites: usize) -> Self {
        Self {
            schema,
            table,
            plan,
            recode: Recode::Range,
            covers: Covers::Tight,
            sites,
            slip: None,
        }
    }

    fn writings(&self) -> Vec<Writing<'_>> {
        let quasi = self.schema.with_role(Role::Quasi).into_iter();
        quasi
            .map(|attribute| Writing {
                domain: &self.schema.attributes()[attribute].domain,
                recode: self.recode,
            })
            .collect()
    }

    /// The release, which all sites have, and each site's ledger.
    fn run(&self) -> Result<(Release, Vec<Vec<Line>>), Error> {
        let settings = Settings {
            fan_out: hedgerow_protocols::FAN_OUT,
            ..Settings::hardened()
        };
        let simulation = Simulation::new(self.sites, 5).settings(settings);
        let outcome = simulation.run(|mut party| async move {
            party.keep_values();
            let site = party.me().index();
            let columns = share(self.table, site, self.sites);
            let rows = own_rows(self.schema, &columns, Owner::Site(site as u32), self.sites);
            let found = partition(&mut party, &rows, self.plan, |_, _| {}).await?;
            if let Some(what) = self.slip {
                let mut own = [if site == 0 { rows.count as u64 } else { 0 }];
                party.sum(what, &mut own).await?;
            }
            let cells = covers(&mut party, &rows, &found, &self.writings(), self.covers).await?;
            let verbatim: Vec<(usize, &Codes)> = self
                .schema
                .with_role(Role::Sensitive)
                .into_iter()
                .map(|attribute| (attribute, &columns[attribute]))
                .collect();
            let release = assemble(&mut party, self.schema, &found, &cells, &verbatim).await?;
            let entries = party.ledger().entries().iter().map(|entry| {
                let values = entry.recorded.clone().unwrap();
                assert!(entry.complete && entry.values == values.len());
                assert_eq!(entry.disclosure.to, To::All);
                let what = entry.disclosure.what;
                Line { what, values }
            });
            Ok::<_, Error>((release, entries.collect::<Vec<Line>>()))
        });
        let (releases, ledgers): (Vec<Release>, Vec<_>) =
            outcome.into_values()?.into_iter().unzip();
        assert!(releases.iter().all(|release| *release == releases[0]));
        Ok((releases.into_iter().next().unwrap(), ledgers))
    }

    /// What the ledger must hold.
    fn implied(&self, release: &Release, notes: &Notes) -> Result<Vec<Line>, Astray> {
        let public = Public {
            plan: self.plan,
            writings: &self.writings(),
            covers: self.covers,
        };
        simulator::ledger(release, &public, notes)
    }

    /// What in a ledger follows neither from the release nor from its own notes on refused cuts.
    fn unexplained(&self, release: &Release, found: &[Line]) -> Option<String> {
        match self.implied(release, &notes(found)) {
            Ok(implied) => difference(&implied, found),
            Err(astray) => Some(astray.to_owned()),
        }
    }

    /// Checks every site's ledger; gives it.
    fn check(&self) -> Result<Vec<Line>, Error> {
        let (release, ledgers) = self.run()?;
        for found in &ledgers {
            assert_eq!(self.unexplained(&release, found), None);
        }
        Ok(ledgers.into_iter().next().unwrap())
    }
}

/// What the ledger says about refused cuts: all that the simulator is given of it.
fn notes(ledger: &[Line]) -> Notes {
    let mut notes = Notes::new();
    let mut waves = 0;
    for line in ledger {
        match line.what {
            PARTS => waves += 1,
            REFUSED => drop(notes.insert(waves - 1, line.values.clone())),
            _ => {}
        }
    }
    notes
}

/// The first disclosure that is not implied, or was not made.
fn difference(implied: &[Line], found: &[Line]) -> Option<String> {
    let longest = implied.len().max(found.len());
    let place = (0..longest).find(|place| implied.get(*place) != found.get(*place))?;
    let said = |line: Option<&Line>| {
        line.map_or(String::from("nothing"), |line| {
            format!("{:?} as {}", line.values, line.what.name())
        })
    };
    let (implied, found) = (said(implied.get(place)), said(found.get(place)));
    Some(format!(
        "entry {place} discloses {found}; the release implies {implied}"
    ))
}

fn requirement(line: &str, schema: &Schema) -> Requirement {
    Requirement::of_line(line, &Scope::of_schema(schema)).unwrap()
}

fn has(ledger: &[Line], what: What) -> bool {
    ledger.iter().any(|line| line.what == what)
}

const DEMANDS: [&str; 5] = [
    "k = 2",
    "k = 1",
    "k = 3, l = 2",
    "k = 2, t = 0.4",
    "k = 2, l = { at_least = 1.5, kind = \"entropy\" }, t = 0.5",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Theorem 1 where its condition holds: every first attribute is split. All values differ and
    /// all halves are even, so no cut is refused, and the release alone says everything.
    #[test]
    fn theorem_1_from_the_release_alone(
        order in Just((0..64u32).collect::<Vec<_>>()).prop_shuffle(),
        gaps in proptest::collection::vec(1..4u32, 64),
        k in 1..4usize, halvings in 1..5usize, sites in 2..6usize,
        has_counts in any::<bool>(),
    ) {
        let mut age = 0;
        let rows: Vec<Vec<u32>> = (0..k << halvings)
            .map(|row| {
                age += gaps[row];
                vec![age, order[row], 0, row as u32 % 5]
            })
            .collect();
        let (schema, table) = numbers(&[300, 64, 7, 5], &rows);
        // A closeness that everything has, so that sensitive counts are asked for.
        let closeness = if has_counts { ", t = 1" } else { "" };
        let requirement = requirement(&format!("k = {k}{closeness}"), &schema);
        let plan = plan(&schema, &requirement, false);
        let run = Run::new(&schema, &table, &plan, sites);
        let (release, ledgers) = run.run().unwrap();
        let implied = run.implied(&release, &Notes::new()).unwrap();
        for found in ledgers {
            prop_assert!(!has(&found, REFUSED));
            prop_assert_eq!(difference(&implied, &found), None);
        }
        let medians = implied.iter().filter(|line| line.what == MEDIANS);
        let medians: usize = medians.map(|line| line.values.len()).sum();
        prop_assert_eq!(medians, (1 << halvings) - 1);
    }

    /// Theorem 1 in general: the release, and what the ledger itself says was refused. Medians and
    /// children, ranges and nodes, tight covers and boxes.
    #[test]
    fn theorem_1_beside_refused_cuts(
        rows in proptest::collection::vec(any::<(u32, u32, u32, u32)>(), 4..60),
        sites in 2..6usize, demand in 0..DEMANDS.len(), by_children in any::<bool>(),
        is_node in any::<bool>(), is_data in any::<bool>(), is_box in any::<bool>(),
    ) {
        let (schema, table) = small(&rows);
        let requirement = requirement(DEMANDS[demand], &schema);
        let plan = Plan {
            widths: if is_data { Widths::Data } else { Widths::Box },
            ..plan(&schema, &requirement, by_children)
        };
        let run = Run {
            recode: if by_children && is_node { Recode::Node } else { Recode::Range },
            covers: if is_box { Covers::Box } else { Covers::Tight },
            ..Run::new(&schema, &table, &plan, sites)
        };
        match run.check() {
            Ok(_) | Err(Error::Unmeetable { .. }) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    /// The same with many values, which are mixed rather than counted where k is small.
    #[test]
    fn theorem_1_with_many_values(
        rows in proptest::collection::vec((0..500u32, 0..40u32, 0..3u32, 0..1000u32), 10..80),
        sites in 2..5usize, k in 1..6u64,
    ) {
        let rows: Vec<Vec<u32>> = rows.iter().map(|row| vec![row.0, row.1, row.2, row.3]).collect();
        let (schema, table) = numbers(&[500, 40, 3, 1000], &rows);
        let requirement = requirement(&format!("k = {k}"), &schema);
        let plan = plan(&schema, &requirement, false);
        Run::new(&schema, &table, &plan, sites).check().unwrap();
    }

    /// Theorem 2: with site diversity, what is listed there and the release are all of the ledger.
    #[test]
    fn theorem_2_lists_everything(
        rows in proptest::collection::vec(any::<(u32, u32, u32, u32)>(), 8..60),
        sites in 2..6usize, k in 2..4u64, l in 1..3usize, alpha in prop::sample::select(vec![0.0, 0.3, 1.0]),
    ) {
        let (schema, table) = small(&rows);
        let requirement = requirement(&diverse(k, l), &schema);
        let plan = Plan {
            choice: Choice::Diversity { alpha },
            ..plan(&schema, &requirement, false)
        };
        let agreed = Agreed { attributes: 3, values: 3, k, l, alpha };
        match Run::new(&schema, &table, &plan, sites).run() {
            Ok((_, ledgers)) => for found in ledgers {
                prop_assert_eq!(agreed.follow(&found), Ok(()));
            },
            Err(Error::Unmeetable { .. }) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    /// MPRIV: nothing but bits about coalitions, one for each threshold, and what speaks of sites is
    /// named.
    #[test]
    fn coalitions_are_bounded(
        rows in proptest::collection::vec(any::<(u32, u32, u32, u32)>(), 12..60), sites in 3..6usize,
    ) {
        let (schema, table) = small(&rows);
        let requirement = requirement("k = 2, m = 1", &schema);
        let plan = Plan {
            choice: Choice::Fitness { weight: 0.3 },
            cuts_sites: true,
            ..plan(&schema, &requirement, false)
        };
        // The site is the fourth attribute; with m = 1 every site is a coalition.
        let bounds = Bounds { attributes: 4, k: 2, coalitions: sites };
        let ledgers = match Run::new(&schema, &table, &plan, sites).run() {
            Ok((_, ledgers)) => ledgers,
            Err(Error::Unmeetable { .. }) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        for found in ledgers {
            prop_assert_eq!(bounds.keep(&found), Ok(()));
            let entries = |what| found.iter().filter(|line| line.what == what).count();
            prop_assert!(entries(BETWEEN_SITES) <= entries(CANDIDATES));
            prop_assert!(entries(CANDIDATES) == 0 || entries(BETWEEN_SITES) > 0);
        }
    }
}

/// By sums a part costs one bit, however many coalitions there are: with k alone nothing is opened about
/// any coalition, and nothing about the caps that show it.
#[test]
fn by_sums_a_part_is_one_bit() {
    let (schema, table) = sample();
    let requirement = requirement("k = 2, m = 1", &schema);
    let set = plan(&schema, &requirement, false);
    let plan = Plan {
        choice: Choice::Fitness { weight: 0.3 },
        cuts_sites: true,
        demands: Demands {
            strategy: m_privacy::Strategy::Exact,
            ..set.demands
        },
        ..set
    };
    let (_, ledgers) = Run::new(&schema, &table, &plan, 3).run().unwrap();
    for ledger in ledgers {
        assert!(ledger.iter().all(|line| line.what != COALITIONS));
        // The whole table is one part.
        let mut parts = 1;
        let mut asked = 0;
        for line in &ledger {
            match line.what {
                CANDIDATES => parts = 2 * line.values.len(),
                WITHSTOOD => {
                    assert!(line.values.len() <= parts);
                    assert!(line.values.iter().all(|value| *value < 2));
                    asked += 1;
                }
                _ => {}
            }
        }
        assert!(asked > 1);
    }
}

/// A requirement with site diversity, and l where it is more than 1.
fn diverse(k: u64, l: usize) -> String {
    let diversity = if l > 1 {
        format!("l = {l}, ")
    } else {
        String::new()
    };
    format!("k = {k}, {diversity}site_diversity = 2")
}

#[test]
fn theorem_1_on_adult() {
    let Some((schema, table)) = adult() else {
        return;
    };
    for line in ["k = 10", "k = 10, l = 2, t = 0.3"] {
        let requirement = requirement(line, &schema);
        let plan = plan(&schema, &requirement, false);
        let ledger = Run::new(&schema, &table, &plan, 3).check().unwrap();
        let values = |lines: &mut dyn Iterator<Item = &Line>| -> usize {
            lines.map(|line| line.values.len()).sum()
        };
        println!(
            "{line}: {} values, {} of them in notes on refused cuts",
            values(&mut ledger.iter()),
            values(&mut ledger.iter().filter(|line| line.what == REFUSED)),
        );
    }
}

#[test]
fn theorem_2_on_adult() {
    let Some((schema, table)) = adult() else {
        return;
    };
    let (k, l, alpha) = (50, 2, 0.3);
    let requirement = requirement(&diverse(k, l), &schema);
    let plan = Plan {
        choice: Choice::Diversity { alpha },
        ..plan(&schema, &requirement, false)
    };
    let agreed = Agreed {
        attributes: 8,
        values: 2,
        k,
        l,
        alpha,
    };
    let (_, ledgers) = Run::new(&schema, &table, &plan, 3).run().unwrap();
    for found in &ledgers {
        assert_eq!(agreed.follow(found), Ok(()));
    }
}

/// A table for tests of the tests: 24 records of three sites, diseases along age, so that l refuses
/// cuts.
fn sample() -> (Arc<Schema>, Table) {
    let rows: Vec<(u32, u32, u32, u32)> = (0..24)
        .map(|row| (row / 3, row, row / 5, row / 8))
        .collect();
    small(&rows)
}

#[test]
fn one_more_disclosure_is_found() {
    let (schema, table) = sample();
    let requirement = requirement("k = 2, l = 2", &schema);
    let plan = plan(&schema, &requirement, false);
    let run = Run::new(&schema, &table, &plan, 3);
    let (release, ledgers) = run.run().unwrap();
    let honest = &ledgers[0];
    assert!(has(honest, REFUSED) && has(honest, MEDIANS));
    assert_eq!(run.unexplained(&release, honest), None);

    // A site's own number, under a name of its own or one that is allowed.
    let own = What::new("records of the first site", "nothing");
    for what in [own, RECORDS, MEDIANS, COVERS, VALUES] {
        let run = Run {
            slip: Some(what),
            ..Run::new(&schema, &table, &plan, 3)
        };
        let (release, ledgers) = run.run().unwrap();
        for found in ledgers {
            let unexplained = run.unexplained(&release, &found).unwrap();
            let slipped = format!("discloses [8] as {}", what.name());
            assert!(unexplained.contains(&slipped), "{unexplained}");
        }
    }

    // The same number as one more value of any entry, any value changed, any entry left out. The
    // notes on refused cuts are no way out: the simulator is given the changed ones.
    let is_found = |ledger: &[Line]| run.unexplained(&release, ledger).is_some();
    for place in 0..honest.len() {
        let mut more = honest.clone();
        more[place].values.push(8);
        assert!(is_found(&more), "one more value of entry {place}");
        for value in 0..honest[place].values.len() {
            let mut other = honest.clone();
            other[place].values[value] += 1;
            assert!(is_found(&other), "value {value} of entry {place}");
        }
        let mut fewer = honest.clone();
        fewer.remove(place);
        assert!(is_found(&fewer), "no entry {place}");
    }
}

#[test]
fn one_disclosure_beyond_theorem_2_is_found() {
    let (schema, table) = sample();
    let (k, l, alpha) = (2, 1, 0.3);
    let requirement = requirement(&diverse(k, l), &schema);
    let plan = Plan {
        choice: Choice::Diversity { alpha },
        ..plan(&schema, &requirement, false)
    };
    let agreed = Agreed {
        attributes: 3,
        values: 3,
        k,
        l,
        alpha,
    };
    let (_, ledgers) = Run::new(&schema, &table, &plan, 3).run().unwrap();
    let honest = &ledgers[0];
    for what in [ALL_MEDIANS, CANDIDATES, SITES, EVENER, REFUSED] {
        assert!(has(honest, what), "{}", what.name());
    }
    agreed.follow(honest).unwrap();

    let own = What::new("records of the first site", "nothing");
    for what in [own, RECORDS, MEDIANS, SITES, EVENER] {
        let run = Run {
            slip: Some(what),
            ..Run::new(&schema, &table, &plan, 3)
        };
        let (_, ledgers) = run.run().unwrap();
        assert!(ledgers.iter().all(|found| agreed.follow(found).is_err()));
    }
    for place in 0..honest.len() {
        let mut more = honest.clone();
        more[place].values.push(1);
        agreed.follow(&more).unwrap_err();
        // How many sites, rather than whether enough.
        if honest[place].what == SITES {
            let mut number = honest.clone();
            number[place].values[0] = 3;
            agreed.follow(&number).unwrap_err();
        }
    }
}

#[test]
fn one_disclosure_about_coalitions_too_many_is_found() {
    let (schema, table) = sample();
    let requirement = requirement("k = 2, m = 1", &schema);
    let plan = Plan {
        choice: Choice::Fitness { weight: 0.3 },
        cuts_sites: true,
        ..plan(&schema, &requirement, false)
    };
    let bounds = Bounds {
        attributes: 4,
        k: 2,
        coalitions: 3,
    };
    let (_, ledgers) = Run::new(&schema, &table, &plan, 3).run().unwrap();
    let honest = &ledgers[0];
    bounds.keep(honest).unwrap();
    let place = honest.iter().position(|line| line.what == COALITIONS);
    let place = place.unwrap();
    // How many records a coalition leaves, rather than whether enough; every bit once more.
    let mut number = honest.clone();
    number[place].values[0] = 16;
    bounds.keep(&number).unwrap_err();
    let mut twice = honest.clone();
    twice[place].values.extend(&honest[place].values);
    bounds.keep(&twice).unwrap_err();
    let run = Run {
        slip: Some(What::new("records of the first site", "nothing")),
        ..Run::new(&schema, &table, &plan, 3)
    };
    let (_, ledgers) = run.run().unwrap();
    assert!(ledgers.iter().all(|found| bounds.keep(found).is_err()));
}

#[test]
fn medians_within_nodes_are_not_claimed_to_follow() {
    // Two tables with one release: {a, b} and {c, d} or {c, e} are written as X and Y.
    let of_places = |places: [u32; 4]| small(&places.map(|place| (0, place, 0, 0)));
    let ledger_of = |(schema, table): &(Arc<Schema>, Table)| {
        let requirement = requirement("k = 2", schema);
        let mut plan = plan(schema, &requirement, false);
        plan.quasi[1].is_coarsened = true;
        let run = Run {
            recode: Recode::Node,
            ..Run::new(schema, table, &plan, 3)
        };
        let (release, mut ledgers) = run.run().unwrap();
        (release.columns().to_vec(), ledgers.swap_remove(0))
    };
    let (release, ledger) = ledger_of(&of_places([0, 1, 2, 3]));
    let (same, other) = ledger_of(&of_places([0, 1, 2, 4]));
    assert_eq!(release, same);
    assert_ne!(ledger, other);
    for ledger in [ledger, other] {
        assert!(has(&ledger, MEDIANS_IN_NODES) && has(&ledger, RANGES_IN_NODES));
        assert!(!has(&ledger, MEDIANS) && !has(&ledger, RANGES));
    }
}

#[test]
fn children_written_as_nodes_disclose_nodes_only() {
    let ledger_of = |places: [u32; 6]| {
        let (schema, table) = small(&places.map(|place| (0, place, 0, 0)));
        let requirement = requirement("k = 2", &schema);
        let plan = plan(&schema, &requirement, true);
        let run = Run {
            recode: Recode::Node,
            ..Run::new(&schema, &table, &plan, 3)
        };
        run.check().unwrap()
    };
    // Both are written as X and Y: which of Y's values occur is not said.
    let ledger = ledger_of([0, 1, 0, 2, 3, 3]);
    assert_eq!(ledger, ledger_of([0, 1, 1, 2, 4, 4]));
    assert!(has(&ledger, PARTS) && has(&ledger, RANGES));
    assert!(!has(&ledger, MEDIANS) && !has(&ledger, MEDIANS_IN_NODES));
}
