//! The ledger in plain words: what each of its lines means, and what the rule that allows a disclosure
//! means.

use hedgerow_protocols::horizontal::assembly::{ALIKE, VALUES};
use hedgerow_protocols::horizontal::clustering::{
    ASKED_CLUSTERS, CLOSURES_WITHOUT_RECORD, CLUSTER_CLOSURES, CLUSTER_SIZES, DIVERSE_CLUSTERS,
    LOOKED_AT, OCCURRING_VALUES, SAVINGS_IN_NARROWER_CLUSTERS, SIZES_ALONE, SUPPORTED_VALUES,
    TOUCHED_CLUSTERS, TRIED_CLUSTERS, VALUE_COUNTS,
};
use hedgerow_protocols::horizontal::cover::COVERS;
use hedgerow_protocols::horizontal::mondrian::{
    ALL_MEDIANS, AT_MEDIANS, BETWEEN_SITES, CANDIDATES, COALITIONS, CONTRIBUTORS, DATA_RANGES,
    ENTROPIES, EVENER, MEDIANS, MEDIANS_IN_NODES, PARTS, RANGES, RANGES_IN_NODES, RECORDS, REFUSED,
    SENSITIVE, SITES, SPREAD, WITHSTOOD,
};
use hedgerow_protocols::horizontal::share::SHARES;
use hedgerow_protocols::vertical::{clustering as shared, d2pt, mondrian as cuts};
use hedgerow_smc::What;

use super::same_people::OF_THE_SAME_PEOPLE;
use crate::release::manifest::Disclosed;

/// One line of the ledger.
pub(super) struct Entry {
    pub(super) what: String,
    pub(super) meaning: &'static str,
    pub(super) to: String,
    pub(super) values: u64,
    pub(super) allowed_by: String,
    pub(super) because: &'static str,
    pub(super) caveat: Option<String>,
}

