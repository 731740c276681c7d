//! Types that real tables have: how tables spell values, and what becomes of them.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int64Array, NullArray, RecordBatch, StringArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use hedgerow_data::document::Document;
use hedgerow_data::files::{
    Others, read_batches, read_columns, read_columns_of_batches, read_csv, read_table, read_text,
    read_text_batches, write_table,
};
use hedgerow_data::{Schema, Study, Table};
use proptest::prelude::*;

/// The schema of a study with these attributes.
fn schema(attributes: &str) -> Arc<Schema> {
    let text = format!("[study]\nname = \"s\"\npartition = \"horizontal\"\n{attributes}");
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    Study::read(document, Path::new("")).unwrap().schema
}

/// The values of a column as a release spells them.
fn labels(table: &Table, position: usize) -> Vec<String> {
    let domain = &table.schema().attributes()[position].domain;
    let codes = table.codes(position).unwrap().iter();
    codes.map(|code| domain.label(code).into_owned()).collect()
}

const FEVER: &str = "[[attribute]]\nname = \"fever\"\nrole = \"quasi\"\n\
    type = \"decimal\"\nrange = [34, 43]\nstep = 0.1\nmissing = \"NA\"\n";

#[test]
fn decimals_come_as_any_kind_of_number() {
    let schema = schema(FEVER);
    let read = |column: ArrayRef| {
        let batch = RecordBatch::try_from_iter_with_nullable([("fever", column, true)]).unwrap();
        let table = read_batches("patients", &[batch], &schema, &Others::Refuse, &());
        table.map(|table| labels(&table, 0))
    };
    let expected = ["38.6", "NA", "40.0"];
    let floats = Float64Array::from(vec![Some(38.6), None, Some(40.0)]);
    assert_eq!(read(Arc::new(floats)).unwrap(), expected);
    let narrow = Float32Array::from(vec![Some(38.6), None, Some(40.0)]);
    assert_eq!(read(Arc::new(narrow)).unwrap(), expected);
    let exact = Decimal128Array::from(vec![Some(38_600), None, Some(40_000)]);
    let exact = exact.with_precision_and_scale(10, 3).unwrap();
    assert_eq!(read(Arc::new(exact)).unwrap(), expected);
    let between = Float64Array::from(vec![38.65, f64::NAN]);
    assert_eq!(
        read(Arc::new(between)).unwrap_err().to_string(),
        "patients:1: column `fever`: value `38.65` is outside the decimals 34.0 to 43.0 in steps of 0.1\nhint: nearest valid values are `38.6`, `38.7`\n\
         error: patients:2: column `fever`: value `NaN` is outside the decimals 34.0 to 43.0 in steps of 0.1\nhint: this is no number; if it stands for a missing value, declare it: missing = \"NaN\""
    );
}

const SPELLED: &str = "[[attribute]]\nname = \"came\"\nrole = \"quasi\"\n\
    type = \"date\"\nformat = \"%d.%m.%Y %H:%M\"\nrange = [\"2024-01-01\", \"2024-12-31\"]\nmissing = [\"\", \"NA\", \"?\"]\n\
    [[attribute]]\nname = \"smokes\"\nrole = \"quasi\"\ntype = \"boolean\"\nmissing = [\"unknown\", \"\"]\n\
    [[attribute]]\nname = \"ward\"\nrole = \"sensitive\"\nvalues = [\"a\", \"b\", \"none\"]\nmissing = [\"none\", \"\", \"-\"]\n";

