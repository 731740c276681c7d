//! What a study says of how protocols run, and what is refused.

use std::path::Path;

use hedgerow_data::document::Document;

use super::*;
use crate::clustering::{CountsChoice, Loss, Stop};
use crate::horizontal::cover::Covers;
use crate::horizontal::mondrian::{Choose, Cuts, Medians, Widths};
use crate::vertical::d2pt::{AnonymizerChoice, Suppression, Synchronizer};
use hedgerow_privacy::Ratio;
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_smc::settings::{Probabilistic, Ring, Shape, Uniting};

const HORIZONTAL: &str = "[study]\nname = \"s\"\npartition = \"horizontal\"\n";
const VERTICAL: &str = "[study]\nname = \"s\"\npartition = \"vertical\"\n";

const AGE: &str =
    "[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n";
const PEOPLE: &str = "[[attribute]]\nname = \"id\"\nrole = \"identifier\"\n\
    [[attribute]]\nname = \"age\"\nrole = \"quasi\"\nvalues = [\"1\", \"2\"]\n";

/// The settings of a study with this text.
fn settings(text: String) -> Result<RunSettings, String> {
    let document = Document::parse(text, Path::new("study.toml")).unwrap();
    let study = Study::read(document, Path::new(".")).map_err(|error| error.to_string())?;
    RunSettings::of_study(&study).map_err(|error| error.to_string())
}

fn read(body: &str) -> Result<RunSettings, String> {
    settings(format!("{HORIZONTAL}{body}"))
}

