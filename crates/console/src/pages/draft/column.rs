//! `/draft/columns/{number}`: one column of the draft: role, kind of values, range, list or taxonomy, and which of
//! the table's values are not covered.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use hedgerow::data::taxonomy::NodeId;
use hedgerow::data::{Role, Taxonomy};
use hedgerow::words::{count, thousands};
use hedgerow::{Study, Uncovered};
use maud::{Markup, html};
use serde::Deserialize;

use super::compare::no_draft;
use super::{change, uncovered_word, words};
use crate::console::Console;
use crate::drafts::edit::{self, Form, Kind};
use crate::drafts::tree;
use crate::extract::{Path, Query};
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::{Page, csrf};
use crate::html::parts::{Tone, badge, shell, told};
use crate::role::Role as Who;
use crate::routes::may_send;

/// Values that are shown of those that are not covered.
const MOST_VALUES: usize = 100;
/// Nodes of a taxonomy that a page can have in it.
const MOST_NODES: u32 = 3_000;
/// Nodes that a preview shows.
const PREVIEW: usize = 400;

/// Whether the values that are not covered are asked for.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Asked {
    values: Option<u8>,
}

/// A column as the page shows it.
struct Shown {
    place: usize,
    name: String,
    reasons: Vec<String>,
    form: Form,
    /// Why the taxonomy is not on the page.
    is_long: bool,
    file: Option<String>,
    /// What would become of what was typed.
    preview: Option<Result<Preview, String>>,
    /// What the table has that the draft, or the preview, does not cover.
    uncovered: Option<Uncovered>,
    has_table: bool,
    are_asked: bool,
}

/// What a form would make of a column.
struct Preview {
    values: String,
    tree: Option<Taxonomy>,
    uncovered: Option<Uncovered>,
}

/// `GET /draft/columns/{number}`.
pub(crate) async fn column(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<usize>,
    Query(asked): Query<Asked>,
) -> Result<Response, Failure> {
    // Values of this site's own table are for the steward alone, and only where asked for.
    let are_asked = asked.values == Some(1) && visit.role == Who::Steward;
    if are_asked {
        let about = format!("column {number}");
        console
            .note(visit.entry("values not covered looked at", about))
            .await?;
    }
    let drafts = console.drafts.clone();
    let place = number.wrapping_sub(1);
    let shown = change(&console, move |site| {
        if !drafts.is_there() {
            return Err(Failure::absent("there is no draft"));
        }
        let study = Study::open(drafts.path())?;
        let columns = edit::columns(&drafts.text()?).map_err(Failure::wrong)?;
        let column = columns.into_iter().nth(place);
        let column =
            column.ok_or_else(|| Failure::absent(&format!("the draft has no column {number}")))?;
        let attribute = study.declared().schema.attributes().get(place);
        let mut form = column.form;
        let mut is_long = form.values.len() > 64 << 10;
        let own = attribute.and_then(|one| one.domain.taxonomy());
        if let (Some(taxonomy), Some(_)) = (own, &column.taxonomy) {
            is_long = taxonomy.node_count() > MOST_NODES;
            if !is_long {
                form.values = tree::text(taxonomy);
            }
        }
        let table = drafts.table(site);
        // A table that cannot be read is told on the page of the draft.
        let found = table.as_ref().and_then(|table| {
            let most = if are_asked { MOST_VALUES } else { 0 };
            study.uncovered(&table.table(), most, &()).ok()
        });
        Ok(Shown {
            place,
            uncovered: found
                .into_iter()
                .flatten()
                .find(|one| one.column == column.name),
            has_table: table.is_some(),
            name: column.name,
            reasons: column.reasons,
            file: column.taxonomy,
            form,
            is_long,
            preview: None,
            are_asked,
        })
    })
    .await?;
    show(&console, &visit, shown).await
}

