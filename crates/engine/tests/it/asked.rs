//! What leaves a site when the joint table is asked, and what it gives away: a real run's own rows of each site,
//! every frame of the questions about them, and the loss of privacy at the published level (JX08 section 6).

use std::fmt::Write as _;

use hedgerow::protocols::Error;
use hedgerow::protocols::query::{Answer, Answered, Condition, Held, Question, ask, discloses};
use hedgerow::smc::memory::Simulation as Network;
use hedgerow::smc::order::RUNNING;
use hedgerow::smc::union::ON_THE_WAY;
use hedgerow::smc::{Party, Settings, Site};
use hedgerow::{Options, Simulation, Sites, Study, Table, simulate};

/// A number of a quasi-identifier that no class boundary has, and a sensitive number that rows show.
const PLANTED: u32 = 7_313_159;
const SHOWN: u32 = 9_182_736;

const STUDY: &str = r#"[study]
name = "incomes"
partition = "horizontal"
security = "SECURITY"
[[attribute]]
name = "income"
role = "quasi"
type = "integer"
range = [0, 9_999_999]
[[attribute]]
name = "debt"
role = "sensitive"
type = "integer"
range = [0, 9_999_999]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]
[require]
k = 5
m = 0
"#;

/// Each of three sites has records on both sides of the planted one, which the second site has.
fn incomes(security: &str) -> (Study, Simulation) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.csv");
    let mut text = String::from("income,debt,disease,site\n");
    for row in 0u32..90 {
        let (income, debt) = match row {
            31 => (PLANTED, SHOWN),
            _ => (PLANTED - 31_000 + 1_000 * row, 9_000_000 + row * row),
        };
        let disease = ["asthma", "flu", "ulcer"][row as usize % 3];
        let site = if row == 31 { 1 } else { row % 3 };
        writeln!(text, "{income},{debt},{disease},s{site}").unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let study = Study::parse(STUDY.replace("SECURITY", security), ".").unwrap();
    let sites = Sites::Named {
        table: Table::file(path),
        column: String::from("site"),
    };
    let simulation = simulate(&study, &sites, &Options::new()).unwrap();
    (study, simulation)
}

fn is_in(bytes: &[u8], number: u32) -> bool {
    let wide = u64::from(number);
    let forms = [
        number.to_le_bytes().to_vec(),
        number.to_be_bytes().to_vec(),
        wide.to_le_bytes().to_vec(),
        wide.to_be_bytes().to_vec(),
        number.to_string().into_bytes(),
    ];
    let mut forms = forms.iter();
    forms.any(|form| bytes.windows(form.len()).any(|window| window == form))
}

#[test]
fn nothing_raw_leaves_a_site_that_is_asked() {
    for security in ["hardened", "published"] {
        let (study, simulation) = incomes(security);
        let held = Held::shared(&simulation.local);
        let sql = [
            "SELECT count(*), sum(debt) FROM incomes",
            "SELECT count(*), sum(income) FROM incomes WHERE income < 7313160",
            "SELECT disease, count(*), sum(debt) FROM incomes WHERE debt = 9182736 GROUP BY disease",
            "SELECT income, count(*) FROM incomes GROUP BY income",
        ];
        let mut questions: Vec<Question> = sql
            .iter()
            .map(|sql| study.statement(sql).unwrap().questions()[0].clone())
            .collect();
        let totals = questions.len();
        questions.push(Question {
            condition: questions[1].condition.clone(),
            answer: Answer::Rows {
                columns: vec![0, 2],
            },
        });
        questions.push(Question {
            condition: Condition::everything(),
            answer: Answer::Rows {
                columns: vec![0, 1, 2],
            },
        });
        let settings = match security {
            "published" => Settings::published(),
            _ => Settings::hardened(),
        };
        for (place, question) in questions.iter().enumerate() {
            let network = Network::new(3, 5).settings(settings).recording();
            let run = |mut party: Party| {
                let held = &held[party.me().index()];
                async move {
                    let answer = ask(&mut party, held, question, Site::new(2)).await?;
                    Ok::<_, Error>((answer, party.ledger().clone()))
                }
            };
            let outcome = network.run(run);
            let sent: Vec<u8> = Site::all(3)
                .flat_map(|site| outcome.view(site))
                .flat_map(|frame| frame.bytes.clone())
                .collect();
            assert!(sent.len() > 500);
            assert!(!is_in(&sent, PLANTED), "{security}: question {place}");
            // Only rows that are asked for show a sensitive value: they are the answer, which all sites learn.
            let is_shown = place > totals;
            assert_eq!(
                is_in(&sent, SHOWN),
                is_shown,
                "{security}: question {place}"
            );
            let ideal: Result<Vec<_>, Error> = network.run_ideal(run).into_iter().collect();
            let values = outcome.into_values().unwrap();
            let answers = values.iter().zip(ideal.unwrap());
            for (site, ((answer, ledger), (ideal, _))) in answers.enumerate() {
                assert_eq!(*answer, ideal);
                // Totals are the asking site's alone.
                let is_told = site == 2 || place >= totals;
                assert_eq!(*answer != Answered::Totals(Vec::new()), is_told);
                for entry in ledger.entries() {
                    let name = entry.disclosure.what.name();
                    let mut listed = discloses().to_vec();
                    if security == "published" && place >= totals {
                        listed.extend([RUNNING, ON_THE_WAY]);
                    }
                    assert!(listed.iter().any(|what| what.name() == name), "{name}");
                }
            }
        }
    }
}

