//! `/draft`: a study in the making: drafted of a table, changed column by column or as text, held against the
//! table at once, compared by what algorithms lose, and saved as the same `study.toml` that a shell would write.
//!
//! # Discloses
//! To those whose role may read about the site: names of columns, their roles, counts, and whether the table fits.
//! To the steward alone: the draft as it stands, whose ranges, lists and trees are drafted of this site's rows; and
//! values of the table that it does not cover, where asked for. To nobody: rows.

mod begin;
mod column;
mod compare;
mod fit;
mod save;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use hedgerow::data::Role;
use hedgerow::{Study, Table};
use maud::{Markup, html};

use crate::console::Console;
use crate::drafts::edit::{self, ColumnOf};
use crate::drafts::{Drafts, TableOf};
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::{Page, csrf};
use crate::html::parts::{Tone, badge, live, shell, told};
use crate::routes::may_send;
use crate::sessions::Said;

pub(crate) use begin::{LONGEST as LONGEST_TABLE, begin, upload};
pub(crate) use column::{column, set_column};
pub(crate) use compare::{choose, compare};
pub(crate) use fit::Fit;
pub(crate) use save::{discard, save};

/// Columns that the page lists; all are in the text.
const MOST_COLUMNS: usize = 200;
/// Bytes of a study's text that a page has in it.
const LONGEST_TEXT: usize = 64 << 10;

/// The draft as it stands.
struct Now {
    text: String,
    /// The columns of the text, or why they cannot be shown one by one.
    columns: Result<Vec<ColumnOf>, String>,
    /// The values of each column, in words.
    values: Vec<String>,
    name: String,
    table: Option<TableOf>,
    site: String,
    /// The study that the site's file names.
    target: PathBuf,
}

/// `GET /draft`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    show(&console, &visit, None).await
}

/// `POST /draft/roles`: other roles of columns.
pub(crate) async fn set_roles(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let drafts = console.drafts.clone();
    let changed = change(&console, move |_| {
        let text = drafts.text().map_err(Failure::from)?;
        let columns = edit::columns(&text).map_err(Failure::wrong)?;
        let places = 0..columns.len();
        let said = |place: usize| (place, fields.get(&format!("role-{place}")).to_owned());
        let roles: Vec<(usize, String)> = places
            .map(said)
            .filter(|(_, role)| !role.is_empty())
            .collect();
        let text = edit::with_roles(&text, &roles).map_err(Failure::wrong)?;
        drafts.change(&text, &[], true).map_err(Failure::from)?;
        Ok(())
    });
    let done = |(): &()| String::from("the roles are changed");
    console
        .carry_out(
            &visit,
            ("draft changed", String::from("roles")),
            changed,
            done,
        )
        .await?;
    Ok(back())
}

/// `POST /draft/text`: another text of the study. A text that the library cannot read is shown again, with what
/// is wrong.
pub(crate) async fn set_text(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let typed = fields.get("text").replace("\r\n", "\n");
    let (drafts, text) = (console.drafts.clone(), typed.clone());
    let changed = change(&console, move |_| {
        drafts.change(&text, &[], true).map_err(Failure::from)?;
        Ok(())
    });
    let done = |(): &()| String::from("the text is changed");
    let what = ("draft changed", String::from("text"));
    match console.carry_out(&visit, what, changed, done).await? {
        Some(()) => Ok(back()),
        // What was typed is not lost.
        None => show(&console, &visit, Some(&typed)).await,
    }
}

/// Does something to the draft, which waits for a disk.
async fn change<T: Send + 'static>(
    console: &Arc<Console>,
    change: impl FnOnce(&hedgerow::node::site::SiteFile) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    console.ask(move |site| Ok(change(site.file()))).await?
}

fn back() -> Response {
    Redirect::to("/draft").into_response()
}

/// Says something on the next page.
fn say(console: &Console, visit: &Visit, text: String) {
    let said = Said {
        text,
        is_good: true,
    };
    console.sessions.say(&visit.session.id, said);
    console.changes.look();
}

