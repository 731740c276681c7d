//! Questions between nodes: three sites, each with its own file, key, rows and rules, answer as one table with
//! all rows does, and refuse what the study or a site does not allow.

use std::time::{Duration, Instant};

use hedgerow::Fault;
use hedgerow::protocols::query::{Answer, Answered, Condition, Question};

use crate::ward::{BOTH, OPEN, SITES, World};

fn all_rows() -> Question {
    Question {
        condition: Condition::everything(),
        answer: Answer::Rows {
            columns: vec![0, 1, 2, 3],
        },
    }
}

fn answers_as_one_table(security: &str) {
    let world = World::new(security, BOTH, [OPEN; 3]);
    world.ask(async || {
        let sql = [
            "SELECT count(*) FROM ward",
            "SELECT count(*), sum(days) FROM ward WHERE age < 30 AND disease = 'flu'",
            "SELECT disease, count(*) FROM ward WHERE age < 50 OR place = 'west' GROUP BY disease",
            "SELECT age, count(*) FROM ward GROUP BY age",
            "SELECT place, disease, sum(days) FROM ward WHERE NOT age BETWEEN 20 AND 60 GROUP BY place, disease",
        ];
        let mut questions: Vec<Question> = sql.iter().map(|sql| world.question(sql)).collect();
        questions.push(all_rows());
        let some = world.question("SELECT count(*) FROM ward WHERE age < 30").condition;
        questions.push(Question {
            condition: some,
            answer: Answer::Rows { columns: vec![1, 3] },
        });
        for (number, question) in questions.iter().enumerate() {
            let site = world.site(SITES[number % 3]);
            let run = (number % 2 == 0).then_some(1);
            let answer = site.ask(run, question).await.unwrap();
            assert_eq!(answer, world.of_release(question), "{question:?}");
        }
        // All at once, from all sites.
        let (north, south, east) = (world.site("north"), world.site("south"), world.site("east"));
        let [first, second] = [&questions[2], &questions[5]];
        let (a, b, c, d) = tokio::join!(
            north.ask(None, first),
            south.ask(None, second),
            east.ask(None, first),
            north.ask(None, second),
        );
        let expected = [first, second].map(|question| world.of_release(question));
        assert_eq!(a.unwrap(), expected[0]);
        assert_eq!(b.unwrap(), expected[1]);
        assert_eq!(c.unwrap(), expected[0]);
        assert_eq!(d.unwrap(), expected[1]);
        // The site that asks has its answer before the others have written down that they gave theirs.
        let is_written = |site: &&str| {
            let log = world.log(site);
            log.iter().filter(|line| line["event"] == "answered").count() == 11
        };
        let waited = Instant::now();
        while !SITES.iter().all(is_written) && waited.elapsed().as_secs() < 30 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    for site in SITES {
        let log = world.log(site);
        let answered = log.iter().filter(|line| line["event"] == "answered");
        assert_eq!((log.len(), answered.count()), (22, 11), "{log:#?}");
        let all = log.iter().filter(|line| line["rows"] == 120).count();
        assert_eq!(all, 3);
        // Who has how many rows is not in any log.
        assert!(
            !log.iter()
                .any(|line| line["rows"] == 40 || line["rows"] == 20)
        );
    }
}

#[test]
fn three_sites_answer_as_one_table_with_all_rows() {
    answers_as_one_table("hardened");
}

#[test]
fn three_sites_answer_as_one_table_at_the_published_level() {
    answers_as_one_table("published");
}

#[test]
fn what_the_study_or_a_site_does_not_allow_is_refused_by_name() {
    let narrow = "[accept.query]\nfrom = [\"north\"]\nanswers = [\"totals\"]\ncolumns = [\"age\"]";
    let world = World::new("hardened", BOTH, [OPEN, narrow, OPEN]);
    world.ask(async || {
        let refused = async |site: &str, question: &Question, words: &str| {
            let error = world.site(site).ask(None, question).await.unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        };
        let count = world.question("SELECT count(*) FROM ward WHERE age < 30");
        let by_disease = world.question("SELECT disease, sum(days) FROM ward GROUP BY disease");
        refused("east", &count, "`south` does not let `east` ask").await;
        refused("south", &count, "`south` does not let `south` ask").await;
        refused("north", &all_rows(), "`south` does not give such answers").await;
        let words = "`south` does not answer about `days`, `disease`";
        refused("north", &by_disease, words).await;
        let answer = world.site("north").ask(None, &count).await.unwrap();
        assert_eq!(answer, world.of_release(&count));
        let error = world.site("north").ask(Some(7), &count).await.unwrap_err();
        assert!(
            error.to_string().contains("has no table of this run"),
            "{error}"
        );
    });
    let log = world.log("south");
    let refused = log.iter().filter(|line| line["event"] == "refused");
    let why: Vec<&str> = refused.map(|line| line["why"].as_str().unwrap()).collect();
    let [from, answers, columns] = [
        "accept.query.from",
        "accept.query.answers",
        "accept.query.columns",
    ];
    assert_eq!(why, [from, from, answers, columns]);
    let ledger = world.site("south").ledger().unwrap();
    assert_eq!(ledger.questions.asked["north"].refused, 2);
    assert!(
        ledger.to_string().contains(
            "questions of `north`: 1 answered (1 for totals, 0 for rows), 0 ended, 2 refused here"
        ),
        "{ledger}"
    );
}

/// Sites of one record, of none, and without a row that matches; the answer is recounted from the files by
/// code that shares nothing with the nodes.
#[test]
fn skewed_sites_answer_what_is_recounted_from_their_files() {
    for (security, counts) in [
        ("hardened", [57, 1, 0]),
        ("published", [40, 1, 19]),
        ("hardened", [0, 0, 30]),
    ] {
        let world = World::new(security, BOTH, [OPEN; 3]);
        let mut records: Vec<[String; 4]> = Vec::new();
        for (place, (site, count)) in SITES.iter().zip(counts).enumerate() {
            let mut text = String::from("age,place,days,disease\n");
            for row in 0..count {
                // Only the first site has ulcers.
                let disease =
                    ["asthma", "flu", "ulcer"][(row % 3).min(if place == 0 { 2 } else { 1 })];
                let age = (row * row + 31 * place) % 100;
                let town = ["east", "north", "south", "west"][(row / 3 + place) % 4];
                let days = ((row * 5 + place) % 46) as i64 - 5;
                text.push_str(&format!("{age},{town},{days},{disease}\n"));
                records.push([
                    age.to_string(),
                    town.to_owned(),
                    days.to_string(),
                    disease.to_owned(),
                ]);
            }
            std::fs::write(world.path(&format!("{site}.csv")), text).unwrap();
        }
        world.ask(async || {
            let number = |text: &str| text.parse::<i64>().unwrap();
            let south = world.site("south");
            let ask = async |sql: &str| match south.ask(None, &world.question(sql)).await.unwrap() {
                Answered::Totals(groups) => groups,
                Answered::Rows(_) => panic!("rows"),
            };
            // What speaks of sensitive columns alone is exact.
            for disease in ["asthma", "flu", "ulcer"] {
                let of: Vec<&[String; 4]> = records
                    .iter()
                    .filter(|record| record[3] == disease)
                    .collect();
                let sum: i64 = of.iter().map(|record| number(&record[2])).sum();
                let groups = ask(&format!(
                    "SELECT count(*), sum(days) FROM ward WHERE disease = '{disease}'"
                ))
                .await;
                let [count, days] = groups[0].totals.as_slice() else {
                    panic!("two totals")
                };
                assert_eq!((count.low, count.high), (of.len() as i64, of.len() as i64));
                assert_eq!((days.low, days.high, days.estimate), (sum, sum, sum as f64));
            }
            // What speaks of ages has bounds, with the truth between.
            for limit in [0, 1, 17, 50, 83, 99] {
                let of = records
                    .iter()
                    .filter(|record| number(&record[0]) < limit && record[3] == "flu");
                let truth = of.count() as i64;
                let groups = ask(&format!(
                    "SELECT count(*) FROM ward WHERE age < {limit} AND disease = 'flu'"
                ))
                .await;
                let count = groups[0].totals[0];
                assert!(
                    count.low <= truth && truth <= count.high,
                    "{limit}: {count:?}, {truth}"
                );
                assert!(count.low as f64 <= count.estimate && count.estimate <= count.high as f64);
            }
            let mut ulcers = all_rows();
            ulcers.condition = world
                .question("SELECT count(*) FROM ward WHERE disease = 'ulcer'")
                .condition;
            let expected = records.iter().filter(|record| record[3] == "ulcer").count();
            for question in [all_rows(), ulcers] {
                let answer = south.ask(None, &question).await.unwrap();
                assert_eq!(answer, world.of_release(&question));
                let Answered::Rows(rows) = answer else {
                    panic!("totals")
                };
                let count = if question == all_rows() {
                    records.len()
                } else {
                    expected
                };
                assert_eq!(rows.len(), count);
            }
            // A site writes down that it has answered once its answer is on the way: nodes wait until then.
            let begun = Instant::now();
            let answered = || {
                let ledger = world.site("north").ledger().unwrap();
                ledger.questions.asked["south"].answered
            };
            while answered() < 11 && begun.elapsed().as_secs() < 20 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let ledger = world.site("north").ledger().unwrap();
        let asked = &ledger.questions.asked["south"];
        assert_eq!((asked.answered, asked.totals, asked.rows), (11, 9, 2));
        let rows = ledger
            .questions
            .learned
            .iter()
            .find(|line| line.what == "rows of a question")
            .unwrap();
        assert_eq!(rows.to, "all");
        // Loss of privacy belongs to the published level.
        assert_eq!(rows.greatest_loss.is_some(), security == "published");
        let totals = ledger
            .questions
            .learned
            .iter()
            .find(|line| line.what == "totals of a question")
            .unwrap();
        assert_eq!((totals.to.as_str(), totals.calls), ("south", 9));
        let text = ledger.to_string();
        assert!(text.contains("`south` has learned by questions"), "{text}");
        assert!(!text.contains("`north` has learned"), "{text}");
        let json = serde_json::to_value(&ledger).unwrap();
        assert_eq!(json["questions"]["south"]["answered"], 11);
        let of_east = json["sites"]
            .as_array()
            .unwrap()
            .iter()
            .find(|site| site["site"] == "east")
            .unwrap();
        let learned = of_east["learned_by_questions"].as_array().unwrap();
        // East learned rows, and no total.
        assert!(
            learned
                .iter()
                .any(|line| line["what"] == "rows of a question")
        );
        assert!(
            !learned
                .iter()
                .any(|line| line["what"] == "totals of a question")
        );
    }
}

#[test]
fn a_study_says_which_answers_there_are_and_a_site_that_says_nothing_refuses() {
    let totals = "[query]\nanswers = [\"totals\"]";
    let world = World::new("hardened", totals, [OPEN, OPEN, ""]);
    world.ask(async || {
        let north = world.site("north");
        let error = north.ask(None, &all_rows()).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the study does not allow such answers"),
            "{error}"
        );
        let count = world.question("SELECT count(*) FROM ward");
        let error = north.ask(None, &count).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`east` does not let `north` ask"),
            "{error}"
        );
    });
}

#[test]
fn a_study_without_query_answers_nothing_and_a_site_without_node_says_so() {
    let world = World::new("hardened", "", [OPEN; 3]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let error = world
            .site("north")
            .ask(None, &all_rows())
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("the study allows no questions"),
            "{error}"
        );
    });
    let world = World::new("hardened", BOTH, [OPEN; 3]);
    runtime.block_on(async {
        let north = world.site("north");
        let error = north.ask(None, &all_rows()).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("no run of this study is over here"),
            "{error}"
        );
        let error = north.ask(Some(1), &all_rows()).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("this site's node cannot be asked"),
            "{error}"
        );
    });
}

