//! Questions between nodes: three sites, each with its own file, key, rows and rules, answer as one table with
//! all rows does, and refuse what the study or a site does not allow.

use std::time::{Duration, Instant};

use hedgerow::Fault;
use hedgerow::protocols::query::{Answer, Condition, Question};

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
    });
    for site in SITES {
        let log = world.log(site);
        let answered = log.iter().filter(|line| line["event"] == "answered");
        assert_eq!((log.len(), answered.count()), (22, 11));
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