/// The draft as it stands; nothing where there is none.
async fn now(console: &Arc<Console>) -> Result<Option<Now>, Failure> {
    let drafts: Drafts = console.drafts.clone();
    console
        .ask(move |site| {
            if !drafts.is_there() {
                return Ok(None);
            }
            let text = drafts.text()?;
            let study = Study::open(drafts.path())?;
            let attributes = study.declared().schema.attributes().iter();
            Ok(Some(Now {
                columns: edit::columns(&text),
                values: attributes.map(|one| one.domain.describe()).collect(),
                name: study.name().to_owned(),
                table: drafts.table(site.file()),
                site: site.file().name.clone(),
                target: site.file().study.clone(),
                text,
            }))
        })
        .await
}

async fn show(
    console: &Arc<Console>,
    visit: &Visit,
    typed: Option<&str>,
) -> Result<Response, Failure> {
    let found = now(console).await;
    let may = may_send("/draft/roles", visit.role);
    let site = shell(console.path());
    let study = shell(&console.drafts.path());
    let (body, commands) = match found {
        Ok(Some(now)) => {
            let fit = fit::known(console, &now).await;
            let table = now
                .table
                .as_ref()
                .map_or_else(|| String::from("TABLE"), |table| shell(&table.path));
            let compared = compare::section(console, &now, visit);
            let saving = save::section(console, &now, visit).await?;
            let body = html! {
                (head(&now))
                (live("fit", &html! { (fit::section(&fit)) }))
                (columns(&now, &fit, visit, may))
                (live("compared", &compared))
                (text(&now, typed, visit, may))
                (saving)
                @if may { details #anew { summary { "Begin another draft" } (begin::forms(&now.table, visit)) } }
            };
            let commands = vec![
                format!("hedgerow study draft {table} --out study"),
                format!("hedgerow study check {study} {table}"),
                format!("hedgerow compare --study {study} {table}"),
            ];
            (body, commands)
        }
        Ok(None) => {
            let source = console.ask(|site| Ok(site.file().source.clone())).await?;
            let table = match source {
                hedgerow::node::source::Source::File(path) => Some(TableOf {
                    path,
                    is_sent: false,
                }),
                _ => None,
            };
            let command = table
                .as_ref()
                .map_or_else(|| String::from("TABLE"), |table| shell(&table.path));
            let body = html! {
                p.lead { "A study is what all sites agree to: which columns there are, what they hold, which role each has, and what every group of the release must satisfy." }
                @if may { (begin::forms(&table, visit)) }
                @else { p.empty { "There is no draft. The steward begins one." } }
            };
            (
                body,
                vec![
                    format!("hedgerow study draft {command} --out study"),
                    format!("hedgerow site check {site}"),
                ],
            )
        }
        Err(failure) => {
            let body = html! {
                div.said.bad { h2 { "The draft cannot be read" } (told(failure.why())) }
                @if may { (save::away(visit)) }
            };
            (body, vec![format!("hedgerow study check {study}")])
        }
    };
    let page = Page {
        title: "Draft",
        place: "/draft",
        body: html! { h1 { "Draft" } (body) },
        commands,
    };
    Ok(page.show(console, visit).await)
}

fn head(now: &Now) -> Markup {
    html! {
        p.lead {
            strong { (now.name) } ". "
            @match &now.table {
                Some(table) if table.is_sent => "Held against the table that was sent, which lies here for this program alone until the draft is saved or thrown away.",
                Some(_) => "Held against this site’s own rows.",
                None => "Held against no table: this site’s rows are in no file, and none was sent.",
            }
        }
    }
}

fn columns(now: &Now, fit: &fit::Known, visit: &Visit, may: bool) -> Markup {
    let Ok(columns) = &now.columns else {
        let why = now.columns.as_ref().err().map(String::as_str);
        return html! { section { h2 { "Columns" } (told(why.unwrap_or_default())) } };
    };
    let table = html! {
        div.scroll tabindex="0" role="region" aria-labelledby="columns" {
            table.wide {
                thead { tr { th scope="col" { "Column" } th scope="col" { "Role" } @if may { th scope="col" { "Values" } } th scope="col" { "Not covered" } th scope="col" { span.unseen { "Change" } } } }
                tbody {
                    @for (place, column) in columns.iter().enumerate().take(MOST_COLUMNS) {
                        tr {
                            th scope="row" {
                                (column.name)
                                @if let Some(doubt) = doubt(column).filter(|_| may) { small.line { (doubt) } }
                            }
                            td { @if may { (role(place, column)) } @else { (column.form.role) } }
                            @if may { td { (now.values.get(place).map_or("", String::as_str)) } }
                            td { (fit.of_column(&column.name)) }
                            td { a href={ "/draft/columns/" (place + 1) } { @if may { "Change" } @else { "Look" } span.unseen { " " (column.name) } } }
                        }
                    }
                }
            }
        }
        @if columns.len() > MOST_COLUMNS { p.quiet { "And " (columns.len() - MOST_COLUMNS) " more, in the text below." } }
    };
    html! {
        section aria-labelledby="columns" {
            h2 #columns { "Columns" }
            @if may {
                form method="post" action="/draft/roles" {
                    (csrf(visit))
                    (table)
                    button type="submit" { "Keep these roles" }
                }
            } @else { (table) }
        }
    }
}

/// What is to be looked at, of the reasons for a column's role.
fn doubt(column: &ColumnOf) -> Option<&String> {
    let mut reasons = column.reasons.iter();
    reasons.find(|reason| reason.starts_with("doubt: ") || reason.starts_with("TODO"))
}

fn role(place: usize, column: &ColumnOf) -> Markup {
    html! {
        select.short name={ "role-" (place) } aria-label={ "Role of " (column.name) } {
            @for (name, role) in Role::NAMES {
                option value=(name) selected[name == column.form.role] { (name) " – " (words(role)) }
            }
        }
    }
}

/// What a role means.
const fn words(role: Role) -> &'static str {
    match role {
        Role::Quasi => "others may know it",
        Role::Sensitive => "nobody may learn it",
        Role::Identifier => "never published",
        Role::Other => "published as it is",
    }
}