#[test]
fn a_site_whose_node_is_gone_is_named_within_seconds() {
    let world = World::new("hardened", BOTH, [OPEN; 3]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let [north, south, east] = SITES.map(|site| world.site(site));
        let (first, second, third) =
            tokio::join!(north.run(1, None), south.run(1, None), east.run(1, None));
        first.and(second).and(third).unwrap();
        let waiting = async { tokio::join!(north.serve(), south.serve()) };
        let test = async {
            let count = world.question("SELECT count(*) FROM ward");
            // The node's socket comes with it.
            while !world.path("north/questions.sock").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let started = Instant::now();
            let error = world.site("north").ask(None, &count).await.unwrap_err();
            assert!(started.elapsed() < Duration::from_secs(10));
            assert!(
                error.to_string().contains("`east` is away since 20"),
                "{error}"
            );
            assert_eq!(error.fault(), Fault::Peer);
            // It comes back, and questions are answered again.
            let back = world.site("east");
            let again = async {
                let answer = world.site("north").ask(None, &count).await.unwrap();
                assert_eq!(answer, world.of_release(&count));
            };
            tokio::select! {
                ended = back.serve() => panic!("{ended:?}"),
                () = again => {}
            }
        };
        tokio::select! {
            ended = waiting => panic!("{ended:?}"),
            () = test => {}
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

/// A node answers questions about earlier runs while the next run goes on, and about that run afterwards.
#[test]
fn questions_are_answered_during_runs() {
    let open = format!("runs = 9\n{OPEN}");
    let world = World::new("hardened", BOTH, [&open; 3]);
    world.ask(async || {
        let count = world.question("SELECT disease, count(*) FROM ward GROUP BY disease");
        let expected = world.of_release(&count);
        let north = world.site("north");
        let south = world.site("south");
        let run = north.run(2, None);
        tokio::pin!(run);
        let mut answered = 0;
        loop {
            tokio::select! {
                run = &mut run => {
                    run.unwrap();
                    break;
                }
                answer = south.ask(Some(1), &count) => {
                    assert_eq!(answer.unwrap(), expected);
                    answered += 1;
                }
            }
        }
        assert!(answered > 3, "{answered}");
        for site in SITES {
            // A site may be a moment behind the others at the end of a run.
            let answer = loop {
                match world.site(site).ask(Some(2), &count).await {
                    Ok(answer) => break answer,
                    Err(error) => {
                        let error = error.to_string();
                        assert!(error.contains("has no table of this run"), "{error}");
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                }
            };
            // The same rows, so the same table.
            assert_eq!(answer, expected);
        }
    });
}
