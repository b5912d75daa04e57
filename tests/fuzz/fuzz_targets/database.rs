//! The fuzzer's entry to the target `database`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scorebox_fuzz::database(data));
