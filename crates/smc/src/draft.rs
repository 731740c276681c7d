//! A caller's slice while a call works on it: wiped unless the call ends well.
//!
//! Some sites of a call know the answer before they have told the others. If the telling fails,
//! or the caller drops the call, the slice must not hold an answer that the ledger lacks.
//!
//! # Discloses
//! Nothing: an answer leaves as [`Sealed`], or not at all.

use std::ops::{Deref, DerefMut};

use crate::ledger::Sealed;

/// A slice that is wiped when this value is dropped unsealed.
pub(crate) struct Draft<'a, T: Copy + Default>(&'a mut [T]);

impl<'a, T: Copy + Default> Draft<'a, T> {
    pub(crate) const fn new(slice: &'a mut [T]) -> Self {
        Self(slice)
    }

    /// The whole answer, for the ledger to open.
    pub(crate) fn seal(mut self) -> Sealed<&'a mut [T]> {
        Sealed::new(std::mem::take(&mut self.0))
    }
}

impl<T: Copy + Default> Deref for Draft<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0
    }
}

impl<T: Copy + Default> DerefMut for Draft<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0
    }
}

impl<T: Copy + Default> Drop for Draft<'_, T> {
    fn drop(&mut self) {
        self.0.fill(T::default());
    }
}
