//! Synthetic tables as a person gets them: files that read, rows that repeat, structure that is
//! there.

use std::path::Path;

use hedgerow_data::files::{Others, Progress, read_table, read_text};
use hedgerow_data::synthetic::{
    Kind, Plan, SITE_COLUMN, SyntheticError, TableFormat, Written, generate, study_text,
};
use hedgerow_data::{Study, Table, Taxonomy, TextTable};
use tempfile::TempDir;

fn plan(kind: Kind, rows: u64, sites: usize) -> Plan {
    Plan {
        kind,
        rows,
        sites,
        seed: 7,
        format: TableFormat::Csv,
        pooled: false,
        parts: None,
    }
}

fn make(plan: &Plan) -> (TempDir, Written) {
    let folder = tempfile::tempdir().unwrap();
    let written = generate(plan, &folder.path().join("new"), &()).unwrap();
    (folder, written)
}

/// The tables of a plan, one for each site.
fn tables(plan: &Plan) -> Vec<Table> {
    let (_folder, written) = make(plan);
    let study = Study::open(&written.study).unwrap();
    let paths = written.tables.iter().map(|(_, path, _)| path);
    paths
        .map(|path| read_table(path, &study.schema, &Others::Refuse, &()).unwrap())
        .collect()
}

/// A column's codes by its attribute's name.
fn codes(table: &Table, name: &str) -> Vec<usize> {
    let position = table.schema().position(name).unwrap();
    let codes = table.codes(position).unwrap().iter();
    codes.map(|code| code as usize).collect()
}

fn taxonomy<'a>(table: &'a Table, name: &str) -> &'a Taxonomy {
    let position = table.schema().position(name).unwrap();
    table.schema().attributes()[position]
        .domain
        .taxonomy()
        .unwrap()
}

fn counts(codes: &[usize]) -> Vec<f64> {
    let mut counts = vec![0.0; codes.iter().max().unwrap() + 1];
    codes.iter().for_each(|code| counts[*code] += 1.0);
    counts
}

/// Bits that one column tells about another.
fn mutual_information(one: &[usize], other: &[usize]) -> f64 {
    let width = other.iter().max().unwrap() + 1;
    let joint: Vec<usize> = one.iter().zip(other).map(|(a, b)| a * width + b).collect();
    let entropy = |codes: &[usize]| {
        let total = codes.len() as f64;
        let shares = counts(codes).into_iter().filter(|count| *count > 0.0);
        -shares
            .map(|count| count / total * (count / total).log2())
            .sum::<f64>()
    };
    entropy(one) + entropy(other) - entropy(&joint)
}

fn mean(values: impl Iterator<Item = usize>) -> f64 {
    let (sum, count) = values.fold((0, 0), |(sum, count), value| (sum + value, count + 1));
    sum as f64 / f64::from(count)
}

/// The chapter, or whatever stands right below the root, of each code.
fn top(tree: &Taxonomy, codes: &[usize]) -> Vec<usize> {
    let tops: Vec<_> = tree.children(tree.root()).collect();
    let of = |code: &usize| {
        let leaf = tree.leaf(*code as u32);
        tops.iter()
            .position(|node| tree.is_ancestor(*node, leaf))
            .unwrap()
    };
    codes.iter().map(of).collect()
}

#[test]
fn study_and_tables_read_in_every_format() {
    for kind in [Kind::Hospital, Kind::Census] {
        let mut first: Option<Vec<Table>> = None;
        for format in [
            TableFormat::Csv,
            TableFormat::CsvGz,
            TableFormat::CsvZst,
            TableFormat::Parquet,
        ] {
            let plan = Plan {
                format,
                ..plan(kind, 2000, 3)
            };
            let (folder, written) = make(&plan);
            assert_eq!(
                std::fs::read_to_string(&written.study).unwrap(),
                study_text(kind)
            );
            let study = Study::open(&written.study).unwrap();
            assert!(study.sites.is_empty());
            let mut tables = Vec::new();
            for (site, path, rows) in &written.tables {
                let name = format!("{site}.{}", format.extension());
                assert_eq!(path.file_name().unwrap().to_str().unwrap(), name);
                let table = read_table(path, &study.schema, &Others::Refuse, &()).unwrap();
                assert_eq!(table.rows() as u64, *rows);
                tables.push(table);
            }
            assert_eq!(tables.iter().map(Table::rows).sum::<usize>(), 2000);
            assert_eq!(written.tables[0].0, "north");
            for path in &written.taxonomies {
                let text = std::fs::read_to_string(path).unwrap();
                assert_eq!(Taxonomy::from_rows(&text, "t").unwrap().to_rows(), text);
            }
            // Tables, study and the folder of taxonomies; nothing temporary.
            let entries = std::fs::read_dir(folder.path().join("new")).unwrap();
            assert_eq!(entries.count(), 5);
            match &first {
                None => first = Some(tables),
                Some(first) => assert_eq!(*first, tables, "{format:?}"),
            }
        }
    }
}

