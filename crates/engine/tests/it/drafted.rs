//! Studies drafted of tables: sound for the table that they were made of, whatever it holds.

use std::path::Path;

use hedgerow::{DraftOptions, Drafted, Options, Study, Table, anonymize};
use hedgerow_testing::{real_table, real_tables};
use proptest::prelude::*;

fn draft(path: &Path, options: &DraftOptions) -> Result<Drafted, hedgerow::Error> {
    Study::draft_of(&Table::from(path), options, &())
}

/// Drafts a study of a table that is a text, and sees that the table fits.
fn sound(csv: &str) -> (Drafted, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, csv).unwrap();
    let drafted =
        draft(&path, &DraftOptions::default()).unwrap_or_else(|error| panic!("{error}\n{csv}"));
    let study = drafted.save(folder.path().join("study"));
    let study = study.unwrap_or_else(|error| panic!("{error}\n{}\n{csv}", drafted.text()));
    if let Err(error) = study.check(&[Table::from(&*path)]) {
        panic!("{error}\n{}\n{csv}", drafted.text());
    }
    (drafted, folder)
}

fn refused(csv: &str, options: &DraftOptions) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, csv).unwrap();
    let error = draft(&path, options).unwrap_err().to_string();
    error
        .replace(&folder.path().display().to_string(), "")
        .replace("/t.csv", "t.csv")
}

fn column<'a>(drafted: &'a Drafted, name: &str) -> &'a hedgerow::DraftedColumn {
    drafted
        .columns
        .iter()
        .find(|column| column.name == name)
        .unwrap()
}

/// A field of a CSV file.
fn field(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn csv(names: &[String], rows: &[Vec<String>], delimiter: &str) -> String {
    let line = |fields: &[String]| {
        let fields: Vec<String> = fields.iter().map(|text| field(text)).collect();
        format!("{}\n", fields.join(delimiter))
    };
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{rows}", line(names))
}

/// A cell of a column of some kind; `draw` decides which.
fn cell(kind: u8, draw: u32) -> String {
    let pick = |all: &[&str]| all[draw as usize % all.len()].to_owned();
    match kind {
        0 => (draw % 90).to_string(),
        1 => (i64::from(draw) - 2_000_000_000).to_string(),
        2 => format!("{:05}", draw % 100_000),
        3 => format!("{}.{}", i64::from(draw % 2000) - 1000, draw % 100),
        4 => format!("{},{:03}", draw % 999 + 1, draw % 1000),
        5 => format!(
            "{}.{:03}.{:03},{:02}",
            draw % 999 + 1,
            draw % 1000,
            draw % 997,
            draw % 100
        ),
        6 => format!(
            "{:04}-{:02}-{:02}",
            1900 + draw % 150,
            1 + draw % 12,
            1 + draw % 28
        ),
        7 => format!("{}.{}.{}", 1 + draw % 28, 1 + draw % 12, 1900 + draw % 150),
        8 => format!(
            "2024-{:02}-{:02} {:02}:{:02}",
            1 + draw % 12,
            1 + draw % 28,
            draw % 24,
            draw % 60
        ),
        9 => format!("{}{:02}.{}", pick(&["A", "J", "K"]), draw % 100, draw % 10),
        10 => pick(&["red", "green", "blue", "rouge", "", "?"]),
        11 => format!("name {draw}"),
        12 => "long text ".repeat(draw as usize % 40),
        13 => pick(&[
            "größe",
            "日本",
            "العربية",
            "\u{202e}x",
            "\u{feff}",
            "é",
            "e\u{301}",
        ]),
        14 => String::new(),
        15 => pick(&["*", "a", "b"]),
        16 => pick(&["[\"a\"]", "{\"b\"}", "c"]),
        17 => pick(&[
            "a\nb", "a\r\nb", "a\"b", "a;b", "a\tb", "a\\b", "'''", "\"\"\"", "#", "\u{0}",
            "a\u{7f}",
        ]),
        18 => pick(&["yes", "no", "NA"]),
        19 => i64::MAX.checked_sub(i64::from(draw)).unwrap().to_string(),
        20 => pick(&[
            "-9223372036854775808",
            "9223372036854775807",
            "0",
            "99999999999999999999",
        ]),
        21 => pick(&[
            "under 5 % each",
            "0 to under 5",
            "year 2024",
            "1*",
            "12",
            "parent",
            "child",
            "-0",
        ]),
        22 => format!("{}", u64::from(draw) * 1_000_000),
        23 => pick(&["1", "0"]),
        24 => format!("{}@b.example", draw),
        25 => format!(
            "20{:02}{:02}{:02}",
            draw % 100,
            1 + draw % 12,
            1 + draw % 28
        ),
        27 => pick(&["5", "05", "+5", "5.0"]),
        28 => format!("2020-01-01 {:02}:{:02}", draw % 24, draw % 60),
        29 => pick(&["yes", "Yes", "TRUE", "1", "no", "f"]),
        30 => pick(&["flu", "flu ", "FLU", " flu", "hiv", "", "NA", "n/a"]),
        _ => pick(&["A1 2BC", "D34 5EF", "1 2", " 1", "1 "]),
    }
}

const KINDS: u8 = 32;

/// Values of one record that no range, level or comment has by chance.
fn told_by_nobody<'a>(names: &[String], rows: &'a [Vec<String>]) -> Vec<&'a str> {
    let is_telling = |value: &&str| {
        let is_long = value.chars().count() > 5;
        is_long
            && !["under", "year", "parent"]
                .iter()
                .any(|word| value.contains(word))
            && !is_end(value)
    };
    let all = || rows.iter().flatten().map(String::as_str);
    let is_no_name = |value: &&str| !names.iter().any(|name| name.contains(value));
    let is_alone = |value: &&str| all().filter(|other| other.contains(value)).count() == 1;
    all()
        .filter(is_telling)
        .filter(is_no_name)
        .filter(is_alone)
        .collect()
}

