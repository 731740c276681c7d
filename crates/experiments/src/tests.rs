//! Tests of the frame with figures of their own: what is kept, what is written, what a rule decides.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::frame::measured::Kind;
use crate::frame::prelude::*;
use crate::frame::rule::Must;
use crate::record::{Record, files};
use crate::run::{Options, Report, list, measure_all, run};
use crate::table::HEAD;
use crate::{data::DataFolder, frame::figure::Family};

const fn figure(name: &'static str, rule: fn(&Measured) -> Vec<Check>) -> Figure {
    Figure {
        name,
        paper: Paper::Ours,
        title: "A <test> & its \"title\" | bar",
        claim: "One lies below two.",
        rule,
    }
}

fn one_below_two(measured: &Measured) -> Vec<Check> {
    vec![Check::below(&measured.first("one"), &measured.first("two")).must()]
}

fn two_below_one(measured: &Measured) -> Vec<Check> {
    let check = Check::below(&measured.first("two"), &measured.first("one"));
    vec![check.or("two is greater than one")]
}

fn broken(measured: &Measured) -> Vec<Check> {
    vec![Check::below(&measured.first("two"), &measured.first("one")).must()]
}

fn at_full(measured: &Measured) -> Vec<Check> {
    let wrong = || Check::below(&measured.first("two"), &measured.first("one"));
    vec![
        one_below_two(measured).remove(0),
        wrong().must_at_full(),
        wrong().only_at_full(),
    ]
}

fn curves() -> Measured {
    let points = |y: f64| (1..=3).map(move |x| (f64::from(x), y * f64::from(x)));
    let lines = Panel::lines(
        "lines, \"quoted\"",
        Axis::new("k", "records"),
        Axis::new("time", "s").log(),
    )
    .with(Series::new("one", points(0.1)))
    .with(Series::with_errors(
        "two",
        points(0.2).map(|(x, y)| (x, y, 0.01)),
    ))
    .with(Series::paper("paper", [(2.0, 0.25)]))
    .with(Series::computed("bound", points(0.3)));
    let names = vec![String::from("first"), String::from("second")];
    let bars = Panel::bars("bars", Axis::new("who", ""), Axis::new("count", ""), names)
        .with(Series::new("one", [(0.0, 3.0), (1.0, 4.0)]))
        .with(Series::paper("one, paper", [(1.0, 5.0)]));
    let histogram = Panel::histogram(
        "histogram",
        Axis::new("size", ""),
        Axis::new("sites", "").log(),
        10,
    )
    .with(Series::new("one", [(5.0, 30.0), (15.0, 1.0)]));
    Measured::new("Three points were measured.", vec![lines, bars, histogram]).on_words("no data")
}

static MEASURED: AtomicUsize = AtomicUsize::new(0);

const COUNTED: Family = Family {
    figures: &[
        figure("test-a", one_below_two),
        figure("test-b", two_below_one),
    ],
    measure: |_| {
        MEASURED.fetch_add(1, Ordering::SeqCst);
        Ok(vec![curves(), curves()])
    },
};

const PAIR: Family = Family {
    measure: |_| Ok(vec![curves(), curves()]),
    ..COUNTED
};

const BROKEN: Family = Family {
    figures: &[figure("test-c", broken)],
    measure: |_| Ok(vec![curves()]),
};

const FULL: Family = Family {
    figures: &[figure("test-d", at_full)],
    measure: |_| Ok(vec![curves()]),
};

const FAILING: Family = Family {
    figures: &[figure("test-e", one_below_two)],
    measure: |bench| {
        let adult = bench.data.adult()?;
        adult.values("no such column")?;
        Ok(vec![curves()])
    },
};

fn measured(folder: &Path, families: &[&Family], quick: bool, seed: u64) -> Report {
    let options = Options::new(folder, seed).quick(quick);
    measure_all(families, &options, &()).unwrap()
}

#[test]
fn finished_figures_are_kept_for_the_same_settings_alone() {
    let folder = tempfile::tempdir().unwrap();
    let times = || MEASURED.load(Ordering::SeqCst);
    let before = times();
    let first = measured(folder.path(), &[&COUNTED], true, 1);
    assert_eq!((first.kept, first.hold, first.differ), (0, 1, 1));
    assert_eq!(times(), before + 1);
    let again = measured(folder.path(), &[&COUNTED], true, 1);
    assert_eq!((again.kept, times()), (2, before + 1));
    assert_eq!(again.figures, first.figures);
    // Another seed, another size, or a file that is gone.
    measured(folder.path(), &[&COUNTED], true, 2);
    assert_eq!(times(), before + 2);
    measured(folder.path(), &[&COUNTED], false, 2);
    assert_eq!(times(), before + 3);
    for file in files(folder.path(), "test-b") {
        std::fs::remove_file(file).unwrap();
        measured(folder.path(), &[&COUNTED], false, 2);
    }
    assert_eq!(times(), before + 6);
    measured(folder.path(), &[&COUNTED], false, 2);
    assert_eq!(times(), before + 6);
}

