//! Union of multisets, without telling whose items are whose.
//!
//! `published`: JX08 Algorithm 5: a leader found by the secure maximum adds random items, the
//! list goes once around the ring that was drawn for the run, the leader takes them out again; or the
//! naive union of section 5.1, which is the baseline. [`loss`] has the paper's
//! bounds on the loss of privacy and the numbers of random items that keep them. How many random
//! items there are is public, so the length of the list tells its successor who leads: the bound
//! that holds is equation 4 (a known leader), not equation 5.
//! `hardened`: mixing (Chaum 1981; Brickell and Shmatikov, KDD 2006): items travel under a layer
//! for each site; every site takes its layer off and shuffles. All items have one width, and every
//! site sends as many as the agreed capacity, so that neither length nor number tells anything.
//!
//! Guarantee of mixing: ownership is hidden from any m - 2 colluding sites; m - 1 colluding sites
//! know the last one's items by subtraction, in any protocol.
//!
//! # Discloses
//! The items of the union, in their own order, to all sites; at the published level also the
//! lists on their way to the successor on the ring.

pub mod loss;
mod mixing;
mod published;
mod rows;

use crate::error::{Error, OwnData, check_capacity};
use crate::ideal;
use crate::ledger::{Sealed, To, What};
use crate::order::RUNNING;
use crate::party::{Engine, Party};
use crate::random::Generator;
use crate::settings::Uniting;
use crate::wire::Primitive;

/// In the ledger of every union of two sites.
const TWO_SITES: &str = "with two sites an item that is not one's own is the other's";
/// The items that the ring shows on its way.
pub const ON_THE_WAY: What = What::new(
    "items on their way around the ring",
    "JX08 equation 4: the list's length tells who leads",
);

/// What is public about the items of a union.
pub struct Items<'d> {
    /// Bytes of every item.
    pub width: usize,
    /// The greatest number of items that one site may have.
    pub capacity: usize,
    /// How many items the domain has: m of JX08's bounds.
    pub domain: f64,
    /// Draws a random item of the domain, for the published level.
    pub decoy: &'d (dyn Fn(&mut Generator) -> Vec<u8> + Sync),
}

impl Party {
    /// Replaces `items` by the union of all sites' items, repeated ones kept, in their own order.
    pub async fn union(
        &mut self,
        what: What,
        shape: &Items<'_>,
        items: &mut Vec<Vec<u8>>,
    ) -> Result<(), Error> {
        self.calls += 1;
        if let Some(index) = items.iter().position(|item| item.len() != shape.width) {
            return Err(Error::OwnData(OwnData::Width { index }));
        }
        if items.len() > shape.capacity {
            let (found, capacity) = (items.len(), shape.capacity);
            return Err(Error::OwnData(OwnData::AboveCapacity { found, capacity }));
        }
        if self.sites == 1 {
            items.sort_unstable();
            return Ok(());
        }
        let layers = self.sites * mixing::LAYER + 1;
        let bytes = shape.width.checked_add(layers);
        check_capacity(self.sites, shape.capacity, self.settings.decoys, bytes)?;
        let published = self.is_published() && matches!(self.engine, Engine::Joined(_));
        let on_the_way: &[What] = match (published, self.settings.union) {
            (true, Uniting::Secure) => &[RUNNING, ON_THE_WAY],
            (true, Uniting::Naive) => &[ON_THE_WAY],
            (false, _) => &[],
        };
        let asked = self
            .asking(what, on_the_way)?
            .word(shape.width as u64)
            .word(shape.capacity as u64)
            .finish();
        let own = std::mem::take(items);
        let united = if published {
            let mut seen = None;
            let united = self.union_on_a_ring(asked, shape, own, &mut seen).await;
            // What a site saw is entered, even where the union failed later.
            if let Some(seen) = seen {
                let (by, to) = (Primitive::Union, To::Successor);
                self.open(ON_THE_WAY, by, to, None, Sealed::new(seen));
            }
            united?
        } else {
            match &mut self.engine {
                Engine::Alone => own,
                Engine::Ideal(chair) => chair
                    .ask(Primitive::Union, asked, own, ideal::union)
                    .await?
                    .to_vec(),
                Engine::Joined(joined) => {
                    joined.link.begin(Primitive::Union, asked)?;
                    joined.mix(&mut self.generator, shape, own).await?
                }
            }
        };
        if let Engine::Joined(joined) = &mut self.engine {
            joined.link.opened(&united.concat());
        }
        let caveat = (self.sites == 2).then_some(TWO_SITES);
        *items = self.open(what, Primitive::Union, To::All, caveat, Sealed::new(united));
        Ok(())
    }
}
