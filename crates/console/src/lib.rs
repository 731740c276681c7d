//! Pages for the people who decide about a site and do not live in a shell: its steward and its privacy
//! officer, and for those who read what they decided.
//!
//! Pages are rendered here, from what the library `hedgerow` knows of the site, and need nothing but a
//! browser: no request leaves the console, styles and the one small script are inside the program, and every
//! page works without the script, except that it must be reloaded to be up to date.
//!
//! - [`Console`] is a site's console, [`Listening`] where it is served.
//! - [`Users`] says who may do what, in `console.toml` beside the site's file; [`Record`] who did what, in
//!   `console.log` beside it.
//! - `routes.rs` is the one table of all pages and of who may see them; `guard.rs` is what every request goes
//!   through before any page hears of it.
//! - `pages/` has a module for each page; `html/` has what pages are made of.
//!
//! # Discloses
//! To users who have signed in, by their role: names, counts, states, ledgers and releases. To nobody: rows,
//! keys, passwords, and values of records in errors.

mod assets;
mod attempts;
mod console;
mod decisions;
mod difference;
mod drafts;
mod error;
mod events;
mod extract;
mod guard;
mod headers;
mod hosts;
mod html;
mod jobs;
mod links;
mod multipart;
mod pages;
mod password;
mod patient;
mod questions;
mod record;
mod role;
mod room;
mod routes;
mod serve;
mod sessions;
mod sheet;
mod sql;
mod streams;
mod tls;
mod token;
mod users;
mod versions;

pub use console::Console;
pub use error::ConsoleError;
pub use hedgerow::node::console::{ConsoleCertificate, ConsoleSettings, USUAL, address};
pub use record::{Entry, Record};
pub use role::Role;
pub use routes::{ROUTES, Route, Who};
pub use serve::Listening;
pub use users::{User, Users};
