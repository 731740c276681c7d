//! Studies: every form of an attribute, and what is refused.

use std::path::Path;

use super::*;
use crate::attribute::Recode;
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
    let sizes: Vec<u32> = study
        .schema
        .attributes()
        .iter()
        .map(|a| a.domain.size())
        .collect();
    assert_eq!(sizes, [120, 367, 3, 2, 0]);
    assert_eq!(study.schema.with_role(Role::Quasi), [0, 1, 2, 3]);
    assert_eq!(study.schema.attributes()[0].recode, Some(Recode::Range));
    assert_eq!(study.schema.attributes()[4].domain, Domain::Text);
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
fn decimals_have_a_range_and_a_step() {
    let fever = |body: &str| {
        read(&format!(
            "[[attribute]]\nname = \"fever\"\nrole = \"quasi\"\ntype = \"decimal\"\n{body}"
        ))
    };
    let study = fever("range = [34, 4_3.0]\nstep = 0.1\nwidths = [0.5, 1]\n").unwrap();
    let domain = &study.schema.attributes()[0].domain;
    assert_eq!((domain.size(), &*domain.label(46)), (91, "38.6"));
    let tree = domain.taxonomy().unwrap();
    let path: Vec<&str> = std::iter::successors(Some(tree.leaf(46)), |node| tree.parent(*node))
        .map(|node| tree.label(node))
        .collect();
    assert_eq!(path, ["38.6", "[38.5-38.9]", "[38.0-38.9]", "*"]);
    assert_eq!(
        domain.describe(),
        "the decimals 34.0 to 43.0 in steps of 0.1"
    );

    let refusal = |body: &str| fever(body).unwrap_err();
    assert_eq!(
        refusal("range = [34.0, 43.0]\n"),
        "study.toml:4: `attribute.step` is missing\nhint: step = 0.1 says that values have one digit behind the point"
    );
    for (range, step, shown) in [
        ("[34.05, 43.0]", "0.1", "[34.05, 43.0] in steps of 0.1"),
        ("[43.0, 34.0]", "0.1", "[43.0, 34.0] in steps of 0.1"),
        ("[34.0, 43.0]", "-0.1", "[34.0, 43.0] in steps of -0.1"),
        (
            "[0.0, 99999.0]",
            "0.001",
            "[0.0, 99999.0] in steps of 0.001",
        ),
    ] {
        assert_eq!(
            refusal(&format!("range = {range}\nstep = {step}\n")),
            format!(
                "study.toml:8: `attribute.range` {shown} is no range of 1 to 10000000 values\nhint: the first number is the least, the step is above 0 and has all digits of the range behind its point"
            )
        );
    }
    for (value, found) in [("1e1", "10.0"), ("inf", "inf"), ("\"0.1\"", "\"0.1\"")] {
        assert_eq!(
            refusal(&format!("range = [34.0, 43.0]\nstep = {value}\n")),
            format!("study.toml:9: `attribute.step` is {found}, expected a number such as 0.5")
        );
    }
    assert_eq!(
        refusal("range = [34.0, 43.0]\nstep = 0.1\nwidths = [0.25]\n"),
        "study.toml:10: `attribute.widths`: width 0.25 has more digits behind the point than the step"
    );
    assert_eq!(
        refusal("range = [34.0, 43.0]\nstep = 0.1\nwidths = [0.4, 1.0]\n"),
        "study.toml:10: `attribute.widths`: width 1.0 is not a multiple of 0.4, so its groups would cross\nhint: each width must be a multiple of the one before, e.g. 5,10,20"
    );
}

