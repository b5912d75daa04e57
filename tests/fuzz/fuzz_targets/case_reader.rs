//! The fuzzer's entry to the target `case_reader`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scorebox_fuzz::case_reader(data));