/// `POST /draft/columns/{number}`: shows what would become of what was typed, or keeps it.
pub(crate) async fn set_column(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<usize>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let place = number.wrapping_sub(1);
    let form = form(&fields);
    let is_kept = fields.get("act") == "keep";
    let (drafts, typed) = (console.drafts.clone(), form.clone());
    let made = change(&console, move |site| {
        if !drafts.is_there() {
            return Err(no_draft());
        }
        let text = drafts.text()?;
        let name = edit::columns(&text).map_err(Failure::wrong)?;
        let column = name.into_iter().nth(place);
        let column =
            column.ok_or_else(|| Failure::absent(&format!("the draft has no column {number}")))?;
        let made = edit::with_column(&text, place, &typed).and_then(|(text, files)| {
            let study = drafts.change(&text, &files, is_kept);
            study.map_err(|error| error.without_values())
        });
        let has_table = drafts.table(site).is_some();
        let made = made.map(|study| {
            let attribute = study.declared().schema.attributes().get(place);
            let table = drafts.table(site).filter(|_| !is_kept);
            let found = table.and_then(|table| study.uncovered(&table.table(), 0, &()).ok());
            Preview {
                values: attribute.map_or_else(String::new, |one| one.domain.describe()),
                tree: attribute.and_then(|one| one.domain.taxonomy()).cloned(),
                uncovered: found
                    .into_iter()
                    .flatten()
                    .find(|one| one.column == column.name),
            }
        });
        Ok((column, made, has_table))
    })
    .await?;
    let (column, made, has_table) = made;
    if is_kept {
        let name = column.name.clone();
        let kept = async {
            made.as_ref()
                .map(|_| ())
                .map_err(|why| Failure::wrong(why.clone()))
        };
        let done = move |(): &()| format!("the column {name} is changed");
        let what = ("draft changed", format!("column {}", column.name));
        if console.carry_out(&visit, what, kept, done).await?.is_some() {
            return Ok(Redirect::to(&format!("/draft/columns/{number}")).into_response());
        }
        // What was typed is not lost: the page shows it again, with what is wrong.
    }
    let shown = Shown {
        place,
        name: column.name,
        reasons: column.reasons,
        form,
        is_long: false,
        file: column.taxonomy,
        preview: (!is_kept).then_some(made),
        uncovered: None,
        has_table,
        are_asked: false,
    };
    show(&console, &visit, shown).await
}

fn form(fields: &Fields) -> Form {
    let text = |name: &str| fields.get(name).replace("\r\n", "\n");
    Form {
        role: text("role"),
        kind: Kind::named(fields.get("kind")),
        from: text("from"),
        to: text("to"),
        step: text("step"),
        widths: text("widths"),
        missing: text("missing"),
        is_ordered: fields.get("ordered") == "yes",
        values: text("values"),
    }
}

async fn show(console: &Arc<Console>, visit: &Visit, shown: Shown) -> Result<Response, Failure> {
    let may = may_send("/draft/columns/{number}", visit.role);
    let site = console.ask(|site| Ok(site.file().source.name())).await?;
    let body = html! {
        p { a href="/draft" { "← The draft" } }
        h1 { "Column " (shown.name) }
        @if may && !shown.reasons.is_empty() { ul { @for reason in &shown.reasons { li { (reason) } } } }
        @if let Some(preview) = &shown.preview { (previewed(preview)) }
        @if may && !shown.is_long { (fields(&shown, visit)) } @else { (read_only(&shown, may)) }
        (not_covered(&shown, visit))
    };
    let tree = shown.file.as_ref().and_then(|file| {
        let path = crate::drafts::inside(&console.drafts.folder(), file).ok()?;
        Some(format!("hedgerow taxonomy {} --full", shell(&path)))
    });
    let check = format!(
        "hedgerow study check {} {}",
        shell(&console.drafts.path()),
        shell(std::path::Path::new(&site))
    );
    let title = format!("Column {}", shown.name);
    let page = Page {
        title: &title,
        place: "/draft",
        body,
        commands: tree.into_iter().chain([check]).collect(),
    };
    Ok(page.show(console, visit).await)
}

fn fields(shown: &Shown, visit: &Visit) -> Markup {
    let form = &shown.form;
    let field = |id: &str, label: &str, value: &str| {
        html! {
            div { label for=(id) { (label) } input id=(id) name=(id) value=(value) autocomplete="off" spellcheck="false"; }
        }
    };
    html! {
        section aria-labelledby="change" {
            h2 #change { "What it holds" }
            form.sheet.wide method="post" action={ "/draft/columns/" (shown.place + 1) } {
                (csrf(visit))
                label for="role" { "Role" }
                select id="role" name="role" { @for (name, role) in Role::NAMES { option value=(name) selected[name == form.role] { (name) " – " (words(role)) } } }
                label for="kind" { "Values" }
                select id="kind" name="kind" { @for (kind, name, words) in Kind::ALL { option value=(name) selected[form.kind == Some(kind)] { (words) } } }
                div.fields {
                    (field("from", "From (of numbers and days)", &form.from))
                    (field("to", "To (of numbers and days)", &form.to))
                    (field("step", "Smallest step (of decimals)", &form.step))
                    (field("widths", "Widths of ranges (of numbers), such as 5, 10", &form.widths))
                }
                label for="values" { "A list: one value on each line. A taxonomy: the top first, and below each line what belongs to it, indented by two more spaces" }
                textarea.code id="values" name="values" rows="14" spellcheck="false" autocapitalize="none" autocomplete="off" { "\n" (form.values) }
                label.choice { input type="checkbox" name="ordered" value="yes" checked[form.is_ordered]; span { "The order of the list means something" } }
                label for="missing" { "Texts that mean that there is no value, one on each line" }
                textarea id="missing" name="missing" rows="2" spellcheck="false" autocapitalize="none" autocomplete="off" { "\n" (form.missing) }
                div.acts {
                    button type="submit" name="act" value="preview" .quiet { "Show what becomes of it" }
                    button type="submit" name="act" value="keep" { "Keep it" }
                }
            }
        }
    }
}