#[test]
fn a_damaged_figure_is_measured_again_and_ends_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let first = measured(folder.path(), &[&BROKEN, &FULL], true, 1);
    let [csv, svg, json] = files(folder.path(), "test-c");
    for file in [&csv, &svg, &json] {
        let whole = std::fs::read(file).unwrap();
        std::fs::write(file, &whole[..whole.len() / 2]).unwrap();
        // A run of another figure goes on, and its page says what is left out.
        let other = measured(folder.path(), &[&FULL], true, 1);
        assert_eq!(other.kept, 1);
        let again = measured(folder.path(), &[&BROKEN, &FULL], true, 1);
        assert_eq!((again.kept, &again.figures[1]), (1, &first.figures[1]));
        assert_eq!(std::fs::read(&csv).unwrap(), table_of("test-c"));
    }
    std::fs::write(&json, "{ \"figure\": 1").unwrap();
    let names = ["test-c", "test-d"].into_iter();
    let (records, damaged) = Record::all(folder.path(), names);
    assert_eq!(records.len(), 1);
    assert!(damaged[0].starts_with("test-c.json: "), "{damaged:?}");
    let html = crate::page::html(&records, &damaged);
    assert!(html.contains("A figure is left out"), "{html}");
    let markdown = crate::page::markdown(&records, &damaged);
    assert!(markdown.contains("test-c.json"), "{markdown}");
}

fn table_of(figure: &str) -> Vec<u8> {
    crate::table::csv(figure, &curves()).unwrap().into_bytes()
}

#[cfg(unix)]
#[test]
fn one_call_at_a_time_works_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let lock = crate::lock::Lock::take(folder.path()).unwrap();
    let options = Options::new(folder.path(), 1).quick(true);
    let error = measure_all(&[&BROKEN], &options, &()).unwrap_err();
    assert!(error.to_string().contains("another `hedgerow"), "{error}");
    // The lock of a process that is gone is gone with it; what it left lying is removed.
    drop(lock);
    let stale = folder.path().join(".tables-stale");
    std::fs::create_dir(&stale).unwrap();
    measured(folder.path(), &[&BROKEN], true, 1);
    assert!(!stale.exists());
}

/// A difference without a reason would be a riddle; checks that must hold at every size cannot differ.
#[test]
fn every_check_that_can_differ_has_a_reason() {
    let nothing = Measured::default();
    let mut riddles = Vec::new();
    for figure in list() {
        let checks = (figure.rule)(&nothing).into_iter();
        let without = checks.filter(|check| check.reason.is_empty() && check.must != Must::Always);
        riddles.extend(without.map(|check| format!("{}: {}", figure.name, check.words)));
    }
    assert!(riddles.is_empty(), "{riddles:#?}");
}

#[test]
fn rules_hold_differ_and_break() {
    let folder = tempfile::tempdir().unwrap();
    let report = measured(folder.path(), &[&PAIR, &BROKEN, &FULL], true, 1);
    let verdicts: Vec<&str> = report.figures.iter().map(Record::verdict).collect();
    assert_eq!(verdicts, ["holds", "differs", "differs", "differs"]);
    assert_eq!(report.broken, ["test-c"]);
    let differs = &report.figures[1];
    assert_eq!(differs.reasons(), ["two is greater than one"]);
    assert!(!differs.is_broken());
    let words = report.to_string();
    assert!(words.contains("4 figures: 1 holds, 3 differ\n"), "{words}");
    assert!(
        words.contains("test-c: MUST HOLD AND DOES NOT: "),
        "{words}"
    );
    assert!(
        words.contains("  most likely because two is greater than one\n"),
        "{words}"
    );
    // What must hold at full size need not at quick size, and what is of full size is left out.
    assert_eq!(report.figures[3].checks.len(), 2);
    let full = measured(folder.path(), &[&FULL], false, 1);
    assert_eq!(full.figures[0].checks.len(), 3);
    assert_eq!(full.broken, ["test-d"]);
}

