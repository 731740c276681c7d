//! Questions: what rows say about conditions against every value that they may stand for, totals and rows
//! of several sites against one table with all rows, and what a question discloses.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::document::Document;
use hedgerow_data::{
    Cell, Codes, Column, GeneralizedColumn, Release, ReleaseColumn, Role, Schema, Study,
};
use hedgerow_protocols::Error;
use hedgerow_protocols::query::{
    Answer, Answered, CodeSet, Condition, FOUND, Group, Held, MOST_FOUND, Question, QuestionError,
    ROWS, TOTALS, Total, ask, discloses,
};
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::order::RUNNING;
use hedgerow_smc::{Generator, Items, Party, Security, Seed, Settings, Site};
use proptest::prelude::*;

/// Columns with every kind of domain; the sizes of their domains are beside them.
const STUDY: &str = r#"
[study]
name = "asked"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [-3, 6]
missing = "NA"
[[attribute]]
name = "sex"
role = "quasi"
values = ["f", "m"]
[[attribute]]
name = "seen"
role = "quasi"
type = "date"
range = [2020-01-01, 2020-01-06]
[[attribute]]
name = "cost"
role = "sensitive"
type = "integer"
range = [-20, 30]
step = 5
missing = "unknown"
[[attribute]]
name = "disease"
role = "sensitive"
values = ["u", "v", "w"]
[require]
k = 1
"#;
const SIZES: [u32; 5] = [11, 2, 6, 12, 3];
const QUASI: usize = 3;
/// The numbers that a code stands for; nothing for the missing value.
fn number(column: usize, code: u32) -> Option<i64> {
    match column {
        0 => (code < 10).then(|| i64::from(code) - 3),
        3 => (code < 11).then(|| i64::from(code) * 5 - 20),
        _ => Some(0),
    }
}

fn schema() -> Arc<Schema> {
    let document = Document::parse(STUDY.into(), Path::new("study.toml")).unwrap();
    let schema = Study::read(document, Path::new(".")).unwrap().schema;
    let sizes: Vec<u32> = schema
        .attributes()
        .iter()
        .map(|attribute| attribute.domain.size())
        .collect();
    assert_eq!(sizes, SIZES);
    assert_eq!(schema.with_role(Role::Quasi).len(), QUASI);
    schema
}

/// A person: the values, and the cells that stand for them.
#[derive(Debug, Clone)]
struct Person {
    values: Vec<u32>,
    cells: Vec<Cell>,
}

fn people(most: usize) -> impl Strategy<Value = Vec<Person>> {
    let person = (
        proptest::collection::vec(any::<u32>(), 5),
        proptest::collection::vec((any::<u32>(), 0u32..4, any::<bool>()), QUASI),
    );
    let person = person.prop_map(|(values, blur)| {
        let values: Vec<u32> = values
            .iter()
            .zip(SIZES)
            .map(|(value, size)| value % size)
            .collect();
        let cells = values.iter().enumerate().map(|(column, value)| {
            let Some((seed, width, is_set)) = blur.get(column) else {
                return Cell::Interval(*value, *value);
            };
            let size = SIZES[column];
            if *is_set {
                let others = (0..*width).map(|turn| (seed >> (8 * turn)) % size);
                return Cell::set(others.chain([*value]).collect()).unwrap();
            }
            let least = value.saturating_sub(seed % (width + 1));
            Cell::Interval(least, (least + width).max(*value).min(size - 1))
        });
        Person {
            cells: cells.collect(),
            values,
        }
    });
    proptest::collection::vec(person, 0..most)
}

fn release(schema: &Arc<Schema>, people: &[Person]) -> Release {
    let columns = (0..SIZES.len()).map(|column| {
        if column < QUASI {
            let cells = people.iter().map(|person| person.cells[column].clone());
            return ReleaseColumn::Generalized(GeneralizedColumn {
                cells: cells.collect(),
                codes: (0..people.len() as u32).collect(),
            });
        }
        let mut codes = Codes::for_size(SIZES[column]);
        people
            .iter()
            .for_each(|person| codes.push(person.values[column]));
        ReleaseColumn::Verbatim(Column::Coded(codes))
    });
    Release::new(Arc::clone(schema), columns.collect(), people.len())
}

