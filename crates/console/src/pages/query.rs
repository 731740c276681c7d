//! `/query`: a release asked in SQL, answered with low, estimate and high by `hedgerow-sql` where that program is
//! there; and the questions that each user keeps.
//!
//! # Discloses
//! To whoever may see the release: what follows from it. The virtual database is not asked from here: what a
//! question to other sites' rows shows them is the officer's to decide.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use hedgerow::data::Role;
use hedgerow::node::program::{SQL_HINT, find_sql};
use hedgerow::words::count;
use hedgerow::{Manifest, Release, ReleaseOf};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::console::Console;
use crate::extract::Query;
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::{Page, csrf};
use crate::html::parts::{Tone, badge, shell, told};
use crate::questions::{LONGEST, LONGEST_NAME, Question};
use crate::routes::may_send;
use crate::sql::{Answer, Mode, TIME, ask};

/// Rows of an answer that a page shows, and characters of a cell.
const MOST_ROWS: usize = 500;
const LONGEST_CELL: usize = 200;
/// Bytes of cells that a page shows.
const MOST_BYTES: usize = 100_000;
/// Releases that one can choose from.
const MOST_RELEASES: usize = 100;
/// Statements that are answered at a time.
static ROOM: Semaphore = Semaphore::const_new(2);

/// What the page is asked for.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    release: Option<u32>,
    /// A question that the user keeps, by its place.
    kept: Option<usize>,
}

/// What stands in the form, and what was answered.
#[derive(Default)]
struct Typed {
    release: Option<u32>,
    sql: String,
    mode: Option<Mode>,
    answer: Option<Result<Answer, String>>,
}

/// `GET /query`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    let mut typed = Typed {
        release: asked.release,
        ..Typed::default()
    };
    if let Some(place) = asked.kept
        && let Some(question) = kept(&console, &visit).await?.into_iter().nth(place)
    {
        typed.mode = Mode::named(&question.answer);
        typed.sql = question.sql;
    }
    show(&console, &visit, typed).await
}

/// `POST /query`: asks. Nothing changes by it but the line in the audit.
pub(crate) async fn answer(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let (sql, mode) = statement(&fields)?;
    let number = fields.get("release").parse::<u32>().ok();
    let number = number.ok_or_else(|| Failure::wrong("nothing says which release is asked"))?;
    let release = super::release::find(&console, number).await?;
    if release.is_virtual {
        return Err(Failure::wrong(
            "this run published nothing, and other sites' rows are not asked from here\nhint: hedgerow query --site asks them, as far as the sites answer",
        ));
    }
    let program = program().await?;
    let program = program.ok_or_else(|| Failure::wrong(absent()))?;
    let place = ROOM
        .try_acquire()
        .map_err(|_| Failure::wrong("others are asking right now\nhint: try again in a moment"))?;
    console
        .note(visit.entry("asked", format!("release {number}: {sql}")))
        .await?;
    let asked = sql.clone();
    let answer =
        tokio::task::spawn_blocking(move || ask(&program, &release.folder, (&asked, mode), TIME));
    let answer = answer.await.map_err(|_| Failure::mistake())?;
    drop(place);
    let typed = Typed {
        release: Some(number),
        sql,
        mode: Some(mode),
        answer: Some(answer),
    };
    show(&console, &visit, typed).await
}

/// `POST /query/keep`: keeps a question under a name.
pub(crate) async fn keep(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let (sql, mode) = statement(&fields)?;
    let name = fields.get("name").trim().to_owned();
    let is_name = (1..=LONGEST_NAME).contains(&name.chars().count());
    if !is_name || name.contains(char::is_control) {
        return Err(Failure::wrong(format!(
            "a question is kept under a name of 1 to {LONGEST_NAME} characters"
        )));
    }
    let question = Question {
        user: visit.name.clone(),
        name: name.clone(),
        sql,
        answer: mode.name().to_owned(),
    };
    let (questions, users) = (console.questions.clone(), console.users.clone());
    let kept = async {
        let kept = tokio::task::spawn_blocking(move || {
            let users = users.all()?.into_iter().map(|user| user.name);
            questions.keep(question, &users.collect::<Vec<_>>())
        });
        Ok(kept.await.map_err(|_| Failure::mistake())??)
    };
    let done = |(): &()| format!("the question is kept as {name}");
    console
        .carry_out(&visit, ("question kept", name.clone()), kept, done)
        .await?;
    Ok(back(&fields))
}

/// `POST /query/remove`.
pub(crate) async fn remove(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let (questions, user) = (console.questions.clone(), visit.name.clone());
    let name = fields.get("name").to_owned();
    let gone = name.clone();
    let removed = async {
        let removed = tokio::task::spawn_blocking(move || questions.remove(&user, &gone));
        Ok(removed.await.map_err(|_| Failure::mistake())??)
    };
    let done = |(): &()| String::from("the question is removed");
    console
        .carry_out(&visit, ("question removed", name), removed, done)
        .await?;
    Ok(back(&fields))
}

