//! A virtual database: a run publishes nothing, each site keeps its own rows, and together they are the table
//! that the same study would publish.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hedgerow::query::Released;
use hedgerow::{Options, Questions, Release, Sites, Study, Table, anonymize, simulate, verify};
use proptest::prelude::*;

use crate::ward::{BOTH, OPEN, SITES, World};

const QUESTIONS: [&str; 6] = [
    "SELECT count(*) FROM ward",
    "SELECT count(*), sum(days) FROM ward WHERE age < 30 AND disease = 'flu'",
    "SELECT disease, count(*) FROM ward WHERE age < 50 OR place = 'west' GROUP BY disease",
    "SELECT age, place, count(*) FROM ward WHERE days < 10 GROUP BY age, place",
    "SELECT place, sum(days) FROM ward WHERE NOT age BETWEEN 20 AND 60 GROUP BY place",
    "SELECT age, disease FROM ward WHERE age > 70 OR disease = 'ulcer'",
];

/// The lines of a file without its header, sorted.
fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// The same study and rows, published by a simulation.
fn published(world: &World) -> hedgerow::Simulation {
    let text = std::fs::read_to_string(world.path("study.toml")).unwrap();
    let text = text.replace("release = \"virtual\"", "release = \"published\"");
    let study = Study::parse(text, world.path("")).unwrap();
    let tables = SITES.map(|site| Table::file(world.path(&format!("{site}.csv"))));
    simulate(&study, &Sites::Tables(tables.into()), &Options::new()).unwrap()
}

#[test]
fn a_run_publishes_nothing_and_the_sites_answer_as_the_release_would() {
    for security in ["hardened", "published"] {
        let world = World::of(security, "virtual", BOTH, [OPEN; 3]);
        let published = published(&world);
        let released = Released::open(&published.outcome.release, &()).unwrap();
        world.ask(async || {
            for (number, sql) in QUESTIONS.iter().enumerate() {
                let question = released.statement(sql).unwrap().questions()[0].clone();
                let site = world.site(SITES[number % 3]);
                let answer = site.ask(None, &question).await.unwrap();
                assert_eq!(answer, released.ask(&question).unwrap(), "{sql}");
            }
        });
        let mut together = Vec::new();
        for site in SITES {
            assert!(!world.path(&format!("{site}/release-1")).exists());
            let local = world.path(&format!("{site}/local-1.csv"));
            let mode = std::fs::metadata(&local).unwrap().permissions().mode();
            assert_eq!(mode & 0o77, 0, "{site}: {mode:o}");
            together.extend(lines(&local));
            let known = world.path(&format!("{site}/virtual-1"));
            let mut names: Vec<String> = std::fs::read_dir(&known)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort_unstable();
            let expected = ["classes.csv", "manifest.json", "report.html", "taxonomies"];
            assert_eq!(names, expected);
            // No sensitive value of anybody stands in what all sites know.
            let classes = std::fs::read_to_string(known.join("classes.csv")).unwrap();
            assert_eq!(classes.lines().next(), Some("age,place,records"));
            assert!(
                !["flu", "ulcer", "asthma"]
                    .iter()
                    .any(|value| classes.contains(value))
            );
        }
        together.sort_unstable();
        let release = published.outcome.release.path().join("release.csv");
        assert_eq!(together, lines(&release));
        // The classes of the file are counted from the rows of all sites, by lines.
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for line in &together {
            let class = line.rsplitn(3, ',').last().unwrap();
            *counted.entry(class.to_owned()).or_default() += 1;
        }
        let known: BTreeMap<String, u64> = lines(&world.path("east/virtual-1/classes.csv"))
            .iter()
            .map(|line| {
                let (class, count) = line.rsplit_once(',').unwrap();
                (class.to_owned(), count.parse().unwrap())
            })
            .collect();
        assert_eq!(known, counted);
    }
}

