//! The demo's closing question: the same SQL asked of the table that the four hospitals hold together, through
//! their nodes, and of what each hospital would have published alone, with the truth beside the bounds. Only a
//! demo knows the truth: it invented the records.

use std::path::Path;

use hedgerow::Site;
use hedgerow::data::files::read_text;
use hedgerow::query::{Answers, Statement};
use hedgerow::words::aligned;
use serde_json::{Value, json};

use super::AloneOf;
use super::hospitals::Town;
use crate::error::CliError;

/// The question in words.
const WORDS: &str = "how many were 40 or older and cost 20K and more?";
/// The question as an analyst writes it.
const SQL: &str = "SELECT count(*) FROM hospital WHERE age >= 40 AND cost = '20K and more'";
const AGES: std::ops::RangeFrom<u32> = 40..;
const COST: &str = "20K and more";

/// What a table answers: at least, the estimate, at most.
struct Bounds {
    low: i64,
    estimate: f64,
    high: i64,
}

/// What all hospitals together answer, and each alone.
pub(super) struct Asked {
    together: Bounds,
    /// Each hospital's name, its truth, and what it answers alone where it could publish at all.
    alone: Vec<(String, i64, Option<Bounds>)>,
}

/// Asks all hospitals through the node of the first, which must still be at work.
pub(super) async fn together(town: &Town) -> Result<Answers, CliError> {
    let table = Site::open(town.hospitals[0].site_file())?.joint_table(Some(1))?;
    Ok(table.answer(&statement(town)?).await?)
}

fn statement(town: &Town) -> Result<Statement, CliError> {
    Ok(town.study.statement(SQL)?)
}

impl Asked {
    /// Sets the answer of all together beside what each hospital alone would answer.
    pub(super) fn beside(
        town: &Town,
        together: &Answers,
        alone: &[AloneOf],
    ) -> Result<Self, CliError> {
        let statement = statement(town)?;
        let mut each = Vec::new();
        for (hospital, (_, alone)) in town.hospitals.iter().zip(alone) {
            let answers = match alone {
                Some(Ok(alone)) => Some(Bounds::of(&alone.table.answer(&statement)?)),
                _ => None,
            };
            let truth = truth(&hospital.rows())?;
            each.push((hospital.name.clone(), truth, answers));
        }
        Ok(Self {
            together: Bounds::of(together),
            alone: each,
        })
    }

    /// How many there are in truth.
    fn truth(&self) -> i64 {
        self.alone.iter().map(|(_, truth, _)| truth).sum()
    }

    pub(super) fn text(&self) -> String {
        let head = ["", "at least", "estimate", "at most", "in truth"].map(String::from);
        let mut rows = vec![head.to_vec()];
        let row = |name: &str, truth: i64, bounds: Option<&Bounds>| {
            let mut row = vec![format!("  {name}")];
            match bounds {
                Some(bounds) => row.extend([
                    bounds.low.to_string(),
                    format!("{:.1}", bounds.estimate),
                    bounds.high.to_string(),
                ]),
                None => row.extend(["-", "-", "-"].map(String::from)),
            }
            row.push(truth.to_string());
            row
        };
        rows.push(row("all four, asked", self.truth(), Some(&self.together)));
        for (name, truth, bounds) in &self.alone {
            rows.push(row(&format!("{name} alone"), *truth, bounds.as_ref()));
        }
        format!(
            "a question, asked while no row left its hospital: {WORDS}\n{SQL}\n{}",
            aligned(&rows)
        )
    }

    pub(super) fn json(&self) -> Value {
        let value = |truth: i64, bounds: Option<&Bounds>| {
            let mut value = json!({ "truth": truth });
            if let Some(bounds) = bounds {
                value["low"] = bounds.low.into();
                value["estimate"] = bounds.estimate.into();
                value["high"] = bounds.high.into();
            }
            value
        };
        let alone = self.alone.iter().map(|(name, truth, bounds)| {
            let mut value = value(*truth, bounds.as_ref());
            value["site"] = name.as_str().into();
            value
        });
        json!({
            "sql": SQL,
            "together": value(self.truth(), Some(&self.together)),
            "alone": alone.collect::<Vec<Value>>(),
        })
    }
}

impl Bounds {
    /// The one row of an answer: low, estimate, high, error.
    fn of(answers: &Answers) -> Self {
        let cell = |place: usize| answers.rows.first().and_then(|row| row.get(place));
        let whole = |place| cell(place).and_then(Value::as_i64).unwrap_or_default();
        Self {
            low: whole(0),
            estimate: cell(1).and_then(Value::as_f64).unwrap_or_default(),
            high: whole(2),
        }
    }
}

/// How many records of a file satisfy the question, counted from its text.
fn truth(path: &Path) -> Result<i64, CliError> {
    let names = ["age", "cost"].map(String::from);
    let text = read_text(path, &names, &())?;
    let (Some(ages), Some(costs)) = (text.column("age"), text.column("cost")) else {
        return Ok(0);
    };
    let both = ages.iter().zip(costs.iter());
    let satisfies = |(age, cost): &(&str, &str)| {
        let age: Option<u32> = age.parse().ok();
        age.is_some_and(|age| AGES.contains(&age)) && *cost == COST
    };
    Ok(both.filter(satisfies).count() as i64)
}