/// However a table spells its values, a release has one text for each.
#[test]
fn values_have_many_spellings_and_one_name() {
    let schema = schema(SPELLED);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let rows = "came,smokes,ward\n31.12.2024 23:59,YES,a\n01.02.2024 00:00,0,b\nNA,unknown,none\n,,\n?,f,-\n";
    std::fs::write(&path, rows).unwrap();
    let table = read_table(&path, &schema, &Others::Refuse, &()).unwrap();
    assert_eq!(labels(&table, 0), ["2024-12-31", "2024-02-01", "", "", ""]);
    assert_eq!(
        labels(&table, 1),
        ["true", "false", "unknown", "unknown", "false"]
    );
    assert_eq!(labels(&table, 2), ["a", "b", "none", "none", "none"]);

    std::fs::write(
        &path,
        "came,smokes,ward\n2024-12-31,ja,\n01.01.2030 10:00,,x\n",
    )
    .unwrap();
    let said = read_table(&path, &schema, &Others::Refuse, &())
        .unwrap_err()
        .to_string();
    let said = said.replace(&format!("{}/", folder.path().display()), "");
    assert_eq!(
        said,
        "t.csv:2: column `came`: value `2024-12-31` is outside the days 2024-01-01 to 2024-12-31 (year-month-day)\nhint: days are read as format = \"%d.%m.%Y %H:%M\" says; if this stands for a missing value, list it in missing\n\
         error: t.csv:2: column `smokes`: value `ja` is outside its 3 values\nhint: true, t, yes, y and 1 are true; false, f, no, n and 0 are false; other texts stand for a missing value if missing = [\"…\"] lists them\n\
         error: t.csv:3: column `came`: value `01.01.2030 10:00` is outside the days 2024-01-01 to 2024-12-31 (year-month-day)\nhint: nearest valid values are `2024-12-31`\n\
         error: t.csv:3: column `ward`: value `x` is outside its 3 values\nhint: nearest valid values are `a`, `b`, `none`"
    );
}

