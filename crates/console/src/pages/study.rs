//! `/study`: what the site is asked to agree to, in plain words; what changed since the last version; what the
//! site's own rules refuse; and the officer's word, by which the site signs or declines.

mod changes;
mod rules;
mod told;

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use hedgerow::node::agreement::{Agreement, Standing};
use hedgerow::words::count;
use hedgerow::{Error, Shown, Signing, Site, Study};
use maud::{Markup, html};

use crate::console::Console;
use crate::guard::{Fields, Visit};
use crate::html::failure::Failure;
use crate::html::layout::{Page, csrf};
use crate::html::parts::{Tone, badge, button, hash, live, password_again, shell};
use crate::jobs::{Found, Job};
use crate::pages::no_study;
use crate::routes::may_send;
use crate::versions::{Kept, Version, Word, files};

pub(crate) use changes::files as changed_files;
pub(crate) use rules::outcome;

/// Characters of a comment.
pub(crate) const LONGEST_COMMENT: usize = 1_000;
/// Sites that are named one by one.
const MOST_SITES: usize = 100;

/// What is known of the study.
struct Facts {
    path: std::path::PathBuf,
    /// What the study is called and means; or why it cannot be read or agreed to.
    read: Result<Read, String>,
}

/// A study that can be read.
struct Read {
    name: String,
    hash: String,
    own: String,
    parent: Option<String>,
    /// The sites with addresses, keys and the standing of their signatures.
    sites: Vec<SiteOf>,
    shown: Shown,
    files: Vec<Kept>,
}

/// A site of the study.
struct SiteOf {
    name: String,
    address: Option<String>,
    key: Option<String>,
    standing: Standing,
}

/// `GET /study`.
pub(crate) async fn page(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    let versions = console.versions.clone();
    let (facts, versions) = console
        .ask(move |site| Ok((look(site), versions.latest())))
        .await?;
    let site = shell(console.path());
    let path = shell(&facts.path);
    let check = match &facts.read {
        Ok(_) => Some(console.checked(false).await),
        Err(_) => None,
    };
    let is_missing = facts.read.is_err() && no_study::is_missing(&console).await;
    let body = html! {
        h1 { "Study" }
        @match (&facts.read, &check) {
            (Ok(read), Some(check)) => {
                (live("study", &html! {
                    (head(read))
                    (decide(read, check, &versions, &visit))
                    (rules::section(check, &visit))
                }))
                (told::plain(&read.shown))
                (told::disclosed(&read.shown))
                (changes::section(read, &versions))
                (signatures(read))
            }
            (Err(_), _) if is_missing => (no_study::none_yet(&visit)),
            (Err(why), _) => (no_study::unreadable(why)),
            (Ok(_), None) => {}
        }
        (changes::words(&versions))
    };
    let page = Page {
        title: "Study",
        place: "/study",
        body,
        commands: vec![
            format!("hedgerow study show {path}"),
            format!("hedgerow site check {site}"),
            format!("hedgerow study sign --site {site}"),
        ],
    };
    Ok(page.show(&console, &visit).await)
}

