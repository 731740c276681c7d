//! A release as a table that questions are asked of: its folder, read as a stranger reads it.

use std::sync::Arc;

use hedgerow_data::{Schema, Study};
use hedgerow_protocols::query::{Answered, Fragmented, Held, Question, ask};
use hedgerow_smc::{Party, Seed, Settings, Site};

use super::error::AskError;
use super::statement::Statement;
use super::table::Answers;
use crate::error::Error;
use crate::observe::Observer;
use crate::release::Release;
use crate::release::refused::FolderRefused;
use crate::verify::read::Read;
use crate::verify::{Check, Tampered, own_word, release_file};

/// A release that questions are asked of: by the study that the release was opened with, or else as its
/// folder describes itself. What the folder says is the word of whoever published it;
/// [`verify`](crate::verify()) looks at more.
///
/// ```
/// # use hedgerow::{Draft, Options, Study, Table, anonymize};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("patients.csv");
/// # let out = folder.path().join("release");
/// # let rows: String = (0..60).map(|row| format!("{},{}\n", 20 + row, ["flu", "ulcer", "asthma"][row % 3])).collect();
/// # std::fs::write(&path, format!("age,disease\n{rows}"))?;
/// # let study = Study::parse(Study::draft(Draft::Horizontal), ".")?;
/// # let out = anonymize(&study, &Table::file(path), &Options::new().out(&out))?.release.path().to_owned();
/// use hedgerow::{Release, query::Released};
///
/// let released = Released::open(&Release::open(out)?, &())?;
/// let sql = format!("SELECT count(*) FROM \"{}\" WHERE age < 50", released.name());
/// let answers = released.answer(&released.statement(&sql)?)?;
/// let row = &answers.rows[0];
/// let (low, high) = (row[0].as_i64(), row[2].as_i64());
/// assert!(low <= Some(30) && Some(30) <= high);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Released {
    name: String,
    schema: Arc<Schema>,
    table: Table,
}

/// The table of a release.
#[derive(Debug, Clone)]
enum Table {
    Whole(Held),
    /// Several tables that only groups join.
    Fragmented(Fragmented),
}

impl Released {
    /// Reads a release folder.
    pub fn open(release: &Release, observer: &dyn Observer) -> Result<Self, Error> {
        let described;
        let opened = match &release.study {
            Some(study) => &*study.opened,
            None => {
                described = own_word(release.path())?;
                &described
            }
        };
        let study = &opened.study;
        if study.is_virtual() {
            let path = release.path().to_owned();
            return Err(FolderRefused::Virtual { path }.into());
        }
        // Nobody is answered from files that are not those of the manifest beside them.
        if let Some(check) = Check::of(release.path(), opened)
            && !check.findings.is_empty()
        {
            return Err(Error::Tampered(Box::new(Tampered {
                holds: false,
                manifest: check,
                error: String::from("questions are not answered from it"),
                release: release.path().to_owned(),
            })));
        }
        let file = release_file(release.path(), Some(study), None)?;
        let read = Read::open(&file, study, observer)?;
        Ok(Self::of(study, &read.release))
    }

    /// A release that was not written to a folder.
    pub(crate) fn of(study: &Study, release: &hedgerow_data::Release) -> Self {
        Self {
            name: study.name.clone(),
            schema: Arc::clone(&study.schema),
            table: match Fragmented::release(release) {
                Some(fragmented) => Table::Fragmented(fragmented),
                None => Table::Whole(Held::release(release)),
            },
        }
    }

    /// The name of the study, which is the name of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns of the table.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Whether the release has a column of the study.
    pub fn has(&self, position: usize) -> bool {
        self.held().has(position)
    }

    /// Whether the release says which values of these columns stand in one row.
    pub fn is_joined(&self, positions: &[usize]) -> bool {
        match &self.table {
            Table::Whole(_) => true,
            Table::Fragmented(fragmented) => fragmented.is_joined(positions),
        }
    }

    fn held(&self) -> &Held {
        match &self.table {
            Table::Whole(held) => held,
            Table::Fragmented(fragmented) => fragmented.held(),
        }
    }

    /// A statement of SQL about the table.
    pub fn statement(&self, sql: &str) -> Result<Statement, Error> {
        Ok(Statement::read(sql, &self.schema, &self.name)?)
    }

    /// Answers a statement.
    pub fn answer(&self, statement: &Statement) -> Result<Answers, Error> {
        let questions = statement.questions().iter();
        let answered: Vec<Answered> = questions
            .map(|question| self.ask(question))
            .collect::<Result<_, _>>()?;
        Ok(statement.answers(&answered))
    }

    /// Answers a question. Whoever has the release asks nobody: a party of one answers.
    pub fn ask(&self, question: &Question) -> Result<Answered, Error> {
        if let Table::Fragmented(fragmented) = &self.table
            && !fragmented.is_joined(&question.columns())
        {
            let totals = fragmented.totals(question).map_err(AskError::from)?;
            return Ok(Answered::Totals(totals));
        }
        let mut party = Party::alone(Settings::default(), &Seed::for_site(0, 0));
        let answered = ask(&mut party, self.held(), question, Site::new(0));
        Ok(pollster::block_on(answered)?)
    }
}
