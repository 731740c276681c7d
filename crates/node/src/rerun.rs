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
//! | `rerun = "gate"` | takes part | takes part with other rows, where the study's `[gate]` limits what two releases tell and every run before has a release of the study; refuses more |
//!
//! Rows that equal the rows of an earlier run show no new difference, if that run has a release, or if no run
//! before had other rows: a run that a gate held back has let nobody see its rows beside those of another. Where
//! the rows of an earlier run are unknown, they count as different.

pub use crate::accept::Rerun;
use hedgerow_data::study::Gate;

use crate::accept::{Accept, Mend, Refusal, Value};
use crate::memory::{Earlier, Print};

/// The attacks on several releases, all of which a study must limit for its gate to decide.
const COUNTED: [&str; 2] = ["two_releases", "newcomers"];

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
    /// Whether rows that were in these runs before may be in one more; `gate` are the limits of the study.
    pub fn rerun(
        &self,
        number: u32,
        print: &Print,
        earlier: &[Earlier],
        gate: Option<&Gate>,
    ) -> Verdict {
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
        } else if shows_nothing_new(earlier) {
            None
        } else {
            // The list of earlier runs is not empty here.
            let last = earlier.last().map(told).unwrap_or_default();
            let why = format!(
                "the rows of {source} are not those that were in {last}: {} records now",
                print.records
            );
            let hint = format!(
                "two releases that differ by one patient show that patient; bring the rows back as they were, or decide with rerun = \"ask\" and hedgerow run approve {number}; with rerun = \"gate\" the study's [gate] decides"
            );
            let ask = Value::Bound(String::from("\"ask\""));
            Some(("rerun", why, hint, ask))
        };
        match (speaks_against, self.rerun) {
            (None, _) => Verdict::Goes,
            (Some((_, why, ..)), Rerun::Ask) => Verdict::Asks(why),
            (Some((rule, why, hint, value)), rerun) => {
                let (why, hint) = match (rerun, rule) {
                    (Rerun::Gate, "rerun") => match uncounted(earlier, gate) {
                        None => return Verdict::Goes,
                        Some((more, hint)) => (format!("{why}; {more}"), hint),
                    },
                    _ => (why, hint),
                };
                Verdict::Refused(Refusal {
                    rule,
                    why: format!("{why}\nhint: {hint}"),
                    mend: Mend::Set(value),
                })
            }
        }
    }
}

/// Whether readers of the releases of these runs learn nothing new from one more of rows that are the same as in
/// some of them.
fn shows_nothing_new(earlier: &[Earlier]) -> bool {
    let is_released = |one: &Earlier| one.is_same_rows && one.how.as_deref() == Some("released");
    earlier.iter().any(is_released) || earlier.iter().all(|one| one.is_same_rows)
}

/// Why the gate of a run would not count what these releases and one more tell together, and what to do; nothing
/// where it does.
fn uncounted(earlier: &[Earlier], gate: Option<&Gate>) -> Option<(String, String)> {
    let limits = |attack: &&str| gate.is_some_and(|gate| gate.limit(attack).is_some());
    let lacking: Vec<&str> = COUNTED.into_iter().filter(|one| !limits(one)).collect();
    if !lacking.is_empty() {
        let lacking = hedgerow_data::quoted_list(&lacking);
        return Some((
            format!(
                "the study's [gate] has no limit for {lacking}, so no run counts what the releases tell together"
            ),
            String::from(
                "write the limits into the study and have all sites sign it, or decide with rerun = \"ask\"",
            ),
        ));
    }
    let unknown = earlier.iter().find(|one| !one.has_release)?;
    let hint = match unknown.how.as_deref() {
        Some("released") => "bring the release's folder back, or decide with rerun = \"ask\"",
        _ => {
            "the other sites may have seen that run's rows, though nothing was published: decide with rerun = \"ask\""
        }
    };
    Some((
        format!(
            "of {} there is no release of this study here that the gate could lay beside the next",
            told(unknown)
        ),
        String::from(hint),
    ))
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
    use std::path::Path;

    use hedgerow_data::document::Document;
    use proptest::prelude::*;

    use super::*;
    use crate::agreement::StudyHash;

    fn allowing(runs: u64, rerun: Rerun) -> Accept {
        let mut accept = Accept::default();
        (accept.runs, accept.rerun) = (Some(runs), rerun);
        accept
    }

    fn before() -> impl Strategy<Value = Vec<Earlier>> {
        let one = (any::<bool>(), any::<bool>(), any::<bool>(), 0u64..9).prop_map(
            |(is_same_rows, is_released, has_release, records)| Earlier {
                study: String::from("s"),
                hash: StudyHash([0; 32]),
                number: 1,
                begun: String::new(),
                how: is_released.then(|| String::from("released")),
                records: Some(records),
                is_same_rows,
                has_release,
            },
        );
        prop::collection::vec(one, 0..5)
    }

    fn rerun() -> impl Strategy<Value = Rerun> {
        prop_oneof![Just(Rerun::SameRows), Just(Rerun::Ask), Just(Rerun::Gate)]
    }

    fn limits() -> impl Strategy<Value = Vec<&'static str>> {
        prop::sample::subsequence(COUNTED.to_vec(), 0..=COUNTED.len())
    }

    /// A `[gate]` with these limits; none without limits.
    fn gate(limits: &[&str]) -> Option<Gate> {
        let lines: String = limits.iter().map(|one| format!("{one} = 0\n")).collect();
        let document = Document::parse(lines, Path::new("study.toml")).ok()?;
        let (gate, errors) = Gate::read(&document.root());
        assert!(errors.is_empty());
        (!limits.is_empty()).then_some(gate)
    }

    proptest! {
        /// Nothing goes without a word that is one too many or has other rows, and nothing else is
        /// held up.
        #[test]
        fn only_what_was_allowed_goes(before in before(), runs in 1u64..4, rerun in rerun(), limits in limits()) {
            let accept = allowing(runs, rerun);
            let gate = gate(&limits);
            let print = Print { source: String::from("p"), bytes: None, rows: [0; 32], records: 1 };
            let found = accept.rerun(7, &print, &before, gate.as_ref());
            let many = before.len() as u64 >= runs;
            // Written apart from the code: rows that were in no release, beside others that were in a run.
            let mut was_released = false;
            let mut were_others = false;
            for one in &before {
                was_released |= one.is_same_rows && one.how.is_some();
                were_others |= !one.is_same_rows;
            }
            let other = were_others && !was_released;
            let is_counted = rerun == Rerun::Gate
                && limits.len() == COUNTED.len()
                && before.iter().all(|one| one.has_release);
            match found {
                Verdict::Goes => prop_assert!(!many && (!other || is_counted)),
                Verdict::Asks(_) => prop_assert!(rerun == Rerun::Ask && (many || other)),
                Verdict::Refused(refusal) => {
                    prop_assert!(rerun != Rerun::Ask && (many || other && !is_counted));
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
        assert_eq!(accept.rerun(1, &print, &[], None), Verdict::Goes);
        let one = Earlier {
            study: String::from("stroke"),
            hash: StudyHash([0; 32]),
            number: 1,
            begun: String::from("2026-01-01 00:00:00"),
            how: Some(String::from("released")),
            records: Some(300),
            is_same_rows: true,
            has_release: true,
        };
        let unknown = Earlier {
            records: None,
            ..one.clone()
        };
        let told = |one: Earlier| match accept.rerun(2, &print, &[one], None) {
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
