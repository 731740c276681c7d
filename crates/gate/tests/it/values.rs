//! Attacks on sensitive values, by the release alone: each release here is broken in one way, and the same
//! release is mended beside it.

use hedgerow_gate::{Attack, Known, Limits, Subject, Verdict, attack};

use crate::made::{Row, at_risk, cell, counted, fragmented, known, of_classes, published, tried};

#[test]
fn a_class_of_one_value_falls() {
    let (young, old) = (cell(0, 49), cell(50, 99));
    let zip = cell(0, 9);
    let broken = of_classes(&[
        (young.clone(), zip.clone(), &[1, 1, 1]),
        (old.clone(), zip.clone(), &[1, 2, 3]),
    ]);
    let finding = tried(Attack::Certain, &published(&broken), &Known::default());
    assert_eq!(finding.verdict, Verdict::Falls);
    let found = finding.measured.unwrap();
    assert_eq!((found.at_risk, found.of), (3, 6));
    assert_eq!(found.worst[0].class, ["age = [0-49]", "zip = *"]);
    // Four of six have disease 1, so 3 of a class have it in 4 of 20 deals.
    assert!((found.control.unwrap().share - 0.2).abs() < 1e-9);

    let good = of_classes(&[(young, zip.clone(), &[1, 1, 2]), (old, zip, &[1, 3, 3])]);
    let finding = tried(Attack::Certain, &published(&good), &Known::default());
    assert_eq!(finding.verdict, Verdict::Holds);
}

#[test]
fn what_strangers_lose_too_is_no_leak() {
    let rows = of_classes(&[
        (cell(0, 49), cell(0, 9), &[1; 40]),
        (cell(50, 99), cell(0, 9), &[2; 40]),
    ]);
    // All young people have disease 1 and all old ones disease 2, in the table or not.
    let strangers: Vec<_> = (0..400)
        .map(|one| (one % 100, 0, 1 + one % 100 / 50))
        .collect();
    let own: Vec<_> = (0..80)
        .map(|one| (one / 40 * 50, 0, 1 + one / 40))
        .collect();
    let finding = tried(
        Attack::Certain,
        &published(&rows),
        &known(&[&own], &strangers),
    );
    assert_eq!(finding.verdict, Verdict::Holds, "{finding:?}");
    assert_eq!(finding.measured.unwrap().control.unwrap().share, 1.0);
    // People whose disease does not go with their age.
    let strangers: Vec<_> = (0..400).map(|one| (one % 100, 0, 3)).collect();
    let finding = tried(
        Attack::Certain,
        &published(&rows),
        &known(&[&own], &strangers),
    );
    assert_eq!(finding.verdict, Verdict::Falls);
}

#[test]
fn nine_in_ten_are_skewed() {
    let mut diseases = [1; 20];
    diseases[0] = 2;
    let others = [1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 2, 3];
    let rows = of_classes(&[
        (cell(0, 49), cell(0, 9), &diseases),
        (cell(50, 99), cell(0, 9), &others),
    ]);
    let release = published(&rows);
    let finding = tried(Attack::Skew, &release, &Known::default());
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 19));
    let finding = tried(Attack::Certain, &release, &Known::default());
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Holds, 0));
}

#[test]
fn a_value_that_is_published_leads_to_its_record() {
    let with_costs = |costs: fn(u32) -> u32| -> Vec<Row> {
        let row = |one: u32| (cell(0, 99), cell(one / 6, one / 6), one % 3, costs(one));
        (0..60).map(row).collect()
    };
    let broken = with_costs(|one| one);
    let finding = tried(Attack::Other, &published(&broken), &Known::default());
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 60));
    let good = with_costs(|_| 5);
    let finding = tried(Attack::Other, &published(&good), &Known::default());
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Holds, 0));
}

#[test]
fn a_product_hides_one_value_of_one_attribute() {
    use std::sync::Arc;

    use hedgerow_data::{Release, Role, Schema};

    // Cost is sensitive too: a class has six costs and one disease.
    let mut attributes = crate::made::schema().attributes().to_vec();
    attributes[3].role = Role::Sensitive;
    let schema = Arc::new(Schema::new(attributes));
    let of = |disease: fn(u32) -> u32| {
        let mut rows: Vec<Row> = Vec::new();
        for class in 0..10 {
            let row = |one: u32| (cell(class, class), cell(0, 9), disease(one), one);
            rows.extend((0..6).map(row));
        }
        for class in 10..60 {
            rows.extend((0..6).map(|one| (cell(class, class), cell(0, 9), one, one)));
        }
        let columns = published(&rows).columns().to_vec();
        Release::new(Arc::clone(&schema), columns, rows.len())
    };
    let product = |release: &Release, joined| {
        let subject = Subject::new(release, 3).with_sensitive_joined(joined);
        attack(
            Attack::Product,
            &subject,
            &Known::default(),
            &Limits::default(),
        )
    };
    let broken = of(|_| 1);
    assert_eq!(product(&broken, true).verdict, Verdict::Falls);
    assert_eq!(at_risk(&product(&broken, true)), 60);
    assert_eq!(product(&broken, false).verdict, Verdict::Nothing);
    assert_eq!(product(&of(|one| one), true).verdict, Verdict::Holds);
}