proptest! {
    /// Rows that stand for several records are answered as those records are, to the last bit.
    #[test]
    fn counted_rows_are_answered_as_their_records(
        people in people(12),
        counts in proptest::collection::vec(1u64..5, 12),
        age in 0u32..10,
        disease in 0u32..3,
    ) {
        let schema = schema();
        let counts = counts[..people.len()].to_vec();
        let counted = release(&schema, &people).with_counts(Some(counts));
        let (single, counted) = (Held::release(&counted.clone().expanded()), Held::release(&counted));
        prop_assert_eq!(counted.records(), single.records());
        let condition = Condition::Any(vec![
            Condition::Within { column: 0, codes: CodeSet::new([(0, age)]) },
            Condition::Within { column: 4, codes: CodeSet::new([(disease, disease)]) },
        ]);
        let totals = [Total::Records, Total::Sum(3), Total::Present(0)];
        let questions = [
            question(condition.clone(), &[1, 4], &totals),
            question(condition.clone(), &[], &totals),
            Question { condition, answer: Answer::Rows { columns: vec![0, 4] } },
        ];
        for question in &questions {
            let asked = |held: &Held| {
                let mut party = Party::alone(Settings::default(), &Seed::for_site(0, 0));
                pollster::block_on(ask(&mut party, held, question, Site::new(0))).unwrap()
            };
            let (of_counted, of_single) = (asked(&counted), asked(&single));
            match (of_counted, of_single) {
                // Rows that are written alike may stand in any order.
                (Answered::Rows(mut one), Answered::Rows(mut other)) => {
                    let key = |found: &hedgerow_protocols::query::Found| found.cells.clone();
                    one.sort_by_key(key);
                    other.sort_by_key(key);
                    prop_assert_eq!(one, other);
                }
                (one, other) => prop_assert_eq!(one, other),
            }
        }
    }
}

/// What a site holds of the table of all people.
fn local(schema: &Arc<Schema>, all: &[Person], own: &[Person]) -> Held {
    let classes: Vec<Vec<Cell>> = all
        .iter()
        .map(|person| person.cells[..QUASI].to_vec())
        .collect();
    Held::local(&release(schema, own), &classes, all.len() as u64).unwrap()
}

fn condition() -> impl Strategy<Value = Condition> {
    let within = (
        0usize..5,
        proptest::collection::vec((0u32..12, 0u32..12), 0..3),
    );
    let within = within.prop_map(|(column, ranges)| {
        let size = SIZES[column];
        let ranges = ranges
            .iter()
            .map(|(least, greatest)| (least % size, greatest % size));
        let codes = CodeSet::new(ranges);
        Condition::Within { column, codes }
    });
    let missing = (0usize..5).prop_map(|column| Condition::Missing { column });
    let leaf = prop_oneof![5 => within, 1 => missing];
    leaf.prop_recursive(4, 12, 3, |inner| {
        let parts = || proptest::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            parts().prop_map(Condition::All),
            parts().prop_map(Condition::Any),
            inner
                .clone()
                .prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
}

/// Whether values satisfy a condition, in SQL's logic of three values: `None` is unknown.
fn holds(condition: &Condition, values: &[u32]) -> Option<bool> {
    match condition {
        Condition::All(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| holds(part, values)).collect();
            match () {
                () if parts.contains(&Some(false)) => Some(false),
                () if parts.contains(&None) => None,
                () => Some(true),
            }
        }
        Condition::Any(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| holds(part, values)).collect();
            match () {
                () if parts.contains(&Some(true)) => Some(true),
                () if parts.contains(&None) => None,
                () => Some(false),
            }
        }
        Condition::Not(part) => holds(part, values).map(|holds| !holds),
        Condition::Within { column, codes } => {
            let value = values[*column];
            number(*column, value)?;
            let mut ranges = codes.ranges().iter();
            Some(ranges.any(|(least, greatest)| *least <= value && value <= *greatest))
        }
        Condition::Missing { column } => Some(number(*column, values[*column]).is_none()),
    }
}

/// Every combination of values that a person's cells stand for.
fn worlds(person: &Person) -> Vec<Vec<u32>> {
    let mut worlds = vec![Vec::new()];
    for (cell, size) in person.cells.iter().zip(SIZES) {
        let values = (0..size).filter(|code| cell.contains(*code));
        let values: Vec<u32> = values.collect();
        worlds = worlds
            .iter()
            .flat_map(|world: &Vec<u32>| {
                values.iter().map(|value| {
                    let mut world = world.clone();
                    world.push(*value);
                    world
                })
            })
            .collect();
    }
    worlds
}