/// `POST /study/look`: asks anew whether the site would take part.
pub(crate) async fn look_again(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Result<Response, Failure> {
    console.note(visit.entry("study checked", "")).await?;
    console.checked(true).await;
    Ok(back())
}

/// `POST /study/sign`: the officer's word, with the password again; the key stays where it is.
pub(crate) async fn sign(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let (read, comment) = (hash_of(&fields)?, comment_of(&fields)?);
    console.confirm(&visit, fields.get("password")).await?;
    let signed = sign_for_site(&console, &visit, read.clone(), &comment);
    let done = |kept: &Result<(), String>| match kept {
        Ok(()) => String::from(
            "the study is signed for this site\nhint: the file beside the study has the signature: send it to the other sites in any way",
        ),
        Err(why) => format!("the study is signed for this site, and no copy was kept: {why}"),
    };
    let what = ("study signed", about(&read, &comment));
    console.carry_out(&visit, what, signed, done).await?;
    Ok(back())
}

/// `POST /study/decline`: the officer's word that this version is not signed, with a reason.
pub(crate) async fn decline(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
    Extension(fields): Extension<Fields>,
) -> Result<Response, Failure> {
    let (read, comment) = (hash_of(&fields)?, comment_of(&fields)?);
    if comment.is_empty() {
        return Err(Failure::wrong(
            "nothing says why\nhint: the steward, and the other sites, need a reason to change the study",
        ));
    }
    console.confirm(&visit, fields.get("password")).await?;
    let (versions, by, said, expected) = (
        console.versions.clone(),
        visit.name.clone(),
        comment.clone(),
        read.clone(),
    );
    let declined = async {
        let (version, is_signed) = console
            .ask(move |site| {
                let version = Version::of(&site.file().study, (&by, Word::Declined, &said))?;
                Ok((version, is_signed(site)?))
            })
            .await?;
        if version.hash.as_ref() != Some(&expected) {
            return Err(Failure::wrong(
                "the study has changed since this page was made\nhint: read it again",
            ));
        }
        if is_signed {
            return Err(Failure::wrong(
                "this site has signed this version, and what is signed cannot be declined\nhint: ask the steward to change the study with the other sites: a changed version is signed anew, or declined; runs of this one are refused on their own pages",
            ));
        }
        keep(&versions, version).await
    };
    let what = ("study declined", about(&read, &comment));
    let done = |(): &()| {
        String::from(
            "this version of the study is declined, and nothing is signed\nhint: the steward changes the study with the other sites; the changed study is another version",
        )
    };
    console.carry_out(&visit, what, declined, done).await?;
    Ok(back())
}

/// Whether this site has signed the study that its file names.
fn is_signed(site: &Site) -> Result<bool, Error> {
    let agreement = Agreement::open(&site.file().study)?;
    let mut sites = agreement.study.sites.iter().zip(agreement.standings()?);
    let own = sites.find(|(one, _)| one.name == site.file().name);
    Ok(own.is_some_and(|(_, standing)| standing == Standing::Signed))
}

async fn sign_for_site(
    console: &Arc<Console>,
    visit: &Visit,
    read: String,
    comment: &str,
) -> Result<Result<(), String>, Failure> {
    let signing = console
        .act(async move |site| site.sign(None, Some(&read)).await)
        .await?;
    if let Signing::NotAccepted(check) = signing {
        return Err(Failure::wrong(format!(
            "this site's rules refuse the study in {}, and nothing was signed\nhint: the page says which, and what to change",
            count(check.faults.len() as u64, "way", "ways")
        )));
    }
    let (by, said) = (visit.name.clone(), comment.to_owned());
    let version = console
        .ask(move |site| Version::of(&site.file().study, (&by, Word::Signed, &said)))
        .await;
    // What is signed is signed, whether or not a copy can be kept.
    let kept = match version {
        Ok(version) => keep(&console.versions, version).await,
        Err(failure) => Err(failure),
    };
    Ok(kept.map_err(|failure| failure.why().to_owned()))
}

/// Keeps a version.
pub(crate) async fn keep(
    versions: &crate::versions::Versions,
    version: Version,
) -> Result<(), Failure> {
    let versions = versions.clone();
    let kept = tokio::task::spawn_blocking(move || versions.keep(&version));
    Ok(kept.await.map_err(|_| Failure::mistake())??)
}

fn back() -> Response {
    Redirect::to("/study").into_response()
}

fn about(hash: &str, comment: &str) -> String {
    let short: String = hash.chars().take(12).collect();
    match comment {
        "" => short,
        _ => format!("{short}: {comment}"),
    }
}

/// The version that stood on the page on which somebody decided.
fn hash_of(fields: &Fields) -> Result<String, Failure> {
    let hash = fields.get("hash");
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hash {
        true => Ok(hash.to_owned()),
        false => Err(Failure::wrong(
            "nothing says which version of the study was read\nhint: go back, reload the page and send the form again",
        )),
    }
}

/// What somebody says to a decision.
pub(crate) fn comment_of(fields: &Fields) -> Result<String, Failure> {
    let comment = fields.get("comment").trim();
    match comment.chars().count() > LONGEST_COMMENT {
        true => Err(Failure::wrong(format!(
            "the comment is longer than {LONGEST_COMMENT} characters"
        ))),
        false => Ok(comment.to_owned()),
    }
}

fn look(site: &Site) -> Facts {
    let path = site.file().study.clone();
    let read = read(site).map_err(|error| error.without_values());
    Facts { path, read }
}

fn read(site: &Site) -> Result<Read, Error> {
    let path = &site.file().study;
    let study = Study::open(path)?;
    let agreement = study.agreement()?;
    let standings = agreement.standings()?;
    let sites = agreement.study.sites.iter().zip(standings);
    let sites = sites.map(|(one, standing)| SiteOf {
        name: one.name.clone(),
        address: one.address.clone(),
        key: one.key.clone(),
        standing,
    });
    Ok(Read {
        name: study.name().to_owned(),
        hash: agreement.hash.to_string(),
        own: site.file().name.clone(),
        parent: agreement.parent().map(|parent| parent.to_string()),
        sites: sites.collect(),
        shown: study.shown()?,
        files: files(path, &study),
    })
}

fn head(read: &Read) -> Markup {
    let signed = read
        .sites
        .iter()
        .filter(|site| site.standing == Standing::Signed);
    let (signed, all) = (signed.count(), read.sites.len());
    html! {
        p.lead {
            strong { (read.name) } ", version " (hash(&read.hash)) ". "
            @if let Some(parent) = &read.parent { "A new version of " (hash(parent)) ". " }
            (read.shown.sites) ". "
            @if signed == all { (badge(Tone::Good, "signed by all")) }
            @else { (badge(Tone::Wait, &format!("signed by {signed} of {all}"))) }
        }
    }
}

/// The officer's word about the study as it is on this page.
fn decide(read: &Read, check: &Job, versions: &[Version], visit: &Visit) -> Markup {
    let own = read.sites.iter().find(|site| site.name == read.own);
    let standing = own.map(|site| site.standing);
    let declined = versions.iter().find(|version| {
        version.word == Word::Declined && version.hash.as_ref() == Some(&read.hash)
    });
    let may = may_send("/study/sign", visit.role);
    let is_accepted = matches!(check, Job::Done(found) if matches!(&**found, Found::Check(check) if check.accepted));
    html! {
        @if let (Some(declined), false) = (declined, standing == Some(Standing::Signed)) {
            div.said.bad {
                p { strong { (declined.by) " declined this version" } " on " (declined.at) "." }
                p { (declined.comment) }
            }
        }
        @match standing {
            None => div.said.bad { p { "The study has no site named " strong { (read.own) } ", so nothing is to be signed here." } },
            Some(Standing::Signed) => p { (badge(Tone::Good, "signed")) " This site has signed this version." },
            Some(other) => {
                @if other != Standing::Missing { div.said.wait { p { "This site’s signature is " (other.text()) "." } } }
                @if may { (form(read, is_accepted, visit)) }
                @else { p.quiet { "This site has not signed. The privacy officer signs or declines; the steward cannot." } }
            }
        }
    }
}

fn form(read: &Read, is_accepted: bool, visit: &Visit) -> Markup {
    html! {
        section.next aria-labelledby="decide" {
            h2 #decide { "Does this site agree to this study?" }
            p { "Read below what is demanded, published and learned. The key stays in its file: this page asks, and the site signs the version " (hash(&read.hash)) " and no other." }
            div.columns {
                form.sheet method="post" action="/study/sign" {
                    (csrf(visit))
                    input type="hidden" name="hash" value=(read.hash);
                    label for="sign-comment" { "Comment, if there is one" }
                    input id="sign-comment" name="comment" maxlength=(LONGEST_COMMENT) autocomplete="off";
                    (password_again("sign-password"))
                    button type="submit" { "Sign for " (read.own) }
                    @if !is_accepted { p.quiet { "As far as is known now, this site’s rules refuse the study; then nothing is signed." } }
                }
                form.sheet method="post" action="/study/decline" {
                    (csrf(visit))
                    input type="hidden" name="hash" value=(read.hash);
                    label for="decline-comment" { "Why not" }
                    input id="decline-comment" name="comment" maxlength=(LONGEST_COMMENT) autocomplete="off" required;
                    (password_again("decline-password"))
                    button.danger type="submit" { "Decline this version" }
                }
            }
        }
    }
}

fn signatures(read: &Read) -> Markup {
    html! {
        section aria-labelledby="signatures" {
            h2 #signatures { "Sites and signatures" }
            div.scroll tabindex="0" role="region" aria-labelledby="signatures" {
                table.wide {
                    thead { tr { th scope="col" { "Site" } th scope="col" { "Address" } th scope="col" { "Key" } th scope="col" { "Signature" } } }
                    tbody {
                        @for site in read.sites.iter().take(MOST_SITES) {
                            tr {
                                th scope="row" { (site.name) @if site.name == read.own { " " small { "this site" } } }
                                td { @if let Some(address) = &site.address { code { (address) } } }
                                td { @if let Some(key) = &site.key { code { (key) } } }
                                td { (badge(tone(site.standing), site.standing.text())) }
                            }
                        }
                    }
                }
            }
            @if read.sites.len() > MOST_SITES { p.quiet { "And " (read.sites.len() - MOST_SITES) " sites more. The command below has all." } }
            p.quiet { "Keys are pinned in the study and fetched from nobody. Sites send each other their signatures in any way; the file beside the study has all of them." }
        }
    }
}

const fn tone(standing: Standing) -> Tone {
    match standing {
        Standing::Signed => Tone::Good,
        Standing::Missing => Tone::Wait,
        Standing::Void | Standing::Forged => Tone::Bad,
    }
}

/// The button that asks anew whether the site would take part.
fn again(visit: &Visit) -> Markup {
    html! { @if may_send("/study/look", visit.role) { (button(visit, "/study/look", "Look again", "quiet")) } }
}
