//! Statements as analysts and their tools write them.

use hedgerow_sql::Mode;
use serde_json::json;

use crate::ward::{Ward, ask, columns, rows};

fn number(value: &serde_json::Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_count_answers_what_the_session_says() {
    let ward = Ward::new(1, 300, "range");
    let sql = "SELECT count(*) FROM ward WHERE age < 30 AND disease <> 'x'"
        .replace("'x'", &format!("'{}'", ward.diseases[0][0]));
    let statement = ward.released.statement(&sql).unwrap();
    let expected = ward.released.answer(&statement).unwrap().rows[0].clone();
    let one = |mode| ward.ask(mode, &sql)[0][0].clone();
    assert_eq!(one(Mode::Certain), expected[0]);
    assert_eq!(one(Mode::Possible), expected[2]);
    assert!((number(&one(Mode::Estimate)) - number(&expected[1])).abs() < 1e-6);
    let mut session = ward.session(Mode::Bounds);
    let reply = ask(&mut session, &sql).unwrap();
    assert_eq!(
        columns(&reply),
        ["count_low", "count", "count_high", "count_error"]
    );
    for (found, expected) in rows(&reply)[0].iter().zip(&expected) {
        assert!((number(found) - number(expected)).abs() < 1e-6);
    }
    // The same session, set by a statement.
    let shown = ask(&mut session, "SET hedgerow.answer = 'possible'").unwrap();
    assert_eq!(rows(&shown), [[json!("possible")]]);
    let reply = ask(&mut session, &sql).unwrap();
    assert_eq!(rows(&reply), [[expected[2].clone()]]);
    assert_eq!(reply.note(), None);
    assert_eq!(
        rows(&ask(&mut session, "SHOW hedgerow.answer").unwrap()),
        [[json!("possible")]]
    );
}

#[test]
fn what_is_exact_is_a_whole_number() {
    let ward = Ward::new(2, 200, "range");
    assert_eq!(
        ward.ask(Mode::Estimate, "SELECT count(*) FROM ward"),
        [[json!(200)]]
    );
    let disease = &ward.raw[0].disease;
    let sql = format!("SELECT count(*) AS n, sum(days) AS s FROM ward WHERE disease = '{disease}'");
    let found: Vec<i64> = ward
        .raw
        .iter()
        .filter(|raw| raw.disease == *disease)
        .map(|raw| raw.days)
        .collect();
    let expected = [json!(found.len()), json!(found.iter().sum::<i64>())];
    for mode in [Mode::Estimate, Mode::Certain, Mode::Possible] {
        assert_eq!(ward.ask(mode, &sql), std::slice::from_ref(&expected));
    }
}

#[test]
fn aliases_nested_queries_and_with_mean_the_same() {
    let ward = Ward::new(3, 300, "range");
    let plain = "SELECT count(*) FROM ward WHERE age < 30 AND under(zip, 'NODE')"
        .replace("NODE", &ward.zips[0][1]);
    let expected = ward.ask(Mode::Estimate, &plain);
    let node = &ward.zips[0][1];
    for sql in [
        format!(
            "SELECT count(1) AS n FROM WARD AS w WHERE w.AGE < 10 + 20 AND under(w.zip, '{node}')"
        ),
        format!(
            "SELECT count(*) FROM (SELECT * FROM ward) t WHERE t.age < 30 AND under(t.zip, '{node}')"
        ),
        format!(
            "SELECT count(*) FROM (SELECT zip AS z, age AS a FROM ward WHERE age < 30) t WHERE under(z, '{node}')"
        ),
        format!(
            "WITH young AS (SELECT zip, seen FROM ward WHERE age < 30) SELECT count(*) FROM young WHERE under(zip, '{node}')"
        ),
        format!("SELECT count(*) FILTER (WHERE age < 30) FROM ward WHERE under(zip, '{node}')"),
        format!(
            "SELECT sum(CASE WHEN age < 30 THEN 1 ELSE 0 END) FROM public.ward WHERE under(zip, '{node}')"
        ),
        format!("SELECT count(CASE WHEN age < 30 AND under(zip, '{node}') THEN 1 END) FROM ward"),
        format!(
            "SELECT n FROM (SELECT count(*) AS n FROM ward WHERE NOT age >= 30 AND under(zip, '{node}')) t WHERE n > 0"
        ),
        format!("SELECT (SELECT count(*) FROM ward WHERE age < 30 AND under(zip, '{node}'))"),
    ] {
        let found = ward.ask(Mode::Estimate, &sql);
        let near = (number(&found[0][0]) - number(&expected[0][0])).abs() < 1e-6;
        assert!(
            found.len() == 1 && near,
            "{sql}: {found:?}, expected {expected:?}"
        );
    }
}

#[test]
fn groups_are_ordered_limited_and_chosen_above_the_leaf() {
    let ward = Ward::new(4, 400, "range");
    let sql = "SELECT disease, count(*) AS n, sum(days), avg(days) AS mean, sum(count(*)) OVER () AS everyone \
               FROM ward WHERE age < 60 GROUP BY disease HAVING count(*) > 1 ORDER BY n DESC, disease LIMIT 5";
    let found = ward.ask(Mode::Estimate, sql);
    assert!(
        found.len() == 5 && found.is_sorted_by(|a, b| number(&a[1]) >= number(&b[1])),
        "{found:?}"
    );
    let all = ward.ask(
        Mode::Estimate,
        "SELECT disease, count(*) AS n FROM ward WHERE age < 60 GROUP BY disease",
    );
    let chosen: f64 = all
        .iter()
        .map(|row| number(&row[1]))
        .filter(|n| *n > 1.0)
        .sum();
    assert!((number(&found[0][4]) - chosen).abs() < 1e-6);
    // The engine's reader has the same groups.
    let statement = ward
        .released
        .statement("SELECT disease, count(*), avg(days) FROM ward WHERE age < 60 GROUP BY disease")
        .unwrap();
    let expected = ward.released.answer(&statement).unwrap();
    let mut bounds = ward.ask(
        Mode::Bounds,
        "SELECT disease, count(*), avg(days) FROM ward WHERE age < 60 GROUP BY disease",
    );
    bounds.sort_by_key(|row| row[0].to_string());
    let mut rows = expected.rows;
    rows.sort_by_key(|row| row[0].to_string());
    assert_eq!(bounds.len(), rows.len());
    for (found, expected) in bounds.iter().flatten().zip(rows.iter().flatten()) {
        match (found.as_f64(), expected.as_f64()) {
            (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-6),
            _ => assert_eq!(found, expected),
        }
    }
}

#[test]
fn bounds_are_carried_through_names_order_and_with() {
    let ward = Ward::new(5, 300, "range");
    let sql = "WITH t AS (SELECT zip, count(*) AS n, sum(age) AS years FROM ward WHERE age < 50 GROUP BY zip) \
               SELECT t.zip AS place, t.n AS people, years FROM t ORDER BY people DESC LIMIT 3";
    let reply = ask(&mut ward.session(Mode::Bounds), sql).unwrap();
    let expected = [
        "place",
        "people_low",
        "people",
        "people_high",
        "people_error",
        "years_low",
        "years",
        "years_high",
        "years_error",
    ];
    assert_eq!(columns(&reply), expected);
    for row in rows(&reply) {
        assert!(number(&row[1]) <= number(&row[2]) && number(&row[2]) <= number(&row[3]));
        assert!(number(&row[5]) <= number(&row[6]) && number(&row[6]) <= number(&row[7]));
    }
}

#[test]
fn rows_that_may_satisfy_a_condition_have_a_share() {
    let ward = Ward::new(6, 200, "range");
    let sql = "SELECT * FROM ward WHERE age < 30 ORDER BY zip LIMIT 1000";
    let reply = ask(&mut ward.session(Mode::Estimate), sql).unwrap();
    let names = columns(&reply);
    let expected = [
        "age",
        "age_low",
        "age_high",
        "zip",
        "seen",
        "seen_low",
        "seen_high",
        "disease",
        "Days",
        "share",
    ];
    assert_eq!(names, expected);
    let found = rows(&reply);
    let four = ward.ask(Mode::Bounds, "SELECT count(*) FROM ward WHERE age < 30");
    assert_eq!(json!(found.len()), four[0][2]);
    let shares: f64 = found.iter().map(|row| number(&row[9])).sum();
    assert!((shares - number(&four[0][1])).abs() < 1e-6);
    assert!(found.iter().all(|row| row[1].as_i64() < Some(30)));
    let certain = ward.ask(
        Mode::Certain,
        "SELECT age_high, share(age < 30) AS s FROM ward WHERE age < 30",
    );
    assert_eq!(json!(certain.len()), four[0][0]);
    assert!(
        certain
            .iter()
            .all(|row| row[0].as_i64() < Some(30) && row[1] == json!(1.0))
    );
    // The order is by a column that is not shown, and the share is.
    let reply = ask(
        &mut ward.session(Mode::Estimate),
        "SELECT disease FROM ward WHERE age < 30 ORDER BY zip",
    )
    .unwrap();
    assert_eq!(columns(&reply), ["disease", "share"]);
    // All rows are certain here.
    let reply = ask(
        &mut ward.session(Mode::Estimate),
        "SELECT disease, days FROM ward WHERE days > 3",
    )
    .unwrap();
    assert_eq!(columns(&reply), ["disease", "Days"]);
}

#[test]
fn functions_stand_in_any_place() {
    let ward = Ward::new(7, 300, "range");
    let four = ward.ask(
        Mode::Bounds,
        "SELECT count(*) FROM ward WHERE age < 30 OR age > 90",
    )[0]
    .clone();
    let p = "age < 30 OR age > 90";
    for (sql, expected) in [
        (
            format!("SELECT count(*) FROM ward WHERE certain({p})"),
            &four[0],
        ),
        (
            format!("SELECT count(*) FROM ward WHERE possible({p})"),
            &four[2],
        ),
        (
            format!("SELECT sum(s) FROM (SELECT share({p}) AS s FROM ward) t"),
            &four[1],
        ),
        (
            format!("SELECT count(*) FROM ward WHERE share({p}) = 1"),
            &four[0],
        ),
        (
            format!("SELECT count(*) FROM ward WHERE share({p}) > 0 AND age_low >= 0"),
            &four[2],
        ),
        (
            format!(
                "SELECT n FROM (SELECT certain({p}) AS c, count(*) AS n FROM ward GROUP BY 1) t WHERE c"
            ),
            &four[0],
        ),
        (
            format!(
                "SELECT sum(CASE WHEN possible({p}) THEN 1 ELSE 0 END) FROM (SELECT * FROM ward) t"
            ),
            &four[2],
        ),
    ] {
        let found = ward.ask(Mode::Estimate, &sql);
        assert!(
            (number(&found[0][0]) - number(expected)).abs() < 1e-6,
            "{sql}: {found:?}, expected {expected}"
        );
    }
}

#[test]
fn other_totals_of_what_rows_know_are_datafusions() {
    let ward = Ward::new(8, 200, "range");
    let found = ward.ask(
        Mode::Estimate,
        "SELECT min(days), max(days), count(DISTINCT disease), max(age_high) FROM ward",
    );
    let days: Vec<i64> = ward.raw.iter().map(|raw| raw.days).collect();
    let mut diseases: Vec<&String> = ward.raw.iter().map(|raw| &raw.disease).collect();
    diseases.sort();
    diseases.dedup();
    assert_eq!(
        found[0][..3],
        [
            json!(days.iter().min()),
            json!(days.iter().max()),
            json!(diseases.len())
        ]
    );
    let high = found[0][3].as_i64();
    assert!(high >= ward.raw.iter().filter_map(|raw| raw.age).max());
}

#[test]
fn explain_shows_the_question() {
    let ward = Ward::new(9, 100, "range");
    let sql =
        "EXPLAIN SELECT zip, count(*), avg(days) FROM ward WHERE age < 30 GROUP BY zip ORDER BY 2";
    let plan = ward.ask(Mode::Estimate, sql);
    let text = plan
        .iter()
        .flatten()
        .map(ToString::to_string)
        .collect::<String>();
    assert!(
        text.contains(
            "HedgerowTotals: groups=[ward.zip], totals=[count(*), avg(ward.Days)], where="
        ),
        "{text}"
    );
    assert!(text.contains("answer=estimate"), "{text}");
    let plan = ward.ask(
        Mode::Estimate,
        "EXPLAIN SELECT disease FROM ward WHERE age < 30",
    );
    let text = plan
        .iter()
        .flatten()
        .map(ToString::to_string)
        .collect::<String>();
    assert!(text.contains("HedgerowRows: columns=[disease]"), "{text}");
}

#[test]
fn answers_are_written_for_people_and_machines() {
    let ward = Ward::new(10, 100, "range");
    let mut session = ward.session(Mode::Estimate);
    let reply = ask(
        &mut session,
        "SELECT disease, count(*) FROM ward WHERE age < 30 GROUP BY disease ORDER BY disease",
    )
    .unwrap();
    let json = reply.json().unwrap();
    assert_eq!(json["columns"], json!(["disease", "count"]));
    assert_eq!(json["answer"], json!("estimate"));
    assert!(json["note"].as_str().unwrap().contains("model"));
    assert!(reply.csv().unwrap().starts_with("disease,count\n"));
    assert!(reply.table().unwrap().starts_with("disease"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answer.parquet");
    reply.write_parquet(&file).unwrap();
    assert!(std::fs::metadata(&file).unwrap().len() > 0);
    let nothing = ask(&mut session, "SELECT disease FROM ward WHERE days > 40").unwrap();
    assert_eq!(nothing.csv().unwrap(), "disease\n");
    assert_eq!(nothing.json().unwrap()["rows"], json!([]));
}
