//! Choices of a study side by side: what is said of each is counted again from its release, by code that shares
//! nothing with the run.

mod recounted;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hedgerow::data::files::Progress;
use hedgerow::{
    Choice, Comparison, Observer, Options, Row, Study, Table, Tried, Watch, Work, anonymize,
    compare,
};

use recounted::see_recounted;

const ZIPS: [&str; 6] = ["101", "102", "111", "201", "202", "211"];
const DISEASES: [&str; 4] = ["asthma", "flu", "migraine", "ulcer"];

/// More time than any choice takes here.
const LONG: Duration = Duration::from_secs(3_600);

/// Patients of three sites.
fn rows(count: u64) -> String {
    let draw = |row: u64, what: u8, below: u64| {
        let hash = blake3::hash(&[&row.to_le_bytes()[..], &[what]].concat());
        u64::from(u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]])) % below
    };
    let row = |row: u64| {
        format!(
            "{},{},{},{},site-{}\n",
            draw(row, 0, 100),
            ZIPS[draw(row, 1, 6) as usize],
            ["f", "m"][draw(row, 2, 2) as usize],
            DISEASES[draw(row, 3, 4) as usize],
            draw(row, 4, 3)
        )
    };
    let rows: String = (0..count).map(row).collect();
    format!("age,zip,sex,disease,site\n{rows}")
}

/// The same rows without their sites.
fn alone(count: u64) -> Table {
    let text = rows(count);
    let lines = text.lines().map(|line| line.rsplit_once(',').unwrap().0);
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    Table::csv("patients.csv", text.into_bytes())
}

fn pooled(count: u64) -> Table {
    Table::csv("patients.csv", rows(count).into_bytes())
}

/// A study in a folder, with the lines of its `[algorithm]`.
fn text(require: &str, algorithm: &str) -> String {
    format!(
        "[study]\nname = \"patients\"\npartition = \"horizontal\"\n\
        [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\nwidths = [10, 50]\n\
        [[attribute]]\nname = \"zip\"\nrole = \"quasi\"\ntaxonomy = \"zip.csv\"\n\
        [[attribute]]\nname = \"sex\"\nrole = \"quasi\"\nvalues = [\"f\", \"m\"]\n\
        [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"asthma\", \"flu\", \"migraine\", \"ulcer\"]\n\
        [require]\n{require}\n{algorithm}"
    )
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let leaves = ZIPS.map(|zip| format!("{zip};{}*;{}**;*\n", &zip[..2], &zip[..1]));
    std::fs::write(folder.path().join("zip.csv"), leaves.concat()).unwrap();
    folder
}

fn names(found: &Comparison) -> Vec<String> {
    let mut names: Vec<String> = found.choices.iter().map(|row| row.choice.words()).collect();
    names.sort_unstable();
    names
}

