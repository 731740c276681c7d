//! What may fall before a release is held back: a share for each attack, by the attack's name. `docs/src/attacks.md`
//! argues the defaults.

use crate::attack::Attack;

/// A limit for each attack: the share, beyond the control, that may be at risk. An attack without a limit is
/// told and never fails a release.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    shares: Vec<(Attack, Option<f64>)>,
}

impl Default for Limits {
    /// The defaults.
    fn default() -> Self {
        let share = |attack: &Attack| match attack {
            // A person is subtracted, printed or joined below k, or is not: models promise that nobody is.
            Attack::OneSite | Attack::Newcomers | Attack::Printed => Some(0.0),
            Attack::Order | Attack::Owner | Attack::Certain | Attack::Product => Some(0.01),
            Attack::TwoReleases | Attack::Downcoding => Some(0.01),
            Attack::Membership | Attack::Bayes | Attack::Other => Some(0.05),
            Attack::Skew | Attack::Ends => Some(0.1),
            // That a class is found is what k counts on; sites collude where a study says so.
            Attack::Covering | Attack::TwoSites => None,
        };
        let shares = Attack::ALL.iter().map(|attack| (*attack, share(attack)));
        Self {
            shares: shares.collect(),
        }
    }
}

impl Limits {
    /// The share that may be at risk.
    pub fn of(&self, attack: Attack) -> Option<f64> {
        let found = self.shares.iter().find(|(one, _)| *one == attack);
        found.and_then(|(_, share)| *share)
    }

    /// The same limits with another one for an attack.
    #[must_use]
    pub fn with(mut self, attack: Attack, share: f64) -> Self {
        for (one, limit) in &mut self.shares {
            if *one == attack {
                *limit = Some(share);
            }
        }
        self
    }
}
