//! Studies: every form of an attribute, and what is refused.

use std::path::Path;

use super::*;
use crate::domain::Domain;

const HEAD: &str = "[study]\nname = \"s\"\npartition = \"horizontal\"\n";

fn read(body: &str) -> Result<Study, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("zip.csv"),
        "12345;123**;*\n12361;123**;*\n",
    )
    .unwrap();
    std::fs::write(folder.path().join("age.csv"), "1;*\n2;*\n4;*\n").unwrap();
    let document = Document::parse(format!("{HEAD}{body}"), Path::new("study.toml"))
        .map_err(|error| error.to_string())?;
    Study::read(document, folder.path()).map_err(|error| error.to_string())
}

fn refusal(body: &str) -> String {
    read(body).unwrap_err()
}

#[test]
fn every_form_of_an_attribute() {
    let study = read(
        r#"
[[site]]
name = "north"
address = "127.0.0.1:7401"
key = "ed25519:abc"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 119]
step = 1
widths = [5, 10]
recode = "range"
[[attribute]]
name = "admitted"
role = "quasi"
type = "date"
range = [2020-01-01, 2020-12-31]
missing = ""
[[attribute]]
name = "stage"
role = "quasi"
values = ["I", "II", "III"]
ordered = true
[[attribute]]
name = "zip"
role = "quasi"
taxonomy = "zip.csv"
[[attribute]]
name = "patient"
role = "identifier"
[require]
k = 10
[algorithm]
name = "clustering"
recode = "set"
"#,
    )
    .unwrap();
    assert_eq!(study.sites[0].name, "north");
    assert_eq!(study.algorithm, Algorithm::Clustering);
    assert_eq!(study.recode, Recode::Set);
    assert_eq!(study.security, Security::Hardened);
    let sizes: Vec<u32> = study
        .schema
        .attributes()
        .iter()
        .map(|a| a.domain.size())
        .collect();
    assert_eq!(sizes, [120, 367, 3, 2, 0]);
    assert_eq!(study.schema.with_role(Role::Quasi), [0, 1, 2, 3]);
    assert_eq!(
        study.schema.attributes()[0].recode_or(study.recode),
        Recode::Range
    );
    assert_eq!(study.schema.attributes()[4].domain, Domain::Text);
}

#[test]
fn how_clusters_are_found() {
    let study = |lines: &str| {
        let age = "[[attribute]]\nname = \"a\"\nrole = \"quasi\"\nvalues = [\"x\"]\n";
        read(&format!("{age}[algorithm]\nname = \"clustering\"\n{lines}"))
    };
    assert_eq!(study("").unwrap().clustering, Clustering::default());
    let said =
        study("start = 1\nsplit = 2.5\nstarts = 100\nloss = \"em\"\nblur = true\nfinish = false\n");
    let expected = Clustering {
        start: 1.0,
        split: 2.5,
        starts: 100,
        loss: Loss::Em,
        blur: true,
        finish: false,
    };
    assert_eq!(said.unwrap().clustering, expected);
    let refused = |line: &str, message: &str| {
        let error = study(line).unwrap_err();
        let first = error.lines().next().unwrap();
        assert_eq!(first, format!("study.toml:10: {message}"), "{line}");
    };
    let start = "expected a share of k above 0 and up to 1";
    refused("start = 0", &format!("`algorithm.start` is 0, {start}"));
    refused("start = 1.1", &format!("`algorithm.start` is 1.1, {start}"));
    refused("start = nan", &format!("`algorithm.start` is NaN, {start}"));
    let split = "expected a number of 1 or more";
    refused("split = 0.9", &format!("`algorithm.split` is 0.9, {split}"));
    refused("split = inf", &format!("`algorithm.split` is inf, {split}"));
    for starts in [0, 101, -1] {
        let message = format!("`algorithm.starts` is {starts}, expected a number from 1 to 100");
        refused(&format!("starts = {starts}"), &message);
    }
    let error = study("loss = \"ncq\"").unwrap_err();
    assert!(error.starts_with("study.toml:10: "), "{error}");
    assert!(error.contains("`ncq`") && error.contains("`em`"), "{error}");
    assert!(
        study("blur = 1")
            .unwrap_err()
            .starts_with("study.toml:10: ")
    );
    assert!(
        study("starts = 1.5")
            .unwrap_err()
            .starts_with("study.toml:10: ")
    );
}

