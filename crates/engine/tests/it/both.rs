//! Several sensitive attributes, each held to the requirement and all together: releases of skewed sites,
//! recounted from their rows by loops that share nothing with the run.

use std::collections::BTreeMap;

use hedgerow::{Options, Questions, Simulation, Sites, Study, Table, simulate, verify};
use proptest::prelude::*;
use serde_json::Value;

/// Age, disease, ward, and the site that has the record.
type Row = (u32, u32, u32, u32);

const DEMANDS: &str = "l = 2\nt = 0.3";

/// Values of disease and of ward.
const VALUES: [u32; 2] = [3, 4];

/// A study that demands this of sensitive values.
fn study(demands: &str, sensitive: &str, algorithm: &str) -> Study {
    let text = format!(
        r#"[study]
name = "patients"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["0", "1", "2"]
[[attribute]]
name = "ward"
role = "sensitive"
values = ["0", "1", "2", "3"]
[require]
k = 3
{demands}
m = 0
sensitive = "{sensitive}"
[algorithm]
name = "{algorithm}"
"#
    );
    Study::parse(text, ".").unwrap()
}

fn run(study: &Study, rows: &[Row]) -> Simulation {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("pooled.csv");
    let lines = rows
        .iter()
        .map(|(age, disease, ward, site)| format!("{age},{disease},{ward},{site}\n"));
    std::fs::write(
        &table,
        format!("age,disease,ward,site\n{}", lines.collect::<String>()),
    )
    .unwrap();
    let sites = Sites::Named {
        table: Table::file(&table),
        column: String::from("site"),
    };
    simulate(study, &sites, &Options::new()).unwrap()
}

/// What a release achieves of one attribute, or of both as one: the fewest different values of a class, and
/// the farthest distance of a class from the table, as records over twice the product of both sizes.
#[derive(Debug, PartialEq)]
struct Recounted {
    distinct: usize,
    /// Numerator and denominator.
    distance: (u64, u64),
}

/// Recounts the text of a release by its printed ages.
fn recount(release: &str, value: impl Fn(&str, &str) -> String) -> Recounted {
    let mut classes: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    let mut table: BTreeMap<String, u64> = BTreeMap::new();
    for line in release.lines().skip(1) {
        let mut fields = line.rsplitn(3, ',');
        let (ward, disease) = (fields.next().unwrap(), fields.next().unwrap());
        let value = value(disease, ward);
        *table.entry(value.clone()).or_default() += 1;
        let class = classes.entry(fields.next().unwrap()).or_default();
        *class.entry(value).or_default() += 1;
    }
    let all: u64 = table.values().sum();
    let of_class = |class: &BTreeMap<String, u64>| {
        let size: u64 = class.values().sum();
        let apart = table.iter().map(|(value, records)| {
            let here = class.get(value).copied().unwrap_or(0);
            (here * all).abs_diff(records * size)
        });
        (apart.sum::<u64>(), 2 * size * all)
    };
    let farther = |a: (u64, u64), b: (u64, u64)| if a.0 * b.1 >= b.0 * a.1 { a } else { b };
    Recounted {
        distinct: classes.values().map(BTreeMap::len).min().unwrap(),
        distance: classes.values().map(of_class).reduce(farther).unwrap(),
    }
}

fn is_within(distance: (u64, u64)) -> bool {
    distance.0 * 10 <= distance.1 * 3
}

/// The release as it is printed, and what its verdict says of l and t, attribute by attribute.
fn looked(simulation: &Simulation) -> (String, Value) {
    let release = &simulation.outcome.release;
    let text = std::fs::read_to_string(release.path().join("release.csv")).unwrap();
    let verdict = verify(release, &Questions::default()).unwrap();
    assert!(verdict.holds(), "{verdict}");
    (text, serde_json::to_value(&verdict).unwrap())
}