#[test]
fn an_error_leaves_what_is_finished_and_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new(folder.path(), 1).quick(true);
    let error = measure_all(&[&BROKEN, &FAILING, &FULL], &options, &()).unwrap_err();
    assert!(error.to_string().contains("no such column"), "{error}");
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            ".lock",
            "index.html",
            "index.md",
            "test-c.csv",
            "test-c.json",
            "test-c.svg"
        ]
    );
}

#[test]
fn the_numbers_read_back() {
    let folder = tempfile::tempdir().unwrap();
    measured(folder.path(), &[&PAIR], true, 1);
    let [csv, svg, _] = files(folder.path(), "test-a");
    let mut reader = csv::Reader::from_path(csv).unwrap();
    assert_eq!(reader.headers().unwrap(), HEAD.as_slice());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut rows = rows.iter();
    for panel in &curves().panels {
        for series in &panel.series {
            for point in &series.points {
                let row = rows.next().unwrap();
                assert_eq!(&row[0], "test-a");
                assert_eq!((&row[1], &row[2]), (&*panel.title, &*series.name));
                assert_eq!(&row[3], series.source.name());
                match &panel.kind {
                    Kind::Bars(names) => assert_eq!(row[4], names[point.x as usize]),
                    _ => assert_eq!(row[4].parse::<f64>().unwrap(), point.x),
                }
                assert_eq!(row[6].parse::<f64>().unwrap(), point.y);
                assert_eq!(row[8].parse().ok(), point.spread);
            }
        }
    }
    assert!(rows.next().is_none());
    let svg = std::fs::read_to_string(svg).unwrap();
    for words in [
        "k (records)",
        "time (s)",
        "Data: no data.",
        "holds, quick size",
        "bound",
        "second",
    ] {
        assert!(svg.contains(words), "{words}");
    }
}

/// Titles and claims are text: no page and no plot takes them for markup.
#[test]
fn pages_escape_what_they_show() {
    let record = {
        let folder = tempfile::tempdir().unwrap();
        measured(folder.path(), &[&PAIR], true, 1).figures.remove(1)
    };
    let html = crate::page::html(std::slice::from_ref(&record), &[]);
    assert!(
        html.contains("A &lt;test&gt; &amp; its &quot;title&quot; | bar"),
        "{html}"
    );
    assert!(!html.contains("<test>"), "{html}");
    for words in [
        "One lies below two.",
        "Three points were measured.",
        "differs",
        "two is greater than one",
        "no data",
    ] {
        assert!(html.contains(words), "{words}");
    }
    let markdown = crate::page::markdown(&[record], &[]);
    assert!(
        markdown.contains(
            "A &lt;test> &amp; its \"title\" \\| bar | differs | two is greater than one |"
        ),
        "{markdown}"
    );
    assert!(markdown.contains("](experiments/test-b.svg)"), "{markdown}");
}

#[test]
fn a_check_of_nothing_fails() {
    let measured = curves();
    let nothing = measured.first("zero");
    let one = measured.first("one");
    for check in [
        Check::below(&nothing, &one),
        Check::below(&one, &nothing),
        Check::equal(&nothing, &nothing, 1.0),
        Check::rises(&nothing, 0.0),
        Check::falls(&nothing, 0.0),
        Check::between(&nothing, f64::NEG_INFINITY, f64::INFINITY),
    ] {
        assert!(!check.holds, "{}", check.words);
    }
    // A figure without a check does not hold.
    let empty = figure("test-f", |_| Vec::new());
    let folder = tempfile::tempdir().unwrap();
    let settings = Record::new(&empty, &measured, 0.0, settings(folder.path()));
    assert!(!settings.holds);
}

fn settings(folder: &Path) -> crate::record::Settings {
    measured(folder, &[&BROKEN], true, 1)
        .figures
        .remove(0)
        .settings
}

