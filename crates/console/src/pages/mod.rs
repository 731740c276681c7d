//! The pages, a module for each. Who may ask for them stands in `routes.rs`.

pub(crate) mod assets;
pub(crate) mod audit;
pub(crate) mod draft;
pub(crate) mod first;
pub(crate) mod ledger;
pub(crate) mod no_study;
pub(crate) mod overview;
pub(crate) mod query;
pub(crate) mod release;
pub(crate) mod releases;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod set_up;
pub(crate) mod sign_in;
pub(crate) mod study;
pub(crate) mod users;

use serde::Deserialize;

/// Lines of a page that lists something.
pub(crate) const LINES: usize = 25;

/// Sites that a page names one by one; of more it says how many there are.
pub(crate) const SITES: usize = 50;

/// Which of several pages is asked for.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Asked {
    page: Option<usize>,
}

impl Asked {
    /// The page, from 1, of so many lines, and how many pages there are.
    pub(crate) fn of(self, total: usize) -> (usize, usize) {
        self.among(total, LINES)
    }

    /// The same where a page has another number of lines.
    pub(crate) fn among(self, total: usize, lines: usize) -> (usize, usize) {
        let pages = total.div_ceil(lines).max(1);
        (self.number().min(pages), pages)
    }

    /// The page, from 1, as it was asked for.
    pub(crate) fn number(self) -> usize {
        self.page.unwrap_or(1).clamp(1, 1 << 20)
    }
}
