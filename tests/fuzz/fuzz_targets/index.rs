//! The fuzzer's entry to the target `index`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    scorebox_fuzz::index(data);
});
