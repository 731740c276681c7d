//! How a draft begins: of this site's rows, of a table that somebody sends, or with the study that is there.

use std::path::Path;
use std::sync::Arc;

use axum::Extension;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::Response;
use hedgerow::node::site::SiteFile;
use hedgerow::node::source::Source;
use hedgerow::words::count;
use hedgerow::{DraftOptions, Error, Study, Table};
use maud::{Markup, html};

use super::{back, change};
use crate::console::Console;
use crate::drafts::{Drafts, FILE, TableOf, copy, edit, inside, write};
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::csrf;
use crate::multipart;
use crate::versions::taxonomies;

/// Bytes of a table that may be sent.
pub(crate) const LONGEST: usize = 32 << 20;
/// Characters of a study's name.
const LONGEST_NAME: usize = 200;

/// How a draft is made of a table.
#[derive(Debug, Clone, Default)]
struct How {
    name: String,
    options: DraftOptions,
}

/// `POST /draft/begin`: of this site's rows, or with the study that is there.
pub(crate) async fn begin(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let drafts = console.drafts.clone();
    match fields.get("of") {
        "study" => {
            let begun = change(&console, move |site| {
                let study = site.study.clone();
                Ok(drafts.begin(|folder| copy_of(&study, folder))?)
            });
            let done = |(): &()| String::from("the draft is the study that is there");
            let what = ("draft begun", String::from("the study that is there"));
            console.carry_out(&visit, what, begun, done).await?;
        }
        "rows" => {
            let how = how(fields.get("name"), fields.get("k"), fields.get("share"))?;
            let begun = change(&console, move |site| {
                let Source::File(path) = site.source.clone() else {
                    return Err(Failure::wrong(
                        "this site's rows are in no file\nhint: write them to a file once, and send it",
                    ));
                };
                draft(&drafts, site, &how, |_| Ok(Table::file(path)))
            });
            let what = ("draft begun", String::from("this site's rows"));
            console.carry_out(&visit, what, begun, drafted).await?;
        }
        _ => return Err(Failure::wrong("nothing says what the draft begins with")),
    }
    Ok(back())
}

/// `POST /draft/upload`: of a table that is sent. The table is written where its owner alone reads, and removed
/// when the draft is saved or thrown away.
pub(crate) async fn upload(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    request: Request,
) -> Result<Response, Failure> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or("")
        .to_owned();
    // The guard has read it, within the limit of the table of pages.
    let body = to_bytes(request.into_body(), usize::MAX).await;
    let body = body.map_err(|_| Failure::too_long(LONGEST))?;
    let parts = multipart::parts(&kind, &body).ok_or_else(Failure::kind)?;
    let text = |name: &str| {
        let part = parts.iter().find(|part| part.name == name);
        part.and_then(|part| std::str::from_utf8(part.bytes).ok())
            .unwrap_or("")
    };
    let how = how(text("name"), text("k"), text("share"))?;
    let table = parts
        .iter()
        .find(|part| part.name == "table" && part.file.is_some());
    let table = table.filter(|part| !part.bytes.is_empty());
    let table = table.ok_or_else(|| Failure::wrong("no table was sent\nhint: choose a file"))?;
    if table.bytes.len() > LONGEST {
        return Err(Failure::too_long(LONGEST));
    }
    let kind = Drafts::kind_of(table.file.unwrap_or_default());
    let kind = kind.ok_or_else(|| {
        Failure::wrong("the file's name does not end in .csv, .parquet or .xlsx\nhint: write the table as one of these")
    })?;
    let bytes = table.bytes.to_vec();
    let about = count(bytes.len() as u64, "byte", "bytes");
    let drafts = console.drafts.clone();
    let begun = change(&console, move |site| {
        draft(&drafts, site, &how, |folder| {
            Ok(Table::file(Drafts::put_table(folder, kind, &bytes)?))
        })
    });
    let what = ("draft begun", format!("a table that was sent, {about}"));
    console.carry_out(&visit, what, begun, drafted).await?;
    Ok(back())
}

/// What a person says of a draft.
fn how(name: &str, k: &str, share: &str) -> Result<How, Failure> {
    let name = name.trim().to_owned();
    if name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
        return Err(Failure::wrong(format!(
            "the study's name is longer than {LONGEST_NAME} characters, or has some that are not seen"
        )));
    }
    let k = match k.trim() {
        "" => None,
        k => {
            let number = k.parse::<u64>().ok().filter(|k| *k > 0);
            Some(number.ok_or_else(|| {
                Failure::wrong(format!("`{k}` is no k, expected a whole number from 1 on"))
            })?)
        }
    };
    let options = DraftOptions {
        k,
        share: share == "yes",
        ..DraftOptions::default()
    };
    Ok(How { name, options })
}

