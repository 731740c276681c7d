//! The table that sites hold together since a run, as front ends see it: its name, its columns, and answers
//! through this site's own node.

use std::sync::Arc;

use hedgerow_data::{Role, Schema};
use hedgerow_node::agreement::Agreement;
use hedgerow_protocols::query::{Answered, Question};

use super::last_run;
use crate::error::Error;
use crate::query::{Answers, Statement};
use crate::site::Site;
use crate::site::refused::SiteRefused;

/// The table that sites hold together since a run.
pub struct JointTable {
    site: Site,
    agreement: Agreement,
    run: u32,
}

impl Site {
    /// The table that all sites hold together since a run; since the last run, where none is named. Nothing is
    /// asked of anybody yet.
    pub fn joint_table(self, run: Option<u32>) -> Result<JointTable, Error> {
        let agreement = Agreement::open(&self.file.study)?;
        if agreement.study.query.is_none() {
            return Err(SiteRefused::NoQuery.into());
        }
        let run = match run {
            Some(run) => run,
            None => last_run(&self.file.data, &agreement)?,
        };
        Ok(JointTable {
            site: self,
            agreement,
            run,
        })
    }
}

impl JointTable {
    /// The name of the study, which is the name of the table.
    pub fn name(&self) -> &str {
        &self.agreement.study.name
    }

    /// The columns of the study.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.agreement.study.schema
    }

    /// Whether the table has a column of the study.
    pub fn has(&self, position: usize) -> bool {
        let attribute = self.schema().attributes().get(position);
        attribute.is_some_and(|attribute| attribute.role != Role::Identifier)
    }

    /// The run that the table is of.
    pub const fn run(&self) -> u32 {
        self.run
    }

    /// Answers a statement.
    pub async fn answer(&self, statement: &Statement) -> Result<Answers, Error> {
        let mut answered = Vec::with_capacity(statement.questions().len());
        for question in statement.questions() {
            answered.push(self.ask(question).await?);
        }
        Ok(statement.answers(&answered))
    }

    /// Answers a question, as [`Site::ask`] does.
    pub async fn ask(&self, question: &Question) -> Result<Answered, Error> {
        self.site.ask(Some(self.run), question).await
    }
}

impl std::fmt::Debug for JointTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("JointTable");
        shown.field("study", &self.name()).field("run", &self.run);
        shown.finish_non_exhaustive()
    }
}
