//! The verifier against direct transcriptions of the definitions, on small random tables.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_data::{TextColumn, TextTable};
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::verify::{Evidence, Measure, Verdict, verify};
use hedgerow_privacy::{Ratio, Requirement, Sensitive};
use proptest::prelude::*;

use crate::strings;

type Row = (u8, u8, u8, u8);

fn text(rows: &[Row]) -> TextTable {
    let names = strings(&["q1", "q2", "s", "site"]);
    let mut columns = vec![TextColumn::default(); 4];
    for (index, row) in rows.iter().enumerate() {
        let words = [
            format!("a{}", row.0),
            format!("b{}", row.1),
            format!("v{}", row.2),
            format!("P{}", row.3),
        ];
        for (column, word) in columns.iter_mut().zip(&words) {
            column.push(word, index as u64 + 2);
        }
    }
    TextTable {
        counts: None,
        file: "t".into(),
        names,
        columns,
    }
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    proptest::collection::vec((0..3u8, 0..2u8, 0..4u8, 0..4u8), 1..40)
}

fn look(text: &TextTable, demand: Option<&str>) -> Verdict {
    let (quasi, sensitive) = (strings(&["q1", "q2"]), strings(&["s"]));
    let evidence = Evidence::of_table(text, &quasi, &sensitive, Some("site")).unwrap();
    let requirement = demand.map(|line| Requirement::of_line(line, &evidence.scope()).unwrap());
    verify(&evidence, requirement.as_ref())
}

fn number(measure: Measure) -> f64 {
    match measure {
        Measure::Whole(number) => number as f64,
        Measure::Fraction(ratio) => ratio.to_f64(),
        Measure::Real(number) => number,
        Measure::Unknown => f64::NAN,
    }
}

const DEMANDS: [&str; 10] = [
    "k = 2",
    "l = 2",
    "k = 2, l = { at_least = 1.5, kind = \"entropy\" }",
    "t = 0.4",
    "l = { at_least = 2, kind = \"recursive\", c = 3 }",
    "alpha = 0.75",
    "beta = { at_most = 1.5, kind = \"enhanced\" }",
    "delta = 0.9",
    "l = { at_least = 1.5, kind = \"frequency\" }",
    "k = 3, l = 2",
];

/// Whether a demand can be met by a table with one sensitive value alone.
fn one_value_may_do(demand: &str) -> bool {
    ["l = 2", "at_least = 2", "1.5, kind = \"e", "\"frequency\""]
        .iter()
        .all(|words| !demand.contains(words))
}

/// The demands, written out in whole numbers from their definitions.
fn satisfies(pick: usize, q: &[i64; 4], p: &[i64; 4]) -> bool {
    let (n, total): (i64, i64) = (q.iter().sum(), p.iter().sum());
    let present: Vec<i64> = q.iter().copied().filter(|count| *count > 0).collect();
    let top = present.iter().copied().max().unwrap();
    let entropy = || {
        let shares = present.iter().map(|count| *count as f64 / n as f64);
        shares.map(|share| -share * share.ln()).sum::<f64>().exp()
    };
    // Over the values of the class: (value's count, its count in the table).
    let values = || q.iter().zip(p).filter(|(count, _)| **count > 0);
    match pick {
        0 => n >= 2,
        1 => present.len() >= 2,
        2 => n >= 2 && entropy() >= 1.5 - 1e-9,
        // Half of L1 at most 2/5.
        3 => {
            5 * q
                .iter()
                .zip(p)
                .map(|(q, p)| (q * total - p * n).abs())
                .sum::<i64>()
                <= 4 * n * total
        }
        // r_1 < 3 (r_2 + r_3 + …).
        4 => top < 3 * (n - top),
        // At most three quarters.
        5 => 4 * top <= 3 * n,
        // (q - p) / p at most 1.5 and at most -ln p.
        6 => values().all(|(q, p)| {
            let gain = (*q as f64 * total as f64) / (*p as f64 * n as f64) - 1.0;
            2 * (q * total - p * n) <= 3 * p * n && gain <= -(*p as f64 / total as f64).ln() + 1e-9
        }),
        // Of every value of the table: ln 0 is below nothing.
        7 => (0..4).filter(|value| p[*value] > 0).all(|value| {
            let ratio = (q[value] * total) as f64 / (p[value] * n) as f64;
            ratio > 0.0 && ratio.ln().abs() < 0.9
        }),
        // No value more frequent than 1 / 1.5.
        8 => 3 * top <= 2 * n,
        9 => n >= 3 && present.len() >= 2,
        _ => unreachable!(),
    }
}

