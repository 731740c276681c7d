//! Adult with the quasi-identifiers of D2PT (section 4), split over two, three and four sites.

use std::sync::Arc;

use hedgerow_data::study::Split;
use hedgerow_data::{Role, Schema, Table};
use hedgerow_protocols::Error;
use hedgerow_protocols::vertical::d2pt::{
    Anonymizer, Datafly, Joint, Optimal, Plan, Suppression, Synchronizer, anonymize, columns_of,
};
use hedgerow_smc::memory::Simulation;

use super::verdict::verdict;
use crate::runs::requirement;
use crate::tables::adult;

/// The columns of each site.
const SPLITS: [&[&[&str]]; 3] = [
    &[
        &["workclass", "education", "sex", "age", "occupation"],
        &["marital-status", "race", "native-country", "salary-class"],
    ],
    &[
        &["sex", "race", "age", "salary-class"],
        &["education", "workclass", "occupation"],
        &["marital-status", "native-country"],
    ],
    &[
        &["marital-status", "age"],
        &["education", "race", "occupation"],
        &["workclass", "salary-class"],
        &["sex", "native-country"],
    ],
];

/// A run of some records with a trusted third; the lines are tested elsewhere.
fn run(
    schema: &Arc<Schema>,
    table: &Table,
    records: u32,
    sites: &[&[&str]],
    line: &str,
    (anonymizer, synchronizer): (&dyn Anonymizer, Synchronizer),
) -> Joint {
    let columns: Vec<Vec<&str>> = sites.iter().map(|names| names.to_vec()).collect();
    let split = Split::new(schema, &columns).unwrap();
    let demand = requirement(line, schema);
    let plan = Plan {
        schema,
        split: &split,
        requirement: &demand,
        anonymizer,
        synchronizer,
        suppression: Suppression::NONE,
        restore: false,
    };
    let rows: Vec<u32> = (0..records).collect();
    let columns = columns_of(schema, table);
    let parts = Simulation::new(sites.len(), 3).run_ideal(|mut party| {
        let (plan, columns, rows) = (&plan, &columns, &rows);
        async move { anonymize(&mut party, plan, columns, rows, |_, _| {}).await }
    });
    let parts: Result<Vec<Joint>, Error> = parts.into_iter().collect();
    let mut parts = parts.unwrap();
    for part in &parts {
        assert_eq!(part.group_of, parts[0].group_of, "one partition");
        assert_eq!(part.fragments, parts[0].fragments, "one release");
    }
    assert_eq!(verdict(schema, &parts[0].fragments, &demand), Some(true));
    parts.swap_remove(0)
}

fn discernibility(joint: &Joint) -> u64 {
    let groups = joint.fragments.group.chunk_by(|a, b| a == b);
    groups.map(|group| (group.len() * group.len()) as u64).sum()
}

#[test]
fn every_release_verifies_and_utility_is_in_the_order_of_the_paper() {
    // The paper's attributes, as far as the tables with taxonomies have them.
    let Some((schema, table)) = adult() else {
        return;
    };
    let mut schema = (*schema).clone().attributes().to_vec();
    for attribute in &mut schema {
        if attribute.name == "occupation" {
            attribute.role = Role::Sensitive;
        }
    }
    let schema = Arc::new(Schema::new(schema));
    let by = [
        Synchronizer::Dpp2ga,
        Synchronizer::Merge,
        Synchronizer::Fork,
        Synchronizer::Identity,
    ];
    for sites in SPLITS {
        for (k, t) in [(2, "0.2"), (10, "0.7"), (100, "1"), (10, "0.15")] {
            let line = format!("k = {k}, t = {{ at_most = {t}, distance = \"hierarchical\" }}");
            let joints: Vec<Joint> = by
                .iter()
                .map(|by| run(&schema, &table, 4000, sites, &line, (&Datafly, *by)))
                .collect();
            assert_eq!(joints[1].synchronizations, 1, "merge needs one");
            let losses: Vec<u64> = joints.iter().map(discernibility).collect();
            // Better, or both at the fully generalized table.
            let is_better =
                |less: u64, more: u64| less < more || less == more && more == 4000 * 4000;
            let mut pairs = losses[1..].windows(2);
            assert!(
                pairs.all(|pair| is_better(pair[0], pair[1])),
                "{losses:?} {line}"
            );
            // Cuts that are not t-close cost DPP2GA steps that the others do not need.
            assert!(t != "1" || losses[0] < losses[1], "{losses:?} {line}");
        }
    }
}

/// The search loses less than Datafly at every site, and MERGE then needs no more than one pass.
#[test]
fn the_better_anonymizer_is_better() {
    let Some((schema, table)) = adult() else {
        return;
    };
    let everything: Vec<&str> = schema
        .attributes()
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    let loss = |line: &str, anonymizer: &dyn Anonymizer| {
        let joint = run(
            &schema,
            &table,
            4000,
            &[&everything],
            line,
            (anonymizer, Synchronizer::Merge),
        );
        let widths = joint.fragments.quasi.iter().map(|(position, column)| {
            let size = f64::from(schema.attributes()[*position].domain.size() - 1);
            let rows = column
                .codes
                .iter()
                .map(|code| &column.cells[*code as usize]);
            rows.map(|cell| f64::from(cell.count() - 1) / size)
                .sum::<f64>()
        });
        widths.sum::<f64>()
    };
    let mut is_better = false;
    for line in ["k = 2", "k = 5, t = 0.5", "k = 10", "k = 50"] {
        let (best, datafly) = (loss(line, &Optimal::default()), loss(line, &Datafly));
        assert!(best <= datafly + 1e-6, "{best} {datafly}");
        is_better |= best < 0.95 * datafly;
    }
    assert!(is_better);
}
