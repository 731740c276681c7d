//! Statements that would get a wrong number, or take the program down, if they were answered as they stand.

use hedgerow_sql::{Limits, Mode, ReleaseSource, Session, SqlError};
use serde_json::json;

use crate::ward::{Ward, ask, day, rows};

const MODES: [Mode; 4] = [Mode::Estimate, Mode::Certain, Mode::Possible, Mode::Bounds];

/// Which statements are answered, or refused in other words, in some mode.
fn answered(ward: &Ward, modes: &[Mode], statements: &[(&str, &str)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (sql, words) in statements {
        for mode in modes {
            match ask(&mut ward.session(*mode), sql) {
                Err(error) if error.is_refusal() && error.to_string().contains(words) => {}
                Err(error) => wrong.push(format!("{sql} ({mode}): {error}")),
                Ok(reply) => wrong.push(format!("{sql} ({mode}): {:?}", rows(&reply))),
            }
        }
    }
    wrong
}

#[test]
fn what_is_made_of_cells_is_no_value() {
    let ward = Ward::new(41, 120, "range");
    let wrong = answered(
        &ward,
        &MODES,
        &[
            (
                "SELECT count(DISTINCT upper(zip)) FROM ward",
                "several values",
            ),
            (
                "SELECT count(DISTINCT coalesce(age, 'x')) FROM ward",
                "several values",
            ),
            ("SELECT max(concat(age, '')) FROM ward", "several values"),
            (
                "SELECT max(CASE WHEN days > 3 THEN zip END) FROM ward",
                "several values",
            ),
            (
                "SELECT coalesce(age, '0') < '30' AS b, count(*) FROM ward GROUP BY 1",
                "holds for some values",
            ),
            (
                "SELECT substr(age, 2, 2) = '20' FROM ward",
                "holds for some values",
            ),
            (
                "SELECT CAST(substr(age, 2, 2) AS INT) FROM ward",
                "several values",
            ),
            ("SELECT length(zip) + 1 FROM ward", "several values"),
            (
                "SELECT 5 BETWEEN 3 AND length(zip) FROM ward",
                "holds for some values",
            ),
            (
                "SELECT zip, count(*) FROM ward GROUP BY zip HAVING upper(zip) = 'X'",
                "holds for some values",
            ),
            (
                "SELECT u, count(*) FROM (SELECT upper(zip) AS u FROM ward) t GROUP BY u HAVING u = 'X'",
                "holds for some values",
            ),
            (
                "SELECT count(*) FROM (SELECT upper(zip) AS u FROM ward LIMIT 50) t WHERE u = 'X'",
                "holds for some values",
            ),
            (
                "SELECT count(*) FROM ward WHERE '12345' IN (SELECT zip FROM ward)",
                "holds for some values",
            ),
            (
                "SELECT count(*) FROM ward WHERE disease IN (SELECT lower(zip) FROM ward)",
                "holds for some values",
            ),
            (
                "SELECT count(*) FROM ward WHERE (SELECT zip FROM ward LIMIT 1) = '12345'",
                "holds for some values",
            ),
            (
                "SELECT count(*) FROM (SELECT zip, count(*) AS n FROM ward GROUP BY zip) t JOIN (VALUES ('12345')) v(z) ON t.zip = v.z",
                "holds for some values",
            ),
            (
                "SELECT count(*) FROM (SELECT zip AS z FROM ward GROUP BY zip) t JOIN (VALUES ('12345')) v(z) USING (z)",
                "holds for some values",
            ),
            (
                "SELECT rank() OVER (ORDER BY age) FROM ward",
                "several values",
            ),
            (
                "SELECT age, rank() OVER (ORDER BY age) FROM (SELECT age FROM ward GROUP BY age) t",
                "several values",
            ),
        ],
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Groups as they are printed, and texts that are only shown, are no values.
    for sql in [
        "SELECT upper(zip), count(*) FROM ward GROUP BY 1",
        "SELECT zip || '!' FROM ward",
        "SELECT a.zip, a.n, b.n AS m FROM (SELECT zip, count(*) AS n FROM ward GROUP BY zip) a JOIN (SELECT zip, count(*) AS n FROM ward GROUP BY zip) b ON a.zip = b.zip",
        "SELECT zip, rank() OVER (PARTITION BY zip ORDER BY days) FROM ward",
        "SELECT rank() OVER (ORDER BY age_low) FROM ward",
    ] {
        assert!(!ward.ask(Mode::Estimate, sql).is_empty(), "{sql}");
    }
}

#[test]
fn rows_that_only_may_satisfy_a_condition_are_counted_by_no_other_way() {
    let ward = Ward::new(42, 120, "range");
    let wrong = answered(
        &ward,
        &MODES,
        &[
            (
                "SELECT count(*) FROM ward WHERE NOT EXISTS (SELECT 1 FROM ward WHERE age < 30)",
                "a subquery for rows",
            ),
            (
                "SELECT max(days) FROM (SELECT days FROM ward WHERE age < 30 LIMIT 1000) t",
                "a total of rows",
            ),
            (
                "SELECT count(*) FROM (SELECT days FROM ward WHERE age < 30 LIMIT 10) t",
                "a total of rows",
            ),
            (
                "SELECT DISTINCT disease FROM ward WHERE age < 30",
                "DISTINCT",
            ),
            (
                "SELECT count(*) OVER () FROM ward WHERE age < 30",
                "a window function",
            ),
            (
                "SELECT count(*) FROM ward WHERE age < 30 AND disease IN (SELECT disease FROM ward WHERE days > 3)",
                "a total of rows",
            ),
            (
                "SELECT count(*) FROM ward TABLESAMPLE BERNOULLI (10)",
                "TABLESAMPLE",
            ),
            ("SELECT sum(days + 1) FROM ward WHERE age < 30", "only may"),
            (
                "SELECT count(*) FROM ward WHERE age < 30 GROUP BY ROLLUP(disease)",
                "only may",
            ),
            (
                "SELECT count(*) FROM ward WHERE age NOT IN (3, NULL)",
                "a comparison with NULL",
            ),
        ],
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // With bounds a number that is only estimated chooses no rows.
    let sql = "SELECT count(*) FROM ward WHERE days > (SELECT avg(days) FROM ward WHERE age < 30)";
    let wrong = answered(&ward, &MODES[1..], &[(sql, "within bounds only")]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ask(&mut ward.session(Mode::Estimate), sql).is_ok());
    // An exact one does.
    let mean: i64 = ward.raw.iter().map(|raw| raw.days).sum();
    let mean = mean as f64 / ward.raw.len() as f64;
    let expected = ward.raw.iter().filter(|raw| raw.days as f64 > mean).count();
    let sql = "SELECT count(*) FROM ward WHERE days > (SELECT avg(days) FROM ward)";
    for mode in MODES {
        assert_eq!(ward.ask(mode, sql), [[json!(expected)]], "{mode}");
    }
}

#[test]
fn casts_moments_and_nulls_mean_what_they_say() {
    let ward = Ward::new(43, 200, "range");
    let raw = |holds: &dyn Fn(&crate::ward::Raw) -> bool| {
        ward.raw.iter().filter(|raw| holds(raw)).count()
    };
    let text = |days: i64| days.to_string();
    let exact = [
        (
            "CAST(days AS TEXT) < '5'",
            raw(&|raw| text(raw.days).as_str() < "5"),
        ),
        (
            "days::text BETWEEN '1' AND '3'",
            raw(&|raw| ("1"..="3").contains(&text(raw.days).as_str())),
        ),
        ("CAST(days AS TEXT) = '07'", 0),
        ("CAST(days AS DOUBLE) < 7.5", raw(&|raw| raw.days <= 7)),
        ("days < 15::decimal(5,1) / 2", raw(&|raw| raw.days <= 7)),
        ("days < '7.5'", raw(&|raw| raw.days <= 7)),
        ("NULL", 0),
        ("days = NULL", 0),
        ("NOT (days = NULL)", 0),
        ("days NOT IN (SELECT NULL)", 0),
        ("days < days + 1", ward.raw.len()),
        ("(days < 5) IS NOT FALSE", raw(&|raw| raw.days < 5)),
    ];
    for (condition, expected) in exact {
        let sql = format!("SELECT count(*) FROM ward WHERE {condition}");
        for mode in MODES {
            let found = ward.ask(mode, &sql);
            let place = if found[0].len() == 4 { 1 } else { 0 };
            assert_eq!(found[0][place], json!(expected), "{condition} ({mode})");
        }
    }
    // Whoever is seen on a day is seen before its noon.
    let count = |condition: &str| {
        let sql = format!("SELECT count(*) FROM ward WHERE {condition}");
        ward.ask(Mode::Bounds, &sql)
    };
    let today = day(121);
    let whole = count(&format!("seen <= DATE '{today}'"));
    for noon in [
        format!("seen < '{today} 12:00:00'"),
        format!("seen < TIMESTAMP '{today} 12:00:00'"),
        format!("seen <= '{today}T12:00'"),
        format!("CAST(seen AS TIMESTAMP) < TIMESTAMP '{today} 00:00:01'"),
        format!("NOT seen >= TIMESTAMP '{today} 12:00:00'"),
    ] {
        assert_eq!(count(&noon), whole, "{noon}");
    }
    let wrong = answered(
        &ward,
        &MODES[..1],
        &[
            (
                "SELECT count(*) FROM ward WHERE age::text < '5'",
                "is not answered here",
            ),
            (
                "SELECT count(*) FROM ward WHERE CAST(seen AS TEXT) < '2024-05-01'",
                "is not answered here",
            ),
            (
                "SELECT count(*) FROM ward WHERE CAST(age AS BOOLEAN)",
                "is not answered here",
            ),
        ],
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Every row throws its own die.
    let sql = "SELECT count(*) FROM ward WHERE random() < 0.5";
    let thrown = ward.ask(Mode::Estimate, sql)[0][0].as_i64().unwrap();
    assert!((40..=160).contains(&thrown), "{thrown}");
    // Functions that stand for others.
    let sql = "SELECT coalesce(disease, 'x') AS d, count(*) FROM ward WHERE age < 30 GROUP BY 1";
    assert!(!ward.ask(Mode::Estimate, sql).is_empty());
}

#[test]
fn names_are_found_as_they_are_given() {
    let ward = Ward::new(44, 80, "range");
    let mut diseases: Vec<&String> = ward.raw.iter().map(|raw| &raw.disease).collect();
    diseases.sort();
    // The study's column is `Days`; a name that is given hides it.
    let sql = "SELECT disease AS days FROM ward ORDER BY days LIMIT 1";
    assert_eq!(ward.ask(Mode::Estimate, sql), [[json!(diseases[0])]]);
    for sql in [
        "SELECT count(*) AS days FROM ward GROUP BY disease ORDER BY days LIMIT 3",
        "WITH t AS (SELECT count(*) AS days FROM ward) SELECT days FROM t",
        "SELECT days FROM (SELECT count(*) FROM ward) t(days)",
        "WITH t(days) AS (SELECT count(*) FROM ward) SELECT days FROM t",
    ] {
        assert!(!ward.ask(Mode::Estimate, sql).is_empty(), "{sql}");
    }
    // Two columns of one name are both there.
    let sql = "SELECT a.n, b.n FROM (SELECT count(*) AS n FROM ward) a, (SELECT 7 AS n) b";
    let reply = ask(&mut ward.session(Mode::Estimate), sql).unwrap();
    let json = reply.json().unwrap();
    assert_eq!(json["columns"], json!(["n", "n_2"]));
    assert_eq!(json["rows"], json!([{"n": 80, "n_2": 7}]));
}

#[test]
fn large_and_deep_statements_are_refused() {
    let ward = Ward::new(45, 80, "range");
    let chain = |first: &str, next: fn(usize) -> String, count: usize| {
        let mut text = format!("WITH t0 AS ({first})");
        (1..count).for_each(|place| text += &format!(", t{place} AS ({})", next(place - 1)));
        format!("{text} SELECT * FROM t{}", count - 1)
    };
    let twice = |place: usize| format!("SELECT x + x AS x FROM t{place}");
    let both = |place: usize| format!("SELECT * FROM t{place} UNION ALL SELECT * FROM t{place}");
    let one = |place: usize| format!("SELECT x + 1 AS x FROM t{place}");
    let total = "SELECT count(*) AS x FROM ward";
    let statements = [
        (
            format!("SELECT {}", vec!["1"; 7000].join("+")),
            "in one chain",
        ),
        (
            format!("SELECT {} FROM ward", vec!["zip"; 5000].join("||")),
            "in one chain",
        ),
        (
            format!(
                "SELECT count(*) FROM ward WHERE zip{}",
                " IS NULL".repeat(2000)
            ),
            "in one chain",
        ),
        (
            format!(
                "SELECT count(*) FROM ward WHERE {}age = 3",
                "NOT ".repeat(5000)
            ),
            "in one chain",
        ),
        (
            vec!["SELECT count(*) FROM ward"; 200].join(" UNION ALL "),
            "in one chain",
        ),
        (
            format!(
                "SELECT count(*) FROM ward WHERE {}",
                vec!["age = 3"; 3000].join(" OR ")
            ),
            "words",
        ),
        (
            format!(
                "SELECT count(*) FROM ward WHERE age IN ({})",
                vec!["3"; 10000].join(",")
            ),
            "words",
        ),
        (
            format!("SELECT '{}' FROM ward", "x".repeat(100_000)),
            "bytes",
        ),
        (chain("SELECT days AS x FROM ward", twice, 25), "2000 parts"),
        (chain(total, twice, 20), "2000 parts"),
        (chain(total, both, 30), "300 queries"),
        (chain(total, one, 60), "64 steps on each other"),
        (
            format!("SELECT repeat(disease, {}) FROM ward", 1_000_000_000),
            "Invalid function 'repeat'",
        ),
        (
            String::from("SELECT rpad(disease, 1000000000) FROM ward"),
            "Invalid function 'rpad'",
        ),
        (
            String::from(
                "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
            ),
            "WITH RECURSIVE",
        ),
        (
            format!(
                "SELECT count(*) FROM {}",
                (0..10)
                    .map(|place| format!("ward t{place}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            "a join of the table's rows",
        ),
    ];
    let statements: Vec<(&str, &str)> = statements
        .iter()
        .map(|(sql, words)| (sql.as_str(), *words))
        .collect();
    let wrong = answered(&ward, &MODES[..1], &statements);
    let short = |text: &String| text.chars().take(300).collect::<String>();
    let wrong: Vec<String> = wrong.iter().map(short).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // What is just small enough runs.
    for sql in [
        format!("SELECT {} FROM ward", vec!["days"; 95].join("+")),
        format!("SELECT {} FROM ward", vec!["zip"; 95].join("||")),
        format!(
            "SELECT count(*) FROM ward WHERE {}",
            vec!["age = 3"; 390].join(" OR ")
        ),
        format!(
            "SELECT count(*) FROM ward WHERE age IN ({})",
            vec!["3"; 7000].join(",")
        ),
    ] {
        assert!(!ward.ask(Mode::Estimate, &sql).is_empty());
    }
}

/// Statements whose planning or running takes longer than they have.
#[test]
fn time_and_memory_are_limited_while_planning_and_running() {
    let ward = Ward::new(46, 400, "set");
    let source = ReleaseSource::open(&ward.release).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let took = |limits: Limits, sql: &str| {
        let mut session = Session::new(source.clone(), limits).unwrap();
        let began = std::time::Instant::now();
        let refused = runtime.block_on(session.run(sql)).unwrap_err();
        (refused, began.elapsed())
    };
    let short = Limits {
        time: std::time::Duration::from_millis(300),
        ..Limits::default()
    };
    // Planning: a query inside a query inside a query.
    let nested = format!("SELECT {}1{}", "(SELECT ".repeat(12), ")".repeat(12));
    let (refused, time) = took(short, &nested);
    assert!(matches!(refused, SqlError::TooSlow { .. }), "{refused:?}");
    assert!(time.as_secs_f64() < 2.0, "{time:?}");
    // Running: every group with every group with every group.
    let groups = |place: usize| {
        format!("(SELECT zip, seen, age, count(*) AS n FROM ward GROUP BY zip, seen, age) t{place}")
    };
    let groups: Vec<String> = (0..6).map(groups).collect();
    let sql = format!(
        "SELECT count(*), sum(t1.n * t5.n) FROM {}",
        groups.join(", ")
    );
    let (refused, time) = took(short, &sql);
    assert!(
        matches!(
            refused,
            SqlError::TooSlow { .. } | SqlError::TooLarge { .. }
        ),
        "{refused:?}"
    );
    assert!(time.as_secs_f64() < 2.0, "{time:?}");
    // An answer that is larger than what a statement may take.
    let small = Limits {
        memory: 1 << 20,
        ..Limits::default()
    };
    let wide = format!(
        "SELECT concat({}) FROM ward",
        vec!["disease"; 900].join(",")
    );
    let (refused, _) = took(small, &wide);
    assert!(matches!(refused, SqlError::TooLarge { .. }), "{refused:?}");
    runtime.shutdown_background();
}
