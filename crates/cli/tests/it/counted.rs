//! Counted rows on the command line: the release that single records give, row for row, whichever way the table
//! was counted; and releases whose counts were tampered with.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::sites::{ok, read, refused};
use super::{assert_refused, hedgerow};

const STUDY: &str = r#"[study]
name = "visits"
partition = "horizontal"
rows = "counted"
[[attribute]]
name = "person"
role = "identifier"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 19]
[[attribute]]
name = "district"
role = "quasi"
values = ["north", "east", "south", "west"]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "ulcer", "asthma"]
[[attribute]]
name = "ward"
role = "other"
values = ["a", "b"]
[require]
k = 6
l = 2
m = 0
[algorithm]
name = "mondrian"
recode = "range"
"#;

/// A folder with the study, the same study of single records, the skewed table `rows.csv`, and the same table
/// counted by this test in an order of its own, `counted.csv`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("study.toml", STUDY);
    let single = STUDY.replace("rows = \"counted\"\n", "");
    write("single.toml", &single);
    let mut rows = String::from("person,age,district,disease,ward\n");
    let mut combinations: BTreeMap<String, u64> = BTreeMap::new();
    for person in 0..600u64 {
        let draw = |what: u8, below: u64, power: u32| {
            let hash = blake3::hash(&[&person.to_le_bytes()[..], &[what]].concat());
            let drawn = f64::from(hash.as_bytes()[0]) / 256.0;
            (drawn.powi(power as i32) * below as f64) as usize
        };
        let row = format!(
            "{},{},{},{}",
            draw(0, 20, 3),
            ["north", "east", "south", "west"][draw(1, 4, 2)],
            ["flu", "ulcer", "asthma"][draw(2, 3, 1)],
            ["a", "b"][draw(3, 2, 2)],
        );
        rows.push_str(&format!("p{person},{row}\n"));
        *combinations.entry(row).or_default() += 1;
    }
    assert!(combinations.len() < 300, "{}", combinations.len());
    write("rows.csv", &rows);
    let counted = combinations.iter().rev();
    let counted: String = counted
        .map(|(row, records)| format!("{records},{row}\n"))
        .collect();
    write(
        "counted.csv",
        &format!("records,age,district,disease,ward\n{counted}"),
    );
    folder
}

/// The lines of a CSV file with counted rows as single rows.
fn expanded(text: &str) -> String {
    let mut lines = text.lines();
    let head = lines.next().and_then(|head| head.strip_suffix(",records"));
    let mut single = format!("{}\n", head.expect("the last column says how many records"));
    for line in lines {
        let (row, records) = line.rsplit_once(',').unwrap();
        single.push_str(&format!("{row}\n").repeat(records.parse().unwrap()));
    }
    single
}

#[test]
fn however_a_table_is_counted_the_release_is_that_of_single_records() {
    let folder = folder();
    let folder = folder.path();
    let summary = ok(
        folder,
        "anonymize --study single.toml rows.csv --out single",
    );
    let single = read(folder, "single/release.csv");
    assert!(summary["classes"].as_u64() > Some(5), "{summary}");
    let counted = ok(
        folder,
        "anonymize --study study.toml rows.csv --out counted",
    );
    assert_eq!(
        (&counted["records"], &counted["classes"]),
        (&summary["records"], &summary["classes"])
    );
    let release = read(folder, "counted/release.csv");
    assert!(release.lines().count() < single.lines().count() * 2 / 3);
    assert_eq!(expanded(&release), single);
    // The study knows a column `records`; of another, the command is told.
    ok(
        folder,
        "anonymize --study study.toml counted.csv --out again",
    );
    assert_eq!(read(folder, "again/release.csv"), release);
    ok(
        folder,
        "anonymize --study single.toml --counted counted.csv --out once",
    );
    assert_eq!(read(folder, "once/release.csv"), single);
    for line in [
        "simulate --study study.toml --sites 3 rows.csv --independent --out sites",
        "simulate --study study.toml --sites 3 --split sorted counted.csv --independent --force --out sites",
    ] {
        let joint = ok(folder, line);
        assert_eq!(joint["baselines"]["joint_equals_central"], true, "{joint}");
        assert_eq!(read(folder, "sites/release.csv"), release, "{line}");
    }
    let asked =
        "SELECT district, count(*) FROM visits WHERE age < 7 AND disease = 'flu' GROUP BY district";
    let ask = |study: &str, table: &str| {
        let line = [
            "simulate", "--study", study, "--sites", "3", table, "--force", "--out", "asked",
            "--json", "--ask", asked,
        ];
        let done = hedgerow(folder, &line);
        assert_eq!(done.code, 0, "{}", done.stderr);
        super::json(&done)["asked"][0]["rows"].clone()
    };
    let answers = ask("single.toml", "rows.csv");
    assert_ne!(answers, Value::Null);
    assert_eq!(ask("study.toml", "rows.csv"), answers);
    assert_eq!(ask("study.toml", "counted.csv"), answers);
}