/// How many records each of four sites has, the most first.
fn of_sites(members: &[Row]) -> Vec<f64> {
    let count = |site: u8| members.iter().filter(|row| row.3 == site).count() as f64;
    let mut counts: Vec<f64> = (0..4).map(count).collect();
    counts.sort_by(|a, b| b.total_cmp(a));
    counts
}

fn site_entropy(members: &[Row]) -> f64 {
    let shares = of_sites(members).into_iter();
    let shares = shares.map(|count| count / members.len() as f64);
    let terms = shares.filter(|share| *share > 0.0);
    terms.map(|share| -share * share.log2()).sum::<f64>().exp2()
}

/// r_1 / (r_l + r_{l+1} + …) of sites.
fn site_bound(members: &[Row], l: usize) -> f64 {
    let counts = of_sites(members);
    counts[0] / counts[l - 1..].iter().sum::<f64>()
}

proptest! {
    #[test]
    fn achieved_values_are_those_of_the_worst_class(rows in rows()) {
        let verdict = look(&text(&rows), None);
        let mut classes: BTreeMap<(u8, u8), Vec<Row>> = BTreeMap::new();
        for row in &rows { classes.entry((row.0, row.1)).or_default().push(*row); }
        let share = |members: &[Row], value: u8| members.iter().filter(|row| row.2 == value).count() as f64 / members.len() as f64;
        let each = |measure: &dyn Fn(&[Row]) -> f64| classes.values().map(|members| measure(members)).collect::<Vec<f64>>();
        let least = |values: Vec<f64>| values.into_iter().fold(f64::INFINITY, f64::min);
        let greatest = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
        let close = |ours: Measure, theirs: f64| (number(ours) - theirs).abs() < 1e-9;
        let models = &verdict.models;

        prop_assert_eq!(verdict.classes as usize, classes.len());
        prop_assert!(close(models.k.as_ref().unwrap().achieved, least(each(&|m| m.len() as f64))));
        prop_assert!(close(models.alpha.as_ref().unwrap().achieved, greatest(each(&|m| (0..4).map(|v| share(m, v)).fold(0.0, f64::max)))));
        let distinct = |m: &[Row]| m.iter().map(|row| row.2).collect::<BTreeSet<_>>().len() as f64;
        prop_assert!(close(models.l_distinct.as_ref().unwrap().achieved, least(each(&distinct))));
        let entropy = |m: &[Row]| (0..4).map(|v| share(m, v)).filter(|q| *q > 0.0).map(|q| -q * q.log2()).sum::<f64>().exp2();
        prop_assert!(close(models.l_entropy.as_ref().unwrap().achieved, least(each(&entropy))));
        let emd = |m: &[Row]| (0..4).map(|v| (share(m, v) - share(&rows, v)).abs()).sum::<f64>() / 2.0;
        prop_assert!(close(models.t.as_ref().unwrap().achieved, greatest(each(&emd))));
        let sites = |m: &[Row]| m.iter().map(|row| row.3).collect::<BTreeSet<_>>().len() as f64;
        prop_assert!(close(models.site_diversity.as_ref().unwrap().achieved, least(each(&sites))));
        prop_assert!(close(models.site_entropy.as_ref().unwrap().achieved, least(each(&|m| site_entropy(m)))));
        let l = least(each(&sites)) as usize;
        let recursive = models.site_recursive.as_ref().unwrap();
        prop_assert_eq!(recursive.l, Some(l as u64));
        prop_assert!(close(recursive.achieved, greatest(each(&|m| site_bound(m, l)))));
    }

    /// The stronger kinds of site diversity, over all quasi-identifiers and over one alone, and without the
    /// sites of a coalition: from the rows, by the definitions.
    #[test]
    fn records_are_spread_over_sites_as_demanded(
        rows in rows(),
        is_recursive in any::<bool>(),
        tenths in 10..30u32,
        is_of_one in any::<bool>(),
        m in 0..3u64,
    ) {
        let table = text(&rows);
        let sites: BTreeSet<u8> = rows.iter().map(|row| row.3).collect();
        let l = if is_recursive { f64::from(2 + tenths % 2) } else { f64::from(tenths) / 10.0 };
        let c = f64::from(tenths) / 10.0;
        prop_assume!((m as usize) < sites.len() && l <= sites.len() as f64);
        let (kind, and_c) = match is_recursive {
            true => ("recursive", format!(", c = {c}")),
            false => ("entropy", String::new()),
        };
        let of = if is_of_one { ", attributes = [\"q1\"]" } else { "" };
        let line = format!("site_diversity = {{ at_least = {l}, kind = \"{kind}\"{and_c}{of} }}, m = {m}");
        let verdict = look(&table, Some(&line));
        let mut groups: BTreeMap<(u8, u8), Vec<Row>> = BTreeMap::new();
        for row in &rows {
            groups.entry((row.0, if is_of_one { 0 } else { row.1 })).or_default().push(*row);
        }
        let is_spread = |members: &[Row]| match is_recursive {
            // Both sides are tenths.
            true => site_bound(members, l as usize) < c - 1e-9,
            false => site_entropy(members) >= l - 1e-8,
        };
        let fails = |coalition: u8| {
            let left = groups.values().map(|members| -> Vec<Row> {
                members.iter().filter(|row| coalition >> row.3 & 1 == 0).copied().collect()
            });
            left.filter(|left| !left.is_empty() && !is_spread(left)).count() as u64
        };
        let found = match is_recursive {
            true => verdict.models.site_recursive.as_ref(),
            false => verdict.models.site_entropy.as_ref(),
        };
        prop_assert_eq!(found.unwrap().failing_classes, Some(fails(0)), "{}", &line);
        prop_assert_eq!(found.unwrap().holds, Some(fails(0) == 0));
        let coalitions = (0u8..16).filter(|coalition| u64::from(coalition.count_ones()) <= m);
        let holds = coalitions.map(fails).sum::<u64>() == 0;
        prop_assert_eq!(verdict.holds, Some(holds), "{}", &line);
    }

    /// The verdict is the conjunction of the models on every class, for coalitions of every size.
    #[test]
    fn the_verdict_is_the_models_on_every_class(rows in rows(), m in 0..3u64, pick in 0..DEMANDS.len()) {
        let table = text(&rows);
        let sites: BTreeSet<u8> = rows.iter().map(|row| row.3).collect();
        let values = table.columns[2].dictionary.len();
        prop_assume!((m as usize) < sites.len() && (values >= 2 || one_value_may_do(DEMANDS[pick])));
        let line = format!("{}, m = {m}", DEMANDS[pick]);
        let verdict = look(&table, Some(&line));
        let mut totals = [0i64; 4];
        for row in &rows {
            totals[row.2 as usize] += 1;
        }
        let mut classes: BTreeMap<(u8, u8), Vec<Row>> = BTreeMap::new();
        for row in &rows {
            classes.entry((row.0, row.1)).or_default().push(*row);
        }
        let mut holds = true;
        for coalition in (0u8..16).filter(|coalition| u64::from(coalition.count_ones()) <= m) {
            for members in classes.values() {
                let mut counts = [0i64; 4];
                for row in members.iter().filter(|row| coalition >> row.3 & 1 == 0) {
                    counts[row.2 as usize] += 1;
                }
                holds &= counts.iter().sum::<i64>() == 0 || satisfies(pick, &counts, &totals);
            }
        }
        prop_assert_eq!(verdict.holds, Some(holds), "{}", line);
    }

    /// The largest m that holds, what fails and what is left empty, by all coalitions of all sites.
    #[test]
    fn the_largest_m_is_that_of_all_coalitions(rows in rows(), demanded in proptest::option::of(0..4u64), pick in 0..DEMANDS.len()) {
        let table = text(&rows);
        let sites: BTreeSet<u8> = rows.iter().map(|row| row.3).collect();
        let most = sites.len() as u64 - 1;
        let values = table.columns[2].dictionary.len();
        prop_assume!(demanded.is_none_or(|m| m <= most) && (values >= 2 || one_value_may_do(DEMANDS[pick])));
        let line = demanded.map_or(DEMANDS[pick].to_owned(), |m| format!("{}, m = {m}", DEMANDS[pick]));
        let verdict = look(&table, Some(&line)).models.m.unwrap();
        let mut totals = [0i64; 4];
        let mut classes: BTreeMap<(u8, u8), Vec<Row>> = BTreeMap::new();
        for row in &rows {
            totals[row.2 as usize] += 1;
            classes.entry((row.0, row.1)).or_default().push(*row);
        }
        // Of each class, the size of the smallest coalition that breaks it.
        let breaking = |members: &Vec<Row>| {
            let breaks = |coalition: &u8| {
                let mut counts = [0i64; 4];
                for row in members.iter().filter(|row| coalition >> row.3 & 1 == 0) {
                    counts[row.2 as usize] += 1;
                }
                counts != [0; 4] && !satisfies(pick, &counts, &totals)
            };
            let size = |coalition: u8| u64::from(coalition.count_ones());
            (0u8..16).filter(breaks).map(size).min()
        };
        let breaking: Vec<Option<u64>> = classes.values().map(breaking).collect();
        let tried = demanded.unwrap_or(most);
        let seen = || breaking.iter().copied().flatten().filter(|size| *size <= tried);
        let achieved = seen().min().map_or(Some(tried), |size| size.checked_sub(1));
        let whole = match verdict.achieved {
            Measure::Whole(m) => Some(m),
            _ => None,
        };
        prop_assert_eq!(whole, achieved, "{}", &line);
        prop_assert_eq!(verdict.at_least, seen().count() == 0 && tried < most);
        prop_assert_eq!(verdict.holds, demanded.map(|_| seen().count() == 0));
        prop_assert_eq!(verdict.failing_classes, demanded.map(|_| seen().count() as u64));
        let owners = |members: &Vec<Row>| members.iter().map(|row| row.3).collect::<BTreeSet<_>>().len() as u64;
        let emptied = achieved.map(|m| classes.values().filter(|members| owners(members) <= m).count() as u64);
        prop_assert_eq!(verdict.emptied_classes, emptied);
    }
}

