//! Rows whose columns stand at different sites, put together by mixing without telling whose row is
//! whose.
//!
//! The records stand in one order at every site, in stretches whose lengths are public. Every site
//! wraps its part of each row in a layer for each site; the parts of a row travel together through
//! the cascade of [`crate::union`], and every site takes its layer off and shuffles the rows inside
//! their stretches. The last site tells all, each stretch in the order of its rows. A single site
//! that knows a person's place in the common order does not know which row is that person's; all
//! sites together do. There is one form for both levels; no paper prints another.
//!
//! Parts that repeat a key or a ciphertext are copies and refused, as in [`crate::union`]; and every
//! site looks for its own parts in the end.
//!
//! m + 1 rounds; 48 m + 1 bytes for each part beside its own.
//!
//! # Discloses
//! The rows, to all sites.

use rayon::prelude::*;

use super::{Items, mixing};
use crate::error::{Error, Misbehaviour, OwnConfig, OwnData, check_capacity};
use crate::ledger::{Sealed, To, What};
use crate::network::Site;
use crate::party::{Engine, Joined, Party};
use crate::random::Generator;
use crate::wire::{Primitive, WireError};

/// What is public about the rows.
struct Shape<'s> {
    /// Bytes of each site's part of a row.
    widths: &'s [usize],
    stretches: &'s [u64],
    rows: usize,
}

impl Party {
    /// Puts rows together, stretch by stretch, each stretch in the order of its rows. `widths` are
    /// the bytes of each site's part of a row, `stretches` the lengths of the stretches, `own` this
    /// site's parts.
    pub async fn rows(
        &mut self,
        what: What,
        widths: &[usize],
        stretches: &[u64],
        own: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        self.calls += 1;
        if widths.len() != self.sites {
            let (left, right) = (widths.len(), self.sites);
            return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
        }
        let width = widths[self.me.index()];
        if let Some(index) = own.iter().position(|part| part.len() != width) {
            return Err(Error::OwnData(OwnData::Width { index }));
        }
        let total: u64 = stretches
            .iter()
            .fold(0, |sum, next| sum.saturating_add(*next));
        if own.len() as u64 != total {
            let (left, right) = (own.len(), total as usize);
            return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
        }
        let shape = Shape {
            widths,
            stretches,
            rows: own.len(),
        };
        if self.sites == 1 {
            return Ok(shape.sorted(own));
        }
        let bytes = widths.iter().try_fold(0usize, |sum, width| {
            sum.checked_add(*width)?
                .checked_add(self.sites * mixing::LAYER + 1)
        });
        check_capacity(1, shape.rows, 0, bytes)?;
        let asked = self
            .asking(what, &[])?
            .words(widths.iter().map(|width| *width as u64))
            .words(stretches.iter().copied())
            .finish();
        let rows = match &mut self.engine {
            Engine::Alone => own,
            Engine::Ideal(chair) => {
                let together = |inputs: &[Vec<Vec<u8>>]| {
                    let row =
                        |at: usize| inputs.iter().flat_map(|parts| parts[at].clone()).collect();
                    (0..inputs[0].len()).map(row).collect::<Vec<Vec<u8>>>()
                };
                let rows = chair.ask(Primitive::Union, asked, own, together).await?;
                shape.sorted(rows.to_vec())
            }
            Engine::Joined(joined) => {
                joined.link.begin(Primitive::Union, asked)?;
                let rows = joined.mix_rows(&mut self.generator, &shape, own).await?;
                joined.link.opened(&rows.concat());
                rows
            }
        };
        Ok(self.open(what, Primitive::Union, To::All, None, Sealed::new(rows)))
    }
}