/// The ends of ranges that are a value of one record alone. Ranges begin with 0 wherever the least value is
/// small, so 0 tells nothing.
fn told_ends(text: &str, rows: &[Vec<String>]) -> Vec<String> {
    let short = |number: &str| match number.contains('.') {
        true => number
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        false => number.to_owned(),
    };
    let mut told = Vec::new();
    for (place, section) in text.split("[[attribute]]").skip(1).enumerate() {
        let line = section
            .lines()
            .find_map(|line| line.strip_prefix("range = ["));
        let ends = line.map(|line| line.trim_end_matches(']').replace('"', ""));
        let values = || rows.iter().map(|row| short(&row[place]));
        for end in ends.iter().flat_map(|ends| ends.split(", ")).map(short) {
            if end != "0" && values().filter(|value| *value == end).count() == 1 {
                told.push(format!("column {place}: {end}"));
            }
        }
    }
    told
}

/// Numbers and days may be part of others and of ends of ranges by chance.
fn is_end(text: &str) -> bool {
    text.parse::<f64>().is_ok() || (text.len() == 10 && text.as_bytes()[4] == b'-')
}

prop_compose! {
    fn table()(
        kinds in prop::collection::vec((0..KINDS, 0..5u8, prop::sample::select(vec!["zip", "diagnosis", "name", "x", "größe", "a \"b\"", "icd code", "=1", "age"])), 1..6),
        draws in prop::collection::vec(prop::collection::vec(any::<u32>(), 5), 1..45),
        spread in prop::sample::select(vec![2u32, 7, u32::MAX]),
        delimiter in prop::sample::select(vec![",", ";", "\t", "|"]),
    ) -> (Vec<String>, Vec<Vec<String>>, &'static str) {
        let names = kinds.iter().enumerate().map(|(place, (_, _, name))| format!("{name} {place}"));
        // The last column is a quasi-identifier in any table.
        let names = names.chain([String::from("sex")]);
        let sex = |draws: &[u32]| ["f", "m"][draws[0] as usize % 2].to_owned();
        let row = |draws: &Vec<u32>| kinds.iter().zip(draws).map(|((kind, missing, _), draw)| {
            let draw = draw % spread;
            match (missing, draw % 6) {
                (1, 0) => String::from("NA"),
                (2, 0) => String::new(),
                (2, 1) => String::from("null"),
                (3, 0) => String::from("oops"),
                _ => cell(*kind, draw),
            }
        }).chain([sex(draws)]).collect();
        (names.collect(), draws.iter().map(row).collect(), delimiter)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The law of drafts.
    #[test]
    fn a_draft_fits_the_table_that_it_was_made_of((names, rows, delimiter) in table()) {
        let (drafted, folder) = sound(&csv(&names, &rows, delimiter));
        prop_assert_eq!(drafted.columns.len(), names.len());
        // Named roles are the roles, or the refusal names the cell.
        let options = DraftOptions {
            quasi: vec![names[0].clone()],
            sensitive: names[1..].iter().take(1).cloned().collect(),
            ..DraftOptions::default()
        };
        let path = folder.path().join("t.csv");
        match draft(&path, &options) {
            Ok(named) => {
                prop_assert_eq!(&named.columns[0].role, "quasi");
                let study = named.save(folder.path().join("named")).unwrap();
                if let Err(error) = study.check(&[Table::from(&*path)]) {
                    panic!("{error}\n{}", named.text());
                }
            }
            Err(error) => prop_assert!(error.to_string().contains("means something else in a release"), "{error}"),
        }
        // A draft for others is a sound study too.
        let shared = draft(&path, &DraftOptions { share: true, k: Some(2), ..DraftOptions::default() });
        match shared {
            Ok(shared) => {
                if let Err(error) = shared.save(folder.path().join("shared")) {
                    panic!("{error}\n{}", shared.text());
                }
                let trees = shared.taxonomies().iter().map(|(_, tree)| tree.to_rows());
                let all = format!("{}{}", shared.text(), trees.collect::<String>());
                prop_assert_eq!(told_ends(shared.text(), &rows), Vec::<String>::new());
                for value in told_by_nobody(&names, &rows) {
                    prop_assert!(!all.contains(value), "{value}\n{all}");
                }
            }
            Err(error) => {
                let is_small = rows.len() == 1 && error.to_string().contains("k = 2 cannot be met");
                prop_assert!(is_small || error.to_string().contains("no column is left"), "{error}");
            }
        }
    }

    /// What was joined of drafts fits the tables of all.
    #[test]
    fn joined_drafts_fit_the_tables_of_all((names, rows, delimiter) in table(), at in 1..44usize) {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = rows.split_at(at.min(rows.len()));
        let mut studies = Vec::new();
        let mut tables = Vec::new();
        for (place, part) in [one, other].into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let path = folder.path().join(format!("{place}.csv"));
            std::fs::write(&path, csv(&names, part, delimiter)).unwrap();
            let drafted = draft(&path, &DraftOptions { k: Some(1), ..DraftOptions::default() }).unwrap();
            studies.push(drafted.save(folder.path().join(place.to_string())).unwrap());
            tables.push(Table::from(path));
        }
        if studies.len() == 2
            && let Ok(joined) = Study::merge(&studies, Some("both"))
        {
            let study = joined.save(folder.path().join("joined"));
            let study = study.unwrap_or_else(|error| panic!("{error}\n{}", joined.text()));
            if let Err(error) = study.check(&tables) {
                panic!("{error}\n{}", joined.text());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A drafted study is not only sound: it runs.
    #[test]
    fn a_draft_can_be_run((names, rows, delimiter) in table()) {
        let (drafted, folder) = sound(&csv(&names, &rows, delimiter));
        let study = Study::open(folder.path().join("study/study.toml")).unwrap();
        let table = Table::from(folder.path().join("t.csv"));
        match anonymize(&study, &table, &Options::new()) {
            Ok(outcome) => prop_assert!(outcome.summary.holds),
            Err(error) => panic!("{error}\n{}", drafted.text()),
        }
    }
}

#[test]
fn odd_tables() {
    // One row, one column, blank lines, only missing values.
    let (one, _) = sound("age,sex\n31,f\n");
    assert!(one.text().contains("k = 1 "), "{}", one.text());
    sound("age\n31\n\n32\n");
    sound("\u{feff}a;b\r\n1;x\r\n2;y\r\n");
    let long = "x".repeat(100_000);
    sound(&format!("a,b\n{long},1\n{long},2\n"));
    let numbers: String = (0..30)
        .map(|row| format!("{row},{},n{row}\n", row * 7919))
        .collect();
    // Where every column has a value of its own in each record, one is the quasi-identifier with a doubt.
    let (unique, _) = sound(&format!("id,number,who\n{numbers}"));
    let roles = unique.columns.iter().map(|column| column.role.as_str());
    assert_eq!(
        roles.collect::<Vec<_>>(),
        ["identifier", "quasi", "identifier"]
    );
    assert!(unique.text().contains("no column looks more like one"));
}

#[test]
fn what_columns_are_taken_for() {
    let rows: String = (0..60)
        .map(|row: u32| {
            format!(
                "{row:04}-x,{},{:05},{:.1},{}.{}.2024,2024-01-{:02},{},{},p{row}@h.example,{}\n",
                20 + row % 50,
                1000 + row % 7,
                36.0 + f64::from(row % 20) / 10.0,
                1 + row % 28,
                1 + row % 12,
                1 + row % 31,
                ["flu", "ulcer", "asthma"][row as usize % 3],
                if row.is_multiple_of(10) {
                    "NA".to_owned()
                } else {
                    (row % 9).to_string()
                },
                if row < 40 {
                    "a"
                } else if row < 58 {
                    "b"
                } else if row == 58 {
                    "c"
                } else {
                    "d"
                },
            )
        })
        .collect();
    let (drafted, _folder) = sound(&format!(
        "patient,age,zip,temperature,seen,admission,diagnosis,children,contact,ward\n{rows}"
    ));
    let words: Vec<(&str, &str, &str)> = drafted
        .columns
        .iter()
        .map(|column| {
            (
                column.name.as_str(),
                column.role.as_str(),
                column.values.as_str(),
            )
        })
        .collect();
    assert_eq!(
        words,
        [
            ("patient", "identifier", "any text"),
            ("age", "quasi", "the integers 20 to 69, widths 5, 10, 20"),
            ("zip", "quasi", "7 values, 5 levels"),
            (
                "temperature",
                "quasi",
                "the decimals 36.0 to 37.9, widths 0.2, 0.4, 0.8"
            ),
            ("seen", "quasi", "the days 2024-01-01 to 2024-12-24"),
            ("admission", "quasi", "the days 2024-01-01 to 2024-01-31"),
            ("diagnosis", "sensitive", "3 values"),
            ("children", "quasi", "the integers 0 to 11"),
            ("contact", "identifier", "any text"),
            ("ward", "quasi", "4 values, 2 levels"),
        ]
    );
    assert_eq!(drafted.requires, "k = 10, l = 3; clustering");
    assert_eq!(
        drafted.todo,
        ["`ward`: which values may be written together"]
    );
    assert!(drafted.text().contains("missing = \"NA\""));
}

#[test]
fn refusals_name_what_to_do() {
    let none = DraftOptions::default();
    assert_eq!(
        refused("age,sex\n", &none),
        "t.csv: has a header and no records, so there is nothing to draft a study from\nhint: hedgerow study new writes a study to begin with"
    );
    for csv in [
        "a,b\n,\n,\n",
        "name\nx\ny\n",
        "diagnosis,x\nflu,*\nulcer,a\n",
    ] {
        assert_eq!(
            refused(csv, &none),
            "t.csv: no column is left that can be a quasi-identifier\nhint: name one with --quasi; where columns are named, the others are left out, and with --share it needs values that k records have"
        );
    }
    assert_eq!(
        refused(",age\n0,31\n", &none),
        "t.csv:1: column 1 has no name on one line\nhint: give it one in the header, or leave the column out"
    );
    let options = DraftOptions {
        quasi: vec!["agee".into(), "sex".into()],
        sensitive: vec!["sex".into()],
        ..DraftOptions::default()
    };
    assert_eq!(
        refused("age,sex\n1,f\n", &options),
        "t.csv:1: there is no column `agee`\nhint: did you mean `age`?\nerror: column `sex` is named as a quasi-identifier and as sensitive\nhint: a column has one role"
    );
    let options = DraftOptions {
        quasi: vec!["sex".into()],
        ..DraftOptions::default()
    };
    assert_eq!(
        refused("age,sex\n1,f\n2,*\n", &options),
        "t.csv:3: column `sex`: `*` means something else in a release, so no list of values can have it\nhint: write it otherwise, or leave the column out"
    );
    let options = DraftOptions {
        k: Some(3),
        ..DraftOptions::default()
    };
    assert_eq!(
        refused("age,sex\n1,f\n2,f\n", &options),
        "t.csv: k = 3 cannot be met: the table holds 2 records\nhint: the largest k that can be met is 2"
    );
}

#[test]
fn a_file_that_is_there_is_kept() {
    let (drafted, folder) = sound("age,sex\n31,f\n");
    let error = drafted
        .save(folder.path().join("study"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("study.toml: is there already and is kept"),
        "{error}"
    );
}

/// What a draft for others says, and what it does not.
#[test]
fn a_draft_for_others_keeps_rare_values_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("north.csv");
    let rows: String = (0..200)
        .map(|row: u32| {
            let town = match row {
                0..=2 => "Kleinkleckersdorf",
                _ => ["Anstadt", "Bestadt"][row as usize % 2],
            };
            let diagnosis = if row == 7 {
                "rarissima"
            } else {
                ["flu", "ulcer"][row as usize % 2]
            };
            let zip = if row == 9 { 99_998 } else { 10_115 + row % 2 };
            let day = format!("2023-{:02}-17", 3 + row % 4);
            format!(
                "{},{town},{diagnosis},{zip},{day},{}.5\n",
                17 + row % 61,
                row % 3 + if row == 11 { 77 } else { 0 }
            )
        })
        .collect();
    std::fs::write(&path, format!("age,town,diagnosis,zip,seen,dose\n{rows}")).unwrap();
    let options = DraftOptions {
        share: true,
        ..DraftOptions::default()
    };
    let drafted = draft(&path, &options).unwrap();
    let trees = drafted.taxonomies().iter().map(|(_, tree)| tree.to_rows());
    let all = format!("{}{}", drafted.text(), trees.collect::<String>());
    for value in ["Anstadt", "Bestadt", "flu", "ulcer", "10115", "step = 0.1"] {
        assert!(all.contains(value), "{value}\n{all}");
    }
    for value in [
        "Kleinkleckersdorf",
        "rarissima",
        "99998",
        "77",
        "79.5",
        "17",
        "200",
        "2023-03",
        "2023-06",
    ] {
        assert!(!all.contains(value), "{value}\n{all}");
    }
    assert!(
        all.contains("range = [0, 79]") && all.contains("2020-01-01") && all.contains("2024-12-31")
    );
    assert!(all.contains("decided by people"));
    assert_eq!(
        drafted.tells[..2],
        [
            "it has `age`: its values lie between 0 and 79",
            "it has `town`: 2 values that 10 records or more have"
        ]
    );
    assert_eq!(drafted.tells.len(), 8);
    assert_eq!(all.matches("- it has `").count(), 6);
    // The rows that were left out do not fit, which check says; a site with frequent values alone fits.
    let study = drafted.save(folder.path().join("study")).unwrap();
    let error = study.check(&[Table::from(&*path)]).unwrap_err().to_string();
    assert!(error.contains("is outside"), "{error}");
}

/// Whole numbers that no range holds, or that are too few for one, are listed, and rare ones are not.
#[test]
fn rare_numbers_are_kept_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let rows: String = (0..90)
        .map(|row: u64| {
            let rare = row == 44;
            let large = if rare {
                987_654_321_987
            } else {
                111_222_333_444 * (1 + row % 3)
            };
            let two = if rare { 815_815 } else { 471_147 };
            let gaps = match row % 9 {
                0 => String::from("NA"),
                1 => String::from("null"),
                _ if rare => String::from("666666"),
                _ => (100_100 + row % 4).to_string(),
            };
            format!("{},{large},{two},{gaps}\n", row % 50)
        })
        .collect();
    std::fs::write(&path, format!("age,large,two,gaps\n{rows}")).unwrap();
    let options = DraftOptions {
        share: true,
        ..DraftOptions::default()
    };
    let drafted = draft(&path, &options).unwrap();
    let trees = drafted.taxonomies().iter().map(|(_, tree)| tree.to_rows());
    let all = format!("{}{}", drafted.text(), trees.collect::<String>());
    for value in ["111222333444", "471147", "missing = [\"NA\", \"null\"]"] {
        assert!(all.contains(value), "{value}\n{all}");
    }
    for value in ["987654321987", "815815", "666666"] {
        assert!(!all.contains(value), "{value}\n{all}");
    }
}

#[test]
fn the_drafts_of_three_sites_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let sites: [(&str, std::ops::Range<u32>, &[&str], &str); 3] = [
        ("north", 20..60, &["a", "b"], "1.5"),
        ("south", 30..80, &["b", "c"], "22.75"),
        ("east", 40..90, &["d"], "3"),
    ];
    let (mut studies, mut tables) = (Vec::new(), Vec::new());
    for (name, ages, wards, dose) in sites {
        let path = folder.path().join(format!("{name}.csv"));
        let rows = (0..80).map(|row: u32| {
            let age = ages.start + row % (ages.end - ages.start);
            let ward = wards[row as usize % wards.len()];
            let dose = if row.is_multiple_of(2) {
                dose.to_owned()
            } else {
                format!("{}.5", row % 7)
            };
            format!(
                "{age},{ward},1{:04},{dose},{}\n",
                100 * (row % 5) + ages.start,
                ["flu", "ulcer"][row as usize % 2]
            )
        });
        std::fs::write(
            &path,
            format!("age,ward,zip,dose,diagnosis\n{}", rows.collect::<String>()),
        )
        .unwrap();
        let drafted = draft(&path, &DraftOptions::default()).unwrap();
        studies.push(drafted.save(folder.path().join(name)).unwrap());
        tables.push(Table::from(path));
    }
    let joined = Study::merge(&studies, None).unwrap();
    assert!(
        joined.text().contains("name = \"joint\"")
            && joined
                .text()
                .contains("values = [\"a\", \"b\", \"c\", \"d\"]"),
        "{}",
        joined.text()
    );
    let study = joined.save(folder.path().join("joint")).unwrap();
    assert!(study.check(&tables).unwrap().holds());
    // Prefix trees and numbers are made again of all values.
    let tree = |name: &str| {
        let file = format!("taxonomies/{name}.csv");
        let found = joined.taxonomies().iter().find(|(named, _)| *named == file);
        found.unwrap().1.to_rows()
    };
    assert!(
        tree("zip")
            .lines()
            .all(|line| line.contains("10***;1****;*")),
        "{}",
        tree("zip")
    );
    let dose = joined.text().split("name = \"dose\"").nth(1).unwrap();
    let dose = dose.split("[[attribute]]").next().unwrap();
    assert!(
        dose.contains("type = \"decimal\"") && dose.contains("step = 0.01\n"),
        "{dose}"
    );
    // Each of the sites alone lacks values of the others.
    assert!(studies[0].check(&tables[1..2]).is_err());
}

#[test]
fn conflicts_are_named_all_at_once() {
    let study = |name: &str, columns: &str, rest: &str| {
        let text = format!(
            "[study]\nname = \"s\"\npartition = \"horizontal\"\n{columns}[require]\nk = 5\n{rest}"
        );
        Study::parse(text, name).unwrap()
    };
    let attribute = |name: &str, role: &str, form: &str| {
        format!("[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"\n{form}\n")
    };
    let ages = "type = \"integer\"\nrange = [0, 9]";
    let north = study(
        "north",
        &[
            attribute("age", "quasi", ages),
            attribute("ward", "quasi", "values = [\"a\"]"),
            attribute("town", "quasi", "values = [\"t\"]"),
        ]
        .concat(),
        "[algorithm]\nname = \"clustering\"\neffort = 5\n",
    );
    let south = study(
        "south",
        &[
            attribute("age", "quasi", "values = [\"1\"]"),
            attribute("ward", "sensitive", "values = [\"a\"]"),
        ]
        .concat(),
        "l = 1\n[algorithm]\nname = \"mondrian\"\n",
    );
    let error = Study::merge(&[north.clone(), south], None)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "south/study.toml: column `age` is 1 value, and the integers 0 to 9 in north/study.toml\nhint: agree on one, and change the other draft\n\
         error: south/study.toml: column `ward` is sensitive, and quasi in north/study.toml\nhint: agree on one, and change the other draft\n\
         error: south/study.toml: column `town` is missing, which north/study.toml has\nhint: sites of a horizontal study have the same columns; a column that is not needed is left out of every table\n\
         error: south/study.toml: `algorithm.effort` is not set, and 5 in north/study.toml\nhint: agree on one, and change the other draft"
    );
    let vertical = Study::parse(Study::draft(hedgerow::Draft::Vertical), "v").unwrap();
    let error = Study::merge(&[north.clone(), vertical], None)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("v/study.toml: it is a vertical study, and only drafts"),
        "{error}"
    );
    assert!(
        Study::merge(&[north], None)
            .unwrap_err()
            .to_string()
            .starts_with("one study is nothing to join")
    );
}

