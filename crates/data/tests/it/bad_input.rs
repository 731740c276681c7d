//! Bad tables, each with the exact message a person gets.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::files::{Others, check_columns, read_table, read_text};
use hedgerow_data::{Release, Schema, Study};

fn schema() -> Arc<Schema> {
    let text = r#"
[study]
name = "bad input"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 120]
[[attribute]]
name = "sex"
role = "quasi"
values = ["Male", "Female"]
[[attribute]]
name = "name"
role = "identifier"
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "ulcer"]
"#;
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    Study::read(document, Path::new("")).unwrap().schema
}

/// The refusal of a file with these bytes, its folder left out of the message.
fn refusal(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let error = read_table(&path, &schema(), &Others::Refuse, &()).unwrap_err();
    error
        .to_string()
        .replace(&format!("{}/", folder.path().display()), "")
}

fn release_refusal(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.csv");
    std::fs::write(&path, bytes).unwrap();
    let text = read_text(&path, &[], &()).unwrap();
    let error = Release::from_text(&text, &schema(), &[]).unwrap_err();
    error
        .to_string()
        .replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn unknown_column() {
    assert_eq!(
        refusal("t.csv", b"age,sexx,name,disease\n1,Male,A,flu\n"),
        "t.csv:1: unknown column `sexx`\nhint: did you mean `sex`?"
    );
    assert_eq!(
        refusal("t.csv", b"age,sex,name,disease,qqqq\n"),
        "t.csv:1: unknown column `qqqq`\nhint: declare it in the study; with role = \"identifier\" it is never released"
    );
}

#[test]
fn missing_column() {
    assert_eq!(
        refusal("t.csv", b"age;name;disease\n"),
        "t.csv:1: column `sex` of the study is missing\nhint: the file has `age`, `name`, `disease`"
    );
}

#[test]
fn duplicate_column() {
    assert_eq!(
        refusal("t.csv", b"age,sex,age,name,disease\n"),
        "t.csv:1: column `age` stands twice, as columns 1 and 3"
    );
}

#[test]
fn value_outside_its_domain() {
    assert_eq!(
        refusal(
            "t.csv",
            b"age,sex,name,disease\n1,Male,A,flu\n130,Male,B,flu\n"
        ),
        "t.csv:3: column `age`: value `130` is outside the integers 0 to 120\nhint: nearest valid values are `120`"
    );
    assert_eq!(
        refusal("t.csv", b"age,sex,name,disease\n1,male,A,flu\n"),
        "t.csv:2: column `sex`: value `male` is outside its 2 values\nhint: nearest valid values are `Male`, `Female`"
    );
    assert_eq!(
        refusal("t.csv", b"age,sex,name,disease\n,Male,A,flu\n"),
        "t.csv:2: column `age`: value `` is outside the integers 0 to 120\nhint: if values may be missing, declare it: missing = \"\""
    );
}

#[test]
fn a_decimal_where_integers_are_is_called_so() {
    assert_eq!(
        refusal("t.csv", b"age,sex,name,disease\n38.6,Male,A,flu\n"),
        "t.csv:2: column `age`: value `38.6` is outside the integers 0 to 120\nhint: this is a decimal; type = \"decimal\" with step = 0.1 takes decimals"
    );
}

/// Values, rows of another length and bytes that are no text, each with its line; a hint once.
#[test]
fn all_errors_of_a_table_at_once() {
    assert_eq!(
        refusal(
            "t.csv",
            b"age,sex,name,disease\n130,Male,\"A\nB\",flu\n\n1,Male\n1,x,C\xff,\n140,Male,D,flu\n"
        ),
        "t.csv:2: column `age`: value `130` is outside the integers 0 to 120\nhint: nearest valid values are `120`\n\
        error: t.csv:5: 2 fields, the header has 4\n\
        error: t.csv:6: column `sex`: value `x` is outside its 2 values\nhint: nearest valid values are `Male`, `Female`\n\
        error: t.csv:6: column `name`: not valid UTF-8\nhint: save the file as UTF-8\n\
        error: t.csv:6: column `disease`: value `` is outside its 2 values\nhint: if values may be missing, list \"\" among its values\n\
        error: t.csv:7: column `age`: value `140` is outside the integers 0 to 120"
    );
    assert_eq!(
        refusal("t.csv", b"sexx,name,illness,alter\n1,2,3,4\n"),
        "t.csv:1: unknown column `sexx`\nhint: did you mean `sex`?\n\
        error: t.csv:1: unknown column `illness`\nhint: declare it in the study; with role = \"identifier\" it is never released\n\
        error: t.csv:1: unknown column `alter`\n\
        error: t.csv:1: column `age` of the study is missing\nhint: the file has `sexx`, `name`, `illness`, `alter`\n\
        error: t.csv:1: column `disease` of the study is missing"
    );
}

#[test]
fn a_header_of_strangers_is_told_in_part() {
    let names: Vec<String> = (0..100).map(|number| format!("{number}{number}")).collect();
    let said = refusal("t.csv", format!("{}\n", names.join(";")).as_bytes());
    assert_eq!(said.matches("unknown column").count(), 20, "{said}");
    assert!(said.ends_with("\nand 84 more"), "{said}");
}

/// A column that is wrong in every row does not hide another, and what is not told is counted.
#[test]
fn errors_beyond_the_first_few_are_counted() {
    let mut text = String::from("age,sex,name,disease\n");
    for row in 0..330 {
        text.push_str(&format!(
            "{},Male,A,{}\n",
            200 + row,
            ["flu", "cold"][usize::from(row > 320)]
        ));
    }
    text.push_str("1,Male,A,flu,\n");
    let said = refusal("t.csv", text.as_bytes());
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.starts_with("hint"))
        .collect();
    assert_eq!(lines.len(), 5 + 5 + 1 + 1, "{said}");
    assert!(
        lines[5].starts_with("error: t.csv:323: column `disease`: value `cold`"),
        "{said}"
    );
    assert_eq!(lines[10], "error: t.csv:332: 5 fields, the header has 4");
    assert_eq!(
        lines[11],
        "and 329 more: 325 of column `age`, 4 of column `disease`"
    );
}

