//! Counted rows: a run of sites that bring combinations with counts ends as the run of their single records
//! does, row for row, and says no more on its way.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::{Codes, Column, Recode, Release, Role, Schema, Study, Table};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::assembly::{Room, assemble, assemble_counted};
use hedgerow_protocols::horizontal::cover::{Covers, Writing, covers};
use hedgerow_protocols::horizontal::mondrian::{Choice, Medians, Plan, Widths, partition};
use hedgerow_protocols::horizontal::{OwnRows, Owner, SensitiveCodes};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Seed, Settings};

use crate::runs::{integers, mixed, requirement};
use crate::tables::{DEMANDS, plan};

const SITES: usize = 3;

/// Few values, so that combinations come often; two sensitive attributes and another column.
fn study() -> Arc<Schema> {
    let text = "[study]\nname = \"counted\"\npartition = \"horizontal\"\n\
        [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 11]\nwidths = [3, 6]\n\
        [[attribute]]\nname = \"work\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 4]\n\
        [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"u\", \"v\", \"w\"]\n\
        [[attribute]]\nname = \"outcome\"\nrole = \"sensitive\"\nvalues = [\"1\", \"2\", \"3\"]\n\
        [[attribute]]\nname = \"ward\"\nrole = \"other\"\nvalues = [\"a\", \"b\"]\n";
    let document = Document::parse(text.to_owned(), Path::new("study.toml")).unwrap();
    Study::read(document, Path::new(".")).unwrap().schema
}

/// The skewed tables of sites of different sizes, as single records.
fn tables(schema: &Arc<Schema>, seed: u64) -> Vec<Table> {
    let of_site = |site: usize| {
        let rows = [160u64, 60, 25][site];
        let draw = |row: u64, column: u64| {
            mixed(mixed(seed ^ (site as u64) << 32 ^ (row * 8 + column))) as f64 / 2f64.powi(64)
        };
        let columns = [(12, 2.5), (5, 1.6), (3, 1.4), (3, 1.1), (2, 1.2)];
        let columns = (0..).zip(columns).map(|(column, (size, power))| {
            let mut codes = Codes::for_size(size);
            for row in 0..rows {
                codes.push((draw(row, column).powf(power) * f64::from(size)) as u32);
            }
            Column::Coded(codes)
        });
        Table::new(Arc::clone(schema), columns.collect())
    };
    (0..SITES).map(of_site).collect()
}

/// How a run goes.
struct Way<'a> {
    schema: &'a Arc<Schema>,
    plan: Plan<'a>,
    recode: Recode,
    covers: Covers,
}

impl Way<'_> {
    /// What a party ends with: the release of counted rows, or of single records.
    async fn take_part(
        &self,
        party: &mut Party,
        table: &Table,
        (owner, sites): (Owner<'_>, usize),
        is_counted: bool,
    ) -> Result<Release, Error> {
        let codes = |role| -> Vec<&Codes> {
            let positions = self.schema.with_role(role).into_iter();
            positions
                .map(|position| table.codes(position).unwrap())
                .collect()
        };
        let rows = OwnRows {
            count: table.rows(),
            counts: table.counts(),
            quasi: codes(Role::Quasi),
            sensitive: codes(Role::Sensitive)
                .into_iter()
                .map(|codes| SensitiveCodes { codes, size: 3 })
                .collect(),
            other: codes(Role::Other),
            owner,
            sites,
        };
        let found = partition(party, &rows, &self.plan, |_, _| {}).await?;
        let quasi = self.schema.with_role(Role::Quasi).into_iter();
        let writings: Vec<Writing<'_>> = quasi
            .map(|position| Writing {
                domain: &self.schema.attributes()[position].domain,
                recode: self.recode,
            })
            .collect();
        let cells = covers(party, &rows, &found, &writings, self.covers).await?;
        let own: u64 = found
            .classes
            .iter()
            .flat_map(|class| found.counted_rows(class))
            .map(|(_, records)| records)
            .sum();
        assert_eq!(own, table.records());
        let verbatim = [2, 3, 4].map(|position| (position, table.codes(position).unwrap()));
        match is_counted {
            true => assemble_counted(party, self.schema, &found, &cells, &verbatim).await,
            false => assemble(party, self.schema, &found, &cells, &verbatim).await,
        }
    }

    /// The release of sites each in its seat; or why there is none.
    fn together(&self, tables: &[Table], is_counted: bool) -> Result<Release, String> {
        let simulation = Simulation::new(SITES, 7).settings(Settings::hardened());
        let outcome = simulation.run(|mut party| async move {
            let site = party.me().index();
            let owner = (Owner::Site(site as u32), SITES);
            self.take_part(&mut party, &tables[site], owner, is_counted)
                .await
        });
        let releases = outcome.into_values().map_err(|error| error.to_string())?;
        assert!(releases.iter().all(|release| *release == releases[0]));
        Ok(releases[0].clone())
    }

    /// The release of one party that has the rows of all.
    fn alone(&self, table: &Table, is_counted: bool) -> Result<Release, String> {
        let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
        let part = self.take_part(&mut party, table, (Owner::Site(0), 1), is_counted);
        pollster::block_on(part).map_err(|error| error.to_string())
    }
}

