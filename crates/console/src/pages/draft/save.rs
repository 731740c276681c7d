//! The draft becomes the study that the site's file names, or is thrown away. What was there before is kept as a
//! version; a study that somebody has signed is replaced only by somebody who says so.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use hedgerow::node::agreement::{Agreement, Standing};
use hedgerow::node::site::SiteFile;
use hedgerow::{Error, Study};
use maud::{Markup, html};

use super::{Now, back, change, say};
use crate::console::Console;
use crate::drafts::places::{of_site, see_places};
use crate::drafts::{Drafts, copy, inside, write};
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::csrf;
use crate::html::parts::button;
use crate::pages::draft::compare::no_draft;
use crate::pages::study::changed_files;
use crate::routes::may_send;
use crate::versions::{Kept, Version, Word, files, taxonomies};

/// The study that is where the draft would be saved.
struct There {
    path: PathBuf,
    /// Names the bytes that are there; empty where there is no file.
    print: String,
    /// The sites that have signed what is there.
    signed: Vec<String>,
    files: Vec<Kept>,
    /// The files of the draft.
    drafted: Vec<Kept>,
}

/// `POST /draft/save`.
pub(crate) async fn save(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let (drafts, by) = (console.drafts.clone(), visit.name.clone());
    let (print, is_sure) = (fields.get("print").to_owned(), fields.get("sure") == "yes");
    let comment: String = fields.get("comment").trim().chars().take(1_000).collect();
    let versions = console.versions.clone();
    let own = [
        console.path().to_owned(),
        console.users.path().to_owned(),
        console.record.path().to_owned(),
    ];
    let saved = change(&console, move |site| {
        if !drafts.is_there() {
            return Err(no_draft());
        }
        let there = there(&site.study, &drafts.path())?;
        if there.print != print {
            return Err(Failure::wrong(
                "the study that would be replaced has changed since this page was made, and nothing was saved\nhint: look at what it says now, and save again",
            ));
        }
        if !there.signed.is_empty() && !is_sure {
            return Err(Failure::wrong(format!(
                "{} signed the study that would be replaced, and nothing was saved\nhint: tick that it is to be replaced: all sites sign anew then",
                there.signed.join(", ")
            )));
        }
        see(site, &drafts, &own)?;
        let replaced = match there.print.is_empty() {
            true => None,
            // What cannot be read any more is not kept as a version.
            false => Version::of(&site.study, (&by, Word::Replaced, "")).ok(),
        };
        let is_known = |version: &Version| {
            versions
                .latest()
                .first()
                .is_some_and(|last| last.files == version.files)
        };
        if let Some(version) = replaced.filter(|version| !is_known(version)) {
            versions.keep(&version)?;
        }
        put(&drafts.folder(), &drafts.path(), &site.study)?;
        // What is saved is saved, whether or not a copy can be kept.
        let kept = Version::of(&site.study, (&by, Word::Saved, &comment))
            .map_err(Failure::from)
            .and_then(|version| Ok(versions.keep(&version)?))
            .and_then(|()| Ok(drafts.discard()?));
        let trouble = kept.err().map(|failure| failure.why().to_owned());
        Ok((site.study.clone(), trouble))
    });
    let done = |(path, trouble): &(PathBuf, Option<String>)| {
        let path = path.display();
        match trouble {
            None => format!(
                "{path} is saved\nhint: send it with its taxonomies to the other sites; the privacy officer of each reads and signs it"
            ),
            Some(why) => format!("{path} is saved, and what comes after was not done: {why}"),
        }
    };
    let what = (
        "study saved",
        String::from("the study that the site's file names"),
    );
    match console.carry_out(&visit, what, saved, done).await? {
        Some(_) => Ok(Redirect::to("/study").into_response()),
        None => Ok(back()),
    }
}

/// `POST /draft/discard`.
pub(crate) async fn discard(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    console.note(visit.entry("draft thrown away", "")).await?;
    let drafts = console.drafts.clone();
    change(&console, move |_| Ok(drafts.discard()?)).await?;
    say(
        &console,
        &visit,
        String::from("the draft is thrown away, and a table that was sent is removed"),
    );
    Ok(back())
}

