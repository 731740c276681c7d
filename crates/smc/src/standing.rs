//! Sites that stand ready for questions: they agree on keys once, and every question gets a party of its own
//! without a further round.
//!
//! Joining is that of a run (`join`). A [`Branch`] names a question: which site asks, the number that it gives
//! the question, and a hash of what it signed. Everything that a party of its own depends on follows from the
//! keys of the joining and that name, each under a BLAKE3 context of its own: the public randomness, the key of
//! each pair, and this site's seed. So whoever changes a question in any way gets other masks at the sites that
//! heard the change, and sums that do not come out; and no two questions have a mask in common, since a site
//! makes one party for each name: numbers of one asker must increase.
//!
//! Roles and the ring are those of the joining, which nobody could choose. (If they followed from the name,
//! the site that asks could try names until it has the neighbours that it wants.)
//!
//! Guarantee: that of the primitives. A site that learns the keys of one question learns nothing about those
//! of another.
//!
//! # Discloses
//! Nothing: fresh public keys.
//!
//! ```
//! use hedgerow_smc::memory::Simulation;
//! use hedgerow_smc::{Branch, Error, Site, What};
//!
//! const COUNTS: What = What::new("counts", "the question");
//! let run = Simulation::new(3, 42).stand(|standing, line| async move {
//!     let question = Branch { asker: Site::new(1), number: 1, digest: [7; 32] };
//!     let mut party = standing.party(&question, line)?;
//!     let mut own = [party.me().index() as u64 + 1];
//!     party.sum_to(COUNTS, Site::new(1), &mut own).await?;
//!     Ok::<_, Error>(own[0])
//! });
//! assert_eq!(run.traffic.rounds, 1); // besides the joining: one
//! assert_eq!(run.into_values()?, [0, 6, 0]);
//! # Ok::<(), Error>(())
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, OwnConfig};
use crate::ledger::{Ledger, Origin};
use crate::link::Link;
use crate::network::{Network, Site};
use crate::pairs::Pairs;
use crate::party::{Engine, Joined, Party, Seat};
use crate::random::{Agreement, Seed};
use crate::settings::Settings;
use crate::transfer::Transfer;

/// The name of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// The site that asks.
    pub asker: Site,
    /// The number that the asking site gives the question: each greater than the one before.
    pub number: u64,
    /// A hash of everything that is asked.
    pub digest: [u8; 32],
}

/// What a site keeps of a joining, to make parties of.
pub struct Standing {
    me: Site,
    sites: usize,
    settings: Settings,
    seed: Seed,
    keys: Option<Keys>,
    /// For each site, the number of its last question.
    last: Mutex<Vec<Option<u64>>>,
}

/// What several sites agreed on.
struct Keys {
    context: [u8; 32],
    pairs: Pairs,
    masked_with: Vec<Site>,
    session: [u8; 32],
    order: Vec<Site>,
    ring: Vec<Site>,
    mixing: Arc<Agreement>,
    mixing_publics: Vec<[u8; 32]>,
    transfer: Option<Arc<Transfer>>,
}

impl Standing {
    /// Agrees on keys with all other sites.
    pub async fn join(seat: Seat) -> Result<Self, Error> {
        let seed = seat.seed.derive("hedgerow seed of questions v1", 0);
        Ok(Self::of(Party::join(seat).await?, seed))
    }

    fn of(party: Party, seed: Seed) -> Self {
        let (me, sites, settings) = (party.me, party.sites, party.settings);
        let keys = match party.engine {
            Engine::Joined(joined) => Some(Keys {
                context: *joined.link.context(),
                pairs: joined.pairs,
                masked_with: joined.masked_with,
                session: joined.session,
                order: joined.order,
                ring: joined.ring,
                mixing: joined.mixing,
                mixing_publics: joined.mixing_publics,
                transfer: joined.transfer,
            }),
            // One site has nobody to share keys with.
            Engine::Alone | Engine::Ideal(_) => None,
        };
        Self {
            me,
            sites,
            settings,
            seed,
            keys,
            last: Mutex::new(vec![None; sites]),
        }
    }

    /// This site.
    pub const fn me(&self) -> Site {
        self.me
    }

    /// The public randomness of the joining, the same at every site and at no other joining; zeros for one
    /// site.
    pub fn session(&self) -> [u8; 32] {
        self.keys.as_ref().map_or([0; 32], |keys| keys.session)
    }

    /// The party for one question, with lines of its own. A name serves once: the numbers of an asker
    /// increase, and a number that does not is refused.
    pub fn party(&self, of: &Branch, network: Box<dyn Network>) -> Result<Party, Error> {
        self.take(of)?;
        let session = self.session_of(of);
        let mut party = Party::alone(self.settings, &self.seed_of(&session));
        let Some(keys) = &self.keys else {
            return Ok(party);
        };
        let mut link = Link::new(
            network,
            self.me,
            self.sites,
            within("hedgerow context of a question v1", &keys.context, &session),
        );
        link.opened(&session);
        party.generator.follow(link.heard());
        let joined = Joined {
            me: self.me,
            sites: self.sites,
            link,
            pairs: keys.pairs.of_question(session),
            masked_with: keys.masked_with.clone(),
            session,
            order: keys.order.clone(),
            ring: keys.ring.clone(),
            mixing: Arc::clone(&keys.mixing),
            mixing_publics: keys.mixing_publics.clone(),
            transfer: keys.transfer.clone(),
        };
        let origin = Origin {
            security: self.settings.security,
            sites: self.sites,
            site: self.me,
            session,
        };
        let roles = (self.sites > 2).then(|| joined.roles().sites());
        party.ledger = Ledger::new(origin, roles);
        party.engine = Engine::Joined(Box::new(joined));
        party.me = self.me;
        party.sites = self.sites;
        Ok(party)
    }

    /// Uses a name up.
    fn take(&self, of: &Branch) -> Result<(), Error> {
        // A number changes in one step, so a panic elsewhere leaves it whole.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let Branch { asker, number, .. } = *of;
        let last = last
            .get_mut(asker.index())
            .ok_or(Error::OwnConfig(OwnConfig::NoSuchSite { site: asker }))?;
        match *last {
            Some(last) if number <= last => Err(Error::OwnConfig(OwnConfig::Repeated {
                asker,
                number,
                last,
            })),
            _ => {
                *last = Some(number);
                Ok(())
            }
        }
    }

    fn session_of(&self, of: &Branch) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow session of a question v1");
        hasher
            .update(&self.session())
            .update(&(of.asker.index() as u64).to_le_bytes())
            .update(&of.number.to_le_bytes())
            .update(&of.digest);
        *hasher.finalize().as_bytes()
    }

    fn seed_of(&self, session: &[u8; 32]) -> Seed {
        Seed::new(within(
            "hedgerow seed of a question v1",
            self.seed.as_bytes(),
            session,
        ))
    }
}

/// A hash of what the joining gave and what a question's randomness is, for one purpose.
fn within(purpose: &'static str, of_joining: &[u8; 32], session: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(purpose);
    hasher.update(of_joining).update(session);
    let derived = *hasher.finalize().as_bytes();
    zeroize::Zeroize::zeroize(&mut hasher);
    derived
}
