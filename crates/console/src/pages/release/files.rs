//! The files of a release: a few rows to look at, all files to download, and the report. A name is looked up
//! in what the release says its files are, and is never a path that somebody typed.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use futures_util::stream;
use hedgerow::{Manifest, Release};
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;

use super::find;
use crate::console::Console;
use crate::extract::Path;
use crate::guard::Visit;
use crate::html::failure::Failure;

/// The manifest, which is a file of the folder that it does not list.
const MANIFEST: &str = "manifest.json";
const REPORT: &str = "report.html";
/// Tables that are shown, their columns and rows, and letters of a cell.
const TABLES: usize = 4;
const COLUMNS: usize = 30;
const ROWS: usize = 20;
const LETTERS: usize = 80;
/// Bytes of the longest report that is shown; a longer one can be downloaded.
const LONGEST: u64 = 32 << 20;
/// Bytes that are sent at a time.
const BLOCK: usize = 1 << 16;

/// A few rows of a table of the release.
pub(super) struct Sample {
    file: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Columns that are not shown.
    more: usize,
}

/// The names of all files of a release, as they may be asked for.
fn names(manifest: &Manifest) -> Vec<String> {
    let shared = manifest.statement().into_iter();
    let shared = shared.flat_map(|(said, _)| said.files.iter());
    let names = shared
        .chain(manifest.account.files.iter())
        .map(|(name, _)| name);
    let names = names.chain([MANIFEST]);
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.retain(|name| is_inside(name));
    names
}

/// Whether a name that a manifest has leads into the folder of the release and nowhere else.
fn is_inside(name: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    !name.contains(['\\', '\0']) && name.split('/').all(is_plain)
}

/// The first rows of the tables.
pub(super) fn sample(folder: &FilePath, manifest: &Manifest) -> Vec<Sample> {
    let tables = names(manifest).into_iter();
    let tables = tables.filter(|name| name.ends_with(".csv") && !name.contains('/'));
    let samples = tables.filter_map(|name| first_rows(folder, name));
    samples.take(TABLES).collect()
}

fn first_rows(folder: &FilePath, file: String) -> Option<Sample> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(real(folder, &file)?);
    let short = |record: &csv::StringRecord| -> Vec<String> {
        let cut = |cell: &str| match cell.char_indices().nth(LETTERS) {
            Some((end, _)) => format!("{}…", &cell[..end]),
            None => cell.to_owned(),
        };
        record.iter().take(COLUMNS).map(cut).collect()
    };
    let head = reader.headers().ok()?.clone();
    let more = head.len().saturating_sub(COLUMNS);
    let head = short(&head);
    let rows = reader.records().take(ROWS).filter_map(Result::ok);
    let rows = rows.map(|record| short(&record)).collect();
    Some(Sample {
        file,
        head,
        rows,
        more,
    })
}

/// Rows of the release.
pub(super) fn rows(samples: &[Sample]) -> Markup {
    html! {
        @for (number, sample) in samples.iter().enumerate() {
            @let id = format!("rows-{number}");
            section aria-labelledby=(id) {
                h2 id=(id) { "The first rows of " (sample.file) }
                div.scroll tabindex="0" role="region" aria-labelledby=(id) {
                    table.small.cells {
                        thead { tr { @for name in &sample.head { th scope="col" { (name) } } } }
                        tbody { @for row in &sample.rows { tr { @for cell in row { td { (cell) } } } } }
                    }
                }
                @if sample.more > 0 { p.quiet { "And " (sample.more) " more columns." } }
            }
        }
    }
}

/// All files.
pub(super) fn list(number: u32, manifest: &Manifest) -> Markup {
    let names = names(manifest);
    let address = |name: &str| {
        let name: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
        // In a path a plus is a plus.
        format!("/releases/{number}/files/{}", name.replace('+', "%20"))
    };
    html! {
        section aria-labelledby="files" {
            h2 #files { "Files" }
            @if names.iter().any(|name| name == REPORT) {
                p { a.button href={ "/releases/" (number) "/report" } target="_blank" rel="noopener" { "Open the report" } }
            }
            ul.files {
                @for name in &names { li { a href=(address(name)) download { (name) } } }
            }
        }
    }
}

