//! A site's seat in a run: network, secure multi-party primitives, and the ledger of what was
//! disclosed.
//!
//! A protocol is `async` code against a [`Party`], written once as the code of one site. It asks
//! questions in the vocabulary of the papers, many per call:
//!
//! | primitive | question | `published` | `hardened` |
//! |---|---|---|---|
//! | [`sum`](Party::sum) | what do our vectors add up to? | TG12 Alg. 1, JX08 §4.2 | pairwise masks, 1 round |
//! | [`all`](Party::all), [`any`](Party::any) | is this bit set everywhere, anywhere? | TG12 Alg. 2 | affine map, 3 rounds |
//! | [`at_least`](Party::at_least) | does our sum reach this? | TG12 §3.2 | comparison function, 3 rounds |
//! | [`any_at_least`](Party::any_at_least) | does one of these sums reach its threshold? | as hardened | comparison function, 4 rounds |
//! | [`greatest`](Party::greatest) | which of us has the greatest number? | as hardened | transfers, or comparison function, 3 or 4 rounds |
//! | [`tell`](Party::tell), [`tell_each`](Party::tell_each) | what does one of us, or each, say to all? | in clear, 1 round | in clear, 1 round |
//! | [`lca`](Party::lca) | where do our nodes meet? | TG12 §4.2 | one `all` |
//! | [`minimum`](Party::minimum), [`maximum`](Party::maximum), [`ranges`](Party::ranges) | between what do our values lie? | JX08 Alg. 3 | search by `any` |
//! | [`kth`](Party::kth) | what is our kth element? | JX08 Alg. 4 | search by `at_least` |
//! | [`union`](Party::union) | what do we hold together? | JX08 Alg. 5 | mixing |
//! | [`rows`](Party::rows) | what are the rows whose columns we hold? | mixing | mixing |
//! | [`align`](Party::align) | which of my records do all hold? | exponentiation cipher | ristretto255 |
//! | [`overlaps`](Party::overlaps) | how do our classes of the same records cut each other? | exponentiation cipher | ristretto255 |
//!
//! Every call names its disclosure ([`What`]); the answer is [`Sealed`] until the [`Ledger`] has the
//! entry. A party of one ([`Party::alone`]) is the centralized run and costs nothing. The trust is that
//! of the papers: sites follow the protocol and are curious about what they see (semi-honest); each
//! module says what colluding sites learn. A peer's bytes are not trusted: whatever it sends, a run ends
//! with an answer or with an error that names the peer, or, where a sum hides who lied, the question
//! whose numbers [do not fit](Party::fit).
//!
//! # Discloses
//! The disclosures that each primitive's module lists, which the ledger writes down.
//!
//! # Papers
//! JX08 is Jurczyk and Xiong, Emory TR-2008-013; JX09 their DBSec 2009 paper; TG12 is Tassa and
//! Gudes, "Secure distributed computation of anonymized views of shared databases" (2012).
//!
//! # Three sites in one process
//!
//! ```
//! use hedgerow_smc::memory::{LinkModel, Simulation};
//! use hedgerow_smc::{Error, What};
//!
//! const SIZES: What = What::new("class sizes", "JX09 Theorem 1");
//! const LARGE: What = What::new("classes of at least k records", "the release");
//!
//! // Records of each class at each site.
//! let sites = [[4, 0, 7], [3, 1, 0], [5, 2, 9]];
//! let run = Simulation::new(3, 42).model(LinkModel::WAN).run(|mut party| async move {
//!     let own = sites[party.me().index()];
//!     let mut large = [false; 3];
//!     party.at_least(LARGE, 100, &own, &[10; 3], &mut large).await?;
//!     let mut sizes = own;
//!     party.sum(SIZES, &mut sizes).await?;
//!     Ok::<_, Error>((large, sizes, party.ledger().to_string()))
//! });
//!
//! assert_eq!(run.traffic.rounds, 2 + 2 + 1); // join, comparison, sum
//! println!("{} bytes, {:?} between institutions", run.traffic.bytes(), run.elapsed);
//! for (large, sizes, ledger) in run.into_values()? {
//!     assert_eq!(large, [true, false, true]);
//!     assert_eq!(sizes, [12, 3, 16]);
//!     assert!(ledger.contains("class sizes"));
//! }
//! # Ok::<(), Error>(())
//! ```

pub mod align;
mod asked;
pub mod bits;
mod block;
pub mod commutative;
pub mod compare;
pub mod cover;
mod draft;
pub mod error;
pub mod exposure;
mod fit;
pub mod greatest;
pub mod ideal;
mod join;
pub mod lca;
pub mod ledger;
pub mod link;
pub mod masking;
pub mod memory;
pub mod network;
pub mod order;
mod pairs;
pub mod party;
pub mod paths;
pub mod random;
mod ring;
pub mod settings;
mod shown;
pub mod standing;
pub mod sum;
mod tell;
mod transfer;
pub mod union;
pub mod wire;

pub use compare::Bounds;
pub use cover::Covers;
pub use error::{Error, MAXIMUM_SITES};
pub use lca::Tree;
pub use ledger::{Allowed, Ledger, Sealed, To, What};
pub use link::Transcript;
pub use network::{Network, Site};
pub use order::Rank;
pub use party::{Party, Seat};
pub use random::{Generator, Seed};
pub use settings::{Difference, RoleChoice, Security, Settings};
pub use standing::{Branch, Standing};
pub use union::Items;
