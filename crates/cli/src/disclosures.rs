//! Everything that a run of a study may disclose, known before it begins: what a site's rules are
//! held against. The run itself is held to the same rules, call by call, by `Party::allow_only`.

use hedgerow_data::study::Security;
use hedgerow_privacy::Model;
use hedgerow_protocols::horizontal::assembly::{ALIKE, VALUES};
use hedgerow_protocols::horizontal::cover::COVERS;
use hedgerow_protocols::horizontal::mondrian::{
    ALL_MEDIANS, AT_MEDIANS, BETWEEN_SITES, CANDIDATES, COALITIONS, Choice, DATA_RANGES, ENTROPIES,
    MEDIANS, MEDIANS_IN_NODES, Medians, PARTS, RANGES, RANGES_IN_NODES, RECORDS, REFUSED,
    SENSITIVE, SITES, Widths,
};
use hedgerow_smc::What;
use hedgerow_smc::order::{self, RUNNING};
use hedgerow_smc::union::ON_THE_WAY;

use crate::joint::Ready;

/// Everything that a run of this study may disclose to a site.
pub(crate) fn disclosures(ready: &Ready) -> Vec<What> {
    let plan = ready.plan();
    let is_coarsened = plan.quasi.iter().any(|quasi| quasi.is_coarsened);
    let models = &plan.demands.requirement.models;
    let has = |wanted: fn(&Model) -> bool| models.iter().any(wanted);
    let mut all = vec![RECORDS];
    all.push(if is_coarsened {
        RANGES_IN_NODES
    } else {
        RANGES
    });
    if has(|model| {
        !matches!(
            model,
            Model::KAnonymity { .. } | Model::SiteDiversity { .. }
        )
    }) {
        all.push(SENSITIVE);
    }
    match plan.choice {
        Choice::Width if is_coarsened => all.extend([MEDIANS_IN_NODES, PARTS]),
        Choice::Width => all.extend([MEDIANS, PARTS]),
        Choice::Diversity { .. } => all.extend([ALL_MEDIANS, CANDIDATES, ENTROPIES]),
        Choice::Fitness { .. } => all.extend([ALL_MEDIANS, CANDIDATES]),
    }
    if plan.cuts_sites {
        all.push(BETWEEN_SITES);
    }
    if plan.medians == Medians::Relaxed {
        all.push(AT_MEDIANS);
    }
    if plan.widths == Widths::Data {
        all.push(DATA_RANGES);
    }
    if has(|model| matches!(model, Model::SiteDiversity { .. })) {
        all.push(SITES);
    }
    if plan.demands.requirement.m.is_some() {
        all.push(COALITIONS);
    }
    all.extend([REFUSED, COVERS, ALIKE, VALUES]);
    if ready.study.security == Security::Published {
        // What the primitives show on their way, whatever is asked.
        all.extend([order::CANDIDATES, RUNNING, ON_THE_WAY]);
    }
    all
}
