//! What a call discloses: its name, the theorem that allows it, its recipients, and whether this site
//! allows it.

use std::fmt;

use serde::Serialize;

use crate::error::Error;
use crate::network::Site;
use crate::wire::Primitive;

/// The name of a disclosure, and the theorem or rule that allows it. Protocols keep theirs as constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct What {
    name: &'static str,
    allowed_by: &'static str,
}

impl What {
    /// A disclosure by its name in the words of the release, with the theorem that allows it.
    pub const fn new(name: &'static str, allowed_by: &'static str) -> Self {
        Self { name, allowed_by }
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The theorem or the part of the release that allows the disclosure.
    pub const fn allowed_by(&self) -> &'static str {
        self.allowed_by
    }
}

/// The disclosures that a site allows, by name, and the rule that lists them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// The rule, by its name in the site's file.
    pub rule: &'static str,
    /// The names.
    pub names: Vec<String>,
}

impl Allowed {
    /// Refuses what the rule does not list.
    pub(crate) fn permit(&self, what: What) -> Result<(), Error> {
        if self.names.iter().any(|name| name == what.name) {
            return Ok(());
        }
        Err(Error::NotAllowed {
            rule: self.rule,
            what: what.name,
        })
    }
}

/// The recipients of a disclosure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum To {
    /// Every site.
    All,
    /// One site alone.
    Site(Site),
    /// Each site, about its own records only.
    Owner,
    /// The next site on the ring, which sees what passes through.
    Successor,
}

impl fmt::Display for To {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            To::All => formatter.write_str("all"),
            To::Site(site) => site.fmt(formatter),
            To::Owner => formatter.write_str("each about its own"),
            To::Successor => formatter.write_str("successor on the ring"),
        }
    }
}

/// What one call discloses: name, means, recipient, and what the security level cannot hide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Disclosure {
    /// The disclosure's name.
    pub what: What,
    /// The primitive that discloses it.
    pub by: Primitive,
    /// The recipients.
    pub to: To,
    /// What this number of sites or this security level cannot hide, in words.
    pub caveat: Option<&'static str>,
}