#[test]
fn a_misspelled_key_suggests_the_nearest() {
    assert_eq!(
        refusal(
            "[[attribute]]\nname = \"zip\"\nrole = \"quasi\"\ntaxonomi = \"zip.csv\"\ntaxonomy = \"zip.csv\"\n"
        ),
        "study.toml:7: unknown key `taxonomi` in `attribute`\nhint: did you mean `taxonomy`?"
    );
    assert_eq!(
        refusal("[[attribut]]\nname = \"zip\"\n"),
        "study.toml:4: unknown key `attribut` at the top of the file\nhint: did you mean `attribute`?"
    );
}

#[test]
fn what_an_attribute_may_not_be() {
    let attribute = |body: &str| {
        refusal(&format!(
            "[[attribute]]\nname = \"a\"\nrole = \"quasi\"\n{body}"
        ))
    };
    assert_eq!(
        attribute(""),
        "study.toml:4: attribute `a` has no domain\nhint: give it one: type = \"integer\" or \"date\" with range, values = [\"…\"], or taxonomy = \"file.csv\""
    );
    assert_eq!(
        attribute("type = \"integer\"\nrange = [9, 1]\n"),
        "study.toml:8: `attribute.range` [9, 1] in steps of 1 is no range of 1 to 10000000 values\nhint: the first number is the least, a step is 1 or more; a larger step makes fewer values"
    );
    assert_eq!(
        attribute("type = \"integer\"\nrange = [1, 4]\ntaxonomy = \"age.csv\"\n"),
        "study.toml:9: age.csv misses 1 values of the range: `3`\nhint: add a row for each, or narrow the range"
    );
    assert_eq!(
        attribute("type = \"integer\"\nrange = [1, 2]\ntaxonomy = \"age.csv\"\n"),
        "study.toml:9: age.csv has 1 values outside the range: `4`\nhint: widen the range or remove them"
    );
    assert_eq!(
        attribute("values = [\"x\", \"x\"]\n"),
        "study.toml:7: `attribute.values` lists `x` twice"
    );
    assert_eq!(
        attribute("values = [\"x\"]\nmissing = \"?\"\n"),
        "study.toml:8: `attribute.missing` is for integers and dates\nhint: list the missing value among the values or in the taxonomy"
    );
    assert!(attribute("taxonomy = \"nowhere.csv\"\n").starts_with("nowhere.csv: cannot be read: "));
    assert!(
        attribute("type = \"date\"\nrange = [\"2024-13-01\", \"2024-01-01\"]\n")
            .contains("`2024-13-01` is no day")
    );
}

#[test]
fn keys_of_another_form_are_refused() {
    let attribute = |body: &str| {
        refusal(&format!(
            "[[attribute]]\nname = \"a\"\nrole = \"quasi\"\n{body}"
        ))
    };
    assert_eq!(
        attribute(
            "type = \"date\"\nrange = [\"2024-01-01\", \"2024-01-02\"]\ntaxonomy = \"zip.csv\"\n"
        ),
        "study.toml:9: `attribute.taxonomy` does not go with type = \"date\""
    );
    assert_eq!(
        attribute("type = \"integer\"\nrange = [1, 2]\nvalues = [\"x\"]\n"),
        "study.toml:9: `attribute.values` does not go with type = \"integer\""
    );
    assert_eq!(
        attribute("values = [\"x\"]\nstep = 2\n"),
        "study.toml:8: `attribute.step` does not go with values"
    );
    assert_eq!(
        attribute("values = []\n"),
        "study.toml:7: `attribute.values` is empty"
    );
    assert!(
        attribute("type = \"date\"\nrange = [\"2024-01-01T10:00\", \"2024-01-02\"]\n")
            .contains("`2024-01-01T10:00` is no day")
    );
    assert_eq!(
        refusal("[[attribute]]\nname = \"\"\nrole = \"quasi\"\n"),
        "study.toml:5: `attribute.name` is empty"
    );
}

#[test]
fn sites_and_heads() {
    assert_eq!(
        refusal("[[site]]\nname = \"a\"\naddress = \"nowhere\"\n"),
        "study.toml:6: `site.address` is `nowhere`, expected host:port, e.g. 127.0.0.1:7401"
    );
    assert_eq!(
        refusal("[[site]]\nname = \"a\"\n[[site]]\nname = \"a\"\n"),
        "study.toml:7: two sites are named `a`"
    );
    let empty = Document::parse(String::new(), Path::new("study.toml")).unwrap();
    assert!(
        Study::read(empty, Path::new(""))
            .unwrap_err()
            .to_string()
            .contains("no [study] table")
    );
    assert!(refusal("").contains("no attribute has role = \"quasi\""));
}