/// The bytes of all tables of a plan, made on so many threads.
fn bytes(plan: &Plan, threads: usize) -> Vec<Vec<u8>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let (_folder, written) = pool.install(|| make(plan));
    let paths = written.tables.iter();
    paths
        .map(|(_, path, _)| std::fs::read(path).unwrap())
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    for kind in [Kind::Hospital, Kind::Census] {
        for format in [TableFormat::Csv, TableFormat::Parquet] {
            let plan = Plan {
                format,
                ..plan(kind, 150_000, 2)
            };
            let once = bytes(&plan, 1);
            assert!(once == bytes(&plan, 4), "{kind:?} {format:?}");
            let other = bytes(&Plan { seed: 8, ..plan }, 2);
            assert!(once[0] != other[0] && once[1] != other[1]);
        }
    }
}

/// A change here changes every table that people have made from a seed: say so in the changelog.
#[test]
fn the_first_rows_of_a_seed_stay_what_they_are() {
    for (kind, known) in [(Kind::Hospital, HOSPITAL_ROWS), (Kind::Census, CENSUS_ROWS)] {
        let first = String::from_utf8(bytes(&plan(kind, 5, 2), 1).concat()).unwrap();
        assert_eq!(first, known);
    }
}

const HOSPITAL_ROWS: &str = "\
patient,age,sex,zip,admission,diagnosis,treatment,cost
PC5HS4SD032,37,male,41325,2024-02-28,K50 Crohn disease,fluids,2K to 5K
PQDWSG5GYRF,75,male,10330,2024-10-28,I48 atrial fibrillation,pacemaker,5K to 10K
P8HBN113EG2,93,female,11275,2025-01-02,J44 chronic obstructive lung disease,inhalation,5K to 10K
patient,age,sex,zip,admission,diagnosis,treatment,cost
PDBB6Q8FNCH,79,male,42719,2024-10-20,G45 passing stroke,observation,2K to 5K
PNBMSPBQP89,60,male,30049,2025-07-29,R55 faint,pain control,2K to 5K
";
const CENSUS_ROWS: &str = "\
sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class
male,42,white,divorced,apprenticeship,Canada,own account,technician,20K to 35K
female,30,white,married,upper secondary,Canada,company,clerk,20K to 35K
female,28,asian,married,bachelor,India,company,nurse,35K to 50K
sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class
female,19,mixed,single,some college,Canada,company,nanny,under 20K
female,65,asian,married,upper secondary,China,company,receptionist,under 20K
";

#[test]
fn a_longer_table_begins_with_the_same_blocks() {
    let short = tables(&plan(Kind::Hospital, 20_000, 1));
    let long = tables(&plan(Kind::Hospital, 40_000, 1));
    for name in ["age", "zip", "diagnosis", "cost"] {
        let (short, long) = (codes(&short[0], name), codes(&long[0], name));
        assert_eq!(short[..], long[..20_000]);
    }
}

#[test]
fn a_pooled_table_is_the_site_tables_one_after_the_other() {
    for kind in [Kind::Hospital, Kind::Census] {
        let apart = plan(kind, 50_000, 3);
        let (_folder, sites) = make(&apart);
        let (_other, pooled) = make(&Plan {
            pooled: true,
            ..apart
        });
        let [(name, path, rows)] = pooled.tables.as_slice() else {
            panic!("one table");
        };
        assert_eq!((name.as_str(), *rows), (kind.name(), 50_000));
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        assert!(lines.next().unwrap().ends_with(&format!(",{SITE_COLUMN}")));
        for (site, path, _) in &sites.tables {
            let table = std::fs::read_to_string(path).unwrap();
            for line in table.lines().skip(1) {
                assert_eq!(lines.next().unwrap(), format!("{line},{site}"));
            }
        }
        assert_eq!(lines.next(), None);
        let study = Study::open(&pooled.study).unwrap();
        let table = read_table(path, &study.schema, &Others::but(Some(SITE_COLUMN)), &()).unwrap();
        assert_eq!(table.rows(), 50_000);
    }
}