#[test]
fn counted_rows_are_verified_reported_and_compared_as_single_records_are() {
    let folder = folder();
    let folder = folder.path();
    ok(
        folder,
        "anonymize --study single.toml rows.csv --out single",
    );
    ok(
        folder,
        "anonymize --study study.toml rows.csv --out counted",
    );
    let single = ok(
        folder,
        "verify single --study single.toml --original rows.csv --queries 20",
    );
    for table in ["rows.csv", "counted.csv"] {
        let line = format!("verify counted --study study.toml --original {table} --queries 20");
        let counted = ok(folder, &line);
        for key in ["classes", "records", "utility", "risk"] {
            assert_eq!(counted[key], single[key], "{table}: {key}");
        }
        ok(
            folder,
            &format!("report counted --study study.toml --own {table} --out page-{table}.html"),
        );
    }
    let line = "--quasi age,district --sensitive disease --ignore ward --against k=6,l=2";
    let plain = ok(folder, &format!("verify single/release.csv {line}"));
    let counted = ok(
        folder,
        &format!("verify counted/release.csv {line} --counted"),
    );
    // The first record of a class is a record, and no row.
    assert_eq!(counted["models"], plain["models"]);
    assert_eq!(counted["records"], 600);
    // Whoever does not say so is told of a column that has no role, and sees classes of rows.
    let line = format!("verify counted/release.csv {line} --json");
    let unsaid = hedgerow(folder, &line.split(' ').collect::<Vec<_>>());
    assert_eq!(unsaid.code, 1);
    assert!(unsaid.stdout.contains("records"), "{}", unsaid.stdout);
    let compared = ok(folder, "compare --study study.toml counted.csv");
    assert_eq!(compared["records"], 600);
    let named = read(folder, "single.toml").replace("\"district\"", "\"records\"");
    std::fs::write(folder.join("named.toml"), named).unwrap();
    refused(
        folder,
        "anonymize --study named.toml --counted rows.csv --out release",
        "rows.csv: the column `records` is an attribute of the study, so nothing says how many records a row stands for\nhint: rows that are one record each are read without; or call the attribute something else",
    );
    refused(
        folder,
        "simulate --study study.toml --counted --provider-column ward counted.csv --out release",
        "the argument '--counted' cannot be used with '--provider-column <COLUMN>'\n\nUsage: hedgerow simulate --study <STUDY> --counted --out <DIR> <TABLE>...\n\nFor more information, try '--help'.",
    );
}

/// Verifies the release without its manifest, after a change of its CSV.
fn changed(folder: &Path, change: impl Fn(&mut Vec<String>)) -> super::Done {
    let mut lines: Vec<String> = read(folder, "counted/release.csv")
        .lines()
        .map(str::to_owned)
        .collect();
    change(&mut lines);
    std::fs::write(folder.join("changed.csv"), lines.join("\n") + "\n").unwrap();
    hedgerow(folder, &["verify", "changed.csv", "--study", "study.toml"])
}

/// A line with another number of records.
fn records(line: &str, records: &str) -> String {
    format!("{},{records}", line.rsplit_once(',').unwrap().0)
}

