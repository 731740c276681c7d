//! Bad input, and what is said of it.

use hedgerow_data::Codes;
use hedgerow_data::study::{Identity, Split};
use hedgerow_protocols::Error;
use hedgerow_protocols::clustering::Stop;
use hedgerow_protocols::vertical::clustering;
use hedgerow_protocols::vertical::d2pt::{self, Datafly, Suppression, Synchronizer};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Security, Seed, Settings};

use super::laws::people;
use super::people::{How, People, study};
use crate::runs::requirement;

fn refusal(people: &People, line: &str) -> String {
    let demand = requirement(line, &people.schema);
    let how = How {
        requirement: &demand,
        anonymizer: &Datafly,
        synchronizer: Synchronizer::Merge,
        suppression: Suppression::NONE,
        restore: false,
    };
    let Err(error) = people.together(how, Settings::hardened()) else {
        panic!("it was not refused")
    };
    error.to_string()
}

fn rows(count: u32, columns: u32) -> Vec<Vec<u32>> {
    let row = |person| (0..columns).map(|column| person * (column + 2)).collect();
    (0..count).map(row).collect()
}

/// Two sites, each with its own people.
fn two_sites(places: impl Fn(usize) -> Vec<usize>, identity: &str, names: [&str; 4]) -> People {
    let text = format!(
        "[[attribute]]\nname = \"a\"\nrole = \"quasi\"\nvalues = [\"x\", \"y\"]\n\
         [[attribute]]\nname = \"b\"\nrole = \"quasi\"\nvalues = [\"x\", \"y\"]\n\
         [[attribute]]\nname = \"s\"\nrole = \"sensitive\"\nvalues = [\"x\", \"y\"]\n{identity}"
    );
    let everybody: Vec<(String, Vec<u32>)> = names
        .iter()
        .map(|name| ((*name).to_owned(), vec![0, 1, 1]))
        .collect();
    People::new(
        &study(&text, &[]),
        &[vec!["a"], vec!["b", "s"]],
        &everybody,
        places,
    )
}

#[test]
fn nobody_and_too_few_in_common() {
    let apart = |site| if site == 0 { vec![0, 1] } else { vec![2, 3] };
    let people = two_sites(apart, "", ["p", "q", "r", "s"]);
    let error = refusal(&people, "k = 2");
    assert!(
        error.starts_with("no person is known to all sites: none of this site's 2 records"),
        "{error}"
    );
    let few = |site| {
        if site == 0 {
            vec![0, 1, 2]
        } else {
            vec![3, 2, 1]
        }
    };
    let people = two_sites(few, "", ["p", "q", "r", "s"]);
    let error = refusal(&people, "k = 3");
    assert!(
        error.contains("all 2 records together do not satisfy k = 3"),
        "{error}"
    );
    assert!(
        error.contains("the largest k that can be met is 2"),
        "{error}"
    );
}

#[test]
fn identifiers_that_repeat_or_collide() {
    let twice = |site| {
        if site == 0 {
            vec![0, 1, 1, 2]
        } else {
            vec![0, 1, 2]
        }
    };
    let people = two_sites(twice, "", ["p", "q", "r", "s"]);
    let error = refusal(&people, "k = 2");
    assert!(error.starts_with("1 record repeats an identifier that an earlier record has, the first are records 2 and 3"), "{error}");
    let all = |_| vec![0, 1, 2, 3];
    let people = two_sites(all, "[identity]\ncase = \"fold\"\n", ["p", "P", "q", "Q"]);
    let error = refusal(&people, "k = 2");
    assert!(
        error.starts_with(
            "2 records have another identifier than an earlier record, but the same one"
        ),
        "{error}"
    );
    assert_ne!(people.identity, Identity::default());
}

#[test]
fn a_site_without_quasi_identifiers_takes_part() {
    let people = people(3, &rows(24, 9), Some(2), false);
    for synchronizer in [
        Synchronizer::Merge,
        Synchronizer::Fork,
        Synchronizer::Dpp2ga,
    ] {
        let demand = requirement(
            "k = 2, t = { at_most = 0.3, distance = \"equal\" }",
            &people.schema,
        );
        let how = How {
            requirement: &demand,
            anonymizer: &Datafly,
            synchronizer,
            suppression: Suppression::NONE,
            restore: false,
        };
        let parts = people.together(how, Settings::hardened()).unwrap();
        people.check(&parts, how);
    }
}

#[test]
fn columns_at_two_sites() {
    let people = two_sites(|_| vec![0, 1, 2, 3], "", ["p", "q", "r", "s"]);
    let error = Split::new(&people.schema, &[vec!["a", "b"], vec!["b", "s"]]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("column `b` stands at site 1 and at site 2")
    );
}

#[test]
fn requirements_about_sites_are_for_sites_with_other_people() {
    let people = people(2, &rows(12, 6), None, false);
    let error = refusal(&people, "k = 2, site_diversity = 2");
    assert!(
        error.contains("cannot be asked of sites that hold different columns"),
        "{error}"
    );
    assert!(refusal(&people, "k = 2, m = 1").starts_with("m = 1 cannot be asked"));
    let people = two_sites(|_| vec![0, 1, 2, 3], "", ["p", "q", "r", "s"]);
    let error = refusal(&people, "k = 2, l = 2");
    assert!(
        error.contains("all 4 records together do not satisfy"),
        "{error}"
    );
}

/// Text has no codes that mean the same everywhere, so no site could write it.
#[test]
fn free_text_is_refused_by_name() {
    let text = "[[attribute]]\nname = \"a\"\nrole = \"quasi\"\nvalues = [\"x\", \"y\"]\n\
                [[attribute]]\nname = \"remark\"\nrole = \"other\"\n";
    let schema = study(text, &[]).schema;
    let split = Split::new(&schema, &[vec!["a"], vec!["remark"]]).unwrap();
    let demand = requirement("k = 2", &schema);
    let codes = Codes::for_size(2);
    let position = schema.position("a").unwrap();
    let outcomes = Simulation::new(2, 5).run_ideal(|mut party| {
        let (split, demand, schema, codes) = (&split, &demand, &schema, &codes);
        async move {
            let by_groups = d2pt::Plan {
                schema,
                split,
                requirement: demand,
                anonymizer: &Datafly,
                synchronizer: Synchronizer::Merge,
                suppression: Suppression::NONE,
                restore: false,
            };
            let own: &[(usize, &Codes)] = &[(position, codes)];
            let groups = d2pt::anonymize(&mut party, &by_groups, own, &[], |_, _| {}).await;
            let by_clusters = clustering::Plan {
                schema,
                split,
                requirement: demand,
                writings: Vec::new(),
                loss: clustering::Loss::Lm,
                start: 0.5,
                split_above: 1.5,
                starts: 1,
                stop: Stop::at(Security::Hardened),
                is_refined: false,
                is_printed: false,
                noise: 0.0,
                asks_all: false,
                seeds: &|_| Seed::for_site(1, 0),
            };
            let clusters = clustering::cluster(&mut party, &by_clusters, own, &[], |_| {}).await;
            let messages = [groups.err(), clusters.err()];
            Ok::<_, Error>(messages.map(|error| error.unwrap().to_string()))
        }
    });
    for message in outcomes.into_iter().flat_map(Result::unwrap) {
        assert!(
            message.starts_with("column `remark` is free text"),
            "{message}"
        );
        assert!(message.contains("hint: "), "{message}");
    }
}