/// All files of a folder, in the order of their names.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn parts_are_the_table_one_after_the_other() {
    for kind in [Kind::Hospital, Kind::Census] {
        for (pooled, parts) in [(false, 1), (false, 7), (true, 5)] {
            let whole = Plan {
                pooled,
                ..plan(kind, 60_000, 2)
            };
            let (_folder, one) = make(&whole);
            let (_other, many) = make(&Plan {
                parts: Some(parts),
                ..whole
            });
            for ((_, table, rows), (_, folder, same)) in one.tables.iter().zip(&many.tables) {
                assert_eq!(rows, same);
                let table = std::fs::read_to_string(table).unwrap();
                let (header, _) = table.split_once('\n').unwrap();
                let files = files(folder);
                assert_eq!(files.len(), parts);
                let mut text = format!("{header}\n");
                for file in &files {
                    let part = std::fs::read_to_string(file).unwrap();
                    let rows = part.strip_prefix(&format!("{header}\n")).unwrap();
                    // Parts are of one size, but for a row.
                    let expected = (same / parts as u64) as usize;
                    assert!(rows.lines().count().abs_diff(expected) <= 1);
                    text.push_str(rows);
                }
                assert!(text == table, "{kind:?} {parts}");
            }
        }
    }
}

#[test]
fn patients_are_distinct_over_all_sites() {
    let (_folder, written) = make(&Plan {
        pooled: true,
        ..plan(Kind::Hospital, 40_000, 5)
    });
    let text: TextTable = read_text(&written.tables[0].1, &[], &()).unwrap();
    assert_eq!(text.column("patient").unwrap().dictionary.len(), 40_000);
    assert_eq!(text.column(SITE_COLUMN).unwrap().dictionary.len(), 5);
}

#[test]
fn catchment_areas_differ_and_overlap() {
    let sites = tables(&plan(Kind::Hospital, 80_000, 4));
    let shares: Vec<Vec<f64>> = sites
        .iter()
        .map(|table| {
            let counties: Vec<usize> = codes(table, "zip")
                .iter()
                .map(|code| {
                    let tree = taxonomy(table, "zip");
                    let town = tree.parent(tree.leaf(*code as u32)).unwrap();
                    tree.parent(town).unwrap() as usize
                })
                .collect();
            let mut counts = counts(&counties);
            counts.resize(taxonomy(table, "zip").node_count() as usize, 0.0);
            counts
                .iter()
                .map(|count| count / counties.len() as f64)
                .collect()
        })
        .collect();
    for (place, one) in shares.iter().enumerate() {
        for other in &shares[..place] {
            let distance: f64 = one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum();
            let distance = distance / 2.0;
            assert!((0.25..0.9).contains(&distance), "{distance}");
        }
    }
    // The south is for the young, the east for the old.
    let age = |table| mean(codes(table, "age").into_iter());
    assert!(age(&sites[1]) + 8.0 < age(&sites[2]));
    // The west is strong in chapter F.
    let share = |table: &Table| {
        let chapters = top(taxonomy(table, "diagnosis"), &codes(table, "diagnosis"));
        chapters.iter().filter(|chapter| **chapter == 4).count() as f64 / chapters.len() as f64
    };
    assert!(share(&sites[3]) > 2.0 * share(&sites[0]));
}

#[test]
fn diagnoses_depend_on_age_sex_and_season() {
    let table = &tables(&plan(Kind::Hospital, 100_000, 1))[0];
    let (ages, sexes) = (codes(table, "age"), codes(table, "sex"));
    let diagnoses = codes(table, "diagnosis");
    let tree = taxonomy(table, "diagnosis");
    let chapters = top(tree, &diagnoses);
    let name = |chapter: usize| tree.label(tree.children(0).nth(chapter).unwrap());
    let age_of = |label: &str| {
        let rows = (0..table.rows()).filter(|row| name(chapters[*row]) == label);
        mean(rows.map(|row| ages[row]))
    };
    assert!(age_of("P newborns") < 1.0);
    assert!((22.0..36.0).contains(&age_of("O pregnancy")));
    assert!(age_of("I circulation") > 65.0);
    for (row, chapter) in chapters.iter().enumerate() {
        assert!(name(*chapter) != "O pregnancy" || sexes[row] == 0);
    }
    let quarters: Vec<usize> = codes(table, "admission")
        .iter()
        .map(|day| day % 365 / 91)
        .collect();
    assert!(mutual_information(&quarters, &diagnoses) > 0.02);
    let influenza = tree.value("J10 influenza").unwrap() as usize;
    let in_quarter = |quarter| {
        let rows = diagnoses.iter().zip(&quarters);
        rows.filter(|(one, when)| **one == influenza && **when == quarter)
            .count()
    };
    assert!(in_quarter(0) > 2 * in_quarter(2));
}