#[test]
fn counts_that_cannot_be_are_named() {
    let folder = folder();
    let folder = folder.path();
    ok(
        folder,
        "anonymize --study study.toml rows.csv --out counted",
    );
    for wrong in ["0", "-3", "", "2.5", "many", "99999999999", "4294967296"] {
        let done = changed(folder, |lines| lines[2] = records(&lines[2], wrong));
        assert_refused(
            &done,
            &format!(
                "changed.csv:3: column `records`: `{wrong}` is no number of records\nhint: whole numbers from 1, which make at most 4294967295 together"
            ),
        );
    }
    let twice = changed(folder, |lines| lines.insert(3, records(&lines[2], "2")));
    assert_eq!(twice.code, 1, "{}", twice.stderr);
    let message = "row 3 repeats row 2: what is written alike is one row of counted rows";
    assert!(twice.stdout.contains(message), "{}", twice.stdout);
    // Rows in another order are no other release, and one that stands twice is found there too.
    let turned = changed(folder, |lines| lines[1..].reverse());
    assert_eq!(turned.code, 0, "{}{}", turned.stdout, turned.stderr);
    let twice = changed(folder, |lines| {
        lines[1..].reverse();
        lines.push(records(&lines[1], "1"));
    });
    assert_eq!(twice.code, 1);
    assert!(twice.stdout.contains("repeats row 1: "), "{}", twice.stdout);
    let missing = changed(folder, |lines| {
        for line in lines {
            *line = line.rsplit_once(',').unwrap().0.to_owned();
        }
    });
    assert_refused(
        &missing,
        "changed.csv:1: column `records` of the study is missing\nhint: it says how many records each row stands for; rows that are one record each are read without",
    );
    // A release of single records has no such column.
    ok(
        folder,
        "anonymize --study single.toml rows.csv --out single",
    );
    let with_column = read(folder, "single/release.csv")
        .replace('\n', ",1\n")
        .replacen(",1\n", ",records\n", 1);
    std::fs::write(folder.join("strange.csv"), with_column).unwrap();
    let strange = hedgerow(folder, &["verify", "strange.csv", "--study", "single.toml"]);
    assert_eq!(strange.code, 1);
    assert!(strange.stdout.contains("`records`"), "{}", strange.stdout);
}

#[test]
fn files_of_a_release_that_differ_in_counts_are_found() {
    let folder = folder();
    let folder = folder.path();
    ok(
        folder,
        "anonymize --study study.toml rows.csv --out counted",
    );
    let text = read(folder, "counted/release.csv");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let number = |line: &str| -> u64 { line.rsplit_once(',').unwrap().1.parse().unwrap() };
    let (first, second) = (number(&lines[1]) + 1, number(&lines[2]));
    lines[1] = records(&lines[1], &first.to_string());
    lines[2] = records(&lines[2], &(second + 1).to_string());
    std::fs::write(folder.join("counted/release.csv"), lines.join("\n") + "\n").unwrap();
    let verify = |line: &str| hedgerow(folder, &line.split(' ').collect::<Vec<_>>());
    let done = verify("verify counted --study study.toml");
    assert_eq!(done.code, 1);
    assert!(done.stdout.contains("release.csv"), "{}", done.stdout);
    std::fs::remove_file(folder.join("counted/manifest.json")).unwrap();
    let done = verify("verify counted --study study.toml");
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    let message = "release.csv and release.parquet differ in `records`, first at row 1";
    assert!(done.stdout.contains(message), "{}", done.stdout);
}