#[test]
fn what_is_verified_is_what_was_opened_and_the_rest_is_not_shown() {
    let world = World::of("hardened", "virtual", BOTH, [OPEN; 3]);
    let study = world.path("study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    assert!(text.contains("l = 2"), "{text}");
    world.ask(async || {});
    let folder = world.path("south/virtual-1");
    let release = Release::open(&folder).unwrap();
    let release = release.with_study(Study::open(&study).unwrap());
    let verdict = verify(&release, &Questions::default()).unwrap();
    assert!(verdict.holds(), "{verdict}");
    let words = verdict.to_string();
    assert!(
        words.starts_with("HOLDS AS FAR AS IT CAN BE SEEN"),
        "{words}"
    );
    for line in [
        "k-anonymity",
        "distinct l = 2",
        "not shown",
        "signed by all sites",
    ] {
        assert!(words.contains(line), "{line}: {words}");
    }
    assert!(!words.contains("attested"), "{words}");
    // By its own word too, and not as a table to ask.
    let own = Release::open(&folder).unwrap();
    assert!(verify(&own, &Questions::default()).unwrap().holds());
    let error = Released::open(&own, &()).unwrap_err().to_string();
    assert!(error.contains("hedgerow query --site"), "{error}");
    // A record less in a class is seen, and so is a class that is too small.
    let classes = folder.join("classes.csv");
    let text = std::fs::read_to_string(&classes).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let (class, _) = rest.split_once('\n').unwrap();
    let (cells, count) = class.rsplit_once(',').unwrap();
    let count: u64 = count.parse().unwrap();
    for other in [count - 1, 1] {
        let changed = rest.replacen(class, &format!("{cells},{other}"), 1);
        std::fs::write(&classes, format!("{first}\n{changed}")).unwrap();
        let verdict = verify(&release, &Questions::default()).unwrap();
        assert!(!verdict.holds());
        assert!(verdict.to_string().contains("classes.csv"), "{verdict}");
    }
    for count in ["-1", "0", "", "1e3", "99999999999", "100000001"] {
        let changed = rest.replacen(class, &format!("{cells},{count}"), 1);
        std::fs::write(&classes, format!("{first}\n{changed}")).unwrap();
        let error = verify(&own, &Questions::default()).unwrap_err().to_string();
        assert!(error.contains("classes.csv:2: column `records`"), "{error}");
    }
}

/// A file with which a site answers was changed since the run: the site answers nothing, and says which.
#[test]
fn rows_that_were_changed_are_not_asked() {
    let world = World::of("hardened", "virtual", BOTH, [OPEN; 3]);
    let question = world.question(QUESTIONS[1]);
    world.ask(async || {
        let change = |file: &str| {
            let path = world.path(file);
            let text = std::fs::read(&path).unwrap();
            let mut changed = text.clone();
            // A digit of the last lines; of the manifest, where what all signed stands first, one of the
            // first.
            let digit = match file.ends_with("manifest.json") {
                true => {
                    text.windows(11)
                        .position(|word| word == b"\"records\": ")
                        .unwrap()
                        + 11
                }
                false => changed.iter().rposition(u8::is_ascii_digit).unwrap(),
            };
            changed[digit] = if changed[digit] == b'1' { b'2' } else { b'1' };
            std::fs::write(&path, changed).unwrap();
            move || std::fs::write(path, text).unwrap()
        };
        let files = [
            "south/local-1.csv",
            "south/local-1.seal.json",
            "south/virtual-1/classes.csv",
            "south/virtual-1/manifest.json",
        ];
        for file in files {
            let bring_back = change(file);
            let error = world.site("south").ask(None, &question).await;
            let error = error.unwrap_err().to_string();
            assert!(error.contains("south"), "{file}: {error}");
            let error = world.site("north").ask(None, &question).await;
            let error = error.unwrap_err().to_string();
            assert!(error.contains("south"), "{file}: {error}");
            bring_back();
        }
        world.site("south").ask(None, &question).await.unwrap();
    });
}

#[test]
fn studies_that_cannot_be_virtual_are_refused() {
    let text = |keys: &str, more: &str| {
        format!(
            "[study]\nname = \"s\"\nrelease = \"virtual\"\n{keys}\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\n[require]\nk = 2\n{more}"
        )
    };
    let query = "[query]\nanswers = [\"totals\"]\n";
    let horizontal = "partition = \"horizontal\"";
    let refused = |text: String| match Study::parse(text, ".") {
        Ok(study) => study.discloses().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    let error = refused(text(horizontal, ""));
    assert!(error.contains("without [query] nobody may ask"), "{error}");
    let records = "[[attribute]]\nname = \"records\"\nrole = \"other\"\nvalues = [\"a\"]\n";
    let error = refused(text(horizontal, &format!("{query}{records}")));
    assert!(error.contains("a column `records` of their own"), "{error}");
    let vertical = "[[attribute]]\nname = \"who\"\nrole = \"identifier\"\ntype = \"text\"\n";
    let error = refused(text("partition = \"vertical\"", vertical));
    assert!(error.contains("for horizontal studies"), "{error}");
    let error = refused(text(horizontal, query).replace("\"virtual\"", "\"virtuel\""));
    assert!(
        error.contains("`virtuel`") && error.contains("published"),
        "{error}"
    );
    let study = Study::parse(text(horizontal, query), ".").unwrap();
    let table = Table::file("none.csv");
    let error = anonymize(&study, &table, &Options::new()).unwrap_err();
    assert!(
        error.to_string().contains("one party has the whole table"),
        "{error}"
    );
}

/// A study of three columns, published or virtual.
fn of(release: &str, algorithm: &str, recode: &str) -> Study {
    let text = format!(
        r#"[study]
name = "ward"
partition = "horizontal"
release = "{release}"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "place"
role = "quasi"
values = ["east", "north", "south", "west"]
[[attribute]]
name = "days"
role = "sensitive"
type = "integer"
range = [0, 40]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]
[require]
k = 3
m = 0
[algorithm]
name = "{algorithm}"
recode = "{recode}"
[query]
answers = ["totals", "rows"]
"#
    );
    Study::parse(text, ".").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    /// Virtual = published, for one site and for many, skewed: the rows of all sites are the release that the
    /// same study publishes, and every question has the same answer.
    #[test]
    fn a_virtual_database_is_what_the_study_would_publish(
        rows in prop::collection::vec((0u32..100, 0usize..4, 0u32..41, 0usize..3, 0u32..100), 12..60),
        algorithm in prop::sample::select(vec!["mondrian", "clustering", "provider-aware"]),
        recode in prop::sample::select(vec!["range", "set", "node"]),
        count in prop::sample::select(vec![1u32, 2, 3, 10]),
        bound in 0u32..100,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let mut text = String::from("age,place,days,disease,owner\n");
        for (number, (age, place, days, disease, owner)) in rows.iter().enumerate() {
            let place = ["east", "north", "south", "west"][*place];
            let disease = ["asthma", "flu", "ulcer"][*disease];
            // Most rows are the first site's, and every site has one.
            let skewed = (u64::from(*owner) * u64::from(*owner) * u64::from(count) / 10_000) as u32;
            let owner = if number < count as usize { number as u32 } else { skewed.min(count - 1) };
            text.push_str(&format!("{age},{place},{days},{disease},{owner}\n"));
        }
        std::fs::write(&path, text).unwrap();
        let sites = Sites::Named { table: Table::file(&path), column: String::from("owner") };
        let released = of("published", algorithm, recode);
        let released = simulate(&released, &sites, &Options::new()).unwrap();
        let virtual_study = of("virtual", algorithm, recode);
        let own = folder.path().join("own");
        let kept = simulate(&virtual_study, &sites, &Options::new().local(&own)).unwrap();
        prop_assert!(kept.outcome.summary.release.is_none());
        let mut together: Vec<String> = Vec::new();
        for site in 0..count {
            together.extend(lines(&own.join(format!("site-{site}.csv"))));
        }
        together.sort_unstable();
        prop_assert_eq!(together, lines(&released.outcome.release.path().join("release.csv")));
        prop_assert_eq!(kept.outcome.summary.classes, released.outcome.summary.classes);
        prop_assert_eq!(kept.outcome.summary.achieved.k, released.outcome.summary.achieved.k);
        let one = Released::open(&released.outcome.release, &()).unwrap();
        for sql in QUESTIONS {
            let sql = sql.replace("30", &bound.to_string());
            let statement = virtual_study.statement(&sql).unwrap();
            let asked = kept.ask(&virtual_study, &statement, &Options::new()).unwrap();
            prop_assert_eq!(&asked.answers, &one.answer(&statement).unwrap(), "{}", sql);
        }
        let learned = kept.ledgers.iter().flatten().map(|line| line.what.as_str());
        let told: Vec<&str> = learned.collect();
        prop_assert!(!told.contains(&"sensitive and other values of classes"), "{told:?}");
    }
}
