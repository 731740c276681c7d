//! How it is asked whether classes withstand colluders, as `[algorithm]` of a study says.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_smc::{RoleChoice, Security};

/// The keys of `[algorithm]` that speak of colluders.
pub(crate) const COLLUDER_KEYS: [&str; 2] = ["verification", "contributors"];

/// How it is asked whether classes withstand colluders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Colluders {
    /// In which order coalitions are looked at (MPRIV section III.B), where the study says so.
    pub verification: Option<Strategy>,
    /// Whether sites say of which classes they have records, so that only coalitions of those are looked
    /// at: n_G instead of n.
    pub contributors: bool,
}

impl Colluders {
    /// Spread roles are those of comparisons that leave a coalition out, so coalitions are asked about
    /// where the study says nothing else.
    pub(crate) fn with_roles(mut self, security: Security, roles: RoleChoice) -> Self {
        if (security, roles) == (Security::Hardened, RoleChoice::Spread) {
            self.verification = self.verification.or(Some(Strategy::Direct));
        }
        self
    }

    /// Reads the keys of `[algorithm]` that speak of colluders.
    pub(crate) fn read(section: &Section<'_>, security: Security) -> Result<Self, DocumentError> {
        let verification = section.word("verification", &Strategy::NAMES)?;
        if let (Some(strategy), Security::Hardened) = (verification, security) {
            let is_asked_at_once = matches!(strategy, Strategy::Direct | Strategy::Exact);
            if !is_asked_at_once {
                let message = format!(
                    "`algorithm.verification` is \"{}\", which asks about coalitions in turn, so that rounds and what is shown follow from the answers\nhint: take \"exact\" or \"direct\", or security = \"published\"",
                    strategy.name()
                );
                return Err(section.wrong("verification", message));
            }
        }
        Ok(Self {
            verification,
            contributors: section.boolean("contributors")?.unwrap_or(false),
        })
    }

    /// The strategy at a level.
    pub(crate) fn strategy(self, security: Security) -> Strategy {
        self.verification.unwrap_or(match security {
            // Sums instead of coalitions; where those are asked about, all at once: the fewest rounds.
            Security::Hardened => Strategy::Exact,
            Security::Published => Strategy::Adaptive,
        })
    }
}