impl Shape<'_> {
    /// Bytes of a site's part under so many layers.
    fn part(&self, site: usize, layers: usize) -> usize {
        self.widths[site] + 1 + layers * mixing::LAYER
    }

    /// Bytes of a row under so many layers.
    fn row(&self, layers: usize) -> usize {
        (0..self.widths.len())
            .map(|site| self.part(site, layers))
            .sum()
    }

    /// Cuts a row into its parts.
    fn parts<'r>(&self, row: &'r [u8], layers: usize) -> Vec<&'r [u8]> {
        let mut rest = row;
        let cut = |site: usize| {
            let (part, after) = rest.split_at(self.part(site, layers));
            rest = after;
            part
        };
        (0..self.widths.len()).map(cut).collect()
    }

    /// Does something to each stretch.
    fn each_stretch(&self, mut rows: &mut [Vec<u8>], mut touch: impl FnMut(&mut [Vec<u8>])) {
        for length in self.stretches {
            let (stretch, after) = rows.split_at_mut(*length as usize);
            touch(stretch);
            rows = after;
        }
    }

    /// Whether rows have exactly a site's own parts in each stretch; `own` is sorted inside its
    /// stretches.
    fn has_all(&self, site: usize, rows: &[Vec<u8>], own: &[Vec<u8>]) -> bool {
        let from: usize = self.widths[..site].iter().sum();
        let part = |row: &Vec<u8>| row[from..from + self.widths[site]].to_vec();
        self.sorted(rows.iter().map(part).collect()) == own
    }

    fn sorted(&self, mut rows: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.each_stretch(&mut rows, <[Vec<u8>]>::sort_unstable);
        rows
    }
}

impl Joined {
    async fn mix_rows(
        &mut self,
        generator: &mut Generator,
        shape: &Shape<'_>,
        own: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let (first, last) = (Site::new(0), Site::new(self.sites as u16 - 1));
        let items = Items {
            width: shape.widths[self.me.index()],
            capacity: shape.rows,
            domain: 256.0,
            decoy: &|_| Vec::new(),
        };
        let mine = shape.sorted(own.clone());
        let onions = self.mixer().wrap(generator, &items, own);
        let onions = onions.map_err(|site| self.link.misbehaved(site, Misbehaviour::WeakKey))?;
        // The layers on rows that reach this site: its own and the layers of the sites behind it.
        let layers = self.sites - self.me.index();
        let rows: Vec<Vec<u8>> = if self.me == first {
            let mut rows = onions;
            for peer in self.peers() {
                let bytes = shape.part(peer.index(), layers);
                let message = self.link.receive(peer, shape.rows * bytes).await?;
                let parts = message.chunks_exact(bytes);
                rows.iter_mut()
                    .zip(parts)
                    .for_each(|(row, part)| row.extend_from_slice(part));
            }
            rows
        } else {
            self.link.send(first, &onions.concat())?;
            let bytes = shape.row(layers);
            let message = self
                .link
                .receive(self.previous(), shape.rows * bytes)
                .await?;
            message.chunks_exact(bytes).map(<[u8]>::to_vec).collect()
        };
        let parts = rows.iter().flat_map(|row| shape.parts(row, layers));
        if let Some(place) = mixing::copied(parts) {
            let (index, site) = (place / self.sites, place % self.sites);
            let peer = self.sender(Site::new(site as u16));
            return Err(self.link.misbehaved(peer, Misbehaviour::Copied { index }));
        }
        let mixer = self.mixer();
        let peeled: Result<Vec<Vec<u8>>, (usize, usize)> = rows
            .par_iter()
            .enumerate()
            .map(|(index, row)| {
                let parts = shape.parts(row, layers).into_iter().enumerate();
                let peeled: Result<Vec<Vec<u8>>, (usize, usize)> = parts
                    .map(|(site, part)| mixer.peel(part).ok_or((index, site)))
                    .collect();
                Ok(peeled?.concat())
            })
            .collect();
        let mut peeled = peeled.map_err(|(index, site)| {
            let peer = self.sender(Site::new(site as u16));
            self.link.invalid(peer, WireError::Forged { index })
        })?;
        drop(rows);
        if self.me != last {
            shape.each_stretch(&mut peeled, |stretch| generator.shuffle(stretch));
            self.link.send(self.next(), &peeled.concat())?;
            let width: usize = shape.widths.iter().sum();
            let message = self.link.receive(last, shape.rows * width).await?;
            let rows = (0..shape.rows).map(|row| message[row * width..(row + 1) * width].to_vec());
            let rows: Vec<Vec<u8>> = rows.collect();
            if !shape.has_all(self.me.index(), &rows, &mine) {
                return Err(self.link.misbehaved(last, Misbehaviour::Lacking));
            }
            return Ok(rows);
        }
        let plain = |row: &Vec<u8>| {
            // Before each part stands the mark of an item that is no blank.
            let parts = shape.parts(row, 0).into_iter();
            parts.flat_map(|part| part[1..].to_vec()).collect()
        };
        let rows = shape.sorted(peeled.iter().map(plain).collect());
        self.link.broadcast(&rows.concat())?;
        Ok(rows)
    }
}
