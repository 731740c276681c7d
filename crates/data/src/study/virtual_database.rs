//! Whether a run of a study publishes its table. Where nothing is published, sites keep the rows of a virtual
//! database each by itself (JX08 section 4, the papers' local anonymized data sets), and what all of them know
//! is a file of classes: how each class is written, and how many records it has.

use serde::{Deserialize, Serialize};

use super::Partition;
use crate::attribute::Schema;
use crate::document::{DocumentError, Section};

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
