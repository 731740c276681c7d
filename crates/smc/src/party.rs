//! A site's seat in a run: who I am, who the others are, randomness, network, ledger.
//!
//! Every algorithm is written once, against [`Party`]; a centralized run is the same code with a
//! party of one ([`Party::alone`]), whose calls return at once: no copies, no masks, no
//! allocation, no entry in the ledger, since nobody learns anything. [`crate::ideal`] gives
//! parties that ask a trusted third instead of each other, for tests.
//!
//! Joining lets every two sites have a key, once per run: first every site sends a hash of its
//! fresh public keys, then the keys: two rounds of a mesh, or three with two sites, which also prepare
//! their oblivious transfers; five of a star, in which sites also see that the hub changed no key. The public keys of all sites together give the run's public randomness, from
//! which three sites with roles are drawn; the hashes keep the last to speak from choosing its keys, and
//! with them the roles, after it has seen the others' (Blum 1983). The last site can still refuse to go
//! on, which ends the run for all to see.
//!
//! Guarantee: semi-honest, as in the papers; see each primitive for what colluding sites learn.
//!
//! # Discloses
//! Nothing: fresh public keys.

use std::sync::Arc;

use crate::asked::Asking;
use crate::error::{Error, MAXIMUM_SITES, OwnConfig};
use crate::exposure::Witness;
use crate::ideal::Chair;
use crate::ledger::{
    Allowed, Begun, Disclosure, Ledger, Origin, Sealed, To, Values, Watcher, What,
};
use crate::link::{Link, Traffic, Transcript};
use crate::network::{Network, Site};
use crate::pairs::Pairs;
use crate::random::{Agreement, Generator, Keystream, PairKey, Purpose, Seed};
use crate::settings::{Security, Settings};
use crate::transfer::Transfer;
use crate::wire::Primitive;

/// A site's seat in a run.
pub struct Party {
    pub(crate) me: Site,
    pub(crate) sites: usize,
    pub(crate) settings: Settings,
    pub(crate) generator: Generator,
    /// The generator for what protocols draw.
    drawn: Generator,
    pub(crate) ledger: Ledger,
    pub(crate) engine: Engine,
    pub(crate) calls: u64,
    /// What was held and seen in JX08's calls, where a simulation asks for it.
    pub(crate) witness: Option<Witness>,
    /// The disclosures that are allowed; all where this is not set.
    allowed: Option<Allowed>,
    /// The most records of a joint table.
    pub(crate) most_records: u64,
}

/// What answers a party's questions.
pub(crate) enum Engine {
    /// The party answers itself: a party of one.
    Alone,
    /// A trusted third answers.
    Ideal(Chair),
    /// The sites answer together.
    Joined(Box<Joined>),
}

/// What a site shares with its peers during a run.
pub(crate) struct Joined {
    pub(crate) me: Site,
    pub(crate) sites: usize,
    pub(crate) link: Link,
    pub(crate) pairs: Pairs,
    /// The sites with which this site shares masks.
    pub(crate) masked_with: Vec<Site>,
    /// The run's public randomness.
    pub(crate) session: [u8; 32],
    /// All sites in an order drawn from the public randomness, for roles.
    pub(crate) order: Vec<Site>,
    /// All sites in the order of the ring on which JX08's protocols go around.
    pub(crate) ring: Vec<Site>,
    /// The key agreement for the layers of the mixing union.
    pub(crate) mixing: Arc<Agreement>,
    pub(crate) mixing_publics: Vec<[u8; 32]>,
    /// With two sites: oblivious transfers from site 0 to site 1.
    pub(crate) transfer: Option<Arc<Transfer>>,
}

/// Everything that a site needs to take its place in a run.
pub struct Seat {
    /// This site.
    pub me: Site,
    /// The number of sites.
    pub sites: usize,
    /// What the sites agreed on.
    pub settings: Settings,
    /// The seed from which all own randomness follows.
    pub seed: Seed,
    /// A hash of what the run is of and what sites said before it, the same at every site. A word of it
    /// is in every frame.
    pub context: [u8; 32],
    /// The lines to the others.
    pub network: Box<dyn Network>,
}

impl Party {
    /// A party of one: the centralized run.
    pub fn alone(settings: Settings, seed: &Seed) -> Self {
        Self {
            me: Site::new(0),
            sites: 1,
            settings,
            generator: Generator::new(seed),
            drawn: Generator::new(&seed.derive("hedgerow what protocols draw v1", 0)),
            ledger: Ledger::new(
                Origin {
                    security: settings.security,
                    sites: 1,
                    site: Site::new(0),
                    session: [0; 32],
                },
                None,
            ),
            engine: Engine::Alone,
            calls: 0,
            witness: None,
            allowed: None,
            most_records: u64::MAX,
        }
    }

