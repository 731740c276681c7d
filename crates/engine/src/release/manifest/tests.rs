//! The schema of a manifest: a golden file, what is written reads back, and keys that are unknown or
//! missing are named.

#![allow(clippy::unwrap_used)]

use hedgerow_data::Role;
use hedgerow_data::study::{DescribedRange, DescribedStep, Kind};
use hedgerow_privacy::utility::AttributeUtility;
use hedgerow_privacy::{
    DiversityKind, Sensitive, SitesKind, StatedCloseness, StatedDiversity, StatedSites,
};
use hedgerow_smc::exposure::{Extremes, Unions};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::joint::{Ended, LossMeasure, Step};
use crate::release::refused::ManifestError;

/// The manifest of [`sample`] as it is written.
const GOLDEN: &str = include_str!("golden.json");

fn named(entries: &[(&str, &str)]) -> Ordered<String> {
    let entries = entries.iter();
    entries
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn column(name: &str, role: Role, kind: Kind) -> DescribedColumn {
    DescribedColumn {
        name: name.to_owned(),
        role,
        kind,
        range: None,
        step: None,
        missing: None,
        ordered: None,
        taxonomy: None,
        recode: None,
        publish_unique: false,
    }
}

/// A manifest that says everything that a manifest can say.
fn sample() -> Manifest {
    let statement = Statement {
        study: String::from("stroke & co"),
        study_hash: Some("0a".repeat(32)),
        run: Some(7),
        commitments: named(&[("north", "01"), ("east", "02")]),
        transcript: Some(String::from("03")),
        security: String::from("hardened"),
        algorithm: String::from("clustering"),
        records: 180,
        classes: 14,
        csv: String::from("guarded"),
        files: named(&[("release.csv", "04"), ("datapackage.json", "05")]),
        hedgerow: String::from("0.1.0"),
        date: String::from("2026-01-31"),
        partition: Partition::Horizontal,
        release: ReleaseKind::Virtual,
        rows: ReleaseRows::Counted,
        recode: Recode::Set,
        fragments: false,
        requirement: Demanded {
            words: vec![String::from("k = 5"), String::from("m = 1")],
            require: Stated {
                k: Some(5),
                k_printed: None,
                alpha: Some(0.5),
                l: Some(StatedDiversity {
                    at_least: 2.0,
                    kind: DiversityKind::Recursive,
                    c: Some(3.25),
                }),
                t: Some(StatedCloseness {
                    at_most: 0.2,
                    distance: None,
                }),
                beta: None,
                delta: None,
                site_diversity: Some(StatedSites {
                    at_least: 2.0,
                    kind: SitesKind::Taxonomy,
                    c: None,
                    attributes: Some(vec![String::from("zip")]),
                }),
                m: Some(1),
                sensitive: Sensitive::Each,
            },
        },
        gate: vec![
            TriedAttack {
                attack: String::from("certain"),
                verdict: String::from("holds"),
                limit: 0.01,
                share: Some(0.3),
                control: Some(0.295),
            },
            TriedAttack {
                attack: String::from("product"),
                verdict: String::from("nothing"),
                limit: 0.0,
                share: None,
                control: None,
            },
        ],
        columns: vec![
            column("who", Role::Identifier, Kind::Text),
            DescribedColumn {
                range: Some(DescribedRange::Numbers([-5, 99])),
                step: Some(DescribedStep::Number(1)),
                missing: Some(String::from("NA")),
                recode: Some(Recode::Range),
                ..column("age", Role::Quasi, Kind::Integer)
            },
            DescribedColumn {
                range: Some(DescribedRange::Texts(["0.0", "99.5"].map(String::from))),
                step: Some(DescribedStep::Text(String::from("0.1"))),
                recode: Some(Recode::Node),
                ..column("fever", Role::Quasi, Kind::Decimal)
            },
            DescribedColumn {
                range: Some(DescribedRange::Texts(
                    ["2025-01-01", "2025-12-31"].map(String::from),
                )),
                publish_unique: true,
                ..column("came", Role::Other, Kind::Date)
            },
            DescribedColumn {
                ordered: Some(false),
                taxonomy: Some(String::from("taxonomies/disease.csv")),
                ..column("disease", Role::Sensitive, Kind::Category)
            },
        ],
    };
    Manifest {
        version: VERSION,
        signed: Some(statement),
        unsigned: None,
        signatures: vec![SignatureOf {
            site: String::from("north"),
            key: String::from("ed25519:06"),
            signature: String::from("07"),
        }],
        sites: 2,
        achieved: Achieved {
            k: Some(10),
            k_printed: None,
            l_distinct: Some(3),
            l_entropy: Some(2.5),
            t: Some([(String::from("disease"), 0.125)].into_iter().collect()),
            site_diversity: None,
            site_entropy: None,
            site_recursive: None,
            m: None,
        },
        utility: Utility {
            lm: 0.25,
            em: None,
            ncp: 0.5,
            ncp_present: None,
            discernibility: 2400,
            normalized_discernibility: 0.1,
            average_class_size: 12.75,
            c_avg: 2.5,
            query_error: None,
            attributes: vec![AttributeUtility {
                name: String::from("age"),
                lm: 0.25,
                em: None,
                ncp: 0.5,
                ncp_present: None,
            }],
        },
        ledger: vec![Disclosed {
            what: String::from("sizes"),
            to: String::from("all"),
            values: 12,
            allowed_by: String::from("TG12"),
            caveat: Some(String::from("of two sites")),
        }],
        cost: Cost {
            rounds: 1,
            messages: 2,
            bytes: 3,
            smc_calls: 4,
            seconds: 0.5,
            protocol_seconds: 0.25,
            wan_seconds: Some(9.5),
        },
        convergence: Some(Convergence {
            measure: LossMeasure::Lm,
            iterations: 1,
            ended: Ended::NothingMoved,
            refinement_ended: Some(Ended::Bound),
            published_calls: 99,
            steps: vec![Step::Grown {
                clusters: 14,
                loss: 0.25,
            }],
        }),
        loss_of_privacy: Some(LossOfPrivacy {
            extremes: Some(Extremes {
                values: 10,
                claims: 8,
                right: 2,
                by_lap: vec![0.125, 0.0],
                worst: 0.125,
                mean: 0.0625,
            }),
            unions: Some(Unions {
                unions: 1,
                random_items: 100,
                leader_set: 0.0,
                leader_set_bound: 0.375,
                set: 0.0,
                set_bound: 0.1875,
                leader_item: 0.25,
                leader_item_bound: 0.5,
                items_for_set: Some(102),
                items_for_item: 139_000,
            }),
        }),
        shared: Some(Shared {
            identifiers: vec![String::from("who")],
            sites: vec![Holder {
                site: String::from("north"),
                columns: vec![String::from("age")],
            }],
            synchronizer: Some(String::from("merge")),
            synchronizations: Some(1),
            same_at_first: Some(false),
            restored: Some(true),
        }),
        account: AccountOf {
            site: Some(String::from("north")),
            files: named(&[("report.html", "08")]),
        },
        seal: Some(String::from("09")),
    }
}

/// Whoever changes what a manifest says changes the golden file and the version.
#[test]
fn the_schema_is_the_golden_file() {
    let written = serde_json::to_string_pretty(&sample()).unwrap() + "\n";
    assert_eq!(written, GOLDEN);
    assert_eq!(Manifest::parse(GOLDEN.as_bytes()).unwrap(), sample());
}

/// Calls `each` with every object of a JSON value that has the keys of a struct, and its path.
fn for_each_object(value: &Value, path: &str, each: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(entries) => {
            each(path);
            for (key, inside) in entries {
                for_each_object(inside, &format!("{path}/{key}"), each);
            }
        }
        Value::Array(items) => {
            for (place, inside) in items.iter().enumerate() {
                for_each_object(inside, &format!("{path}/{place}"), each);
            }
        }
        _ => {}
    }
}