fn text(now: &Now, typed: Option<&str>, visit: &Visit, may: bool) -> Markup {
    let text = typed.unwrap_or(&now.text);
    let is_long = text.len() > LONGEST_TEXT;
    html! {
        section aria-labelledby="text" {
            h2 #text { "The study’s text" }
            @if !may { p { "The draft’s text has ranges and lists that are drafted of this site’s rows. The steward alone sees it; once it is saved it is on the page " a href="/study" { "Study" } ", to be read and signed." } }
            @else if is_long { p { "It is too long for a page: " (text.len()) " bytes. It lies beside the site’s file." } }
            @else {
                form method="post" action="/draft/text" {
                    (csrf(visit))
                    label for="study-text" { "Everything that the study says: demands, algorithm, sites with their keys. Comments stay." }
                    textarea.code id="study-text" name="text" rows="24" spellcheck="false" autocapitalize="none" autocomplete="off" { "\n" (text) }
                    button type="submit" { "Keep this text" }
                }
            }
        }
    }
}

/// The draft as a study, and the table that it is held against.
fn opened(
    drafts: &Drafts,
    site: &hedgerow::node::site::SiteFile,
) -> Result<(Study, Option<Table>), hedgerow::Error> {
    let table = drafts.table(site).map(|table| table.table());
    Ok((Study::open(drafts.path())?, table))
}

/// A word about how many values are not covered.
fn uncovered_word(distinct: u64) -> Markup {
    match distinct {
        0 => badge(Tone::Good, "all covered"),
        1 => badge(Tone::Bad, "1 value"),
        _ => badge(
            Tone::Bad,
            &format!("{} values", hedgerow::words::thousands(distinct)),
        ),
    }
}
