//! What a run of a study may disclose, known before it begins: what a site's rules are held
//! against. What a run did disclose is in its ledger and is held against the same rules.

use hedgerow_data::study::{Algorithm, Medians, Security, Widths};
use hedgerow_privacy::Model;
use hedgerow_protocols::horizontal::assembly::{ALIKE, VALUES};
use hedgerow_protocols::horizontal::cover::COVERS;
use hedgerow_protocols::horizontal::mondrian::{
    ALL_MEDIANS, AT_MEDIANS, CANDIDATES, COALITIONS, DATA_RANGES, ENTROPIES, MEDIANS,
    MEDIANS_IN_NODES, PARTS, RANGES, RANGES_IN_NODES, RECORDS, REFUSED, SENSITIVE, SITES,
};
use hedgerow_smc::What;

use crate::joint::Ready;

/// What the primitives of the published level show on their way, whatever is asked.
const PUBLISHED: [What; 3] = [
    What::new(
        "records at or below each candidate of the search",
        "JX08 Algorithm 4",
    ),
    What::new("running extremes of each lap", "JX08 Algorithm 3"),
    What::new(
        "items on their way around the ring",
        "JX08 equation 4: the list's length tells who leads",
    ),
];

/// Everything that a run of this study may disclose to a site.
pub(crate) fn disclosures(ready: &Ready) -> Vec<What> {
    let mut all = vec![
        RECORDS,
        RANGES,
        RANGES_IN_NODES,
        SENSITIVE,
        MEDIANS,
        MEDIANS_IN_NODES,
        PARTS,
        REFUSED,
        COVERS,
        ALIKE,
        VALUES,
    ];
    let models = &ready.requirement.models;
    let is_diverse = models
        .iter()
        .any(|model| matches!(model, Model::SiteDiversity { .. }));
    let top_down = &ready.study.top_down;
    let weighs_sites = is_diverse && top_down.alpha < 1.0;
    if weighs_sites || ready.study.algorithm == Algorithm::ProviderAware {
        all.extend([ALL_MEDIANS, CANDIDATES, ENTROPIES]);
    }
    if is_diverse || ready.study.algorithm == Algorithm::ProviderAware {
        all.push(SITES);
    }
    if top_down.medians == Medians::Relaxed {
        all.push(AT_MEDIANS);
    }
    if top_down.widths == Widths::Data {
        all.push(DATA_RANGES);
    }
    if ready.requirement.m.is_some() {
        all.push(COALITIONS);
    }
    if ready.study.security == Security::Published {
        all.extend(PUBLISHED);
    }
    all
}