#[test]
fn every_number_is_that_of_the_release_which_its_lines_make() {
    let folder = folder();
    let require = "k = 7\nl = 2";
    let own = "# Ours.\n[algorithm]\nname = \"clustering\" # by us\nloss = \"lm\"\neffort = 2\n";
    let study = Study::parse(text(require, own), folder.path()).unwrap();
    let table = alone(400);
    let found = compare(&study, &table, &Options::new().time(LONG)).unwrap();
    assert_eq!(
        names(&found),
        [
            "clustering, node",
            "clustering, range",
            "clustering, range, covers box",
            "clustering, set",
            "mondrian, node",
            "mondrian, node, covers box",
            "mondrian, range",
            "mondrian, range, covers box",
            "mondrian, set",
        ]
    );
    // What is left of cuts is an interval, whatever occurs there.
    let range = found
        .choices
        .iter()
        .find(|row| row.choice.words() == "mondrian, range, covers box");
    assert_eq!(range.unwrap().choice.same, ["set"]);
    let own = found.choices.iter().find(|row| row.choice.own).unwrap();
    assert_eq!(
        own.choice.lines,
        "[algorithm]\nname = \"clustering\"\nloss = \"lm\"\neffort = 2\n"
    );
    // The study's other keys stay with an algorithm that knows them.
    for row in &found.choices {
        let keeps = row.choice.lines.contains("loss = \"lm\"\neffort = 2\n");
        assert_eq!(
            keeps,
            row.choice.algorithm == "clustering",
            "{}",
            row.choice.lines
        );
    }
    see_recounted(&found, require, &table, &Options::new());
    let losses: Vec<f64> = found
        .choices
        .iter()
        .map(|row| row.measured().unwrap().loss)
        .collect();
    assert!(losses.is_sorted(), "{losses:?}");
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["choices"][0]["outcome"], "measured");
    assert_eq!(json["queries"]["count"], 1_000);
    let svg = found.svg().unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"),
        "{svg}"
    );
    for name in names(&found) {
        assert!(svg.contains(&name), "{name}");
    }
    // Another seed, other clusters, the same cuts.
    let other = compare(&study, &table, &Options::new().time(LONG).seed(9)).unwrap();
    for row in &found.choices {
        let again = other
            .choices
            .iter()
            .find(|other| other.choice == row.choice)
            .unwrap();
        let [one, two] = [row, again].map(|row| row.measured().unwrap());
        let is_same = (one.loss, one.query_error) == (two.loss, two.query_error);
        assert!(
            is_same || row.choice.algorithm == "clustering",
            "{}",
            row.choice.words()
        );
    }
}

#[test]
fn sites_in_one_table_that_withstand_each_other() {
    let folder = folder();
    let require = "k = 6\nm = 1";
    let study = Study::parse(text(require, ""), folder.path()).unwrap();
    let options = Options::new().provider_column("site");
    let table = pooled(300);
    let found = compare(&study, &table, &options.clone().time(LONG)).unwrap();
    // Every choice is there, by itself or beside one with the same release.
    let all = found.choices.iter().flat_map(Row::choices);
    let all: Vec<String> = all.map(Choice::words).collect();
    for name in ["provider-aware, set", "mondrian, set", "clustering, node"] {
        assert!(all.iter().any(|one| one == name), "{found}");
    }
    assert_eq!(all.len(), 14, "{found}");
    see_recounted(&found, require, &table, &options);
    assert!(
        found
            .to_string()
            .contains("the sites together would write the same releases")
    );
    let error = compare(&study, &alone(300), &Options::new())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("m = 1 speaks of sites") && error.contains("--provider-column"),
        "{error}"
    );
}

#[test]
fn nothing_is_lost_where_nothing_is_required() {
    let folder = folder();
    let study = Study::parse(text("k = 1", ""), folder.path()).unwrap();
    let found = compare(&study, &alone(200), &Options::new().time(LONG)).unwrap();
    // All releases are the table, and the study's own choice stands for them.
    let recommended = found.recommended.as_ref().unwrap();
    let row = &found.choices[recommended.row];
    let measured = row.measured().unwrap();
    let error = measured.query_error.unwrap();
    let found_here = (measured.loss, error.mean, error.queries);
    assert_eq!(found_here, (0.0, 0.0, 1_000));
    assert!(row.choice.own, "{found}");
    for name in ["mondrian, set", "clustering, node", "clustering, range"] {
        assert!(row.equal.iter().any(|one| one.words() == name), "{found}");
    }
    assert!(
        found.to_string().contains("; the study says so itself"),
        "{found}"
    );
}

