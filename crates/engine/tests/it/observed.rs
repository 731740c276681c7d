//! What an observer hears, and whose fault errors are.

use std::sync::{Arc, Mutex};

use hedgerow::data::files::Progress;
use hedgerow::{
    Deal, Fault, Notice, Observer, Options, Questions, Release, Sites, Step, Study, Table, Watch,
    Work, anonymize, simulate, verify,
};

use super::study;

/// Writes down what it hears.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    fn say(&self, words: String) {
        self.0.lock().unwrap().push(words);
    }

    fn count(&self, start: &str) -> usize {
        let heard = self.0.lock().unwrap();
        heard
            .iter()
            .filter(|words| words.starts_with(start))
            .count()
    }
}

impl Progress for Heard {
    fn advance(&self, amount: u64) {
        self.say(format!("advance {amount}"));
    }
}

impl Watch for Heard {
    fn step(&self, step: Step) {
        self.say(format!("step {step}"));
    }
}

impl Observer for Heard {
    fn begin(&self, work: Work<'_>) -> Box<dyn Watch> {
        self.say(format!("begin {work:?}"));
        Box::new(self.clone())
    }

    fn notice(&self, notice: Notice) {
        self.say(format!("notice {notice}"));
    }
}

#[test]
fn an_observer_hears_files_steps_and_notices() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("patients.csv");
    let rows = (0..60).map(|row| {
        let (sex, disease) = (["f", "m"][row % 2], ["asthma", "flu", "ulcer"][row % 3]);
        format!("{row},{sex},{disease}\n")
    });
    let rows: String = rows.collect();
    std::fs::write(&path, format!("age,sex,disease\n{rows}")).unwrap();
    let heard = Heard::default();
    let options = Options::new().observer(heard.clone());
    // More sites than there are values of sex: some hold nothing, which is said.
    let sites = Sites::Dealt {
        table: Table::file(&path),
        sites: 3,
        deal: Deal::Columns(vec!["sex".into()]),
    };
    simulate(&study("k = 3"), &sites, &options).unwrap();
    assert_eq!(heard.count("begin Reading"), 1);
    assert_eq!(heard.count("begin Run"), 1);
    assert!(heard.count("advance ") > 0);
    assert!(heard.count("step wave ") > 1);
    assert_eq!(heard.count("notice note: 1 of 3 sites hold no records"), 1);
    assert_eq!(
        heard.count("notice hint: a study that names three sites"),
        1
    );
}

#[test]
fn every_error_says_whose_fault_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("patients.csv");
    std::fs::write(&path, "age,sex,disease\n1,f,flu\n").unwrap();
    let table = Table::file(&path);
    let of = |require: &str, table: &Table| {
        anonymize(&study(require), table, &Options::new())
            .unwrap_err()
            .fault()
    };
    // A file that is not there, a table too small, a requirement that speaks of sites.
    assert_eq!(of("k = 1", &Table::from("absent.csv")), Fault::OwnData);
    assert_eq!(of("k = 2", &table), Fault::OwnData);
    assert_eq!(
        of("k = 1\nsite_diversity = 2", &table),
        Fault::OwnConfiguration
    );
    let study = Study::open("absent.toml").unwrap_err();
    assert_eq!(study.fault(), Fault::OwnConfiguration);
    // Somebody calls this a release.
    let nonsense = folder.path().join("release.csv");
    std::fs::write(&nonsense, "age,sex,disease\n[1-,f,flu\n").unwrap();
    let release = Release::open(nonsense)
        .unwrap()
        .with_study(self::study("k = 1"));
    let error = verify(&release, &Questions::default()).unwrap_err();
    assert_eq!(error.fault(), Fault::Release, "{error}");
}

/// A study may come from somebody else, and name any file in its folder as a taxonomy.
#[test]
fn what_others_may_read_has_no_words_of_a_taxonomy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.toml");
    let text = "[study]\nname = \"s\"\npartition = \"horizontal\"\n[[site]]\nname = \"a\"\n[[site]]\nname = \"b\"\n[require]\nk = 2\n[algorithm]\nname = \"mondrian\"\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntaxonomy = \"rows.csv\"\n";
    std::fs::write(&path, text).unwrap();
    std::fs::write(
        folder.path().join("rows.csv"),
        "name,disease\nEve Quill,I63\n",
    )
    .unwrap();
    let error = Study::open(&path).unwrap_err();
    assert!(error.to_string().contains("name,disease"), "{error}");
    let told = error.without_values();
    assert!(
        told.contains("rows.csv:1") && !told.contains("disease"),
        "{told}"
    );
}
