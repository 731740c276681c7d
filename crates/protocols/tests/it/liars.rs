//! A peer that adds 2^40 or 2^63 to what it sends: every honest site ends with an error that names the
//! step, or with a release that is one, never with a panic, and in the memory that an honest run takes.
//!
//! What a peer adds to a frame of a masked sum is added to the sum, as if it were its own summand.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hedgerow_data::{Codes, Recode, Role};
use hedgerow_protocols::Error;
use hedgerow_protocols::clustering::{CountsChoice, Stop};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::assembly::assemble;
use hedgerow_protocols::horizontal::clustering::{self, Loss, Support, cluster};
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::cover::Writing;
use hedgerow_protocols::horizontal::mondrian::{Choice, Medians, Plan, RECORDS, Widths};
use hedgerow_protocols::horizontal::requirement::{CONTRIBUTORS, Demands};
use hedgerow_smc::memory::{Fault, Faults, Outcome, Rule, Simulation};
use hedgerow_smc::{Security, Seed, Settings, Site};

use crate::runs::{Part, Run, mixed, printed, requirement};
use crate::tables::{own_rows, plan, share, small};

const LIAR: Site = Site::new(1);
/// The most frames of a run that are struck, spread over it.
const STRUCK: u32 = 40;

/// Lies in a run, some of which must be seen by their numbers.
pub(crate) fn walk<T: Send>(
    name: &str,
    simulation: &Simulation,
    run: &(dyn Fn(&Simulation) -> Outcome<T, Error> + Sync),
    is_right: &(dyn Fn(&T) -> bool + Sync),
) {
    let (refused, named) = struck(name, simulation, run, is_right);
    assert!(
        refused > 0 && named > 0,
        "{name}: {refused} refused, {named} named"
    );
}

/// Runs honestly, then again and again with a lie in one frame of the peer's, now to all, now to one. Gives
/// how many sites refused, and how many of them said that numbers do not fit.
pub(crate) fn struck<T: Send>(
    name: &str,
    simulation: &Simulation,
    run: &(dyn Fn(&Simulation) -> Outcome<T, Error> + Sync),
    is_right: &(dyn Fn(&T) -> bool + Sync),
) -> (usize, usize) {
    // One thread, whose allocations are counted.
    let pool = rayon_of_one();
    let (frames, bytes) = pool.install(|| {
        let mut frames = 0;
        let counted = allocation_counter::measure(|| {
            let honest = run(simulation);
            let others = Site::all(honest.results.len()).take(3);
            let sent = others.map(|to| honest.traffic.link(LIAR, to).messages);
            frames = sent.max().unwrap_or(0) as u32;
            for value in honest.into_values().unwrap() {
                assert!(is_right(&value), "{name}: the honest run");
            }
        });
        (frames, counted.bytes_max)
    });
    let most_bytes = 4 * bytes + (32 << 20);
    let (mut refused, mut named) = (0, 0);
    for frame in (0..frames).step_by((frames / STRUCK).max(1) as usize) {
        for amount in [1 << 40, 1 << 63] {
            let one = (frame % 2 == 1).then(|| Site::new(u16::from(amount == 1 << 40) * 2));
            let rule = Rule {
                from: Some(LIAR),
                to: one,
                frame: Some(frame),
                fault: Fault::Add {
                    word: [None, Some(0), Some(1), None, Some(3)][frame as usize % 5],
                    amount,
                },
            };
            let lie = format!("{name}: {rule:?}");
            let simulation = simulation.clone().faults(Faults::default().with(rule));
            pool.install(|| {
                let mut results = Vec::new();
                let counted = allocation_counter::measure(|| {
                    let ended = catch_unwind(AssertUnwindSafe(|| run(&simulation).results));
                    results = ended.unwrap_or_else(|_| panic!("{lie} ended with a panic"));
                });
                assert!(counted.bytes_max < most_bytes, "{lie}: {counted:?}");
                for (site, result) in results.into_iter().enumerate() {
                    match result {
                        _ if site == LIAR.index() => {}
                        Ok(value) => assert!(is_right(&value), "{lie}"),
                        Err(error) => {
                            refused += 1;
                            named += usize::from(names_a_step(&error, &lie));
                        }
                    }
                }
            });
        }
    }
    (refused, named)
}

/// Whether an error says that numbers do not fit; every other names its step too, or says that the
/// requirement cannot be met, as it is where a lie was told about a threshold.
fn names_a_step(error: &Error, lie: &str) -> bool {
    let told = error.to_string();
    match error {
        Error::Party(hedgerow_smc::Error::Misfit { .. } | hedgerow_smc::Error::Told { .. }) => {
            assert!(
                told.contains("in question ") && told.contains('`'),
                "{lie}: {told}"
            );
            true
        }
        Error::Party(_) => {
            assert!(told.contains("(call "), "{lie}: {told}");
            false
        }
        Error::Unmeetable { .. } | Error::NobodyInCommon { .. } => false,
        _ => panic!("{lie}: {told}"),
    }
}

