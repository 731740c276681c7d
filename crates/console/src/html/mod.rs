//! What pages are made of. Everything that is not written here is escaped (maud), and no page has a script or
//! a style inside.

pub(crate) mod failure;
pub(crate) mod layout;
pub(crate) mod parts;
