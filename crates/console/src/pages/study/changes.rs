//! What changed since the last version that was saved, signed or declined here, and who said what.

use maud::{Markup, html};

use super::Read;
use crate::difference::{Line, difference};
use crate::html::parts::{Tone, badge, hash};
use crate::versions::{Kept, Version, Word};

/// Lines of a difference that are shown.
const MOST: usize = 400;

/// The difference to the last other version.
pub(super) fn section(read: &Read, versions: &[Version]) -> Markup {
    let last = versions.iter().find(|version| version.files != read.files);
    html! {
        section aria-labelledby="changes" {
            h2 #changes { "What changed since the last version" }
            @match last {
                None => p { "No other version was saved, signed or declined on these pages." },
                Some(last) => {
                    p { "Beside the version that " (last.by) " " (last.word.words()) " on " (last.at) @if let Some(known) = &last.hash { ", " (hash(known)) } "." }
                    (files(&last.files, &read.files))
                }
            }
        }
    }
}

/// What changed in files.
pub(crate) fn files(old: &[Kept], new: &[Kept]) -> Markup {
    let find = |files: &[Kept], name: &str| files.iter().find(|file| file.name == name).cloned();
    html! {
        @for file in new {
            @match find(old, &file.name) {
                Some(before) if before.hash == file.hash => {}
                Some(before) => (changed(&file.name, before.text.as_deref(), file.text.as_deref())),
                None => p { strong { (file.name) } " is new." },
            }
        }
        @for file in old.iter().filter(|file| find(new, &file.name).is_none()) {
            p { strong { (file.name) } " is gone." }
        }
    }
}

fn changed(name: &str, old: Option<&str>, new: Option<&str>) -> Markup {
    let (Some(old), Some(new)) = (old, new) else {
        return html! { p { strong { (name) } " has changed, and is too long to be set beside the other." } };
    };
    let lines = difference(old, new);
    html! {
        h3 { (name) }
        @if lines.is_empty() { p { "Only the ends of lines changed." } }
        pre.difference tabindex="0" aria-label={ "Changes of " (name) } {
            @for line in lines.iter().take(MOST) {
                @match line {
                    Line::Same(text) => span { "  " (text) "\n" },
                    Line::Gone(text) => del { "− " (text) "\n" },
                    Line::New(text) => ins { "+ " (text) "\n" },
                    Line::Left(1) => span.left { "  … 1 line is the same\n" },
                    Line::Left(count) => span.left { "  … " (count) " lines are the same\n" },
                }
            }
            @if lines.len() > MOST { span.left { "  … and " (lines.len() - MOST) " lines more\n" } }
        }
    }
}

/// Who saved, signed and declined what, and why.
pub(super) fn words(versions: &[Version]) -> Markup {
    html! {
        @if !versions.is_empty() {
            section aria-labelledby="words" {
                h2 #words { "Versions, and what was said of them" }
                div.scroll tabindex="0" role="region" aria-labelledby="words" {
                    table.small {
                        thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "What" } th scope="col" { "Version" } th scope="col" { "Comment" } } }
                        tbody {
                            @for version in versions {
                                tr {
                                    td.time { (version.at) }
                                    td { (version.by) }
                                    td { (badge(tone(version.word), version.word.words())) }
                                    td { @if let Some(known) = &version.hash { (hash(known)) } }
                                    td { (version.comment) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

const fn tone(word: Word) -> Tone {
    match word {
        Word::Signed => Tone::Good,
        Word::Declined => Tone::Bad,
        Word::Saved | Word::Replaced => Tone::Plain,
    }
}
