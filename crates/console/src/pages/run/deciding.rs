//! The officer's word about a run. The first word counts: whoever comes second is told who decided and when, and
//! changes nothing.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use hedgerow::node::agreement::Agreement;
use hedgerow::node::memory::{Mark, Memory};
use hedgerow::{CarriedOut, Error, RunState, Site};
use maud::{Markup, html};

use super::back;
use crate::console::Console;
use crate::decisions::Decision;
use crate::extract::Path;
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::csrf;
use crate::html::parts::password_again;
use crate::pages::study::{LONGEST_COMMENT, comment_of};

/// How a run stands for somebody who would decide about it.
struct Standing {
    /// The hash of the study.
    study: String,
    /// Whether a word was given that no new question has made void.
    is_decided: bool,
    is_asking: bool,
}

/// `POST /runs/{number}/approve`: with the officer's password again.
pub(crate) async fn approve(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<u32>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let approve = console.ask(move |site| site.approve(number));
    let done = |is_at_work: bool| match is_at_work {
        true => "is approved, and this site's process goes on with it",
        false => "is approved; it begins when this site's node is asked for it",
    };
    decide(&console, &visit, &fields, (true, number), approve, done).await
}

/// `POST /runs/{number}/refuse`: with the officer's password again.
pub(crate) async fn refuse(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<u32>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let refuse = console.act(async move |site| site.refuse(number).await);
    let done = |is_at_work: bool| match is_at_work {
        true => "is refused, and its number is not used again; this site's process tells the peers",
        false => {
            "is refused, and its number is not used again; the peers that could be reached were told"
        }
    };
    decide(&console, &visit, &fields, (false, number), refuse, done).await
}

/// Carries out the officer's word about a run, with the password again. What is said of it depends on whether a
/// process of this site is at work on the run.
async fn decide(
    console: &Console,
    visit: &Visit,
    fields: &Fields,
    (is_approved, number): (bool, u32),
    act: impl Future<Output = Result<CarriedOut, Failure>>,
    done: impl FnOnce(bool) -> &'static str,
) -> Result<Response, Failure> {
    let reason = comment_of(fields)?;
    console.confirm(visit, fields.get("password")).await?;
    let (what, about) = match (is_approved, &*reason) {
        (true, "") => ("run approved", format!("run {number}")),
        (false, "") => ("run refused", format!("run {number}")),
        (true, reason) => ("run approved", format!("run {number}: {reason}")),
        (false, reason) => ("run refused", format!("run {number}: {reason}")),
    };
    let act = async {
        // Of two officers at the same moment, one is second.
        let _one = console.deciding.lock().await;
        let standing = console.ask(move |site| standing(site, number)).await?;
        let run = (&*standing.study, number);
        let decisions = console.decisions.clone();
        let before = words(console, run).await?;
        see_open(&standing, is_approved, number, before.last())?;
        let decision = Decision::now(run, is_approved, &visit.name, &reason);
        let by = act.await?;
        let kept = tokio::task::spawn_blocking(move || decisions.keep(decision));
        kept.await.map_err(|_| Failure::mistake())?.map_err(|why| {
            Failure::wrong(format!(
                "the word counts, and whose it was could not be kept: {why}"
            ))
        })?;
        Ok(by)
    };
    let done = |by: &CarriedOut| format!("run {number} {}", done(*by == CarriedOut::ByProcess));
    console.carry_out(visit, (what, about), act, done).await?;
    Ok(back(number))
}

/// The words about a run of a study, oldest first.
pub(super) async fn words(
    console: &Console,
    (study, number): (&str, u32),
) -> Result<Vec<Decision>, Failure> {
    let (decisions, study) = (console.decisions.clone(), study.to_owned());
    let found = tokio::task::spawn_blocking(move || decisions.about(&study, number));
    Ok(found.await.map_err(|_| Failure::mistake())??)
}