/// Values that have a type of their own need no format, and a cell without a value is the missing value.
#[test]
fn typed_days_and_truth_values() {
    let schema = schema(SPELLED);
    let day = 19_723; // 2024-01-01
    let moments = [Some((day + 1) * 86_400_000 - 1), None];
    let came: [ArrayRef; 3] = [
        Arc::new(Date32Array::from(vec![Some(day as i32), None])),
        Arc::new(TimestampMillisecondArray::from(moments.to_vec())),
        Arc::new(StringArray::from(vec![Some("01.01.2024 08:00"), Some("?")])),
    ];
    let smokes: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None]));
    let ward: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    for came in came {
        let columns = [
            ("came", came),
            ("smokes", smokes.clone()),
            ("ward", ward.clone()),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let table = read_batches("patients", &[batch], &schema, &Others::Refuse, &()).unwrap();
        assert_eq!(labels(&table, 0), ["2024-01-01", ""]);
        assert_eq!(labels(&table, 1), ["true", "unknown"]);
        assert_eq!(labels(&table, 2), ["a", "none"]);
    }
    // With a time zone a moment has no day of its own: it is read as text, in UTC.
    let read = |study: &str| {
        let zoned = TimestampMillisecondArray::from(moments.to_vec()).with_timezone("+02:00");
        let columns: [(&str, ArrayRef); 3] = [
            ("came", Arc::new(zoned)),
            ("smokes", smokes.clone()),
            ("ward", ward.clone()),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let schema = self::schema(study);
        read_batches("patients", &[batch], &schema, &Others::Refuse, &())
    };
    let error = read(&SPELLED.replace("format = \"%d.%m.%Y %H:%M\"\n", ""));
    let error = error.unwrap_err().to_string();
    let expected = "patients:1: column `came`: value `2024-01-01T23:59:59.999Z` is outside the days 2024-01-01 to 2024-12-31 (year-month-day)\nhint: format = \"%Y-%m-%dT%H:%M:%S%.fZ\" reads days such as this one";
    assert_eq!(error, expected);
    let table = read(&SPELLED.replace("%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%S%.fZ")).unwrap();
    assert_eq!(labels(&table, 0), ["2024-01-01", ""]);
}

/// A table that no study explains has whole moments: they are cut to days nowhere but where a study says that a
/// column is of days.
#[test]
fn moments_are_whole_without_a_study() {
    let second = 1_000_000;
    let day = 86_400 * second;
    let batch = |moments: Vec<Option<i64>>| {
        let column: ArrayRef = Arc::new(TimestampMicrosecondArray::from(moments));
        RecordBatch::try_from_iter_with_nullable([("came", column, true)]).unwrap()
    };
    let texts = |batches: &[RecordBatch]| -> Vec<String> {
        let table = read_text_batches("visits", batches, &[], &()).unwrap();
        table.columns[0].iter().map(str::to_owned).collect()
    };
    let some = [
        batch(vec![Some(0), None]),
        batch(vec![Some(-day), Some(day)]),
    ];
    let days = ["1970-01-01", "", "1969-12-31", "1970-01-02"];
    assert_eq!(texts(&some), days);
    let more = [
        batch(vec![Some(0), None]),
        batch(vec![Some(-1), Some(36_061 * second)]),
    ];
    let moments = [
        "1970-01-01T00:00:00",
        "",
        "1969-12-31T23:59:59.999999",
        "1970-01-01T10:01:01",
    ];
    assert_eq!(texts(&more), moments);
    // And from a file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, more[0].schema(), None).unwrap();
    more.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    let table = read_text(&path, &[], &()).unwrap();
    assert_eq!(table.columns[0].iter().collect::<Vec<_>>(), moments);
}

/// Columns that are not asked for may hold anything; those that are asked for and cannot be read are all named.
#[test]
fn columns_that_nobody_asks_for_are_passed_over() {
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..], &b"y"[..]]));
    let ages: ArrayRef = Arc::new(Int64Array::from(vec![31, 44]));
    let nothing: ArrayRef = Arc::new(NullArray::new(2));
    let columns = [
        ("photo", bytes.clone()),
        ("age", ages),
        ("scan", bytes),
        ("note", nothing),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.map(|(name, values)| (name, values, true)),
    )
    .unwrap();
    let some = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let read = read_columns_of_batches("people", std::slice::from_ref(&batch), &names, &());
        read.map_err(|error| error.to_string())
    };
    let read = some(&["note", "age"]).unwrap();
    assert_eq!(read.names, ["age", "note"]);
    assert_eq!(read.columns[0].iter().collect::<Vec<_>>(), ["31", "44"]);
    assert_eq!(read.columns[1].iter().collect::<Vec<_>>(), ["", ""]);
    let said = some(&["photo", "age", "scan"]).unwrap_err();
    assert!(
        said.starts_with("people: column `photo` has type Binary\nhint: expected text"),
        "{said}"
    );
    assert!(
        said.contains("error: people: column `scan` has type Binary"),
        "{said}"
    );
    let said = some(&["agee", "age", "zip"]).unwrap_err();
    let expected = "people:1: there is no column `agee`\nhint: the file has `photo`, `age`, `scan`, `note`\nerror: people:1: there is no column `zip`";
    assert_eq!(said, expected);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let file = std::fs::File::create(&path).unwrap();
    let some = batch.project(&[0, 1]).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, some.schema(), None).unwrap();
    writer.write(&some).unwrap();
    writer.close().unwrap();
    let read = read_columns(&path, &["age".to_owned()], &()).unwrap();
    assert_eq!((read.names.len(), read.rows()), (1, 2));
    assert!(
        read_text(&path, &[], &())
            .unwrap_err()
            .to_string()
            .contains("has type Binary")
    );
}

const MEASURED: &str = "[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 120]\nmissing = \"\"\n\
    [[attribute]]\nname = \"fever\"\nrole = \"quasi\"\ntype = \"decimal\"\nrange = [34.0, 43.0]\nstep = 0.1\n\
    [[attribute]]\nname = \"came\"\nrole = \"quasi\"\ntype = \"date\"\nrange = [\"2024-01-01\", \"2024-12-31\"]\nformat = \"%d.%m.%Y\"\n\
    [[attribute]]\nname = \"ill\"\nrole = \"sensitive\"\ntype = \"boolean\"\n\
    [[attribute]]\nname = \"näme\"\nrole = \"identifier\"\n";

const MEASURED_ROWS: &str =
    "age;fever;came;ill;näme\r\n31;38.6;31.12.2024;yes;Ödön\r\n;40;01.02.2024;0;\r\n";

