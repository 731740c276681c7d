//! Everything that a run of a study may disclose, known before it begins: what a site's rules are
//! held against. The run itself is held to the same rules, call by call, by `Party::allow_only`.

use hedgerow_data::study::{Algorithm, Loss, Security, Synchronizer};
use hedgerow_privacy::Model;
use hedgerow_protocols::horizontal::assembly::{ALIKE, VALUES};
use hedgerow_protocols::horizontal::clustering::{
    ASKED_CLUSTERS, CLOSURES_WITHOUT_RECORD, CLUSTER_CLOSURES, CLUSTER_SIZES, OCCURRING_VALUES,
    SAVINGS_IN_NARROWER_CLUSTERS, SUPPORTED_VALUES, TRIED_CLUSTERS, VALUE_COUNTS,
};
use hedgerow_protocols::horizontal::cover::COVERS;
use hedgerow_protocols::horizontal::mondrian::{
    ALL_MEDIANS, AT_MEDIANS, BETWEEN_SITES, CANDIDATES, COALITIONS, Choice, DATA_RANGES, ENTROPIES,
    EVENER, MEDIANS, MEDIANS_IN_NODES, Medians, PARTS, RANGES, RANGES_IN_NODES, RECORDS, REFUSED,
    SENSITIVE, SITES, Widths,
};
use hedgerow_protocols::horizontal::share::SHARES;
use hedgerow_protocols::vertical::align::COMMON;
use hedgerow_protocols::vertical::{clustering as shared, d2pt};
use hedgerow_smc::order::{self, RUNNING};
use hedgerow_smc::union::ON_THE_WAY;
use hedgerow_smc::{What, align};

use super::ready::Ready;

/// Everything that a run of this study may disclose to a site.
pub(crate) fn disclosures(ready: &Ready) -> Vec<What> {
    if ready.is_vertical() {
        return of_the_same_people(ready);
    }
    let is_clustering = ready.study.algorithm == Algorithm::Clustering;
    let models = &ready.requirement.models;
    let has = |wanted: fn(&Model) -> bool| models.iter().any(wanted);
    let mut all = vec![RECORDS];
    if may_ask_shares(ready) {
        all.push(SHARES);
    }
    if has(|model| {
        !matches!(
            model,
            Model::KAnonymity { .. } | Model::SiteDiversity { .. }
        )
    }) {
        all.push(SENSITIVE);
    }
    if is_clustering {
        of_clusters(ready, &mut all);
    } else {
        of_cuts(ready, &mut all);
    }
    if ready.support().is_some() {
        all.push(SUPPORTED_VALUES);
    } else if has(|model| matches!(model, Model::SiteDiversity { .. })) {
        all.push(SITES);
    }
    if ready.requirement.m.is_some_and(|m| m > 0) {
        all.push(COALITIONS);
    }
    if !is_clustering {
        all.extend([REFUSED, COVERS]);
    }
    all.extend([ALIKE, VALUES]);
    if ready.study.security == Security::Published {
        // What the primitives show on their way, whatever is asked.
        all.extend([RUNNING, ON_THE_WAY]);
        if !is_clustering {
            all.push(order::CANDIDATES);
        }
    }
    all
}

/// Whether a site's `accept.maximum_share` may be asked about: any site may have one, which the others
/// learn when the run begins.
fn may_ask_shares(ready: &Ready) -> bool {
    let sites = ready.study.sites.len();
    sites == 2 || (sites > 2 && ready.study.security == Security::Hardened)
}