#[test]
fn treatment_follows_diagnosis_and_cost_follows_treatment() {
    let table = &tables(&plan(Kind::Hospital, 100_000, 1))[0];
    let (diagnoses, treatments) = (codes(table, "diagnosis"), codes(table, "treatment"));
    assert!(mutual_information(&diagnoses, &treatments) > 2.0);
    let costs = codes(table, "cost");
    let classes = top(taxonomy(table, "treatment"), &treatments);
    let mean_cost = |class| {
        let rows = costs.iter().zip(&classes);
        mean(rows.filter(|(_, of)| **of == class).map(|(cost, _)| *cost))
    };
    // Surgery costs more than watching and therapy: by bands, of which each but the middle one is
    // about twice the one before.
    assert!(mean_cost(0) > mean_cost(3) + 1.0);
    // Log-normal costs fill bands that widen with them, and no band singles anybody out.
    for band in 0..6 {
        let records = costs.iter().filter(|cost| **cost == band).count();
        assert!((4_000..40_000).contains(&records), "{band}: {records}");
    }
    let infants = codes(table, "age").iter().filter(|age| **age == 0).count();
    assert!((2_000..12_000).contains(&infants), "{infants}");
}

#[test]
fn values_are_skewed() {
    let table = &tables(&plan(Kind::Hospital, 100_000, 1))[0];
    for (name, times) in [("diagnosis", 6.0), ("zip", 10.0), ("treatment", 5.0)] {
        let mut counts = counts(&codes(table, name));
        counts.sort_by(f64::total_cmp);
        let (median, most) = (counts[counts.len() / 2], counts[counts.len() - 1]);
        assert!(most > times * median, "{name}: {most} against {median}");
        // Yet most values occur.
        let used = counts.iter().filter(|count| **count > 0.0).count();
        assert!(
            used * 10 > counts.len() * 9,
            "{name}: {used} of {}",
            counts.len()
        );
    }
}

#[test]
fn the_census_hangs_together() {
    let sites = tables(&plan(Kind::Census, 100_000, 2));
    let table = &sites[0];
    let column = |name| codes(table, name);
    let salaries = column("salary-class");
    let salary_of = |name, range: std::ops::Range<usize>| {
        let codes = column(name);
        let rows = codes.iter().zip(&salaries);
        mean(
            rows.filter(|(code, _)| range.contains(code))
                .map(|(_, salary)| *salary),
        )
    };
    // Salary grows with schooling and with age up to the last working years.
    assert!(salary_of("education", 0..4) + 1.0 < salary_of("education", 10..13));
    assert!(salary_of("age", 0..5) + 1.0 < salary_of("age", 25..40));
    for (one, other, bits) in [
        ("education", "salary-class", 0.1),
        ("occupation", "salary-class", 0.1),
        ("education", "occupation", 0.2),
        ("sex", "occupation", 0.08),
        ("age", "marital-status", 0.3),
        ("sex", "marital-status", 0.004),
        ("native-country", "race", 0.2),
        ("education", "workclass", 0.01),
        ("age", "education", 0.05),
    ] {
        let found = mutual_information(&column(one), &column(other));
        assert!(found > bits, "{one} and {other}: {found}");
    }
    // All salary classes are there in numbers, and most people were born in the country.
    let classes = counts(&salaries);
    assert!(
        classes.len() == 5 && classes.iter().all(|count| *count > 3000.0),
        "{classes:?}"
    );
    let countries = counts(&column("native-country"));
    assert!(countries[0] > 0.6 * table.rows() as f64, "{countries:?}");
    // The second site has more people from Asia.
    let born = |table: &Table| {
        let countries = codes(table, "native-country");
        let parts = top(taxonomy(table, "native-country"), &countries);
        parts.iter().filter(|part| **part == 2).count() as f64 / parts.len() as f64
    };
    assert!(born(&sites[1]) > 1.5 * born(&sites[0]));
}

#[test]
fn every_site_is_one_of_its_own_and_gets_a_row() {
    let (_folder, written) = make(&plan(Kind::Census, 40, 40));
    assert!(written.tables.iter().all(|(_, _, rows)| *rows == 1));
    assert_eq!(written.tables[39].0, "site-40");
}

