//! See `hedgerow_fuzz::ciphertexts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hedgerow_fuzz::ciphertexts(data));
