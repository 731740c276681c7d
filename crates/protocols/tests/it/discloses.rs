//! What a plan says it discloses, before a run, against the ledgers of runs: no entry stands outside
//! the list, every line of a list is there for a run that has a use for it, and settings that ask for
//! less list less.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::study::{Algorithm, Partition, Split};
use hedgerow_data::{Codes, Column, Role, Study, Table, TextColumn};
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::horizontal::clustering::{
    self, OCCURRING_VALUES, SAVINGS_IN_NARROWER_CLUSTERS, SUPPORTED_VALUES, TRIED_CLUSTERS,
    VALUE_COUNTS, cluster,
};
use hedgerow_protocols::horizontal::cover::{covers, writings};
use hedgerow_protocols::horizontal::mondrian::{
    self, AT_MEDIANS, BETWEEN_SITES, CANDIDATES as CANDIDATES_OF_CUTS, COALITIONS, CONTRIBUTORS,
    DATA_RANGES, ENTROPIES, EVENER, MEDIANS, RANGES, RANGES_IN_NODES, SENSITIVE, SITES, WITHSTOOD,
    partition,
};
use hedgerow_protocols::horizontal::share::{self, SHARES};
use hedgerow_protocols::horizontal::{Owner, assembly, cover};
use hedgerow_protocols::vertical::{self, align, d2pt};
use hedgerow_protocols::{Error, RunSettings};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::order::{CANDIDATES, RUNNING};
use hedgerow_smc::{Party, Security, Seed, What};

use crate::tables::{own_rows, share as rows_of};

const COLUMNS: &str = r#"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 9]
[[attribute]]
name = "place"
role = "quasi"
taxonomy = "place.csv"
[[attribute]]
name = "disease"
role = "sensitive"
values = ["u", "v", "w"]
"#;
const SITES_OF_PEOPLE: &str = r#"
[[site]]
name = "clinic"
columns = ["age"]
[[site]]
name = "insurer"
columns = ["place"]
[[site]]
name = "laboratory"
columns = ["disease"]
[[attribute]]
name = "id"
role = "identifier"
"#;

/// So many values that they are mixed rather than counted.
const COST: &str = r#"
[[attribute]]
name = "cost"
role = "other"
type = "integer"
range = [0, 19999]
"#;

/// A study that can be run.
struct Made {
    study: Study,
    requirement: Requirement,
    run: RunSettings,
    split: Split,
}

fn made(columns: &str, security: &str, require: &str, algorithm: &str) -> Made {
    let is_vertical = columns.contains("[[site]]");
    let partition = if is_vertical {
        "vertical"
    } else {
        "horizontal"
    };
    let folder = tempfile::tempdir().unwrap();
    let tree = "a;X;*\nb;X;*\nc;Y;*\nd;Y;*\ne;Y;*\nf;Y;*\ng;Y;*\nh;Y;*\ni;Y;*\n";
    std::fs::write(folder.path().join("place.csv"), tree).unwrap();
    let text = format!(
        "[study]\nname = \"s\"\npartition = \"{partition}\"\nsecurity = \"{security}\"\n{columns}{COLUMNS}[require]\n{require}\n[algorithm]\n{algorithm}\n"
    );
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    let study = Study::read(document, folder.path()).unwrap();
    let scope = Scope {
        sites: Some(3),
        ..Scope::of_study(&study)
    };
    Made {
        requirement: Requirement::of_document(study.document(), &scope).unwrap(),
        run: RunSettings::of_study(&study).unwrap(),
        split: match &study.split {
            Some(split) => split.clone(),
            None => Split::whole(&study.schema),
        },
        study,
    }
}

fn horizontal(security: &str, require: &str, algorithm: &str) -> Made {
    made("", security, require, algorithm)
}

fn vertical(security: &str, require: &str, algorithm: &str) -> Made {
    made(SITES_OF_PEOPLE, security, require, algorithm)
}

fn draw(site: u32, start: u32) -> Seed {
    Seed::for_site(u64::from(start), site as usize)
}

fn draw_once(site: u32) -> Seed {
    draw(site, 0)
}

impl Made {
    fn is_clustering(&self) -> bool {
        self.study.algorithm == Algorithm::Clustering
    }

