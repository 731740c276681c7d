//! Parameters of statements, `$1` and so on, as drivers send them.

use hedgerow_sql::{Mode, Session, SqlError};

use datafusion::common::ScalarValue;
use serde_json::{Value, json};

use crate::ward::{Ward, day, rows};

fn run(
    session: &mut Session,
    sql: &str,
    parameters: Vec<ScalarValue>,
) -> Result<Vec<Vec<Value>>, SqlError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let planned = session.plan(sql, parameters).await?;
        Ok(rows(&session.execute(planned).await?))
    })
}

#[test]
fn parameters_mean_what_constants_do() {
    let ward = Ward::new(61, 200, "range");
    let disease = ward.raw[0].disease.clone();
    let (zip, node) = (ward.zips[0][0].clone(), ward.zips[0][1].clone());
    let text = |text: &str| ScalarValue::Utf8(Some(text.to_owned()));
    let days = |place: i64| ScalarValue::Date32(Some(19_723 + place as i32));
    let cases: Vec<(&str, Vec<ScalarValue>, String)> = vec![
        (
            "age < $1",
            vec![ScalarValue::Int64(Some(30))],
            "age < 30".into(),
        ),
        (
            "age < $1",
            vec![ScalarValue::Int32(Some(30))],
            "age < 30".into(),
        ),
        ("age < $1", vec![text("30")], "age < 30".into()),
        (
            "age < $1",
            vec![ScalarValue::Float64(Some(29.5))],
            "age < 30".into(),
        ),
        (
            "age < $1",
            vec![ScalarValue::Decimal128(Some(2950), 6, 2)],
            "age < 30".into(),
        ),
        (
            "days BETWEEN $2 AND $1",
            vec![ScalarValue::Int64(Some(20)), ScalarValue::Int64(Some(-3))],
            "days BETWEEN -3 AND 20".into(),
        ),
        (
            "age IN ($1, $2) OR disease = $3",
            vec![
                ScalarValue::Int64(Some(3)),
                ScalarValue::Int64(Some(40)),
                text(&disease),
            ],
            format!("age IN (3, 40) OR disease = '{disease}'"),
        ),
        ("zip = $1", vec![text(&zip)], format!("zip = '{zip}'")),
        (
            "under(zip, $1)",
            vec![text(&node)],
            format!("under(zip, '{node}')"),
        ),
        (
            "seen >= $1",
            vec![days(100)],
            format!("seen >= '{}'", day(100)),
        ),
        (
            "seen >= $1",
            vec![text(&day(100))],
            format!("seen >= '{}'", day(100)),
        ),
        (
            "seen < $1",
            vec![ScalarValue::TimestampMicrosecond(
                Some((19_723 + 100) * 86_400_000_000 + 1),
                None,
            )],
            format!("seen <= '{}'", day(100)),
        ),
        ("zip LIKE $1", vec![text("123%")], "zip LIKE '123%'".into()),
        (
            "age < $1 AND days > $2 + 1",
            vec![ScalarValue::Int64(Some(50)), ScalarValue::Int64(Some(4))],
            "age < 50 AND days > 5".into(),
        ),
    ];
    for (condition, parameters, constant) in cases {
        let asked =
            |condition: &str| format!("SELECT count(*), sum(days) FROM ward WHERE {condition}");
        for mode in [Mode::Estimate, Mode::Bounds] {
            let mut session = ward.session(mode);
            let found = run(&mut session, &asked(condition), parameters.clone());
            let found = found.unwrap_or_else(|error| panic!("{condition} {parameters:?}: {error}"));
            assert_eq!(
                found,
                ward.ask(mode, &asked(&constant)),
                "{condition} {parameters:?}"
            );
        }
    }
    // In other places: SELECT, a function of ours, HAVING, LIMIT.
    let mut session = ward.session(Mode::Estimate);
    let number = |number: i64| ScalarValue::Int64(Some(number));
    let found = run(&mut session, "SELECT $1 + 1 AS n", vec![number(4)]).unwrap();
    assert_eq!(found, [[json!(5)]]);
    let sql = "SELECT share(age < $1) AS s FROM ward";
    let found = run(&mut session, sql, vec![number(30)]).unwrap();
    assert_eq!(found, ward.ask(Mode::Estimate, &sql.replace("$1", "30")));
    let sql = "SELECT disease, count(*) AS n FROM ward WHERE age < $1 GROUP BY disease HAVING count(*) > $2 ORDER BY disease LIMIT $3";
    let found = run(&mut session, sql, vec![number(60), number(3), number(2)]).unwrap();
    let constant = sql
        .replace("$1", "60")
        .replace("$2", "3")
        .replace("$3", "2");
    assert_eq!(found, ward.ask(Mode::Estimate, &constant));
}

#[test]
fn parameters_that_have_no_meaning_are_refused() {
    let ward = Ward::new(62, 80, "range");
    let mut session = ward.session(Mode::Estimate);
    let text = |text: &str| ScalarValue::Utf8(Some(text.to_owned()));
    let nothing = || ScalarValue::Int64(None);
    let mut wrong = Vec::new();
    for (condition, parameters, words) in [
        ("age < $1", vec![nothing()], "a comparison with NULL"),
        ("age IN (3, $1)", vec![nothing()], "a comparison with NULL"),
        (
            "zip = $1",
            vec![ScalarValue::Utf8(None)],
            "a comparison with NULL",
        ),
        ("age < $1", vec![text("old")], "`old` is no value of `age`"),
        (
            "seen < $1",
            vec![ScalarValue::Int64(Some(3))],
            "is no value of `seen`",
        ),
        (
            "age = $1",
            vec![ScalarValue::Int64(Some(500))],
            "the integers 0 to 120",
        ),
        (
            "age < $1",
            vec![ScalarValue::Boolean(Some(true))],
            "is no value of `age`",
        ),
        (
            "zip < $1",
            vec![ScalarValue::Int64(Some(5))],
            "have no order",
        ),
        (
            "under(zip, $1)",
            vec![text("nowhere")],
            "is no value of `zip`",
        ),
        // Too few.
        (
            "age < $1 AND days < $2",
            vec![ScalarValue::Int64(Some(3))],
            "$2",
        ),
        ("age < $1", Vec::new(), "$1"),
    ] {
        let sql = format!("SELECT count(*) FROM ward WHERE {condition}");
        match run(&mut session, &sql, parameters.clone()) {
            Err(error) if error.is_refusal() && error.to_string().contains(words) => {}
            Err(error) => wrong.push(format!("{condition} {parameters:?}: {error:?}")),
            Ok(found) => wrong.push(format!("{condition} {parameters:?}: {found:?}")),
        }
    }
    // Of a sensitive value NULL is what it is in SQL: nothing satisfies it.
    let found = run(
        &mut session,
        "SELECT count(*) FROM ward WHERE days < $1",
        vec![nothing()],
    );
    assert_eq!(found.unwrap(), [[json!(0)]]);
    // A parameter whose type nothing tells.
    let found = run(
        &mut session,
        "SELECT $1 AS p, count(*) AS n FROM ward",
        vec![text("x")],
    );
    assert_eq!(found.unwrap(), [[json!("x"), json!(80)]]);
    if let Ok(found) = run(
        &mut session,
        "SELECT $1 AS p, count(*) AS n FROM ward",
        Vec::new(),
    ) {
        wrong.push(format!("no value for $1: {found:?}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