/// The column for somebody who does not change it. What is drafted of rows, the steward alone sees.
fn read_only(shown: &Shown, is_steward: bool) -> Markup {
    let form = &shown.form;
    html! {
        section aria-labelledby="holds" {
            h2 #holds { "What it holds" }
            dl.words {
                div { dt { "Role" } dd { (form.role) } }
                div { dt { "Values" } dd { (form.kind.map_or("", Kind::name)) } }
                @if is_steward && !form.from.is_empty() { div { dt { "Range" } dd { (form.from) " to " (form.to) } } }
            }
            @if !is_steward { p.quiet { "Ranges, lists and trees are drafted of this site’s rows, and are shown to the steward alone until the study is saved." } }
            @else { p { "It has too many values for a page: change its file, and begin the draft with the study." } }
        }
    }
}

fn previewed(preview: &Result<Preview, String>) -> Markup {
    html! {
        section.next aria-labelledby="preview" {
            h2 #preview { "What becomes of it" }
            @match preview {
                Err(why) => div.said.bad { (told(why)) },
                Ok(preview) => {
                    p { (badge(Tone::Plain, "not kept yet")) " " (preview.values) ". " @match &preview.uncovered { Some(one) => (uncovered_word(one.distinct)), None => {} } }
                    @if let Some(tree) = &preview.tree { (drawn(tree)) }
                }
            }
        }
    }
}

/// A taxonomy as nested lists.
fn drawn(tree: &Taxonomy) -> Markup {
    let mut left = PREVIEW;
    html! {
        p.quiet { (count(tree.leaf_count().into(), "value", "values")) ", " (count(tree.height().into(), "level", "levels")) "." }
        ul.tree { (branch(tree, tree.root(), &mut left)) }
        @if tree.node_count() as usize > PREVIEW { p.quiet { "Of " (thousands(tree.node_count().into())) " lines, " (PREVIEW) " are shown." } }
    }
}

fn branch(tree: &Taxonomy, node: NodeId, left: &mut usize) -> Markup {
    *left = left.saturating_sub(1);
    let children: Vec<NodeId> = tree.children(node).collect();
    html! {
        li {
            (tree.label(node))
            @if !children.is_empty() && *left > 0 {
                ul { @for child in children { @if *left > 0 { (branch(tree, child, left)) } } }
            }
        }
    }
}

fn not_covered(shown: &Shown, visit: &Visit) -> Markup {
    let is_steward = visit.role == Who::Steward;
    html! {
        @if shown.has_table && shown.preview.is_none() {
            section aria-labelledby="covered" {
                h2 #covered { "Values of the table that are not covered" }
                @match &shown.uncovered {
                    None => p { (uncovered_word(0)) },
                    Some(one) if !one.is_there => p { (badge(Tone::Bad, "not in the table")) " The table has no column of this name." },
                    Some(one) => {
                        p { (uncovered_word(one.distinct)) " in " (count(one.rows, "row", "rows")) "." }
                        @if shown.are_asked {
                            div.said.wait { p { "These are values of this site’s own rows. They are shown to you, as the steward, because you asked, and to nobody else; that you looked stands in the audit." } }
                            ul.files { @for value in &one.values { li { span.strange { @if value.is_empty() { em { "nothing" } } @else { (value) } } } } }
                            @if one.distinct > one.values.len() as u64 { p.quiet { "And " (thousands(one.distinct - one.values.len() as u64)) " more." } }
                        } @else if is_steward {
                            p { a href={ "/draft/columns/" (shown.place + 1) "?values=1" } { "Show them" } " – they are values of this site’s own rows, for your eyes alone." }
                        } @else { p.quiet { "The values themselves are values of rows, and are shown to the steward alone." } }
                    }
                }
            }
        }
    }
}