#[test]
fn equality_is_enough() {
    // Shares 1/5 and 1/3 are no binary fractions: floating point would lose them.
    let rows: Vec<Row> = (0..5).map(|value| (0, 0, value % 5, 0)).collect();
    let table = text(&rows);
    assert_eq!(
        look(
            &table,
            Some("k = 5, alpha = 0.2, l = { at_least = 5, kind = \"entropy\" }, t = 0")
        )
        .holds,
        Some(true)
    );
    let thirds: Vec<Row> = vec![
        (0, 0, 0, 0),
        (0, 0, 1, 0),
        (0, 0, 2, 0),
        (1, 0, 0, 0),
        (1, 0, 1, 0),
        (1, 0, 2, 0),
    ];
    assert_eq!(
        look(
            &text(&thirds),
            Some("l = { at_least = 3, kind = \"frequency\" }")
        )
        .holds,
        Some(true)
    );
    // r_1 < c (r_l + …) is strict: one to one at c = 1 fails.
    let pair: Vec<Row> = vec![(0, 0, 0, 0), (0, 0, 1, 0)];
    assert_eq!(
        look(
            &text(&pair),
            Some("l = { at_least = 2, kind = \"recursive\", c = 1 }")
        )
        .holds,
        Some(false)
    );
    assert_eq!(
        look(
            &text(&pair),
            Some("l = { at_least = 2, kind = \"recursive\", c = 1.01 }")
        )
        .holds,
        Some(true)
    );
}