/// Sees that nothing but the study and its taxonomies is replaced.
fn see(site: &SiteFile, drafts: &Drafts, own: &[PathBuf; 3]) -> Result<(), Error> {
    let names = taxonomies(&Study::open(drafts.path())?);
    let there = Study::open(&site.study).map(|study| taxonomies(&study));
    let mut others = of_site(&own[0], site);
    others.extend_from_slice(own);
    let home = site.study.parent().unwrap_or(Path::new(""));
    see_places(home, &names, &there.unwrap_or_default(), &others)
}

/// Writes the draft's files to where the study belongs: taxonomies first, so that where the study is, all that it
/// names is too. Each file is written aside and renamed; what is the same stays.
fn put(folder: &Path, draft: &Path, target: &Path) -> Result<(), Error> {
    let study = Study::open(draft)?;
    let home = target.parent().unwrap_or(Path::new(""));
    for name in taxonomies(&study) {
        let (from, to) = (inside(folder, &name)?, inside(home, &name)?);
        let is_same =
            std::fs::read(&to).is_ok_and(|old| std::fs::read(&from).is_ok_and(|new| old == new));
        if !is_same {
            copy(&from, &to)?;
        }
    }
    write(target, study.declared().document().text())?;
    Study::open(target).map(|_| ())
}

fn there(path: &Path, draft: &Path) -> Result<There, Error> {
    let bytes = std::fs::read(path).ok();
    let print = bytes.map_or_else(String::new, |bytes| {
        blake3::hash(&bytes).to_hex().to_string()
    });
    let signed = Agreement::open(path).ok().and_then(|agreement| {
        let standings = agreement.standings().ok()?;
        let sites = agreement.study.sites.iter().zip(standings);
        let signed = sites.filter(|(_, standing)| *standing == Standing::Signed);
        Some(signed.map(|(site, _)| site.name.clone()).collect())
    });
    let opened = Study::open(path).ok();
    Ok(There {
        path: path.to_owned(),
        print,
        signed: signed.unwrap_or_default(),
        files: opened.map(|study| files(path, &study)).unwrap_or_default(),
        drafted: files(draft, &Study::open(draft)?),
    })
}

/// The section by which a draft is saved or thrown away.
pub(super) async fn section(
    console: &Arc<Console>,
    now: &Now,
    visit: &Visit,
) -> Result<Markup, Failure> {
    let (target, draft) = (now.target.clone(), console.drafts.path());
    let there = change(console, move |_| Ok(there(&target, &draft)?)).await?;
    let may = may_send("/draft/save", visit.role);
    let is_same = there.files == there.drafted;
    Ok(html! {
        section aria-labelledby="save" {
            h2 #save { "Save it for " (now.site) }
            p { "Where it belongs: " code { (there.path.display()) } "." }
            @if is_same { p { "The study that is there says the same." } }
            @else if may && !there.files.is_empty() { details { summary { "What is different from the study that is there" } (changed_files(&there.files, &there.drafted)) } }
            @if may {
                form.sheet method="post" action="/draft/save" {
                    (csrf(visit))
                    input type="hidden" name="print" value=(there.print);
                    label for="save-comment" { "What changed, in a few words" }
                    input id="save-comment" name="comment" maxlength="1000" autocomplete="off";
                    @if !there.signed.is_empty() {
                        div.said.wait { p { strong { (there.signed.join(", ")) } " signed the study that is there. Saving replaces it: the signatures are void, and all sites sign anew." } }
                        label.choice { input type="checkbox" name="sure" value="yes" required; span { "Replace the study that is signed" } }
                    }
                    button type="submit" { "Save the study" }
                    p.quiet { "The study that was there is kept as a version. Saving signs nothing." }
                }
                (away(visit))
            }
        }
    })
}

/// The button that throws the draft away.
pub(super) fn away(visit: &Visit) -> Markup {
    button(visit, "/draft/discard", "Throw the draft away", "danger")
}