/// Drafts a study of a table, with the sites of the study that is there.
fn draft(
    drafts: &Drafts,
    site: &SiteFile,
    how: &How,
    table: impl FnOnce(&Path) -> Result<Table, Error>,
) -> Result<Vec<String>, Failure> {
    let mut todo = Vec::new();
    let mut wrong = None;
    let made = drafts.begin(|folder| {
        let drafted = Study::draft_of(&table(folder)?, &how.options, &())?;
        let old = std::fs::read_to_string(&site.study).ok();
        // A study that cannot be read has no sites to take over.
        let old = old.filter(|_| Study::open(&site.study).is_ok());
        let text = edit::with_sites(drafted.text(), &how.name, old.as_deref());
        let text = text.unwrap_or_else(|why| {
            wrong = Some(why);
            drafted.text().to_owned()
        });
        for (name, tree) in drafted.taxonomies() {
            write(&inside(folder, name)?, &tree.to_rows())?;
        }
        todo = drafted.todo.clone();
        write(&folder.join(FILE), &text)
    });
    made?;
    match wrong {
        Some(why) => Err(Failure::wrong(why)),
        None => Ok(todo),
    }
}

/// What the next page says of a draft.
fn drafted(todo: &Vec<String>) -> String {
    let mut said = String::from(
        "drafted\nhint: roles are guesses, each with its reason in the text: look at every one",
    );
    for one in todo {
        said.push_str(&format!("\nto decide: {one}"));
    }
    said
}

/// The study that is there, with its taxonomies.
fn copy_of(study: &Path, folder: &Path) -> Result<(), Error> {
    let opened = Study::open(study)?;
    let from = study.parent().unwrap_or(Path::new(""));
    for name in taxonomies(&opened) {
        copy(&inside(from, &name)?, &inside(folder, &name)?)?;
    }
    write(&folder.join(FILE), opened.declared().document().text())
}

/// The forms by which a draft begins.
pub(super) fn forms(table: &Option<TableOf>, visit: &Visit) -> Markup {
    let has_rows = table.as_ref().is_some_and(|table| !table.is_sent);
    html! {
        div.columns {
            section aria-labelledby="of-rows" {
                h2 #of-rows { "Of this site’s rows" }
                @if has_rows {
                    form.sheet method="post" action="/draft/begin" {
                        (csrf(visit))
                        input type="hidden" name="of" value="rows";
                        (options("rows"))
                        button type="submit" { "Draft a study" }
                    }
                } @else { p { "This site’s rows are in no file, so they are not drafted from here: write them to a file once, and send it." } }
            }
            section aria-labelledby="of-table" {
                h2 #of-table { "Of a table that you send" }
                form.sheet method="post" action="/draft/upload" enctype="multipart/form-data" {
                    (csrf(visit))
                    label for="table" { "CSV, Parquet or Excel, at most " (LONGEST >> 20) " MiB" }
                    input id="table" type="file" name="table" accept=".csv,.parquet,.xlsx" required;
                    (options("table"))
                    button type="submit" { "Draft a study" }
                    p.quiet { "No row of it is shown to anybody. It lies here, for this program alone, until the draft is saved or thrown away." }
                }
            }
            section aria-labelledby="of-study" {
                h2 #of-study { "With the study that is there" }
                form.sheet method="post" action="/draft/begin" {
                    (csrf(visit))
                    input type="hidden" name="of" value="study";
                    p { "The study that this site’s file names, to be changed. What is signed stays signed until another is saved." }
                    button type="submit" { "Change it" }
                }
            }
        }
    }
}

fn options(id: &str) -> Markup {
    html! {
        label for={ "name-" (id) } { "Name of the study" }
        input id={ "name-" (id) } name="name" maxlength=(LONGEST_NAME) autocomplete="off" placeholder="as the table is called";
        label for={ "k-" (id) } { "Records of a group at least (k)" }
        input id={ "k-" (id) } name="k" inputmode="numeric" pattern="[0-9]+" autocomplete="off" placeholder="10";
        label.choice { input type="checkbox" name="share" value="yes"; span { "To be shown to the other sites: ranges are rounded, rare values are left out" } }
    }
}
