//! The fuzzer's entry to the target `work`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scorebox_fuzz::work(data));
