//! A peer lies in `greatest`; see `hedgerow_fuzz::lies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hedgerow_fuzz::lies("greatest", data));
