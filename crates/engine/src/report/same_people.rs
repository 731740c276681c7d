//! The ledger of sites that hold the same people in plain words.

use hedgerow_protocols::vertical::align::COMMON;
use hedgerow_protocols::vertical::{clustering as shared, d2pt, mondrian};
use hedgerow_smc::{What, align};

/// What the disclosures among sites that hold the same people are about.
pub(super) const OF_THE_SAME_PEOPLE: [(What, &str); 35] = [
    (align::SIZES, "How many people each site's table has."),
    (
        align::OVERLAPS,
        "Identifiers under the keys of all sites: how many people which sites share, and nobody's identifier.",
    ),
    (
        COMMON,
        "Which of its own people a site shares with all others, and so how many these are.",
    ),
    (
        d2pt::MET_REQUIREMENT,
        "Whether everybody together would satisfy the requirement.",
    ),
    (
        d2pt::CLASSES,
        "How many people lie in each combination of the sites' first classes; not who.",
    ),
    (
        d2pt::JOINED_CLASSES,
        "Which of its classes a site joined because the sites had found no groups; not what they say.",
    ),
    (
        d2pt::CLASS_CUTS,
        "Who is in one cut with whom: of the groups that the release has, and of cuts that were refused before.",
    ),
    (
        d2pt::GROUPS,
        "To a site that has no quasi-identifiers, the groups of its own people.",
    ),
    (
        d2pt::OWN_GROUPS,
        "To each site, which of its own people are in which group.",
    ),
    (
        d2pt::HOLDING_GROUPS,
        "Whether the groups satisfy the requirement on every site's sensitive attributes.",
    ),
    (
        d2pt::REFUSED_GROUPS,
        "Of these, the sizes of groups that did not, so that the release does not show them.",
    ),
    (
        d2pt::CELLS,
        "The generalized quasi-identifiers of each group, which are published.",
    ),
    (
        d2pt::RESTORED,
        "The original quasi-identifiers inside each group, which are published; not whose they are.",
    ),
    (
        d2pt::VALUES,
        "The sensitive and other values of each group, which are published, each attribute on its own.",
    ),
    (
        shared::MET_REQUIREMENT,
        "Whether everybody together would satisfy the requirement.",
    ),
    (
        shared::RANDOM_WORDS,
        "Chance from which the first clusters and the order of people are drawn.",
    ),
    (
        shared::DEALT_RECORDS,
        "Which clusters people are dealt to at first, so that the values of a sensitive attribute are spread.",
    ),
    (
        shared::LOSS_CHANGES,
        "To the first site, by how much the loss of all sites together would change if somebody moved.",
    ),
    (
        shared::CLUSTER_COSTS,
        "To one site, what a person adds to the loss of each cluster at least, at all sites together.",
    ),
    (
        shared::CANDIDATES,
        "Which clusters a person may still move to, as far as that one site can tell.",
    ),
    (shared::RECORD_MOVES, "Who moves to which cluster."),
    (shared::UNITED_CLUSTERS, "Which clusters became one."),
    (
        shared::HOLDING_PROPOSALS,
        "Whether moves and clusters satisfy the requirement on every site's sensitive attributes.",
    ),
    (shared::LAST_ITERATION, "Whether people go on moving."),
    (shared::BEST_START, "Which of several starts was the best."),
    (
        shared::CELLS,
        "The generalized quasi-identifiers of each cluster, which are published.",
    ),
    (
        shared::VALUES,
        "The sensitive and other values of each cluster, which are published.",
    ),
    (
        mondrian::MET_REQUIREMENT,
        "Whether everybody together would satisfy the requirement.",
    ),
    (
        mondrian::WIDTHS,
        "How many values lie between the least and the greatest of each quasi-identifier, for everybody together.",
    ),
    (
        mondrian::CUTTING_SITES,
        "Which site cuts a class, since its attribute is the widest there; not which attribute, or how wide.",
    ),
    (
        mondrian::LEFT_PEOPLE,
        "Who comes to which part of a class; not what they have in common.",
    ),
    (
        mondrian::HOLDING_PARTS,
        "Whether both parts of a cut satisfy the requirement on every site's sensitive attributes.",
    ),
    (
        mondrian::REFUSED_CUTS,
        "Of these, who would have come to which part in cuts that were not made, so that the release does not show them.",
    ),
    (
        mondrian::CELLS,
        "The generalized quasi-identifiers of each class, which are published.",
    ),
    (
        mondrian::VALUES,
        "The sensitive and other values of each class, which are published.",
    ),
];