#[test]
fn an_unknown_or_missing_key_is_named() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    // Objects whose keys are names of files, sites or attributes, and not of fields.
    let by_name = ["/commitments", "/files", "/t", "/attributes"];
    let optional = [
        "signed",
        "unsigned",
        "gate",
        "share",
        "control",
        "study_hash",
        "run",
        "commitments",
        "transcript",
        "range",
        "step",
        "missing",
        "ordered",
        "taxonomy",
        "recode",
        "publish_unique",
        "alpha",
        "k",
        "l",
        "t",
        "beta",
        "delta",
        "site_diversity",
        "m",
        "c",
        "distance",
        "attributes",
        "l_distinct",
        "l_entropy",
        "caveat",
        "wan_seconds",
        "convergence",
        "refinement_ended",
        "loss_of_privacy",
        "extremes",
        "unions",
        "items_for_set",
        "shared",
        "synchronizer",
        "synchronizations",
        "same_at_first",
        "restored",
        "release",
        "rows",
        "site",
        "seal",
        "files",
    ];
    let mut paths = Vec::new();
    for_each_object(&golden, "", &mut |path| paths.push(path.to_owned()));
    let is_of_fields = |path: &&String| {
        !by_name
            .iter()
            .any(|end| path.ends_with(end) && !path.ends_with("/require/t"))
    };
    let paths: Vec<&String> = paths.iter().filter(is_of_fields).collect();
    assert!(paths.len() > 15, "{paths:?}");
    for path in paths {
        let mut changed = golden.clone();
        changed.pointer_mut(path).unwrap()["stranger"] = json!(1);
        let error = Manifest::parse(changed.to_string().as_bytes());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("`stranger`"), "{path}: {error}");
        let keys: Vec<String> = golden
            .pointer(path)
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        for key in keys {
            let mut changed = golden.clone();
            changed
                .pointer_mut(path)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .shift_remove(&key);
            match Manifest::parse(changed.to_string().as_bytes()) {
                Ok(_) => assert!(
                    optional.contains(&key.as_str()),
                    "{path}/{key} may be missing"
                ),
                Err(ManifestError::NoVersion) => assert_eq!(key, "version"),
                Err(error) => assert!(
                    error.to_string().contains(&format!("`{key}`")),
                    "{path}: {error}"
                ),
            }
        }
    }
}