#[test]
fn two_sensitive_attributes_each_or_together() {
    let table = crate::table("q,a,b\n1,x,u\n1,y,v\n1,x,v\n1,y,u");
    let (quasi, sensitive) = (strings(&["q"]), strings(&["a", "b"]));
    let evidence = Evidence::of_table(&table, &quasi, &sensitive, None).unwrap();
    let each = verify(&evidence, None).models.l_distinct.unwrap();
    assert_eq!(each.achieved, Measure::Whole(2));
    assert_eq!(each.attributes.len(), 2);
    let together = evidence.counting(Sensitive::Product);
    assert_eq!(together.sensitive[0].name, "a × b");
    assert_eq!(
        verify(&together, None).models.l_distinct.unwrap().achieved,
        Measure::Whole(4)
    );
}

#[test]
fn numbers_are_ordered_by_value_not_by_text() {
    // As text 10 < 9. Values 9, 10, 11: a class of {9} is one and a half ranks of two away.
    let table = crate::table("q,cost\n1,9\n2,10\n2,11");
    let (quasi, sensitive) = (strings(&["q"]), strings(&["cost"]));
    let evidence = Evidence::of_table(&table, &quasi, &sensitive, None).unwrap();
    let t = verify(&evidence, None).models.t.unwrap();
    assert_eq!(t.attributes[0].distance, Some(Distance::Ordered));
    assert_eq!(t.achieved, Measure::Fraction(Ratio::new(1, 2)));
}

