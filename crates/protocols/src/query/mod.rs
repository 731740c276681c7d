//! Questions about a release, and about the virtual database that sites hold together (JX08 sections 4.4
//! and 5, JX09 section 4).
//!
//! A [`Question`] is evaluated by every site on its own generalized rows ([`Held`]). Totals are masked sums:
//! one round, no row moves, whatever the number of groups. Rows are united without ownership: first how many
//! there are, so that no site's number shows, then the union of the primitives, Algorithm 5 of JX08 at the
//! published level and mixing at the hardened level. A party of one answers from a release by the same code.
//!
//! What is asked is known to all sites, who answer from the same anonymous table: answers together say no
//! more than the table.
//!
//! # Discloses
//! Of totals: the totals, to the site that asks. Of rows, to all sites: how many there are, and the rows; at
//! the published level also the lists on their way around the ring.

mod codes;
mod diagram;
mod error;
mod fragments;
mod held;
mod question;
mod rows;
mod totals;
mod truth;

use hedgerow_smc::{Party, Site, What};

pub use codes::CodeSet;
pub use error::QuestionError;
pub use fragments::Fragmented;
pub use held::{ForeignRow, Held};
pub use question::{Answer, Condition, DEEPEST, MOST_COMPARISONS, MOST_TOTALS, Question, Total};
pub use rows::{Found, MOST_FOUND, setting};
pub use totals::{Group, Measured, WORDS};
pub use truth::{Truth, truths};

use crate::error::Error;
use totals::Sheet;

/// The totals of a question.
pub const TOTALS: What = What::new("totals of a question", "JX08 section 4.4");
/// How many rows a question finds.
pub const FOUND: What = What::new("how many rows a question finds", "the size of the answer");
/// The rows of a question.
pub const ROWS: What = What::new("rows of a question", "JX08 section 4.4");

/// Everything that [`ask`] may disclose to a site by the question's own name.
pub const fn discloses() -> [What; 3] {
    [TOTALS, FOUND, ROWS]
}

/// What is impossible about totals.
const NO_TOTALS: &str = "totals that no rows of the table add up to";

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// Groups with their totals, in the order of their cells.
    Totals(Vec<Group>),
    /// Possible rows, sorted.
    Rows(Vec<Found>),
}

/// How many totals a question asks for; `None` for rows. A question that cannot be answered is refused here,
/// before anything is sent.
pub fn totals(held: &Held, question: &Question) -> Result<Option<u64>, QuestionError> {
    question.check(held.schema())?;
    match &question.answer {
        Answer::Rows { .. } => Ok(None),
        Answer::Totals { group_by, of } => {
            Sheet::new(held, group_by, of).map(|sheet| Some(sheet.count()))
        }
    }
}

/// Asks a question of the table that all sites hold together. Totals are told to `asker` alone; at the other
/// sites the answer is empty.
pub async fn ask(
    party: &mut Party,
    held: &Held,
    question: &Question,
    asker: Site,
) -> Result<Answered, Error> {
    question.check(held.schema())?;
    match &question.answer {
        Answer::Totals { group_by, of } => {
            let sheet = Sheet::new(held, group_by, of)?;
            let own = sheet.words(&question.condition)?;
            let mut words = own.clone();
            party.sum_to(TOTALS, asker, &mut words).await?;
            if party.me() != asker {
                return Ok(Answered::Totals(Vec::new()));
            }
            let groups = sheet.read(&words, &own);
            party.fit(TOTALS, groups.is_some(), NO_TOTALS)?;
            Ok(Answered::Totals(groups.unwrap_or_default()))
        }
        Answer::Rows { columns } => {
            let found = rows::unite(party, held, &question.condition, columns).await?;
            Ok(Answered::Rows(found))
        }
    }
}