fn rayon_of_one() -> rayon::ThreadPool {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(1);
    builder.build().unwrap()
}

fn rows() -> Vec<(u32, u32, u32, u32)> {
    let number = |row: u64| mixed(row) as u32;
    let rows = 0..24;
    rows.map(|row| {
        (
            number(row),
            number(row + 99),
            number(row + 299),
            number(row + 999),
        )
    })
    .collect()
}

/// Whether a release has everybody, in classes of at least k.
fn is_release(rows: &[Vec<String>], quasi: usize, k: usize) -> bool {
    let mut classes: Vec<&[String]> = rows.iter().map(|row| &row[..quasi]).collect();
    classes.sort_unstable();
    let mut classes = classes.chunk_by(|one, other| one == other);
    rows.len() == 24 && classes.all(|class| class.len() >= k)
}

#[test]
fn mondrian_in_all_its_settings() {
    let (schema, table) = small(&rows());
    let owners: Vec<u32> = (0..24).map(|row| row % 3).collect();
    let (hardened, published) = (Settings::hardened(), Settings::published());
    let diversity = Choice::Diversity { alpha: 0.3 };
    let fitness = Choice::Fitness { weight: 0.3 };
    for (line, choice, cuts_sites, by_children, is_loose, settings) in [
        ("k = 3, l = 2", Choice::Width, false, false, false, hardened),
        ("k = 3, l = 2", Choice::Width, false, true, true, hardened),
        ("k = 3, l = 2", Choice::Width, false, true, true, published),
        (
            "k = 3, site_diversity = 2",
            diversity,
            false,
            false,
            false,
            hardened,
        ),
        (
            "k = 3, site_diversity = 2",
            diversity,
            false,
            false,
            false,
            published,
        ),
        (
            "k = 3, t = 0.7, m = 1",
            Choice::Width,
            true,
            false,
            false,
            hardened,
        ),
        ("k = 3, l = 2, m = 1", fitness, true, false, false, hardened),
    ] {
        let requirement = requirement(line, &schema);
        let run = Run {
            schema: &schema,
            table: &table,
            owners: &owners,
            sites: 3,
            plan: Plan {
                choice,
                cuts_sites,
                medians: if is_loose {
                    Medians::Relaxed
                } else {
                    Medians::Strict
                },
                widths: if is_loose { Widths::Data } else { Widths::Box },
                ..plan(&schema, &requirement, by_children)
            },
            recode: if by_children {
                Recode::Node
            } else {
                Recode::Set
            },
            covers: Covers::Tight,
        };
        let rows_of: Vec<Vec<usize>> = (0..3).map(|site| (site..24).step_by(3).collect()).collect();
        walk(
            &format!("{line} {choice:?} {}", settings.security),
            &Simulation::new(3, 7).settings(settings),
            &|simulation| {
                simulation.run(|mut party| {
                    let (run, rows_of) = (&run, &rows_of);
                    async move {
                        let site = party.me().index();
                        let owner = Owner::Site(site as u32);
                        run.take_part(&mut party, &rows_of[site], owner).await
                    }
                })
            },
            &|(_, _, release): &Part| is_release(&printed(release), 3, 3),
        );
    }
}

#[test]
fn clustering_in_all_its_settings() {
    let (schema, table) = small(&rows());
    let (hardened, published) = (Settings::hardened(), Settings::published());
    let seeds = |site: u32, start: u32| Seed::for_site(u64::from(start), site as usize);
    let (opened, hidden) = (CountsChoice::Opened, CountsChoice::Hidden);
    for (line, loss, recode, settings, counts) in [
        ("k = 3, l = 2", Loss::Ncp, Recode::Node, hardened, opened),
        (
            "k = 3, l = 2, m = 1",
            Loss::Em,
            Recode::Range,
            hardened,
            opened,
        ),
        ("k = 3", Loss::Lm, Recode::Set, hardened, opened),
        ("k = 3, l = 2", Loss::Em, Recode::Set, published, opened),
        ("k = 3, l = 2", Loss::Lm, Recode::Node, hardened, hidden),
        ("k = 3, l = 2", Loss::Lm, Recode::Node, published, hidden),
        (
            "k = 3, site_diversity = { at_least = 2, kind = \"taxonomy\" }",
            Loss::Lm,
            Recode::Node,
            hardened,
            opened,
        ),
    ] {
        let requirement = requirement(line, &schema);
        let quasi = schema.with_role(Role::Quasi).into_iter();
        let demands = plan(&schema, &requirement, false).demands;
        let plan = clustering::Plan {
            writings: quasi
                .map(|index| Writing {
                    domain: &schema.attributes()[index].domain,
                    recode,
                })
                .collect(),
            loss,
            demands,
            support: Support::of(&requirement, &["age", "place", "sex"]),
            start: 0.5,
            split: 1.5,
            starts: 1,
            stop: Stop {
                iterations: Some(3),
                ..Stop::at(Security::Hardened)
            },
            effort: 10,
            used: &|| 0.0,
            finds_least: false,
            is_refined: settings == hardened,
            is_printed: settings == published,
            counts,
            covers: Covers::Tight,
            is_blurred: settings == published,
            seeds: &seeds,
        };
        walk(
            &format!("{line} {loss:?} {} {counts:?}", settings.security),
            &Simulation::new(3, 7).settings(settings),
            &|simulation| {
                simulation.run(|mut party| {
                    let (schema, table, plan) = (&schema, &table, &plan);
                    async move {
                        let site = party.me().index();
                        let columns = share(table, site, 3);
                        let own = own_rows(schema, &columns, Owner::Site(site as u32), 3);
                        let found = cluster(&mut party, &own, plan, |_| {}).await?;
                        let verbatim: [(usize, &Codes); 1] = [(3, &columns[3])];
                        assemble(
                            &mut party,
                            schema,
                            &found.partition,
                            &found.cells,
                            &verbatim,
                        )
                        .await
                    }
                })
            },
            &|release| is_release(&printed(release), 3, 3),
        );
    }
}

