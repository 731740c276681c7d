//! What the primitives of a security level show on their way.

use crate::ledger::What;
use crate::order::RUNNING;
use crate::settings::Security;
use crate::union::ON_THE_WAY;

impl Security {
    /// The side disclosures of extremes and unions at a level, whatever is asked. A search for the kth
    /// element shows [more](crate::order::CANDIDATES).
    pub const fn discloses(self) -> &'static [What] {
        match self {
            Self::Published => &[RUNNING, ON_THE_WAY],
            Self::Hardened => &[],
        }
    }
}
