//! See `hedgerow_fuzz::vectors`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hedgerow_fuzz::vectors(data));