#[test]
fn studies_whose_rows_cannot_be_counted_are_refused() {
    let folder = folder();
    let folder = folder.path();
    let refuse = |(old, new): (&str, &str), line: usize, message: &str| {
        assert!(STUDY.contains(old), "{old}");
        std::fs::write(folder.join("refused.toml"), STUDY.replace(old, new)).unwrap();
        let done = hedgerow(
            folder,
            &["anonymize", "--study", "refused.toml", "rows.csv"],
        );
        assert_refused(&done, &format!("refused.toml:{line}: {message}"));
    };
    let single = "hint: leave it out, or write rows = \"single\"";
    refuse(
        ("\"mondrian\"\nrecode = \"range\"", "\"clustering\""),
        4,
        &format!(
            "`study.rows` is \"counted\", which is for classes that are found by cuts: [algorithm] name = \"mondrian\" or \"provider-aware\"\n{single}"
        ),
    );
    refuse(
        ("\"horizontal\"", "\"vertical\""),
        4,
        &format!(
            "`study.rows` is \"counted\", which is for horizontal studies: sites that hold different columns of the same people need each person's row\n{single}"
        ),
    );
    refuse(
        ("\"horizontal\"", "\"horizontal\"\nrelease = \"virtual\""),
        5,
        &format!("`study.rows` is \"counted\", which is for a release of one table\n{single}"),
    );
    refuse(
        ("values = [\"a\", \"b\"]\n", ""),
        22,
        "free text cannot be counted, and `study.rows` is \"counted\"\nhint: give the attribute `values`, a `taxonomy` or a `type`, or leave it out of the study",
    );
    refuse(
        ("name = \"ward\"", "name = \"records\""),
        22,
        "a release of counted rows has a column `records` of its own\nhint: call this attribute something else",
    );
}

/// A table of few combinations that stand for 3,600 million records, in the order of their codes.
fn billions(folder: &Path) -> u64 {
    let mut table = String::from("age,district,disease,ward,records\n");
    let mut all = 0;
    for age in [1, 4, 9] {
        for (place, district) in ["north", "south"].iter().enumerate() {
            for (number, disease) in ["flu", "ulcer", "asthma"].iter().enumerate() {
                for ward in ["a", "b"] {
                    let records = 5_000_000 * (age * (place + 1) * (number + 2)) as u64 + 7;
                    table.push_str(&format!("{age},{district},{disease},{ward},{records}\n"));
                    all += records;
                }
            }
        }
    }
    std::fs::write(folder.join("billions.csv"), table).unwrap();
    all
}

/// The records of each combination of a counted table without its quasi-identifiers, added up by this test.
fn by_disease_and_ward(text: &str) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.rsplitn(4, ',').collect();
        *found
            .entry(format!("{},{}", cells[2], cells[1]))
            .or_default() += cells[0].parse::<u64>().unwrap();
    }
    found
}

/// A small table that stands for billions of records is simulated, verified and attacked as the few rows that
/// it has: nothing makes a row for each record.
#[test]
fn billions_of_records_take_the_room_of_their_rows() {
    let folder = folder();
    let folder = folder.path();
    let all = billions(folder);
    assert!(all > 2_000_000_000, "{all}");
    let colluders = STUDY.replace("m = 0", "m = 1");
    std::fs::write(folder.join("colluders.toml"), colluders).unwrap();
    ok(
        folder,
        "anonymize --study study.toml billions.csv --out alone",
    );
    let release = read(folder, "alone/release.csv");
    assert_eq!(
        by_disease_and_ward(&release),
        by_disease_and_ward(&read(folder, "billions.csv"))
    );
    for split in [
        "round-robin",
        "random",
        "sorted",
        "exponential",
        "column --by district",
        "bands --by district,age --at 3",
    ] {
        let line = format!(
            "simulate --study study.toml --sites 3 --split {split} billions.csv --independent --force --out sites"
        );
        let joint = ok(folder, &line);
        assert_eq!(joint["records"], all, "{split}");
        assert_eq!(joint["baselines"]["joint_equals_central"], true, "{split}");
        assert_eq!(read(folder, "sites/release.csv"), release, "{split}");
    }
    let line =
        "simulate --study colluders.toml --sites 3 --split random billions.csv --force --out sites";
    let joint = ok(folder, line);
    assert_eq!(joint["achieved"]["m"], 1, "{joint}");
    // A population, other views, own rows.
    let verdict = ok(
        folder,
        "verify alone --study study.toml --original billions.csv --population billions.csv --view sites",
    );
    assert_eq!(verdict["records"], all);
    assert_eq!(verdict["risk"]["journalist"]["uncovered"], 0);
    assert_eq!(verdict["views"]["views"], 2);
    let done = hedgerow(
        folder,
        &[
            "gate",
            "alone",
            "--study",
            "study.toml",
            "--own",
            "billions.csv",
            "--holdout",
            "billions.csv",
            "--json",
        ],
    );
    assert!(done.code < 2, "{}", done.stderr);
    assert_eq!(super::json(&done)["records"], all);
    // Three lines whose column names sites, without a study.
    std::fs::write(
        folder.join("three.csv"),
        "age,disease,site,records\n1,flu,a,1000000000\n1,ulcer,b,2000000000\n1,flu,c,1200000000\n",
    )
    .unwrap();
    for against in ["k=5,l=2,m=1", "k=5,m=1,site_diversity=2"] {
        let line = format!(
            "verify three.csv --quasi age --sensitive disease --counted --provider-column site --against {against}"
        );
        let arguments: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let done = hedgerow(folder, &arguments);
        assert!(done.code < 2, "{}", done.stderr);
        let verdict = super::json(&done);
        assert_eq!(verdict["records"], 4_200_000_000_u64, "{verdict}");
        assert_eq!(
            verdict["models"]["m"]["holds"],
            against.ends_with('2'),
            "{verdict}"
        );
    }
}

