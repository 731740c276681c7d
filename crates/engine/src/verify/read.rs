//! A release as read from its files, whole or fragmented, and what it contains.

use std::path::Path;

use hedgerow_data::files::{
    ReleaseTable, read_classes, read_fragments, read_release_of, without_bounds,
};
use hedgerow_data::{Codes, Release, Role, Study, Table, TextTable};
use hedgerow_privacy::classes::Classes;
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_privacy::query_error::{Queries, query_error};
use hedgerow_privacy::risk::{Risk, risk, uniqueness};
use hedgerow_privacy::utility::{Measured, Utility, utility};
use hedgerow_privacy::verify::{Evidence, EvidenceError, Verdict, verify_by};
use hedgerow_privacy::{Model, Requirement};

use super::check::SiteDemand;
use crate::error::Error;
use crate::observe::{Observer, Work};
use crate::table::Table as Rows;

/// A release as it was read.
pub(crate) struct Read {
    pub(super) text: TextTable,
    pub(crate) release: Release,
    /// Files whose order may say something.
    disordered: Vec<String>,
    /// What a file says beside its cells that contradicts them.
    contradictions: Vec<String>,
}

impl Read {
    /// Reads the release of a study: its file, or one of the files of a fragmented release. Columns that
    /// the study does not know are passed over: the verdict complains about them.
    pub(crate) fn open(path: &Path, study: &Study, observer: &dyn Observer) -> Result<Self, Error> {
        if study.is_fragmented() {
            let folder = path.parent().unwrap_or(Path::new(""));
            let read = read_fragments(folder, &study.schema, study.csv, &())?;
            return Ok(Self {
                text: read.text,
                release: read.release,
                disordered: read.disordered,
                contradictions: Vec::new(),
            });
        }
        let watch = observer.begin(Work::Reading(path));
        if study.is_virtual() {
            let text = read_classes(path, study, &*watch)?;
            return Ok(Self {
                release: Release::of_classes(&text, &study.schema)?,
                text,
                disordered: Vec::new(),
                contradictions: Vec::new(),
            });
        }
        let ReleaseTable {
            text,
            mut contradictions,
        } = read_release_of(path, study, &*watch)?;
        let all: Vec<&str> = text.names.iter().map(String::as_str).collect();
        let release = Release::from_text(&text, &study.schema, &all)?;
        contradictions.extend(twice(&text, &release));
        Ok(Self {
            release,
            text,
            disordered: Vec::new(),
            contradictions,
        })
    }

    /// The site of each row, by the column that names it.
    pub(crate) fn sites(&self, column: &str) -> Result<&[u32], EvidenceError> {
        Ok(&self.text.named(column)?.codes)
    }

    /// The release of a study as a table in memory.
    pub(super) fn of_table(
        table: &Rows,
        study: &Study,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let attributes = study.schema.attributes().iter();
        let names: Vec<String> = attributes.map(|attribute| attribute.name.clone()).collect();
        let text = table.read_text(&names, observer)?;
        let ReleaseTable {
            text,
            mut contradictions,
        } = without_bounds(text, &table.types(), study)?;
        let all: Vec<&str> = text.names.iter().map(String::as_str).collect();
        let release = Release::from_text(&text, &study.schema, &all)?;
        contradictions.extend(twice(&text, &release));
        Ok(Self {
            release,
            text,
            disordered: Vec::new(),
            contradictions,
        })
    }

    /// What the release contains, by classes, and what a requirement finds in them.
    pub(crate) fn judge(
        &self,
        provider: Option<&str>,
        ignore: &[String],
        requirement: Option<&Requirement>,
        verification: Option<Strategy>,
    ) -> Result<(Classes, Verdict), Error> {
        let evidence = Evidence::of_release(&self.text, &self.release, provider)?;
        let evidence = evidence.ignoring(ignore);
        let evidence = in_view(evidence, requirement);
        let verdict = verify_by(&evidence, requirement, verification);
        let classes = evidence.classes();
        let verdict = verdict.with_disorder(self.disordered.clone());
        let verdict = verdict.with_contradictions(self.contradictions.clone());
        Ok((classes, verdict))
    }

    /// What the release lost.
    pub(crate) fn losses(
        &self,
        study: &Study,
        classes: &Classes,
        original: Option<&Table>,
        requirement: Option<&Requirement>,
    ) -> Utility {
        losses((&self.release, classes), study, original, requirement)
    }

