//! Everything that a run of a study may disclose, known before the run begins and held against a site's
//! rules. The run itself is held to the same rules, call by call, by `Party::allow_only`.

use hedgerow_data::study::Algorithm;
use hedgerow_protocols::horizontal::{assembly, cover, share};
use hedgerow_protocols::vertical::align;
use hedgerow_smc::What;

use super::plan::Draws;
use super::ready::Ready;

/// Everything that a run of this study may disclose to a site: the lists of its protocols, in the order
/// in which these run.
pub(crate) fn disclosures(ready: &Ready) -> Vec<What> {
    // Nothing is drawn before a run.
    let draws = Draws::Simulated(0);
    let is_clustering = ready.study.algorithm == Algorithm::Clustering;
    let security = ready.run.security;
    let mut all = Vec::new();
    if ready.is_vertical() {
        all.extend(align::discloses());
        match ready.study.algorithm {
            Algorithm::Clustering => {
                let seeds = |site| draws.seed(site, 0);
                all.extend(ready.shared_clustering_plan(&seeds).discloses());
            }
            Algorithm::Mondrian => all.extend(ready.shared_cuts_plan().discloses()),
            _ => all.extend(ready.d2pt_plan().discloses()),
        }
    } else {
        all.extend(share::discloses(ready.study.sites.len(), security));
        if is_clustering {
            let seeds = |site, start| draws.seed(site, start);
            all.extend(ready.clustering_plan(&seeds).discloses());
        } else {
            all.extend(ready.plan().discloses(security));
            all.extend(cover::discloses());
        }
        match ready.study.is_virtual() {
            true => all.push(assembly::ALIKE),
            false => all.extend(assembly::discloses()),
        }
        all.extend(security.discloses());
        let of_gate = ready.asked().discloses(security);
        let of_gate = of_gate.into_iter().filter(|what| !all.contains(what));
        let of_gate: Vec<What> = of_gate.collect();
        all.extend(of_gate);
    }
    all
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::sync::Arc;

    use hedgerow_protocols::horizontal::assembly::{ALIKE, VALUES};
    use hedgerow_protocols::horizontal::cover::COVERS;
    use hedgerow_protocols::horizontal::mondrian::RECORDS;
    use hedgerow_protocols::vertical::align::COMMON;
    use hedgerow_smc::order::{CANDIDATES, RUNNING};
    use hedgerow_smc::union::ON_THE_WAY;

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

    /// Under site diversity by taxonomy, clusters are written so that enough sites support them; cuts
    /// ask every class.
    pub(crate) const BY_TAXONOMY: &str = "site_diversity = { at_least = 2, kind = \"taxonomy\" }";

    /// Disclosures before and after classes are found are listed too, and only where the study asks for
    /// them.
    #[test]
    fn everything_around_a_protocol_is_listed() {
        let has = |all: &[What], what: What| all.contains(&what);
        let cuts = disclosed("hardened", "name = \"mondrian\"");
        let clusters = disclosed("hardened", "name = \"clustering\"");
        let people = disclosed_vertically("hardened", "name = \"d2pt\"");
        for all in [&cuts, &clusters] {
            assert!(has(all, ALIKE) && has(all, VALUES) && has(all, RECORDS));
            assert!(!has(all, COMMON) && !has(all, RUNNING));
        }
        assert!(has(&cuts, COVERS) && !has(&clusters, COVERS));
        assert!(has(&people, COMMON) && !has(&people, RECORDS));
        for (algorithm, asks_medians) in [("mondrian", true), ("clustering", false)] {
            let all = disclosed("published", &format!("name = \"{algorithm}\""));
            assert!(has(&all, RUNNING) && has(&all, ON_THE_WAY));
            assert_eq!(has(&all, CANDIDATES), asks_medians);
        }
        // Every line is there once.
        for all in [cuts, clusters, people] {
            let names: BTreeSet<&str> = all.iter().map(What::name).collect();
            assert_eq!(names.len(), all.len());
        }
    }
}
