//! The fuzzer's entry to the target `guest_result`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scorebox_fuzz::guest_result(data));
