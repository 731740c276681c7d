//! Studies to begin with: sound as they are, and to be changed.

/// A study to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Draft {
    /// Sites hold different people with the same columns.
    Horizontal,
    /// Sites hold different columns of the same people.
    Vertical,
}

impl Draft {
    pub(in crate::study) const fn text(self) -> &'static str {
        match self {
            Self::Horizontal => HORIZONTAL,
            Self::Vertical => VERTICAL,
        }
    }
}

const HORIZONTAL: &str = r#"# What all sites agree to. Every site signs this file and the files it names, byte for byte.
[study]
name = "my-study"
partition = "horizontal"            # different people, same columns

# One for each site, in an order that all agree on.
# [[site]]
# name = "north"
# address = "north.example.org:7401"
# key = "ed25519:..."               # as hedgerow keygen prints it

# One for each column. Quasi-identifiers are what others may know about a person.
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 120]

[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]

# What every class of the release must satisfy.
[require]
k = 10
l = 2
# m = 1                             # for three sites or more: it holds if one turns on the others

# The known attacks that are tried before a release goes out, each with the share of records that may fall.
# [gate]
# certain = 0.01                    # records of a class with one sensitive value
# below_k_without_one_site = 0      # records of others, fewer than k left when a site takes its own away
"#;

const VERTICAL: &str = r#"# What all sites agree to. Every site signs this file and the files it names, byte for byte.
[study]
name = "my-study"
partition = "vertical"              # the same people, different columns

# One for each site, in an order that all agree on, with the columns that it holds.
[[site]]
name = "clinic"
# address = "clinic.example.org:7401"
# key = "ed25519:..."               # as hedgerow keygen prints it
columns = ["age", "disease"]

[[site]]
name = "insurer"
# address = "insurer.example.org:7401"
# key = "ed25519:..."
columns = ["zip", "tariff"]

# Says who is who. Every site has it, and it is never released.
[[attribute]]
name = "number"
role = "identifier"

# One for each column. Quasi-identifiers are what others may know about a person.
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 119]
widths = [10, 20, 40]

[[attribute]]
name = "zip"
role = "quasi"
values = ["12345", "12346", "12350"]

[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]

[[attribute]]
name = "tariff"
role = "sensitive"
values = ["basic", "full"]

# What makes different ways to write an identifier the same.
[identity]
case = "fold"                       # keep | fold
spaces = "trim"                     # keep | trim | collapse | remove
zeros = "keep"                      # keep | strip: leading ones

# What every group of the release must satisfy.
[require]
k = 10
l = 2

# The known attacks that are tried before a release goes out, each with the share of records that may fall.
# [gate]
# certain = 0.01                    # records of a group with one sensitive value

[algorithm]
name = "d2pt"                       # d2pt | clustering | mondrian
anonymizer = "datafly"              # datafly | optimal
synchronizer = "merge"              # merge | fork | identity | dpp2ga
"#;

#[cfg(test)]
mod tests {
    use crate::Study;

    use super::*;

    #[test]
    fn drafts_are_sound() {
        for draft in [Draft::Horizontal, Draft::Vertical] {
            let study = Study::parse(draft.text(), ".");
            let found = study.and_then(|study| study.discloses());
            assert!(found.is_ok_and(|what| !what.is_empty()), "{draft:?}");
        }
    }
}
