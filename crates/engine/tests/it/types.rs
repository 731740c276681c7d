//! Types that real tables have, from the text of a table to a release that is read back and verified.

use hedgerow::{Options, Questions, Release, Sites, Study, Table, anonymize, simulate, verify};

const STUDY: &str = r#"
[study]
name = "ward"
partition = "horizontal"
[[attribute]]
name = "fever"
role = "quasi"
type = "decimal"
range = [36.0, 41.0]
step = 0.1
missing = ["NA", ""]
[[attribute]]
name = "came"
role = "quasi"
type = "date"
format = "%d.%m.%Y %H:%M"
range = ["2024-01-01", "2024-12-31"]
[[attribute]]
name = "smokes"
role = "quasi"
type = "boolean"
missing = ["unknown", "?"]
[[attribute]]
name = "lactate"
role = "sensitive"
type = "decimal"
range = [0.5, 4.0]
step = 0.5
[require]
k = 4
l = 2
"#;

/// A table of so many rows, as a spreadsheet writes it.
fn rows(count: u32, first: u32) -> String {
    let mut text = String::from("sep=;\r\nfever;came;smokes;lactate\r\n");
    for row in first..first + count {
        let fever = match row % 11 {
            0 => String::new(),
            tenths => format!("{}.{}", 36 + row % 5, tenths - 1),
        };
        let day = 1 + row * 7 % 28;
        let month = 1 + row % 12;
        let smokes = ["YES", "no", "1", "f", "?"][row as usize % 5];
        let lactate = ["0.5", "1", "1.50", "4.0"][row as usize % 4];
        text.push_str(&format!(
            "{fever};{day:02}.{month:02}.2024 {:02}:30;{smokes};{lactate}\r\n",
            row % 24
        ));
    }
    text
}

fn table(name: &str, text: &str) -> Table {
    Table::csv(name, text.as_bytes())
}

#[test]
fn a_release_of_real_types_verifies_by_itself() {
    let study = Study::parse(STUDY, ".").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("alone");
    let options = Options::new().out(&alone);
    let outcome = anonymize(&study, &table("all", &rows(60, 0)), &options).unwrap();
    assert!(outcome.summary.holds);
    let several = folder.path().join("several");
    let sites = Sites::Tables(vec![
        table("north", &rows(30, 0)),
        table("south", &rows(30, 30)),
    ]);
    simulate(&study, &sites, &Options::new().out(&several)).unwrap();
    let texts = [&alone, &several].map(|folder| {
        let verdict = verify(&Release::open(folder).unwrap(), &Questions::default()).unwrap();
        assert!(verdict.holds(), "{verdict}");
        std::fs::read_to_string(folder.join("release.csv")).unwrap()
    });
    assert_eq!(texts[0], texts[1]);
    let lactates = texts[0].lines().skip(1).map(|line| line.rsplit(',').next());
    for lactate in lactates {
        assert!(["0.5", "1.0", "1.5", "4.0"].map(Some).contains(&lactate));
    }
    for spelled in ["2024 ", "YES", "1.50", ":30", "?"] {
        assert!(!texts[0].contains(spelled), "{spelled}");
    }
    assert!(texts[0].contains("2024-"), "{}", texts[0]);
}

#[test]
fn what_is_wrong_is_said_at_once() {
    let study = Study::parse(STUDY.replace("l = 2", "l = 20"), ".").unwrap();
    let wrong = rows(40, 0).replace(";1;", ";3;").replace("0.5\r", "0,5\r");
    let error = study.check(&[table("t", &wrong)]).unwrap_err();
    let words = error.to_string();
    assert!(words.contains("`require.l` is 20"), "{words}");
    assert!(
        words.contains("error: t:3: column `lactate`: value `0,5` is outside"),
        "{words}"
    );
    assert!(
        words.contains("hint: format = \"1234,5\" reads numbers such as this one"),
        "{words}"
    );
    assert!(
        words.contains("column `smokes`: value `3` is outside"),
        "{words}"
    );
    assert!(
        words.contains("\nand 8 more: 5 of column `lactate`, 3 of column `smokes`"),
        "{words}"
    );
}