fn back(fields: &Fields) -> Response {
    let release = fields.get("release").parse::<u32>();
    let to = release.map_or_else(
        |_| String::from("/query"),
        |one| format!("/query?release={one}"),
    );
    Redirect::to(&to).into_response()
}

fn statement(fields: &Fields) -> Result<(String, Mode), Failure> {
    let sql = fields.get("sql").trim().replace("\r\n", "\n");
    if sql.is_empty() {
        return Err(Failure::wrong("nothing is asked\nhint: write a SELECT"));
    }
    if sql.len() > LONGEST || sql.contains('\0') {
        return Err(Failure::wrong(format!(
            "a statement has at most {LONGEST} bytes, none of which is zero"
        )));
    }
    let mode = Mode::named(fields.get("answer"));
    Ok((
        sql,
        mode.ok_or_else(|| Failure::wrong("nothing says what totals answer"))?,
    ))
}

async fn program() -> Result<Option<std::path::PathBuf>, Failure> {
    let found = tokio::task::spawn_blocking(find_sql);
    found.await.map_err(|_| Failure::mistake())
}

fn absent() -> String {
    format!("hedgerow-sql is not there, which answers SQL\nhint: {SQL_HINT}")
}

async fn kept(console: &Arc<Console>, visit: &Visit) -> Result<Vec<Question>, Failure> {
    let (questions, user) = (console.questions.clone(), visit.name.clone());
    let found = tokio::task::spawn_blocking(move || questions.of(&user));
    Ok(found.await.map_err(|_| Failure::mistake())??)
}

async fn show(console: &Arc<Console>, visit: &Visit, typed: Typed) -> Result<Response, Failure> {
    let wanted = typed.release;
    let (releases, manifest) = console
        .ask(move |site| {
            let mut releases = site.releases();
            releases.retain(|one| !one.is_virtual);
            let chosen = match wanted {
                Some(number) => releases.iter().find(|one| one.run == number).cloned(),
                None => releases.first().cloned(),
            };
            releases.truncate(MOST_RELEASES);
            // A release that somebody damaged can still be chosen; the answer says what is wrong.
            let manifest = chosen.map(|one| {
                let manifest = Release::open(&one.folder).and_then(|open| open.manifest());
                (one, manifest.ok())
            });
            Ok((releases, manifest))
        })
        .await?;
    let (program, kept) = (program().await?, kept(console, visit).await?);
    let may = may_send("/query", visit.role);
    let chosen = manifest.as_ref().map(|(release, _)| release);
    let body = html! {
        h1 { "Query" }
        p.lead { "Ask a release a question in SQL. For each total the release gives three numbers: the truth about the records lies between low and high for certain; the estimate between them is a guess that takes all values of a group for equally likely." }
        @if program.is_none() {
            div.said.wait { (told(&absent())) p { "Until then a release is asked in no SQL from here. Its files can be downloaded all the same." } }
        }
        @if releases.is_empty() { p.empty { "No release yet: the first run ends with one." } }
        @else {
            @if let Some((release, manifest)) = &manifest { (columns(release, manifest.as_ref(), typed.answer.is_none())) }
            @if may && program.is_some() { (form(&releases, chosen, &typed, visit)) }
            @if !may { p.quiet { "This role reads: analysts, stewards and officers ask." } }
            @if let Some(answer) = &typed.answer { (answered(answer)) }
            @if may { (list(&kept, chosen, visit)) }
        }
    };
    let folder = chosen.map_or_else(|| String::from("RELEASE"), |one| shell(&one.folder));
    let sql = match typed.sql.is_empty() {
        true => String::from("SELECT count(*) FROM …"),
        false => typed.sql.clone(),
    };
    let sql = shell(std::path::Path::new(&sql));
    let mode = typed.mode.unwrap_or(Mode::Bounds).name();
    let page = Page {
        title: "Query",
        place: "/query",
        body,
        commands: vec![format!("hedgerow query {folder} --answer {mode} {sql}")],
    };
    Ok(page.show(console, visit).await)
}

