//! `site.toml`: closed by default, and every refusal names its rule.

use std::path::Path;

use hedgerow_node::agreement::Agreement;
use hedgerow_node::rerun::Rerun;
use hedgerow_node::site::SiteFile;
use hedgerow_node::source::{Engine, Password, Rows, Source};
use hedgerow_privacy::Ratio;
use hedgerow_smc::{Security, What};

use super::write_study;

const SIZES: What = What::new("class sizes", "a theorem");
const RULES: [&str; 7] = [
    "minimum_k = 3",
    "models = [\"k\", \"l\"]",
    "minimum_l = 2",
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
    refusals_of_study(folder, rules)
}

fn refusals_of_study(folder: &Path, rules: &[&str]) -> Vec<String> {
    refusals_at(Security::Hardened, folder, rules)
}

fn refusals_at(security: Security, folder: &Path, rules: &[&str]) -> Vec<String> {
    let agreement = Agreement::open(&folder.join("study.toml")).unwrap();
    let site = site(folder, &format!("[accept]\n{}\n", rules.join("\n"))).unwrap();
    let refusals = site.accept.refusals(&agreement, 0, security, &[SIZES]);
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
    // Where no model is demanded yet, the bounds that are missing are told all the same.
    assert_eq!(refusals(folder.path(), &[]).len(), RULES.len());
    // No [accept] at all.
    write_study(folder.path(), &["north", "south"]);
    let agreement = Agreement::open(&folder.path().join("study.toml")).unwrap();
    let site = site(folder.path(), "").unwrap();
    assert_eq!(
        site.accept
            .refusals(&agreement, 0, Security::Hardened, &[SIZES])
            .len(),
        RULES.len()
    );
}

#[test]
fn a_study_must_let_no_more_fall_than_the_site() {
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("study.toml");
    let rules = [
        &RULES[..],
        &["[accept.gate]", "certain = 0.01", "skew = 0.1"],
    ]
    .concat();
    write_study(folder.path(), &["north", "south"]);
    let text = std::fs::read_to_string(&study).unwrap();
    let mut of = |gate: &str| {
        std::fs::write(&study, format!("{text}\n{gate}")).unwrap();
        refusals_of_study(folder.path(), &rules)
    };
    assert_eq!(
        of("[gate]\ncertain = 0.01\nskew = 0.05\norder = 1\n"),
        [""; 0]
    );
    assert_eq!(
        of("[gate]\ncertain = 0.010001\n"),
        [
            "accept.gate.certain: is 0.01; the study's [gate] lets 0.010001 fall",
            "accept.gate.skew: is 0.1; the study's [gate] has no limit for this attack, so no run tries it",
        ]
    );
    assert_eq!(of("").len(), 2);
    let error = site(folder.path(), "[accept.gate]\ncertain = 2\n").unwrap_err();
    assert!(
        error.contains("site.toml:8: `accept.gate.certain` is 2, expected a share"),
        "{error}"
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
            "models = [\"t\", \"l\", \"m\"]",
            "accept.models: demands `t`, `m`, which the study does not require",
        ),
        (
            2,
            "minimum_l = 2.5",
            "accept.minimum_l: is 2.5; the study has only l = 2",
        ),
        (
            3,
            "algorithms = [\"d2pt\"]",
            "accept.algorithms: does not allow `mondrian`",
        ),
        (
            4,
            "security = []",
            "accept.security: does not allow `hardened`",
        ),
        (
            5,
            "disclosures = [\"class size\"]",
            "accept.disclosures: does not allow `class sizes`",
        ),
        (
            6,
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
    refused(
        "[accept]\nmodels = [\"k\"]\nmaximum_t = 0.2\n",
        "site.toml:9: `accept.maximum_t` is set, but `accept.models` does not demand `t`",
    );
    refused(
        "[accept]\nmodels = [\"t\"]\nmaximum_t = -0.2\n",
        "site.toml:9: `accept.maximum_t` is -0.2, expected 0 or more",
    );
    let whole = "site = \"north\"\nstudy = \"study.toml\"\nkey = \"north.key\"\ndata = \"data\"\n";
    for line in whole.lines() {
        let path = folder.path().join("site.toml");
        let text = whole.replace(line, "");
        std::fs::write(&path, format!("{text}[source]\nfile = \"rows.csv\"\n")).unwrap();
        let error = SiteFile::open(&path).unwrap_err().to_string();
        let key = line.split(' ').next().unwrap();
        let expected = format!("`{key}` is missing\nhint: {key} = ");
        assert!(error.contains(&expected), "{error}");
    }
    refused("[accept]\nminimumk = 3\n", "did you mean `minimum_k`?");
    refused(
        "[[peer]]\nname = \"south\"\naddress = \"x\"\n",
        "`peer.address` is `x`",
    );
    refused("[source.postgres]\n", "site.toml:");
}

/// What has a default is held to it where nothing is written.
#[test]
fn three_sites_must_be_safe_from_one_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_study(path, &["north", "south", "east"]);
    let study = path.join("study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let with = |study_m: &str, rule: &str| {
        std::fs::write(&study, text.replace("m = 0\n", study_m)).unwrap();
        let mut rules = RULES.to_vec();
        rules.push(rule);
        refusals_of_study(path, &rules).join("; ")
    };
    assert_eq!(
        with("m = 0\n", ""),
        "accept.minimum_m: is 1; the study has only m = 0"
    );
    assert_eq!(with("m = 0\n", "minimum_m = 0"), "");
    assert_eq!(with("m = 1\n", ""), "");
    assert_eq!(
        with("m = 1\n", "minimum_m = 2"),
        "accept.minimum_m: is 2; the study has only m = 1"
    );
    // Of two sites the other one is all there is.
    assert_eq!(refusals(path, &RULES), [""; 0]);
    // A study with m = 0 requires no m.
    write_study(path, &["north", "south", "east"]);
    let mut rules = RULES.to_vec();
    rules[1] = "models = [\"k\", \"l\", \"m\"]";
    rules.push("minimum_m = 0");
    assert_eq!(
        refusals_of_study(path, &rules),
        ["accept.models: demands `m`, which the study does not require"]
    );
}

