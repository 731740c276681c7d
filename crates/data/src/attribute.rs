//! Attributes: a column's name, its role, its domain, and how a release writes it.

use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use crate::spelling::Spelling;

/// The role of an attribute for privacy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Known from elsewhere and, in combination, identifying: generalized in the release.
    Quasi,
    /// A value that must not be learned about a person: verbatim in the release.
    Sensitive,
    /// Names a person by itself: never in the release.
    Identifier,
    /// Neither: verbatim in the release.
    Other,
}

impl Role {
    /// All roles, by their names in studies.
    pub const NAMES: [(&'static str, Self); 4] = [
        (Self::Quasi.name(), Self::Quasi),
        (Self::Sensitive.name(), Self::Sensitive),
        (Self::Identifier.name(), Self::Identifier),
        (Self::Other.name(), Self::Other),
    ];

    /// The name in studies and manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quasi => "quasi",
            Self::Sensitive => "sensitive",
            Self::Identifier => "identifier",
            Self::Other => "other",
        }
    }
}

/// How a release writes the values that a class covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recode {
    /// A node of the taxonomy; a range for an attribute that has an order but no taxonomy.
    #[default]
    Node,
    /// A range in declared or leaf order.
    Range,
    /// The set of the values that occur.
    Set,
}

impl Recode {
    /// All three recodings, by their names in studies.
    pub const NAMES: [(&'static str, Self); 3] = [
        (Self::Node.name(), Self::Node),
        (Self::Range.name(), Self::Range),
        (Self::Set.name(), Self::Set),
    ];

    /// The name in studies and manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Range => "range",
            Self::Set => "set",
        }
    }
}

/// One column of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The column's name in tables and releases.
    pub name: String,
    /// The attribute's role for privacy.
    pub role: Role,
    /// The attribute's values and their codes.
    pub domain: Domain,
    /// How tables spell the values, where they do not spell them as releases do.
    pub spelling: Spelling,
    /// How a release writes the attribute, where the attribute sets a recoding of its own.
    pub recode: Option<Recode>,
    /// Of an attribute of role `other`: whether it may be published though its values single records
    /// out.
    pub publish_unique: bool,
}

impl Attribute {
    /// The code of a value as tables spell it.
    #[inline]
    pub fn encode(&self, text: &[u8]) -> Option<u32> {
        self.spelling.encode(&self.domain, text)
    }

    /// The code of a cell of a table without a value.
    pub fn missing_code(&self) -> Option<u32> {
        self.spelling.missing_code(&self.domain)
    }

    /// How a release writes this attribute: by its own recoding, or by the study's.
    pub fn recode_or(&self, default: Recode) -> Recode {
        self.recode.unwrap_or(default)
    }
}

/// The columns of a study, in declared order.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    attributes: Vec<Attribute>,
}

impl Schema {
    /// A schema of these attributes. Names are distinct: the study's reader sees to it.
    pub fn new(attributes: Vec<Attribute>) -> Self {
        Self { attributes }
    }

    /// The attributes, in declared order.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Position of the attribute with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.attributes
            .iter()
            .position(|attribute| attribute.name == name)
    }

    /// Positions of the attributes with this role, in declared order.
    pub fn with_role(&self, role: Role) -> Vec<usize> {
        (0..self.attributes.len())
            .filter(|index| self.attributes[*index].role == role)
            .collect()
    }
}