/// Counted rows and single records end alike, whichever release is asked for; whether there is one, of several
/// classes.
fn check(way: &Way<'_>, single: &[Table]) -> bool {
    let counted = single
        .iter()
        .map(|table| table.clone().into_counted().unwrap());
    let counted: Vec<Table> = counted.collect();
    let rows = |tables: &[Table]| tables.iter().map(Table::rows).sum::<usize>();
    assert!(rows(&counted) < rows(single));
    let expected = way.together(single, false);
    assert_eq!(way.together(&counted, false), expected);
    let of_single = way.together(single, true);
    let of_counted = way.together(&counted, true);
    assert_eq!(of_single, of_counted);
    assert_eq!(of_counted.map(Release::expanded), expected);
    expected.is_ok_and(|release| {
        let ages = release.generalized(0).map(|ages| ages.cells.len());
        ages > Some(1)
    })
}

const WRITTEN: [(Recode, Covers); 4] = [
    (Recode::Node, Covers::Tight),
    (Recode::Set, Covers::Tight),
    (Recode::Range, Covers::Tight),
    (Recode::Range, Covers::Box),
];

#[test]
fn counted_rows_end_as_single_records_do() {
    let schema = study();
    let mut cut = 0;
    for (number, demand) in (0..).zip(DEMANDS) {
        let single = tables(&schema, 40 + number);
        let requirement = requirement(demand, &schema);
        for (medians, by_children) in [
            (Medians::Strict, false),
            (Medians::Relaxed, false),
            (Medians::Relaxed, true),
        ] {
            let (recode, covers) = WRITTEN[number as usize % WRITTEN.len()];
            let way = Way {
                schema: &schema,
                plan: Plan {
                    medians,
                    ..plan(&schema, &requirement, by_children)
                },
                recode,
                covers,
            };
            cut += u32::from(check(&way, &single));
        }
    }
    // Of 36 runs: some demands cannot be met by such skewed tables.
    assert!(cut >= 12, "{cut} releases have several classes");
}

#[test]
fn counted_rows_withstand_colluders_and_are_cut_between_sites_as_single_records_are() {
    let schema = study();
    let demands = [
        "k = 3, l = 2, m = 1",
        "k = 2, m = 1",
        "k = 2, site_diversity = 2",
    ];
    let mut cut = 0;
    for (number, demand) in (0..).zip(demands) {
        let single = tables(&schema, 80 + number);
        let requirement = requirement(demand, &schema);
        for choice in [
            Choice::Width,
            Choice::Fitness { weight: 0.3 },
            Choice::Diversity { alpha: 0.5 },
        ] {
            let way = Way {
                schema: &schema,
                plan: Plan {
                    medians: [Medians::Strict, Medians::Relaxed][number as usize % 2],
                    widths: Widths::Box,
                    cuts_sites: !matches!(choice, Choice::Diversity { .. }),
                    choice,
                    ..plan(&schema, &requirement, false)
                },
                recode: Recode::Node,
                covers: Covers::Tight,
            };
            cut += u32::from(check(&way, &single));
        }
    }
    assert!(cut >= 3, "{cut} of 9 releases have several classes");
}

/// A combination of many records lies on both sides of a relaxed median: some stay left, some go right.
#[test]
fn a_combination_is_split_where_its_records_would_be() {
    let schema = study();
    let requirement = requirement("k = 2", &schema);
    let codes = |values: &[u8]| Column::Coded(Codes::U8(values.to_vec()));
    let columns = [[3, 3, 7], [1, 1, 2], [0, 1, 0], [2, 2, 2], [0, 0, 1]];
    let columns = columns.map(|values| codes(&values));
    let table = Table::counted(Arc::clone(&schema), columns.to_vec(), vec![11, 2, 3]).unwrap();
    let order = [vec![0; 11], vec![1; 2], vec![2; 3]].concat();
    let columns = (0..5).map(|position| table.column(position).picked(&order));
    let single = Table::new(Arc::clone(&schema), columns.collect());
    let way = Way {
        schema: &schema,
        plan: Plan {
            medians: Medians::Relaxed,
            ..plan(&schema, &requirement, false)
        },
        recode: Recode::Node,
        covers: Covers::Tight,
    };
    let expected = way.alone(&single, false).unwrap();
    assert_eq!(way.alone(&table, false).unwrap(), expected);
    let counted = way.alone(&table, true).unwrap();
    assert_eq!(
        (counted.records(), counted.clone().expanded()),
        (16, expected)
    );
    let dealt = [0, 1, 2].map(|site| {
        let rows: Vec<usize> = (site..16).step_by(SITES).collect();
        let columns = (0..5).map(|position| single.column(position).picked(&rows));
        Table::new(Arc::clone(&schema), columns.collect())
    });
    let counted = dealt.clone().map(|table| table.into_counted().unwrap());
    assert_eq!(way.together(&counted, true), way.together(&dealt, true));
}

