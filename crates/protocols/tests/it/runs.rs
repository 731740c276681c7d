//! Whole runs: cuts, covers and the joint release, with every site in its seat and in one party
//! that has everybody's rows.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, read_table};
use hedgerow_data::synthetic::{self, Kind, SITE_COLUMN, TableFormat, generate};
use hedgerow_data::{
    Cell, Codes, Column, Recode, Release, ReleaseColumn, Role, Schema, Study, Table, TextColumn,
    TextTable,
};
use hedgerow_privacy::verify::{Evidence, verify};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::assembly::assemble;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::cover::{Writing, covers};
use hedgerow_protocols::horizontal::mondrian::{Partition, Plan, partition};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Party, Seed, Settings};

use crate::tables::own_rows;

/// A run: whose records, and how they are cut and written.
pub(crate) struct Run<'a> {
    pub(crate) schema: &'a Arc<Schema>,
    pub(crate) table: &'a Table,
    /// The site of each record.
    pub(crate) owners: &'a [u32],
    pub(crate) sites: usize,
    pub(crate) plan: Plan<'a>,
    pub(crate) recode: Recode,
    pub(crate) covers: Covers,
}

/// What came of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Joint {
    pub(crate) release: Release,
    /// The records of each class, ascending, by their place in the table.
    pub(crate) classes: Vec<Vec<usize>>,
    /// How each class is written.
    pub(crate) cells: Vec<Vec<Cell>>,
}

/// What sites sent each other.
pub(crate) struct Sent {
    pub(crate) rounds: u64,
    pub(crate) bytes: u64,
}

/// What one party has in the end.
pub(crate) type Part = (Partition, Vec<Vec<Cell>>, Release);

impl Run<'_> {
    /// In one party, which is told whose each record is.
    pub(crate) fn alone(&self) -> Joint {
        self.alone_with(Settings::hardened())
    }

    pub(crate) fn alone_with(&self, settings: Settings) -> Joint {
        let mut party = Party::alone(settings, &Seed::for_site(1, 0));
        let rows: Vec<usize> = (0..self.table.rows()).collect();
        let part = self.take_part(&mut party, &rows, Owner::Column(self.owners));
        self.joint(vec![pollster::block_on(part).unwrap()], &[rows])
    }

    /// With every site in its seat.
    pub(crate) fn together(&self) -> Joint {
        self.together_at_a_cost().0
    }

    pub(crate) fn together_at_a_cost(&self) -> (Joint, Sent) {
        self.together_with(Settings {
            fan_out: hedgerow_protocols::FAN_OUT,
            ..Settings::hardened()
        })
    }

    pub(crate) fn together_with(&self, settings: Settings) -> (Joint, Sent) {
        let rows_of: Vec<Vec<usize>> = (0..self.sites as u32)
            .map(|site| {
                let rows = 0..self.table.rows();
                rows.filter(|row| self.owners[*row] == site).collect()
            })
            .collect();
        let simulation = Simulation::new(self.sites, 7).settings(settings);
        let outcome = simulation.run(|mut party| {
            let rows_of = &rows_of;
            async move {
                let site = party.me().index();
                let owner = Owner::Site(site as u32);
                self.take_part(&mut party, &rows_of[site], owner).await
            }
        });
        let sent = Sent {
            rounds: u64::from(outcome.traffic.rounds),
            bytes: outcome.traffic.bytes(),
        };
        (self.joint(outcome.into_values().unwrap(), &rows_of), sent)
    }

    pub(crate) async fn take_part(
        &self,
        party: &mut Party,
        rows: &[usize],
        owner: Owner<'_>,
    ) -> Result<Part, Error> {
        let columns = picked(self.table, rows);
        let own = own_rows(self.schema, &columns, owner, self.sites);
        let found = partition(party, &own, &self.plan, |_, _| {}).await?;
        let quasi = self.schema.with_role(Role::Quasi).into_iter();
        let writings: Vec<Writing<'_>> = quasi
            .map(|position| Writing {
                domain: &self.schema.attributes()[position].domain,
                recode: self.recode,
            })
            .collect();
        let cells = covers(party, &own, &found, &writings, self.covers).await?;
        let sensitive = self.schema.with_role(Role::Sensitive).into_iter();
        let verbatim: Vec<(usize, &Codes)> = sensitive
            .map(|position| (position, &columns[position]))
            .collect();
        let release = assemble(party, self.schema, &found, &cells, &verbatim).await?;
        Ok((found, cells, release))
    }

    /// What all parties have: the same cells and the same release.
    fn joint(&self, parts: Vec<Part>, rows_of: &[Vec<usize>]) -> Joint {
        let (first, cells, release) = &parts[0];
        for (found, own_cells, own_release) in &parts {
            assert_eq!(found.classes.len(), first.classes.len());
            assert_eq!((own_cells, own_release), (cells, release));
        }
        let of_class = |class: usize| {
            let of_site = parts.iter().zip(rows_of).flat_map(|((found, ..), rows)| {
                let own = found.rows(&found.classes[class]);
                own.iter().map(|row| rows[*row as usize])
            });
            let mut records: Vec<usize> = of_site.collect();
            records.sort_unstable();
            assert_eq!(records.len() as u64, first.classes[class].size);
            records
        };
        Joint {
            classes: (0..first.classes.len()).map(of_class).collect(),
            cells: cells.clone(),
            release: release.clone(),
        }
    }

    /// The rows of all sites as the release writes them, and behind each its site. Together they
    /// know this; the release does not say it.
    pub(crate) fn written(&self, joint: &Joint) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for (records, cells) in joint.classes.iter().zip(&joint.cells) {
            for record in records {
                let mut cells = cells.iter();
                let attributes = self.schema.attributes().iter().enumerate();
                let words = attributes.map(|(position, attribute)| match attribute.role {
                    Role::Quasi => attribute.domain.write_cell(cells.next().unwrap()),
                    _ => {
                        let code = self.table.codes(position).unwrap().get(*record);
                        attribute.domain.label(code).into_owned()
                    }
                });
                let site = self.owners[*record].to_string();
                rows.push(words.chain([site]).collect());
            }
        }
        rows
    }

    /// Every record is in exactly one class, under the cells of that class; the release has the
    /// sites' rows and nothing else; and it satisfies the requirement, whether one sees sites or
    /// not.
    pub(crate) fn check(&self, joint: &Joint) {
        let mut all: Vec<usize> = joint.classes.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..self.table.rows()).collect::<Vec<_>>());
        let quasi = self.schema.with_role(Role::Quasi);
        for (records, cells) in joint.classes.iter().zip(&joint.cells) {
            for (position, cell) in quasi.iter().zip(cells) {
                let codes = self.table.codes(*position).unwrap();
                for record in records {
                    assert!(cell.contains(codes.get(*record)), "{cell:?}, {record}");
                }
            }
        }
        let with_sites = self.written(joint);
        let mut rows: Vec<Vec<String>> = with_sites
            .iter()
            .map(|row| row[..row.len() - 1].to_vec())
            .collect();
        assert_in_order(&joint.release);
        let mut printed = printed(&joint.release);
        rows.sort_unstable();
        printed.sort_unstable();
        assert_eq!(rows, printed);

        let requirement = self.plan.demands.requirement;
        assert_eq!(
            holds(self.schema, &with_sites, true, requirement),
            Some(true)
        );
        let visible = without_sites(requirement);
        assert_eq!(holds(self.schema, &printed, false, &visible), Some(true));
    }
}