/// A peer that changes which sites have records in a part leaves out coalitions: the site whose records are
/// said not to be there, or to be there, says so.
#[test]
fn which_sites_have_records_is_held_against_own_rows() {
    let (schema, table) = small(&rows());
    let owners: Vec<u32> = (0..24).map(|row| row % 3).collect();
    let requirement = requirement("k = 2, m = 2", &schema);
    let plan = plan(&schema, &requirement, false);
    let run = Run {
        schema: &schema,
        table: &table,
        owners: &owners,
        sites: 3,
        plan: Plan {
            demands: Demands {
                contributors: true,
                ..plan.demands
            },
            ..plan
        },
        recode: Recode::Set,
        covers: Covers::Tight,
    };
    let rows_of: Vec<Vec<usize>> = (0..3).map(|site| (site..24).step_by(3).collect()).collect();
    let with = |faults: Faults| {
        Simulation::new(3, 7).faults(faults).run(|mut party| {
            let (run, rows_of) = (&run, &rows_of);
            async move {
                let site = party.me().index();
                let owner = Owner::Site(site as u32);
                run.take_part(&mut party, &rows_of[site], owner).await
            }
        })
    };
    let honest = with(Faults::default());
    let mut found_out = 0;
    for liar in Site::all(3) {
        let sent = (0..3).map(|to| honest.traffic.link(liar, Site::new(to)).messages);
        for frame in 0..sent.max().unwrap_or(0) as u32 {
            let rule = Rule {
                from: Some(liar),
                to: None,
                frame: Some(frame),
                fault: Fault::Lie(vec![0xff]),
            };
            let results = with(Faults::default().with(rule)).results;
            let told = results.iter().filter_map(|result| result.as_ref().err());
            let told = told.map(Error::to_string);
            let of_sites = |told: &String| {
                told.contains(CONTRIBUTORS.name()) && told.contains("or the reverse")
            };
            found_out += told.filter(of_sites).count();
        }
    }
    assert!(found_out > 0);
}

/// The number that killed a site: a count of all records that no sites can have.
#[test]
fn more_records_than_there_can_be() {
    let (schema, table) = small(&rows());
    let requirement = requirement("k = 3", &schema);
    let plan = plan(&schema, &requirement, false);
    // What could be, but not for this site, is refused as well.
    for amount in [1 << 20, 1 << 27, 1 << 31, 1 << 40, 1 << 63, u64::MAX - 20] {
        let rule = Rule {
            from: Some(LIAR),
            to: None,
            // After the two of the join.
            frame: Some(2),
            fault: Fault::Add { word: None, amount },
        };
        let outcome = Simulation::new(3, 7)
            .faults(Faults::default().with(rule))
            .run(|mut party| {
                let (schema, table, plan) = (&schema, &table, &plan);
                async move {
                    party.limit_records(1_000);
                    let site = party.me().index();
                    let columns = share(table, site, 3);
                    let own = own_rows(schema, &columns, Owner::Site(site as u32), 3);
                    let each = |_: u32, _: usize| {};
                    hedgerow_protocols::horizontal::mondrian::partition(
                        &mut party, &own, plan, each,
                    )
                    .await
                }
            });
        let error = outcome.results.into_iter().next().unwrap().unwrap_err();
        let (what, told) = (RECORDS.name(), error.to_string());
        if amount < 1 << 32 {
            let records = amount + rows().len() as u64;
            assert_eq!(
                told,
                format!(
                    "accept.maximum_records: all sites together have {records} records in question 1, `{what}`, and this site accepts 1000 at most\nhint: write a greater maximum_records into the site's file if the sites can have so many; otherwise some site sent what its records cannot be"
                )
            );
            continue;
        }
        assert_eq!(
            told,
            format!(
                "the sites' numbers do not fit together in question 1, `{what}`: more records than the sites can bring, or fewer than this site has\nhint: some site sent what its records cannot be; nothing of this run can be relied on"
            )
        );
    }
}