fn refusal(plan: &Plan, folder: &Path) -> String {
    let error: SyntheticError = generate(plan, folder, &()).unwrap_err();
    error.to_string()
}

#[test]
fn plans_that_cannot_be_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new");
    assert_eq!(
        refusal(&plan(Kind::Hospital, 0, 1), &new),
        "rows = 0, expected at least one row\nhint: ask for some, e.g. --rows 10000"
    );
    assert_eq!(
        refusal(&plan(Kind::Hospital, 10, 0), &new),
        "sites = 0, expected at least one site\nhint: ask for some, e.g. --sites 4"
    );
    assert_eq!(
        refusal(&plan(Kind::Hospital, 3, 5), &new),
        "5 sites cannot share 3 rows, each needs at least one\nhint: ask for at least 5 rows, or for at most 3 sites"
    );
    assert_eq!(
        refusal(&plan(Kind::Census, 1_000_000, 70_000), &new),
        "sites = 70000, expected at most 65536"
    );
    let parts = |kind, rows, sites, parts| Plan {
        parts: Some(parts),
        ..plan(kind, rows, sites)
    };
    assert_eq!(
        refusal(&parts(Kind::Census, 10, 1, 0), &new),
        "parts = 0, expected 1 to 10\nhint: each part of each table has at least one row"
    );
    assert_eq!(
        refusal(&parts(Kind::Census, 10, 2, 9), &new),
        "parts = 9, expected 1 to 4\nhint: each part of each table has at least one row"
    );
    assert_eq!(
        refusal(&parts(Kind::Institutions, 10, 3, 2), &new),
        "the tables of institutions are not written in parts: everybody is held at once\nhint: leave the number of parts out"
    );
    assert!(!new.exists());
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("thesis.txt");
    std::fs::write(&file, "mine").unwrap();
    let plan = plan(Kind::Hospital, 10, 1);
    assert_eq!(
        refusal(&plan, folder.path()),
        format!(
            "{}: the folder is not empty\nhint: name a new folder, or empty this one; nothing in it was touched",
            folder.path().display()
        )
    );
    let start = format!("{}: the folder cannot be used: ", file.display());
    assert!(refusal(&plan, &file).starts_with(&start));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    // An empty one is fine.
    let empty = tempfile::tempdir().unwrap();
    generate(&plan, empty.path(), &()).unwrap();
}

/// Stands in the way of the second site's table as soon as the first one has rows.
struct InTheWay<'a>(&'a Path);

impl Progress for InTheWay<'_> {
    fn advance(&self, _: u64) {
        std::fs::create_dir_all(self.0.join("south.csv/taken")).unwrap();
    }
}

#[test]
fn what_was_written_before_a_failure_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (target, unfinished) = (folder.path().join("h"), folder.path().join(".h.unfinished"));
    let plan = plan(Kind::Hospital, 1000, 3);
    let error = generate(&plan, &target, &InTheWay(&unfinished)).unwrap_err();
    assert!(
        error.to_string().contains("south.csv: cannot be written: "),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // What a killed run left is in nobody's way.
    std::fs::create_dir_all(unfinished.join("taxonomies")).unwrap();
    let written = generate(&plan, &target, &()).unwrap();
    assert!(written.study.is_file() && !unfinished.exists());
}

/// Counts rows.
struct Counted(std::sync::atomic::AtomicU64);

impl Progress for Counted {
    fn advance(&self, amount: u64) {
        self.0
            .fetch_add(amount, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn progress_counts_every_row_once() {
    let folder = tempfile::tempdir().unwrap();
    let counted = Counted(0.into());
    generate(&plan(Kind::Census, 123_456, 3), folder.path(), &counted).unwrap();
    assert_eq!(counted.0.into_inner(), 123_456);
}

/// Prints rows a second: `cargo test --release -p hedgerow-data --test it rows_a_second --
/// --ignored --nocapture`, with another number of rows in `HEDGEROW_ROWS`.
#[test]
#[ignore = "a measurement"]
fn rows_a_second() {
    let rows = std::env::var("HEDGEROW_ROWS").map_or(4_000_000, |rows| rows.parse().unwrap());
    for kind in [Kind::Hospital, Kind::Census] {
        for format in [TableFormat::Csv, TableFormat::CsvZst, TableFormat::Parquet] {
            let plan = Plan {
                format,
                ..plan(kind, rows, 4)
            };
            let start = std::time::Instant::now();
            make(&plan);
            let rate = plan.rows as f64 / start.elapsed().as_secs_f64();
            println!("{} {format:?}: {rate:.0} rows a second", kind.name());
        }
    }
}
