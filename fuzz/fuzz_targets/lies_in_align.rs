//! A peer lies in `align`; see `hedgerow_fuzz::lies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hedgerow_fuzz::lies("align", data));
