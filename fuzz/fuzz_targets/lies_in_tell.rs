//! A peer lies in `tell`; see `hedgerow_fuzz::lies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hedgerow_fuzz::lies("tell", data));