/// Patients with ages, and one of two sexes, dealt to sites; at this k.
fn hospital(sites: usize, k: usize) -> (Study, Simulation) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pool.csv");
    let mut text = String::from("age,sex,cost\n");
    let mut state = 11u64;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..3_000 {
        let age = 17 + draw(37) + draw(37);
        let sex = ["f", "m"][draw(2) as usize];
        writeln!(text, "{age},{sex},{}", draw(1_000)).unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let study = format!(
        "[study]\nname = \"hospital\"\npartition = \"horizontal\"\nsecurity = \"published\"\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\n[[attribute]]\nname = \"sex\"\nrole = \"quasi\"\nvalues = [\"f\", \"m\"]\n[[attribute]]\nname = \"cost\"\nrole = \"sensitive\"\ntype = \"integer\"\nrange = [0, 999]\n[require]\nk = {k}\nm = 0\n"
    );
    let study = Study::parse(study, ".").unwrap();
    let simulation = simulate(
        &study,
        &Sites::dealt(Table::file(path), sites),
        &Options::new(),
    );
    (study, simulation.unwrap())
}

/// The mean of the measured loss of a site's set and of the leader's, with equation 5, over some draws.
fn losses(sites: usize, k: usize, sql: &str) -> [f64; 3] {
    let (study, simulation) = hospital(sites, k);
    let statement = study.statement(sql).unwrap();
    let draws = 20;
    let mut sums = [0.0; 3];
    for seed in 0..draws {
        let asked = simulation.ask(&study, &statement, &Options::new().seed(seed));
        let unions = asked.unwrap().loss_of_privacy.unwrap().unions.unwrap();
        assert_eq!(unions.random_items, 100);
        for (sum, one) in sums
            .iter_mut()
            .zip([unions.set, unions.leader_set, unions.set_bound])
        {
            *sum += one / draws as f64;
        }
    }
    sums
}

/// JX08 Figures 7 and 9: with 100 random items, the loss that is expected (equation 5) falls with the sites. With k
/// it does not always fall on these records, so how it goes with k is printed, not held; so is the measured mean,
/// which is coarse with few draws.
#[test]
fn the_loss_of_rows_falls_with_sites() {
    // As Q1 and Q2 of the paper: one attribute, and two.
    for sql in [
        "SELECT age, sex, cost FROM hospital WHERE age BETWEEN 30 AND 70",
        "SELECT age, sex, cost FROM hospital WHERE age BETWEEN 30 AND 70 AND sex = 'f'",
    ] {
        let mut last = [f64::MAX; 3];
        for sites in [2, 3, 5, 10] {
            let now = losses(sites, 10, sql);
            println!(
                "{sql}: {sites} sites, k 10: set {:.4}, leader {:.4}, equation 5 {:.4}",
                now[0], now[1], now[2]
            );
            assert!(now[2] < last[2], "{now:?} after {last:?}");
            last = now;
        }
        for k in [2, 10, 50, 200] {
            let now = losses(5, k, sql);
            println!(
                "{sql}: 5 sites, k {k}: set {:.4}, leader {:.4}, equation 5 {:.4}",
                now[0], now[1], now[2]
            );
        }
    }
}