/// What is read of a file with these bytes, or the refusal without its folder.
fn measured(name: &str, bytes: &[u8]) -> Result<Table, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let read = read_table(&path, &schema(MEASURED), &Others::Refuse, &());
    read.map_err(|error| {
        error
            .to_string()
            .replace(&format!("{}/", folder.path().display()), "")
    })
}

/// Text as UTF-16 with its mark.
fn utf16(text: &str, bytes_of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(bytes_of).collect()
}

/// What spreadsheets write is the same table: a line that names the delimiter, marks, UTF-16.
#[test]
fn spreadsheets_write_tables_in_many_ways() {
    let expected = measured("t.csv", MEASURED_ROWS.as_bytes()).unwrap();
    assert_eq!(labels(&expected, 1), ["38.6", "40.0"]);
    let named = format!("sep=;\r\n{MEASURED_ROWS}");
    let quoted = format!("\"SEP=;\"\n{MEASURED_ROWS}");
    let marked = format!("\u{feff}{named}");
    for text in [
        &named,
        &quoted,
        &marked,
        &format!("\u{feff}{MEASURED_ROWS}"),
    ] {
        assert_eq!(
            measured("t.csv", text.as_bytes()).unwrap(),
            expected,
            "{text}"
        );
    }
    for text in [MEASURED_ROWS, &named] {
        for bytes_of in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(measured("t.csv", &utf16(text, bytes_of)).unwrap(), expected);
        }
    }
    // The line that names the delimiter wins over the header, and counts as a line.
    let odd = named.replace(';', "#").replace("näme", "nä;me");
    assert!(
        measured("t.csv", odd.as_bytes())
            .unwrap_err()
            .contains("unknown column `nä;me`")
    );
    let wrong = marked.replace("40", "44").replace("38.6", "\"38\n6\"");
    let said = measured("t.csv", &utf16(&wrong, u16::to_le_bytes)).unwrap_err();
    assert!(
        said.starts_with("t.csv:3: column `fever`: value `38\\n6`"),
        "{said}"
    );
    assert!(
        said.contains("error: t.csv:5: column `fever`: value `44`"),
        "{said}"
    );
    // A table whose first column has such a name.
    assert!(
        measured("t.csv", b"sep=,age\n")
            .unwrap_err()
            .contains("unknown column `sep=`")
    );
}

#[test]
fn text_in_memory_is_read_as_a_file_is() {
    let expected = measured("t.csv", MEASURED_ROWS.as_bytes()).unwrap();
    let read = |text: &str| {
        read_csv(
            "standard input",
            text.as_bytes(),
            &schema(MEASURED),
            &Others::Refuse,
        )
        .map_err(|error| error.to_string())
    };
    assert_eq!(read(MEASURED_ROWS).unwrap(), expected);
    let said = read(&MEASURED_ROWS.replace("40", "400")).unwrap_err();
    assert!(
        said.starts_with("standard input:3: column `fever`: value `400`"),
        "{said}"
    );
}