/// What a requirement says of a release that does not name sites.
fn without_sites(requirement: &Requirement) -> Requirement {
    let mut visible = requirement.clone();
    visible.m = None;
    visible.models.retain(|model| !model.speaks_of_sites());
    visible
}

/// The rows of a release, as they are printed.
pub(crate) fn printed(release: &Release) -> Vec<Vec<String>> {
    let attributes = release.schema().attributes();
    let word = |position: usize, row: usize| match &release.columns()[position] {
        ReleaseColumn::Generalized(column) => {
            let cell = &column.cells[column.codes[row] as usize];
            attributes[position].domain.write_cell(cell)
        }
        ReleaseColumn::Verbatim(column) => {
            let code = column.codes().unwrap().get(row);
            attributes[position].domain.label(code).into_owned()
        }
        ReleaseColumn::Absent => String::new(),
    };
    let row = |row| {
        let positions = 0..attributes.len();
        positions.map(|position| word(position, row)).collect()
    };
    (0..release.rows()).map(row).collect()
}

/// Rows stand in the order of their cells and then of their verbatim values, and nothing else.
pub(crate) fn assert_in_order(release: &Release) {
    let row = |row: usize| {
        let cells = release.columns().iter().filter_map(|column| match column {
            ReleaseColumn::Generalized(cells) => Some(&cells.cells[cells.codes[row] as usize]),
            _ => None,
        });
        let values = release.columns().iter().filter_map(|column| match column {
            ReleaseColumn::Verbatim(values) => values.codes().map(|codes| codes.get(row)),
            _ => None,
        });
        (cells.collect::<Vec<_>>(), values.collect::<Vec<_>>())
    };
    let rows: Vec<_> = (0..release.rows()).map(row).collect();
    assert!(rows.is_sorted());
}