#[test]
fn days_and_missing_markers_are_joined_and_columns_that_lists_cannot_say_are_refused() {
    let study = |name: &str, form: &str| {
        let text = format!(
            "[study]\nname = \"s\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"came\"\nrole = \"quasi\"\n{form}\n[require]\nk = 2\n"
        );
        Study::parse(text, name).unwrap()
    };
    let days = |range: &str, more: &str| format!("type = \"date\"\nrange = [{range}]\n{more}");
    let german = "format = \"%d.%m.%Y\"";
    let north = study("north", &days("\"2024-01-10\", \"2024-06-01\"", german));
    let south = days(
        "\"2023-12-01\", \"2024-02-01\"",
        &format!("{german}\nmissing = [\"NA\", \"?\"]"),
    );
    let joined = Study::merge(&[north.clone(), study("south", &south)], None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let saved = joined.save(folder.path().join("joint")).unwrap();
    // A table with days of either range, in the format of both, and with either marker fits.
    let table = folder.path().join("t.csv");
    std::fs::write(&table, "came\n01.12.2023\n01.06.2024\nNA\n?\n").unwrap();
    assert_eq!(
        saved.check(&[Table::from(&*table)]).unwrap().tables[0].records,
        4
    );
    for wrong in ["02.06.2024", "30.11.2023", "2024-01-10", ""] {
        std::fs::write(&table, format!("came\n01.02.2024\n\"{wrong}\"\n")).unwrap();
        assert!(saved.check(&[Table::from(&*table)]).is_err(), "{wrong}");
    }

    // Another format, and other markers, are not joined.
    let refused = |other: &str| {
        let joined = Study::merge(&[north.clone(), study("east", other)], None);
        joined.unwrap_err().to_string()
    };
    let iso = days("\"2024-01-01\", \"2024-03-01\"", "");
    assert!(
        refused(&iso).starts_with("east/study.toml: column `came` is "),
        "{}",
        refused(&iso)
    );
    let marked = study(
        "west",
        &days(
            "\"2024-01-01\", \"2024-03-01\"",
            &format!("{german}\nmissing = \"-\""),
        ),
    );
    let error = Study::merge(&[study("south", &south), marked], None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("with missing = `-`, and with missing = `NA`, `?`"),
        "{error}"
    );
    for spelled in [
        "type = \"boolean\"",
        "values = [\"a\", \"NA\"]\nmissing = [\"NA\", \"?\"]",
    ] {
        let error = refused(spelled);
        assert!(
            error.starts_with("east/study.toml: column `came` is "),
            "{error}"
        );
    }
}

#[test]
fn real_tables_are_drafted() {
    let Some(tables) = real_tables() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let hierarchies = DraftOptions {
        hierarchies: Some(tables.join("adult9")),
        ..DraftOptions::default()
    };
    for (name, options, file) in [
        ("adult9", DraftOptions::default(), "adult9/adult.csv"),
        ("arx", hierarchies, "adult9/adult.csv"),
        ("adult14", DraftOptions::default(), "adult14/adult14.csv"),
        ("census7", DraftOptions::default(), "census7/census7.csv"),
    ] {
        let path = real_table(file).unwrap();
        let drafted = draft(&path, &options).unwrap();
        let study = drafted.save(folder.path().join(name)).unwrap();
        let checked = study.check(&[Table::from(path)]).unwrap();
        assert!(checked.holds());
        assert!(
            drafted.text().matches("TODO").count() <= 8,
            "{}",
            drafted.text()
        );
        if name == "arx" {
            assert_eq!(
                column(&drafted, "age").values,
                "the integers 1 to 100, 4 levels"
            );
            assert!(
                drafted
                    .text()
                    .contains("taxonomy = \"taxonomies/marital-status.csv\"")
            );
            assert_eq!(drafted.taxonomies().len(), 9);
        }
    }
}

/// Clustering takes about a minute for 300,000 records; larger tables are cut.
#[test]
fn a_draft_clusters_up_to_a_size_that_takes_a_minute() {
    for (records, algorithm) in [(299_999, "clustering"), (300_000, "mondrian")] {
        let rows: String = (0..records)
            .map(|row| format!("{},{}\n", row % 90, ["flu", "ulcer"][row % 2]))
            .collect();
        let table = Table::csv("t.csv", format!("age,disease\n{rows}").into_bytes());
        let options = DraftOptions {
            quasi: vec![String::from("age")],
            sensitive: vec![String::from("disease")],
            ..DraftOptions::default()
        };
        let drafted = Study::draft_of(&table, &options, &()).unwrap();
        let study = Study::parse(drafted.text(), ".").unwrap();
        assert_eq!(study.algorithm(), algorithm);
        assert!(
            drafted.requires.ends_with(algorithm),
            "{}",
            drafted.requires
        );
    }
}

/// A table of patients of some age, with columns that a row's number makes.
fn patients(records: u32, names: &str, row: impl Fn(u32) -> String) -> String {
    let rows = (0..records).map(|number| format!("{};{}\n", 20 + number % 50, row(number)));
    format!("age;{names}\n{}", rows.collect::<String>())
}

fn shared(csv: &str) -> Drafted {
    let table = Table::csv("t.csv", csv.as_bytes().to_vec());
    let options = DraftOptions {
        share: true,
        ..DraftOptions::default()
    };
    Study::draft_of(&table, &options, &()).unwrap()
}

/// What the study says of a column.
fn section<'a>(drafted: &'a Drafted, name: &str) -> &'a str {
    let behind = drafted.text().split(&format!("name = \"{name}\"\n")).nth(1);
    behind.unwrap().split("\n\n").next().unwrap()
}