#[test]
fn how_often_and_how_much_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let read = |line: &str| site(path, &format!("[accept]\n{line}\n")).map(|site| site.accept);
    let none = read("").unwrap();
    assert_eq!((none.runs(), none.minimum_m()), (1, 1));
    assert_eq!(none.rerun, Rerun::SameRows);
    assert_eq!(none.maximum_share, None);
    assert_eq!(none.maximum_records(), 10_000_000);
    assert_eq!(read("maximum_records = 5").unwrap().maximum_records(), 5);
    let some = read("runs = 3\nrerun = \"ask\"\nminimum_m = 0\nmaximum_share = 0.5").unwrap();
    assert_eq!((some.runs(), some.minimum_m()), (3, 0));
    assert_eq!(some.rerun, Rerun::Ask);
    assert_eq!(some.maximum_share, Some(Ratio::new(1, 2)));
    for (line, expected) in [
        (
            "runs = 0",
            "site.toml:8: `accept.runs` is 0, expected 1 or more",
        ),
        (
            "minimum_m = -1",
            "`accept.minimum_m` is -1, expected 0 or more",
        ),
        (
            "maximum_records = 0",
            "site.toml:8: `accept.maximum_records` is 0, expected 1 or more",
        ),
        (
            "maximum_records = \"many\"",
            "site.toml:8: `accept.maximum_records`",
        ),
        ("rerun = \"never\"", "`accept.rerun` is `never`"),
        (
            "maximum_share = 0",
            "`accept.maximum_share` is 0, expected above 0",
        ),
        ("maximum_share = 1.5", "expected above 0 and at most 1"),
        ("maximum_share = 0.1234567", "six digits or fewer"),
    ] {
        let error = read(line).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    // What sites cannot ask is refused, not passed over.
    write_study(path, &["north", "south", "east"]);
    let study = path.join("study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let published = "partition = \"horizontal\"\nsecurity = \"published\"";
    std::fs::write(
        &study,
        text.replace("partition = \"horizontal\"", published),
    )
    .unwrap();
    let mut rules = RULES.to_vec();
    rules[4] = "security = [\"published\"]";
    rules.extend(["minimum_m = 0", "maximum_share = 0.5"]);
    assert_eq!(
        refusals_at(Security::Published, path, &rules),
        ["accept.maximum_share: is 0.5, which sites cannot ask about at the published level"]
    );
}

/// Of three sites one brings a third of all records or more, so no run could satisfy a lesser share.
#[test]
fn a_share_that_no_table_has_is_refused_before_a_run() {
    let folder = tempfile::tempdir().unwrap();
    for (names, share, expected) in [
        (&["north", "south", "east"][..], "0.333333", Some("1 in 3")),
        (&["north", "south", "east"], "0.333334", None),
        (&["north", "south"], "0.499999", Some("1 in 2")),
        (&["north", "south"], "0.5", None),
    ] {
        write_study(folder.path(), names);
        let rule = format!("maximum_share = {share}");
        let mut rules = RULES.to_vec();
        rules.extend(["minimum_m = 0", rule.as_str()]);
        let told = refusals_of_study(folder.path(), &rules);
        let expected = expected.map(|least| {
            let sites = names.len();
            format!("accept.maximum_share: is {share}; one of {sites} sites brings {least} of all records or more, so no run could end")
        });
        assert_eq!(told, Vec::from_iter(expected));
    }
}

/// What is closer or rarer is stronger, and the same is enough.
#[test]
fn a_study_may_not_be_weaker_than_a_site_demands() {
    let folder = tempfile::tempdir().unwrap();
    write_study(folder.path(), &["north", "south"]);
    let study = folder.path().join("study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let require = "l = 2\nt = 0.3\nsite_diversity = 2\n";
    std::fs::write(&study, text.replace("l = 2\n", require)).unwrap();
    let agreement = Agreement::open(&study).unwrap();
    let refused = |rules: &str| {
        let demanded = "models = [\"k\", \"l\", \"t\", \"site_diversity\"]";
        let others = [RULES[0], demanded, RULES[3], RULES[4], RULES[5], RULES[6]];
        let accept = format!("[accept]\n{}\n{rules}", others.join("\n"));
        let site = site(folder.path(), &accept).unwrap();
        let refusals = site
            .accept
            .refusals(&agreement, 0, Security::Hardened, &[SIZES]);
        let lines: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        lines.join("; ")
    };
    let rules = |l: &str, t: &str, sites: &str| {
        refused(&format!(
            "minimum_l = {l}\nmaximum_t = {t}\nminimum_site_diversity = {sites}\n"
        ))
    };
    assert_eq!(rules("2", "0.3", "2"), "");
    assert_eq!(rules("1", "1.0", "1"), "");
    assert_eq!(
        rules("3", "0.3", "2"),
        "accept.minimum_l: is 3; the study has only l = 2"
    );
    assert_eq!(
        rules("2", "0.29", "3"),
        "accept.maximum_t: is 0.29; the study has t = 0.3; accept.minimum_site_diversity: is 3; the study has only site_diversity = 2"
    );
    assert_eq!(
        refused("maximum_t = 0.3\n"),
        "accept.minimum_l: is not set; the study has l = 2; accept.minimum_site_diversity: is not set; the study has site_diversity = 2"
    );
}

/// Every kind of l implies the weaker ones of the same number, and distinct values are the weakest.
#[test]
fn l_is_compared_by_what_its_kind_implies() {
    let folder = tempfile::tempdir().unwrap();
    write_study(folder.path(), &["north", "south"]);
    let study = folder.path().join("study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let kinds = ["distinct", "recursive", "entropy", "frequency"];
    let table = |kind: &str, c: &str| format!("{{ at_least = 2, kind = \"{kind}\"{c} }}");
    for (own, kind) in kinds.into_iter().enumerate() {
        let c = if kind == "recursive" { ", c = 3" } else { "" };
        let require = format!("l = {}\n", table(kind, c));
        std::fs::write(&study, text.replace("l = 2\n", &require)).unwrap();
        let refused = |minimum_l: &str| {
            let rule = format!("minimum_l = {minimum_l}");
            let mut rules = RULES.to_vec();
            let place = rules.iter().position(|rule| rule.starts_with("minimum_l"));
            rules[place.unwrap()] = &rule;
            refusals_of_study(folder.path(), &rules).join("; ")
        };
        assert_eq!(refused("2"), "");
        assert_eq!(
            refused("3"),
            "accept.minimum_l: is 3; the study has only l = 2"
        );
        for (place, demanded) in kinds.into_iter().enumerate() {
            let expected = match demanded {
                "recursive" => continue,
                "distinct" => String::new(),
                // Of the kinds that a number can be demanded of, those further on imply it.
                _ if own >= place => String::new(),
                _ => format!(
                    "accept.minimum_l: demands l of kind `{demanded}`, which the study's l does not imply"
                ),
            };
            assert_eq!(
                refused(&table(demanded, "")),
                expected,
                "{kind}, {demanded}"
            );
        }
    }
    let accept = "[accept]\nmodels = [\"l\"]\nminimum_l = { kind = \"entropy\" }\n";
    let error = site(folder.path(), accept).unwrap_err();
    assert!(error.contains("at_least"), "{error}");
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
fn what_counts_is_described_with_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.toml");
    let source = |lines: &str| {
        let text = format!(
            "site = \"north\"\nstudy = \"study.toml\"\nkey = \"north.key\"\ndata = \"data\"\n[source.engine]\n{lines}"
        );
        std::fs::write(&path, text).unwrap();
        match SiteFile::open(&path).map(|site| site.source) {
            Ok(Source::Engine(counted)) => Ok(*counted),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        }
    };
    let rows = "path = \"patients\"\n";
    let paths = vec![folder.path().join("patients")];
    let counted = source(rows).unwrap();
    assert_eq!((counted.engine, counted.paths), (Engine::local(), paths));
    let local = source(&format!("{rows}memory = \"500MB\"\nspill = \"large\"\n")).unwrap();
    let expected = Engine::Local {
        memory: 500_000_000,
        spill: Some(folder.path().join("large")),
    };
    assert_eq!(local.engine, expected);
    let cluster = format!("{rows}scheduler = \"df://10.0.0.7:50050\"\n");
    let expected = |anywhere| Engine::Scheduler {
        address: String::from("df://10.0.0.7:50050"),
        anywhere,
    };
    assert_eq!(source(&cluster).unwrap().engine, expected(false));
    let elsewhere = format!("{cluster}anywhere = true\n");
    assert_eq!(source(&elsewhere).unwrap().engine, expected(true));

    for (lines, said) in [
        ("", "`source.engine.path` is missing"),
        (
            "path = \"p\"\nmemory = \"2 apples\"\n",
            "site.toml:7: `source.engine.memory` is `2 apples`, expected a size such as \"2GB\"",
        ),
        (
            "path = \"p\"\nanywhere = true\n",
            "site.toml:7: `source.engine.anywhere` is said of a scheduler, and none is named\nhint: leave it out, or name the scheduler",
        ),
        (
            "path = \"p\"\nscheduler = \"http://e:1\"\n",
            "site.toml:7: `source.engine.scheduler` is `http://e:1`, expected df://host:port",
        ),
        (
            "path = \"p\"\nscheduler = \"df://e:1\"\nmemory = \"2GB\"\n",
            "site.toml:8: `source.engine.memory` is of this machine, and the executors of a cluster have limits of their own\nhint: leave it out, or leave `scheduler` out",
        ),
        ("path = \"p\"\nengine = \"spark\"\n", "unknown key `engine`"),
    ] {
        let error = source(lines).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn rows_come_from_another_machine_in_the_clear_only_if_the_site_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.toml");
    let source = |lines: &str| {
        let text = format!(
            "site = \"north\"\nstudy = \"study.toml\"\nkey = \"north.key\"\ndata = \"data\"\n[source.postgres]\n{lines}database = \"clinic\"\nuser = \"reader\"\ntable = \"patients\"\n"
        );
        std::fs::write(&path, text).unwrap();
        SiteFile::open(&path).map(|site| match site.source {
            Source::Postgres(database) => database.tls,
            _ => panic!("a database was described"),
        })
    };
    let here = [
        "127.0.0.1",
        "127.3.2.1",
        "::1",
        "localhost",
        "/run/postgresql",
    ];
    for host in here {
        assert_eq!(
            source(&format!("host = \"{host}\"\n")).unwrap(),
            None,
            "{host}"
        );
    }
    assert_eq!(source("").unwrap(), None);
    let elsewhere = [
        "db.example.org",
        "192.0.2.7",
        "2001:db8::7",
        "0.0.0.0",
        "localhost.example.org",
        "127.0.0.1.example.org",
        "",
    ];
    for host in elsewhere {
        let host = format!("host = \"{host}\"\n");
        let error = source(&host).unwrap_err().to_string();
        assert!(
            error.contains("site.toml:6: `source.postgres.host` is `"),
            "{error}"
        );
        assert!(error.contains("in the clear\nhint: "), "{error}");
        assert_eq!(source(&format!("{host}tls = \"off\"\n")).unwrap(), None);
        assert_eq!(
            source(&format!("{host}tls = \"authorities.pem\"\n")).unwrap(),
            Some(folder.path().join("authorities.pem"))
        );
    }
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