/// What one combination of values adds to a total.
fn adds(total: Total, condition: &Condition, values: &[u32]) -> i64 {
    if holds(condition, values) != Some(true) {
        return 0;
    }
    match total {
        Total::Records => 1,
        Total::Present(column) => i64::from(number(column, values[column]).is_some()),
        Total::Sum(column) => number(column, values[column]).unwrap_or(0),
    }
}

fn totals_of(answered: Answered) -> Vec<Group> {
    match answered {
        Answered::Totals(groups) => groups,
        Answered::Rows(_) => panic!("rows where totals were asked for"),
    }
}

fn alone(held: &Held, question: &Question) -> Answered {
    let mut party = Party::alone(Settings::default(), &Seed::new([7; 32]));
    pollster::block_on(ask(&mut party, held, question, Site::new(0))).unwrap()
}

const ALL_TOTALS: [Total; 5] = [
    Total::Records,
    Total::Sum(0),
    Total::Sum(3),
    Total::Present(0),
    Total::Present(3),
];

fn question(condition: Condition, group_by: &[usize], of: &[Total]) -> Question {
    let (group_by, of) = (group_by.to_vec(), of.to_vec());
    Question {
        condition,
        answer: Answer::Totals { group_by, of },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Law 3, over all combinations of values that cells stand for.
    #[test]
    fn totals_are_those_of_every_value_that_cells_stand_for(
        people in people(6),
        condition in condition(),
    ) {
        let schema = schema();
        let held = Held::release(&release(&schema, &people));
        let groups = totals_of(alone(&held, &question(condition.clone(), &[], &ALL_TOTALS)));
        if people.is_empty() {
            prop_assert!(groups.iter().all(|group| group.totals.iter().all(|total| total.high == 0)));
            return Ok(());
        }
        prop_assert_eq!(groups.len(), 1);
        for (measured, total) in groups[0].totals.iter().zip(ALL_TOTALS) {
            let (mut low, mut high, mut mean, mut variance, mut truth) = (0, 0, 0.0, 0.0, 0);
            for person in &people {
                let added: Vec<i64> = worlds(person)
                    .iter()
                    .map(|world| adds(total, &condition, world))
                    .collect();
                let count = added.len() as f64;
                low += added.iter().min().unwrap();
                high += added.iter().max().unwrap();
                let average = added.iter().sum::<i64>() as f64 / count;
                let square = added.iter().map(|added| (added * added) as f64).sum::<f64>() / count;
                mean += average;
                variance += square - average * average;
                truth += adds(total, &condition, &person.values);
            }
            prop_assert_eq!((measured.low, measured.high), (low, high), "{:?}", total);
            prop_assert!((measured.estimate - mean).abs() < 1e-6, "{} {}", measured.estimate, mean);
            prop_assert!((measured.error.powi(2) - variance).abs() < 1e-5);
            prop_assert!(low <= truth && truth <= high);
        }
    }

    /// Groups are what is left when every group is asked for alone.
    #[test]
    fn groups_are_the_rows_that_are_written_so(
        people in people(8),
        condition in condition(),
        group_by in proptest::sample::subsequence(vec![0usize, 1, 3, 4], 0..3),
    ) {
        let schema = schema();
        let held = Held::release(&release(&schema, &people));
        let groups = totals_of(alone(&held, &question(condition.clone(), &group_by, &[Total::Records])));
        let key = |person: &Person| -> Vec<Cell> {
            group_by.iter().map(|column| person.cells[*column].clone()).collect()
        };
        let mut found = 0;
        for group in &groups {
            let own: Vec<Person> = people
                .iter()
                .filter(|person| key(person) == group.key)
                .cloned()
                .collect();
            found += own.len();
            let alone = totals_of(alone(&Held::release(&release(&schema, &own)), &question(condition.clone(), &[], &[Total::Records])));
            let expected = alone.first().map_or((0, 0), |group| (group.totals[0].low, group.totals[0].high));
            prop_assert_eq!((group.totals[0].low, group.totals[0].high), expected);
        }
        prop_assert_eq!(found, people.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Law 2: sites that hold a table together answer as the table does, to the last bit.
    #[test]
    fn sites_answer_as_one_table_does(
        people in people(24),
        condition in condition(),
        group_by in proptest::sample::subsequence(vec![0usize, 1, 3, 4], 0..3),
        sites in prop_oneof![Just(2usize), Just(3), Just(10)],
        skew in any::<bool>(),
        published in any::<bool>(),
        asker in 0u16..2,
        seed in any::<u64>(),
    ) {
        let schema = schema();
        let whole = Held::release(&release(&schema, &people));
        let parts = parts(&people, sites, skew);
        let held: Vec<Held> = parts.iter().map(|own| local(&schema, &people, own)).collect();
        let security = if published { Security::Published } else { Security::Hardened };
        let totals = question(condition.clone(), &group_by, &ALL_TOTALS);
        let rows = Question { condition, answer: Answer::Rows { columns: vec![4, 0] } };
        for question in [totals, rows] {
            let expected = alone(&whole, &question);
            let simulation = Simulation::new(sites, seed).settings(settings(security));
            let asker = Site::new(asker);
            let run = |mut party: Party| {
                let (held, question) = (&held, &question);
                async move {
                    let own = &held[party.me().index()];
                    let answer = ask(&mut party, own, question, asker).await?;
                    Ok::<_, Error>((answer, party.ledger().clone()))
                }
            };
            let outcome = simulation.run(run);
            let is_of_totals = matches!(question.answer, Answer::Totals { .. });
            // The sites are already joined where they keep their lines.
            let joining = simulation.run(|_| async { Ok::<_, Error>(()) }).traffic;
            let rounds = outcome.traffic.rounds - joining.rounds;
            prop_assert!(rounds <= 3 || !is_of_totals || published, "{} rounds", rounds);
            let values = outcome.into_values().unwrap();
            let ideal: Result<Vec<_>, Error> = simulation.run_ideal(run).into_iter().collect();
            let ideal = ideal.unwrap();
            for (site, (answer, ledger)) in values.iter().enumerate() {
                prop_assert_eq!(answer, &ideal[site].0);
                let is_told = site == asker.index() || !is_of_totals;
                match is_told {
                    true => prop_assert_eq!(answer, &expected),
                    false => prop_assert_eq!(answer, &Answered::Totals(Vec::new())),
                }
                for entry in ledger.entries() {
                    let name = entry.disclosure.what.name();
                    let listed = discloses().iter().any(|what| what.name() == name);
                    let on_the_way = [RUNNING, hedgerow_smc::union::ON_THE_WAY];
                    let on_the_way = published && on_the_way.iter().any(|what| what.name() == name);
                    prop_assert!(listed || on_the_way, "{} is not listed", name);
                }
            }
        }
    }
}

/// People dealt to sites: evenly, or most of them to the first and none to the last.
fn parts(people: &[Person], sites: usize, skew: bool) -> Vec<Vec<Person>> {
    let mut parts = vec![Vec::new(); sites];
    for (place, person) in people.iter().enumerate() {
        let site = match skew {
            true if place % 5 > 0 => 0,
            true => place % (sites - 1),
            false => place % sites,
        };
        parts[site].push(person.clone());
    }
    parts
}

fn settings(security: Security) -> Settings {
    match security {
        Security::Hardened => Settings::hardened(),
        Security::Published => Settings::published(),
    }
}

/// Ten people: five in one class of two ages and one sex, five in another.
fn two_classes() -> Vec<Person> {
    let person = |place: u32| {
        let class = place % 2;
        let values = vec![4 * class + place % 3 % 2, class, 2, place % 11, place % 3];
        let cells = values
            .iter()
            .enumerate()
            .map(|(column, value)| match column {
                0 => Cell::Interval(4 * class, 4 * class + 1),
                _ => Cell::Interval(*value, *value),
            });
        Person {
            cells: cells.collect(),
            values,
        }
    };
    (0..10).map(person).collect()
}

/// Three sites, of which the last does something else than its part; what the first, which asks, gets.
fn with_a_liar<F>(
    question: &Question,
    security: Security,
    lie: impl Fn(Party) -> F,
) -> Result<Answered, Error>
where
    F: Future<Output = Result<(), Error>>,
{
    let (schema, people) = (schema(), two_classes());
    let parts = [&people[..4], &people[4..9], &people[9..]];
    let held = parts.map(|own| local(&schema, &people, own));
    let outcome = Simulation::new(3, 7)
        .settings(settings(security))
        .run(|mut party| {
            let (held, lie) = (&held[party.me().index()], &lie);
            async move {
                if party.me() == Site::new(2) {
                    lie(party).await?;
                    return Ok(None);
                }
                ask(&mut party, held, question, Site::new(0))
                    .await
                    .map(Some)
            }
        });
    let mut results = outcome.results.into_iter();
    results.next().unwrap().map(Option::unwrap)
}

/// Whatever a site adds to a sum, an answer is one that rows of the table could give: the numbers of the
/// others are bounded by how many records they have and by the column's range.
#[test]
fn totals_that_no_rows_add_up_to_are_refused() {
    const ONE: u64 = 1 << 40;
    let young = Condition::Within {
        column: 0,
        codes: CodeSet::new([(0, 0)]),
    };
    let asked = |of: Total, group_by: &[usize]| question(young.clone(), group_by, &[of]);
    let minus = |number: u64| number.wrapping_neg();
    // The others have six records; the second site's own five say low 0, high 2 or 3.
    let wrong: [(Total, &[usize], Vec<u64>); 10] = [
        // A count below nothing, with which the sum is below nothing, or below this site's own.
        (
            Total::Records,
            &[],
            vec![minus(9), minus(9), minus(9 * ONE), 0],
        ),
        (Total::Records, &[], vec![minus(1), 0, 0, 0]),
        // More records than the others have.
        (Total::Records, &[], vec![5, 5, 5 * ONE, 0]),
        (Total::Records, &[], vec![0, u64::MAX / 2, 0, 0]),
        // Least above most, an estimate outside, a variance that no estimate has.
        (Total::Records, &[], vec![5, 1, ONE, 0]),
        (Total::Records, &[], vec![0, 0, 4 * ONE, 0]),
        (Total::Records, &[], vec![0, 0, 0, 4 * ONE]),
        (Total::Records, &[], vec![0, 0, 0, minus(4 * ONE)]),
        // A sum of five times thirty and more; one below five times minus twenty.
        (Total::Sum(3), &[], vec![0, 400, 0, 0]),
        (Total::Sum(3), &[], vec![minus(400), 0, 0, 0]),
    ];
    for (of, group_by, words) in wrong {
        let words = &words;
        for security in [Security::Hardened, Security::Published] {
            let answer = with_a_liar(&asked(of, group_by), security, |mut party| async move {
                let mut lies = words.clone();
                Ok(party.sum_to(TOTALS, Site::new(0), &mut lies).await?)
            });
            let error = answer.unwrap_err().to_string();
            assert!(
                error.contains("totals that no rows of the table add up to"),
                "{words:?}: {error}"
            );
        }
    }
    // Six more records in each of two groups are more than there are, though not in one of them.
    let by_sex = question(Condition::everything(), &[1], &[Total::Records]);
    let lie = |each: u64| {
        with_a_liar(&by_sex, Security::Hardened, move |mut party| async move {
            let mut lies = [each, each, each * ONE, 0].repeat(2);
            Ok(party.sum_to(TOTALS, Site::new(0), &mut lies).await?)
        })
    };
    assert!(lie(3).is_err());
    assert!(lie(0).is_ok());
}

/// Rows of a peer are rows of a class, with values that there are, and satisfy the condition.
#[test]
fn rows_of_no_class_or_of_another_question_are_refused() {
    let old = Condition::Within {
        column: 0,
        codes: CodeSet::new([(4, 10)]),
    };
    let question = Question {
        condition: old,
        answer: Answer::Rows {
            columns: vec![1, 4],
        },
    };
    // Places of the cells of age and sex, and a code.
    let lie = |item: [u32; 3], security: Security| {
        with_a_liar(&question, security, move |mut party| async move {
            let mut found = [1];
            party.sum(FOUND, &mut found).await?;
            let decoy = |_: &mut Generator| [1u32, 1, 0].map(u32::to_be_bytes).concat();
            let shape = Items {
                width: 12,
                capacity: found[0] as usize,
                domain: 6.0,
                decoy: &decoy,
            };
            let mut items = vec![item.map(u32::to_be_bytes).concat()];
            Ok(party.union(ROWS, &shape, &mut items).await?)
        })
    };
    for security in [Security::Hardened, Security::Published] {
        assert!(lie([1, 1, 2], security).is_ok());
        for wrong in [[1, 0, 2], [0, 0, 2], [1, 1, 3], [2, 1, 0], [1, u32::MAX, 0]] {
            let error = lie(wrong, security).unwrap_err().to_string();
            assert!(
                error.contains("rows that are not of the table"),
                "{wrong:?}: {error}"
            );
        }
    }
}

/// What is answered grows with what is listed, so a peer's list has everything once.
#[test]
fn a_question_that_asks_for_the_same_twice_is_refused() {
    let rows = |columns: Vec<usize>| Question {
        condition: Condition::everything(),
        answer: Answer::Rows { columns },
    };
    let twice = [
        rows(vec![4; 100_000]),
        question(Condition::everything(), &[1, 0, 1], &[Total::Records]),
        question(
            Condition::everything(),
            &[],
            &[Total::Sum(3), Total::Sum(3)],
        ),
        question(
            Condition::everything(),
            &[],
            &[Total::Records, Total::Records],
        ),
    ];
    for (question, column) in twice.iter().zip(["disease", "sex", "cost", "*"]) {
        let column = column.to_owned();
        assert_eq!(
            question.check(&schema()),
            Err(QuestionError::Twice { column })
        );
    }
    let each = [Total::Records, Total::Sum(3), Total::Present(3)];
    assert_eq!(
        question(Condition::everything(), &[1, 0], &each).check(&schema()),
        Ok(())
    );
}

/// A random item that could not be an answer would be known for what it is.
#[test]
fn random_items_are_rows_that_the_answer_could_have() {
    let (schema, people) = (schema(), two_classes());
    let parts = [&people[..4], &people[4..9], &people[9..]];
    let held = parts.map(|own| local(&schema, &people, own));
    // The second class, and two of three diseases.
    let condition = Condition::All(vec![
        Condition::Within {
            column: 0,
            codes: CodeSet::new([(5, 9)]),
        },
        Condition::Within {
            column: 4,
            codes: CodeSet::new([(1, 2)]),
        },
    ]);
    let question = Question {
        condition,
        answer: Answer::Rows { columns: vec![4] },
    };
    let simulation = Simulation::new(3, 11).settings(Settings::published());
    let outcome = simulation.run(|mut party| {
        let (held, question) = (&held[party.me().index()], &question);
        async move {
            party.keep_witness();
            ask(&mut party, held, question, Site::new(0)).await?;
            Ok::<_, Error>(party.take_witness().unwrap())
        }
    });
    let mut random = 0;
    for witness in outcome.into_values().unwrap() {
        let [union] = witness.unions.as_slice() else {
            panic!("one union");
        };
        // Two rows could be answers: the second class with each of two diseases.
        assert!(
            union
                .seen
                .iter()
                .all(|word| [1 << 32 | 1, 1 << 32 | 2].contains(word))
        );
        assert!((1.9..2.1).contains(&union.domain), "{}", union.domain);
        random += union.seen.len();
    }
    assert!(random >= 100);
}

/// A row that stands for billions is not answered as so many rows: nothing is made of it, alone or between
/// sites, and each site says so in the same words.
#[test]
fn billions_of_rows_are_refused_before_they_are_made() {
    let schema = schema();
    let people = two_classes();
    let release = release(&schema, &people);
    let rows = release.rows() as u64;
    let counted = |of_each: u64| {
        release
            .clone()
            .with_counts(Some(vec![of_each; rows as usize]))
    };
    let all = Condition::All(Vec::new());
    let ask_rows = Question {
        condition: all.clone(),
        answer: Answer::Rows { columns: vec![0] },
    };
    let many = Held::release(&counted(400_000_000));
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(1, 0));
    let asked = ask(&mut party, &many, &ask_rows, Site::new(0));
    let refused = pollster::block_on(asked).unwrap_err().to_string();
    let found = rows * 400_000_000;
    assert!(
        refused.starts_with(&format!(
            "the question finds {found} rows, each a record, expected at most {MOST_FOUND}"
        )),
        "{refused}"
    );
    assert!(refused.contains("hint: ask for counts"), "{refused}");
    // What can be counted is.
    let count = question(all, &[], &[Total::Records]);
    let totals = totals_of(alone(&many, &count));
    assert_eq!(totals[0].totals[0].low, found as i64);
    // At the limit rows are answered.
    let few = Held::release(&counted(2));
    assert!(
        matches!(alone(&few, &ask_rows), Answered::Rows(found) if found.len() as u64 == 2 * rows)
    );
    // Between sites of which one alone would hold so many.
    let held = Held::shared(&[counted(400_000_000), counted(1)]);
    let simulation = Simulation::new(2, 5).settings(settings(Security::Hardened));
    let outcome = simulation.run(|mut party| {
        let held = &held[party.me().index()];
        let ask_rows = &ask_rows;
        async move { ask(&mut party, held, ask_rows, Site::new(0)).await }
    });
    for (site, answer) in outcome.results.into_iter().enumerate() {
        let refused = answer.unwrap_err().to_string();
        assert!(
            refused.contains(&format!("finds {} rows", found + rows)),
            "{site}: {refused}"
        );
    }
}
