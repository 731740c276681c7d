//! A table whose columns stand at several sites, and what comes of its clusterings.

use std::sync::Arc;

use hedgerow_data::study::Split;
use hedgerow_data::{Cell, Codes, Recode, Release, Role, Schema, TextColumn};
use hedgerow_privacy::closeness::{Distance, EarthMover};
use hedgerow_privacy::verify::{Evidence, QuasiColumn, SensitiveColumn, verify};
use hedgerow_privacy::{ClassView, Counts, Model, Reference, Requirement, TableView};
use hedgerow_protocols::Error;
use hedgerow_protocols::clustering::Stop;
use hedgerow_protocols::horizontal::cover::Writing;
use hedgerow_protocols::vertical::clustering::{
    Clustering, Loss, Plan, Progress, assemble, cluster,
};
use hedgerow_smc::ledger::Entry;
use hedgerow_smc::memory::{Outcome, Simulation};
use hedgerow_smc::{Party, Security, Seed, Settings};

use super::people::study;

const TREE: &str = "a;X;*\nb;X;*\nc;c1;Y;*\nd;c1;Y;*\ne;Y;*\n";
/// Columns of every table here, with their sizes: one has a single value.
pub(super) const SIZES: [u32; 8] = [5, 4, 12, 65, 1, 5, 3, 4];

/// A table that several sites share by columns.
pub(super) struct Shared {
    pub(super) schema: Arc<Schema>,
    pub(super) columns: Vec<Codes>,
    pub(super) rows: Vec<u32>,
}

/// How a run goes.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) loss: Loss,
    pub(super) recode: Recode,
    pub(super) start: f64,
    pub(super) starts: u32,
    pub(super) iterations: u32,
    pub(super) is_refined: bool,
    pub(super) is_printed: bool,
    pub(super) noise: f64,
}

pub(super) const PLAIN: How = How {
    loss: Loss::Lm,
    recode: Recode::Node,
    start: 0.5,
    starts: 1,
    iterations: 30,
    is_refined: true,
    is_printed: false,
    noise: 0.0,
};

/// What one site has in the end.
pub(super) struct Part {
    pub(super) found: Clustering,
    pub(super) release: Release,
    pub(super) entries: Vec<Entry>,
    /// Steps of all starts.
    pub(super) steps: Vec<Progress>,
}

impl Shared {
    /// Five quasi-identifiers, two sensitive attributes and another one.
    pub(super) fn new(rows: &[Vec<u32>]) -> Self {
        let mut text = String::new();
        let mut add = |name: &str, role: &str, form: &str| {
            text.push_str(&format!(
                "[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"\n{form}\n"
            ));
        };
        add("tree", "quasi", "taxonomy = \"tree.csv\"");
        add("few", "quasi", "type = \"integer\"\nrange = [0, 3]");
        add("some", "quasi", "type = \"integer\"\nrange = [0, 11]");
        add(
            "many",
            "quasi",
            "type = \"integer\"\nrange = [0, 63]\nmissing = \"NA\"",
        );
        add("one", "quasi", "type = \"integer\"\nrange = [0, 0]");
        add("illness", "sensitive", "taxonomy = \"tree.csv\"");
        add("grade", "sensitive", "type = \"integer\"\nrange = [0, 2]");
        add("other", "other", "type = \"integer\"\nrange = [0, 3]");
        let study = study(&text, &[("tree.csv", TREE)]);
        let column = |place: usize| {
            let mut codes = Codes::for_size(SIZES[place]);
            rows.iter()
                .for_each(|row| codes.push(row[place] % SIZES[place]));
            codes
        };
        Self {
            schema: study.schema,
            columns: (0..SIZES.len()).map(column).collect(),
            rows: (0..rows.len() as u32).collect(),
        }
    }

    /// A site for each column; every site gets one at least.
    pub(super) fn split(&self, sites: usize, owners: &[usize]) -> Split {
        let mut columns: Vec<Vec<&str>> = vec![Vec::new(); sites];
        for (place, owner) in owners.iter().enumerate() {
            let site = if place < sites { place } else { owner % sites };
            // Which columns are sure to have a site differs from split to split.
            let column = (place + owners[0]) % SIZES.len();
            columns[site].push(&self.schema.attributes()[column + 1].name);
        }
        Split::new(&self.schema, &columns).unwrap()
    }