/// What the table of a release is called, and its columns.
fn columns(release: &ReleaseOf, manifest: Option<&Manifest>, is_open: bool) -> Markup {
    let said = manifest.and_then(Manifest::statement).map(|(said, _)| said);
    html! {
        @if let Some(said) = said {
            details #about open[is_open] {
                summary { "Release " (release.run) ": the table " code { (said.study) } " and its columns" }
                dl.words.wide {
                    @for column in said.columns.iter().filter(|column| column.role != Role::Identifier) {
                        div {
                            dt { code { (column.name) } }
                            dd {
                                (published(column.role))
                                @if column.role == Role::Quasi && column.range.is_some() { "; also " code { (column.name) "_low" } " and " code { (column.name) "_high" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How a release writes the values of a column with a role.
const fn published(role: Role) -> &'static str {
    match role {
        Role::Quasi => "less exact than at the sites, the same for a whole group",
        Role::Sensitive => "as it is, within its group",
        Role::Other => "as it is",
        Role::Identifier => "never published",
    }
}

fn form(
    releases: &[ReleaseOf],
    chosen: Option<&ReleaseOf>,
    typed: &Typed,
    visit: &Visit,
) -> Markup {
    let mode = typed.mode.unwrap_or(Mode::Bounds);
    html! {
        section aria-labelledby="ask" {
            h2 #ask { "Ask" }
            form.sheet.wide method="post" action="/query" {
                (csrf(visit))
                label for="release" { "Release" }
                select id="release" name="release" {
                    @for release in releases { option value=(release.run) selected[chosen.is_some_and(|one| one.run == release.run)] { "Release " (release.run) } }
                }
                label for="sql" { "One statement of SQL" }
                textarea.code id="sql" name="sql" rows="6" maxlength=(LONGEST) spellcheck="false" autocapitalize="none" autocomplete="off" required { "\n" (typed.sql) }
                label for="answer" { "Totals answer with" }
                select id="answer" name="answer" { @for (one, name, words) in Mode::ALL { option value=(name) selected[one == mode] { (words) } } }
                label for="name" { "Name, to keep the question" }
                input id="name" name="name" maxlength=(LONGEST_NAME) autocomplete="off";
                div.acts {
                    button type="submit" { "Ask" }
                    button.quiet type="submit" formaction="/query/keep" { "Keep the question" }
                }
                p.quiet { "An answer takes at most " (TIME.as_secs()) " seconds. That it was asked, and what, stands in the audit." }
            }
        }
    }
}

fn answered(answer: &Result<Answer, String>) -> Markup {
    html! {
        section #answered aria-labelledby="the-answer" {
            h2 #the-answer { "Answer" }
            @match answer {
                Err(why) => div.said.bad { (told(why)) },
                Ok(answer) => (table(answer)),
            }
        }
    }
}

fn table(answer: &Answer) -> Markup {
    let mut bytes = 0;
    let shown: Vec<Vec<(String, bool)>> = answer
        .rows
        .iter()
        .take(MOST_ROWS)
        .map(|row| row.iter().map(cell).collect::<Vec<_>>())
        .take_while(|row| {
            bytes += row.iter().map(|(text, _)| text.len() + 20).sum::<usize>();
            bytes < MOST_BYTES
        })
        .collect();
    html! {
        p { (count(answer.rows.len() as u64, "row", "rows")) ". " @if let Some(note) = &answer.note { (badge(Tone::Wait, "a model")) " " (note) } }
        div.scroll tabindex="0" role="region" aria-labelledby="the-answer" {
            table.cells.small {
                thead { tr { @for name in &answer.columns { th scope="col" { (name) } } } }
                tbody {
                    @for row in &shown { tr { @for (text, is_number) in row { td.number[*is_number] { (text) } } } }
                }
            }
        }
        @if shown.len() < answer.rows.len() { p.quiet { "Of " (count(answer.rows.len() as u64, "row", "rows")) ", " (shown.len()) " are shown. The command below has all." } }
    }
}

/// A cell's text, and whether it is a number.
fn cell(value: &Value) -> (String, bool) {
    let text = match value {
        Value::Null => String::from("–"),
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (None, Some(number)) if number.fract() != 0.0 => format!("{number:.2}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    };
    let is_long = text.chars().count() > LONGEST_CELL;
    let short = |text: String| text.chars().take(LONGEST_CELL).chain(['…']).collect();
    (if is_long { short(text) } else { text }, value.is_number())
}

fn list(kept: &[Question], chosen: Option<&ReleaseOf>, visit: &Visit) -> Markup {
    let release = chosen.map_or_else(String::new, |one| one.run.to_string());
    html! {
        section aria-labelledby="kept" {
            h2 #kept { "Questions that you keep" }
            @if kept.is_empty() { p.empty { "None yet." } }
            @else {
                div.scroll tabindex="0" role="region" aria-labelledby="kept" {
                    table {
                        thead { tr { th scope="col" { "Name" } th scope="col" { "Question" } th scope="col" { span.unseen { "Change" } } } }
                        tbody {
                            @for (place, question) in kept.iter().enumerate() {
                                tr {
                                    th scope="row" { a href={ "/query?kept=" (place) "&release=" (release) } { (question.name) } }
                                    td { code { (question.sql) } }
                                    td {
                                        form.one method="post" action="/query/remove" {
                                            (csrf(visit))
                                            input type="hidden" name="name" value=(question.name);
                                            input type="hidden" name="release" value=(release);
                                            button.danger type="submit" { "Remove" span.unseen { ": " (question.name) } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
