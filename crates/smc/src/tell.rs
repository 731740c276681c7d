//! One site tells all others numbers that all are to know: one message to each, one round.
//!
//! The numbers are for every site, so nothing hides them from a site; what hides them from strangers is
//! the network. Every site enters what it heard among what all have seen opened, so that sites that were
//! told different numbers find out by the next frame.
//!
//! # Discloses
//! The numbers, to all sites.

use crate::draft::Draft;
use crate::error::{Error, OwnConfig};
use crate::ideal;
use crate::ledger::{Sealed, To, What};
use crate::network::Site;
use crate::party::{Engine, Party};
use crate::sum::encode;
use crate::wire::{self, Primitive};

impl Party {
    /// Replaces `values` at every site by the values of the site `teller`. After an error all values
    /// are zero.
    pub async fn tell(
        &mut self,
        what: What,
        teller: Site,
        values: &mut [u64],
    ) -> Result<(), Error> {
        if teller.index() >= self.sites {
            return Err(Error::OwnConfig(OwnConfig::NoSuchSite { site: teller }));
        }
        self.calls += 1;
        if self.sites == 1 {
            return Ok(());
        }
        let asked = self
            .asking(what, &[])?
            .word(values.len() as u64)
            .word(teller.index() as u64)
            .finish();
        if self.me != teller {
            values.fill(0);
        }
        let sealed = match &mut self.engine {
            Engine::Alone => Sealed::new(values),
            Engine::Ideal(chair) => {
                let told = chair.ask(Primitive::Tell, asked, values.to_vec(), ideal::sum);
                values.copy_from_slice(&told.await?);
                Sealed::new(values)
            }
            Engine::Joined(joined) => {
                joined.link.begin(Primitive::Tell, asked)?;
                let mut draft = Draft::new(values);
                if joined.me == teller {
                    joined.link.broadcast(&encode(&draft))?;
                } else {
                    let message = joined.link.receive(teller, draft.len() * 8).await?;
                    let words = wire::unpack(&message, draft.len(), 8);
                    let words = words.map_err(|source| joined.link.invalid(teller, source))?;
                    draft
                        .iter_mut()
                        .zip(words)
                        .for_each(|(value, word)| *value = word);
                }
                joined.link.opened_words(&draft);
                draft.seal()
            }
        };
        self.open(what, Primitive::Tell, To::All, None, sealed);
        Ok(())
    }
}
