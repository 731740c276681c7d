//! A peer lies in `at_least`; see `hedgerow_fuzz::lies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hedgerow_fuzz::lies("at_least", data));