/// Skewed sites with skewed values: the first site has most, and ages go with diseases.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0u32..40, 0u32..6, 0u32..8, 0u32..6).prop_map(|(age, disease, ward, site)| {
        let disease = disease.saturating_sub(3);
        (
            age + 25 * disease,
            disease,
            ward.saturating_sub(4),
            site.saturating_sub(3),
        )
    });
    prop::collection::vec(row, 20..90).prop_map(|mut rows| {
        for (place, row) in rows.iter_mut().take(12).enumerate() {
            let place = place as u32;
            // All values and all sites occur.
            *row = (row.0, place % VALUES[0], place % VALUES[1], place % 3);
        }
        rows
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_release_satisfies_what_is_demanded_of_each_and_of_both(rows in rows(), clusters in any::<bool>()) {
        let study = study(DEMANDS, "both", if clusters { "clustering" } else { "mondrian" });
        let (text, verdict) = looked(&run(&study, &rows));
        let recounted = [
            ("disease", recount(&text, |disease, _| disease.to_owned())),
            ("ward", recount(&text, |_, ward| ward.to_owned())),
            ("disease × ward", recount(&text, |disease, ward| format!("{disease} {ward}"))),
        ];
        for (name, found) in &recounted {
            prop_assert!(found.distinct >= 2 && is_within(found.distance), "{name}: {found:?}\n{text}");
            let said = |model: &str| verdict["models"][model]["attributes"][*name]["achieved"].clone();
            prop_assert_eq!(said("l_distinct").as_u64(), Some(found.distinct as u64));
            let (apart, whole) = found.distance;
            let t = said("t").as_f64().unwrap();
            prop_assert!((t - apart as f64 / whole as f64).abs() < 1e-9, "{name}: {t} {found:?}");
        }
    }

    /// Whose rows they are does not matter to cuts.
    #[test]
    fn one_site_publishes_what_three_publish(rows in rows()) {
        let study = study(DEMANDS, "both", "mondrian");
        let mut pooled = rows.clone();
        // One site of three has nearly everything.
        for row in pooled.iter_mut().skip(12) {
            row.3 = 0;
        }
        prop_assert_eq!(looked(&run(&study, &rows)).0, looked(&run(&study, &pooled)).0);
    }
}

/// Among the young ward and disease go together, among the old one excludes the other: each has the table's own
/// distribution among both.
#[test]
fn each_alone_does_not_see_what_goes_together() {
    let mut rows: Vec<Row> = Vec::new();
    for one in 0..40 {
        let site = u32::from(one > 30);
        rows.push((one % 20, one % 2, one % 2, site));
        rows.push((70 + one % 20, one % 2, 1 - one % 2, site));
    }
    let found = |sensitive: &str| {
        let (text, _) = looked(&run(&study("t = 0.3", sensitive, "mondrian"), &rows));
        let disease = recount(&text, |disease, _| disease.to_owned());
        let both = recount(&text, |disease, ward| format!("{disease} {ward}"));
        (is_within(disease.distance), is_within(both.distance))
    };
    assert_eq!(found("each"), (true, false));
    assert_eq!(found("product"), (true, true));
    assert_eq!(found("both"), (true, true));
}

/// The young have one disease on several wards.
#[test]
fn the_product_alone_does_not_see_one_disease() {
    let mut rows: Vec<Row> = Vec::new();
    for one in 0..40 {
        rows.push((one % 20, 0, one % 4, u32::from(one > 30)));
        rows.push((70 + one % 20, one % 3, one / 3 % 4, 0));
    }
    let found = |sensitive: &str| {
        let (text, _) = looked(&run(&study("l = 2", sensitive, "mondrian"), &rows));
        let disease = recount(&text, |disease, _| disease.to_owned());
        let both = recount(&text, |disease, ward| format!("{disease} {ward}"));
        (disease.distinct, both.distinct >= 2)
    };
    assert_eq!(found("product"), (1, true));
    assert!(found("both").0 >= 2);
}