/// Dealt in turn, counted rows make the sites that their records make one by one, so that a run which looks at
/// sites ends alike: with m = 1, and cuts between sites.
#[test]
fn counted_rows_are_dealt_as_their_records_are() {
    let folder = folder();
    let folder = folder.path();
    let text = read(folder, "counted.csv");
    let place = |values: &[&str], value: &str| values.iter().position(|one| *one == value).unwrap();
    let mut rows: Vec<([usize; 4], String, usize)> = text
        .lines()
        .skip(1)
        .map(|line| {
            let (records, row) = line.split_once(',').unwrap();
            let cells: Vec<&str> = row.split(',').collect();
            let codes = [
                cells[0].parse().unwrap(),
                place(&["north", "east", "south", "west"], cells[1]),
                place(&["flu", "ulcer", "asthma"], cells[2]),
                place(&["a", "b"], cells[3]),
            ];
            (codes, row.to_owned(), records.parse().unwrap())
        })
        .collect();
    rows.sort();
    let mut ordered = String::from("person,age,district,disease,ward\n");
    let people = rows
        .iter()
        .flat_map(|(_, row, records)| vec![row; *records]);
    for (person, row) in people.enumerate() {
        ordered.push_str(&format!("p{person},{row}\n"));
    }
    std::fs::write(folder.join("ordered.csv"), ordered).unwrap();
    for algorithm in ["mondrian", "provider-aware"] {
        let study = STUDY
            .replace("m = 0", "m = 1")
            .replace("\"mondrian\"", &format!("\"{algorithm}\""));
        std::fs::write(folder.join("m.toml"), &study).unwrap();
        std::fs::write(
            folder.join("m-single.toml"),
            study.replace("rows = \"counted\"\n", ""),
        )
        .unwrap();
        for split in [
            "round-robin",
            "sorted",
            "column --by district",
            "bands --by district,age --at 3,9",
        ] {
            let simulate = |study: &str, table: &str, out: &str| {
                let line = format!(
                    "simulate --study {study} --sites 3 --split {split} {table} --force --out {out}"
                );
                let arguments: Vec<&str> = line.split(' ').chain(["--json"]).collect();
                let done = hedgerow(folder, &arguments);
                match done.code {
                    0 => Ok((
                        super::json(&done)["achieved"].clone(),
                        read(folder, &format!("{out}/release.csv")),
                    )),
                    _ => Err(done.stderr),
                }
            };
            let single = simulate("m-single.toml", "ordered.csv", "single");
            let counted = simulate("m.toml", "counted.csv", "counted");
            let counted = counted.map(|(achieved, release)| (achieved, expanded(&release)));
            assert_eq!(counted, single, "{algorithm} {split}");
        }
    }
}