fn standing(site: &Site, number: u32) -> Result<Standing, Error> {
    let file = site.file();
    let study = Agreement::open(&file.study)?.hash;
    let mark = Mark {
        site: file.name.clone(),
        study,
        number,
    };
    let run = site.run_status(number)?;
    Ok(Standing {
        study: study.to_string(),
        is_decided: Memory::at(&file.memory).decision(&mark)?.is_some(),
        is_asking: run.is_some_and(|run| run.state == RunState::Asking),
    })
}

/// Sees that a run waits for a word, or may still be refused before it begins.
fn see_open(
    standing: &Standing,
    is_approved: bool,
    number: u32,
    last: Option<&Decision>,
) -> Result<(), Failure> {
    if standing.is_asking && !standing.is_decided {
        return Ok(());
    }
    if let Some(last) = last {
        let reason = match &*last.reason {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        return Err(Failure::wrong(format!(
            "{} {} run {number} at {}{reason}; that word counts, and nothing was changed",
            last.by,
            last.word(),
            last.at
        )));
    }
    if standing.is_decided {
        return Err(Failure::wrong(format!(
            "run {number} was decided about in a shell already, and nothing was changed"
        )));
    }
    match is_approved {
        true => Err(Failure::wrong(format!(
            "run {number} has not asked for the officer's word, and nothing was changed\nhint: its page has the button to approve it once it asks"
        ))),
        false => Ok(()),
    }
}

/// Who decided about a run, and why.
pub(super) fn decided(words: &[Decision]) -> Markup {
    html! {
        @for word in words {
            p.quiet {
                (word.by) " " (word.word()) " this run at " (word.at) "."
                @if !word.reason.is_empty() { " " q { (word.reason) } }
            }
        }
    }
}

/// The forms by which the officer decides.
pub(super) fn forms(visit: &Visit, number: u32) -> Markup {
    html! {
        section.next aria-labelledby="decide" {
            h2 #decide { "May this site's rows be in this run?" }
            div.columns {
                (form(visit, number, "approve", "Approve", "main"))
                (form(visit, number, "refuse", "Refuse: its number is not used again", "danger"))
            }
        }
    }
}

fn form(visit: &Visit, number: u32, what: &str, words: &str, class: &str) -> Markup {
    let (password, reason) = (format!("password-{what}"), format!("reason-{what}"));
    html! {
        form.sheet method="post" action={ "/runs/" (number) "/" (what) } {
            (csrf(visit))
            label for=(reason) { "Why, if there is something to say" }
            input id=(reason) name="comment" maxlength=(LONGEST_COMMENT) autocomplete="off";
            (password_again(&password))
            button class=(class) type="submit" { (words) }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_counts() {
        let standing = |is_decided, is_asking| Standing {
            study: String::from("a"),
            is_decided,
            is_asking,
        };
        let otto = Decision::now(("a", 2), true, "otto", "agreed");
        let see = |standing: &Standing, is_approved, last: Option<&Decision>| {
            let seen = see_open(standing, is_approved, 2, last);
            seen.map_err(|failure| failure.why().to_owned())
        };
        for is_approved in [true, false] {
            // A run that asks, also once more after other rows made the last word void.
            assert_eq!(see(&standing(false, true), is_approved, None), Ok(()));
            assert_eq!(
                see(&standing(false, true), is_approved, Some(&otto)),
                Ok(())
            );
            for standing in [
                standing(true, true),
                standing(true, false),
                standing(false, false),
            ] {
                let why = see(&standing, is_approved, Some(&otto)).unwrap_err();
                assert!(why.starts_with("otto approved run 2 at "), "{why}");
                assert!(why.contains(": agreed; that word counts"), "{why}");
            }
            let why = see(&standing(true, false), is_approved, None).unwrap_err();
            assert!(why.contains("in a shell already"), "{why}");
        }
        let why = see(&standing(false, false), true, None).unwrap_err();
        assert!(why.contains("has not asked"), "{why}");
        assert_eq!(see(&standing(false, false), false, None), Ok(()));
    }
}
