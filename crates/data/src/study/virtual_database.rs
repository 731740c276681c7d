//! Whether a run of a study publishes its table. Where nothing is published, sites keep the rows of a virtual
//! database each by itself (JX08 section 4, the papers' local anonymized data sets), and what all of them know
//! is a file of classes: how each class is written, and how many records it has.

use serde::{Deserialize, Serialize};

use super::{Algorithm, Partition};
use crate::attribute::{Role, Schema};
use crate::document::{DocumentError, Section};
use crate::domain::Domain;

/// The file of classes that all sites of a virtual database know.
pub const CLASSES_FILE: &str = "classes.csv";

/// The column of a file of classes that counts records.
pub const RECORDS: &str = "records";

/// What a run ends with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseKind {
    /// A release that every site may publish.
    #[default]
    Published,
    /// No release: each site keeps its own rows, generalized, and answers questions.
    Virtual,
}

impl ReleaseKind {
    /// Both kinds, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Published.name(), Self::Published),
        (Self::Virtual.name(), Self::Virtual),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Virtual => "virtual",
        }
    }

    /// Whether a release is published.
    pub const fn is_published(&self) -> bool {
        matches!(self, Self::Published)
    }
}

/// What a row of a release stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseRows {
    /// One record.
    #[default]
    Single,
    /// All records that are written alike; the column `records` says how many.
    Counted,
}

impl ReleaseRows {
    /// Both, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Single.name(), Self::Single),
        (Self::Counted.name(), Self::Counted),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Counted => "counted",
        }
    }

    /// Whether a row stands for one record.
    pub const fn is_single(&self) -> bool {
        matches!(self, Self::Single)
    }
}

/// Refuses studies whose rows cannot be counted.
pub(super) fn refuse_counted(
    root: &Section<'_>,
    head: &Section<'_>,
    schema: &Schema,
    (partition, release, algorithm): (Partition, ReleaseKind, Algorithm),
    is_fragmented: bool,
) -> Result<(), DocumentError> {
    let wrong = |what: &str| {
        let message = format!(
            "`study.rows` is \"counted\", which {what}\nhint: leave it out, or write rows = \"single\""
        );
        Err(head.wrong("rows", message))
    };
    if partition == Partition::Vertical {
        return wrong(
            "is for horizontal studies: sites that hold different columns of the same people need each person's row",
        );
    }
    if !matches!(algorithm, Algorithm::Mondrian | Algorithm::ProviderAware) {
        return wrong(
            "is for classes that are found by cuts: [algorithm] name = \"mondrian\" or \"provider-aware\"",
        );
    }
    if !release.is_published() || is_fragmented {
        return wrong("is for a release of one table");
    }
    let sections = root.sections("attribute")?;
    for (section, attribute) in sections.iter().zip(schema.attributes()) {
        if attribute.name == RECORDS {
            let message = format!(
                "a release of counted rows has a column `{RECORDS}` of its own\nhint: call this attribute something else"
            );
            return Err(section.wrong("name", message));
        }
        if attribute.role != Role::Identifier && attribute.domain == Domain::Text {
            let message = "free text cannot be counted, and `study.rows` is \"counted\"\nhint: give the attribute `values`, a `taxonomy` or a `type`, or leave it out of the study";
            return Err(section.wrong("name", message));
        }
    }
    Ok(())
}

/// Refuses studies whose table cannot be virtual.
pub(super) fn refuse(
    root: &Section<'_>,
    head: &Section<'_>,
    schema: &Schema,
    partition: Partition,
) -> Result<(), DocumentError> {
    if partition == Partition::Vertical {
        let message = "`study.release` is \"virtual\", which is for horizontal studies: sites that hold different columns of the same people keep no rows of the joint table\nhint: leave it out";
        return Err(head.wrong("release", message));
    }
    let sections = root.sections("attribute")?;
    for (section, attribute) in sections.iter().zip(schema.attributes()) {
        if attribute.name == RECORDS {
            let message = format!(
                "the classes of a virtual database have a column `{RECORDS}` of their own\nhint: call this attribute something else"
            );
            return Err(section.wrong("name", message));
        }
    }
    Ok(())
}