/// What a run of sites that hold the same people shows.
fn of_the_same_people(ready: &Ready) -> Vec<What> {
    let mut all = vec![COMMON, align::SIZES, align::OVERLAPS];
    let is_known =
        |model: &Model| matches!(model, Model::KAnonymity { .. } | Model::Closeness { .. });
    let is_asked = !ready.requirement.models.iter().all(is_known);
    if ready.study.algorithm == Algorithm::Clustering {
        if is_asked {
            all.push(shared::MEETS);
        }
        let is_sensitive = |model: &Model| !matches!(model, Model::KAnonymity { .. });
        if ready.requirement.models.iter().any(is_sensitive) {
            all.push(shared::DEALT);
        }
        if ready.study.clustering.starts > 1 {
            all.push(shared::KEPT);
        }
        all.extend([
            shared::RANDOM,
            shared::COSTS,
            shared::MOVES,
            shared::UNIONS,
            shared::HOLDS,
            shared::ENDS,
            shared::CELLS,
            shared::VALUES,
        ]);
    } else {
        if is_asked {
            all.push(d2pt::MEETS);
        }
        let settings = &ready.study.d2pt;
        all.push(d2pt::CLASSES);
        if settings.synchronizer == Synchronizer::Dpp2ga {
            all.push(d2pt::CUTS);
        } else if ready.has_site_without_quasi() {
            all.push(d2pt::GROUPS);
        }
        all.extend([d2pt::OWN_GROUPS, d2pt::HOLDS, d2pt::REFUSED, d2pt::JOINED]);
        all.push(match settings.restore {
            true => d2pt::RESTORED,
            false => d2pt::CELLS,
        });
        all.push(d2pt::VALUES);
    }
    if ready.study.security == Security::Published {
        all.extend([RUNNING, ON_THE_WAY]);
    }
    all
}