#[test]
fn what_writes_the_same_is_one_choice_and_what_says_little_is_none() {
    let study = |range: &str| {
        let text = format!(
            "[study]\nname = \"incomes\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"income\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = {range}\n[require]\nk = 5\n[algorithm]\nrecode = \"range\"\n"
        );
        Study::parse(text, ".").unwrap()
    };
    let rows: String = (0..60).map(|row| format!("{}\n", row * 7 % 90)).collect();
    let table = Table::csv("incomes.csv", format!("income\n{rows}").into_bytes());
    let found = compare(&study("[0, 99]"), &table, &Options::new().time(LONG)).unwrap();
    // Numbers without widths have no nodes. Nothing asks about two columns where there is one.
    let own = found.choices.iter().find(|row| row.choice.own).unwrap();
    assert_eq!(
        (own.choice.recode, &own.choice.same[..]),
        ("range", &["node"][..])
    );
    assert_eq!(found.queries.attributes, 1);
    assert_eq!(found.choices.len(), 6, "{found}");
    let found = compare(&study("[0, 2000]"), &table, &Options::new().time(LONG)).unwrap();
    let unfit = found
        .choices
        .iter()
        .filter(|row| row.choice.recode == "set");
    let unfit: Vec<&Tried> = unfit.map(|row| &row.tried).collect();
    let reason = String::from(
        "`income` has 2,001 values, and sets of more than 1,000 say little to readers",
    );
    assert_eq!(unfit, vec![&Tried::NotRun { reason }; 2]);
}

#[test]
fn what_a_study_forbids_is_said_in_its_row() {
    let folder = folder();
    let hidden = "[algorithm]\nname = \"clustering\"\ncounts = \"hidden\"\n";
    let study = Study::parse(text("k = 5\nl = 2", hidden), folder.path()).unwrap();
    let found = compare(&study, &alone(120), &Options::new().time(LONG)).unwrap();
    let refused: Vec<&Row> = found
        .choices
        .iter()
        .filter(|row| matches!(row.tried, Tried::Refused { .. }))
        .collect();
    // One line for all cuts that are written as what occurs, one for those that are not.
    assert_eq!(refused.len(), 2, "{found}");
    for row in refused {
        assert_eq!(row.choice.algorithm, "mondrian");
        assert_eq!(
            (row.choice.recode, &row.choice.same[..]),
            ("node", &["range", "set"][..])
        );
    }
    assert!(
        found.to_string().contains(
            "mondrian, node or range or set: no release: `algorithm.counts` is \"hidden\""
        ),
        "{found}"
    );
    assert_eq!(
        found
            .choices
            .iter()
            .filter(|row| row.measured().is_some())
            .count(),
        4
    );
}

#[test]
fn a_requirement_that_no_choice_meets_is_an_error() {
    let folder = folder();
    let study = Study::parse(text("k = 50", ""), folder.path()).unwrap();
    let own = anonymize(&study, &alone(40), &Options::new())
        .unwrap_err()
        .to_string();
    let error = compare(&study, &alone(40), &Options::new()).unwrap_err();
    assert_eq!(error.to_string(), own);
}

#[test]
fn the_time_is_shared_and_what_did_not_run_is_named() {
    let folder = folder();
    let endless = "[algorithm]\nname = \"clustering\"\neffort = 10000\n";
    let study = Study::parse(text("k = 5", endless), folder.path()).unwrap();
    let began = Instant::now();
    let time = Duration::from_secs(12);
    let found = compare(&study, &alone(1_500), &Options::new().time(time)).unwrap();
    // What a search does at its end is not counted; machines under test are slow.
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
    let mut ended = 0;
    for row in found
        .choices
        .iter()
        .filter(|row| row.choice.algorithm == "clustering")
    {
        match &row.tried {
            Tried::Measured(measured) => {
                assert!(measured.stopped && measured.holds, "{found}");
                ended += 1;
            }
            tried => assert!(matches!(tried, Tried::NotRun { .. }), "{tried:?}"),
        }
    }
    assert!(ended > 0, "{found}");
    assert!(found.to_string().contains("ended early"), "{found}");

    let found = compare(
        &study,
        &alone(50),
        &Options::new().time(Duration::from_nanos(1)),
    )
    .unwrap();
    let reason = String::from("the time was over before");
    assert!(found.choices.iter().all(|row| row.tried
        == Tried::NotRun {
            reason: reason.clone()
        }));
    assert!(!found.holds() && found.recommended.is_none());
    assert!(
        found
            .to_string()
            .contains("clustering, node or range or set (the study's own): not run"),
        "{found}"
    );
}