#[test]
fn trends_and_bounds_decide_both_ways() {
    let curve = |values: &[f64]| {
        let points = values.iter().zip(1..).map(|(y, x)| (f64::from(x), *y));
        let panel = Panel::lines("p", Axis::new("x", ""), Axis::new("y", ""))
            .with(Series::new("s", points));
        Measured::new("", vec![panel]).first("s")
    };
    let holds = |check: Check| check.holds;
    assert!(holds(Check::rises(&curve(&[1.0, 2.0, 2.0, 3.0]), 0.0)));
    assert!(!holds(Check::rises(&curve(&[1.0, 2.0, 1.9, 3.0]), 0.0)));
    assert!(holds(Check::rises(&curve(&[1.0, 2.0, 1.9, 3.0]), 0.05)));
    assert!(
        !holds(Check::rises(&curve(&[2.0, 2.0]), 0.5)),
        "flat is no rise"
    );
    assert!(holds(Check::falls(&curve(&[3.0, 3.0, 1.0]), 0.0)));
    assert!(!holds(Check::falls(&curve(&[1.0, 2.0]), 0.0)));
    assert!(holds(Check::between(&curve(&[1.0, 2.0]), 1.0, 2.0)));
    assert!(!holds(Check::between(&curve(&[1.0, 2.1]), 1.0, 2.0)));
    assert!(holds(Check::equal(
        &curve(&[1.0, 2.0]),
        &curve(&[1.0, 2.0]),
        0.0
    )));
    assert!(!holds(Check::equal(
        &curve(&[1.0, 2.0]),
        &curve(&[1.0, 2.1]),
        0.01
    )));
    assert!(!holds(Check::below(
        &curve(&[1.0, 2.0]),
        &curve(&[2.0, 2.0])
    )));
    assert!(holds(Check::not_above(
        &curve(&[1.0, 2.0]),
        &curve(&[2.0, 2.0])
    )));
    assert_eq!(curve(&[3.0, 1.0, 1.0]).lowest_at(), Some(2.0));
}

#[test]
fn lines_through_points_by_hand() {
    let curve = |values: &[f64], error: f64| {
        let points = values.iter().zip(0..);
        let points = points.map(|(y, x)| (f64::from(x), *y, error));
        let panel = Panel::lines("p", Axis::new("x", ""), Axis::new("y", ""))
            .with(Series::with_errors("s", points));
        Measured::new("", vec![panel]).first("s")
    };
    let falling = curve(&[3.0, 1.0, -1.0], 0.1);
    assert_eq!(falling.line(), (-2.0, 3.0));
    assert!((falling.squared_correlation() - 1.0).abs() < 1e-12);
    assert!(curve(&[0.0, 1.0, 0.0], 0.0).squared_correlation() < 1e-12);
    assert!(Check::falls_beyond_errors(&falling).holds);
    // The slope is -0.1, its standard error 0.1 / sqrt(2) or 0.01 / sqrt(2).
    assert!(!Check::falls_beyond_errors(&curve(&[1.0, 0.9, 0.8], 0.1)).holds);
    assert!(Check::falls_beyond_errors(&curve(&[1.0, 0.9, 0.8], 0.01)).holds);
    assert!(!Check::falls_beyond_errors(&curve(&[], 0.0)).holds);
    let powers = curve(&[1.0, 2.0, 4.0, 8.0], 0.0);
    assert!(powers.logarithm().squared_correlation() > powers.squared_correlation());
    assert_eq!(powers.within(1.0..=2.0).bounds(), (2.0, 4.0));
    assert_eq!(powers.mean_ratio(&curve(&[2.0, 4.0, 8.0, 16.0], 0.0)), 0.5);
}

#[test]
fn every_name_is_there_once_and_a_bad_name_has_a_near_one() {
    let names: Vec<&str> = list().iter().map(|figure| figure.name).collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len());
    for figure in list() {
        assert!(
            !figure.title.is_empty() && figure.claim.ends_with('.'),
            "{}",
            figure.name
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let refused = |name: &str| {
        let options = Options::new(&out, 1);
        run(&[String::from("jx09-fig4"), name.to_owned()], &options, &())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused("mpriv-fg9"),
        "there is no figure `mpriv-fg9`\nhint: did you mean `mpriv-fig9`?"
    );
    assert!(refused("zzz").ends_with("hint: hedgerow experiment list names all figures"));
    assert!(!out.exists(), "nothing is written for a bad name");
}

/// The 34 figures and tables of the papers' evaluations, and our own.
#[test]
fn the_list_has_every_figure_of_the_papers() {
    let numbered = |paper: &str, from: u32, to: u32| -> Vec<String> {
        (from..=to)
            .map(|number| format!("{paper}-fig{number}"))
            .collect()
    };
    let of_d2pt = ["a", "b", "c"].map(|letter| format!("d2pt-fig4{letter}"));
    let mut expected = [
        numbered("jx08", 5, 16),
        numbered("jx09", 4, 9),
        numbered("tg12", 3, 8),
        of_d2pt.to_vec(),
        numbered("mpriv", 6, 12),
    ]
    .concat();
    assert_eq!(expected.len(), 34);
    expected.push(String::from("latency"));
    let names: Vec<&str> = list().iter().map(|figure| figure.name).collect();
    assert_eq!(names, expected);
    for figure in list() {
        let paper = figure.name.split('-').next().unwrap_or_default();
        let is_of_paper = figure.paper.name().to_lowercase() == paper;
        assert!(
            is_of_paper || figure.paper == Paper::Ours,
            "{}",
            figure.name
        );
    }
}

#[test]
fn tables_that_should_be_there_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = DataFolder::open(Some(folder.path()), folder.path())
        .unwrap_err()
        .to_string();
    assert!(error.contains("adult9/adult.csv: "), "{error}");
    assert!(error.contains("without --data"), "{error}");
}