    /// The risk of the release, and what it lost of its original table, by so many random queries too.
    pub(crate) fn beside(
        &self,
        study: &Study,
        classes: &Classes,
        original: Option<&Table>,
        (requirement, queries): (Option<&Requirement>, Option<Queries>),
    ) -> (Risk, Utility) {
        let mut risk = risk(classes);
        let mut utility = self.losses(study, classes, original, requirement);
        if let Some(original) = original {
            let quasi = study.schema.with_role(Role::Quasi);
            let columns: Vec<Vec<u32>> = quasi
                .iter()
                .filter_map(|attribute| original.codes(*attribute))
                .map(|codes| codes.iter().collect())
                .collect();
            let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
            risk.uniqueness.before = Some(uniqueness(
                &Classes::group(&slices, original.rows()).counted(original.counts()),
            ));
            utility.query_error = queries.and_then(|queries| {
                query_error(original, &self.release, classes, &quasi, &queries)
            });
        }
        (risk, utility)
    }
}

/// Rows of counted rows that stand twice: what is written alike is one row.
fn twice(text: &TextTable, release: &Release) -> Option<String> {
    text.counts.as_ref()?;
    // As sites publish it; rows in another order are compared with all others.
    if release.ascends() {
        return None;
    }
    let columns: Vec<&[u32]> = text
        .columns
        .iter()
        .map(|column| column.codes.as_slice())
        .collect();
    let rows = Classes::group(&columns, text.rows());
    let found = (0..rows.count()).find_map(|row| match rows.rows(row) {
        [first, second, ..] => Some((first + 1, second + 1)),
        _ => None,
    });
    found.map(|(first, second)| {
        format!(
            "row {second} repeats row {first}: what is written alike is one row of counted rows"
        )
    })
}

/// What a release with these classes lost.
pub(crate) fn losses(
    (release, classes): (&Release, &Classes),
    study: &Study,
    original: Option<&Table>,
    requirement: Option<&Requirement>,
) -> Utility {
    let quasi = study.schema.with_role(Role::Quasi);
    let counts: Vec<Option<Vec<u64>>> = quasi
        .iter()
        .map(|attribute| {
            let size = study.schema.attributes()[*attribute].domain.size();
            Some(histogram(
                (original?.codes(*attribute)?, original?.counts()),
                size,
            ))
        })
        .collect();
    let measured: Vec<Measured<'_>> = quasi
        .iter()
        .zip(&counts)
        .filter_map(|(attribute, counts)| {
            let declared = &study.schema.attributes()[*attribute];
            Some(Measured {
                name: &declared.name,
                domain: &declared.domain,
                column: release.generalized(*attribute)?,
                counts: release.counts(),
                original: counts.as_deref(),
            })
        })
        .collect();
    utility(&measured, classes, requirement.map_or(1, Requirement::k))
}

/// Sensitive attributes each on its own, together, or both, as the requirement says.
pub(super) fn in_view<'a>(
    evidence: Evidence<'a>,
    requirement: Option<&Requirement>,
) -> Evidence<'a> {
    match requirement {
        Some(requirement) => evidence.counting(requirement.sensitive),
        None => evidence,
    }
}

pub(crate) fn histogram((codes, records): (&Codes, Option<&[u64]>), size: u32) -> Vec<u64> {
    let mut counts = vec![0; size as usize];
    for (row, code) in codes.iter().enumerate() {
        counts[code as usize] += records.map_or(1, |records| records[row]);
    }
    counts
}

/// A requirement without what a release of the study does not show, and what that is: demands that speak of
/// sites; of a virtual database, whose sensitive values are shown nowhere, all but the sizes of classes.
pub(crate) fn visible(requirement: &Requirement, study: &Study) -> (Requirement, Vec<SiteDemand>) {
    let is_hidden = |model: &Model| match study.is_virtual() {
        true => !matches!(model, Model::KAnonymity { .. }),
        false => model.speaks_of_sites(),
    };
    let models = requirement.models.iter();
    let mut demands: Vec<SiteDemand> = models
        .filter(|model| is_hidden(model))
        .map(|model| SiteDemand {
            model: model.key(),
            words: model.to_string(),
        })
        .collect();
    // With m = 0 nobody is demanded to be withstood, and there is nothing to show.
    let withstood = requirement.m.filter(|m| *m > 0);
    demands.extend(withstood.map(|m| SiteDemand {
        model: "m",
        words: format!("m = {m}"),
    }));
    let mut visible = requirement.clone();
    visible.m = None;
    visible.models.retain(|model| !is_hidden(model));
    (visible, demands)
}