/// What a run cannot carry is told by the check, not by the run.
#[test]
fn a_column_of_text_is_refused_by_the_check() {
    let text = STUDY.replace(
        "[require]",
        "[[attribute]]\nname = \"note\"\nrole = \"other\"\npublish_unique = true\n[require]",
    );
    let study = Study::parse(&text, ".").unwrap();
    let expected = "column `note` is text, which a joint release cannot carry\nhint: declare its values, or give it role = \"identifier\"";
    let checked = study.check(&[]).unwrap_err().to_string();
    assert!(checked.ends_with(expected), "{checked}");
    let run = anonymize(&study, &table("t", &rows(20, 0)), &Options::new()).unwrap_err();
    assert_eq!(run.to_string(), checked);
}

/// The same table with a comma in its numbers, and one with a point, give the same release; a draft of the
/// table finds the comma.
#[test]
fn numbers_with_a_comma_are_the_numbers_with_a_point() {
    let point = rows(60, 0);
    let comma = point
        .lines()
        .map(|line| {
            let (fever, rest) = line.split_once(';').unwrap();
            let (rest, lactate) = rest.rsplit_once(';').unwrap_or((rest, ""));
            let [fever, lactate] = [fever, lactate].map(|cell| cell.replace('.', ","));
            format!("{fever};{rest};{lactate}\r\n")
        })
        .collect::<String>()
        .replacen("sep=;;\r\n", "sep=;\r\n", 1);
    assert!(comma.contains("1,50\r") && comma.contains(",3;"), "{comma}");
    let spelled = STUDY.replace(
        "type = \"decimal\"",
        "type = \"decimal\"\nformat = \"1234,5\"",
    );
    let folder = tempfile::tempdir().unwrap();
    let texts =
        [("point", STUDY, &point), ("comma", &spelled, &comma)].map(|(name, study, text)| {
            let out = folder.path().join(name);
            let study = Study::parse(study, ".").unwrap();
            anonymize(&study, &table(name, text), &Options::new().out(&out)).unwrap();
            std::fs::read_to_string(out.join("release.csv")).unwrap()
        });
    assert_eq!(texts[0], texts[1]);
    let error = Study::parse(STUDY, ".").unwrap();
    let error = error.check(&[table("comma", &comma)]).unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("format = \"1234,5\" reads numbers such as this one"),
        "{words}"
    );
    let path = folder.path().join("comma.csv");
    std::fs::write(&path, &comma).unwrap();
    let drafted =
        Study::draft_of(&Table::from(path), &hedgerow::DraftOptions::default(), &()).unwrap();
    for line in [
        "format = \"1234,5\"",
        "format = \"%d.%m.%Y %H:%M\"",
        "type = \"decimal\"",
    ] {
        assert!(drafted.text().contains(line), "{line}\n{}", drafted.text());
    }
}

/// Values to the cent up to a fortune cannot be counted in every class: the check and the run say so at once.
#[test]
fn more_sensitive_values_than_can_be_counted_are_refused() {
    let fine = STUDY
        .replace("range = [0.5, 4.0]", "range = [0.00, 89999.99]")
        .replace("step = 0.5", "step = 0.01");
    let study = Study::parse(fine, ".").unwrap();
    let table = table("ward.csv", &rows(400, 0));
    let folder = tempfile::tempdir().unwrap();
    let checked = study.check(std::slice::from_ref(&table)).unwrap_err();
    let ran = anonymize(
        &study,
        &table,
        &Options::new().out(folder.path().join("out")),
    )
    .unwrap_err();
    for error in [checked.to_string(), ran.to_string()] {
        assert!(
            error.contains("column `lactate` may have 9,000,000 different values, and a run counts them in each of up to 100 classes"),
            "{error}"
        );
    }
    assert!(!folder.path().join("out").exists());
    // A draft lists the amounts that occur instead.
    let amounts = (0..400).map(|row| format!("{},{}.{:02}\n", 20 + row % 50, row * 223, row % 100));
    let amounts = format!("age,cost\n{}", amounts.collect::<String>());
    let path = folder.path().join("costs.csv");
    std::fs::write(&path, &amounts).unwrap();
    let options = hedgerow::DraftOptions {
        quasi: vec![String::from("age")],
        sensitive: vec![String::from("cost")],
        ..hedgerow::DraftOptions::default()
    };
    let table = Table::from(&*path);
    let drafted = Study::draft_of(&table, &options, &()).unwrap();
    let study = drafted.save(folder.path().join("drafted")).unwrap();
    let out = folder.path().join("drafted-release");
    let outcome = anonymize(&study, &table, &Options::new().out(out)).unwrap();
    assert!(outcome.summary.holds);
}
