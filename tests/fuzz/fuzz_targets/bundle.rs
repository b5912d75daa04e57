//! The fuzzer's entry to the target `bundle`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    scorebox_fuzz::bundle(data);
});
