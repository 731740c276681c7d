//! What a study writes for its choices.

use hedgerow_data::Role;
use hedgerow_data::study::{Algorithm, Partition, Security};

/// The word for how records are spread over sites.
pub(crate) const fn partition(partition: Partition) -> &'static str {
    match partition {
        Partition::Horizontal => "horizontal",
        Partition::Vertical => "vertical",
    }
}

/// The word for a security level.
pub(crate) const fn security(security: Security) -> &'static str {
    match security {
        Security::Published => "published",
        Security::Hardened => "hardened",
    }
}

/// The word for an algorithm.
pub(crate) const fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Mondrian => "mondrian",
        Algorithm::Clustering => "clustering",
        Algorithm::ProviderAware => "provider-aware",
        Algorithm::D2pt => "d2pt",
    }
}

/// The word for a role.
pub(crate) const fn role(role: Role) -> &'static str {
    match role {
        Role::Quasi => "quasi",
        Role::Sensitive => "sensitive",
        Role::Identifier => "identifier",
        Role::Other => "other",
    }
}