#[test]
fn l_counts_what_values_say_and_not_how_they_are_spelled() {
    for (name, texts, requires) in [
        ("cost", &["5", "05", "+5"][..], "k = 10; clustering"),
        ("cost", &["5", "5.0", "05", "+5"], "k = 10; clustering"),
        (
            "cost",
            &["5", "5.0", "05", "+5", "7"],
            "k = 10, l = 2; clustering",
        ),
        (
            "diagnosis",
            &[
                "2020-01-01T12:30:00",
                "2020-01-01T11:00:00",
                "2020-01-01T10:00:00",
            ],
            "k = 10; clustering",
        ),
        (
            "smoker",
            &["yes", "Yes", "YES", "no"],
            "k = 10, l = 2; clustering",
        ),
        (
            "smoker",
            &["true", "TRUE", "1", "false"],
            "k = 10, l = 2; clustering",
        ),
        (
            "diagnosis",
            &["flu", "flu ", " flu", "hiv"],
            "k = 10, l = 2; clustering",
        ),
        (
            "hiv",
            &["", "NA", "positive", "negative"],
            "k = 10, l = 2; clustering",
        ),
    ] {
        let csv = patients(80, name, |row| field(texts[row as usize % texts.len()]));
        let (drafted, folder) = sound(&csv);
        assert_eq!(drafted.requires, requires, "{}", drafted.text());
        let study = Study::open(folder.path().join("study/study.toml")).unwrap();
        let table = Table::from(folder.path().join("t.csv"));
        let outcome = anonymize(&study, &table, &Options::new()).unwrap();
        assert!(outcome.summary.holds);
        if name == "smoker" {
            assert!(section(&drafted, name).contains("type = \"boolean\""));
        }
        if name == "hiv" {
            assert!(section(&drafted, name).contains("missing = [\"NA\", \"\"]"));
        }
        let is_alike = drafted
            .doubts
            .iter()
            .any(|doubt| doubt.contains("capital letters"));
        assert_eq!(is_alike, texts.contains(&"flu "), "{:?}", drafted.doubts);
    }
}