    fn cuts(&self) -> mondrian::Plan<'_> {
        mondrian::Plan::of(&self.study, &self.requirement, &self.run)
    }

    fn clusters(&self) -> clustering::Plan<'_> {
        clustering::Plan::of(&self.study, &self.requirement, &self.run, &draw)
    }

    fn groups(&self) -> d2pt::Plan<'_> {
        d2pt::Plan::of(&self.study, &self.requirement, &self.run, &self.split)
    }

    fn shared_clusters(&self) -> vertical::clustering::Plan<'_> {
        let (study, requirement) = (&self.study, &self.requirement);
        vertical::clustering::Plan::of(study, requirement, &self.run, &self.split, &draw_once)
    }

    /// What the plan of its classes lists.
    fn is_cut_together(&self) -> bool {
        let is_cut = self.study.algorithm == Algorithm::Mondrian;
        is_cut && self.study.partition == Partition::Vertical
    }

    fn shared_cuts(&self) -> vertical::mondrian::Plan<'_> {
        let (study, requirement) = (&self.study, &self.requirement);
        vertical::mondrian::Plan::of(study, requirement, &self.run, &self.split)
    }

    fn of_plan(&self) -> Vec<What> {
        if self.is_cut_together() {
            return self.shared_cuts().discloses();
        }
        match (self.study.partition, self.is_clustering()) {
            (Partition::Horizontal, false) => self.cuts().discloses(self.run.security),
            (Partition::Horizontal, true) => self.clusters().discloses(),
            (Partition::Vertical, false) => self.groups().discloses(),
            (Partition::Vertical, true) => self.shared_clusters().discloses(),
        }
    }

    /// What a whole run lists.
    fn listed(&self) -> BTreeSet<&'static str> {
        let mut all = self.of_plan();
        match self.study.partition {
            Partition::Horizontal => {
                if !self.is_clustering() {
                    all.extend(cover::discloses());
                }
                all.extend(assembly::discloses());
                all.extend(self.run.security.discloses());
            }
            Partition::Vertical => all.extend(align::discloses()),
        }
        all.iter().map(What::name).collect()
    }

    /// The names in the ledgers of a run of three sites.
    fn ran(&self) -> BTreeSet<&'static str> {
        let table = self.table();
        let simulation = Simulation::new(3, 7).settings(self.run.of_parties(3));
        let run = simulation.run(|mut party| {
            let table = &table;
            async move {
                match self.study.partition {
                    Partition::Horizontal => self.with_people(&mut party, table).await?,
                    Partition::Vertical => self.with_columns(&mut party, table).await?,
                }
                let entries = party.ledger().entries().iter();
                let names = entries.map(|entry| entry.disclosure.what.name());
                Ok::<_, Error>(names.collect::<Vec<_>>())
            }
        });
        run.into_values().unwrap().into_iter().flatten().collect()
    }

    async fn with_people(&self, party: &mut Party, table: &Table) -> Result<(), Error> {
        let schema = &self.study.schema;
        let site = party.me().index();
        let columns = rows_of(table, site, 3);
        let rows = own_rows(schema, &columns, Owner::Site(site as u32), 3);
        let (classes, cells) = if self.is_clustering() {
            let found = cluster(party, &rows, &self.clusters(), |_| {}).await?;
            (found.partition, found.cells)
        } else {
            let found = partition(party, &rows, &self.cuts(), |_, _| {}).await?;
            let writings = writings(schema, self.run.recode);
            let way = self.run.top_down.covers;
            let cells = covers(party, &rows, &found, &writings, way).await?;
            (found, cells)
        };
        let roles = [Role::Sensitive, Role::Other].into_iter();
        let mut verbatim: Vec<usize> = roles.flat_map(|role| schema.with_role(role)).collect();
        verbatim.sort_unstable();
        let verbatim: Vec<(usize, &Codes)> =
            verbatim.into_iter().map(|at| (at, &columns[at])).collect();
        assembly::assemble(party, schema, &classes, &cells, &verbatim).await?;
        Ok(())
    }

    async fn with_columns(&self, party: &mut Party, table: &Table) -> Result<(), Error> {
        let own = Arc::new(self.split.schema_of(&self.study.schema, party.me().index()));
        let column = |attribute: &hedgerow_data::Attribute| {
            let position = table.schema().position(&attribute.name).unwrap();
            table.column(position).clone()
        };
        let own = Table::new(own.clone(), own.attributes().iter().map(column).collect());
        let rows = align::align(party, &self.study.identity, &own).await?;
        let columns = d2pt::columns_of(&self.study.schema, &own);
        if self.is_clustering() {
            let plan = self.shared_clusters();
            let found = vertical::clustering::cluster(party, &plan, &columns, &rows, |_| {});
            let found = found.await?;
            vertical::clustering::assemble(party, &plan, &columns, &rows, &found).await?;
        } else if self.is_cut_together() {
            let plan = self.shared_cuts();
            let found = vertical::mondrian::partition(party, &plan, &columns, &rows, |_, _| {});
            let found = found.await?;
            if self.study.is_fragmented() {
                vertical::mondrian::fragment(party, &plan, &columns, &rows, &found).await?;
            } else {
                vertical::mondrian::assemble(party, &plan, &columns, &rows, &found).await?;
            }
        } else {
            d2pt::anonymize(party, &self.groups(), &columns, &rows, |_, _| {}).await?;
        }
        Ok(())
    }

    /// Ninety records.
    fn table(&self) -> Table {
        let place = |row: u32| (row / 3 + row * row) % 9;
        let value = |row: u32, name: &str| match name {
            "age" => row * 7 % 10,
            "place" => place(row),
            "cost" => row * 211,
            // Two places have one disease only.
            _ if place(row) < 2 => 0,
            _ => row % 3,
        };
        let column = |attribute: &hedgerow_data::Attribute| {
            if attribute.role == Role::Identifier {
                let mut text = TextColumn::default();
                (0..90u32).for_each(|row| text.push(&row.to_string(), u64::from(row) + 2));
                return Column::Text(text);
            }
            let mut codes = Codes::for_size(attribute.domain.size());
            (0..90).for_each(|row| codes.push(value(row, &attribute.name)));
            Column::Coded(codes)
        };
        let schema = self.study.schema.clone();
        let columns = schema.attributes().iter().map(column).collect();
        Table::new(schema, columns)
    }
}

