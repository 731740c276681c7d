//! The commands of `hedgerow sql`, and what nodes start.

mod count;
mod serve;
mod user;

use std::io::Write as _;

pub(crate) use count::Count;
pub(crate) use serve::Serve;
pub(crate) use user::User;

/// Says something to whoever started the program.
pub(crate) fn say(text: &str) {
    // Nobody may be listening.
    let _ = writeln!(std::io::stderr(), "{text}");
}