/// Where medians are strict, one party with all rows ends as the sites do together.
#[test]
fn one_site_of_counted_rows_is_many() {
    let schema = study();
    let requirement = requirement("k = 4, l = 2", &schema);
    let way = Way {
        schema: &schema,
        plan: plan(&schema, &requirement, false),
        recode: Recode::Node,
        covers: Covers::Tight,
    };
    for seed in 0..6 {
        let single = tables(&schema, seed);
        let counted: Vec<Table> = single
            .iter()
            .map(|table| table.clone().into_counted().unwrap())
            .collect();
        let all = Table::stacked(&schema, &counted)
            .unwrap()
            .into_counted()
            .unwrap();
        assert_eq!(way.alone(&all, true), way.together(&counted, true));
    }
}

/// What ends a run whose values or classes find no room is known from numbers that are open: the run ends there,
/// with nothing more disclosed, and each site says the same.
#[test]
fn what_finds_no_room_ends_a_run_as_soon_as_it_is_known() {
    let grid: Vec<Vec<u32>> = (0..3_600)
        .map(|place| vec![place % 60, place / 60])
        .collect();
    let (schema, single) = integers(&[60, 60], &grid);
    let columns = (0..3).map(|position| single.column(position).clone());
    let table =
        Table::counted(Arc::clone(&schema), columns.collect(), vec![40_000; 3_600]).unwrap();
    let requirement = requirement("k = 10", &schema);
    let (fine, _) = integers(&[300_000, 5_000], &[vec![0, 0]]);
    let ends = |medians: Medians, room: Room, is_counted: bool| {
        let plan = Plan {
            medians,
            room,
            is_counted,
            ..plan(&schema, &requirement, false)
        };
        let simulation = Simulation::new(SITES, 7).settings(Settings::hardened());
        let outcome = simulation.run(|mut party| {
            let (plan, table) = (&plan, &table);
            async move {
                let sensitive = table.codes(2).unwrap();
                let rows = OwnRows {
                    count: table.rows(),
                    counts: table.counts(),
                    quasi: vec![table.codes(0).unwrap(), table.codes(1).unwrap()],
                    sensitive: vec![SensitiveCodes {
                        codes: sensitive,
                        size: 3,
                    }],
                    other: Vec::new(),
                    owner: Owner::Site(party.me().index() as u32),
                    sites: SITES,
                };
                let mut waves = 0;
                let found = partition(&mut party, &rows, plan, |wave, _| waves = wave).await;
                let told = party.ledger().summary().into_iter();
                let told: Vec<String> = told.map(|line| line.what.to_string()).collect();
                Ok::<_, Error>((found.map(|found| found.classes.len()), waves, told))
            }
        });
        let mut ended = outcome.into_values().unwrap();
        let said = |ended: &(Result<usize, Error>, u32, Vec<String>)| {
            (
                ended.0.as_ref().map_err(ToString::to_string).copied(),
                ended.1,
            )
        };
        assert!(ended.iter().all(|one| said(one) == said(&ended[0])));
        ended.remove(0)
    };
    let records = String::from("records of the whole table");
    // One class has no room already.
    let (found, waves, told) = ends(Medians::Strict, Room::of(&fine, &[0, 1]), true);
    let refused = found.unwrap_err();
    assert!(
        matches!(
            refused,
            Error::TooFine {
                classes: 1,
                records: 432_000_000,
                ..
            }
        ),
        "{refused}"
    );
    assert!(refused.to_string().contains("column `a0`"), "{refused}");
    assert_eq!((waves, told), (0, vec![records.clone()]));
    // 894 classes have room and the next wave's have not: no further wave is asked.
    let (found, waves, _) = ends(Medians::Strict, Room::of(&fine, &[0]), true);
    let refused = found.unwrap_err();
    let Error::TooFine { classes, .. } = refused else {
        panic!("{refused}")
    };
    assert!((895..=2 * 894).contains(&classes), "{classes}");
    let (found, all_waves, _) = ends(Medians::Strict, Room::default(), true);
    assert!(found.unwrap() > 2_000);
    assert!(waves < all_waves, "{waves} of {all_waves}");
    // Relaxed medians would cut rows of so many records on and on.
    let (found, waves, told) = ends(Medians::Relaxed, Room::default(), true);
    let refused = found.unwrap_err();
    assert!(
        matches!(
            refused,
            Error::TooManyParts {
                classes: 43_200_000,
                ..
            }
        ),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("medians = \"strict\""),
        "{refused}"
    );
    assert_eq!((waves, told), (0, vec![records]));
}