#[test]
fn a_column_of_which_no_l_can_be_met_does_not_take_l_from_the_others() {
    let fine = patients(60, "cost;disease", |row| {
        format!(
            "{}.{row:02};{}",
            1000 + row,
            ["a", "b", "c"][row as usize % 3]
        )
    });
    assert_eq!(shared(&fine).requires, "k = 10, l = 3; clustering");
    let poor = patients(60, "virus;disease", |row| {
        format!("hiv;{}", ["a", "b", "c"][row as usize % 3])
    });
    let options = DraftOptions {
        quasi: vec!["age".into()],
        sensitive: vec!["virus".into(), "disease".into()],
        ..DraftOptions::default()
    };
    let table = Table::csv("t.csv", poor.into_bytes());
    let drafted = Study::draft_of(&table, &options, &()).unwrap();
    assert_eq!(drafted.requires, "k = 10, l = 3; clustering");
    assert_eq!(column(&drafted, "virus").role, "identifier");
    assert!(drafted.todo[0].starts_with("`virus`: fewer than two different values are here"));
    assert!(
        Study::parse(drafted.text(), ".")
            .unwrap()
            .check(&[table])
            .unwrap()
            .holds()
    );
}

#[test]
fn a_draft_for_others_has_no_range_of_some_of_the_values() {
    let drafted = shared(&patients(400, "bmi", |row| match row {
        7 => String::from("27.123456"),
        _ => format!("{}.{}", 20 + row % 10, 5 * (row % 2)),
    }));
    let bmi = section(&drafted, "bmi");
    assert!(bmi.contains("taxonomy") && !bmi.contains("range"), "{bmi}");
    assert!(!drafted.text().contains("27.123456"));
    assert_eq!(
        column(&drafted, "bmi").values.split(',').next(),
        Some("10 values")
    );
}