#[test]
fn lines_are_counted_through_quoted_newlines() {
    assert!(
        refusal(
            "t.csv",
            b"age,sex,name,disease\n1,Male,\"A\nB\",flu\n2,Male,C,plague\n"
        )
        .starts_with("t.csv:4: column `disease`: value `plague`")
    );
}

#[test]
fn lines_are_right_with_crlf_and_blank_lines() {
    let plague = |text: &[u8]| refusal("t.csv", text);
    assert!(
        plague(b"age,sex,name,disease\r\n1,Male,A,flu\r\n2,Male,B,flu\r\n3,Male,C,plague\r\n")
            .starts_with("t.csv:4: column `disease`: value `plague`")
    );
    assert!(
        plague(b"age,sex,name,disease\n\n1,Male,A,flu\n\n\n3,Male,C,plague\n")
            .starts_with("t.csv:6: column `disease`: value `plague`")
    );
    assert!(
        release_refusal(b"age,sex,disease\r\n*,*,flu\r\n*,*,flu\r\n*,*,lung\r\n")
            .starts_with("r.csv:4: column `disease`: value `lung`")
    );
}

#[test]
fn a_blank_line_of_one_column_is_a_value() {
    let text = "[study]\nname = \"s\"\npartition = \"horizontal\"\n\
                [[attribute]]\nname = \"disease\"\nrole = \"quasi\"\nvalues = [\"flu\", \"\"]\n";
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, Path::new("")).unwrap().schema;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    for text in [
        "disease\nflu\n\nflu\n\n",
        "disease\r\nflu\r\n\r\nflu\r\n\r\n",
    ] {
        std::fs::write(&path, text).unwrap();
        let table = read_table(&path, &schema, &Others::Refuse, &()).unwrap();
        assert_eq!(
            table.codes(0).unwrap().iter().collect::<Vec<_>>(),
            [0, 1, 0, 1]
        );
    }
    std::fs::write(&path, "disease\nflu\n\nplague\n").unwrap();
    let error = read_table(&path, &schema, &Others::Refuse, &())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("t.csv:4: column `disease`: value `plague`"),
        "{error}"
    );
}