    async fn take_part(
        &self,
        mut party: Party,
        split: &Split,
        requirement: &Requirement,
        how: How,
    ) -> Result<Part, Error> {
        party.keep_values();
        let quasi = self.schema.with_role(Role::Quasi).into_iter();
        let plan = Plan {
            schema: &self.schema,
            split,
            requirement,
            writings: quasi
                .map(|position| Writing {
                    domain: &self.schema.attributes()[position].domain,
                    recode: how.recode,
                })
                .collect(),
            loss: how.loss,
            start: how.start,
            split_above: 1.5,
            starts: how.starts,
            stop: Stop {
                iterations: Some(how.iterations),
                ..Stop::at(Security::Hardened)
            },
            is_printed: how.is_printed,
            is_refined: how.is_refined,
            noise: how.noise,
            asks_all: party.settings().security == Security::Published,
            // The pivot's and the dealing site's count, which may be two.
            seeds: &|site| Seed::for_site(9, site as usize),
        };
        // A site has its own columns only.
        let me = party.me().index();
        let is_own = |position: usize| {
            let roles = [Role::Quasi, Role::Sensitive, Role::Other];
            let mut own = roles
                .map(|role| split.with_role(&self.schema, me, role))
                .into_iter();
            party.sites() == 1 || own.any(|own| own.contains(&position))
        };
        let own: Vec<(usize, &Codes)> = (1..=SIZES.len())
            .filter(|position| is_own(*position))
            .map(|position| (position, &self.columns[position - 1]))
            .collect();
        let mut steps = Vec::new();
        let tell = |step| steps.push(step);
        let found = cluster(&mut party, &plan, &own, &self.rows, tell).await?;
        let release = assemble(&mut party, &plan, &own, &self.rows, &found).await?;
        Ok(Part {
            found,
            release,
            entries: party.ledger().entries().to_vec(),
            steps,
        })
    }

    pub(super) fn alone(&self, requirement: &Requirement, how: How) -> Result<Part, Error> {
        let split = self.split(1, &[0; SIZES.len()]);
        self.in_place_of(&split, requirement, how)
    }

    /// One party with every column, in place of the sites of a split.
    pub(super) fn in_place_of(
        &self,
        split: &Split,
        requirement: &Requirement,
        how: How,
    ) -> Result<Part, Error> {
        let party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
        pollster::block_on(self.take_part(party, split, requirement, how))
    }

    pub(super) fn together(
        &self,
        split: &Split,
        requirement: &Requirement,
        how: How,
        settings: Settings,
    ) -> Result<Vec<Part>, Error> {
        let simulation = Simulation::new(split.sites(), 5).settings(settings);
        self.run(split, requirement, how, &simulation).into_values()
    }

    pub(super) fn run(
        &self,
        split: &Split,
        requirement: &Requirement,
        how: How,
        simulation: &Simulation,
    ) -> Outcome<Part, Error> {
        simulation.run(|party| self.take_part(party, split, requirement, how))
    }

    /// With a trusted third.
    pub(super) fn ideal(
        &self,
        split: &Split,
        requirement: &Requirement,
        how: How,
    ) -> Result<Vec<Part>, Error> {
        let simulation = Simulation::new(split.sites(), 5);
        let parts = simulation.run_ideal(|party| self.take_part(party, split, requirement, how));
        parts.into_iter().collect()
    }

    /// How a cluster must be written in a quasi-identifier: no wider than its records need.
    pub(super) fn cell(&self, place: usize, members: &[u32], recode: Recode) -> Cell {
        let codes = members.iter();
        let mut codes: Vec<u32> = codes
            .map(|row| self.columns[place].get(*row as usize))
            .collect();
        codes.sort_unstable();
        let (least, greatest) = (codes[0], codes[codes.len() - 1]);
        match (
            recode,
            self.schema.attributes()[place + 1].domain.taxonomy(),
        ) {
            (Recode::Set, _) => Cell::set(codes).unwrap(),
            (Recode::Node, Some(tree)) => {
                let (least, greatest) = tree.interval(tree.lowest_common_ancestor(least, greatest));
                Cell::Interval(least, greatest)
            }
            // A missing value, the last of `many`, is in no range.
            _ if place == 3 && least < greatest && greatest == 64 => Cell::Interval(0, 64),
            _ => Cell::Interval(least, greatest),
        }
    }