/// What top-down cuts show.
fn of_cuts(ready: &Ready, all: &mut Vec<What>) {
    let plan = ready.plan();
    let is_coarsened = plan.quasi.iter().any(|quasi| quasi.is_coarsened);
    all.push(if is_coarsened {
        RANGES_IN_NODES
    } else {
        RANGES
    });
    match plan.choice {
        Choice::Width if is_coarsened => all.extend([MEDIANS_IN_NODES, PARTS]),
        Choice::Width => all.extend([MEDIANS, PARTS]),
        Choice::Diversity { .. } => all.extend([
            ALL_MEDIANS,
            CANDIDATES,
            match ready.study.security {
                Security::Published => ENTROPIES,
                Security::Hardened => EVENER,
            },
        ]),
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
}

/// What sequential clustering shows. The generalized records of the release are the last closures.
fn of_clusters(ready: &Ready, all: &mut Vec<What>) {
    match ready.study.clustering.loss {
        Loss::Ncp => all.push(OCCURRING_VALUES),
        Loss::Lm => {}
        Loss::Em => all.push(VALUE_COUNTS),
    }
    all.extend([
        CLUSTER_SIZES,
        CLUSTER_CLOSURES,
        ASKED_CLUSTERS,
        CLOSURES_WITHOUT_RECORD,
    ]);
    if ready.is_refined() {
        all.extend([SAVINGS_IN_NARROWER_CLUSTERS, TRIED_CLUSTERS]);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::super::opened::Opened;
    use super::*;

    /// What a vertical study of this kind may disclose.
    pub(crate) fn disclosed_vertically(security: &str, algorithm: &str) -> Vec<What> {
        of_study(&format!(
            r#"[study]
name = "s"
partition = "vertical"
security = "{security}"
[[site]]
name = "clinic"
columns = ["age"]
[[site]]
name = "laboratory"
columns = ["disease"]
[[attribute]]
name = "number"
role = "identifier"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "ulcer"]
[require]
k = 2
l = 2
[algorithm]
{algorithm}
"#
        ))
    }

    /// What a horizontal study of this kind may disclose.
    pub(crate) fn disclosed(security: &str, algorithm: &str) -> Vec<What> {
        disclosed_under("site_diversity = 2\nm = 1", security, algorithm)
    }

    /// The same where the requirement says this too.
    pub(crate) fn disclosed_under(require: &str, security: &str, algorithm: &str) -> Vec<What> {
        of_study(&format!(
            r#"[study]
name = "s"
partition = "horizontal"
security = "{security}"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "ulcer"]
[require]
k = 2
{require}
[algorithm]
{algorithm}
"#
        ))
    }

    fn of_study(study: &str) -> Vec<What> {
        let opened = Opened::parse(study.to_owned(), Path::new(""));
        match opened.and_then(|opened| Ready::new(Arc::new(opened), Some(3))) {
            Ok(ready) => disclosures(&ready),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn sites_of_the_same_people_show_what_their_settings_say() {
        let of = |algorithm: &str| disclosed_vertically("hardened", algorithm);
        let merge = of("name = \"d2pt\"");
        for what in [
            COMMON,
            d2pt::CLASSES,
            d2pt::GROUPS,
            d2pt::OWN_GROUPS,
            d2pt::CELLS,
            d2pt::MEETS,
        ] {
            assert!(merge.contains(&what), "{}", what.name());
        }
        for what in [d2pt::CUTS, d2pt::RESTORED, RECORDS] {
            assert!(!merge.contains(&what), "{}", what.name());
        }
        let cuts = of("synchronizer = \"dpp2ga\"\nrestore = true");
        assert!(cuts.contains(&d2pt::CUTS) && cuts.contains(&d2pt::OWN_GROUPS));
        assert!(cuts.contains(&d2pt::RESTORED));
        assert!(!cuts.contains(&d2pt::GROUPS) && !cuts.contains(&d2pt::CELLS));
        let clusters = of("name = \"clustering\"");
        assert!(clusters.contains(&shared::COSTS) && !clusters.contains(&shared::KEPT));
        assert!(of("name = \"clustering\"\nstarts = 2").contains(&shared::KEPT));
    }

    /// By taxonomy, clusters are written so that enough sites support them; cuts ask every class.
    pub(crate) const BY_TAXONOMY: &str = "site_diversity = { at_least = 2, kind = \"taxonomy\" }";

    #[test]
    fn site_diversity_by_taxonomy_shows_what_is_supported() {
        let clusters = disclosed_under(BY_TAXONOMY, "hardened", "name = \"clustering\"");
        assert!(clusters.contains(&SUPPORTED_VALUES) && !clusters.contains(&SITES));
        let colluders = format!("{BY_TAXONOMY}\nm = 1");
        for (require, algorithm) in [(BY_TAXONOMY, "mondrian"), (&colluders, "clustering")] {
            let algorithm = format!("name = \"{algorithm}\"");
            let all = disclosed_under(require, "hardened", &algorithm);
            assert!(!all.contains(&SUPPORTED_VALUES) && all.contains(&SITES));
        }
    }

    #[test]
    fn clusters_show_what_their_settings_say() {
        let clustering = |security, settings: &str| {
            disclosed(security, &format!("name = \"clustering\"\n{settings}"))
        };
        let of_losses = [
            ("", [true, false]),
            ("loss = \"lm\"", [false, false]),
            ("loss = \"em\"", [false, true]),
        ];
        for (loss, expected) in of_losses {
            let all = clustering("hardened", loss);
            assert_eq!(
                [OCCURRING_VALUES, VALUE_COUNTS].map(|what| all.contains(&what)),
                expected
            );
            for what in [
                RECORDS,
                CLUSTER_SIZES,
                CLUSTER_CLOSURES,
                SITES,
                COALITIONS,
                ALIKE,
                VALUES,
            ] {
                assert!(all.contains(&what), "{}", what.name());
            }
            for what in [COVERS, REFUSED, MEDIANS, RUNNING] {
                assert!(!all.contains(&what), "{}", what.name());
            }
            assert!(all.contains(&SAVINGS_IN_NARROWER_CLUSTERS) && all.contains(&TRIED_CLUSTERS));
        }
        for (security, settings) in [("hardened", "finish = false"), ("published", "")] {
            let all = clustering(security, settings);
            assert!(
                !all.contains(&SAVINGS_IN_NARROWER_CLUSTERS) && !all.contains(&TRIED_CLUSTERS),
                "{security}"
            );
        }
    }
}