#[test]
fn a_draft_for_others_tells_nobodys_year() {
    let births = shared(&patients(400, "born", |row| match row {
        7 => String::from("1903-05-06"),
        _ => format!("{}-0{}-17", 1950 + row % 50, 1 + row % 9),
    }));
    let born = section(&births, "born");
    assert!(
        born.contains("range = [\"1900-01-01\", \"1999-12-31\"]"),
        "{born}"
    );
    // An end that is a value is rounded further, of days and of numbers.
    let ends = shared(&patients(400, "born;weight", |row| {
        format!("{}-01-01;{}", 2000 + row % 3, 400 + row)
    }));
    let born = section(&ends, "born");
    assert!(
        born.contains("range = [\"1995-01-01\", \"2004-12-31\"]"),
        "{born}"
    );
    // What one record has is no range.
    let alone = shared(&patients(400, "seen;dose", |row| match row {
        7 => String::from("2023-05-06;17.5"),
        _ => String::from(";"),
    }));
    for name in ["seen", "dose"] {
        assert!(!section(&alone, name).contains("range"), "{}", alone.text());
        assert_eq!(column(&alone, name).role, "identifier");
    }
    for told in ["2023", "2020", "17.5"] {
        assert!(!alone.text().contains(told), "{}", alone.text());
    }
    assert!(!alone.text().contains("one value in all records"));
}

