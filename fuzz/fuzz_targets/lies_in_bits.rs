//! A peer lies in `bits`; see `hedgerow_fuzz::lies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hedgerow_fuzz::lies("bits", data));
