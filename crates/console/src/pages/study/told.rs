//! The study in plain words: what is demanded, what becomes of each column, what is published, and what each
//! other site learns on the way.

use hedgerow::smc::What;
use hedgerow::{Shown, explained};
use maud::{Markup, html};

/// Columns that are shown.
const MOST_COLUMNS: usize = 200;

/// What the study means.
pub(super) fn plain(shown: &Shown) -> Markup {
    html! {
        div.columns {
            section aria-labelledby="demands" {
                h2 #demands { "What is demanded" }
                ul { @for demand in &shown.demands { li { (demand) } } }
                p.quiet { "As theorems have it: " (shown.requires) }
            }
            section aria-labelledby="published" {
                h2 #published { "What comes of it" }
                ul { @for said in &shown.published { li { (said) } } }
            }
        }
        section aria-labelledby="columns" {
            h2 #columns { "What becomes of each column" }
            div.scroll tabindex="0" role="region" aria-labelledby="columns" {
                table.wide {
                    thead { tr { th scope="col" { "Column" } th scope="col" { "Role" } th scope="col" { "Values" } th scope="col" { "In the release" } } }
                    tbody {
                        @for column in shown.columns.iter().take(MOST_COLUMNS) {
                            tr { th scope="row" { (column.name) } td { (column.role) } td { (column.values) } td { (column.becomes) } }
                        }
                    }
                }
            }
            @if shown.columns.len() > MOST_COLUMNS { p.quiet { "And " (shown.columns.len() - MOST_COLUMNS) " columns more. The command below has all." } }
            @for (site, columns) in shown.holders.iter().take(MOST_COLUMNS) { p.quiet { (site) " holds " (columns.join(", ")) "." } }
        }
        section aria-labelledby="ways" {
            h2 #ways { "How the sites compute it" }
            dl.words.wide { @for (name, said) in &shown.ways { div { dt { (name) } dd { (said) } } } }
        }
    }
}

/// What each other site learns.
pub(super) fn disclosed(shown: &Shown) -> Markup {
    html! {
        section aria-labelledby="disclosed" {
            h2 #disclosed { "What each other site will learn" }
            p { "Beside what comes of it, a run shows the following and nothing else. Raw rows never leave a site." }
            @if let Some(besides) = shown.besides { p { (besides) } }
            (table(shown, &shown.discloses, "disclosed"))
        }
        @if !shown.questions.is_empty() {
            section aria-labelledby="questions" {
                h2 #questions { "What a question shows, where a site answers it" }
                (table(shown, &shown.questions, "questions"))
            }
        }
    }
}

fn table(shown: &Shown, disclosed: &[What], id: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-labelledby=(id) {
            table.small.wide {
                thead { tr {
                    th scope="col" { "What" } th scope="col" { "Who learns it" } th scope="col" { "What is told" }
                    th scope="col" { "What a peer could work out" } th scope="col" { "Allowed by" }
                } }
                tbody {
                    @for what in disclosed {
                        @let said = explained(*what);
                        tr {
                            th scope="row" { (what.name()) }
                            td { @if let Some(said) = said { (said.learners.words(shown.security)) } }
                            td { @if let Some(said) = said { (said.tells) } }
                            td { @if let Some(said) = said { (said.reveals) } }
                            td { (what.allowed_by()) }
                        }
                    }
                }
            }
        }
    }
}