#[test]
fn what_is_missing_means_nothing_else() {
    let missing = |body: &str, texts: &str| {
        refusal(&format!(
            "[[attribute]]\nname = \"a\"\nrole = \"quasi\"\nmissing = {texts}\n{body}"
        ))
    };
    let integers = "type = \"integer\"\nrange = [1, 9]\n";
    let days = "type = \"date\"\nrange = [\"2024-01-01\", \"2024-12-31\"]\nformat = \"%d.%m.%Y\"\n";
    let also = |text: &str| {
        format!(
            "study.toml:7: `attribute.missing` is `{text}`, which also means something else here"
        )
    };
    for (body, texts, text) in [
        (integers, "[\"NA\", \"7\"]", "7"),
        (integers, "\"*\"", "*"),
        (integers, "[\"NA\", \"[1-3]\"]", "[1-3]"),
        (days, "[\"\", \"31.12.2024\"]", "31.12.2024"),
        (days, "\"2024-12-31\"", "2024-12-31"),
        ("type = \"boolean\"\n", "[\"NA\", \"No\"]", "No"),
        ("type = \"boolean\"\n", "\"true\"", "true"),
        ("type = \"boolean\"\n", "\"0\"", "0"),
        ("values = [\"\", \"b\"]\n", "[\"\", \"b\"]", "b"),
    ] {
        assert_eq!(missing(body, texts), also(text), "{texts}");
    }
    assert_eq!(
        missing(integers, "[\"NA\", \"?\", \"NA\"]"),
        "study.toml:7: `attribute.missing` lists `NA` twice"
    );
    assert_eq!(
        missing(integers, "[]"),
        "study.toml:7: `attribute.missing` is empty"
    );
    assert_eq!(
        missing(integers, "[1]"),
        "study.toml:7: `attribute.missing` is [1], expected a string or a list of strings"
    );
    assert_eq!(
        missing(&days.replace("%d.", ""), "\"\"").lines().next(),
        Some(
            "study.toml:10: `attribute.format`: `%m.%Y` does not say which day it is: 2024-01-01 is written `01.2024`"
        )
    );
    assert_eq!(
        missing("type = \"boolean\"\nvalues = [\"a\"]\n", "\"\""),
        "study.toml:9: `attribute.values` does not go with type = \"boolean\""
    );
}

/// What is wrong with the terms, with several attributes, with the algorithm and with keys is said at once.
#[test]
fn all_mistakes_at_once() {
    let attributes = "[[attribute]]\nname = \"a\"\nrole = \"quasy\"\n\
        [[attribute]]\nname = \"a\"\nrole = \"quasi\"\nvalues = []\n\
        [[attribute]]\nname = \"b\"\nrole = \"quasi\"\nvalues = [\"x\"]\n\
        [algorithm]\nname = \"clusterin\"\n[reqire]\nk = 2\n";
    assert_eq!(
        refusal(&format!("csv = \"plain\"\n{attributes}")),
        "study.toml:7: `attribute.role` is `quasy`, expected one of `quasi`, `sensitive`, `identifier`, `other`\nhint: did you mean `quasi`?\n\
        error: study.toml:9: two attributes are named `a`\n\
        error: study.toml:4: `study.csv` is `plain`, expected one of `guarded`, `verbatim`\n\
        error: study.toml:18: unknown key `reqire` at the top of the file\nhint: did you mean `require`?"
    );
    assert_eq!(
        refusal("[algorithm]\nname = \"clusterin\"\n[query]\nanswer = 1\n")
            .lines()
            .next(),
        Some(
            "study.toml:5: `algorithm.name` is `clusterin`, expected one of `mondrian`, `clustering`, `provider-aware`"
        )
    );
    let many = "[[attribute]]\nname = \"a\"\nrole = \"quasi\"\n".repeat(33);
    let said = refusal(&many);
    assert_eq!(said.matches("study.toml:").count(), 20);
    assert!(said.ends_with("\nand 13 more"), "{said}");
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
        "study.toml:4: attribute `a` has no domain\nhint: give it one: type = \"integer\", \"decimal\" or \"date\" with range, type = \"boolean\", values = [\"…\"], or taxonomy = \"file.csv\""
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
        "study.toml:8: `attribute.missing` begins with `?`, which is none of the values\nhint: list it among the values or in the taxonomy; further texts are read as the first"
    );
    assert!(attribute("taxonomy = \"nowhere.csv\"\n").starts_with("nowhere.csv: cannot be read: "));
    assert!(
        attribute("type = \"date\"\nrange = [\"2024-13-01\", \"2024-01-01\"]\n")
            .contains("`2024-13-01` is no day")
    );
}