#[test]
fn a_delimiter_inside_quotes_is_none() {
    let text = "[study]\nname = \"s\"\npartition = \"horizontal\"\n\
                [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n\
                [[attribute]]\nname = \"zip; home; now\"\nrole = \"quasi\"\nvalues = [\"x\"]\n";
    let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, Path::new("")).unwrap().schema;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "age,\"zip; home; now\"\n1,x\n").unwrap();
    assert_eq!(
        read_table(&path, &schema, &Others::Refuse, &())
            .unwrap()
            .rows(),
        1
    );
    assert_eq!(read_text(&path, &[], &()).unwrap().names.len(), 2);
}

#[test]
fn ragged_rows() {
    assert_eq!(
        refusal("t.csv", b"age,sex,name,disease\n1,Male,A,flu\n2,Male\n"),
        "t.csv:3: 2 fields, the header has 4"
    );
}

#[test]
fn invalid_utf8() {
    assert_eq!(
        refusal("t.csv", b"age,sex,name,disease\n1,Mal\xff,A,flu\n"),
        "t.csv:2: column `sex`: not valid UTF-8\nhint: save the file as UTF-8"
    );
    assert_eq!(
        refusal("t.csv", b"age,sex,name,disease\n1,Male,\xff\xfe,flu\n"),
        "t.csv:2: column `name`: not valid UTF-8\nhint: save the file as UTF-8"
    );
}

#[test]
fn empty_and_unknown_files() {
    assert_eq!(
        refusal("t.csv", b""),
        "t.csv: the file is empty, expected a header row with column names"
    );
    assert_eq!(
        refusal("t.xls", b"PK"),
        "t.xls: unknown kind of file\nhint: expected .csv, .csv.gz, .csv.zst, .parquet or .xlsx"
    );
    assert!(refusal("t.xlsx", b"PK").starts_with("t.xlsx: cannot be read: "));
    assert!(refusal("t.parquet", b"not parquet").starts_with("t.parquet: cannot be read: "));
    assert!(refusal("t.csv.gz", b"not gzip").starts_with("t.csv.gz: cannot be read: "));
}

#[test]
fn a_header_alone_is_a_table_without_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "\u{feff}age,sex,name,disease\r\n").unwrap();
    assert_eq!(
        read_table(&path, &schema(), &Others::Refuse, &())
            .unwrap()
            .rows(),
        0
    );
}

/// Whether a file can be read is told by its header: no value is looked at.
#[test]
fn a_look_at_columns_finds_what_reading_finds_before_any_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let look = || check_columns(&path, &schema(), &Others::Refuse);
    let read = || read_table(&path, &schema(), &Others::Refuse, &());
    assert!(look().unwrap_err().to_string().contains("cannot be read"));
    for text in [
        "",
        "age,sex,name\n",
        "age,sex,name,disease,more\n",
        "\u{feff}a\n1\n",
    ] {
        std::fs::write(&path, text).unwrap();
        let (look, read) = (look().unwrap_err(), read().unwrap_err());
        assert_eq!(look.to_string(), read.to_string());
    }
    for rows in ["", "x,y,z\n", "1,Male\n", "999,Female,b,plague\n"] {
        std::fs::write(&path, format!("age,sex,name,disease\n{rows}")).unwrap();
        look().unwrap();
    }
}

#[test]
fn release_cells() {
    assert_eq!(
        release_refusal(b"age,sex,disease\n[20-39],Mal,flu\n"),
        "r.csv:2: column `sex`: `Mal` is no value, interval or set of this attribute, and no node of its taxonomy\nhint: nearest are `Male`, `Female`"
    );
    assert_eq!(
        release_refusal(b"age,sex,disease\n[39-20],*,flu\n"),
        "r.csv:2: column `age`: `[39-20]` runs backwards\nhint: write the lesser end first"
    );
    assert_eq!(
        release_refusal(b"age,sex,disease\n*,*,flu\n*,*,lung\n"),
        "r.csv:3: column `disease`: value `lung` is outside its 2 values\nhint: nearest valid values are `flu`"
    );
    assert_eq!(
        release_refusal(b"age,sex,disease\n"),
        "r.csv: the release has no records"
    );
    assert!(
        release_refusal(b"age,disease\n*,flu\n").contains("column `sex` of the study is missing")
    );
}