const REQUIREMENTS: [&str; 3] = ["k = 4", "k = 4\nl = 2", "k = 4\nsite_diversity = 2\nm = 1"];
const HORIZONTAL: [&str; 10] = [
    "name = \"mondrian\"",
    "name = \"mondrian\"\nrecode = \"range\"",
    "name = \"mondrian\"\ncuts = \"children\"\nmedians = \"relaxed\"",
    "name = \"mondrian\"\nwidths = \"data\"\nalpha = 1",
    "name = \"provider-aware\"\nrecode = \"range\"",
    "name = \"mondrian\"\nverification = \"direct\"\ncontributors = true",
    "name = \"provider-aware\"\nchoose = \"fitness\"\nweight = 0.5\nverification = \"exact\"",
    "name = \"clustering\"",
    "name = \"clustering\"\nloss = \"em\"\nstarts = 2",
    "name = \"clustering\"\nloss = \"lm\"\nfinish = false",
];
const VERTICAL: [&str; 8] = [
    "name = \"d2pt\"",
    "synchronizer = \"fork\"\nanonymizer = \"optimal\"",
    "synchronizer = \"identity\"",
    "synchronizer = \"dpp2ga\"\nrestore = true",
    "name = \"clustering\"",
    "name = \"clustering\"\nloss = \"em\"\nstarts = 2",
    "name = \"mondrian\"\nrecode = \"set\"",
    "name = \"mondrian\"\nfragments = true",
];

/// Runs every kind of study: the ledger stays within the list. What is listed and has never occurred
/// comes back.
fn never_seen(studies: impl Iterator<Item = (String, Made)>) -> BTreeSet<&'static str> {
    let (mut listed, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for (kind, made) in studies {
        let may = made.listed();
        let did = made.ran();
        let beyond: Vec<_> = did.difference(&may).collect();
        assert!(beyond.is_empty(), "{kind}: {beyond:?}");
        listed.extend(may);
        seen.extend(did);
    }
    listed.difference(&seen).copied().collect()
}

