//! What a figure is made of. A module of figures needs `use crate::frame::prelude::*;` and no more.
//!
//! A file of figures has a [`Family`](figure::Family): its figures, each with name, title, claim and rule,
//! and one function that measures for all of them. The function asks the [`Bench`](bench::Bench) for data,
//! seed and size, and returns a [`Measured`](measured::Measured) for each figure: panels of series, one
//! sentence, and the data that are shown. The paper's numbers are `Series::paper`, bounds are
//! `Series::computed`. A rule is a list of checks, each with `.or("the most likely reason")` where it may
//! fail; `.must()` marks checks of counts that CI sees to. The family stands in the list of its paper's
//! `mod.rs`.

pub(crate) mod bench;
pub(crate) mod figure;
pub(crate) mod measured;
pub(crate) mod progress;
pub(crate) mod rule;

/// What a module of figures uses.
pub(crate) mod prelude {
    pub(crate) use super::bench::Bench;
    pub(crate) use super::figure::{Family, Figure, Paper};
    pub(crate) use super::measured::{Axis, Measured, Panel, Series};
    pub(crate) use super::rule::Check;
    pub(crate) use crate::error::Error;
}
