//! What `data` promises about files, seen from outside.

mod bad_input;
mod round_trip;
mod shared_data;
mod synthetic;