#[test]
fn only_what_is_published_as_it_is_may_be_unique() {
    let role = |role: &str| {
        refusal(&format!(
            "[[attribute]]\nname = \"a\"\nrole = \"{role}\"\nvalues = [\"x\"]\npublish_unique = true\n"
        ))
    };
    for other in ["quasi", "sensitive", "identifier"] {
        assert_eq!(
            role(other),
            "study.toml:8: `attribute.publish_unique` is for role = \"other\": of all columns only these are published as they are without a requirement"
        );
    }
    // Allowed there, so that the next mistake is found.
    assert!(role("other").contains("no attribute has role = \"quasi\""));
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

const PEOPLE: &str = "[[attribute]]\nname = \"id\"\nrole = \"identifier\"\n\
    [[attribute]]\nname = \"age\"\nrole = \"quasi\"\nvalues = [\"1\", \"2\"]\n\
    [[attribute]]\nname = \"zip\"\nrole = \"quasi\"\ntaxonomy = \"zip.csv\"\n\
    [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"flu\", \"ulcer\"]\n\
    [[attribute]]\nname = \"ward\"\nrole = \"other\"\nvalues = [\"a\", \"b\"]\n";

/// A vertical study of these people.
fn vertical(people: &str, rest: &str) -> Result<Study, String> {
    let folder = tempfile::tempdir().unwrap();
    let zips = "12345;123**;*\n12361;123**;*\n";
    std::fs::write(folder.path().join("zip.csv"), zips).unwrap();
    let text = format!("[study]\nname = \"s\"\npartition = \"vertical\"\n{people}{rest}");
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    Study::read(document, folder.path()).map_err(|error| error.to_string())
}

fn sites(columns: [&str; 2]) -> String {
    let site = |(name, columns): (&str, &str)| format!("[[site]]\nname = \"{name}\"\n{columns}\n");
    ["clinic", "insurer"]
        .into_iter()
        .zip(columns)
        .map(site)
        .collect()
}

#[test]
fn sites_of_the_same_people_say_what_they_hold() {
    let own = [
        "columns = [\"id\", \"age\", \"disease\"]",
        "columns = [\"ward\", \"zip\"]",
    ];
    let study = vertical(PEOPLE, &sites(own)).unwrap();
    let split = study.split.as_ref().unwrap();
    assert_eq!(split.names(&study.schema, 1), ["zip", "ward"]);
    let columns = study.schema_at(0);
    let names = columns.attributes().iter().map(|one| one.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["id", "age", "disease"]);
    assert_eq!(study.algorithm, Algorithm::D2pt);
    assert_eq!(
        study.release_tables(),
        ["quasi.csv", "sensitive-disease.csv", "other-ward.csv"]
    );
    // What the study does not say, a simulation may.
    assert_eq!(vertical(PEOPLE, "").unwrap().split, None);

    let refused = |columns| vertical(PEOPLE, &sites(columns)).unwrap_err();
    let first = "columns = [\"age\", \"disease\"]";
    assert_eq!(
        refused([first, "columns = [\"zipp\"]"]),
        "study.toml:28: site 2 has a column `zipp`, which the study does not have\nhint: did you mean `zip`?"
    );
    assert!(
        refused([first, "columns = [\"zip\", \"age\", \"ward\"]"])
            .starts_with("study.toml:28: column `age` stands at site 1 and at site 2\nhint: ")
    );
    assert!(
        refused([first, "columns = [\"zip\"]"])
            .starts_with("study.toml:20: no site has column `ward`\nhint: ")
    );
    let everything = "columns = [\"age\", \"disease\", \"zip\", \"ward\"]";
    assert!(
        refused([everything, "columns = [\"id\"]"])
            .starts_with("study.toml:28: site 2 has no column")
    );
    assert!(refused([everything, ""]).starts_with("study.toml:26: `site.columns` is missing"));
    assert!(refused([first, "colums = [\"zip\"]"]).contains("did you mean `columns`?"));
    let body = format!(
        "{PEOPLE}{}",
        sites([first, "columns = [\"zip\", \"ward\"]"])
    );
    assert!(refusal(&body).starts_with("study.toml:25: `site.columns` is for vertical studies"));
}

#[test]
fn an_algorithm_is_of_the_partition() {
    let vertically = |name: &str| {
        let algorithm = format!("[algorithm]\nname = \"{name}\"\n");
        vertical(PEOPLE, &algorithm).map(|study| study.algorithm)
    };
    let horizontally = |name: &str| {
        let algorithm = format!("[algorithm]\nname = \"{name}\"\n");
        read(&format!("{PEOPLE}{algorithm}")).map(|study| study.algorithm)
    };
    for (name, algorithm) in Algorithm::NAMES {
        assert_eq!(algorithm.name(), name);
        let is_vertical = algorithm == Algorithm::D2pt;
        let is_horizontal = algorithm == Algorithm::ProviderAware;
        assert_eq!(vertically(name).is_ok(), !is_horizontal, "{name}");
        assert_eq!(horizontally(name).is_ok(), !is_vertical, "{name}");
    }
    assert_eq!(
        vertically("provider-aware").unwrap_err(),
        "study.toml:24: `algorithm.name` is `provider-aware`, which is for horizontal studies\nhint: vertical ones have `d2pt`, `clustering`, `mondrian`"
    );
    assert!(
        vertically("d2p")
            .unwrap_err()
            .ends_with("hint: did you mean `d2pt`?")
    );
    assert_eq!(
        horizontally("d2pt").unwrap_err(),
        "study.toml:24: `algorithm.name` is `d2pt`, which is for vertical studies\nhint: horizontal ones have `mondrian`, `clustering`, `provider-aware`"
    );
}

#[test]
fn what_a_vertical_release_cannot_be_named_after_is_refused() {
    let nobody = PEOPLE.replace("identifier", "other");
    assert!(
        vertical(&nobody, "")
            .unwrap_err()
            .contains("no attribute has role = \"identifier\"")
    );
    let renamed = |from: &str, to: &str| vertical(&PEOPLE.replace(from, to), "").unwrap_err();
    assert!(
        renamed("\"age\"", "\"group\"")
            .starts_with("study.toml:8: a fragmented release has a column `group`")
    );
    assert!(
        renamed("\"disease\"", "\"a/b\"")
            .starts_with("study.toml:16: a fragmented release has a file named after `a/b`")
    );
    assert!(renamed("\"id\"", "\"group\"").contains("has a column `group`"));
    let long = format!("\"{}\"", "x".repeat(201));
    assert!(renamed("\"disease\"", &long).contains("at most 200 bytes"));
    let twins = PEOPLE
        .replace("\"other\"", "\"sensitive\"")
        .replace("\"ward\"", "\"Disease\"");
    assert!(
        vertical(&twins, "")
            .unwrap_err()
            .contains("differs by case only")
    );
    let recoded = PEOPLE.replace("zip.csv\"\n", "zip.csv\"\nrecode = \"set\"\n");
    assert!(
        vertical(&recoded, "")
            .unwrap_err()
            .starts_with("study.toml:15: `attribute.recode` has no meaning")
    );
    // Clusters are one table.
    let cluster = "[algorithm]\nname = \"clustering\"\n";
    assert!(vertical(&PEOPLE.replace("\"disease\"", "\"a/b\""), cluster).is_ok());
}

const AGE: &str =
    "[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n";

#[test]
fn audits_are_for_some_days_and_by_somebody() {
    let study = |lines: &str| read(&format!("{lines}\n{AGE}"));
    assert_eq!(study("").unwrap().audit, None);
    let audit = study("audit = \"90 days\"\nauditor = \"ed25519:ab\"")
        .unwrap()
        .audit;
    let expected = Audit {
        days: 90,
        auditor: Some(String::from("ed25519:ab")),
    };
    assert_eq!(audit, Some(expected));
    assert_eq!(study("audit = \"1 day\"").unwrap().audit.unwrap().days, 1);
    for wrong in ["90", "0 days", "-3 days", "99999 days", "a week", " days"] {
        let error = study(&format!("audit = \"{wrong}\"")).unwrap_err();
        assert!(
            error.starts_with("study.toml:4: `study.audit` is"),
            "{error}"
        );
    }
    let error = study("auditor = \"ed25519:ab\"").unwrap_err();
    assert!(
        error.contains("`study.auditor` needs `study.audit`"),
        "{error}"
    );
}

#[test]
fn questions_are_closed_by_default_and_named_by_their_answers() {
    let study = |query: &str| read(&format!("{AGE}{query}")).map(|study| study.query);
    assert_eq!(study("").unwrap(), None);
    let both = Some(Query {
        answers: vec![AnswerKind::Totals, AnswerKind::Rows],
    });
    assert_eq!(
        study("[query]\nanswers = [\"totals\", \"rows\"]").unwrap(),
        both
    );
    for (wrong, why) in [
        ("[query]", "[query] allows no answers"),
        ("[query]\nanswers = []", "[query] allows no answers"),
        (
            "[query]\nanswers = [\"tables\"]",
            "`query.answers` lists `tables`",
        ),
        (
            "[query]\nanswers = [\"rows\"]\nfrom = [\"a\"]",
            "unknown key `from` in `query`",
        ),
    ] {
        let error = study(wrong).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

const AGE: &str =
    "[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n";

#[test]
fn limits_of_the_gate_are_exact_shares() {
    let study = read(&format!("{AGE}[gate]\nskew = 0.1\ncertain = 0.000001\n")).unwrap();
    let gate = study.gate.unwrap();
    let limits: Vec<(&str, u32)> = gate
        .limits()
        .map(|(attack, share)| (attack, share.millionths()))
        .collect();
    assert_eq!(limits, [("certain", 1), ("skew", 100_000)]);
    assert_eq!(gate.limit("skew").map(Share::number), Some(0.1));
    assert_eq!(gate.limit("other"), None);
    assert_eq!(read(AGE).unwrap().gate, None);
    for whole in ["0", "1", "1.0"] {
        assert!(read(&format!("{AGE}[gate]\norder = {whole}\n")).is_ok());
    }
}

#[test]
fn everything_that_is_wrong_with_limits_is_told_at_once() {
    let told = refusal(&format!(
        "{AGE}[gate]\nskew = 1.5\ncertain = 0.0000001\ncertian = 0.1\nordre = 0\nbayes = 0.1\nother = \"all\"\nprinted = nan\n"
    ));
    for line in [
        "study.toml:10: `gate.skew` is 1.5, expected a share from 0 to 1",
        "study.toml:11: `gate.certain` is 0.0000001, expected a share",
        "study.toml:12: unknown key `certian` in `gate`\nhint: did you mean `certain`?",
        "study.toml:13: unknown key `ordre` in `gate`\nhint: did you mean `order`?",
        "study.toml:14: `gate.bayes` is an attack that no run tries",
        "study.toml:15: ",
        "study.toml:16: `gate.printed` is NaN",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let vertical =
        "[[attribute]]\nname = \"id\"\nrole = \"identifier\"\n[gate]\nends = 0.1\ncertain = 0.1\n";
    let text = format!("[study]\nname = \"s\"\npartition = \"vertical\"\n{AGE}{vertical}");
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    let told = Study::read(document, Path::new(""))
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("study.toml:13: `gate.ends` is for horizontal studies")
            && !told.contains("certain"),
        "{told}"
    );
    let none = refusal(&format!("{AGE}[gate]\n"));
    assert!(none.contains("[gate] limits no attack"), "{none}");
    for name in Gate::names() {
        assert!(none.contains(&format!("`{name}`")), "{none}");
    }
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[study]\nname = \"s\"\npartition = \"horizontal\"\nrelease = \"virtual\"\n{AGE}[gate]\nskew = 0.1\n"
    );
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    let told = Study::read(document, folder.path())
        .unwrap_err()
        .to_string();
    assert!(told.contains("[gate] holds back releases"), "{told}");
}