#[test]
fn ledgers_of_different_people_stay_within_the_list_and_use_all_of_it() {
    let taxonomy = "k = 4\nsite_diversity = { at_least = 2, kind = \"taxonomy\" }";
    let even = "k = 4\nsite_diversity = { at_least = 1.5, kind = \"entropy\" }";
    let requirements = REQUIREMENTS.into_iter().chain([taxonomy, even]).enumerate();
    // Every other algorithm with a requirement, so that each has two.
    let kinds = requirements.flat_map(|(turn, require)| {
        let algorithms = HORIZONTAL.into_iter().skip(turn % 2).step_by(2);
        algorithms.map(move |algorithm| (require, algorithm))
    });
    let kinds = kinds.flat_map(|(require, algorithm)| {
        ["hardened", "published"].map(|security| (security, require, algorithm))
    });
    let studies = kinds.map(|(security, require, algorithm)| {
        let kind = format!("{security}, {require}, {algorithm}");
        (kind, horizontal(security, require, algorithm))
    });
    // Keys that mean something with some requirements only.
    let more = [
        ("published", "k = 4\nl = 2", "counts = \"hidden\""),
        ("hardened", "k = 4\nalpha = 0.9", "counts = \"hidden\""),
        ("published", "k = 4", "blur = true"),
    ];
    let more = more.map(|(security, require, key)| {
        let made = horizontal(security, require, &format!("name = \"clustering\"\n{key}"));
        (format!("{security}, {require}, {key}"), made)
    });
    let studies = studies.chain(more);
    let mixed = made(COST, "published", "k = 20", HORIZONTAL[0]);
    let unseen = never_seen(studies.chain([(String::from("mixed"), mixed)]));
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn ledgers_of_the_same_people_stay_within_the_list_and_use_all_of_it() {
    let kinds = ["k = 4", "k = 4\nl = 2\nt = 0.3"]
        .into_iter()
        .flat_map(|require| {
            ["hardened", "published"]
                .into_iter()
                .flat_map(move |security| VERTICAL.map(|algorithm| (security, require, algorithm)))
        });
    let unseen = never_seen(kinds.map(|(security, require, algorithm)| {
        let kind = format!("{security}, {require}, {algorithm}");
        (kind, vertical(security, require, algorithm))
    }));
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn sites_of_the_same_people_show_what_their_settings_say() {
    let of = |algorithm: &str| vertical("hardened", "k = 2\nl = 2", algorithm).of_plan();
    let merge = of("name = \"d2pt\"");
    for what in [
        d2pt::CLASSES,
        d2pt::GROUPS,
        d2pt::OWN_GROUPS,
        d2pt::CELLS,
        d2pt::MET_REQUIREMENT,
    ] {
        assert!(merge.contains(&what), "{}", what.name());
    }
    for what in [d2pt::CLASS_CUTS, d2pt::RESTORED] {
        assert!(!merge.contains(&what), "{}", what.name());
    }
    let cuts = of("synchronizer = \"dpp2ga\"\nrestore = true");
    assert!(cuts.contains(&d2pt::CLASS_CUTS) && cuts.contains(&d2pt::OWN_GROUPS));
    assert!(cuts.contains(&d2pt::RESTORED));
    assert!(!cuts.contains(&d2pt::GROUPS) && !cuts.contains(&d2pt::CELLS));
    let clusters = of("name = \"clustering\"");
    let (costs, kept) = (
        vertical::clustering::LOSS_CHANGES,
        vertical::clustering::BEST_START,
    );
    assert!(clusters.contains(&costs) && !clusters.contains(&kept));
    assert!(of("name = \"clustering\"\nstarts = 2").contains(&kept));
    let plain = vertical("hardened", "k = 2", "name = \"clustering\"").of_plan();
    for what in [
        vertical::clustering::MET_REQUIREMENT,
        vertical::clustering::DEALT_RECORDS,
    ] {
        assert!(clusters.contains(&what) && !plain.contains(&what));
    }
    let cuts = of("name = \"mondrian\"");
    let plain = vertical("hardened", "k = 2", "name = \"mondrian\"").of_plan();
    for what in [
        vertical::mondrian::MET_REQUIREMENT,
        vertical::mondrian::HOLDING_PARTS,
        vertical::mondrian::REFUSED_CUTS,
    ] {
        assert!(cuts.contains(&what) && !plain.contains(&what));
    }
    assert!(plain.contains(&vertical::mondrian::LEFT_PEOPLE));
    assert!(
        !vertical("hardened", "k = 2", "")
            .of_plan()
            .contains(&d2pt::MET_REQUIREMENT)
    );
}

/// By taxonomy, clusters are written so that enough sites support them; cuts ask every class.
#[test]
fn site_diversity_by_taxonomy_shows_what_is_supported() {
    let taxonomy = "k = 2\nsite_diversity = { at_least = 2, kind = \"taxonomy\" }";
    let clusters = horizontal("hardened", taxonomy, "name = \"clustering\"").of_plan();
    assert!(clusters.contains(&SUPPORTED_VALUES) && !clusters.contains(&SITES));
    let colluders = format!("{taxonomy}\nm = 1");
    for (require, algorithm) in [(taxonomy, "mondrian"), (&colluders, "clustering")] {
        let algorithm = format!("name = \"{algorithm}\"");
        let all = horizontal("hardened", require, &algorithm).of_plan();
        assert!(!all.contains(&SUPPORTED_VALUES) && all.contains(&SITES));
    }
}

#[test]
fn clusters_show_what_their_settings_say() {
    let all_of = |security, settings: &str| {
        let algorithm = format!("name = \"clustering\"\n{settings}");
        horizontal(security, REQUIREMENTS[2], &algorithm).of_plan()
    };
    for (loss, expected) in [
        ("", [true, false]),
        ("loss = \"lm\"", [false, false]),
        ("loss = \"em\"", [false, true]),
    ] {
        let all = all_of("hardened", loss);
        let found = [OCCURRING_VALUES, VALUE_COUNTS].map(|what| all.contains(&what));
        assert_eq!(found, expected);
        for what in [
            clustering::CLUSTER_SIZES,
            clustering::CLUSTER_CLOSURES,
            SITES,
            COALITIONS,
        ] {
            assert!(all.contains(&what), "{}", what.name());
        }
        for what in [cover::COVERS, mondrian::REFUSED, MEDIANS] {
            assert!(!all.contains(&what), "{}", what.name());
        }
        assert!(all.contains(&SAVINGS_IN_NARROWER_CLUSTERS) && all.contains(&TRIED_CLUSTERS));
    }
    for (security, settings) in [("hardened", "finish = false"), ("published", "")] {
        let all = all_of(security, settings);
        assert!(!all.contains(&SAVINGS_IN_NARROWER_CLUSTERS) && !all.contains(&TRIED_CLUSTERS));
    }
}

#[test]
fn cuts_show_what_their_settings_say() {
    let of = |security, require, settings: &str| {
        horizontal(
            security,
            require,
            &format!("name = \"mondrian\"\n{settings}"),
        )
        .of_plan()
    };
    let plain = of("hardened", "k = 2", "recode = \"range\"");
    for what in [
        AT_MEDIANS,
        DATA_RANGES,
        SENSITIVE,
        SITES,
        COALITIONS,
        EVENER,
    ] {
        assert!(!plain.contains(&what), "{}", what.name());
    }
    assert!(plain.contains(&RANGES) && !plain.contains(&RANGES_IN_NODES));
    assert!(of("hardened", "k = 2", "").contains(&RANGES_IN_NODES));
    assert!(of("hardened", "k = 2", "medians = \"relaxed\"").contains(&AT_MEDIANS));
    assert!(of("hardened", "k = 2", "widths = \"data\"").contains(&DATA_RANGES));
    assert!(of("hardened", "k = 2\nl = 2", "").contains(&SENSITIVE));
    for (security, shown, hidden) in [
        ("hardened", EVENER, ENTROPIES),
        ("published", ENTROPIES, EVENER),
    ] {
        let all = of(security, "k = 2\nsite_diversity = 2", "");
        assert!(all.contains(&shown) && !all.contains(&hidden));
        let without = of(security, "k = 2\nsite_diversity = 2", "alpha = 1");
        assert!(!without.contains(&shown));
        assert_eq!(all.contains(&CANDIDATES), security == "published");
    }
    // Sums before coalitions, where coalitions are not what is to be asked about.
    let hardened = of("hardened", "k = 2\nm = 1", "");
    assert!(hardened.contains(&WITHSTOOD) && hardened.contains(&COALITIONS));
    let published = of("published", "k = 2\nm = 1", "");
    assert!(!published.contains(&WITHSTOOD) && published.contains(&COALITIONS));
    // Which sites have records in a class: where the study allows it, and coalitions are asked about.
    assert!(!hardened.contains(&CONTRIBUTORS));
    let told = of("hardened", "k = 2\nm = 1", "contributors = true");
    assert!(told.contains(&CONTRIBUTORS));
    assert!(!of("hardened", "k = 2", "contributors = true").contains(&CONTRIBUTORS));
    let fittest = of(
        "hardened",
        "k = 2\nsite_diversity = 2",
        "choose = \"fitness\"",
    );
    assert!(fittest.contains(&CANDIDATES_OF_CUTS) && !fittest.contains(&EVENER));
    let between = horizontal("hardened", "k = 2", "name = \"provider-aware\"").of_plan();
    assert!(between.contains(&BETWEEN_SITES) && !plain.contains(&BETWEEN_SITES));
}

#[test]
fn shares_are_listed_where_they_can_be_asked() {
    assert_eq!(share::discloses(1, Security::Hardened), None);
    for (sites, security) in [
        (2, Security::Published),
        (2, Security::Hardened),
        (3, Security::Hardened),
    ] {
        assert_eq!(share::discloses(sites, security), Some(SHARES));
    }
    assert_eq!(share::discloses(3, Security::Published), None);
    assert!(Security::Published.discloses().contains(&RUNNING));
    assert!(Security::Hardened.discloses().is_empty());
}