#[test]
fn doubts_are_said_with_the_column() {
    let forms: [fn(u32) -> String; 3] = [
        |row| format!("{}/{}/2020 3:{:02} PM", 1 + row % 12, 1 + row % 28, row),
        |row| {
            format!(
                "{:02}.{:02}.{:02}",
                1 + row % 28,
                1 + row % 12,
                (row * 7 + 31) % 100
            )
        },
        |row| format!("{:02}{:02}{}", 1 + row % 28, 1 + row % 12, 1930 + row),
    ];
    for form in forms {
        let (drafted, _folder) = sound(&patients(60, "born", form));
        let is_said = drafted
            .doubts
            .iter()
            .any(|doubt| doubt.starts_with("`born`: "));
        assert!(is_said, "{drafted}{}", form(1));
        assert!(drafted.to_string().contains("doubt: `born`: "), "{drafted}");
    }
    let (drafted, _folder) = sound(&patients(60, "who", |row| format!("name {row}")));
    assert_eq!(drafted.doubts, Vec::<String>::new());
}

#[test]
fn doubtful_numbers_are_read_as_those_of_other_columns() {
    let csv = patients(80, "num;dose", |row| {
        let num = ["1.234", "2.500", "12", "999"][row as usize % 4];
        format!("{num};{},25", row % 9)
    });
    let (drafted, _folder) = sound(&csv);
    let num = section(&drafted, "num");
    assert!(
        num.contains("type = \"integer\"") && num.contains("format = \"1.234\""),
        "{num}"
    );
    assert!(
        drafted
            .doubts
            .iter()
            .any(|doubt| doubt.starts_with("`num`: `1.234` is taken for 1234"))
    );
    let (alone, _folder) = sound(&csv.replace(",25", ""));
    assert!(section(&alone, "num").contains("type = \"decimal\""));
}