#[test]
fn other_versions_and_names_that_stand_twice_are_refused() {
    for (version, says) in [
        ("1", "is of version 1"),
        ("3", "is of version 3"),
        ("null", "has no version"),
    ] {
        let text = GOLDEN.replacen("\"version\": 2", &format!("\"version\": {version}"), 1);
        let error = Manifest::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let text = GOLDEN.replacen(
        "\"release.csv\": \"04\"",
        "\"release.csv\": \"04\", \"release.csv\": \"x\"",
        1,
    );
    let error = Manifest::parse(text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("`release.csv` stands twice"), "{error}");
    for text in [
        "",
        "[]",
        "{",
        "{\"version\": 2}",
        "{\"version\": -1}",
        "{\"version\": \"2\"}",
    ] {
        assert!(Manifest::parse(text.as_bytes()).is_err(), "{text}");
    }
    // Depth that a stack would not hold.
    let deep = format!("{{\"version\": 2, \"signed\": {}", "[".repeat(100_000));
    assert!(Manifest::parse(deep.as_bytes()).is_err());
}

proptest! {
    /// What is written reads back, and is written the same again: what is signed stays what it is.
    #[test]
    fn a_manifest_reads_back(
        words in prop::collection::vec(("\\PC{0,8}|[\"\\\\\n\u{7f}]{0,3}", "\\PC{0,8}"), 0..5),
        numbers in prop::array::uniform4(any::<u64>()),
        fractions in prop::array::uniform4(prop::num::f64::NORMAL | prop::num::f64::ZERO),
        is_signed in any::<bool>(),
    ) {
        let mut manifest = sample();
        let mut names: Vec<(String, String)> = words;
        names.sort();
        names.dedup_by(|one, other| one.0 == other.0);
        let said = manifest.signed.as_mut().unwrap();
        said.files = names.iter().cloned().collect();
        said.records = numbers[0];
        said.requirement.require.alpha = Some(fractions[0]);
        said.columns[1].missing = names.first().map(|(name, _)| name.clone());
        manifest.utility.lm = fractions[1];
        manifest.cost.bytes = numbers[1];
        manifest.achieved.t = Some(names.iter().map(|(name, _)| (name.clone(), fractions[2])).collect());
        if !is_signed {
            manifest.unsigned = manifest.signed.take();
            manifest.account.site = None;
        }
        let text = serde_json::to_string_pretty(&manifest).unwrap();
        let again = Manifest::parse(text.as_bytes()).unwrap();
        prop_assert_eq!(&again, &manifest);
        prop_assert_eq!(serde_json::to_string_pretty(&again).unwrap(), text);
    }

    /// Bytes that are no manifest are refused, and nothing worse.
    #[test]
    fn hostile_bytes_are_refused(bytes in any::<Vec<u8>>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        prop_assert!(Manifest::parse(&bytes).is_err());
        let mut changed = GOLDEN.as_bytes().to_vec();
        let at = at.index(changed.len());
        changed[at] = byte;
        let _ = Manifest::parse(&changed);
    }
}