    /// A party whose questions a trusted third answers; see [`crate::ideal`].
    pub fn ideal(chair: Chair, settings: Settings, seed: &Seed) -> Self {
        let (me, sites) = (chair.me(), chair.sites());
        let engine = if sites == 1 {
            Engine::Alone
        } else {
            Engine::Ideal(chair)
        };
        let origin = Origin {
            security: settings.security,
            sites,
            site: me,
            session: [0; 32],
        };
        Self {
            me,
            sites,
            engine,
            ledger: Ledger::new(origin, None),
            ..Self::alone(settings, seed)
        }
    }

    /// Takes a seat: agrees on keys with all other sites.
    pub async fn join(seat: Seat) -> Result<Self, Error> {
        let Seat {
            me,
            sites,
            settings,
            seed,
            context,
            network,
        } = seat;
        if sites > MAXIMUM_SITES {
            return Err(Error::OwnConfig(OwnConfig::Sites { found: sites }));
        }
        if me.index() >= sites {
            return Err(Error::OwnConfig(OwnConfig::NoSuchSite { site: me }));
        }
        if settings.hub.index() >= sites {
            let site = settings.hub;
            return Err(Error::OwnConfig(OwnConfig::NoSuchSite { site }));
        }
        let mut party = Self::alone(settings, &seed);
        if sites > 1 {
            let link = Link::new(network, me, sites, context);
            party.generator.follow(link.heard());
            let joined = Joined::agree(link, me, sites, &settings, &mut party.generator).await?;
            let origin = Origin {
                security: settings.security,
                sites,
                site: me,
                session: joined.session,
            };
            let roles = (sites > 2).then(|| joined.roles().sites());
            party.ledger = Ledger::new(origin, roles);
            party.engine = Engine::Joined(Box::new(joined));
        }
        Ok(Self { me, sites, ..party })
    }

    /// This site.
    pub const fn me(&self) -> Site {
        self.me
    }

    /// How many sites there are.
    pub const fn sites(&self) -> usize {
        self.sites
    }

    /// What the sites agreed on.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// This site's own randomness for what a protocol draws and then sends under masks. The randomness
    /// follows from the seed alone: after the same answers a site draws the same numbers, so whatever
    /// goes under one mask twice is the same twice.
    pub const fn generator(&mut self) -> &mut Generator {
        &mut self.drawn
    }

    /// What was disclosed to this site, and by it.
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Has the ledger write down values too, from now on. For tests: a ledger that leaves the site must
    /// not hold values.
    pub const fn keep_values(&mut self) {
        self.ledger.keep_values();
    }

    /// Has a watcher told of every entry of the ledger from now on, when the entry is made and when it
    /// changes.
    pub fn watch_ledger(&mut self, watcher: Arc<Watcher>) {
        self.ledger.watch(watcher);
    }

    /// Refuses, from now on, every call with another disclosure: before anything of the call is sent,
    /// with the caller's values unchanged.
    pub fn allow_only(&mut self, allowed: Allowed) {
        self.allowed = Some(allowed);
    }

    /// Names values that earlier calls opened a second time: what a protocol finds afterwards to be
    /// more than their first name allows. Nothing is sent.
    pub fn note(&mut self, what: What, values: &[u64]) -> Result<(), Error> {
        self.note_to(To::All, what, values)
    }

    /// Enters what earlier calls tell each site about its own records, together with what the site
    /// holds.
    pub fn note_own(&mut self, what: What, values: &[u64]) -> Result<(), Error> {
        self.note_to(To::Owner, what, values)
    }

    fn note_to(&mut self, to: To, what: What, values: &[u64]) -> Result<(), Error> {
        if self.sites > 1 {
            self.permit(what)?;
            let mut values = values.to_vec();
            let answer = Sealed::new(values.as_mut_slice());
            self.open(what, Primitive::Sum, to, None, answer);
        }
        Ok(())
    }

    /// Begins the question of a call with this disclosure, and these on its way, if all of them are
    /// allowed. No call can be put on the line without its question.
    pub(crate) fn asking(&self, what: What, on_the_way: &[What]) -> Result<Asking, Error> {
        self.permit(what)?;
        on_the_way.iter().try_for_each(|what| self.permit(*what))?;
        Ok(Asking::new(what))
    }

    fn permit(&self, what: What) -> Result<(), Error> {
        let allowed = self.allowed.as_ref();
        allowed.map_or(Ok(()), |allowed| allowed.permit(what))
    }

    /// How many questions were asked.
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    /// The traffic that this site sent; `None` for a party that sends nothing.
    pub fn traffic(&self) -> Option<&Traffic> {
        match &self.engine {
            Engine::Joined(joined) => Some(joined.link.traffic()),
            Engine::Alone | Engine::Ideal(_) => None,
        }
    }

    /// Hashes of what this site sent, received and saw opened so far; `None` for a party that sends
    /// nothing.
    pub fn transcript(&self) -> Option<&Transcript> {
        match &self.engine {
            Engine::Joined(joined) => Some(joined.link.transcript()),
            Engine::Alone | Engine::Ideal(_) => None,
        }
    }