#[test]
fn whole_numbers_of_their_own_are_identifiers_in_any_format() {
    let marked = patients(60, "number", |row| {
        format!("{}.{:03}.{:03}", 1 + row, 7 * row, row)
    });
    let plain = marked.replace('.', "");
    for csv in [marked, plain] {
        let (drafted, _folder) = sound(&csv);
        assert_eq!(column(&drafted, "number").role, "identifier", "{csv}");
    }
}

#[test]
fn yes_and_no_and_several_missing_texts_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let sites: [(&str, &[&str], &[&str]); 2] = [
        ("north", &["yes", "Yes", "no"], &["NA", "", "a", "b"]),
        ("south", &["TRUE", "f", "n/a"], &["null", "NA", "c"]),
    ];
    let (mut studies, mut tables) = (Vec::new(), Vec::new());
    for (site, smokers, wards) in sites {
        let path = folder.path().join(format!("{site}.csv"));
        let of = |all: &[&str], row: u32| all[row as usize % all.len()].to_owned();
        let csv = patients(120, "smoker;ward", |row| {
            format!("{};{}", of(smokers, row), of(wards, row / 5))
        });
        std::fs::write(&path, csv).unwrap();
        let drafted = draft(&path, &DraftOptions::default()).unwrap();
        studies.push(drafted.save(folder.path().join(site)).unwrap());
        tables.push(Table::from(path));
    }
    let joined = Study::merge(&studies, None).unwrap();
    let smoker = section(&joined, "smoker");
    assert!(
        smoker.contains("type = \"boolean\"\nmissing = \"n/a\""),
        "{smoker}"
    );
    assert!(section(&joined, "ward").contains("missing = [\"NA\", \"\", \"null\"]"));
    let study = joined.save(folder.path().join("joint")).unwrap();
    assert!(study.check(&tables).unwrap().holds());
}