#[test]
fn steps_that_no_time_ends_are_not_begun_where_they_take_longer() {
    let folder = folder();
    let study = Study::parse(text("k = 20", ""), folder.path()).unwrap();
    let options = Options::new().provider_column("site");
    let options = options.time(Duration::from_secs(9));
    let found = compare(&study, &pooled(4_000), &options).unwrap();
    let clusters = found.choices.iter();
    let clusters = clusters.filter(|row| row.choice.algorithm == "clustering");
    for row in clusters {
        let Tried::NotRun { reason } = &row.tried else {
            panic!("{found}");
        };
        // On a machine that is busy enough, cuts alone take all the time.
        let is_told = reason.starts_with("takes about 10 s in steps that no time ends, and ");
        assert!(is_told || reason == "the time was over before", "{reason}");
    }
}

/// Ends a comparison when so many choices have begun.
struct Impatient {
    most: usize,
    begun: Arc<AtomicUsize>,
}

struct Counting(usize, Arc<AtomicUsize>);

impl Observer for Impatient {
    fn begin(&self, work: Work<'_>) -> Box<dyn Watch> {
        match work {
            Work::Comparing => Box::new(Counting(self.most, Arc::clone(&self.begun))),
            _ => Box::new(()),
        }
    }
}

impl Progress for Counting {
    fn advance(&self, _amount: u64) {}
}

