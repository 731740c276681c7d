//! The ideal twin: a trusted third in the same process that answers every primitive.
//!
//! The standard of comparison of the simulation paradigm (Goldreich 2004, chapter 7): a protocol is
//! right if it gives what a trusted third would give, and secure if a site learns no more than from the
//! trusted third. Parties made with [`Party::ideal`](crate::Party::ideal) answer the same calls under
//! the same disclosures as the hardened parties, without the side disclosures of the published forms;
//! the chain of a ledger names its own run. The kth element is searched with the third's
//! comparisons, since its input is a way to count and not a vector. Never for production: the third sees
//! all.
//!
//! # Discloses
//! To the sites exactly the answers; to the trusted third everything.

use std::any::Any;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use crate::error::{Error, Misbehaviour, Step};
use crate::network::{NetworkError, Site};
use crate::wire::Primitive;

/// The trusted third. Every site of a run takes a [`Chair`] at it.
pub struct Table(Arc<Mutex<State>>);

impl Table {
    /// A trusted third for `sites` sites, with their chairs.
    pub fn chairs(sites: usize) -> Vec<Chair> {
        let state = Arc::new(Mutex::new(State {
            inputs: (0..sites).map(|_| None).collect(),
            asked: None,
            broken: None,
            answer: None,
            taken: 0,
            left: None,
            wakers: Vec::new(),
        }));
        Site::all(sites)
            .map(|me| Chair {
                me,
                sites,
                table: Table(Arc::clone(&state)),
            })
            .collect()
    }
}

/// One site's place at the trusted third.
pub struct Chair {
    me: Site,
    sites: usize,
    table: Table,
}

struct State {
    inputs: Vec<Option<Box<dyn Any + Send>>>,
    /// Who asked first, and what; all others must ask the same.
    asked: Option<(Site, Primitive, u64)>,
    /// Two sites that asked different questions, after which nothing is answered.
    broken: Option<[Site; 2]>,
    answer: Option<Arc<dyn Any + Send + Sync>>,
    taken: usize,
    /// A site that has ended its part; questions that it was not asked can have no answer.
    left: Option<Site>,
    wakers: Vec<Waker>,
}

impl Chair {
    pub(crate) const fn me(&self) -> Site {
        self.me
    }

    pub(crate) const fn sites(&self) -> usize {
        self.sites
    }

    /// Hands over an input and waits for `function` of all sites' inputs. Sites that ask the same
    /// hand over the same type and length; others get an error.
    pub(crate) async fn ask<I: Send + 'static, O: Send + Sync + 'static>(
        &self,
        primitive: Primitive,
        asked: u64,
        input: I,
        function: impl Fn(&[I]) -> O,
    ) -> Result<Arc<O>, Error> {
        let mut input = Some(input);
        poll_fn(|context| {
            let mut state = self.table.0.lock().unwrap_or_else(PoisonError::into_inner);
            let place = self.me.index();
            // An answer that others have yet to take belongs to the question before this one.
            if state.answer.is_none() && state.inputs[place].is_none() && input.is_some() {
                let &mut (first, ..) = state.asked.get_or_insert((self.me, primitive, asked));
                if state.asked != Some((first, primitive, asked)) {
                    state.broken = Some([first, self.me]);
                    state.wakers.drain(..).for_each(Waker::wake);
                }
                state.inputs[place] = input
                    .take()
                    .map(|input| Box::new(input) as Box<dyn Any + Send>);
                if state.broken.is_none() && state.inputs.iter().all(Option::is_some) {
                    state.asked = None;
                    let inputs: Vec<I> = state
                        .inputs
                        .iter_mut()
                        .filter_map(|input| input.take()?.downcast().ok().map(|input| *input))
                        .collect();
                    state.answer = Some(Arc::new(function(&inputs)));
                    state.wakers.drain(..).for_each(Waker::wake);
                }
            }
            if input.is_none()
                && let Some(answer) = &state.answer
                && let Ok(answer) = Arc::clone(answer).downcast::<O>()
            {
                state.taken += 1;
                if state.taken == self.sites {
                    state.taken = 0;
                    state.answer = None;
                    state.wakers.drain(..).for_each(Waker::wake);
                }
                return Poll::Ready(Ok(answer));
            }
            let step = Step {
                primitive,
                call: 0,
                frame: 0,
            };
            if let Some([first, other]) = state.broken {
                let peer = if self.me == other { first } else { other };
                let problem = Misbehaviour::OtherQuestion;
                return Poll::Ready(Err(Error::PeerMisbehaved {
                    peer,
                    step,
                    problem,
                }));
            }
            if let (Some(peer), None) = (state.left, &state.answer) {
                let source = NetworkError::Closed;
                return Poll::Ready(Err(Error::Line { peer, step, source }));
            }
            state.wakers.push(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl Drop for Chair {
    fn drop(&mut self) {
        let mut state = self.table.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.left = Some(self.me);
        state.wakers.drain(..).for_each(Waker::wake);
    }
}

/// The sum of vectors in Z_2^64.
pub fn sum(inputs: &[Vec<u64>]) -> Vec<u64> {
    let length = inputs.first().map_or(0, Vec::len);
    let total = |index: usize| {
        inputs
            .iter()
            .fold(0u64, |sum, input| sum.wrapping_add(input[index]))
    };
    (0..length).map(total).collect()
}

/// The conjunction of bit vectors.
pub fn all(inputs: &[Vec<bool>]) -> Vec<bool> {
    let length = inputs.first().map_or(0, Vec::len);
    (0..length)
        .map(|index| inputs.iter().all(|input| input[index]))
        .collect()
}

/// The disjunction of bit vectors.
pub fn any(inputs: &[Vec<bool>]) -> Vec<bool> {
    let length = inputs.first().map_or(0, Vec::len);
    (0..length)
        .map(|index| inputs.iter().any(|input| input[index]))
        .collect()
}

/// The union of multisets, in the order of the items.
pub fn union(inputs: &[Vec<Vec<u8>>]) -> Vec<Vec<u8>> {
    let mut items = inputs.concat();
    items.sort_unstable();
    items
}