/// `GET /releases/{number}/files/{name}`.
pub(crate) async fn file(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path((number, name)): Path<(u32, String)>,
) -> Result<Response, Failure> {
    let (file, length) = open(&console, number, &name).await?;
    console
        .note(visit.entry("download", format!("release {number}: {name}")))
        .await?;
    let kind = match name.rsplit_once('.').map(|(_, kind)| kind) {
        Some("csv") => "text/csv; charset=utf-8",
        Some("json") => "application/json",
        // A page that is downloaded is shown by no browser under this origin.
        _ => "application/octet-stream",
    };
    let plain: String = name
        .chars()
        .map(|letter| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' | '_' => letter,
            _ => '_',
        })
        .collect();
    let shown = format!("attachment; filename=\"release-{number}-{plain}\"");
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_DISPOSITION, shown),
    ];
    Ok((headers, Body::from_stream(blocks(file))).into_response())
}

/// `GET /releases/{number}/report`: in a sandbox, with the one style that it has inside and nothing else.
pub(crate) async fn report(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Path(number): Path<u32>,
) -> Result<Response, Failure> {
    let (file, length) = open(&console, number, REPORT).await?;
    if length > LONGEST {
        return Err(Failure::wrong(
            "the report is too long to be shown\nhint: download it from the page of the release",
        ));
    }
    console
        .note(visit.entry("report read", format!("release {number}")))
        .await?;
    let mut page = String::new();
    let read = file.take(LONGEST).read_to_string(&mut page).await;
    read.map_err(|_| Failure::wrong("the report is no text"))?;
    let policy = format!(
        "sandbox; default-src 'none'; style-src{}; style-src-attr 'unsafe-inline'; img-src data:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
        styles(&page)
    );
    let policy = HeaderValue::from_str(&policy).map_err(|_| Failure::mistake())?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (header::CONTENT_SECURITY_POLICY, policy),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            HeaderValue::from_static("same-origin"),
        ),
    ];
    Ok((headers, page).into_response())
}

/// The hashes of the styles that a page has inside, as a policy names them.
fn styles(page: &str) -> String {
    let inside = page.split("<style>").skip(1);
    let styles = inside.filter_map(|rest| rest.split_once("</style>"));
    let hashes = styles.map(|(style, _)| {
        let digest = Sha256::digest(style.as_bytes());
        format!(" 'sha256-{}'", BASE64_STANDARD.encode(digest))
    });
    let hashes: String = hashes.collect();
    if hashes.is_empty() {
        String::from(" 'none'")
    } else {
        hashes
    }
}

/// Opens a file of a release by its name: one that the release says it has, and that is no link to elsewhere.
async fn open(
    console: &Arc<Console>,
    number: u32,
    name: &str,
) -> Result<(tokio::fs::File, u64), Failure> {
    let absent = || Failure::absent(&format!("release {number} has no such file"));
    let release = find(console, number).await?;
    let asked = name.to_owned();
    let found = console
        .ask(move |_| {
            let manifest = Release::open(&release.folder)?.manifest()?;
            let known = names(&manifest).into_iter().find(|known| *known == asked);
            Ok(known.and_then(|known| real(&release.folder, &known)))
        })
        .await?;
    let file = found.ok_or_else(absent)?;
    let length = file.metadata().map_err(|_| absent())?.len();
    Ok((tokio::fs::File::from_std(file), length))
}

fn real(folder: &FilePath, name: &str) -> Option<std::fs::File> {
    let path = folder.join(name);
    let about = std::fs::symlink_metadata(&path).ok()?;
    let is_inside = path
        .canonicalize()
        .ok()?
        .starts_with(folder.canonicalize().ok()?);
    (about.is_file() && is_inside).then(|| std::fs::File::open(path).ok())?
}

fn blocks(file: tokio::fs::File) -> impl stream::Stream<Item = std::io::Result<Bytes>> {
    stream::try_unfold(file, async |mut file| {
        let mut block = vec![0; BLOCK];
        let read = file.read(&mut block).await?;
        block.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then(|| (Bytes::from(block), file)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_else() {
        for name in [
            "",
            "..",
            "../x",
            "a/../x",
            "/etc/passwd",
            "a//b",
            "a\\b",
            "./a",
        ] {
            assert!(!is_inside(name), "{name}");
        }
        assert!(is_inside("release.csv") && is_inside("taxonomies/zip.csv"));
    }

    #[test]
    fn a_policy_names_just_the_styles_inside() {
        let policy = styles("<style>a{}</style><p><style>b{}</style>");
        assert_eq!(policy.matches("'sha256-").count(), 2);
        assert_eq!(styles("<p>"), " 'none'");
    }
}
