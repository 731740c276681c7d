//! A release and what is known beside it, with where people fall, which several attacks ask and which is
//! found once.

use std::sync::OnceLock;

use crate::known::{Known, Rows};
use crate::place::{self, Placed};
use crate::subject::Subject;

/// What an attack looks at.
pub(crate) struct Look<'a> {
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) known: &'a Known<'a>,
    own: OnceLock<Placed>,
    own_by_all: OnceLock<Placed>,
    holdout: OnceLock<Placed>,
}

impl<'a> Look<'a> {
    pub(crate) fn new(subject: &'a Subject<'a>, known: &'a Known<'a>) -> Self {
        Self {
            subject,
            known,
            own: OnceLock::new(),
            own_by_all: OnceLock::new(),
            holdout: OnceLock::new(),
        }
    }

    /// Own rows, and where they fall by their quasi-identifiers alone.
    pub(crate) fn own(&self) -> Option<(&Rows, &Placed)> {
        let rows = self.known.own.as_ref()?;
        let placed = self.own.get_or_init(|| place::by_quasi(self.subject, rows));
        Some((rows, placed))
    }

    /// Own rows, and where they fall by all that their owner knows.
    pub(crate) fn own_by_all(&self) -> Option<(&Rows, &Placed)> {
        let rows = self.known.own.as_ref()?;
        let placed = self
            .own_by_all
            .get_or_init(|| place::by_all(self.subject, rows));
        Some((rows, placed))
    }

    /// The rows of all records, and where they fall by their quasi-identifiers alone.
    pub(crate) fn whole(&self) -> Option<(&Rows, &Placed)> {
        self.own().filter(|(rows, _)| rows.are_all_of(self.subject))
    }

    /// People who are not in the table, and where they fall.
    pub(crate) fn holdout(&self) -> Option<(&Rows, &Placed)> {
        let rows = self.known.holdout.as_ref()?;
        let placed = self
            .holdout
            .get_or_init(|| place::by_quasi(self.subject, rows));
        Some((rows, placed))
    }
}
