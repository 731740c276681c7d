//! What is refused, by name, before anything is asked.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hedgerow_data::Schema;
use hedgerow_protocols::query::{Answered, Question};
use hedgerow_sql::{Limits, Mode, ReleaseSource, Session, Source, SqlError};

use crate::ward::{Ward, ask};

#[test]
fn what_cannot_be_answered_is_refused_by_name() {
    let ward = Ward::new(21, 120, "range");
    let leaf = ward.zips[0][0].clone();
    let mut others = Vec::new();
    for (sql, words) in [
        // Other tables, and files.
        ("SELECT * FROM other", "no table `other`"),
        ("SELECT * FROM ward JOIN other ON true", "no table `other`"),
        ("SELECT * FROM '/etc/passwd'", "no table `/etc/passwd`"),
        (
            "SELECT * FROM read_csv('x.csv')",
            "`read_csv` in place of a table",
        ),
        ("SELECT * FROM generate_series(1, 5)", "in place of a table"),
        (
            "SELECT a.disease FROM ward a JOIN ward b ON a.disease = b.disease",
            "a join of the table's rows",
        ),
        (
            "SELECT a.disease FROM ward a, ward b",
            "a join of the table's rows",
        ),
        // Statements.
        ("CREATE TABLE t (a INT)", "the statement CREATE TABLE"),
        (
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x'",
            "the statement CREATE EXTERNAL TABLE",
        ),
        ("DROP TABLE ward", "the statement DROP TABLE"),
        ("INSERT INTO ward VALUES (1)", "the statement INSERT INTO"),
        ("DELETE FROM ward", "the statement DELETE FROM"),
        ("UPDATE ward SET age = 1", "the statement UPDATE"),
        ("COPY ward TO 'x.csv'", "the statement COPY"),
        ("COPY (SELECT 1) TO 'x.csv'", "the statement COPY"),
        (
            "SET datafusion.execution.batch_size = 1",
            "the statement SET",
        ),
        ("SET hedgerow.answer = 'sure'", "`sure` is none of estimate"),
        ("EXPLAIN DELETE FROM ward", "the statement DELETE FROM"),
        ("SELECT 1; SELECT 2", "2 statements at once"),
        ("SELECT count(*) INTO t FROM ward", "SELECT INTO"),
        ("SELECT * FROM ward FOR UPDATE", "FOR UPDATE"),
        ("", "an empty statement"),
        ("SELEKT 1", "not SQL"),
        // Columns and values.
        ("SELECT agee FROM ward", "did you mean `age`"),
        (
            "SELECT count(*) FROM ward WHERE deseases = 'x'",
            "did you mean `disease`",
        ),
        ("SELECT patient FROM ward", "names people"),
        (
            "SELECT count(*) FROM ward WHERE age = 500",
            "the integers 0 to 120",
        ),
        (
            "SELECT count(*) FROM ward WHERE disease = 'hiccups'",
            "no value of `disease`",
        ),
        ("SELECT count(*) FROM ward WHERE zip < 5", "have no order"),
        (
            "SELECT count(*) FROM ward WHERE seen < '2024-13-01'",
            "is no value of `seen`",
        ),
        (
            "SELECT count(*) FROM ward WHERE under(age, 'x')",
            "no taxonomy",
        ),
        (
            "SELECT count(*) FROM ward WHERE age = zip",
            "comparison of two columns",
        ),
        ("SELECT count(*) FROM ward WHERE upper(zip) = 'A'", "upper"),
        (
            "SELECT count(*) FROM ward WHERE age + 1 < 30",
            "is not answered",
        ),
        (
            "SELECT count(*) FROM ward WHERE age < 30 OR age_low = 5",
            "certain(",
        ),
        // Functions that the engine has for others: nested values, digests, encodings.
        ("SELECT md5(age) FROM ward", "md5"),
        ("SELECT digest(zip, 'sha256') FROM ward", "digest"),
        ("SELECT encode(zip, 'hex') FROM ward", "encode"),
        ("SELECT make_array(age) FROM ward", "make_array"),
        (
            "SELECT array_length(array_agg(age)) FROM ward",
            "array_length",
        ),
        ("SELECT array_max(array_agg(age)) FROM ward", "array_max"),
        ("SELECT [age] FROM ward", "not"),
        ("SELECT map(['a'], [age]) FROM ward", "not"),
        // Cells in place of values.
        ("SELECT age + 1 FROM ward", "end in _low and _high"),
        (
            "SELECT CAST(age AS INT) FROM ward",
            "use age_low and age_high",
        ),
        ("SELECT age < 30 FROM ward", "write certain("),
        (
            "SELECT CASE WHEN age < 30 THEN 'a' ELSE 'b' END AS c, count(*) FROM ward GROUP BY 1",
            "write certain(",
        ),
        ("SELECT under(zip, '*') FROM ward", "write certain("),
        ("SELECT min(age) FROM ward", "min(age_low)"),
        ("SELECT max(zip) FROM ward", "several values"),
        ("SELECT count(DISTINCT zip) FROM ward", "several values"),
        ("SELECT sum(zip) FROM ward", "no whole numbers"),
        ("SELECT avg(seen) FROM ward", "no whole numbers"),
        ("SELECT sum(disease) FROM ward", "no whole numbers"),
        (
            "SELECT * FROM (SELECT * FROM ward LIMIT 5) t WHERE age < 30",
            "holds for some values",
        ),
        (
            "SELECT zip, count(*) FROM ward GROUP BY zip HAVING zip = 'x'",
            "holds for some values",
        ),
        // Totals of rows that only may count.
        (
            "SELECT max(days) FROM ward WHERE age < 30",
            "only may satisfy",
        ),
        (
            "SELECT count(DISTINCT disease) FROM ward WHERE age < 30",
            "only may satisfy",
        ),
        (
            "SELECT DISTINCT disease FROM ward WHERE age < 30",
            "DISTINCT of rows",
        ),
        (
            "SELECT count(*) FROM (SELECT * FROM ward WHERE age < 30 LIMIT 5) t",
            "a total of rows",
        ),
        (
            "SELECT disease, row_number() OVER () FROM ward WHERE age < 30",
            "a window function of rows",
        ),
        (
            "SELECT disease FROM ward WHERE age < 30 UNION ALL SELECT disease FROM ward",
            "UNION of rows",
        ),
        (
            "SELECT count(*) FROM ward WHERE disease IN (SELECT disease FROM ward WHERE age < 30)",
            "a subquery for rows",
        ),
        // DataFusion's own, in words.
        ("SELECT nosuch(age) FROM ward", "Invalid function 'nosuch'"),
        ("SELECT zip, count(*) FROM ward", "GROUP BY"),
    ] {
        let refusal = ward.refusal(sql);
        if !refusal.contains(words) {
            others.push(format!("{sql}: {refusal}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n\n"));
    let refusal = ward.refusal(&format!(
        "SELECT count(*) FROM ward WHERE zip = '{}'",
        ward.zips[0][1]
    ));
    assert!(
        refusal.contains(&format!("under(zip, '{}')", ward.zips[0][1])),
        "{refusal}"
    );
    assert!(
        !ward
            .ask(
                Mode::Estimate,
                &format!("SELECT count(*) FROM ward WHERE zip = '{leaf}'")
            )
            .is_empty()
    );
    let deep = format!(
        "SELECT count(*) FROM ward WHERE {}age < 3{}",
        "(".repeat(40),
        ")".repeat(40)
    );
    assert!(ward.refusal(&deep).contains("parentheses"));
    let long = format!(
        "SELECT count(*) FROM ward WHERE {}",
        vec!["age = 3"; 3000].join(" OR ")
    );
    assert!(ward.refusal(&long).contains("words"), "a long chain");
    let many = format!(
        "SELECT count(*) FROM ward WHERE {}",
        vec!["age = 3"; 1500].join(" OR ")
    );
    assert!(
        ward.refusal(&many).contains("comparisons"),
        "many comparisons"
    );
}

/// A source that takes its time.
#[derive(Debug)]
struct Slow(Arc<dyn Source>);

#[async_trait]
impl Source for Slow {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema(&self) -> &Arc<Schema> {
        self.0.schema()
    }

    fn has(&self, position: usize) -> bool {
        self.0.has(position)
    }

    fn is_joined(&self, positions: &[usize]) -> bool {
        self.0.is_joined(positions)
    }

    async fn ask(&self, question: Question) -> Result<Answered, SqlError> {
        tokio::time::sleep(Duration::from_secs(600)).await;
        self.0.ask(question).await
    }
}

#[test]
fn rows_and_time_have_limits() {
    let ward = Ward::new(22, 120, "range");
    let source = ReleaseSource::open(&ward.release).unwrap();
    let limits = Limits {
        rows: 100,
        ..Limits::default()
    };
    let mut session = Session::new(source.clone(), limits).unwrap();
    assert!(matches!(
        ask(&mut session, "SELECT * FROM ward"),
        Err(SqlError::TooManyRows { most: 100 })
    ));
    assert!(ask(&mut session, "SELECT * FROM ward LIMIT 100").is_ok());
    let limits = Limits {
        time: Duration::from_millis(50),
        ..Limits::default()
    };
    let mut session = Session::new(Arc::new(Slow(source.clone())), limits).unwrap();
    assert!(matches!(
        ask(&mut session, "SELECT * FROM ward"),
        Err(SqlError::TooSlow { .. })
    ));
    let limits = Limits {
        memory: 1 << 10,
        ..Limits::default()
    };
    let mut session = Session::new(source, limits).unwrap();
    let refused = ask(
        &mut session,
        "SELECT disease, max(days) FROM ward GROUP BY disease ORDER BY 2",
    );
    assert!(
        matches!(refused, Err(SqlError::TooLarge { .. })),
        "{refused:?}"
    );
}