/// What each disclosure is about. Those of the primitives go by their names.
const MEANINGS: [(What, &str); 37] = [
    (RECORDS, "How many records all sites hold together."),
    (
        RANGES,
        "The first and last value of each quasi-identifier that occurs at any site.",
    ),
    (
        RANGES_IN_NODES,
        "The first and last value of each quasi-identifier, in finer steps than the release writes.",
    ),
    (
        SENSITIVE,
        "How often each sensitive value occurs at all sites together.",
    ),
    (MEDIANS, "The values at which classes were cut in two."),
    (
        MEDIANS_IN_NODES,
        "The values at which classes were cut in two, in finer steps than the release writes.",
    ),
    (
        ALL_MEDIANS,
        "The values at which classes could have been cut, for every quasi-identifier.",
    ),
    (
        PARTS,
        "How many records, and how many of each sensitive value, fell on each side of a cut.",
    ),
    (
        CANDIDATES,
        "The same for all cuts among which the best was chosen.",
    ),
    (
        BETWEEN_SITES,
        "Of these, cuts that would have parted some sites' records from the others'.",
    ),
    (
        REFUSED,
        "Of these, cuts that were tried and not made, so that no class of the release shows them.",
    ),
    (
        AT_MEDIANS,
        "How many records lie exactly at a cut, and how many below it.",
    ),
    (
        DATA_RANGES,
        "The first and last value of each quasi-identifier in each class.",
    ),
    (
        SITES,
        "Whether a part holds records of enough sites; not of which.",
    ),
    (
        SPREAD,
        "Whether the records of a part are spread over sites as evenly as demanded; not over which sites, or how.",
    ),
    (
        ENTROPIES,
        "How evenly the records of a part are spread over sites; not over which.",
    ),
    (
        SHARES,
        "For each site, whether it holds more of all records than a site accepts; not how many it has.",
    ),
    (
        EVENER,
        "Of two ways to cut a class, whether one is spread over sites clearly more evenly, and which is the better; not how evenly.",
    ),
    (
        COALITIONS,
        "Whether a part would still satisfy the requirement without the records of some sites.",
    ),
    (
        CONTRIBUTORS,
        "Which sites have records in a part, where the study allows that to be known; not how many.",
    ),
    (
        WITHSTOOD,
        "Whether a part would still satisfy the requirement whichever m sites take their records out, and which of its sensitive values more than m sites have; not which sites.",
    ),
    (
        COVERS,
        "The generalized record of each class, which is published.",
    ),
    (
        ALIKE,
        "Of these, the sizes of classes that readers of the release cannot tell apart.",
    ),
    (
        VALUES,
        "The sensitive and other values of each class, which are published.",
    ),
    (
        OCCURRING_VALUES,
        "Which values of the quasi-identifiers occur at any site.",
    ),
    (
        VALUE_COUNTS,
        "How often each value of a quasi-identifier occurs at all sites together.",
    ),
    (
        CLUSTER_SIZES,
        "How many records, and how many of each sensitive value, are in each cluster on the way to the release.",
    ),
    (
        CLUSTER_CLOSURES,
        "The generalized record of each cluster on the way to the release; the last ones are published.",
    ),
    (
        ASKED_CLUSTERS,
        "Of which clusters a site holds a record that makes them wider, at its turn; not which record.",
    ),
    (
        CLOSURES_WITHOUT_RECORD,
        "What the generalized record of a cluster would be without one of that site's records.",
    ),
    (
        LOOKED_AT,
        "How many records all sites together looked at before they agreed that nothing moves any more.",
    ),
    (
        SIZES_ALONE,
        "How many records are in each cluster on the way to the release.",
    ),
    (
        DIVERSE_CLUSTERS,
        "Whether a cluster satisfies the demands on sensitive values, as it is or would be; not how often a value occurs.",
    ),
    (
        TOUCHED_CLUSTERS,
        "Which clusters would lose or gain a record of the site whose turn it is; not which record.",
    ),
    (
        SUPPORTED_VALUES,
        "Which values of the attributes that may betray a site, and which combinations of them, at least so many sites have; not which sites.",
    ),
    (
        SAVINGS_IN_NARROWER_CLUSTERS,
        "Which narrower clusters enough records of all sites would fit in better, and by how much.",
    ),
    (
        TRIED_CLUSTERS,
        "Sizes, sensitive counts and generalized records of clusters that were tried, kept or not.",
    ),
];

/// Of disclosures that are not named above.
const BY_NAME: [(&str, &str); 3] = [
    (
        "records at or below each candidate of the search",
        "How many records lie at or below each value that a search for a median tried.",
    ),
    (
        "running extremes of each lap",
        "The largest or smallest value so far, with noise, as it went around the ring of sites.",
    ),
    (
        "items on their way around the ring",
        "Values under way from site to site, mixed with made-up ones.",
    ),
];

/// What each theorem or rule means that allows a disclosure.
const REASONS: [(&str, &str); 13] = [
    (
        "accept.maximum_share",
        "A rule of a site before it takes part; it goes beyond the release.",
    ),
    (
        "D2PT Theorem 1",
        "Proven: it says nothing about a person; it goes beyond the release.",
    ),
    (
        "every alignment",
        "People can be found in common only so; it goes beyond the release.",
    ),
    (
        "nothing of the data",
        "It is chance and says nothing about anybody.",
    ),
    (
        "the release",
        "It is published, or follows from what is published.",
    ),
    (
        "JX09 Theorem 1",
        "Proven: whoever has the release and one site's own rows could have computed it.",
    ),
    (
        "JX09 Theorem 2",
        "Proven: with site diversity the protocol shows at most medians, entropies and numbers of sites; this is one of them, or less.",
    ),
    (
        "MPRIV",
        "Part of the published method; it goes beyond the release.",
    ),
    (
        "TG12 Proposition 8.9",
        "Proven: the published method shows sizes and closures of clusters at each turn; these go beyond the release.",
    ),
    (
        "TG12",
        "Part of the published method; it goes beyond the release.",
    ),
    (
        "JX08",
        "Part of the published method; it goes beyond the release.",
    ),
    (
        "JX09",
        "Part of the published method; it goes beyond the release.",
    ),
    (
        "the study",
        "All sites agreed to it when they signed the study; it goes beyond the release.",
    ),
];