#[test]
fn classes_that_a_coalition_owns_are_counted() {
    let table = crate::table("q,s,site\n1,x,A\n1,y,A\n2,x,A\n2,y,B\n2,x,B");
    let (quasi, sensitive) = (strings(&["q"]), strings(&["s"]));
    let evidence = Evidence::of_table(&table, &quasi, &sensitive, Some("site")).unwrap();
    let demand = Requirement::of_line("k = 1, m = 1", &evidence.scope()).unwrap();
    let m = verify(&evidence, Some(&demand)).models.m.unwrap();
    assert_eq!((m.holds, m.emptied_classes), (Some(true), Some(1)));
    // Nobody demanded an m: the largest that holds.
    let demand = Requirement::of_line("k = 2", &evidence.scope()).unwrap();
    let m = verify(&evidence, Some(&demand)).models.m.unwrap();
    assert_eq!((m.holds, m.achieved), (None, Measure::Whole(0)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Demanded of each and of the product, a requirement holds where both hold, model by model.
    #[test]
    fn both_is_each_and_the_product(
        rows in prop::collection::vec((0u32..3, 0u32..3, 0u32..4), 4..40),
        l in 1u32..3,
        t in 1u32..8,
        alpha in 5u32..10,
        c in 10u32..40,
    ) {
        let lines = rows.iter().map(|(q, a, b)| format!("{q},{a},{b}\n"));
        let table = crate::table(&format!("q,a,b\n{}", lines.collect::<String>()));
        let (quasi, sensitive) = (strings(&["q"]), strings(&["a", "b"]));
        let evidence = Evidence::of_table(&table, &quasi, &sensitive, None).unwrap();
        let l = match c % 2 {
            0 => format!("{{ at_least = {l}, kind = \"recursive\", c = {} }}", f64::from(c) / 10.0),
            _ => l.to_string(),
        };
        let demands = format!(
            "k = 1, l = {l}, t = {{ at_most = {}, distance = \"equal\" }}, alpha = {}",
            f64::from(t) / 10.0,
            f64::from(alpha) / 10.0
        );
        let found = |sensitive: Sensitive, word: &str| {
            let line = format!("{demands}, sensitive = \"{word}\"");
            let demand = Requirement::of_line(&line, &evidence.scope()).ok()?;
            Some(verify(&evidence.clone().counting(sensitive), Some(&demand)))
        };
        let each = found(Sensitive::Each, "each");
        // With too few values of one attribute, neither can be demanded.
        prop_assume!(each.is_some());
        let each = each.unwrap();
        let product = found(Sensitive::Product, "product").unwrap();
        let both = found(Sensitive::Both, "both").unwrap();
        prop_assert_eq!(both.holds, Some(each.holds == Some(true) && product.holds == Some(true)));
        for ((key, both), ((_, each), (_, product))) in
            both.models.named().iter().zip(each.models.named().iter().zip(product.models.named().iter()))
        {
            let holds = each.holds.zip(product.holds).map(|(each, product)| each && product);
            prop_assert_eq!(both.holds, holds, "{}", key);
        }
    }
}
