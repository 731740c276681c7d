//! `site.toml`: closed by default, and every refusal names its rule.

use std::path::Path;

use hedgerow_node::agreement::Agreement;
use hedgerow_node::site::SiteFile;
use hedgerow_node::source::{Password, Rows, Source};
use hedgerow_smc::What;

use super::write_study;

const SIZES: What = What::new("class sizes", "a theorem");
const RULES: [&str; 6] = [
    "minimum_k = 3",
    "models = [\"k\", \"l\"]",
    "algorithms = [\"mondrian\"]",
    "security = [\"hardened\"]",
    "disclosures = [\"class sizes\"]",
    "columns = [\"age\", \"zip\", \"disease\"]",
];

fn site(folder: &Path, accept: &str) -> Result<SiteFile, String> {
    let path = folder.join("site.toml");
    let text = format!(
        "site = \"north\"\nstudy = \"study.toml\"\nkey = \"north.key\"\ndata = \"data\"\n[source]\nfile = \"rows.csv\"\n{accept}"
    );
    std::fs::write(&path, text).unwrap();
    SiteFile::open(&path).map_err(|error| error.to_string())
}

fn refusals(folder: &Path, rules: &[&str]) -> Vec<String> {
    write_study(folder, &["north", "south"]);
    let agreement = Agreement::open(&folder.join("study.toml")).unwrap();
    let site = site(folder, &format!("[accept]\n{}\n", rules.join("\n"))).unwrap();
    let refusals = site.accept.refusals(&agreement, &[SIZES]);
    refusals.iter().map(ToString::to_string).collect()
}

#[test]
fn everything_said_is_accepted_and_anything_unsaid_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(refusals(folder.path(), &RULES), [""; 0]);
    for left_out in 0..RULES.len() {
        let mut rules = RULES.to_vec();
        let rule = rules.remove(left_out);
        let found = refusals(folder.path(), &rules);
        let name = rule.split_whitespace().next().unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with(&format!("accept.{name}: is not set")),
            "{found:?}"
        );
    }
    assert_eq!(refusals(folder.path(), &[]).len(), RULES.len());
    // No [accept] at all.
    write_study(folder.path(), &["north", "south"]);
    let agreement = Agreement::open(&folder.path().join("study.toml")).unwrap();
    let site = site(folder.path(), "").unwrap();
    assert_eq!(
        site.accept.refusals(&agreement, &[SIZES]).len(),
        RULES.len()
    );
}

#[test]
fn every_rule_bites() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (
            0,
            "minimum_k = 4",
            "accept.minimum_k: is 4; the study has only k = 3",
        ),
        (
            1,
            "models = [\"t\", \"m\"]",
            "accept.models: demands `t`, `m`, which the study does not require",
        ),
        (
            2,
            "algorithms = [\"d2pt\"]",
            "accept.algorithms: does not allow `mondrian`",
        ),
        (
            3,
            "security = []",
            "accept.security: does not allow `hardened`",
        ),
        (
            4,
            "disclosures = [\"class size\"]",
            "accept.disclosures: does not allow `class sizes`",
        ),
        (
            5,
            "columns = [\"age\", \"zip\"]",
            "accept.columns: does not allow `disease`",
        ),
    ];
    for (place, rule, expected) in cases {
        let mut rules = RULES.to_vec();
        rules[place] = rule;
        assert_eq!(refusals(folder.path(), &rules), [expected]);
    }
}

#[test]
fn mistakes_are_named_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |accept: &str, expected: &str| {
        let error = site(folder.path(), accept).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    refused(
        "[accept]\nmodels = [\"kk\"]\n",
        "site.toml:8: `accept.models` lists `kk`, expected any of",
    );
    refused(
        "[accept]\nminimum_k = 0\n",
        "site.toml:8: `accept.minimum_k` is 0",
    );
    refused("[accept]\nminimumk = 3\n", "did you mean `minimum_k`?");
    refused(
        "[[peer]]\nname = \"south\"\naddress = \"x\"\n",
        "`peer.address` is `x`",
    );
    refused("[source.postgres]\n", "site.toml:");
}

#[test]
fn a_database_is_described_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.toml");
    let text = "site = \"north\"\nstudy = \"study.toml\"\nkey = \"north.key\"\ndata = \"data\"\n[source.postgres]\ndatabase = \"clinic\"\nuser = \"reader\"\npassword_variable = \"CLINIC\"\ntable = \"ward.patients\"\n";
    std::fs::write(&path, text).unwrap();
    let Source::Postgres(database) = SiteFile::open(&path).unwrap().source else {
        panic!("a database was described");
    };
    assert_eq!(
        database.password,
        Some(Password::Variable(String::from("CLINIC")))
    );
    let parts = ["ward", "patients"].map(String::from).to_vec();
    assert_eq!(database.rows, Rows::Table(parts));

    std::fs::write(
        &path,
        text.replace("password_variable = \"CLINIC\"", "password = \"x\""),
    )
    .unwrap();
    let error = SiteFile::open(&path).unwrap_err().to_string();
    assert!(
        error.contains("site.toml:8: unknown key `password`"),
        "{error}"
    );
}

#[test]
fn a_file_that_everyone_may_read_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    site(folder.path(), "").unwrap();
    let path = folder.path().join("site.toml");
    let warnings = |mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&path, permissions).unwrap();
        SiteFile::open(&path).unwrap().warnings
    };
    assert_eq!(warnings(0o600), [""; 0]);
    assert!(warnings(0o644)[0].contains("mode 644"));
}