/// Disclosures that a theorem is named for but does not cover in full.
const BEYOND: [(What, &str); 7] = [
    (
        cuts::LEFT_PEOPLE,
        "Classes are published, but not who is in them: each site learns the class of each of its own people, as in the published method.",
    ),
    (
        shared::CANDIDATES,
        "The published method asks about all clusters; which clusters are left goes beyond it and beyond the release.",
    ),
    (
        d2pt::CLASS_CUTS,
        "Groups are published, but not who is in them: a site learns the group of each of its own people, and of tries that were refused a finer one than the release has.",
    ),
    (
        d2pt::OWN_GROUPS,
        "Groups are published, but not who is in them: each site learns that of its own people, and of nobody else.",
    ),
    (
        d2pt::GROUPS,
        "Groups are published, but not who is in them: this site learns the group of each of its own people.",
    ),
    (
        REFUSED,
        "The theorem covers classes whose first cut was made; what other tries showed goes beyond it.",
    ),
    (
        CANDIDATES,
        "The theorem names the entropies of possible cuts; the sizes and counts behind them go beyond it.",
    ),
];

/// The papers by the names that the ledger has for them.
const PAPERS: [(&str, &str); 5] = [
    (
        "D2PT",
        "Distributed two-Party t-closeness (D2Pt): t-closeness for data publication among several institutions.",
    ),
    (
        "JX08",
        "P. Jurczyk, L. Xiong: Privacy-Preserving Data Publishing for Horizontally Partitioned Databases, Emory University TR-2008-013.",
    ),
    (
        "JX09",
        "P. Jurczyk, L. Xiong: Distributed Anonymization: Achieving Privacy for Both Data Subjects and Data Providers, DBSec 2009.",
    ),
    (
        "MPRIV",
        "S. Goryczka, L. Xiong, B. C. M. Fung: m-Privacy for Collaborative Data Publishing, 2011.",
    ),
    (
        "TG12",
        "T. Tassa, E. Gudes: Secure Distributed Computation of Anonymized Views of Shared Databases, ACM Transactions on Database Systems 37(2), 2012.",
    ),
];

/// The papers that these lines of a ledger name.
pub(super) fn papers(lines: &[Entry]) -> Vec<(&'static str, &'static str)> {
    let is_named = |paper: &str| lines.iter().any(|line| line.allowed_by.contains(paper));
    PAPERS
        .into_iter()
        .filter(|(name, _)| is_named(name))
        .collect()
}

impl Entry {
    /// A line as the manifest has it, with the names of sites where they are known.
    pub(super) fn of(line: &Disclosed, names: &[String]) -> Self {
        Self {
            meaning: meaning(&line.what),
            to: match line.to.as_str() {
                "all" => String::from("all sites"),
                to => named(to, names).unwrap_or(to.to_owned()),
            },
            values: line.values,
            because: reason(&line.what, &line.allowed_by),
            caveat: line.caveat.clone(),
            what: line.what.clone(),
            allowed_by: line.allowed_by.clone(),
        }
    }
}

/// The name of a site that the ledger gives by its place.
fn named(to: &str, names: &[String]) -> Option<String> {
    let place: usize = to.strip_prefix("site ")?.parse().ok()?;
    Some(format!("site {}", names.get(place)?))
}

fn meaning(what: &str) -> &'static str {
    let named = MEANINGS.iter().chain(&OF_THE_SAME_PEOPLE);
    let named = named.map(|(known, words)| (known.name(), *words));
    let mut all = named.chain(BY_NAME);
    all.find(|(name, _)| *name == what)
        .map_or("", |(_, words)| words)
}

