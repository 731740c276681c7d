//! What columns give away that are published as they are: how many values, and how many records have a value
//! that nobody else has, in the release or inside their class.

use hedgerow_data::{Column, ReleaseColumn, Role};
use hedgerow_privacy::classes::Classes;

use crate::verify::Seen;

/// A column that is published as it is.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct OtherColumn {
    pub(in super::super) name: String,
    /// How many values stand in the column.
    pub(in super::super) values: u64,
    /// Records that are alone in their class with their value; nothing where no class is joined to values.
    pub(in super::super) alone_in_class: Option<u64>,
}

/// The columns of role `other`.
pub(super) fn others(seen: &Seen) -> Vec<OtherColumn> {
    let (release, classes) = (&seen.release, &seen.classes);
    let of_row: Vec<u32> = (0..release.rows())
        .map(|row| classes.of_row(row) as u32)
        .collect();
    let is_joined = release.groups().is_none();
    let positions = release.schema().with_role(Role::Other).into_iter();
    let found = positions.filter_map(|position| {
        let ReleaseColumn::Verbatim(column) = &release.columns()[position] else {
            return None;
        };
        let codes: Vec<u32> = match column {
            Column::Coded(codes) => codes.iter().collect(),
            Column::Text(text) => text.codes.clone(),
            Column::Absent(rows) => vec![0; *rows],
        };
        let rows = release.rows();
        let inside =
            is_joined.then(|| Classes::group(&[&of_row, &codes], rows).counted(release.counts()));
        let alone = |groups: Classes| groups.sizes().filter(|size| *size == 1).count() as u64;
        Some(OtherColumn {
            name: release.schema().attributes()[position].name.clone(),
            values: Classes::group(&[&codes], rows).count() as u64,
            alone_in_class: inside.map(alone),
        })
    });
    found.collect()
}