    /// The three sites with roles in this run's comparisons: no two of them may collude. `None` with
    /// fewer than three sites, which have no roles.
    pub fn roles(&self) -> Option<[Site; 3]> {
        match &self.engine {
            Engine::Joined(joined) if self.sites > 2 => Some(joined.roles().sites()),
            Engine::Joined(_) | Engine::Alone | Engine::Ideal(_) => None,
        }
    }

    /// All sites in the order of the ring on which JX08's protocols go around at the published level,
    /// drawn for the run: the first starts. `None` for a party that sends nothing.
    pub fn ring(&self) -> Option<&[Site]> {
        match &self.engine {
            Engine::Joined(joined) => Some(&joined.ring),
            Engine::Alone | Engine::Ideal(_) => None,
        }
    }

    /// Has this party write down what it holds and what it sees pass by in the calls of JX08's extremes
    /// and unions. For simulations: no site of a real run has what all sites wrote down, and
    /// [`crate::exposure`] needs that.
    pub fn keep_witness(&mut self) {
        if let Engine::Joined(joined) = &self.engine {
            self.witness = Some(Witness::of(joined.drawn().previous));
        }
    }

    /// What this party wrote down since [`Party::keep_witness`].
    pub const fn take_witness(&mut self) -> Option<Witness> {
        self.witness.take()
    }

    /// Opens an answer and writes it into the ledger.
    pub(crate) fn open<T: Values>(
        &mut self,
        what: What,
        by: Primitive,
        to: To,
        caveat: Option<&'static str>,
        answer: Sealed<T>,
    ) -> T {
        self.ledger.open(
            Disclosure {
                what,
                by,
                to,
                caveat,
            },
            answer,
        )
    }

    /// Enters a search before its first step opens anything; [`Ledger::finish`] completes the entry.
    pub(crate) fn begin(
        &mut self,
        what: What,
        by: Primitive,
        caveat: Option<&'static str>,
        values: usize,
    ) -> Begun {
        let disclosure = Disclosure {
            what,
            by,
            to: To::All,
            caveat,
        };
        self.ledger.begin(disclosure, values)
    }

    pub(crate) fn is_published(&self) -> bool {
        self.settings.security == Security::Published
    }
}

impl Joined {
    /// Three sites for the roles of a comparison, drawn from the run's public randomness.
    pub(crate) fn roles(&self) -> Roles {
        Roles::of(&self.order)
    }

    /// The roles in a comparison of a sum that leaves these sites out, in a run of four sites or more
    /// that spreads roles; [`crate::compare`] gives the reasons.
    pub(crate) fn roles_without(&self, without: &[Site]) -> Roles {
        let order = &self.order;
        let sites = order.len();
        let place = |site: Site| order.iter().position(|other| *other == site).unwrap_or(0);
        let mut gone: Vec<usize> = without.iter().map(|site| place(*site)).collect();
        gone.sort_unstable();
        let places = match gone[..] {
            [] => [0, 1, 2],
            [one] if sites == 4 => [one, (one / 2 * 2 + 2) % 4, (one / 2 * 2 + 3) % 4],
            [one] => [one, (one + 1) % sites, (one + 2) % sites],
            [one, two] => {
                let others: Vec<usize> = (0..sites).filter(|place| !gone.contains(place)).collect();
                // With four sites or more, other sites are left.
                [one, two, others[(one + two) % others.len()]]
            }
            [one, two, three, ..] => [one, two, three],
        };
        Roles::of(&places.map(|place| order[place]))
    }

    /// The stream that this site shares with a peer for one purpose of the call.
    pub(crate) fn stream(&self, peer: Site, purpose: Purpose) -> Keystream {
        self.pair(peer).stream(purpose, &self.link.bound(), 0)
    }

    /// The other sites.
    pub(crate) fn peers(&self) -> impl Iterator<Item = Site> + use<> {
        let me = self.me;
        Site::all(self.sites).filter(move |&peer| peer != me)
    }

    /// The key shared with a peer.
    pub(crate) fn pair(&self, peer: Site) -> &PairKey {
        self.pairs.with(peer)
    }
}

/// Three sites that must not collude pairwise while a sum is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Roles {
    /// The site that holds the masked sum of all sites but the keeper.
    pub(crate) holder: Site,
    /// The site that keeps its own masked summand apart from the holder's sum.
    pub(crate) keeper: Site,
    /// The site that compares through the affine map, or deals the keys of a comparison.
    pub(crate) judge: Site,
}

impl Roles {
    /// The first three of some sites.
    fn of(order: &[Site]) -> Self {
        Self {
            holder: order[0],
            keeper: order[1],
            judge: order[2],
        }
    }

    /// Whether a site holds a share of the sum: the holder or the keeper.
    pub(crate) fn hold_shares(self, site: Site) -> bool {
        site == self.holder || site == self.keeper
    }

    pub(crate) const fn sites(self) -> [Site; 3] {
        [self.holder, self.keeper, self.judge]
    }
}
