//! The console as a browser meets it: real requests through the whole router, and a real listener beside two
//! sites that run a study.

#![allow(clippy::unwrap_used)]

mod agreeing;
mod browser;
mod drafting;
mod guards;
mod history;
mod joint;
mod links;
mod planted;
mod querying;
mod roles;
mod saving;
mod setting_up;
mod signing_in;
mod strangers;
mod tls;
mod world;