/// A folder with an Adult of these lines, and two other tables without a line.
fn folder_of(adult: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let file = folder.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write("adult9/adult.csv", adult);
    write("adult14/adult14.csv", "age\n1\n");
    write("census7/census7.csv", "age\n1\n");
    for (name, values) in [
        ("age", "30;*\n31;*\n"),
        ("education", "Masters;*\n"),
        ("marital-status", "Single;*\n"),
        ("native-country", "Peru;*\n"),
        ("occupation", "Sales;*\n"),
        ("race", "White;*\n"),
        ("salary-class", "<=50K;*\n"),
        ("sex", "Male;*\n"),
        ("workclass", "Private;*\n"),
    ] {
        write(&format!("adult9/adult_hierarchy_{name}.csv"), values);
    }
    folder
}

const ADULT_HEAD: &str =
    "sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class\n";

#[test]
fn a_missing_column_and_a_bad_value_are_named_with_their_file() {
    let rest = "White,Single,Masters,Peru,Private,Sales,<=50K\n";
    let good = format!("{ADULT_HEAD}Male,30,{rest}");
    let place = tempfile::tempdir().unwrap();
    let open = |folder: &Path| DataFolder::open(Some(folder), place.path()).unwrap();
    let folder = folder_of(&good);
    assert_eq!(open(folder.path()).adult().unwrap().rows(), 1);
    let error = open(folder.path()).adult14().unwrap_err().to_string();
    assert!(
        error.contains("adult14.csv: there is no column `workclass`"),
        "{error}"
    );

    let folder = folder_of(&format!("{good}Male,31,{rest}Male,thirty,{rest}"));
    let error = open(folder.path()).adult().unwrap_err().to_string();
    assert!(error.contains("adult.csv:4"), "{error}");
    assert!(error.contains("thirty"), "{error}");
}

#[test]
fn another_hierarchy_is_other_data() {
    let place = tempfile::tempdir().unwrap();
    let folder = folder_of(ADULT_HEAD);
    let identity = || {
        let data = DataFolder::open(Some(folder.path()), place.path()).unwrap();
        data.identity().to_owned()
    };
    let before = identity();
    assert_eq!(before, identity());
    let file = folder.path().join("adult9/adult_hierarchy_race.csv");
    std::fs::write(file, "White;Any;*\n").unwrap();
    assert_ne!(before, identity());
}

/// Every table, real and synthetic, reads under the study that figures make of it.
#[test]
fn tables_read_under_their_studies() {
    let real = hedgerow_testing::real_tables();
    for folder in [None, real] {
        let place = tempfile::tempdir().unwrap();
        let data = DataFolder::open(folder.as_deref(), place.path()).unwrap();
        let is_real = folder.is_some();
        let adult = data.adult().unwrap().first(500);
        for (quasi, sensitive) in [
            (crate::data::QI8, "salary-class"),
            (crate::data::OCC, "occupation"),
        ] {
            let study = adult
                .study("s")
                .quasi(&quasi)
                .sensitive(sensitive)
                .require("k = 2")
                .build()
                .unwrap();
            assert_eq!(adult.coded(&study).unwrap().rows(), 500);
        }
        let census = data.census().unwrap().sample(500, 3);
        let study = census
            .study("s")
            .quasi(&crate::data::CENSUS7)
            .require("k = 2")
            .build()
            .unwrap();
        assert_eq!(census.coded(&study).unwrap().rows(), 500);
        let adult14 = data.adult14().unwrap();
        assert_eq!(adult14.rows(), 45_222);
        assert_eq!(adult14.has("relationship"), is_real);
        let words = adult14.words();
        assert_eq!(
            words.contains("UCI Machine Learning Repository"),
            is_real,
            "{words}"
        );
        assert_eq!(words.contains("synthetic census"), !is_real, "{words}");
        if is_real {
            let numbers = [
                "fnlwgt",
                "education-num",
                "capital-gain",
                "capital-loss",
                "hours-per-week",
                "relationship",
            ];
            let study = adult14
                .study("s")
                .quasi(&numbers)
                .require("k = 2")
                .build()
                .unwrap();
            assert_eq!(adult14.coded(&study).unwrap().rows(), 45_222);
        }
    }
}