fn reason(what: &str, allowed_by: &str) -> &'static str {
    let beyond = BEYOND.iter().find(|(known, _)| known.name() == what);
    if let Some((_, words)) = beyond {
        return words;
    }
    let found = REASONS
        .iter()
        .find(|(start, _)| allowed_by.starts_with(start));
    found.map_or("", |(_, words)| words)
}

/// What a privacy model protects from, for those who do not know its name.
pub(super) fn protects(key: &str, is_restored: bool) -> &'static str {
    match key {
        "k" if is_restored => {
            "Everybody is one of at least this many people of a group, and nothing says whose a sensitive value of the group is."
        }
        "k" => {
            "Everybody is one of at least this many whom the quasi-identifiers do not tell apart."
        }
        "k_printed" => {
            "Every row of quasi-identifiers is printed like at least this many: who knows a person's finds that many rows."
        }
        "alpha" => "No sensitive value fills more than this share of a class.",
        "l_distinct" => "Every class has at least this many different sensitive values.",
        "l_entropy" => {
            "The sensitive values of a class are as uncertain as this many equally likely ones."
        }
        "l_frequency" => {
            "The most frequent sensitive value of a class has at most one in this many records."
        }
        "l_recursive" => {
            "The most frequent sensitive value is not too frequent beside the rarer ones."
        }
        "t" => {
            "Sensitive values are spread in every class nearly as in the whole table: 0 is the same, 1 as far from it as can be."
        }
        "beta_basic" | "beta_enhanced" => {
            "How much likelier a sensitive value may become for who knows the class."
        }
        "delta" => {
            "How far a sensitive value's share in a class may be from its share in the table; a value that a class lacks is infinitely far."
        }
        "delta_present" => {
            "The same over the values that a class has: it says nothing of those that it lacks."
        }
        "site_diversity" => "Every class has records of at least this many sites.",
        "site_entropy" => {
            "The sites behind the records of a class are as uncertain as this many equally likely ones."
        }
        "site_recursive" => {
            "The site with the most records of a class has not too many of them beside the smaller ones."
        }
        "m" => "All of this holds even if this many sites put together what they know.",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::disclosures_tests::{
        BY_TAXONOMY, disclosed, disclosed_under, disclosed_vertically,
    };

    /// Everything that a run may disclose is said in plain words, and why it is allowed.
    #[test]
    fn every_disclosure_has_words() {
        for (what, _) in MEANINGS.into_iter().chain(OF_THE_SAME_PEOPLE) {
            assert!(!meaning(what.name()).is_empty(), "{}", what.name());
            assert!(
                !reason(what.name(), what.allowed_by()).is_empty(),
                "{}",
                what.allowed_by()
            );
        }
        let vertical = [
            ("hardened", "name = \"d2pt\""),
            ("published", "synchronizer = \"dpp2ga\"\nrestore = true"),
            ("hardened", "name = \"clustering\"\nstarts = 2"),
            ("hardened", "name = \"mondrian\""),
        ];
        for (security, algorithm) in vertical {
            for what in disclosed_vertically(security, algorithm) {
                assert!(!meaning(what.name()).is_empty(), "{}", what.name());
                let reason = reason(what.name(), what.allowed_by());
                assert!(!reason.is_empty(), "{}", what.allowed_by());
            }
        }
        for disclosed in [
            disclosed("published", "name = \"provider-aware\""),
            disclosed("published", "name = \"clustering\""),
            disclosed("hardened", "name = \"clustering\""),
            disclosed_under(BY_TAXONOMY, "hardened", "name = \"clustering\""),
        ] {
            assert!(disclosed.len() > 10, "{}", disclosed.len());
            for what in disclosed {
                assert!(!meaning(what.name()).is_empty(), "{}", what.name());
                assert!(
                    !reason(what.name(), what.allowed_by()).is_empty(),
                    "{}",
                    what.allowed_by()
                );
            }
        }
    }
}