#[test]
fn restored_quasi_identifiers_single_out() {
    let groups = [1, 1, 1, 2, 2, 2];
    let restored: Vec<Row> = (0..6)
        .map(|one| (cell(one, one), cell(0, 9), one, 0))
        .collect();
    let finding = tried(
        Attack::Printed,
        &fragmented(&restored, &groups),
        &Known::default(),
    );
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 6));
    let found = finding.measured.unwrap();
    assert_eq!(
        found.falls,
        "records printed like fewer than k = 3 (6 like no other)"
    );
    assert_eq!(found.worst[0].class, ["group = 1"]);

    let node = |one: u32| (cell(one / 3 * 3, one / 3 * 3 + 2), cell(0, 9), one, 0);
    let good: Vec<Row> = (0..6).map(node).collect();
    let finding = tried(
        Attack::Printed,
        &fragmented(&good, &groups),
        &Known::default(),
    );
    assert_eq!(finding.verdict, Verdict::Holds);
}

#[test]
fn a_row_counts_for_as_many_records_as_it_stands_for() {
    // Each value once, with a weight; and the same written out.
    let weighted = of_classes(&[
        (cell(0, 49), cell(0, 9), &[1]),
        (cell(50, 99), cell(0, 9), &[1, 2]),
    ]);
    let release = published(&weighted);
    let weights = [5, 2, 3];
    let subject = Subject::new(&release, 3).with_weights(&weights);
    let plain = published(&of_classes(&[
        (cell(0, 49), cell(0, 9), &[1; 5]),
        (cell(50, 99), cell(0, 9), &[1, 1, 2, 2, 2]),
    ]));
    for one in Attack::ALL {
        let known = Known::default();
        let counted = attack(one, &subject, &known, &Limits::default());
        let written = attack(one, &Subject::new(&plain, 3), &known, &Limits::default());
        // A value that is published once for five records is no longer alone.
        assert_eq!(counted.verdict, written.verdict, "{counted:?} {written:?}");
        assert_eq!(
            at_risk(&counted),
            at_risk(&written),
            "{counted:?} {written:?}"
        );
    }
}

#[test]
fn a_counted_release_falls_as_its_records_do() {
    let rows = of_classes(&[
        (cell(0, 49), cell(0, 9), &[1; 7]),
        (cell(50, 99), cell(0, 9), &[1, 1, 2, 2, 2, 3]),
        (cell(50, 74), cell(0, 4), &[2, 2]),
    ]);
    let (single, counted) = (published(&rows), counted(&rows));
    assert!(counted.rows() < single.rows());
    for one in Attack::ALL {
        let known = Known::default();
        let [written, weighed] = [&single, &counted]
            .map(|release| attack(one, &Subject::new(release, 3), &known, &Limits::default()));
        assert_eq!(written.verdict, weighed.verdict, "{written:?} {weighed:?}");
        assert_eq!(
            at_risk(&written),
            at_risk(&weighed),
            "{written:?} {weighed:?}"
        );
    }
}

#[test]
fn an_attribute_that_tells_nothing_hides_no_other() {
    use std::sync::Arc;

    use hedgerow_data::{Release, Role, Schema};

    // Nearly everybody has the same cost, which is certain of nearly all and of strangers too; half of the classes
    // have one disease each.
    let mut attributes = crate::made::schema().attributes().to_vec();
    attributes[3].role = Role::Sensitive;
    let schema = Arc::new(Schema::new(attributes));
    let rows = (0..40u32).flat_map(|class| {
        (0..5u32).map(move |one| {
            let disease = if class < 20 { class % 6 } else { one };
            let cost = u32::from(class == 39 && one == 0);
            (cell(class, class), cell(0, 9), disease, cost)
        })
    });
    let rows: Vec<Row> = rows.collect();
    let columns = published(&rows).columns().to_vec();
    let release = Release::new(Arc::clone(&schema), columns, rows.len());
    let of = |one: Attack, is_joined| {
        let subject = Subject::new(&release, 3).with_sensitive_joined(is_joined);
        attack(one, &subject, &Known::default(), &Limits::default())
    };
    for one in [Attack::Certain, Attack::Skew] {
        let finding = of(one, false);
        assert_eq!(finding.verdict, Verdict::Falls, "{finding:?}");
        assert_eq!(at_risk(&finding), 100);
        assert!(finding.measured.unwrap().falls.contains("`disease`"));
    }
    // Where both are certain, so is their product, and models see that: what is left is no more than by chance.
    let finding = of(Attack::Product, true);
    assert_eq!(finding.verdict, Verdict::Holds, "{finding:?}");
}