    /// Whether some records are a class that satisfies a requirement, by the counts of each sensitive
    /// attribute.
    pub(super) fn satisfies(&self, members: &[u32], requirement: &Requirement) -> bool {
        let wanted = requirement.models.iter().find_map(|model| match model {
            Model::Closeness { distance, .. } => *distance,
            _ => None,
        });
        [5, 6].into_iter().all(|place| {
            let domain = &self.schema.attributes()[place + 1].domain;
            let counts = |rows: &[u32]| {
                let mut counts = vec![0; SIZES[place] as usize];
                for row in rows {
                    counts[self.columns[place].get(*row as usize) as usize] += 1;
                }
                counts
            };
            let references = [Reference::new(counts(&self.rows))];
            let distance = wanted.unwrap_or_else(|| Distance::natural(domain));
            let movers = vec![EarthMover::new(&references[0], distance, domain.taxonomy())];
            let table = TableView {
                references: &references,
                movers,
            };
            let (values, own) = ((0..SIZES[place]).collect::<Vec<u32>>(), counts(members));
            let class = ClassView {
                size: members.len() as u64,
                sensitive: &[Counts::new(&values, &own)],
                sites: None,
            };
            let mut models = requirement.models.iter();
            !members.is_empty() && models.all(|model| model.holds(&class, &table))
        })
    }

    /// Every record is in one cluster and under its cells; the release has the table's values, and
    /// satisfies the requirement, which the verifier says too.
    pub(super) fn check(&self, part: &Part, requirement: &Requirement, recode: Recode) {
        self.check_release(&part.found.clusters, &part.release, requirement, recode);
    }

    /// As [`Self::check`], of any classes and their release.
    pub(super) fn check_release(
        &self,
        classes: &[Vec<u32>],
        release: &Release,
        requirement: &Requirement,
        recode: Recode,
    ) {
        let mut all: Vec<u32> = classes.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, self.rows);
        assert_eq!(release.rows(), self.rows.len());
        let value = |code: u32| Cell::Interval(code, code);
        let mut told: Vec<Vec<Cell>> = Vec::new();
        let mut class = TextColumn::default();
        for row in 0..release.rows() {
            let mut words = Vec::new();
            for position in 1..=5 {
                let column = release.generalized(position).unwrap();
                words.push(column.cells[column.codes[row] as usize].clone());
            }
            class.push(&format!("{words:?}"), row as u64 + 2);
            for position in 6..=8 {
                words.push(value(release.verbatim(position).unwrap().get(row)));
            }
            told.push(words);
        }
        let mut truth: Vec<Vec<Cell>> = Vec::new();
        for members in classes {
            assert!(members.len() as u64 >= requirement.k());
            let cells: Vec<Cell> = (0..5)
                .map(|place| self.cell(place, members, recode))
                .collect();
            for member in members {
                let code = |place: usize| self.columns[place].get(*member as usize);
                let mut words = cells.clone();
                words.extend((5..8).map(|place| value(code(place))));
                truth.push(words);
            }
        }
        assert!(told.is_sorted(), "no other order than that of rows");
        truth.sort_unstable();
        assert_eq!(told, truth);
        let sensitive = [6, 7].map(|position| {
            let attribute = &self.schema.attributes()[position];
            SensitiveColumn {
                name: attribute.name.clone(),
                codes: release.verbatim(position).unwrap().iter().collect(),
                size: attribute.domain.size() as usize,
                distance: Distance::natural(&attribute.domain),
                is_ordered: attribute.domain.is_ordered(),
                tree: attribute.domain.taxonomy(),
            }
        });
        let evidence = Evidence {
            rows: release.rows(),
            quasi: vec![QuasiColumn {
                name: "class",
                text: &class,
                cells: None,
            }],
            sensitive: sensitive.into_iter().collect(),
            ..Evidence::default()
        };
        assert_eq!(verify(&evidence, Some(requirement)).holds, Some(true));
    }
}
