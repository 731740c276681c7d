//! Whether rows that were in runs before may be in one more: `accept.runs` and `accept.rerun`.
//!
//! From two releases that differ by one patient a reader subtracts one from the other and has that
//! patient; and two releases of the same people under different studies say more than each. So the runs
//! that a site's rows were in before decide, see [`crate::memory`]:
//!
//! | | at most `runs`, with rows as in one before | more, or with other rows |
//! |---|---|---|
//! | `rerun = "same rows"` | takes part | refuses |
//! | `rerun = "ask"` | takes part | waits for the officer's word |
//!
//! Rows that equal the rows of an earlier run show no new difference. Where the rows of an earlier run
//! are unknown, they count as different.

pub use crate::accept::Rerun;
use crate::accept::{Accept, Mend, Refusal, Value};
use crate::memory::{Earlier, Print};

/// Whether a run may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The run may use the rows.
    Goes,
    /// The run may not use the rows.
    Refused(Refusal),
    /// The officer decides; why.
    Asks(String),
}

impl Accept {
    /// Whether rows that were in these runs before may be in one more.
    pub fn rerun(&self, number: u32, print: &Print, earlier: &[Earlier]) -> Verdict {
        let source = &print.source;
        let speaks_against = if earlier.len() as u64 >= self.runs() {
            let allowed = match self.runs() {
                1 => String::from("one run"),
                runs => format!("{runs} runs"),
            };
            let before: Vec<String> = earlier.iter().map(told).collect();
            let why = format!(
                "allows {allowed}, and {source} was in {}",
                before.join(", ")
            );
            let hint = format!(
                "a further release tells more about the same people; runs = {} allows it, and with rerun = \"ask\" hedgerow run approve {number} does",
                earlier.len() + 1
            );
            let runs = Value::Bound((earlier.len() + 1).to_string());
            Some(("runs", why, hint, runs))
        } else if earlier.is_empty() || earlier.iter().any(|one| one.is_same_rows) {
            None
        } else {
            // The list of earlier runs is not empty here.
            let last = earlier.last().map(told).unwrap_or_default();
            let why = format!(
                "the rows of {source} are not those that were in {last}: {} records now",
                print.records
            );
            let hint = format!(
                "two releases that differ by one patient show that patient; bring the rows back as they were, or decide with rerun = \"ask\" and hedgerow run approve {number}"
            );
            let ask = Value::Bound(String::from("\"ask\""));
            Some(("rerun", why, hint, ask))
        };
        match (speaks_against, self.rerun) {
            (None, _) => Verdict::Goes,
            (Some((_, why, ..)), Rerun::Ask) => Verdict::Asks(why),
            (Some((rule, why, hint, value)), Rerun::SameRows) => Verdict::Refused(Refusal {
                rule,
                why: format!("{why}\nhint: {hint}"),
                mend: Mend::Set(value),
            }),
        }
    }
}

/// A run before, in words.
fn told(one: &Earlier) -> String {
    let how = match one.how.as_deref() {
        Some("lost") => {
            return format!("runs of `{}` of which nothing is known any more", one.study);
        }
        Some(how) => how,
        None => "not over",
    };
    let records = match one.records {
        Some(records) => format!("{records} records"),
        None => String::from("nobody knows how many records"),
    };
    format!(
        "run {} of `{}` ({how}, begun {} UTC, {records})",
        one.number, one.study, one.begun
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn allowing(runs: u64, rerun: Rerun) -> Accept {
        let mut accept = Accept::default();
        (accept.runs, accept.rerun) = (Some(runs), rerun);
        accept
    }

    fn before() -> impl Strategy<Value = Vec<Earlier>> {
        let one = (any::<bool>(), any::<bool>(), 0u64..9).prop_map(
            |(is_same_rows, is_released, records)| Earlier {
                study: String::from("s"),
                number: 1,
                begun: String::new(),
                how: is_released.then(|| String::from("released")),
                records: Some(records),
                is_same_rows,
            },
        );
        prop::collection::vec(one, 0..5)
    }

    proptest! {
        /// Nothing goes without a word that is one too many or has other rows, and nothing else is
        /// held up.
        #[test]
        fn only_what_was_allowed_goes(before in before(), runs in 1u64..4, ask in any::<bool>()) {
            let accept = allowing(runs, if ask { Rerun::Ask } else { Rerun::SameRows });
            let print = Print { source: String::from("p"), bytes: None, rows: [0; 32], records: 1 };
            let found = accept.rerun(7, &print, &before);
            let many = before.len() as u64 >= runs;
            let other = !before.is_empty() && !before.iter().any(|one| one.is_same_rows);
            match found {
                Verdict::Goes => prop_assert!(!many && !other),
                Verdict::Asks(_) => prop_assert!(ask && (many || other)),
                Verdict::Refused(refusal) => {
                    prop_assert!(!ask && (many || other));
                    prop_assert_eq!(refusal.rule, if many { "runs" } else { "rerun" });
                }
            }
        }
    }

    #[test]
    fn by_default_rows_are_in_one_run() {
        let print = Print {
            source: String::from("patients.csv"),
            bytes: None,
            rows: [0; 32],
            records: 299,
        };
        let accept = Accept::default();
        assert_eq!(accept.rerun(1, &print, &[]), Verdict::Goes);
        let one = Earlier {
            study: String::from("stroke"),
            number: 1,
            begun: String::from("2026-01-01 00:00:00"),
            how: Some(String::from("released")),
            records: Some(300),
            is_same_rows: true,
        };
        let unknown = Earlier {
            records: None,
            ..one.clone()
        };
        let told = |one: Earlier| match accept.rerun(2, &print, &[one]) {
            Verdict::Refused(refusal) => {
                assert_eq!(refusal.mend, Mend::Set(Value::Bound(String::from("2"))));
                refusal.to_string()
            }
            other => panic!("{other:?}"),
        };
        assert!(told(unknown).contains("00:00:00 UTC, nobody knows how many records)"));
        let told = told(one);
        assert!(
            told.starts_with("accept.runs: allows one run, and patients.csv was in run 1 of `stroke` (released, begun 2026-01-01 00:00:00 UTC, 300 records)\nhint: "),
            "{told}"
        );
    }
}