/// What the verifier says of printed rows.
fn holds(
    schema: &Arc<Schema>,
    rows: &[Vec<String>],
    is_with_site: bool,
    requirement: &Requirement,
) -> Option<bool> {
    let names = schema.attributes().iter().map(|one| one.name.clone());
    let site = is_with_site.then(|| SITE_COLUMN.to_owned());
    let names: Vec<String> = names.chain(site).collect();
    let mut text = TextTable {
        counts: None,
        file: "release".into(),
        columns: vec![TextColumn::default(); names.len()],
        names,
    };
    for row in rows {
        let words = text.columns.iter_mut().zip(row);
        words.for_each(|(column, word)| column.push(word, 1));
    }
    let release = Release::from_text(&text, schema, &[SITE_COLUMN]).unwrap();
    let provider = is_with_site.then_some(SITE_COLUMN);
    let evidence = Evidence::of_release(&text, &release, provider).unwrap();
    verify(&evidence, Some(requirement)).holds
}

/// Some rows of a table.
fn picked(table: &Table, rows: &[usize]) -> Vec<Codes> {
    let attributes = table.schema().attributes().iter().enumerate();
    let pick = |(position, attribute): (usize, &hedgerow_data::Attribute)| {
        let mut own = Codes::for_size(attribute.domain.size());
        let codes = table.codes(position).unwrap();
        rows.iter().for_each(|row| own.push(codes.get(*row)));
        own
    };
    attributes.map(pick).collect()
}

pub(crate) fn requirement(line: &str, schema: &Schema) -> Requirement {
    Requirement::of_line(line, &Scope::of_schema(schema)).unwrap()
}

/// A table of whole numbers, each below the size of its column, and three diseases in turn.
pub(crate) fn integers(sizes: &[u32], rows: &[Vec<u32>]) -> (Arc<Schema>, Table) {
    let mut text = String::from("[study]\nname = \"integers\"\npartition = \"horizontal\"\n");
    for (place, size) in sizes.iter().enumerate() {
        text.push_str(&format!(
            "[[attribute]]\nname = \"a{place}\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, {}]\n",
            size - 1
        ));
    }
    text.push_str(
        "[[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"u\", \"v\", \"w\"]\n",
    );
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    let schema = Study::read(document, Path::new(".")).unwrap().schema;
    let quasi = sizes.iter().enumerate().map(|(place, size)| {
        let mut codes = Codes::for_size(*size);
        rows.iter().for_each(|row| codes.push(row[place]));
        Column::Coded(codes)
    });
    let mut diseases = Codes::for_size(3);
    (0..rows.len() as u32).for_each(|row| diseases.push(row % 3));
    let columns = quasi.chain([Column::Coded(diseases)]).collect();
    (schema.clone(), Table::new(schema, columns))
}

/// Synthetic persons.
pub(crate) fn census(rows: u64) -> (Arc<Schema>, Table) {
    let folder = tempfile::tempdir().unwrap();
    let plan = synthetic::Plan {
        kind: Kind::Census,
        rows,
        sites: 1,
        seed: 7,
        format: TableFormat::Csv,
        pooled: false,
        parts: None,
    };
    let written = generate(&plan, &folder.path().join("census"), &()).unwrap();
    let schema = Study::open(&written.study).unwrap().schema;
    let (_, path, _) = &written.tables[0];
    let table = read_table(path, &schema, &Others::Refuse, &()).unwrap();
    (schema, table)
}

/// How records come to sites.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Split {
    RoundRobin,
    Random,
    /// By country and then age: sites hold different people.
    Sorted,
    /// Half of all at the first, half of the rest at the next.
    Exponential,
}

impl Split {
    /// The site of each record of a synthetic table.
    pub(crate) fn owners(self, schema: &Schema, table: &Table, sites: usize) -> Vec<u32> {
        let rows = 0..table.rows();
        match self {
            Self::RoundRobin => rows.map(|row| (row % sites) as u32).collect(),
            Self::Random => rows
                .map(|row| mixed(row as u64) as u32 % sites as u32)
                .collect(),
            Self::Exponential => rows
                .map(|row| mixed(row as u64).trailing_zeros().min(sites as u32 - 1))
                .collect(),
            Self::Sorted => {
                let column = |name| table.codes(schema.position(name).unwrap()).unwrap();
                let (country, age) = (column("native-country"), column("age"));
                let mut order: Vec<usize> = rows.collect();
                order.sort_by_key(|row| (country.get(*row), age.get(*row)));
                let mut owners = vec![0; order.len()];
                for (place, row) in order.into_iter().enumerate() {
                    owners[row] = (place * sites / table.rows()) as u32;
                }
                owners
            }
        }
    }
}

/// Numbers without a pattern, the same in every run (the last step of SplitMix64).
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
