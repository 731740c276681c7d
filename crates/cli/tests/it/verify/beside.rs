//! Tables beside a release: its original, and a population that its records are of.

use crate::{assert_refused, hedgerow, json, small};

#[test]
fn the_original_and_a_population() {
    let folder = small();
    let original =
        "age,zip,disease\n20,101,flu\n39,102,ulcer\n40,101,flu\n40,201,asthma\n40,201,flu\n";
    std::fs::write(folder.path().join("original.csv"), original).unwrap();
    std::fs::write(
        folder.path().join("people.csv"),
        "zip,age\n101,20\n102,25\n102,39\n201,40\n101,40\n",
    )
    .unwrap();
    let arguments = [
        "verify",
        "release.csv",
        "--study",
        "study.toml",
        "--original",
        "original.csv",
        "--queries",
        "50",
        "--population",
        "people.csv",
        "--json",
    ];
    let report = json(&hedgerow(folder.path(), &arguments));
    // EM: ages 20 and 39 are one bit, for two of five records; zip 1** holds 101 twice and 102 once,
    // * holds 101, 102 and 201 two, one and two times.
    let entropy = |shares: &[f64]| shares.iter().map(|p| -p * p.log2()).sum::<f64>();
    let zip = 2.0 * entropy(&[2.0 / 3.0, 1.0 / 3.0]) + 3.0 * entropy(&[0.4, 0.2, 0.4]);
    let em = (2.0 / 5.0 + zip / 5.0) / 2.0;
    assert!((report["utility"]["em"].as_f64().unwrap() - em).abs() < 1e-12);
    // Present ages are 20, 39, 40: (39 - 20) / 20. Present zips are three, 1** holds two of them.
    let present = (2.0 * 19.0 / 20.0 / 5.0 + (2.0 * 0.5 + 3.0) / 5.0) / 2.0;
    assert!((report["utility"]["ncp_present"].as_f64().unwrap() - present).abs() < 1e-12);
    assert_eq!(report["utility"]["query_error"]["queries"], 50);
    assert_eq!(report["risk"]["uniqueness"]["before"], 0.6);
    // Three people are 20 to 39 in 1**; two are 40.
    assert_eq!(report["risk"]["journalist"]["max"], 0.5);
    assert_eq!(report["risk"]["journalist"]["uncovered"], 0);

    // A population that is not one, and an original that is not this release's.
    std::fs::write(folder.path().join("people.csv"), "zip,age\n201,20\n").unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--study",
            "study.toml",
            "--population",
            "people.csv",
        ],
    );
    assert!(
        done.stdout
            .contains("cannot be told: 5 records not in the population"),
        "{}",
        done.stdout
    );
    std::fs::write(folder.path().join("people.csv"), "zip,age\n201,[20-30]\n").unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--study",
            "study.toml",
            "--population",
            "people.csv",
        ],
    );
    assert!(
        done.stderr
            .contains("people.csv:2: column `age`: value `[20-30]` is outside"),
        "{}",
        done.stderr
    );
    std::fs::write(
        folder.path().join("original.csv"),
        "age,zip,disease\n99,201,flu\n",
    )
    .unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--study",
            "study.toml",
            "--original",
            "original.csv",
        ],
    );
    assert_refused(
        &done,
        "original.csv: no record has a `age` in `[20-39]`, which the release has\nhint: is this the original of that release?",
    );
}