impl Watch for Counting {
    fn begins(&self, choice: &str) {
        assert!(choice.contains(", "), "{choice}");
        self.1.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}

/// Enough for a search and for all cuts of a small table.
const SHORT: Duration = Duration::from_secs(10);

#[test]
fn a_person_ends_a_comparison() {
    let folder = folder();
    let endless = "[algorithm]\nname = \"clustering\"\neffort = 10000\n";
    let study = Study::parse(text("k = 5", endless), folder.path()).unwrap();
    for (most, measured) in [(1, 1), (6, 6)] {
        let impatient = Impatient {
            most,
            begun: Arc::default(),
        };
        let options = Options::new().time(SHORT).observer(impatient);
        let found = compare(&study, &alone(300), &options).unwrap();
        let rows = found.choices.iter().filter(|row| row.measured().is_some());
        assert_eq!(rows.count(), measured, "{found}");
        assert!(
            found
                .to_string()
                .contains("not run: somebody ended the comparison before"),
            "{found}"
        );
        // The study's own search goes first, and ends when it is told to, or after half of the time.
        let own = found.choices.iter().find(|row| row.choice.own).unwrap();
        assert!(own.measured().is_some_and(|own| own.stopped));
    }
}

#[test]
fn studies_of_several_sites_and_studies_that_are_not_compared() {
    let folder = folder();
    let sites = ["north", "south", "east"].map(|site| format!("[[site]]\nname = \"{site}\"\n"));
    let study = text("k = 5\nm = 0", &sites.concat());
    let study = Study::parse(study, folder.path()).unwrap();
    let found = compare(&study, &alone(100), &Options::new().time(LONG)).unwrap();
    let note =
        "the study names 3 sites, and these are the losses of one party with all of this table";
    assert!(found.to_string().contains(note), "{found}");

    let vertical = text("k = 5", "").replace("horizontal", "vertical");
    let vertical = vertical.replace(
        "[[attribute]]\nname = \"age\"",
        "[[attribute]]\nname = \"person\"\nrole = \"identifier\"\n[[attribute]]\nname = \"age\"",
    );
    let vertical = Study::parse(vertical, folder.path()).unwrap();
    let error = compare(&vertical, &alone(100), &Options::new())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("one party cannot compare for them\nhint: change [algorithm]"),
        "{error}"
    );
    let error = compare(&study, &alone(100), &Options::new().out("x"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("a comparison leaves no release"),
        "{error}"
    );
}

#[test]
fn a_clustering_says_what_cuts_would_have_lost() {
    let folder = folder();
    let clustering = "[algorithm]\nname = \"clustering\"\nrecode = \"range\"\n";
    let study = Study::parse(text("k = 5", clustering), folder.path()).unwrap();
    let table = alone(400);
    let told = anonymize(&study, &table, &Options::new().beside())
        .unwrap()
        .summary;
    let instead = told.instead.unwrap();
    let cut = clustering.replace("clustering", "mondrian");
    let cut = Study::parse(text("k = 5", &cut), folder.path()).unwrap();
    let summary = anonymize(&cut, &table, &Options::new().beside())
        .unwrap()
        .summary;
    assert_eq!(
        (instead.algorithm, instead.ncp),
        ("mondrian", summary.utility.ncp)
    );
    assert!(
        told.to_string()
            .contains("cut top-down (name = \"mondrian\"), the same records would lose "),
        "{told}"
    );
    // Cuts do not say what clusters would lose, which takes long; who does not ask is told nothing.
    assert_eq!(summary.instead, None);
    assert_eq!(
        anonymize(&study, &table, &Options::new())
            .unwrap()
            .summary
            .instead,
        None
    );
}

/// Numbers without levels are written as tight ranges where a study says nodes, which a study of boxes does not
/// write: rows of tight ranges lose less, and are not recommended.
#[test]
fn what_tells_more_of_one_attribute_is_not_recommended() {
    let text = "[study]\nname = \"box\"\npartition = \"horizontal\"\n\
        [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\n\
        [[attribute]]\nname = \"income\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 19999]\n\
        [require]\nk = 5\n[algorithm]\nname = \"mondrian\"\ncovers = \"box\"\n";
    let study = Study::parse(text, ".").unwrap();
    let rows = (0..200).map(|row| format!("{},{}\n", row * row % 97, row * 7_919 % 20_000));
    let rows = format!("age,income\n{}", rows.collect::<String>());
    let table = Table::csv("box.csv", rows.into_bytes());
    let found = compare(&study, &table, &Options::new().time(LONG)).unwrap();
    let recommended = &found.choices[found.recommended.as_ref().unwrap().row];
    assert_eq!(recommended.choice.covers, Some("box"), "{found}");
    let loss = recommended.measured().unwrap().loss;
    let losses = found.choices.iter().filter_map(Row::measured);
    assert!(
        losses.map(|other| other.loss).any(|other| other < loss),
        "{found}"
    );
}

/// Where two choices write this table alike, the lines are those of the one that tells less of any table. Clusters
/// are not found in counted rows, and would write another one.
#[test]
fn of_choices_with_the_same_release_the_one_that_tells_least_is_recommended() {
    let text = "[study]\nname = \"ages\"\npartition = \"horizontal\"\nrows = \"counted\"\n\
        [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [10, 29]\nwidths = [5, 10]\n\
        [require]\nk = 8\n[algorithm]\nname = \"mondrian\"\nrecode = \"node\"\ncovers = \"box\"\n";
    let study = Study::parse(text, ".").unwrap();
    let rows: String = (0..120).map(|row| format!("{}\n", 10 + row % 20)).collect();
    let table = Table::csv("ages.csv", format!("age\n{rows}").into_bytes());
    let found = compare(&study, &table, &Options::new().time(LONG)).unwrap();
    let recommended = found.recommended.as_ref().unwrap();
    let row = &found.choices[recommended.row];
    assert!(
        row.equal
            .iter()
            .any(|twin| twin.words() == "mondrian, range"),
        "{found}"
    );
    assert_eq!(row.choice.words(), "mondrian, range, covers box");
    assert_eq!(recommended.lines, row.choice.lines);
    assert!(recommended.lines.contains("covers = \"box\""), "{found}");
}

/// Several releases of one table tell more together than each alone, so that those on trial are for nobody else.
#[cfg(unix)]
#[test]
fn a_release_without_a_folder_is_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let study = Study::parse(text("k = 5", ""), folder.path()).unwrap();
    let outcome = anonymize(&study, &alone(60), &Options::new()).unwrap();
    let around = outcome.release.path().parent().unwrap();
    let mode = around.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "{}", around.display());
}
