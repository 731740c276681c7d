//! What the verifier says of a fragmented release; the D2Pt bench asks the same.

use hedgerow_data::{Role, Schema, TextColumn};
use hedgerow_privacy::Requirement;
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::verify::{Evidence, QuasiColumn, SensitiveColumn, verify};
use hedgerow_protocols::vertical::d2pt::Fragments;

/// Whether the release satisfies the requirement: rows of one group cannot be told apart.
pub(crate) fn verdict(
    schema: &Schema,
    fragments: &Fragments,
    requirement: &Requirement,
) -> Option<bool> {
    let mut group = TextColumn::default();
    for (row, number) in fragments.group.iter().enumerate() {
        group.push(&number.to_string(), row as u64 + 2);
    }
    let sensitive = fragments.verbatim.iter().filter_map(|(position, codes)| {
        let attribute = &schema.attributes()[*position];
        (attribute.role == Role::Sensitive).then(|| SensitiveColumn {
            name: attribute.name.clone(),
            codes: codes.iter().collect(),
            size: attribute.domain.size() as usize,
            distance: Distance::natural(&attribute.domain),
            is_ordered: attribute.domain.is_ordered(),
            tree: attribute.domain.taxonomy(),
        })
    });
    let evidence = Evidence {
        rows: fragments.group.len(),
        quasi: vec![QuasiColumn {
            name: "group",
            text: &group,
            cells: None,
        }],
        sensitive: sensitive.collect(),
        ..Evidence::default()
    };
    verify(&evidence, Some(requirement)).holds
}
