//! The fuzzer's entry to the target `suite_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scorebox_fuzz::suite_file(data));