#[test]
fn how_clusters_are_found() {
    let study = |lines: &str| {
        let age = "[[attribute]]\nname = \"a\"\nrole = \"quasi\"\nvalues = [\"x\"]\n";
        read(&format!("{age}[algorithm]\nname = \"clustering\"\n{lines}"))
    };
    assert_eq!(study("").unwrap().clustering, ClusteringSettings::default());
    let said = study(
        "start = 1\nsplit = 2.5\nstarts = 100\nloss = \"em\"\nblur = true\nfinish = false\n\
         iterations = 7\nleast_gain = 0.01\ncounts = \"hidden\"\neffort = 30\n",
    );
    let expected = ClusteringSettings {
        start: 1.0,
        split: 2.5,
        starts: 100,
        loss: Loss::Em,
        iterations: Some(7),
        least_gain: Some(Ratio::new(1, 100)),
        counts: CountsChoice::Hidden,
        blur: true,
        finish: false,
        effort: 30,
        noise: 0.0,
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
    for effort in [0, -1, 10_001] {
        let message = format!("`algorithm.effort` is {effort}, expected a number from 1 to 10000");
        refused(&format!("effort = {effort}"), &message);
    }
    let split = "expected a number of 1 or more";
    refused("split = 0.9", &format!("`algorithm.split` is 0.9, {split}"));
    refused("split = inf", &format!("`algorithm.split` is inf, {split}"));
    refused(
        "noise = 0.1",
        "`algorithm.noise` is for vertical studies: only there are changes of the loss summed",
    );
    for starts in [0, 101, -1] {
        let message = format!("`algorithm.starts` is {starts}, expected a number from 1 to 100");
        refused(&format!("starts = {starts}"), &message);
    }
    for iterations in [0, -3, 1_000_001] {
        let message =
            format!("`algorithm.iterations` is {iterations}, expected a number from 1 to 1000000");
        refused(&format!("iterations = {iterations}"), &message);
    }
    let share = "expected a share of the loss from 0 to 1";
    for least in ["-0.5", "1.5", "NaN"] {
        let line = format!("least_gain = {}", least.to_lowercase());
        refused(
            &line,
            &format!("`algorithm.least_gain` is {least}, {share}"),
        );
    }
    assert!(study("counts = \"shut\"").unwrap_err().contains("`hidden`"));
    // Cuts would open the counts.
    for name in ["mondrian", "provider-aware"] {
        let cuts = |counts: &str| {
            let study = format!("{AGE}[algorithm]\nname = \"{name}\"\ncounts = \"{counts}\"\n");
            read(&study)
        };
        for counts in ["opened", "hidden"] {
            let refused = cuts(counts).unwrap_err();
            assert!(
                refused.contains("study.toml:11") && refused.contains("clustering"),
                "{refused}"
            );
        }
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

/// A key that another algorithm reads would be silently ignored, so it is refused by name.
#[test]
fn keys_of_other_algorithms_are_refused() {
    let cut = [
        "cuts = \"children\"",
        "medians = \"strict\"",
        "widths = \"box\"",
        "alpha = 0.3",
        "choose = \"width\"",
        "weight = 0.3",
    ];
    let cluster = [
        "start = 0.5",
        "starts = 2",
        "loss = \"lm\"",
        "finish = true",
    ];
    let of =
        |name: &str, line: &str| read(&format!("{AGE}[algorithm]\nname = \"{name}\"\n{line}\n"));
    for (name, refused, taken) in [
        ("clustering", &cut[..], &cluster[..]),
        ("mondrian", &cluster, &cut),
        ("provider-aware", &cluster, &cut),
    ] {
        for line in refused {
            let key = line.split(' ').next().unwrap();
            let error = of(name, line).unwrap_err();
            let begins = format!("study.toml:11: `algorithm.{key}` is for ");
            assert!(error.starts_with(&begins), "{name}, {line}: {error}");
        }
        // How wide classes are written concerns all.
        for line in taken.iter().chain(&["covers = \"box\""]) {
            assert!(of(name, line).is_ok(), "{name}, {line}");
        }
    }
}

/// What a study demands decides whether hidden counts and keys about coalitions have a meaning.
#[test]
fn settings_fit_what_is_required() {
    let see = |algorithm: &str, require: &str, sites: u64| {
        let disease =
            "[[attribute]]\nname = \"d\"\nrole = \"sensitive\"\nvalues = [\"u\", \"v\"]\n";
        let text =
            format!("{HORIZONTAL}{AGE}{disease}[algorithm]\n{algorithm}\n[require]\n{require}\n");
        let document = Document::parse(text, Path::new("study.toml")).unwrap();
        let study = Study::read(document, Path::new(".")).unwrap();
        let scope = hedgerow_privacy::Scope {
            sites: Some(sites),
            ..hedgerow_privacy::Scope::of_study(&study)
        };
        let requirement = Requirement::of_document(study.document(), &scope).unwrap();
        let settings = RunSettings::of_study(&study).unwrap();
        let seen = settings.see_fit(&study, &requirement, Some(sites));
        seen.map_err(|error| error.to_string())
    };
    let hidden = "name = \"clustering\"\ncounts = \"hidden\"";
    assert_eq!(see(hidden, "k = 2", 2), Ok(()));
    assert_eq!(see(hidden, "k = 2\nl = 2", 3), Ok(()));
    for (require, sites) in [
        ("k = 2\nl = 2", 2),
        ("k = 2\nt = 0.3", 3),
        ("k = 2\nm = 1", 3),
    ] {
        let error = see(hidden, require, sites).unwrap_err();
        assert!(
            error.starts_with("study.toml:15: `algorithm.counts`"),
            "{error}"
        );
    }
    for line in ["verification = \"direct\"", "contributors = true"] {
        for m in [0, 1] {
            assert_eq!(see(line, &format!("k = 2\nm = {m}"), 3), Ok(()));
        }
        let error = see(line, "k = 2", 3).unwrap_err();
        assert!(error.starts_with("study.toml:14: `algorithm."), "{error}");
        assert!(error.contains("require m = 1"), "{error}");
    }
}

/// As printed, iterations end when no record moves; a study may end them earlier.
#[test]
fn when_iterations_end() {
    let stop = |security: &str, lines: &str| {
        let text = format!(
            "{HORIZONTAL}security = \"{security}\"\n{AGE}[algorithm]\nname = \"clustering\"\n{lines}"
        );
        let settings = settings(text).unwrap();
        settings.clustering.stop(settings.security)
    };
    let printed = Stop {
        iterations: None,
        least_gain: Ratio::ZERO,
    };
    assert_eq!(stop("published", ""), printed);
    let hardened = Stop {
        iterations: Some(20),
        least_gain: Ratio::new(1, 200),
    };
    assert_eq!(stop("hardened", ""), hardened);
    assert_eq!(
        stop("hardened", "least_gain = 0"),
        Stop {
            least_gain: Ratio::ZERO,
            ..hardened
        }
    );
    assert_eq!(
        stop("published", "iterations = 6"),
        Stop {
            iterations: Some(6),
            ..printed
        }
    );
}

#[test]
fn the_keys_of_d2pt_are_read_and_refused_elsewhere() {
    let algorithm = |keys: &str| settings(format!("{VERTICAL}{PEOPLE}[algorithm]\n{keys}\n"));
    assert_eq!(algorithm("").unwrap().d2pt, D2ptSettings::default());
    let said = algorithm(
        "name = \"d2pt\"\nanonymizer = \"optimal\"\nsynchronizer = \"fork\"\nsuppression = 0.05\nrestore = true",
    );
    let expected = D2ptSettings {
        anonymizer: AnonymizerChoice::Optimal,
        synchronizer: Synchronizer::Fork,
        suppression: Suppression::Share(0.05),
        restore: true,
    };
    assert_eq!(said.unwrap().d2pt, expected);
    let refused = |keys: &str| algorithm(keys).unwrap_err();
    assert!(refused("synchronizer = \"mrege\"").contains("did you mean `merge`?"));
    assert!(refused("anonymizer = \"incognito\"").contains("expected one of `datafly`, `optimal`"));
    for share in ["-0.1", "1.5", "nan"] {
        assert!(refused(&format!("suppression = {share}")).contains("from 0 to 1"));
    }
    let outliers = algorithm("suppression = \"outliers\"").unwrap();
    assert_eq!(outliers.d2pt.suppression, Suppression::Outliers);
    assert!(refused("suppression = \"outlier\"").contains("did you mean `outliers`?"));
    let quoted = refused("suppression = \"0.1\"");
    assert!(
        quoted.contains("is \"0.1\", expected a number from 0 to 1")
            && quoted.contains("or \"outliers\"\nhint: write the number without quotes"),
        "{quoted}"
    );
    // No hint names a key that this algorithm refuses: `counts` and `noise` are for clustering.
    let unknown = refused("count = 1");
    assert!(!unknown.contains("counts"), "{unknown}");
    let unknown = refused("recod = 1");
    assert!(!unknown.contains("`recode`"), "{unknown}");
    assert!(refused("recode = \"set\"").contains("has no meaning for `d2pt`"));
    assert!(refused("cuts = \"median\"").contains("unknown key `cuts`"));
    assert!(
        refused("name = \"clustering\"\nrestore = true")
            .starts_with("study.toml:13: `algorithm.restore` is for name = \"d2pt\" only")
    );
    assert!(refused("name = \"clustering\"\nblur = true").contains("for horizontal studies"));
    assert!(
        refused("name = \"clustering\"\ncounts = \"hidden\"").contains("for horizontal studies")
    );
    for share in ["-0.1", "1.5", "nan"] {
        let line = format!("name = \"clustering\"\nnoise = {share}");
        assert!(refused(&line).contains("expected a share of the loss of a cell from 0 to 1"));
    }
    let noisy = algorithm("name = \"clustering\"\nnoise = 0.5").unwrap();
    assert_eq!(noisy.clustering.noise, 0.5);
    let horizontal = |keys: &str| read(&format!("{PEOPLE}[algorithm]\n{keys}\n")).unwrap_err();
    assert!(horizontal("suppression = 0.1").contains("for vertical studies; leave it out"));
}

#[test]
fn cuts_of_the_same_people_have_one_key() {
    let algorithm = |keys: &str| settings(format!("{VERTICAL}{PEOPLE}[algorithm]\n{keys}\n"));
    for keys in [
        "",
        "fragments = true",
        "recode = \"set\"\nfragments = false",
    ] {
        algorithm(&format!("name = \"mondrian\"\n{keys}")).unwrap();
    }
    for (keys, problem) in [
        (
            "widths = \"box\"",
            "`algorithm.widths` is for horizontal studies",
        ),
        (
            "choose = \"width\"",
            "`algorithm.choose` is for horizontal studies",
        ),
        (
            "starts = 2",
            "`algorithm.starts` is for name = \"clustering\" only",
        ),
        (
            "noise = 0.1",
            "`algorithm.noise` is for name = \"clustering\" only",
        ),
        (
            "restore = true",
            "`algorithm.restore` is for name = \"d2pt\" only",
        ),
        ("fragment = true", "did you mean `fragments`?"),
    ] {
        let error = algorithm(&format!("name = \"mondrian\"\n{keys}")).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
    for name in ["d2pt", "clustering"] {
        let error = algorithm(&format!("name = \"{name}\"\nfragments = true")).unwrap_err();
        assert!(error.contains("is for name = \"mondrian\" only"), "{error}");
    }
    let horizontal = read(&format!("{PEOPLE}[algorithm]\nfragments = true\n")).unwrap_err();
    assert!(horizontal.contains("for vertical studies"), "{horizontal}");
}

#[test]
fn roles_are_spread_over_four_sites_or_more() {
    let study = |sites: usize| {
        let sites: String = (0..sites)
            .map(|site| format!("[[site]]\nname = \"s{site}\"\n"))
            .collect();
        read(&format!("roles = \"spread\"\n{AGE}{sites}")).map(|settings| settings.roles)
    };
    assert_eq!(read(AGE).unwrap().roles, RoleChoice::Drawn);
    for sites in [0, 4, 5] {
        assert_eq!(study(sites), Ok(RoleChoice::Spread));
    }
    for sites in 1..4 {
        let error = study(sites).unwrap_err();
        assert!(error.starts_with("study.toml:4: `study.roles`"), "{error}");
        assert!(error.contains(&format!("among {sites} sites")), "{error}");
    }
}

#[test]
fn the_level_of_security_is_read_and_decides_what_parties_agree_on() {
    let level = |line: &str| read(&format!("{line}\n{AGE}"));
    assert_eq!(level("").unwrap().security, Security::Hardened);
    let published = level("security = \"published\"").unwrap();
    // JX08 sums with one mask.
    let expected = Settings {
        ring: Ring::OneMask,
        ..Settings::published()
    };
    assert_eq!(published.of_parties(3), expected);
    assert!(!published.is_refined());
    assert_eq!(level("").unwrap().of_parties(3).fan_out, FAN_OUT);
    assert_eq!(
        level("security = \"hardend\"").unwrap_err(),
        "study.toml:4: `study.security` is `hardend`, expected one of `hardened`, `published`\nhint: did you mean `hardened`?"
    );
    let error = settings(format!("{VERTICAL}roles = \"spread\"\n{PEOPLE}")).unwrap_err();
    assert_eq!(
        error,
        "study.toml:4: `study.roles` has no meaning where every site holds everybody: no question leaves sites out"
    );
}

#[test]
fn how_tables_are_cut_and_written() {
    let study = |lines: &str| read(&format!("{AGE}[algorithm]\n{lines}\n"));
    assert_eq!(study("").unwrap(), RunSettings::default());
    let said = study(
        "recode = \"set\"\ncuts = \"children\"\nmedians = \"relaxed\"\nwidths = \"data\"\ncovers = \"box\"\nalpha = 1",
    );
    let said = said.unwrap();
    assert_eq!(said.recode, Recode::Set);
    let expected = TopDown {
        cuts: Cuts::Children,
        medians: Some(Medians::Relaxed),
        widths: Some(Widths::Data),
        covers: Covers::Box,
        alpha: 1.0,
        ..TopDown::default()
    };
    assert_eq!(said.top_down, expected);
    assert_eq!(
        study("medians = \"relaxd\"").unwrap_err(),
        "study.toml:10: `algorithm.medians` is `relaxd`, expected one of `strict`, `relaxed`\nhint: did you mean `relaxed`?"
    );
    assert_eq!(
        study("median = \"relaxed\"").unwrap_err(),
        "study.toml:10: unknown key `median` in `algorithm`\nhint: did you mean `medians`?"
    );
    // `counts` is for clustering.
    let unknown = study("count = 1").unwrap_err();
    assert!(!unknown.contains("`counts`"), "{unknown}");
    assert_eq!(
        study("alpha = 2").unwrap_err(),
        "study.toml:10: `algorithm.alpha` is 2, expected a number from 0 to 1"
    );
}

/// MPRIV: the strategy, the choice of a cut, its weight, and whose coalitions are looked at.
#[test]
fn how_colluders_are_asked_about() {
    let level = |security: &str, lines: &str| {
        settings(format!(
            "{HORIZONTAL}security = \"{security}\"\n{AGE}[algorithm]\n{lines}\n"
        ))
    };
    for (word, strategy) in Strategy::NAMES {
        let line = format!("verification = \"{word}\"");
        let published = level("published", &line).unwrap().colluders;
        assert_eq!(published.verification, Some(strategy));
        assert_eq!(published.strategy(Security::Published), strategy);
        let hardened = level("hardened", &line);
        match strategy {
            Strategy::Direct | Strategy::Exact => {
                assert_eq!(hardened.unwrap().colluders.verification, Some(strategy));
            }
            _ => {
                let error = hardened.unwrap_err();
                let first =
                    format!("study.toml:11: `algorithm.verification` is \"{word}\", which asks");
                assert!(error.starts_with(&first), "{error}");
                assert!(
                    error.contains("hint: take \"exact\" or \"direct\""),
                    "{error}"
                );
            }
        }
    }
    let default = Colluders::default();
    assert_eq!(level("hardened", "").unwrap().colluders, default);
    assert_eq!(default.strategy(Security::Hardened), Strategy::Exact);
    assert_eq!(default.strategy(Security::Published), Strategy::Adaptive);
    let spread = |lines: &str| {
        let study = format!(
            "{HORIZONTAL}security = \"hardened\"\nroles = \"spread\"\n{AGE}[algorithm]\n{lines}\n"
        );
        settings(study).unwrap().colluders
    };
    let coalitions = spread("");
    assert_eq!(coalitions.strategy(Security::Hardened), Strategy::Direct);
    let sums = spread("verification = \"exact\"");
    assert_eq!(sums.strategy(Security::Hardened), Strategy::Exact);
    let said = level(
        "hardened",
        "choose = \"fitness\"\nweight = 0.8\ncontributors = true",
    )
    .unwrap();
    assert_eq!(said.top_down.choose, Some(Choose::Fitness));
    assert_eq!(said.top_down.weight, 0.8);
    assert!(said.colluders.contributors);
    let refused = |line: &str| level("hardened", line).unwrap_err();
    assert!(refused("verification = \"binry\"").contains("did you mean `binary`?"));
    assert!(
        refused("weight = 1.5")
            .contains("`algorithm.weight` is 1.5, expected a number from 0 to 1")
    );
    assert!(refused("contributors = 1").starts_with("study.toml:11: "));
    let of_people = settings(format!(
        "{VERTICAL}{PEOPLE}[algorithm]\nverification = \"direct\"\n"
    ));
    assert!(
        of_people
            .unwrap_err()
            .contains("unknown key `verification`")
    );
}

/// Every name is one value's, and that value's name.
#[test]
fn names_are_of_one_value_each() {
    fn see<T: Copy + PartialEq + std::fmt::Debug>(
        names: &[(&'static str, T)],
        name: fn(T) -> &'static str,
    ) {
        for (place, (word, value)) in names.iter().enumerate() {
            assert_eq!(*word, name(*value));
            let others = names
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place);
            for (_, (other, of_other)) in others {
                assert!(other != word && of_other != value, "{word}");
            }
        }
    }
    see(&Security::NAMES, Security::name);
    see(&RoleChoice::NAMES, RoleChoice::name);
    see(&Shape::NAMES, Shape::name);
    see(&Recode::NAMES, Recode::name);
    see(&Cuts::NAMES, Cuts::name);
    see(&Medians::NAMES, Medians::name);
    see(&Widths::NAMES, Widths::name);
    see(&Covers::NAMES, Covers::name);
    see(&Loss::NAMES, Loss::name);
    see(&AnonymizerChoice::NAMES, AnonymizerChoice::name);
    see(&Synchronizer::NAMES, Synchronizer::name);
}

#[test]
fn the_primitives_of_jx08_run_as_a_published_study_says() {
    let published = |keys: &str| {
        let text = format!("security = \"published\"\n{AGE}[algorithm]\n{keys}\n");
        read(&text).map(|settings| settings.of_parties(3))
    };
    assert_eq!(
        published("name = \"clustering\"").unwrap(),
        Settings::published(),
        "TG12 sums in two passes"
    );
    let said = "sum = \"two-passes\"\np0 = 0.5\ndampening = 0.25\nlaps = 3\nunion = \"naive\"\nrandom_items = 7";
    let expected = Settings {
        ring: Ring::TwoPasses,
        probabilistic: Probabilistic {
            start: 0.5,
            dampening: 0.25,
            laps: 3,
        },
        union: Uniting::Naive,
        decoys: 7,
        ..Settings::published()
    };
    assert_eq!(published(said).unwrap(), expected);
    for (key, allowed) in [
        ("p0 = 1.5", "expected a number from 0 to 1"),
        ("dampening = -0.1", "expected a number from 0 to 1"),
        ("laps = 0", "expected a number from 1 to 1000"),
        ("random_items = -1", "expected a number from 0 to 1000000"),
        ("sum = \"one\"", "`one-mask`"),
        ("union = \"mixing\"", "`naive`"),
    ] {
        let error = published(key).unwrap_err();
        assert!(error.starts_with("study.toml:11: "), "{error}");
        assert!(error.contains(allowed), "{key}: {error}");
    }
    for line in said.lines() {
        let key = line.split(' ').next().unwrap();
        for partition in [format!("{HORIZONTAL}{AGE}"), format!("{VERTICAL}{PEOPLE}")] {
            let error = settings(format!("{partition}[algorithm]\n{line}\n")).unwrap_err();
            let reason = format!("`algorithm.{key}` is for security = \"published\": the hardened");
            assert!(error.contains(&reason), "{error}");
        }
    }
}

#[test]
fn the_shape_of_the_network_follows_from_the_study_or_from_the_number_of_sites() {
    let sites = "[[site]]\nname = \"north\"\n[[site]]\nname = \"south\"\n";
    let study = |network: &str| read(&format!("{AGE}{sites}{network}"));
    let paths = |network: &str, sites: usize| {
        let Settings { shape, hub, .. } = study(network).unwrap().of_parties(sites);
        (shape, hub.index())
    };
    assert_eq!(paths("", Shape::LARGEST_MESH), (Shape::Mesh, 0));
    assert_eq!(paths("", Shape::LARGEST_MESH + 1), (Shape::Star, 0));
    assert_eq!(
        paths("[network]\nshape = \"mesh\"\n", 500),
        (Shape::Mesh, 0)
    );
    let star = "[network]\nshape = \"star\"\nhub = \"south\"\n";
    assert_eq!(paths(star, 3), (Shape::Star, 1));
    assert_eq!(paths(star, 1), (Shape::Star, 0), "a simulation without it");
    assert_eq!(paths("[network]\nshape = \"tree\"\n", 3), (Shape::Tree, 0));
    let refused = |network: &str, message: &str| {
        assert_eq!(study(network).unwrap_err(), message);
    };
    refused(
        "[network]\nshape = \"ring\"\n",
        "study.toml:14: `network.shape` is `ring`, expected one of `mesh`, `star`, `tree`",
    );
    refused(
        "[network]\nhub = \"south\"\n",
        "study.toml:14: `network.hub` is for shape = \"star\" and shape = \"tree\": in a mesh no site passes anything on\nhint: leave it out, or say the shape",
    );
    refused(
        "[network]\nshape = \"star\"\nhub = \"west\"\n",
        "study.toml:15: `network.hub` is `west`, which is no site of the study\nhint: write the name of a [[site]]",
    );
    let published = format!("security = \"published\"\n{AGE}[network]\nshape = \"star\"\n");
    assert_eq!(
        read(&published).unwrap_err(),
        "study.toml:10: [network] is for security = \"hardened\": the papers' protocols go around a ring\nhint: leave it out"
    );
}