/// A workbook with a first sheet of these rows of XML; style 1 is a day.
fn workbook(rows: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let files = [
        (
            "[Content_Types].xml",
            String::from(
                "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/></Types>",
            ),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"Patients\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet1.xml\"/><Relationship Id=\"r2\" Type=\"{office}/styles\" Target=\"styles.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/styles.xml",
            format!(
                "<styleSheet xmlns=\"{main}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"22\"/></cellXfs></styleSheet>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>"),
        ),
    ];
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        writer.start_file(name, options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn row(number: u32, cells: &[&str]) -> String {
    let cells: String = cells
        .iter()
        .zip('A'..)
        .map(|(cell, column)| match cell.split_once(':') {
            Some(("text", text)) => {
                format!("<c r=\"{column}{number}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
            }
            Some(("truth", text)) => format!("<c r=\"{column}{number}\" t=\"b\"><v>{text}</v></c>"),
            Some(("day", text)) => format!("<c r=\"{column}{number}\" s=\"1\"><v>{text}</v></c>"),
            Some((_, text)) => format!("<c r=\"{column}{number}\"><v>{text}</v></c>"),
            None => String::new(),
        })
        .collect();
    format!("<row r=\"{number}\">{cells}</row>")
}

#[test]
fn the_first_sheet_of_a_workbook_is_a_table() {
    let header = row(
        3,
        &[
            "text:age",
            "text:fever",
            "text:came",
            "text:ill",
            "text:näme",
        ],
    );
    let first = row(
        4,
        &[
            "number:31",
            "number:38.6",
            "day:45657.75",
            "truth:1",
            "text:Ödön",
        ],
    );
    let blank = row(5, &[]);
    let second = row(6, &["", "number:40", "text:01.02.2024", "number:0", ""]);
    let book = workbook(&format!("{header}{first}{blank}{second}"));
    let expected = measured("t.csv", MEASURED_ROWS.as_bytes()).unwrap();
    let read = measured("t.xlsx", &book).unwrap();
    for position in 0..4 {
        assert_eq!(labels(&read, position), labels(&expected, position));
    }
    let wrong = row(
        6,
        &["text:old", "number:38.65", "day:45658", "number:2", ""],
    );
    let said = measured("t.xlsx", &workbook(&format!("{header}{first}{wrong}"))).unwrap_err();
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.starts_with("hint"))
        .collect();
    assert_eq!(
        lines,
        [
            "t.xlsx:6: column `age`: value `old` is outside the integers 0 to 120",
            "error: t.xlsx:6: column `fever`: value `38.65` is outside the decimals 34.0 to 43.0 in steps of 0.1",
            "error: t.xlsx:6: column `came`: value `2025-01-01` is outside the days 2024-01-01 to 2024-12-31 (year-month-day)",
            "error: t.xlsx:6: column `ill`: value `2` is outside its 2 values",
        ]
    );
    assert_eq!(
        measured("t.xlsx", &workbook("")).unwrap_err(),
        "t.xlsx: the file is empty, expected a header row with column names"
    );
    let error = write_table(Path::new("t.xlsx"), &expected, &()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.xlsx: is not written in this format\nhint: expected .csv, .csv.gz, .csv.zst or .parquet"
    );
}

proptest! {
    /// A table of decimals reads as the table of the integers that are its tenths.
    #[test]
    fn decimals_against_integers(tenths in proptest::collection::vec(prop_oneof![Just(None), (340_i64..=430).prop_map(Some)], 1..40)) {
        let scaled = FEVER.replace("decimal", "integer").replace("[34, 43]", "[340, 430]").replace("step = 0.1\n", "");
        let folder = tempfile::tempdir().unwrap();
        let read = |schema: &Arc<Schema>, text: &dyn Fn(i64) -> String| {
            let path = folder.path().join("t.csv");
            let rows = tenths.iter().map(|one| one.map_or(String::from("NA"), text));
            std::fs::write(&path, format!("fever\n{}\n", rows.collect::<Vec<_>>().join("\n"))).unwrap();
            read_table(&path, schema, &Others::Refuse, &()).unwrap()
        };
        let decimals = read(&schema(FEVER), &|one| format!("{}.{}", one / 10, one % 10));
        let integers = read(&schema(&scaled), &|one| one.to_string());
        prop_assert_eq!(decimals.codes(0), integers.codes(0));
        for name in ["again.csv", "again.parquet"] {
            let path = folder.path().join(name);
            write_table(&path, &decimals, &()).unwrap();
            prop_assert_eq!(&read_table(&path, decimals.schema(), &Others::Refuse, &()).unwrap(), &decimals);
        }
    }
}

#[test]
fn a_sheet_with_cells_far_apart_needs_no_room_between_them() {
    let far = "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("far.xlsx");
    std::fs::write(&path, workbook(far)).unwrap();
    let error = read_text(&path, &[], &()).unwrap_err().to_string();
    assert!(
        error.contains("row 1048576 has a cell beside the columns of the header"),
        "{error}"
    );
}
